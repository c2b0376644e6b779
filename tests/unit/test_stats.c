/* Statistics against numbers worked out by hand and by numpy. */
#include "bench/statistics/stats.h"

#define NEAR 1e-12
#include "tests/unit/near.h"

static void known_list(void **state)
{
	double values[] = { 7, 1, 4, 2 };
	struct stats stats = stats_compute(values, 4);

	(void)state;
	assert_int_equal(stats.count, 4);
	near(stats.mean, 3.5);
	near(stats.std, sqrt(21. / 4)); /* of the population */
	near(stats.min, 1);
	near(stats.max, 7);
	near(stats.median, 3);
	/* numpy.quantile([1, 2, 4, 7], [.25, .75]) */
	near(stats.q1, 1.75);
	near(stats.q3, 4.75);
	near(values[0], 1); /* sorted */
	near(values[3], 7);
}

static void quantiles_are_linear(void **state)
{
	const double sorted[] = { 10, 20, 30, 40, 50 };

	(void)state;
	near(stats_quantile(sorted, 5, 0), 10);
	near(stats_quantile(sorted, 5, 1), 50);
	near(stats_quantile(sorted, 5, .5), 30);
	near(stats_quantile(sorted, 5, .99), 49.6);
	near(stats_quantile(sorted, 5, .1), 14);
	near(stats_quantile(sorted, 1, .99), 10);
	assert_true(isnan(stats_quantile(sorted, 0, .5)));
}

static void one_and_none(void **state)
{
	double one = 3;
	struct stats stats = stats_compute(&one, 1);

	(void)state;
	near(stats.mean, 3);
	near(stats.std, 0);
	near(stats.q1, 3);
	assert_true(isnan(stats_half_width(&stats)));
	assert_true(isnan(stats_shown_half_width(&stats)));
	stats = stats_compute((double[]){ 1, 2 }, 2);
	assert_true(stats_half_width(&stats) > 6);
	assert_true(isnan(stats_shown_half_width(&stats)));
	stats = stats_compute((double[]){ 1, 2, 3 }, 3);
	assert_true(stats_shown_half_width(&stats) ==
		    stats_half_width(&stats));
	stats = stats_compute(NULL, 0);
	assert_int_equal(stats.count, 0);
	assert_true(isnan(stats.mean) && isnan(stats.std) && isnan(stats.max));
	assert_true(isnan(stats_half_width(&stats)));
}

/* A shifted list has the same spread: no sum of squares that cancels. */
static void large_offset(void **state)
{
	double values[] = { 1e9 + 1, 1e9 + 2, 1e9 + 3 };
	struct stats stats = stats_compute(values, 3);

	(void)state;
	near(stats.mean, 1e9 + 2);
	near(stats.std, sqrt(2. / 3));
}

/* Half widths in units of the standard error, from tables of Student's t. */
static void interval(void **state)
{
	static const struct {
		size_t count;
		double t;
	} known[] = {
		{ 2, 12.706205 }, { 3, 4.302653 },  { 5, 2.776445 },
		{ 10, 2.262157 }, { 21, 2.085963 }, { 22, 2.079614 },
		{ 31, 2.042272 }, { 101, 1.983972 }, { 10001, 1.960201 },
	};
	struct stats stats = { 0 };
	double sample, error;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		/* std is the population's; the sample's is larger. */
		stats.count = known[i].count;
		stats.std = 2;
		sample = 2 * sqrt((double)stats.count /
				  (double)(stats.count - 1));
		error = sample / sqrt((double)stats.count);
		if (fabs(stats_half_width(&stats) / error - known[i].t) > 2e-5)
			fail_msg("n=%zu: %.6f, expected %.6f", stats.count,
				 stats_half_width(&stats) / error, known[i].t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(known_list),
		cmocka_unit_test(quantiles_are_linear),
		cmocka_unit_test(one_and_none),
		cmocka_unit_test(large_offset),
		cmocka_unit_test(interval),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
