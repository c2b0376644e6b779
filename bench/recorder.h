/*
 * What rank 0 knows of a run so far: rows on their way out, sums for the
 * run's line, and the progress shown. Called between steps, never in one.
 */
#ifndef BENCH_RECORDER_H
#define BENCH_RECORDER_H

#include <stdio.h>

#include "backends/replica.h"
#include "bench/observation.h"
#include "bench/progress.h"

/* What one core has to say about one iteration; times of clock_now(). */
struct step_report {
	double ready_at; /* the batch was there */
	double began_at, ended_at;
	double cpu_s;
	double phases_s[REPLICA_PHASES];
	struct score score;
	int stop; /* a signal that this core received */
};

/* What one core has to say about one pass over the test set. */
struct test_report {
	double elapsed_s; /* waiting for its batches included */
	struct score score;
};

struct recorder {
	FILE *rows;
	struct progress *progress;
	struct observation start; /* run_id, target and cores are filled in */
	double flushed_at;

	/* Sums over the current epoch. */
	double phases_s[REPLICA_PHASES], loader_s;
	double ended_at; /* of the last core in the iteration before */
	struct score epoch_score;

	/* Sums over the run. */
	double total_iterations_s, total_loader_s, total_test_s;
	long updates;
	double last_loss, last_accuracy_pct; /* of a test, else of a step */
	int tested;
};

void recorder_setup(struct recorder *recorder, double elapsed_s, double cpu_s,
		    long samples);

/* Just before the first batch of an epoch is waited for. */
void recorder_begin(struct recorder *recorder, double now);

/*
 * One iteration from the reports of all cores; epoch 0 is warm-up. It lasts
 * from the first core's beginning to the last one's end, and what was waited
 * for the loader is what lies between the end before and the last batch.
 */
void recorder_step(struct recorder *recorder, int epoch, int iteration,
		   const struct step_report *reports);

/* The iteration at which the loss stopped being a number. */
void recorder_not_a_number(struct recorder *recorder, int epoch, int iteration,
			   const char *reason);

void recorder_test(struct recorder *recorder, int epoch,
		   const struct test_report *reports);

/* The end of an epoch; partial when it was cut short. */
void recorder_epoch(struct recorder *recorder, int epoch, double elapsed_s,
		    double cpu_s, int partial);

void recorder_loop(struct recorder *recorder, double elapsed_s, double cpu_s,
		   int partial);

#endif
