#include "bench/gate/pair.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/record/run.h"
#include "bench/statistics/stats.h"

int pair_is_step(const struct observation *row)
{
	return strcmp(row->phase, "step") == 0 && row->is_warmup != 1 &&
	       row->core == CELL_NO_INT && !observation_is_modelled(row) &&
	       strcmp(row->status, "ok") == 0 && isfinite(row->elapsed_s);
}

double pair_step_median(const struct observation *const *rows, size_t count)
{
	double *steps = malloc((count + 1) * sizeof(*steps));
	size_t timed = 0, i;
	double median;

	if (!steps)
		return CELL_NO_REAL;
	for (i = 0; i < count; i++)
		if (pair_is_step(rows[i]))
			steps[timed++] = rows[i]->elapsed_s;
	median = stats_compute(steps, timed).median;
	free(steps);
	return median;
}

static int arm_of(const struct run *run)
{
	for (int arm = 0; arm < ARM_COUNT; arm++)
		if (!strcmp(run->arm, arm_names[arm]))
			return arm;
	return -1;
}

static void clear_values(struct pair_block *block, long attempt)
{
	block->attempt = attempt;
	block->processes = block->disturbed = 0;
	for (int arm = 0; arm < ARM_COUNT; arm++)
		block->values[arm] = NAN;
}

static void keep_value(struct pair_stage *stages, const struct run *run,
		       double value)
{
	const int arm = arm_of(run);
	struct pair_block *block;

	if (arm < 0 || run->stage < CHECK_SCREEN ||
	    run->stage >= CHECK_STAGES || run->block < 1 ||
	    run->block > SIGNED_RANK_MOST)
		return;
	block = &stages[run->stage].blocks[run->block - 1];
	if (run->attempt < block->attempt)
		return;
	if (run->attempt > block->attempt)
		clear_values(block, run->attempt);
	block->values[arm] = value > 0 ? value : NAN;
	block->processes++;
	block->disturbed += run_is_disturbed(run);
}

/* Seconds of a process; NAN if it did not go well. */
static double value_of(const struct run *run, const struct rows_by_run *groups,
		       int *is_command)
{
	const struct observation *const *rows;
	double median;
	size_t count;

	if (strcmp(run->status, "ok"))
		return NAN;
	rows = rows_by_run_find(groups, run->run_id, &count);
	median = pair_step_median(rows, count);
	/* Only a command, which has no backend, may be timed as a whole: one
	 * number of another kind among medians would be a false ratio. */
	if (isfinite(median) || run->backend[0])
		return median;
	*is_command = 1;
	return run->total_s;
}

static void clear_stages(struct pair_stage *stages)
{
	for (int s = 0; s < CHECK_STAGES; s++)
		for (int b = 0; b < SIGNED_RANK_MOST; b++)
			clear_values(&stages[s].blocks[b], 0);
}

static int is_of(const struct run *run, const char *campaign_id,
		 const char *target)
{
	return !strcmp(run->campaign_id, campaign_id) &&
	       !strcmp(run->target, target);
}

void pair_gather(struct pair_stage stages[CHECK_STAGES],
		 const struct campaign *campaign,
		 const struct rows_by_run *groups, const char *campaign_id,
		 const char *target, int *is_command)
{
	*is_command = 0;
	clear_stages(stages);
	for (size_t i = 0; i < campaign->run_count; i++) {
		const struct run *run = &campaign->runs[i];

		if (is_of(run, campaign_id, target))
			keep_value(stages, run,
				   value_of(run, groups, is_command));
	}
}

/* Returns NAN if the process failed, or if its row lacks the value. */
static double cell_of(const struct run *run, const struct column *column)
{
	if (strcmp(run->status, "ok"))
		return NAN;
	if (column->kind == CELL_REAL)
		return cell_real(column, run);
	return cell_int(column, run) == CELL_NO_INT ?
		       NAN : (double)cell_int(column, run);
}

void pair_gather_column(struct pair_stage stages[CHECK_STAGES],
			const struct campaign *campaign,
			const char *campaign_id, const char *target,
			const char *column)
{
	const struct column *found = row_column(&run_rows, column);

	clear_stages(stages);
	for (size_t i = 0; i < campaign->run_count; i++) {
		const struct run *run = &campaign->runs[i];

		if (is_of(run, campaign_id, target))
			keep_value(stages, run, cell_of(run, found));
	}
}

size_t pair_logs(const struct pair_stage *stage, int arm, double *logs)
{
	size_t count = 0;

	for (int b = 0; b < SIGNED_RANK_MOST; b++) {
		const double *values = stage->blocks[b].values;

		if (isfinite(values[ARM_BASE]) && isfinite(values[arm]))
			logs[count++] = log(values[arm] / values[ARM_BASE]);
	}
	return count;
}

/* The values of an arm, in the order of the blocks; returns how many. */
static size_t arm_values(const struct pair_stage *stage, int arm,
			 double values[SIGNED_RANK_MOST])
{
	size_t count = 0;

	for (int b = 0; b < SIGNED_RANK_MOST; b++)
		if (isfinite(stage->blocks[b].values[arm]))
			values[count++] = stage->blocks[b].values[arm];
	return count;
}

double pair_arm_median(const struct pair_stage *stage, int arm)
{
	double values[SIGNED_RANK_MOST];
	const size_t count = arm_values(stage, arm, values);

	return stats_compute(values, count).median;
}
