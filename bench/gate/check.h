/*
 * `bench check`: blocks of fresh processes, one of each arm and target, whose
 * rows go into a campaign with their arm, stage and block. The functions are
 * called in this order: check_plan, check_open, check_pilot, check_verify,
 * check_measure.
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
#define CHECK_MOST_REDONE 5 /* one of so many blocks, at most, is done again */
#define CHECK_TIME_SIZE 24

struct check_target {
	char name[64];	  /* what the rows call it */
	const struct backend *backend; /* NULL: of a command */
	int is_chosen;	  /* the next stage measures it */
	long most_steps;  /* of an epoch */
	long batch;	  /* of a core, at most */
	/* What its processes do less of than the model's recipe says, so that
	 * they end in seconds (plan_gate); 0: nothing. */
	long less_batch, less_side, less_warmup;
	double less_lr; /* likewise */
	long steps;	  /* of each process; not those of a command */
	double process_s; /* what one process takes, about */
	long steps_done;   /* by the first process; -1 before */
	double first_loss; /* its first */
	int is_proved[ARM_COUNT]; /* its verification was kept by an earlier
				   * check; 0 also before it was looked for */
	int redone; /* blocks of this stage, because of others */
	struct run pilot;
};

struct check {
	const struct options *options;
	FILE *log; /* notes; NULL: none */
	struct arm arms[ARM_COUNT];
	struct check_build build; /* of --base-ref */
	int arm_count;
	int blocks;    /* of a stage */
	uint32_t seed; /* of the order */
	int named;     /* targets were asked for by name */
	struct check_target targets[CHECK_MOST_TARGETS];
	int target_count;
	char started_utc[24];
	struct campaign campaign;
	char scratch[256]; /* the campaign's folder in a dry run */
	size_t started; /* runs, those that the folder had included */
	struct progress progress;

	/* The stage that is measured. */
	const char *stage_name;
	int first_block;
	double began_at; /* of clock_now() */
	double planned_s; /* what it takes, by the pilots */
	double done_s; /* what is done of that */
};

/* The options of a target's processes, without those that the target does not
 * take. */
void check_target_options(struct options *options, const struct check *check,
			  const struct check_target *target);

/*
 * From check->options and check->log, all else being 0: arms, targets and the
 * order. Makes what --base-ref builds. ERROR_USAGE if the options ask for no
 * comparison. Release it also after a failure.
 */
int check_plan(struct check *check, struct error *err);

/* The campaign that the rows go into: in dir as campaign_create() takes it, or
 * in a folder that goes away in a dry run. Starts the progress. */
int check_open(struct check *check, const char *dir, struct error *err);
void check_release(struct check *check); /* ends the progress, too */

/*
 * One process of the base for each target, from which no verdict is made: it
 * shows how many iterations take long enough, for all arms, and how long all of
 * it takes. A target that cannot run and was not asked for by name is dropped;
 * the others are chosen.
 */
int check_pilot(struct check *check, struct error *err);

/* What will be measured, and how long that takes. */
void check_print_plan(struct check *check, FILE *to);

/* "24 s", and minutes from two on. */
void check_print_time(char text[CHECK_TIME_SIZE], double seconds);

/* Seconds that a stage takes on the targets chosen, about. */
double check_estimate(const struct check *check);

/*
 * One stage on the targets chosen, blocks counted from first. A process that
 * fails or does other work than its partner ends it with ERROR_FAILED: result
 * changed, speed not compared. ERROR_STOPPED after a signal.
 */
int check_measure(struct check *check, int stage, int first,
		  struct error *err);

/*
 * Of rows, one for each target: verdicts.csv and verdicts.md in the campaign's
 * folder, the table on out, and what --export-* asks for. All are tried, the
 * first failure is reported.
 */
int check_report(const struct check *check, const struct judged *rows,
		 FILE *out, struct error *err);

/* `bench verify` of both programs for every backend, device, batch of a core
 * and size of images that is compared, unless the user's cache says that they
 * are right. */
int check_verify(struct check *check, struct error *err);

/* Seconds that it will take, about; looks for what the cache has. */
double check_verification_estimate(struct check *check);

#endif
