#include "bench/gate/gate.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "bench/statistics/rank_test.h"

const struct gate_rule gate_rule_default = {
	.margin = .03,
	.least = .01,
	.alpha = .025,
	.wanted = .05,
	.fewest = 12,
};

/* Each side of the reported interval: 95 % for any rule. */
static const double interval_alpha = .025;

/* Fills a stage from ranks of logarithms, and releases them. */
static void fill_stage(struct gate_stage *stage, const struct gate_rule *rule,
		       struct rank_test *test)
{
	const double margin = log1p(rule->margin), least = log1p(rule->least);
	const double estimate = rank_test_estimate(test);
	const double lower = rank_test_lower(test, rule->alpha);
	const double upper = rank_test_upper(test, rule->alpha);
	const double half = estimate - lower;

	stage->ratio = exp(estimate);
	stage->lower = exp(rank_test_lower(test, interval_alpha));
	stage->upper = exp(rank_test_upper(test, interval_alpha));
	stage->detectable = exp(fmax(least + 2 * half, margin + half));
	stage->slower = estimate >= margin && lower > least;
	stage->faster = estimate <= -margin && upper < -least;
	stage->p_slower = rank_test_p_above(test, least);
	rank_test_release(test);
}

int gate_measure(struct gate_stage *stage, const struct gate_rule *rule,
		 const double *logs, size_t count, struct error *err)
{
	struct rank_test test;

	*stage = (struct gate_stage){ 0 };
	if (signed_rank_make(&test, logs, count, err))
		return -1;
	stage->pairs = count;
	fill_stage(stage, rule, &test);
	return 0;
}

static int control_flagged(const struct gate_stage *control)
{
	return control->slower || control->faster;
}

int gate_needs_confirmation(const struct gate_row *row)
{
	return row->screen.slower && row->screen.pairs >= row->rule.fewest &&
	       !control_flagged(&row->control);
}

static int sees_wanted(const struct gate_rule *rule,
		       const struct gate_stage *stage)
{
	return stage->detectable <= 1 + rule->wanted;
}

static void judge(struct gate_row *row, enum gate_verdict verdict)
{
	row->verdict = verdict;
	row->reason[0] = '\0';
}

static void judge_because(struct gate_row *row, enum gate_verdict verdict,
			  const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static void judge_because(struct gate_row *row, enum gate_verdict verdict,
			  const char *format, ...)
{
	va_list arguments;

	row->verdict = verdict;
	va_start(arguments, format);
	vsnprintf(row->reason, sizeof(row->reason), format, arguments);
	va_end(arguments);
}

double gate_percent(double ratio)
{
	return 100 * (ratio - 1);
}

static void judge_too_few(struct gate_row *row, const char *stage_name,
			  const struct gate_stage *stage)
{
	judge_because(row, GATE_INCONCLUSIVE,
		      "%zu pairs %s, %zu are needed: use more blocks",
		      stage->pairs, stage_name, row->rule.fewest);
}

static void judge_blind(struct gate_row *row, const char *before,
			const struct gate_stage *stage)
{
	if (isfinite(stage->detectable))
		judge_because(row, GATE_INCONCLUSIVE,
			      "%sonly slowdowns above %.1f %% can be detected, "
			      "%.3g %% is required: use a quieter machine or "
			      "more blocks",
			      before, gate_percent(stage->detectable),
			      100 * row->rule.wanted);
	else
		judge_because(row, GATE_INCONCLUSIVE,
			      "%sno slowdown can be detected in %zu pairs: "
			      "use more blocks", before, stage->pairs);
}

static void judge_control(struct gate_row *row, const char *when,
			  const struct gate_stage *control)
{
	judge_because(row, GATE_INCONCLUSIVE,
		      "the base differs from itself by %+.1f %%%s: other "
		      "programs, or the order within a block, change the times "
		      "more than base or head do",
		      gate_percent(control->ratio), when);
}

/* Judges a row that needs confirmation. */
static void judge_flagged(struct gate_row *row, int accepted)
{
	const struct gate_stage *confirm = &row->confirm;

	if (confirm->pairs < row->rule.fewest)
		judge_too_few(row, "of the confirmation", confirm);
	else if (control_flagged(&row->control_confirm))
		judge_control(row, " in the confirmation",
			      &row->control_confirm);
	else if (confirm->slower && accepted)
		judge(row, GATE_REGRESSION);
	else if (confirm->slower)
		judge_because(row, GATE_INCONCLUSIVE,
			      "slower twice, but p = %.2g is not significant "
			      "given the number of rows: use more blocks",
			      confirm->p_slower);
	else if (!sees_wanted(&row->rule, confirm))
		judge_blind(row, "not confirmed, but there ", confirm);
	else
		judge_because(row, GATE_OK,
			      "%+.1f %% at first was not confirmed: %+.1f %%",
			      gate_percent(row->screen.ratio),
			      gate_percent(confirm->ratio));
}

/* A faster row needs no power: its interval has ruled a slowdown out. */
static void judge_row(struct gate_row *row, int accepted)
{
	if (row->screen.pairs < row->rule.fewest)
		judge_too_few(row, "of the screen", &row->screen);
	else if (control_flagged(&row->control))
		judge_control(row, "", &row->control);
	else if (row->screen.slower)
		judge_flagged(row, accepted);
	else if (row->screen.faster)
		judge(row, GATE_FASTER);
	else if (!sees_wanted(&row->rule, &row->screen))
		judge_blind(row, "", &row->screen);
	else
		judge(row, GATE_OK);
}

/* A row with too few pairs belongs to the family, but cannot be rejected. */
static double confirmed_p(const struct gate_row *row)
{
	return row->confirm.pairs >= row->rule.fewest ? row->confirm.p_slower :
							1;
}

/* Returns the number of rows that need confirmation and have a p-value below
 * p. */
static int count_below(const struct gate_row *rows, int count, double p)
{
	int below = 0, i;

	for (i = 0; i < count; i++)
		below += gate_needs_confirmation(&rows[i]) &&
			 confirmed_p(&rows[i]) < p;
	return below;
}

/*
 * Holm: the smallest of m p-values must be at most alpha / m, the next at most
 * alpha / (m - 1) and so on. p-values are accepted up to the first that fails.
 * Equal p-values share the strictest step.
 */
static int holm_accepts(const struct gate_row *rows, int count, double p)
{
	const int family = count_below(rows, count, INFINITY);
	double each;
	int i;

	for (i = 0; i < count; i++) {
		each = confirmed_p(&rows[i]);
		if (gate_needs_confirmation(&rows[i]) && each <= p &&
		    each * (family - count_below(rows, count, each)) >
			    rows[i].rule.alpha)
			return 0;
	}
	return 1;
}

void gate_judge(struct gate_row *rows, int count)
{
	int i;

	for (i = 0; i < count; i++)
		judge_row(&rows[i], holm_accepts(rows, count,
						 confirmed_p(&rows[i])));
}

const char *gate_verdict_name(enum gate_verdict verdict)
{
	static const char *const names[] = {
		[GATE_OK] = "ok",
		[GATE_FASTER] = "faster",
		[GATE_REGRESSION] = "REGRESSION",
		[GATE_INCONCLUSIVE] = "inconclusive",
	};

	return names[verdict];
}
