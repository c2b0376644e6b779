/* Signed ranks against printed tables, against every pattern of signs there
 * is, and by hand. */
#include "bench/statistics/rank_test.h"

#define NEAR 1e-12
#include "tests/unit/near.h"

#define BRUTE 12 /* 4096 patterns */

static struct error err;

static void make(struct rank_test *test, const double *differences,
		 size_t pairs)
{
	if (signed_rank_make(test, differences, pairs, &err))
		fail_msg("%s", err.message);
}

/* Of n differences whatever they are. */
static size_t signed_rank_index(size_t n, double alpha)
{
	const double differences[SIGNED_RANK_MOST] = { 0 };
	struct rank_test test;
	size_t index;

	make(&test, differences, n);
	index = rank_test_index(&test, alpha);
	rank_test_release(&test);
	return index;
}

static double signed_rank_cdf(size_t n, size_t w)
{
	const double differences[SIGNED_RANK_MOST] = { 0 };
	struct rank_test test;
	double p;

	make(&test, differences, n);
	p = test.cdf[w];
	rank_test_release(&test);
	return p;
}

/*
 * Tables print the largest W that is significant, one less than the index.
 * Beyond n = 50 they end: there the numbers are counted in whole numbers of
 * any length, by Python.
 */
static void published_tables(void **state)
{
	static const struct {
		size_t n;
		double alpha;
		size_t index;
	} known[] = {
		{ 5, .05, 1 },	   { 5, .025, 0 },    { 6, .025, 1 },
		{ 8, .025, 4 },	   { 10, .025, 9 },   { 12, .025, 14 },
		{ 14, .025, 22 },  { 16, .025, 30 },  { 20, .025, 53 },
		{ 24, .025, 82 },  { 25, .025, 90 },  { 30, .025, 138 },
		{ 40, .025, 265 }, { 50, .025, 435 }, { 20, .05, 61 },
		{ 10, .01, 6 },	   { 20, .01, 44 },   { 30, .01, 121 },
		{ 10, .005, 4 },   { 20, .005, 38 },  { 30, .005, 110 },
		{ 60, .05, 691 },  { 100, .025, 1956 },
		{ 200, .025, 8445 }, { 200, .005, 7945 },
	};
	size_t i, index;

	(void)state;
	for (i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		index = signed_rank_index(known[i].n, known[i].alpha);
		if (index != known[i].index)
			fail_msg("n = %zu, alpha = %g: %zu, expected %zu",
				 known[i].n, known[i].alpha, index,
				 known[i].index);
	}
}

static void exact_chances(void **state)
{
	(void)state;
	near(signed_rank_cdf(5, 0), .03125);
	near(signed_rank_cdf(10, 8), .0244140625);
	near(signed_rank_cdf(20, 52), .02422046661376953);
	near(signed_rank_cdf(20, 53), .026584625244140625);
	near(signed_rank_cdf(30, 137), .024855060502886772);
	near(signed_rank_cdf(100, 1955), .02496187980214628);
	near(signed_rank_cdf(200, 8444), .02498481564998739);
	near(signed_rank_cdf(200, 0), 6.223015277861142e-61);
	near(signed_rank_cdf(200, 20099), 1);
	near(signed_rank_cdf(200, 20100), 1);
	/* n (n + 1) / 2 is odd here: half of the sums are below its half. */
	near(signed_rank_cdf(2, 1), .5);
	near(signed_rank_cdf(50, 637), .5);
}

/* All 2^n patterns of signs of the ranks. */
static void every_pattern(void **state)
{
	unsigned long counts[BRUTE * (BRUTE + 1) / 2 + 1];
	size_t n, w, rank, sum;
	unsigned long pattern, below;

	(void)state;
	for (n = 1; n <= BRUTE; n++) {
		memset(counts, 0, sizeof(counts));
		for (pattern = 0; pattern < 1ul << n; pattern++) {
			for (sum = 0, rank = 1; rank <= n; rank++)
				sum += pattern >> (rank - 1) & 1 ? rank : 0;
			counts[sum]++;
		}
		for (below = 0, w = 0; w <= n * (n + 1) / 2; w++) {
			below += counts[w];
			/* Not even rounded. */
			assert_true(signed_rank_cdf(n, w) ==
				    (double)below / (double)(1ul << n));
		}
	}
}

/* A bound that is above 0 when the centre is 0: of all patterns of signs, as
 * many as the index says, and with ties no more. */
static void bounds_keep_their_level(void **state)
{
	static const double sizes[][10] = {
		{ 1, 2, 3.5, 4.2, 7, 11, 13, 17.1, 23, 40 },
		{ 1, 1, 1, 2, 2, 2, 3, 3, 3, 3 },
		{ 0, 0, 1, 2, 3, 4, 5, 5, 7, 8 },
	};
	const double alpha = .025;
	double differences[10];
	struct rank_test test;
	unsigned pattern, above, below;
	size_t set, i;

	(void)state;
	for (set = 0; set < sizeof(sizes) / sizeof(sizes[0]); set++) {
		above = below = 0;
		for (pattern = 0; pattern < 1u << 10; pattern++) {
			for (i = 0; i < 10; i++)
				differences[i] = pattern >> i & 1 ?
					sizes[set][i] : -sizes[set][i];
			make(&test, differences, 10);
			above += rank_test_lower(&test, alpha) > 0;
			below += rank_test_upper(&test, alpha) < 0;
			rank_test_release(&test);
		}
		assert_int_equal(above, below);
		assert_true(above <= alpha * (1u << 10));
		if (set == 0) /* P(W <= 8) = 25 / 1024 */
			assert_int_equal(above, 25);
	}
}

