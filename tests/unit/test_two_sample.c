/* The rank-sum procedure against published tables and against every split. */
#include "bench/statistics/rank_test.h"
#include "tests/cmocka.h"

#define MOST TWO_SAMPLE_MOST

/* Two samples without equal values or equal differences. */
static void made(struct rank_test *test, size_t first, size_t second)
{
	double a[MOST], b[MOST];
	struct error err;
	size_t i;

	for (i = 0; i < first; i++)
		a[i] = sin(1.7 * (double)i + .3);
	for (i = 0; i < second; i++)
		b[i] = cos(2.3 * (double)i + .1);
	assert_int_equal(rank_sum_make(test, a, first, b, second, &err), 0);
}

/*
 * The largest U that is significant at a one-sided level: the table of Mann and
 * Whitney (1947) as it stands in textbooks, -1 where it has a dash. The k-th
 * difference is the bound for U <= k - 1.
 */
static void published_critical_values(void **state)
{
	static const struct {
		size_t first, second;
		int at_025, at_005;
	} known[] = {
		{ 3, 3, -1, -1 },   { 3, 4, -1, -1 },	{ 3, 5, 0, -1 },
		{ 4, 4, 0, -1 },    { 4, 5, 1, -1 },	{ 4, 6, 2, 0 },
		{ 5, 5, 2, 0 },	    { 6, 6, 5, 2 },	{ 7, 7, 8, 4 },
		{ 8, 8, 13, 7 },    { 9, 9, 17, 11 },	{ 10, 10, 23, 16 },
		{ 5, 10, 8, 4 },    { 10, 5, 8, 4 },	{ 8, 12, 22, 15 },
		{ 12, 12, 37, 27 }, { 15, 15, 64, 51 }, { 20, 20, 127, 105 },
		{ 2, 8, 0, -1 },    { 2, 7, -1, -1 },	{ 10, 20, 55, 42 },
	};
	struct rank_test test;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		made(&test, known[i].first, known[i].second);
		if ((int)rank_test_index(&test, .025) != known[i].at_025 + 1 ||
		    (int)rank_test_index(&test, .005) != known[i].at_005 + 1)
			fail_msg("%zu and %zu: %zu, %zu", known[i].first,
				 known[i].second, rank_test_index(&test, .025),
				 rank_test_index(&test, .005));
		rank_test_release(&test);
	}
}

static int bits(unsigned word)
{
	return word ? (int)(word & 1) + bits(word >> 1) : 0;
}

/* Pairs of a set bit with a clear one above it. */
static size_t pairs_of(unsigned split, size_t size)
{
	size_t i, j, pairs = 0;

	for (i = 0; i < size; i++)
		for (j = i + 1; j < size; j++)
			pairs += (split >> i & 1) && !(split >> j & 1);
	return pairs;
}

/* How many of all splits of first + second ranks have U <= u each. */
static void cdf_is_that_of_all_splits(void **state)
{
	size_t first, second, u;
	struct rank_test test;
	unsigned split;

	(void)state;
	for (first = 1; first <= 6; first++)
		for (second = 1; second <= 6; second++) {
			double counts[37] = { 0 }, all = 0, below = 0;

			for (split = 0; split < 1u << (first + second); split++)
				if (bits(split) == (int)first) {
					counts[pairs_of(split,
							first + second)]++;
					all++;
				}
			made(&test, first, second);
			for (u = 0; u <= first * second; u++) {
				below += counts[u];
				assert_true(fabs(test.cdf[u] - below / all) <
					    1e-12);
			}
			rank_test_release(&test);
		}
}

/* The largest sizes: both tails by their formulas, and the middle. */
static void cdf_of_the_largest(void **state)
{
	struct rank_test test;
	double splits = 1;
	size_t i;

	(void)state;
	for (i = 1; i <= MOST; i++) /* 200 over 100 */
		splits *= (double)(MOST + i) / (double)i;
	made(&test, MOST, MOST);
	assert_true(fabs(test.cdf[0] * splits - 1) < 1e-12);
	/* Splits with U <= 4: partitions of 0 to 4, 1 + 1 + 2 + 3 + 5. */
	assert_true(fabs(test.cdf[4] * splits - 12) < 1e-10);
	assert_true(fabs(test.cdf[MOST * MOST / 2 - 1] +
			 test.cdf[MOST * MOST / 2] - 1) < 1e-12);
	assert_true(fabs(test.cdf[MOST * MOST] - 1) < 1e-12);
	assert_true(test.cdf[MOST * MOST] <= 1);
	rank_test_release(&test);
}

