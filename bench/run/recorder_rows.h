/* What the parts of the recorder share. */
#ifndef BENCH_RUN_RECORDER_ROWS_H
#define BENCH_RUN_RECORDER_ROWS_H

#include "bench/run/recorder.h"

extern const char *const recorder_phases[REPLICA_PHASES];

/* A row of an epoch (0: warm-up) on one of the clocks, to be filled in. */
struct observation recorder_row(const struct recorder *recorder, int epoch,
				double elapsed_s);
struct observation recorder_model_row(const struct recorder *recorder,
				      int epoch, double elapsed_s);

void recorder_write(struct recorder *recorder, struct observation *row,
		    const char *phase);

void score_add(struct score *to, const struct score *from);
double score_loss(const struct score *score); /* mean; missing for none */

double phases_sum(const double *phases);

static inline void keep_larger(double *most, double value)
{
	*most = value > *most ? value : *most;
}

#endif
