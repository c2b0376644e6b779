/* Rank 0's record of a run: writes rows, sums up the run's row and shows
 * progress. Called between steps, never during one. */
#ifndef BENCH_TRAIN_RECORDER_H
#define BENCH_TRAIN_RECORDER_H

#include <stdio.h>

#include "backends/parallel/replica.h"
#include "bench/record/observation.h"
#include "bench/record/run.h"
#include "bench/report/progress.h"
#include "bench/system/kernel.h"
#include "bench/train/trace.h"

/* Counters that are exactly equal whenever the same iterations are run. */
struct step_counts {
	long launches;	    /* kernels and transfers submitted to a device */
	long reduced_bytes; /* bytes of gradients offered for summing, with
			       padding; without gradients that ranks compute
			       together */
	long allocations;   /* allocations by this program's own code */
};

/* One core's report of an iteration; times are by clock_now(). */
struct step_report {
	double requested_at, ready_at; /* the batch was requested, and was
					  ready */
	double began_at, ended_at;
	double phases_s[REPLICA_PHASES];
	double phases_cpu_s[REPLICA_PHASES]; /* CPU time of the core's thread */
	/* The part of phases_s after the first update. */
	double again_s[REPLICA_PHASES];
	double delay_s; /* deliberate delay at the start of compute; no CPU
			   time */
	double injected_s; /* deliberate work at the end of update */
	/* The part of compute during which buckets of the gradient were
	 * sent. */
	double overlapped_s;
	struct step_counts counts;
	struct score score;
	double loss_scale; /* loss scale after the iteration; 0 = not scaled */
	int skipped; /* 1: the gradient overflowed and the step was skipped */
	int stop; /* signal that this core received; 0 = none */
};

/* One core's report of an epoch. */
struct epoch_report {
	double elapsed_s;
	double test_began_at, test_s; /* includes waiting for its batches */
	/* CPU times of the core's thread, of its part in the test, and of the
	 * loader's threads. process_cpu_s: all threads of the process, in its
	 * first core. */
	double cpu_s, test_cpu_s, loader_cpu_s, process_cpu_s;
	long voluntary_switches, involuntary_switches; /* of the thread */
	struct score test; /* count is 0 without a test */
	int stop; /* signal that ended the test early on this core; 0 = none */
};

struct recorder {
	FILE *rows;
	struct progress *progress;
	struct trace *trace; /* NULL = none */
	struct observation start; /* template of all rows: has run_id, target
				     and cores */
	int answers; /* answers per sample that count for accuracy; 0 = none */
	int modelled;		  /* 1: the modelled clock has rows too */
	double flushed_at;

	/* Sums over the current epoch. */
	double phases_s[REPLICA_PHASES], loader_s;
	double model_phases_s[REPLICA_PHASES];
	struct step_report core_sums[GROUP_MAX_SIZE]; /* sums of the phases */
	double core_loader_s[GROUP_MAX_SIZE];
	double ended_at; /* end of the previous iteration on the last core */
	struct score epoch_score;

	/* Sums over the run. */
	double total_iterations_s, total_loader_s, total_test_s;
	double total_model_s;
	struct step_counts total_counts; /* over all cores */
	double total_overlapped_s; /* mean over the cores */
	long updates;
	double loss_scale; /* after the last iteration */
	long skipped;
	double last_loss, last_accuracy_pct; /* of the last test; of the last
						step if there is no test */
	int tested;
};

/* Starts a recorder that writes the rows of run to rows. modelled: also write
 * rows of the modelled clock. Sets answers to 1. */
void recorder_start(struct recorder *recorder, const struct run *run,
		    int modelled, FILE *rows, struct progress *progress);

/* Returns -1 with ERROR_OUTPUT: the rows cannot be written. */
int recorder_refuse_rows(struct error *err);

void recorder_setup(struct recorder *recorder, double elapsed_s, double cpu_s,
		    long samples);

/* Call it just before the first batch of an epoch is awaited. */
void recorder_begin_epoch(struct recorder *recorder, double now);

/*
 * Records one iteration from the reports of all cores; epoch 0 is warm-up. The
 * iteration lasts from the first core's beginning to the last core's end. The
 * time from the previous iteration's end to the last batch is waiting for the
 * loader.
 */
void recorder_step(struct recorder *recorder, int epoch, int iteration,
		   const struct step_report *reports);

/*
 * Records count iterations of an epoch that a device ran ahead, on the only
 * core. report has the sums over all of them, except the score. report is NULL
 * if they are not all iterations that the device spent its time on.
 */
void recorder_ahead(struct recorder *recorder, int epoch,
		    const struct score *scores, int count,
		    const struct step_report *report);

/* Records the iteration in which the loss became not a number. */
void recorder_not_a_number(struct recorder *recorder, int epoch, int iteration,
			   const char *reason);

/* Records the end of an epoch from the reports of all cores. */
void recorder_epoch(struct recorder *recorder, int epoch, double elapsed_s,
		    const struct epoch_report *reports);

/* Records an epoch that ended early, after elapsed_s. */
void recorder_partial_epoch(struct recorder *recorder, int epoch,
			    double elapsed_s);

/* Records the end of the loop. run has loop_s and loop_cpu_s, and gets the sums
 * of all epochs. */
void recorder_loop(struct recorder *recorder, struct run *run, int partial);

#endif