static void by_hand(void **state)
{
	const double first[] = { 4, 1, 2, 9 }, second[] = { 20, 11, 13, 30 };
	/* 2, 4, 7, 9, 9, 10, 11, 11, 12, 16, 18, 19, 21, 26, 28, 29 */
	struct rank_test test;
	struct error err;

	(void)state;
	assert_int_equal(rank_sum_make(&test, first, 4, second, 4, &err), 0);
	assert_true(rank_test_estimate(&test) == 11.5);
	assert_int_equal(rank_test_index(&test, .025), 1);
	assert_true(rank_test_lower(&test, .025) == 2);
	assert_true(rank_test_upper(&test, .025) == 29);
	/* 70 splits: 1 has U = 0, 1 has 1, 2 have 2 and 3 have 3. */
	assert_true(fabs(rank_test_p_above(&test, 0) - 1 / 70.) < 1e-15);
	assert_true(fabs(rank_test_p_above(&test, 2) - 2 / 70.) < 1e-15);
	assert_true(fabs(rank_test_p_above(&test, 8) - 7 / 70.) < 1e-15);
	assert_true(rank_test_p_above(&test, 29) == test.cdf[16]);
	rank_test_release(&test);
	assert_int_equal(rank_sum_make(&test, first, 3, second, 3, &err), 0);
	assert_true(rank_test_estimate(&test) == 11);
	assert_int_equal(rank_test_index(&test, .025), 0);
	assert_true(isinf(rank_test_lower(&test, .025)) &&
		    rank_test_lower(&test, .025) < 0);
	assert_true(isinf(rank_test_upper(&test, .025)) &&
		    rank_test_upper(&test, .025) > 0);
	rank_test_release(&test);
}

/* The bound and the p-value say the same of every shift. */
static void bound_and_p_agree(void **state)
{
	const double alphas[] = { .005, .01, .025, .05, .3 };
	struct rank_test test;
	size_t a, i;

	(void)state;
	made(&test, 7, 9);
	for (a = 0; a < sizeof(alphas) / sizeof(alphas[0]); a++)
		for (i = 0; i < test.count; i++) {
			double shift = test.values[i];

			assert_int_equal(rank_test_lower(&test, alphas[a]) >
						 shift,
					 rank_test_p_above(&test, shift) <=
						 alphas[a]);
		}
	rank_test_release(&test);
}

/* The other way round is the other sign. */
static void exchange(void **state)
{
	const double a[] = { .1, .35, .2, .8, .45 }, b[] = { .3, .9, .7, .5 };
	struct rank_test forth, back;
	struct error err;

	(void)state;
	assert_int_equal(rank_sum_make(&forth, a, 5, b, 4, &err), 0);
	assert_int_equal(rank_sum_make(&back, b, 4, a, 5, &err), 0);
	assert_true(rank_test_estimate(&forth) == -rank_test_estimate(&back));
	assert_true(rank_test_lower(&forth, .025) ==
		    -rank_test_upper(&back, .025));
	assert_true(rank_test_upper(&forth, .025) ==
		    -rank_test_lower(&back, .025));
	rank_test_release(&forth);
	rank_test_release(&back);
}

static void refuses(void **state)
{
	double many[MOST + 1] = { 0 }, bad[] = { 1, NAN, 2 };
	struct rank_test test;
	struct error err;

	(void)state;
	assert_int_equal(rank_sum_make(&test, many, 0, many, 3, &err), -1);
	assert_int_equal(err.kind, ERROR_FAILED);
	assert_int_equal(rank_sum_make(&test, many, 3, many, MOST + 1, &err),
			 -1);
	assert_int_equal(rank_sum_make(&test, many, 3, bad, 3, &err), -1);
	assert_null(test.values);
	bad[1] = -INFINITY;
	assert_int_equal(rank_sum_make(&test, bad, 3, many, 3, &err), -1);
	rank_test_release(&test);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(published_critical_values),
		cmocka_unit_test(cdf_is_that_of_all_splits),
		cmocka_unit_test(cdf_of_the_largest),
		cmocka_unit_test(by_hand),
		cmocka_unit_test(bound_and_p_agree),
		cmocka_unit_test(exchange),
		cmocka_unit_test(refuses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
