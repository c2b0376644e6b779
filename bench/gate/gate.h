/*
 * Decides whether B is slower than A, from pairs of fresh processes. It uses
 * two margins, a bound that is exact for symmetric differences (see
 * rank_test.h), and a second, independent set of pairs. README.md in this
 * folder explains the rule and gives measured error rates. The functions are
 * pure: they read no clock and no file.
 */
#ifndef BENCH_GATE_GATE_H
#define BENCH_GATE_GATE_H

#include <stddef.h>

#include "backends/contract/error.h"

struct gate_rule {
	double margin; /* .03: a smaller estimate is no regression */
	double least;  /* .01: the lower bound must exceed it */
	double alpha;  /* .025: one-sided, for a screen and for the family of
			  all confirmations */
	double wanted; /* .05: an effect that must be detectable */
	size_t fewest; /* 12 pairs at least */
};

extern const struct gate_rule gate_rule_default;

/* One set of pairs of one metric. Ratios are B / A. */
struct gate_stage {
	size_t pairs; /* 0 = not measured */
	/* Estimate and its 95 % interval. With too few pairs for a bound they
	 * are 0 and INFINITY, and detectable is INFINITY. */
	double ratio, lower, upper;
	/* About 19 of 20 stages detect a slowdown by this ratio. It exceeds
	 * both margins by the lower bound's distance h, as much as an estimate
	 * varies. exp(max(ln(1 + least) + 2 h, ln(1 + margin) + h)). */
	double detectable;
	int slower, faster; /* 1: flagged by this stage alone */
	double p_slower;    /* p-value of "at most 1 + least" */
};

enum gate_verdict {
	GATE_OK,
	GATE_FASTER,
	GATE_REGRESSION,   /* flagged, and confirmed by the second stage */
	GATE_INCONCLUSIVE
};

struct gate_row {
	struct gate_rule rule;
	struct gate_stage screen, confirm;
	struct gate_stage control; /* A2 / A in the screen's blocks */
	struct gate_stage control_confirm; /* A2 / A in the confirmation's
					      blocks */
	enum gate_verdict verdict;
	/* Reason for the verdict; may be empty. */
	char reason[160];
};

/* Fills stage from logs, the ln(B / A) of each pair. Fails only if there is no
 * memory. */
int gate_measure(struct gate_stage *stage, const struct gate_rule *rule,
		 const double *logs, size_t count, struct error *err);

/* Returns 1 if the row needs the second stage: flagged by the screen, and not
 * yet inconclusive. */
int gate_needs_confirmation(const struct gate_row *row);

/*
 * Sets the verdicts of all rows of a check. Rows that need confirmation are
 * confirmed together, by Holm's procedure (Scandinavian Journal of Statistics
 * 6, 1979). All rows must have one alpha.
 */
void gate_judge(struct gate_row *rows, int count);

/* Returns 5 for a ratio of 1.05. */
double gate_percent(double ratio);

const char *gate_verdict_name(enum gate_verdict verdict);

#endif
