/* How fast a core does one of the loops of backends/contract/peak.h. */
#ifndef BENCH_RUN_PEAK_RATE_H
#define BENCH_RUN_PEAK_RATE_H

#include "backends/contract/peak.h"

struct peak_rate {
	double best, median; /* operations or bytes a second, of several runs */
};

/*
 * Runs it on the calling thread for about so many seconds in all, three times
 * at least. memory and bytes are as for its work.
 */
struct peak_rate peak_measure(const struct peak *peak, const float *memory,
			      size_t bytes, double seconds);

#endif
