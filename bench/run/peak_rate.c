#include "bench/run/peak_rate.h"

#include "bench/record/stats.h"
#include "bench/system/clock.h"

#define MOST_RUNS 64
#define LEAST_RUNS 3
#define RUN_S 5e-3 /* an interrupt meets few of them */

static double run(const struct peak *peak, const float *memory, size_t bytes,
		  long rounds, double *elapsed_s)
{
	const double began_s = clock_now();
	float result = .5f;
	const double work = peak->work(memory, bytes, rounds, &result);

	*elapsed_s = clock_now() - began_s;
	/* What an impossible result would have made is nothing. */
	return result == result ? work : 0;
}

struct peak_rate peak_measure(const struct peak *peak, const float *memory,
			      size_t bytes, double seconds)
{
	const double began_s = clock_now();
	double rates[MOST_RUNS], elapsed_s;
	struct stats stats;
	long rounds = 1;
	size_t count = 0;

	/* Caches and clock rate get used to it meanwhile. */
	for (;;) {
		run(peak, memory, bytes, rounds, &elapsed_s);
		if (elapsed_s >= RUN_S / 2)
			break;
		rounds *= 2;
	}
	while (count < MOST_RUNS &&
	       (count < LEAST_RUNS || clock_now() - began_s < seconds)) {
		const double work = run(peak, memory, bytes, rounds,
					&elapsed_s);

		rates[count++] = work / elapsed_s;
	}
	stats = stats_compute(rates, count);
	return (struct peak_rate){ stats.max, stats.median };
}
