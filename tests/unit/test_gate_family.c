/* Rows of one check that are confirmed together. */
#include "tests/unit/stages.h"

/* Rows that are slower in both stages, with these p-values. */
static void expect_holm(int count, const double *p, const char *regressions)
{
	struct gate_row rows[8];

	for (int i = 0; i < count; i++) {
		rows[i] = row_of(stage_of(6, 2), stage_of(6, 2));
		rows[i].confirm.p_slower = p[i];
	}
	gate_judge(rows, count);
	for (int i = 0; i < count; i++) {
		if ((rows[i].verdict == GATE_REGRESSION) !=
		    (regressions[i] == 'R'))
			fail_msg("row %d of %s: %s (%s)", i, regressions,
				 gate_verdict_name(rows[i].verdict),
				 rows[i].reason);
		if (regressions[i] != 'R')
			assert_non_null(strstr(rows[i].reason,
					       "is not significant given the "
					       "number of rows"));
	}
}

/* alpha = .025, so three rows are asked for .00833, .0125 and .025. */
static void holm(void **state)
{
	(void)state;
	/* Bonferroni asks all of them for .00833, and accepts one. */
	expect_holm(3, (double[]){ .012, .005, .02 }, "RRR");
	/* .02 is above .0125: the last one is not even asked. */
	expect_holm(3, (double[]){ .005, .021, .02 }, "R..");
	/* The smallest fails: so do all. */
	expect_holm(3, (double[]){ .009, .01, .009 }, "...");
	/* Equal ones are asked for what the first of them is. */
	expect_holm(2, (double[]){ .0125, .0125 }, "RR");
	expect_holm(2, (double[]){ .013, .013 }, "..");
	expect_holm(1, (double[]){ .025 }, "R");
}

/* Who belongs to the family that Holm counts. */
static void family(void **state)
{
	struct gate_row rows[3];

	(void)state;
	for (int i = 0; i < 3; i++) {
		rows[i] = row_of(stage_of(6, 2), stage_of(6, 2));
		rows[i].confirm.p_slower = .02;
	}
	/* Rows that no one flagged do not. */
	rows[0].screen = rows[1].screen = stage_of(0, 2);
	gate_judge(rows, 3);
	assert_int_equal(rows[0].verdict, GATE_OK);
	assert_int_equal(rows[2].verdict, GATE_REGRESSION);
	/* Nor do targets that were inconclusive before. */
	rows[0].screen = stage_of(6, 2);
	rows[0].control = stage_of(6, 2);
	gate_judge(rows, 3);
	assert_int_equal(rows[0].verdict, GATE_INCONCLUSIVE);
	assert_int_equal(rows[2].verdict, GATE_REGRESSION);
	/* One whose confirmation was lost does. */
	rows[0].control = rows[0].confirm = nothing;
	gate_judge(rows, 3);
	assert_int_equal(rows[0].verdict, GATE_INCONCLUSIVE);
	assert_int_equal(rows[2].verdict, GATE_INCONCLUSIVE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(holm),
		cmocka_unit_test(family),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
