#include "bench/gate/judge.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/gate/pair.h"
#include "bench/record/machine.h"

/* Pairs of an arm and the base. */
static int measure_pairs(struct gate_stage *gate, const struct judged *row,
			 const struct pair_stage *stage, int arm,
			 struct error *err)
{
	double logs[SIGNED_RANK_MOST];
	const size_t count = pair_logs(stage, arm, logs);

	*gate = (struct gate_stage){ 0 };
	return count ? gate_measure(gate, &row->gate.rule, logs, count, err) :
		       0;
}

static void count_disturbed(struct judged *row, const struct pair_stage *stages)
{
	row->redone = row->counted = row->disturbed = 0;
	for (int s = CHECK_SCREEN; s < CHECK_STAGES; s++)
		for (int b = 0; b < SIGNED_RANK_MOST; b++) {
			row->redone += stages[s].blocks[b].attempt > 1;
			row->counted += stages[s].blocks[b].processes;
			row->disturbed += stages[s].blocks[b].disturbed;
		}
}

static int measure_stage(struct gate_stage *head, struct gate_stage *control,
			 const struct judged *row,
			 const struct pair_stage *stage, struct error *err)
{
	return measure_pairs(head, row, stage, ARM_HEAD, err) ||
	       measure_pairs(control, row, stage, ARM_CONTROL, err) ? -1 : 0;
}

/* Returns 1 if the confirmation's ratio is reported. It is independent of the
 * flag; the screen's was flagged for being large. */
static int is_confirmed(const struct judged *row)
{
	return row->gate.confirm.pairs > 0;
}

static int judge_target(struct judged *row, const struct campaign *campaign,
			const char *campaign_id,
			const struct rows_by_run *groups,
			struct pair_stage *stages, struct error *err)
{
	struct gate_row *gate = &row->gate;
	const struct pair_stage *quoted;

	pair_gather(stages, campaign, groups, campaign_id, row->target,
		    &row->is_command);
	count_disturbed(row, stages);
	if (measure_stage(&gate->screen, &gate->control, row,
			  &stages[CHECK_SCREEN], err) ||
	    measure_stage(&gate->confirm, &gate->control_confirm, row,
			  &stages[CHECK_CONFIRM], err))
		return -1;
	quoted = &stages[is_confirmed(row) ? CHECK_CONFIRM : CHECK_SCREEN];
	row->base = pair_arm_median(quoted, ARM_BASE);
	row->head = pair_arm_median(quoted, ARM_HEAD);
	return 0;
}

static const struct counter {
	const char *name, *column; /* of runs.csv */
} counters[] = {
	{ "launches", "launches" },
	{ "reduced bytes", "reduced_bytes" },
	{ "allocations", "allocations" },
};

static long value_of(const struct counter *counter, const struct run *run)
{
	return cell_int(row_column(&run_rows, counter->column), run);
}

/* Returns the value on which all processes of one arm agree, or CELL_NO_INT. */
static long count_of(const struct counter *counter, const char *arm,
		     const struct judged *row, const struct campaign *campaign,
		     const char *campaign_id)
{
	long agreed = CELL_NO_INT;

	for (size_t i = 0; i < campaign->run_count; i++) {
		const struct run *run = &campaign->runs[i];
		long value;

		if (strcmp(run->arm, arm) || run->stage <= CHECK_PILOT ||
		    strcmp(run->campaign_id, campaign_id) ||
		    strcmp(run->target, row->target) ||
		    strcmp(run->status, "ok"))
			continue;
		value = value_of(counter, run);
		if (value == CELL_NO_INT ||
		    (agreed != CELL_NO_INT && agreed != value))
			return CELL_NO_INT;
		agreed = value;
	}
	return agreed;
}

/*
 * More launches, reduced bytes or allocations of the head in as many iterations
 * are a regression without statistics, unless the head is faster. Fewer are
 * noted if the verdict has no reason yet. A counter is ignored if an arm lacks
 * it or its processes disagree.
 */
static void judge_counters(struct judged *row, const struct campaign *campaign,
			   const char *campaign_id)
{
	struct gate_row *gate = &row->gate;

	for (size_t c = 0; c < sizeof(counters) / sizeof(counters[0]); c++) {
		const long base = count_of(&counters[c], arm_names[ARM_BASE],
					   row, campaign, campaign_id);
		const long head = count_of(&counters[c], arm_names[ARM_HEAD],
					   row, campaign, campaign_id);
		int worse;

		if (base == CELL_NO_INT || head == CELL_NO_INT || head == base)
			continue;
		/* Fewer is never a failure: another way may be faster. */
		worse = head > base && gate->verdict != GATE_FASTER;
		if (worse)
			gate->verdict = GATE_REGRESSION;
		else if (gate->reason[0])
			continue;
		snprintf(gate->reason, sizeof(gate->reason), "%s in the same "
			 "number of iterations (exact): base %ld, head %ld",
			 counters[c].name, base, head);
		if (worse)
			return;
	}
}

