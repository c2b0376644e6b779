/*
 * Wilcoxon's two procedures for a shift: exact, distribution free, and robust
 * against a few outliers (Hollander, Wolfe and Chicken, Nonparametric
 * Statistical Methods).
 *
 * Signed ranks (sections 3.1 to 3.3) estimate the centre of n paired
 * differences, for any distribution that is symmetric about its centre.
 * Differences of two programs with the same distribution are symmetric about 0
 * if their order is drawn. For other distributions the centre is the median of
 * the Walsh averages of all such differences, which is neither their mean nor
 * their median. The levels are then about right. The Walsh averages are (d_i +
 * d_j) / 2 for i <= j; there are n (n + 1) / 2.
 *
 * Rank sums (sections 4.1 to 4.3; Mann and Whitney's U) estimate the shift
 * between two independent samples. They use the differences second_j - first_i;
 * there are first x second. If no values are equal, the number of differences
 * not above the true shift has a distribution that depends only on the two
 * sizes. Equal values count against the claim.
 *
 * Estimate, bounds and p-value follow from the sorted averages or differences
 * and from that distribution.
 */
#ifndef BENCH_STATISTICS_RANK_TEST_H
#define BENCH_STATISTICS_RANK_TEST_H

#include <stddef.h>

#include "backends/contract/error.h"

/* Largest number of pairs, and of values per sample, for which the exact
 * distribution is computed. */
#define SIGNED_RANK_MOST 200
#define TWO_SAMPLE_MOST 100

struct rank_test {
	double *values; /* [count], sorted: Walsh averages or differences */
	double *cdf;	/* [count + 1]: P(at most this many values are not above
			   the shift) */
	size_t count;
};

/* Make a test from finite numbers: 1 to SIGNED_RANK_MOST pairs, or 1 to
 * TWO_SAMPLE_MOST values per sample. Fail with ERROR_FAILED for other
 * counts. */
int signed_rank_make(struct rank_test *test, const double *differences,
		     size_t pairs, struct error *err);
int rank_sum_make(struct rank_test *test, const double *first,
		  size_t first_count, const double *second, size_t second_count,
		  struct error *err);
void rank_test_release(struct rank_test *test); /* all zero is allowed */

/*
 * Returns the largest k for which the k-th smallest value is a lower bound of
 * the shift, counted from 1. The bound is too high with probability at most
 * alpha, 0 < alpha < 1. Returns 0 if there are too few values: for .025,
 * samples of 4 and 4 suffice, 3 and 4 do not.
 */
size_t rank_test_index(const struct rank_test *test, double alpha);

/* Returns Hodges and Lehmann's estimate of the shift: the median of the
 * values. */
double rank_test_estimate(const struct rank_test *test);

/* Return one-sided bounds at level alpha; -INFINITY and INFINITY if there are
 * too few values. */
double rank_test_lower(const struct rank_test *test, double alpha);
double rank_test_upper(const struct rank_test *test, double alpha);

/* Returns the exact p-value of "the shift is at most this", from the number of
 * values that are not above it. It is <= alpha if and only if
 * rank_test_lower(alpha) is above shift. */
double rank_test_p_above(const struct rank_test *test, double shift);

#endif
