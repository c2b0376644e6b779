/* For tests: stages of the gate whose truth is known. */
#ifndef TESTS_STAGES_H
#define TESTS_STAGES_H

#include "bench/gate/gate.h"
#include "tests/cmocka.h"

#define PAIRS 20

static struct error err;

/* Twenty normal deviates in no order, the same on both sides of 0. */
static const double deviates[PAIRS] = {
	.31,  -1.13, .59,  1.87, -.19, -.75, .06,  -1.40, .92,	-.45,
	1.13, .45,   -.06, -.92, -.31, 1.40, .75,  .19,	  -.59, -1.87,
};

static inline void shift(double *logs, double percent, double spread)
{
	for (int i = 0; i < PAIRS; i++)
		logs[i] = log1p(percent / 100) + spread / 100 * deviates[i];
}

static inline void measure(struct gate_stage *stage,
			   const struct gate_rule *rule, const double *logs,
			   size_t count)
{
	if (gate_measure(stage, rule, logs, count, &err))
		fail_msg("%s", err.message);
}

/* Returns a stage of twenty pairs, `percent` slower, with that spread. */
static inline struct gate_stage stage_of(double percent, double spread)
{
	struct gate_stage stage;
	double logs[PAIRS];

	shift(logs, percent, spread);
	measure(&stage, &gate_rule_default, logs, PAIRS);
	return stage;
}

/* Its verdict is not set yet. */
static inline struct gate_row row_of(struct gate_stage screen,
				     struct gate_stage confirm)
{
	return (struct gate_row){ .rule = gate_rule_default,
				  .screen = screen,
				  .confirm = confirm,
				  .verdict = (enum gate_verdict)-1,
				  .reason = "untouched" };
}

/* The row alone is judged so; reason is in its reason, and empty if that is. */
static inline void expect(struct gate_row *row, enum gate_verdict verdict,
			  const char *reason)
{
	gate_judge(row, 1);
	if (row->verdict != verdict)
		fail_msg("%s (%s), expected %s",
			 gate_verdict_name(row->verdict), row->reason,
			 gate_verdict_name(verdict));
	if (*reason ? !strstr(row->reason, reason) : *row->reason)
		fail_msg("because '%s', expected '%s'", row->reason, reason);
}

static const struct gate_stage nothing;

#endif