/* The bound is above a shift exactly when the p-value says so: at, next to and
 * between the averages, ties included, and at levels that p-values take. */
static void bound_and_p_agree(void **state)
{
	static const double differences[] = { -2, 0, 1, 1, 2, 3, 3, 3, 5,
					      8, 8, -1 };
	const size_t n = sizeof(differences) / sizeof(differences[0]);
	double shifts[3], alpha, p;
	struct rank_test test;
	size_t i, w;
	int s;

	(void)state;
	make(&test, differences, n);
	for (i = 0; i < test.count; i++) {
		shifts[0] = test.values[i];
		shifts[1] = nextafter(shifts[0], -INFINITY);
		shifts[2] = nextafter(shifts[0], INFINITY);
		for (s = 0; s < 3; s++) {
			p = rank_test_p_above(&test, shifts[s]);
			for (w = 0; w < test.count; w++) {
				alpha = signed_rank_cdf(n, w);
				assert_int_equal(rank_test_lower(&test, alpha) >
						 shifts[s], p <= alpha);
				alpha = nextafter(alpha, 0);
				assert_int_equal(rank_test_lower(&test, alpha) >
						 shifts[s], p <= alpha);
			}
		}
	}
	rank_test_release(&test);
}

/* An average that equals the shift does not speak for more than the shift. */
static void ties_at_the_shift(void **state)
{
	static const double ones[] = { 1, 1, 1, 1, 1, 1 };
	struct rank_test test;

	(void)state;
	make(&test, ones, 6);
	near(rank_test_p_above(&test, 1), 1);
	near(rank_test_p_above(&test, .5), 1. / 64);
	near(rank_test_lower(&test, .025), 1);
	near(rank_test_upper(&test, .025), 1);
	rank_test_release(&test);
}

static void by_hand(void **state)
{
	static const double five[] = { 4, 1, 13, 3, 5 };
	static const double sorted[] = { 1, 2, 2.5, 3, 3, 3.5, 4, 4, 4.5, 5,
					 7, 8, 8.5, 9, 13 };
	static const double two[] = { 1, 4 };
	struct rank_test test;
	size_t i;

	(void)state;
	make(&test, five, 5);
	assert_int_equal(test.count, 15);
	for (i = 0; i < 15; i++)
		near(test.values[i], sorted[i]);
	near(rank_test_estimate(&test), 4); /* the eighth */
	/* P(W <= 0) = 1 / 32: the smallest is a bound at .05, none at .025. */
	near(rank_test_lower(&test, .05), 1);
	near(rank_test_upper(&test, .05), 13);
	assert_true(rank_test_lower(&test, .025) == -INFINITY);
	assert_true(rank_test_upper(&test, .025) == INFINITY);
	near(rank_test_p_above(&test, 0), 1. / 32);
	near(rank_test_p_above(&test, 1), 2. / 32);
	/* W is 0 1 2 3 or 1 + 2. */
	near(rank_test_p_above(&test, 2.5), 5. / 32);
	rank_test_release(&test);
	/* 1 2.5 4, and 1 1.5 2 4.5 5 8: of an even number of averages the
	 * median is between two. */
	make(&test, two, 2);
	near(rank_test_estimate(&test), 2.5);
	rank_test_release(&test);
	make(&test, (double[]){ 1, 2, 8 }, 3);
	near(rank_test_estimate(&test), (2 + 4.5) / 2);
	rank_test_release(&test);
}

static void large_numbers(void **state)
{
	double differences[SIGNED_RANK_MOST];
	struct rank_test test;
	size_t i;

	(void)state;
	for (i = 0; i < SIGNED_RANK_MOST; i++)
		differences[i] = (double)((i * 37) % SIGNED_RANK_MOST);
	make(&test, differences, SIGNED_RANK_MOST);
	near(rank_test_estimate(&test), 99.5);
	assert_true(rank_test_lower(&test, .025) < 99.5);
	near(rank_test_lower(&test, .025) + rank_test_upper(&test, .025), 199);
	rank_test_release(&test);
	make(&test, (double[]){ 1.5e308, 1.6e308 }, 2); /* sums overflow */
	near(rank_test_estimate(&test), 1.55e308);
	rank_test_release(&test);
}

static void refused(void **state)
{
	static const double bad[] = { NAN, INFINITY, -INFINITY };
	static const double many[SIGNED_RANK_MOST + 1];
	double differences[] = { 1, 2, 3 };
	struct rank_test test;
	size_t i;

	(void)state;
	for (i = 0; i < 3; i++) {
		differences[1] = bad[i];
		assert_int_equal(signed_rank_make(&test, differences, 3, &err),
				 -1);
		assert_int_equal(err.kind, ERROR_FAILED);
		assert_string_equal(err.message, "pair 2 of 3 has no finite "
						 "difference");
		assert_null(test.values);
	}
	assert_int_equal(signed_rank_make(&test, differences, 0, &err), -1);
	assert_int_equal(signed_rank_make(&test, many, SIGNED_RANK_MOST + 1,
					  &err), -1);
	assert_non_null(strstr(err.message, "201 pairs"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(published_tables),
		cmocka_unit_test(exact_chances),
		cmocka_unit_test(every_pattern),
		cmocka_unit_test(bounds_keep_their_level),
		cmocka_unit_test(bound_and_p_agree),
		cmocka_unit_test(ties_at_the_shift),
		cmocka_unit_test(by_hand),
		cmocka_unit_test(large_numbers),
		cmocka_unit_test(refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
