/*
 * What rank 0 knows of a run so far: rows on their way out, sums for the
 * run's line, and the progress shown. Called between steps, never in one.
 */
#ifndef BENCH_TRAIN_RECORDER_H
#define BENCH_TRAIN_RECORDER_H

#include <stdio.h>

#include "backends/parallel/replica.h"
#include "bench/record/observation.h"
#include "bench/record/run.h"
#include "bench/report/progress.h"
#include "bench/system/kernel.h"
#include "bench/train/trace.h"

/* What is the same, exactly, whenever the same iterations are done. */
struct step_counts {
	long launches;	    /* kernels and transfers given to a device */
	long reduced_bytes; /* of gradients given to be summed, padding too;
			     * not of what ranks make together */
	long allocations;   /* memory that our own code asked for */
};

/* What one core has to say about one iteration; times of clock_now(). */
struct step_report {
	double requested_at, ready_at; /* the batch */
	double began_at, ended_at;
	double phases_s[REPLICA_PHASES];
	double phases_cpu_s[REPLICA_PHASES]; /* of the core's own thread */
	/* Of phases_s, what came after the first update. */
	double again_s[REPLICA_PHASES];
	double delay_s; /* on purpose, at the start of compute; no CPU time */
	double injected_s; /* of work on purpose, at the end of update */
	/* Of compute: buckets of the gradient were under way meanwhile. */
	double overlapped_s;
	struct step_counts counts;
	struct score score;
	double loss_scale; /* behind the iteration; 0: the loss has none */
	int skipped; /* 1: the gradient overflowed, and no step was made */
	int stop; /* a signal that this core received */
};

/* What one core has to say about one epoch. */
struct epoch_report {
	double elapsed_s;
	double test_began_at, test_s; /* waiting for its batches included */
	/* CPU times: of the core's thread in all and in the test, of its
	 * loader's, and of all threads of the process that the core leads. */
	double cpu_s, test_cpu_s, loader_cpu_s, process_cpu_s;
	long voluntary_switches, involuntary_switches; /* of the thread */
	struct score test; /* count is 0 without a test */
	int stop; /* the signal that cut the test short on this core, or 0 */
};

struct recorder {
	FILE *rows;
	struct progress *progress;
	struct trace *trace; /* NULL: none */
	struct observation start; /* run_id, target and cores are filled in */
	int answers; /* of a sample, that its accuracy counts; 0: none */
	int modelled;		  /* the second clock has rows as well */
	double flushed_at;

	/* Sums over the current epoch. */
	double phases_s[REPLICA_PHASES], loader_s;
	double model_phases_s[REPLICA_PHASES];
	struct step_report core_sums[GROUP_MAX_SIZE]; /* of the phases */
	double core_loader_s[GROUP_MAX_SIZE];
	double ended_at; /* of the last core in the iteration before */
	struct score epoch_score;

	/* Sums over the run. */
	double total_iterations_s, total_loader_s, total_test_s;
	double total_model_s;
	struct step_counts total_counts; /* of all cores */
	double total_overlapped_s; /* the mean core's */
	long updates;
	double loss_scale; /* as of the last iteration */
	long skipped;
	double last_loss, last_accuracy_pct; /* of a test, else of a step */
	int tested;
};

/* For the rows of run, which go to rows; modelled: those of a second clock
 * too. Answers are 1. */
void recorder_start(struct recorder *recorder, const struct run *run,
		    int modelled, FILE *rows, struct progress *progress);

/* The rows cannot be written: ERROR_OUTPUT. */
int recorder_refuse_rows(struct error *err);

void recorder_setup(struct recorder *recorder, double elapsed_s, double cpu_s,
		    long samples);

/* Just before the first batch of an epoch is waited for. */
void recorder_begin_epoch(struct recorder *recorder, double now);

/*
 * One iteration from the reports of all cores; epoch 0 is warm-up. It lasts
 * from the first core's beginning to the last one's end, and what was waited
 * for the loader is what lies between the end before and the last batch.
 */
void recorder_step(struct recorder *recorder, int epoch, int iteration,
		   const struct step_report *reports);

/*
 * The count iterations of an epoch that a device did without being waited for,
 * by the one core there is; report is about all of them, but for the score.
 * NULL: they are not all of those that it took its time for.
 */
void recorder_ahead(struct recorder *recorder, int epoch,
		    const struct score *scores, int count,
		    const struct step_report *report);

/* The iteration at which the loss stopped being a number. */
void recorder_not_a_number(struct recorder *recorder, int epoch, int iteration,
			   const char *reason);

/* The end of an epoch, from the reports of all cores; they have all met. */
void recorder_epoch(struct recorder *recorder, int epoch, double elapsed_s,
		    const struct epoch_report *reports);

/* An epoch that was cut short, after elapsed_s. */
void recorder_partial_epoch(struct recorder *recorder, int epoch,
			    double elapsed_s);

/* The end of the loop, of which the run has loop_s and loop_cpu_s; it gets the
 * sums of its epochs. */
void recorder_loop(struct recorder *recorder, struct run *run, int partial);

#endif
