#include "bench/judge.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/arm.h"
#include "bench/check.h"
#include "bench/pair.h"
#include "bench/rows_by_run.h"
#include "bench/signed_rank.h"
#include "bench/stats.h"

/* What is known of the last attempt at one block. */
struct block {
	long attempt;
	double values[ARM_COUNT]; /* NAN: none */
};

struct stage_blocks {
	struct block blocks[SIGNED_RANK_MOST]; /* [block - 1] */
};

static int arm_of(const struct run *run)
{
	for (int arm = 0; arm < ARM_COUNT; arm++)
		if (!strcmp(run->arm, arm_names[arm]))
			return arm;
	return -1;
}

static void clear(struct stage_blocks *stages)
{
	for (int s = 0; s < CHECK_STAGES; s++)
		for (int b = 0; b < SIGNED_RANK_MOST; b++) {
			struct block *block = &stages[s].blocks[b];

			block->attempt = 0;
			for (int arm = 0; arm < ARM_COUNT; arm++)
				block->values[arm] = NAN;
		}
}

static void keep_value(struct stage_blocks *stages, const struct run *run,
		       double value)
{
	const int arm = arm_of(run);
	struct block *block;

	if (arm < 0 || run->stage < CHECK_SCREEN ||
	    run->stage >= CHECK_STAGES || run->block < 1 ||
	    run->block > SIGNED_RANK_MOST)
		return;
	block = &stages[run->stage].blocks[run->block - 1];
	if (run->attempt < block->attempt)
		return;
	if (run->attempt > block->attempt) {
		block->attempt = run->attempt;
		for (int a = 0; a < ARM_COUNT; a++)
			block->values[a] = NAN;
	}
	block->values[arm] = value > 0 ? value : NAN;
}

/* ln(arm / base) of the blocks that have both. */
static size_t collect_logs(const struct stage_blocks *stage, int arm,
			   double *logs)
{
	size_t count = 0;

	for (int b = 0; b < SIGNED_RANK_MOST; b++) {
		const double *values = stage->blocks[b].values;

		if (isfinite(values[ARM_BASE]) && isfinite(values[arm]))
			logs[count++] = log(values[arm] / values[ARM_BASE]);
	}
	return count;
}

static double median_of(const struct stage_blocks *stage, int arm)
{
	double values[SIGNED_RANK_MOST];
	size_t count = 0;

	for (int b = 0; b < SIGNED_RANK_MOST; b++)
		if (isfinite(stage->blocks[b].values[arm]))
			values[count++] = stage->blocks[b].values[arm];
	return stats_compute(values, count).median;
}

static int measure_stage(struct gate_stage *gate, const struct judged *row,
			 const struct stage_blocks *stage, int arm,
			 struct error *err)
{
	double logs[SIGNED_RANK_MOST];
	const size_t count = collect_logs(stage, arm, logs);

	*gate = (struct gate_stage){ 0 };
	return count ? gate_measure(gate, &row->gate.rule, logs, count, err) :
		       0;
}

static int judge_target(struct judged *row, const struct campaign *campaign,
			const char *campaign_id,
			const struct rows_by_run *groups,
			struct stage_blocks *stages, struct error *err)
{
	clear(stages);
	row->is_command = 0;
	for (size_t i = 0; i < campaign->run_count; i++) {
		const struct run *run = &campaign->runs[i];
		const struct observation *const *rows;
		double value;
		size_t count;

		if (strcmp(run->campaign_id, campaign_id) ||
		    strcmp(run->target, row->target) ||
		    strcmp(run->status, "ok"))
			continue;
		rows = rows_by_run_find(groups, run->run_id, &count);
		value = pair_step_median(rows, count);
		if (!isfinite(value)) {
			value = run->total_s;
			row->is_command = 1;
		}
		keep_value(stages, run, value);
	}
	row->base = median_of(&stages[CHECK_SCREEN], ARM_BASE);
	row->head = median_of(&stages[CHECK_SCREEN], ARM_HEAD);
	return measure_stage(&row->gate.screen, row, &stages[CHECK_SCREEN],
			     ARM_HEAD, err) ||
	       measure_stage(&row->gate.confirm, row, &stages[CHECK_CONFIRM],
			     ARM_HEAD, err) ||
	       measure_stage(&row->gate.control, row, &stages[CHECK_SCREEN],
			     ARM_CONTROL, err) ? -1 : 0;
}

int judge_rows(struct judged *rows, int count, const struct campaign *campaign,
	       const char *campaign_id, struct error *err)
{
	struct stage_blocks *stages = calloc(CHECK_STAGES, sizeof(*stages));
	struct gate_row *gates = calloc((size_t)count, sizeof(*gates));
	struct rows_by_run groups = { 0 };
	int failed;

	if (!stages || !gates)
		failed = error_memory(err, "the blocks of a check");
	else
		failed = rows_by_run_make(&groups, campaign, err);
	for (int i = 0; !failed && i < count; i++) {
		failed = judge_target(&rows[i], campaign, campaign_id, &groups,
				      stages, err);
		gates[i] = rows[i].gate;
	}
	if (!failed)
		gate_judge(gates, count);
	for (int i = 0; !failed && i < count; i++)
		rows[i].gate = gates[i];
	rows_by_run_free(&groups);
	free(gates);
	free(stages);
	return failed;
}

static double percent(double ratio)
{
	return 100 * (ratio - 1);
}

void judge_describe(struct verdict *verdict, const struct judged *row)
{
	const struct gate_stage *screen = &row->gate.screen;
	const struct gate_stage *confirm = &row->gate.confirm;
	const struct gate_stage *control = &row->gate.control;

	verdict_rows.clear(verdict);
	snprintf(verdict->target, sizeof(verdict->target), "%s", row->target);
	snprintf(verdict->metric, sizeof(verdict->metric), "%s",
		 row->is_command ? "process_s" : "s_iter");
	snprintf(verdict->verdict, sizeof(verdict->verdict), "%s",
		 gate_verdict_name(row->gate.verdict));
	snprintf(verdict->reason, sizeof(verdict->reason), "%s",
		 row->gate.reason);
	verdict->base_s = row->base;
	verdict->head_s = row->head;
	verdict->margin_pct = 100 * row->gate.rule.margin;
	verdict->pairs = (long)screen->pairs;
	verdict->confirm_pairs = (long)confirm->pairs;
	verdict->control_pairs = (long)control->pairs;
	if (screen->pairs) {
		verdict->ratio = screen->ratio;
		verdict->ratio_lo = screen->lower;
		verdict->ratio_hi = screen->upper;
		verdict->detectable_pct = percent(screen->detectable);
	}
	if (confirm->pairs) {
		verdict->confirm_ratio = confirm->ratio;
		verdict->confirm_lo = confirm->lower;
		verdict->confirm_hi = confirm->upper;
	}
	if (control->pairs) {
		verdict->control_ratio = control->ratio;
		verdict->control_lo = control->lower;
		verdict->control_hi = control->upper;
	}
}
