/*
 * Is B slower than A? Decided from pairs of fresh processes, by two margins, a
 * bound that is exact for symmetric differences (see rank_test.h) and a
 * second, independent set of pairs. README.md in this folder explains it to
 * users and gives the error rates that were measured. Pure: reads no clock and
 * no file.
 */
#ifndef BENCH_GATE_GATE_H
#define BENCH_GATE_GATE_H

#include <stddef.h>

#include "backends/contract/error.h"

struct gate_rule {
	double margin; /* .03: a smaller estimate is no regression */
	double least;  /* .01: what the lower bound has to clear */
	double alpha;  /* .025: one-sided, of a screen, and of the family of
			  all that is confirmed */
	double wanted; /* .05: an effect that has to be detectable */
	size_t fewest; /* 12 pairs */
};

extern const struct gate_rule gate_rule_default;

/* One set of pairs of one metric. Ratios are B / A. */
struct gate_stage {
	size_t pairs; /* 0: not measured */
	/* Estimate and its 95 % interval; 0 and INFINITY if there are too few
	 * pairs for a bound, and detectable INFINITY too. */
	double ratio, lower, upper;
	/* A slowdown by this ratio is caught by 19 of 20 stages or so: beyond
	 * both margins by as much as an estimate strays, the lower bound's
	 * distance h. exp(max(ln(1 + least) + 2 h, ln(1 + margin) + h)). */
	double detectable;
	int slower, faster; /* flagged by this stage alone */
	double p_slower;    /* of "at most 1 + least" */
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
	struct gate_stage control_confirm; /* and in the confirmation's */
	enum gate_verdict verdict;
	/* What the verdict is by; empty where there is nothing to add. */
	char reason[160];
};

/* logs are ln(B / A) of each pair. */
int gate_measure(struct gate_stage *stage, const struct gate_rule *rule,
		 const double *logs, size_t count, struct error *err);

/* Does this row need the second stage? Not if it is inconclusive already. */
int gate_wants_confirmation(const struct gate_row *row);

/*
 * The verdicts of all rows of a check, from what was measured: those that want
 * confirmation are confirmed together, by Holm's procedure (Scandinavian
 * Journal of Statistics 6, 1979). Rows of one check have one alpha.
 */
void gate_judge(struct gate_row *rows, int count);

/* A ratio of 1.05 is 5 % more. */
double gate_percent(double ratio);

const char *gate_verdict_name(enum gate_verdict verdict);

#endif
