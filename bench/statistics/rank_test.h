/*
 * Wilcoxon's two procedures for a shift: exact, distribution free, and
 * indifferent to a few wild values (Hollander, Wolfe and Chicken,
 * Nonparametric Statistical Methods).
 *
 * Signed ranks (sections 3.1 to 3.3) are for the centre of n paired
 * differences, whatever their distribution is as long as it is symmetric about
 * that centre. Differences of two programs of one distribution are symmetric
 * about 0 if their order is drawn. Else the centre is the median of the Walsh
 * averages of all such differences, no mean and no median, and the levels are
 * about right for it. The Walsh averages are (d_i + d_j) / 2 for i <= j,
 * n (n + 1) / 2 of them.
 *
 * Rank sums (sections 4.1 to 4.3; Mann and Whitney's U) are for the shift
 * between two independent samples, from the differences second_j - first_i,
 * first x second of them. As long as no values are equal, how many of them are
 * not above the true shift has a distribution that depends on the two sizes
 * alone; equal ones are counted against what is claimed.
 *
 * Either way estimate, bounds and p-value follow from those averages or
 * differences in their order, and from that distribution.
 */
#ifndef BENCH_STATISTICS_RANK_TEST_H
#define BENCH_STATISTICS_RANK_TEST_H

#include <stddef.h>

#include "backends/contract/error.h"

/* Pairs, and values of each sample; beyond them the exact distributions are not
 * made. */
#define SIGNED_RANK_MOST 200
#define TWO_SAMPLE_MOST 100

struct rank_test {
	double *values; /* [count], sorted: Walsh averages or differences */
	double *cdf;	/* [count + 1]: P(so many or fewer are not above) */
	size_t count;
};

/* Numbers are finite, 1 to that many of them; ERROR_FAILED else. */
int signed_rank_make(struct rank_test *test, const double *differences,
		     size_t pairs, struct error *err);
int rank_sum_make(struct rank_test *test, const double *first,
		  size_t first_count, const double *second, size_t second_count,
		  struct error *err);
void rank_test_release(struct rank_test *test); /* all zero is fine */

/*
 * The largest k such that the k-th smallest value, counted from 1, is a lower
 * bound of the shift that is too high with probability alpha at most,
 * 0 < alpha < 1; 0 if there are too few for any: samples of 4 and 4 do for
 * .025, 3 and 4 do not.
 */
size_t rank_test_index(const struct rank_test *test, double alpha);

/* Hodges and Lehmann's estimate of the shift: the median of the values. */
double rank_test_estimate(const struct rank_test *test);

/* One-sided bounds at level alpha; -INFINITY and INFINITY if there is none. */
double rank_test_lower(const struct rank_test *test, double alpha);
double rank_test_upper(const struct rank_test *test, double alpha);

/* The exact p-value of "the shift is at most this", from the values that are
 * not above it: <= alpha if and only if rank_test_lower(alpha) is above it. */
double rank_test_p_above(const struct rank_test *test, double shift);

#endif
