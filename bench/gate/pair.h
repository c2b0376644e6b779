/*
 * What `bench check` compares, from the rows that it left: one number for each
 * process, put together by the blocks in which they were measured.
 */
#ifndef BENCH_GATE_PAIR_H
#define BENCH_GATE_PAIR_H

#include "bench/gate/arm.h"
#include "bench/record/campaign.h"
#include "bench/record/rows_by_run.h"
#include "bench/statistics/rank_test.h"

/* Stages of a check, in its rows. */
enum { CHECK_PILOT, CHECK_SCREEN, CHECK_CONFIRM, CHECK_STAGES };

/* Is it an iteration that counts: timed, of the target, as the host saw it? */
int pair_is_step(const struct observation *row);

/*
 * The gated metric of one process, from its rows: the median seconds of its
 * iterations, warm-up excluded, as the host saw them. CELL_NO_REAL if there is
 * none, or no memory to sort them.
 */
double pair_step_median(const struct observation *const *rows, size_t count);

/* One block of one target: its last attempt. */
struct pair_block {
	long attempt;		  /* 0: there is none */
	double values[ARM_COUNT]; /* s; NAN: not measured, or it failed */
	int processes;		  /* of its last attempt, of all arms */
	int disturbed;		  /* of these */
};

struct pair_stage {
	struct pair_block blocks[SIGNED_RANK_MOST]; /* [block - 1] */
};

/*
 * A target's blocks in one campaign. A process without iterations is a
 * command's: its whole seconds count. Nothing is measured for a verdict in
 * CHECK_PILOT, so nothing is there.
 */
void pair_gather(struct pair_stage stages[CHECK_STAGES],
		 const struct campaign *campaign,
		 const struct rows_by_run *groups, const char *campaign_id,
		 const char *target, int *is_command);

/* The same of a column of runs.csv that holds a number. */
void pair_gather_column(struct pair_stage stages[CHECK_STAGES],
			const struct campaign *campaign,
			const char *campaign_id, const char *target,
			const char *column);

/* ln(arm / base) of the blocks that have both, in their order; logs has room
 * for SIGNED_RANK_MOST. Returns how many. */
size_t pair_logs(const struct pair_stage *stage, int arm, double *logs);

/* Over the blocks that have the arm; NAN if there is none. */
double pair_arm_median(const struct pair_stage *stage, int arm);

#endif
