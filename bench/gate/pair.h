/* Collects what `bench check` compares from its rows: one number per process,
 * grouped by blocks. */
#ifndef BENCH_GATE_PAIR_H
#define BENCH_GATE_PAIR_H

#include "bench/gate/arm.h"
#include "bench/record/campaign.h"
#include "bench/record/rows_by_run.h"
#include "bench/statistics/rank_test.h"

/* Values of column stage in runs.csv. */
enum { CHECK_PILOT, CHECK_SCREEN, CHECK_CONFIRM, CHECK_STAGES };

/* Returns 1 for a row of a timed iteration of the target by the wall clock,
 * warm-up excluded. */
int pair_is_step(const struct observation *row);

/*
 * Returns the gated metric of one process from its rows: the median seconds of
 * its iterations, as in pair_is_step(). Returns CELL_NO_REAL if there is no
 * iteration, or no memory to sort them.
 */
double pair_step_median(const struct observation *const *rows, size_t count);

/* One block of one target: its last attempt. */
struct pair_block {
	long attempt;		  /* 0 = none */
	double values[ARM_COUNT]; /* s; NAN = not measured, or failed */
	int processes; /* processes of the last attempt, of all arms */
	int disturbed; /* processes that did not have the machine alone */
};

struct pair_stage {
	struct pair_block blocks[SIGNED_RANK_MOST]; /* [block - 1] */
};

/*
 * Collects a target's blocks of one campaign. If a command's process has no
 * iterations, its total seconds are the value, and *is_command is set.
 * CHECK_PILOT stays empty: pilots are in no verdict.
 */
void pair_gather(struct pair_stage stages[CHECK_STAGES],
		 const struct campaign *campaign,
		 const struct rows_by_run *groups, const char *campaign_id,
		 const char *target, int *is_command);

/* Collects a numeric column of runs.csv instead. */
void pair_gather_column(struct pair_stage stages[CHECK_STAGES],
			const struct campaign *campaign,
			const char *campaign_id, const char *target,
			const char *column);

/* Writes ln(arm / base) of the blocks that have both to logs, in their order,
 * and returns their number. logs has room for SIGNED_RANK_MOST. */
size_t pair_logs(const struct pair_stage *stage, int arm, double *logs);

/* Returns the median over the blocks that have the arm; NAN if none has. */
double pair_arm_median(const struct pair_stage *stage, int arm);

#endif
