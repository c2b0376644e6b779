/* The time to an accuracy: what is in it, and the score of several. */
#include "bench/record/time_to_accuracy.h"

#define NEAR 1e-12
#include "tests/unit/near.h"

static struct run run_of(double setup_s, double data_s, double warmup_s)
{
	struct run run;

	row_clear(&run_rows, &run);
	run.setup_s = setup_s;
	run.data_s = data_s;
	run.warmup_s = warmup_s;
	return run;
}

/* The data count, the rest of start-up does not, but beyond its cap. */
static void what_is_in_it(void **state)
{
	struct run run = run_of(5, 2, 6);

	(void)state;
	near(time_untimed(&run), 9);
	near(time_to_accuracy(&run, 100), 102);
	run = run_of(5, 2, 7);
	near(time_to_accuracy(&run, 100), 102);
	run = run_of(5, 2, 7.5);
	near(time_to_accuracy(&run, 100), 102.5);
	run = run_of(30, 2, CELL_NO_REAL);
	near(time_to_accuracy(&run, 100), 120);
	assert_true(isnan(time_to_accuracy(&run, NAN)));
	/* Rows from before it was known what the data took. */
	run = run_of(30, CELL_NO_REAL, 1);
	near(time_to_accuracy(&run, 100), 100);
	assert_true(isnan(time_untimed(&run)));
}

static void few_have_a_plain_mean(void **state)
{
	double times[] = { 4, 1, 2, 9 };
	struct accuracy_score score = accuracy_score_of(times, 4);

	(void)state;
	assert_int_equal(score.runs, 4);
	assert_int_equal(score.reached, 4);
	assert_false(score.trimmed);
	near(score.mean, 4);
	near(score.median, 3);
	score = accuracy_score_of(times, 1); /* they are sorted by now */
	near(score.mean, 1);
	near(score.median, 1);
	score = accuracy_score_of(times, 0);
	assert_int_equal(score.runs, 0);
	assert_true(isnan(score.mean) && isnan(score.median));
}

static void many_lose_their_extremes(void **state)
{
	double five[] = { 10, 1, 3, 2, 100 };
	double ten[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 1000 };
	struct accuracy_score score = accuracy_score_of(five, 5);

	(void)state;
	assert_true(score.trimmed);
	near(score.mean, 5);
	near(score.median, 3);
	near(accuracy_score_of(ten, 10).mean, 5.5);
}

static void misses_are_infinite(void **state)
{
	double one[] = { 4, INFINITY, 1, 2, 3 };
	double two[] = { 4, INFINITY, 1, INFINITY, 3 };
	double three[] = { INFINITY, INFINITY, 1, INFINITY, 3 };
	double few[] = { 1, 2, INFINITY, 3 };
	double none[] = { INFINITY };
	struct accuracy_score score = accuracy_score_of(one, 5);

	(void)state;
	assert_int_equal(score.reached, 4);
	near(score.mean, 3);
	near(score.median, 3);
	score = accuracy_score_of(two, 5);
	assert_int_equal(score.reached, 3);
	assert_true(isnan(score.mean));
	near(score.median, 4);
	score = accuracy_score_of(three, 5);
	assert_true(isnan(score.mean) && isnan(score.median));
	score = accuracy_score_of(few, 4);
	assert_int_equal(score.reached, 3);
	assert_true(isnan(score.mean));
	near(score.median, 2.5);
	score = accuracy_score_of(none, 1);
	assert_int_equal(score.reached, 0);
	assert_true(isnan(score.mean) && isnan(score.median));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_in_it),
		cmocka_unit_test(few_have_a_plain_mean),
		cmocka_unit_test(many_lose_their_extremes),
		cmocka_unit_test(misses_are_infinite),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