/* A virtual machine may be moved to another host in the midst of a check. */
static void judge_machine(struct judged *row, const struct campaign *campaign,
			  const char *campaign_id)
{
	const struct run *first = NULL;
	char what[120];

	for (size_t i = 0; i < campaign->run_count; i++) {
		const struct run *run = &campaign->runs[i];

		if (!run->host_key[0] || strcmp(run->target, row->target) ||
		    strcmp(run->campaign_id, campaign_id))
			continue;
		if (!first)
			first = run;
		if (!strcmp(first->host_key, run->host_key))
			continue;
		machine_difference(first, run, what, sizeof(what));
		row->settled = 1;
		row->gate.verdict = GATE_INCONCLUSIVE;
		snprintf(row->gate.reason, sizeof(row->gate.reason),
			 "the machine changed between blocks: %s", what);
		return;
	}
}

int judge_rows(struct judged *rows, int count, const struct campaign *campaign,
	       const char *campaign_id, struct error *err)
{
	struct gate_row *gates = calloc((size_t)count, sizeof(*gates));
	struct pair_stage stages[CHECK_STAGES];
	struct rows_by_run groups = { 0 };
	int failed;

	if (!gates)
		failed = error_memory(err, "the rows of a check");
	else
		failed = rows_by_run_make(&groups, campaign, err);
	for (int i = 0; !failed && i < count; i++) {
		failed = judge_target(&rows[i], campaign, campaign_id, &groups,
				      stages, err);
		gates[i] = rows[i].gate;
	}
	if (!failed)
		gate_judge(gates, count);
	for (int i = 0; !failed && i < count; i++) {
		rows[i].gate = gates[i];
		judge_counters(&rows[i], campaign, campaign_id);
		judge_machine(&rows[i], campaign, campaign_id);
	}
	rows_by_run_free(&groups);
	free(gates);
	return failed;
}

/* Figures that were not measured stay empty. */
static void set_interval(const struct gate_stage *stage, double *ratio,
			 double *lower, double *upper)
{
	if (!stage->pairs)
		return;
	*ratio = stage->ratio;
	*lower = stage->lower;
	*upper = stage->upper;
}

void judge_describe(struct verdict *verdict, const struct judged *row)
{
	const struct gate_stage *screen = &row->gate.screen;
	const struct gate_stage *confirm = &row->gate.confirm;
	const struct gate_stage *control = &row->gate.control;
	const struct gate_stage *quoted = is_confirmed(row) ? confirm : screen;

	row_clear(&verdict_rows, verdict);
	snprintf(verdict->target, sizeof(verdict->target), "%s", row->target);
	snprintf(verdict->metric, sizeof(verdict->metric), "%s",
		 row->is_command ? "process_s" : "iter_p50_s");
	snprintf(verdict->verdict, sizeof(verdict->verdict), "%s",
		 gate_verdict_name(row->gate.verdict));
	snprintf(verdict->reason, sizeof(verdict->reason), "%s",
		 row->gate.reason);
	verdict->redone = row->redone;
	verdict->processes = row->counted;
	verdict->disturbed = row->disturbed;
	verdict->base_s = row->base;
	verdict->head_s = row->head;
	verdict->margin_pct = 100 * row->gate.rule.margin;
	verdict->pairs = (long)screen->pairs;
	verdict->confirm_pairs = (long)confirm->pairs;
	verdict->control_pairs = (long)control->pairs;
	set_interval(quoted, &verdict->ratio, &verdict->ratio_lo,
		     &verdict->ratio_hi);
	set_interval(screen, &verdict->screen_ratio, &verdict->screen_lo,
		     &verdict->screen_hi);
	set_interval(confirm, &verdict->confirm_ratio, &verdict->confirm_lo,
		     &verdict->confirm_hi);
	set_interval(control, &verdict->control_ratio, &verdict->control_lo,
		     &verdict->control_hi);
	/* Fewer come to no verdict, and so detect nothing. */
	if (screen->pairs >= row->gate.rule.fewest)
		verdict->detectable_pct = gate_percent(screen->detectable);
}
