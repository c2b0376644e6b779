/*
 * The time to an accuracy, of one run and of several runs of a target. The
 * rules follow MLPerf Training, scaled to this network:
 * github.com/mlcommons/training_policies. They define the clock, untimed
 * start-up with a cap, timed tests, the mean without the extremes, and runs
 * that do not converge.
 *
 * The time of a run ends with the first test at or above the accuracy. It
 * consists of reading the data set and the training loop up to there. Start-up
 * of process, cores and device, compilation of kernels and warm-up on generated
 * data are not timed. Beyond a cap, their time is added. A sample order and a
 * few batches, which loaders prepare before the loop, are not timed either.
 */
#ifndef BENCH_RECORD_TIME_TO_ACCURACY_H
#define BENCH_RECORD_TIME_TO_ACCURACY_H

#include "bench/record/run.h"

/* The default accuracy. */
#define USUAL_ACCURACY_PCT 99.0

/* Global batch of all targets in the closed mode, so that they train alike. */
#define CLOSED_GLOBAL_BATCH 128

/* Seconds of start-up and warm-up that are not timed. */
#define UNTIMED_CAP_S 10.0

/* From this number of runs on, the fastest and the slowest are left out. */
#define SCORE_FEWEST 5

/* Returns the time of a run whose loop took loop_s until the accuracy. Values
 * that the row lacks, as in older versions, count as 0. */
double time_to_accuracy(const struct run *run, double loop_s);

/* Returns start-up and warm-up without reading the data, in seconds; NAN if not
 * known. */
double time_untimed(const struct run *run);

/* Returns the accuracy of the run's time to accuracy. */
double run_target_accuracy(const struct run *run);

struct accuracy_score {
	int runs, reached; /* runs made, and runs that reached the accuracy */
	int trimmed;	   /* 1: mean is without the fastest and the slowest */
	double mean;	   /* NAN = of runs that did not all reach it */
	double median; /* NAN: a run in the middle did not reach the accuracy */
};

/* Scores several runs; times has INFINITY for each run that did not reach the
 * accuracy, and is sorted by the call. */
struct accuracy_score accuracy_score_of(double *times, int count);

#endif
