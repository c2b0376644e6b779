/*
 * `bench check`: blocks of fresh processes, one per arm and target. Their rows
 * go into a campaign with arm, stage and block. Call the functions in this
 * order: check_plan, check_open, check_pilot, check_verify, check_measure.
 */
#ifndef BENCH_GATE_CHECK_H
#define BENCH_GATE_CHECK_H

#include <stdint.h>
#include <stdio.h>

#include "bench/gate/arm.h"
#include "bench/gate/check_build.h"
#include "bench/gate/judge.h"
#include "bench/gate/pair.h"
#include "bench/record/campaign.h"
#include "bench/report/progress.h"

#define CHECK_MOST_TARGETS 16
#define CHECK_MOST_REDONE 5 /* at most 1 of 5 blocks is repeated */
#define CHECK_TIME_SIZE 24

struct check_target {
	char name[64];	  /* name in the rows */
	const struct backend *backend; /* NULL = a command */
	int is_chosen;	  /* 1: the next stage measures it */
	long most_steps;  /* iterations of an epoch, at most */
	long batch;	  /* samples per core, at most */
	/* Reductions by plan_gate(), so that a process ends in seconds: batch
	 * size, side of an image, warm-up; 0 = not reduced. */
	long less_batch, less_side, less_warmup;
	double less_lr; /* learning rate; 0 = not reduced */
	long steps;	  /* of each process; not used for commands */
	double process_s; /* estimate for one process */
	long steps_done;   /* by the first process; -1 = none yet */
	double first_loss; /* of the first process */
	int is_proved[ARM_COUNT]; /* 1: an earlier check verified it; 0 also
				     before the cache was searched */
	int redone; /* blocks of this stage that were repeated because of other
		       processes */
	struct run pilot;
};

struct check {
	const struct options *options;
	FILE *log; /* notes; NULL = none */
	struct arm arms[ARM_COUNT];
	struct check_build build; /* for --base-ref */
	int arm_count;
	int blocks;    /* per stage */
	uint32_t seed; /* for the order of the arms */
	int named;     /* 1: the user named targets */
	struct check_target targets[CHECK_MOST_TARGETS];
	int target_count;
	char started_utc[24];
	struct campaign campaign;
	char scratch[256]; /* folder of the campaign in a dry run */
	struct progress progress;

	/* The stage that is being measured. */
	const char *stage_name;
	int first_block;
	double began_at; /* time of clock_now() */
	double planned_s; /* estimate from the pilots */
	double done_s; /* the part of planned_s that is done */
};

/* Copies the options for a target's processes, without options that the target
 * does not take. */
void check_target_options(struct options *options, const struct check *check,
			  const struct check_target *target);

/*
 * Fills check from check->options and check->log, all else being 0: arms,
 * targets and the order. Builds the program of --base-ref. Fails with
 * ERROR_USAGE if the options ask for no comparison. Release check also after a
 * failure.
 */
int check_plan(struct check *check, struct error *err);

/* Creates the campaign of the rows: in dir, as campaign_create() takes it, or
 * for a dry run in a folder that check_release() removes. Starts the
 * progress. */
int check_open(struct check *check, const char *dir, struct error *err);
void check_release(struct check *check); /* also ends the progress */

/*
 * Runs one process of the base per target. It yields no verdict: it measures
 * how many iterations are long enough for all arms, and how long the check
 * takes. A target that cannot run is dropped if the user did not name it; the
 * others are chosen.
 */
int check_pilot(struct check *check, struct error *err);

/* Prints what will be measured, and how long that takes. */
void check_print_plan(struct check *check, FILE *to);

/* Writes seconds as "24 s", or as minutes from two minutes on. */
void check_print_time(char text[CHECK_TIME_SIZE], double seconds);

/* Returns the estimated seconds of a stage on the chosen targets. */
double check_estimate(const struct check *check);

/*
 * Measures one stage of the chosen targets; blocks are numbered from first.
 * Fails with ERROR_FAILED if a process fails or does other work than its
 * partner, and with ERROR_STOPPED after a signal.
 */
int check_measure(struct check *check, int stage, int first,
		  struct error *err);

/*
 * Writes verdicts.csv and verdicts.md into the campaign's folder, the table to
 * out, and the files of --export-*. rows has one entry per target. All outputs
 * are tried; the first failure is returned.
 */
int check_report(const struct check *check, const struct judged *rows,
		 FILE *out, struct error *err);

/* Runs `bench verify` of both programs for every compared backend, device,
 * batch size per core and image size, unless the user's cache has the
 * result. */
int check_verify(struct check *check, struct error *err);

/* Returns the estimated seconds of check_verify(). Searches the cache. */
double check_verification_estimate(struct check *check);

#endif
