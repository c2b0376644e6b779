/*
 * The time to an accuracy: what is in it, and what several runs of a target
 * say together. The rules are those of MLPerf Training, scaled to this network
 * (github.com/mlcommons/training_policies: clock, untimed start-up with a cap,
 * tests on the clock, mean without the extremes, runs that do not converge).
 *
 * A run's time goes from before the data set is read to the end of the first
 * test at or above the accuracy: reading the data and the training loop until
 * then. Untimed are the start of the process, of its cores and of the device,
 * the compilation of kernels, and warm-up, which knows generated data alone;
 * what they take beyond a cap is added. What loaders prepare ahead of the loop,
 * a sample order and a few batches, is not in it either.
 */
#ifndef BENCH_RECORD_TIME_TO_ACCURACY_H
#define BENCH_RECORD_TIME_TO_ACCURACY_H

#include "bench/record/run.h"

/* Unless asked for, what an accuracy of this data set is called good. */
#define USUAL_ACCURACY_PCT 99.0

/* What all targets have in the closed mode, so that they train alike. */
#define CLOSED_GLOBAL_BATCH 128

/* Seconds of start-up and warm-up that are not counted. */
#define UNTIMED_CAP_S 10.0

/* From so many runs on, the fastest and the slowest are left out. */
#define SCORE_FEWEST 5

/* Of a run whose loop took so many seconds until then. What the run's row does
 * not know, as those of older versions, is left out. */
double time_to_accuracy(const struct run *run, double loop_s);

/* Start-up and warm-up without reading the data; NAN if that is not known. */
double time_untimed(const struct run *run);

/* The accuracy that a run's time to it is about. */
double run_target_accuracy(const struct run *run);

struct accuracy_score {
	int runs, reached; /* that were made, and reached the accuracy */
	int trimmed;	   /* the mean is without the fastest and slowest */
	double mean;	   /* NAN: a run that did not reach it is in it */
	double median;	   /* likewise */
};

/* times has INFINITY for each run that did not reach the accuracy, and is
 * sorted. */
struct accuracy_score accuracy_score_of(double *times, int count);

#endif
