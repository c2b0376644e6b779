/*
 * Wilcoxon's signed-rank procedure for the centre of n paired differences:
 * indifferent to a few wild values, and exact whatever their distribution is as
 * long as it is symmetric about that centre (Hollander, Wolfe and Chicken,
 * Nonparametric Statistical Methods, sections 3.1 to 3.3). Differences of two
 * programs of one distribution are symmetric about 0 if their order is drawn.
 * Else the centre is the median of the Walsh averages of all such differences,
 * no mean and no median, and the levels are about right for it.
 *
 * The Walsh averages are (d_i + d_j) / 2 for i <= j, n (n + 1) / 2 of them.
 */
#ifndef BENCH_RECORD_SIGNED_RANK_H
#define BENCH_RECORD_SIGNED_RANK_H

#include <stddef.h>

#include "backends/contract/error.h"

/* Beyond it the exact distribution is not made. */
#define SIGNED_RANK_MOST 200

/*
 * The largest k such that the k-th smallest Walsh average, counted from 1, is a
 * lower bound of the centre that is too high with probability alpha at most; 0
 * if n is too small for any. 0 < alpha < 1, here and below.
 */
size_t signed_rank_index(size_t n, double alpha);

/* P(W <= w), W being the sum of the positive ranks of n differences whose
 * centre is 0: one-sided, exact. If none is made, 1, which claims nothing. */
double signed_rank_cdf(size_t n, size_t w);

struct walsh {
	double *averages; /* sorted */
	size_t pairs, count;
};

/* Differences are finite, 1 to SIGNED_RANK_MOST of them; ERROR_FAILED else. */
int walsh_make(struct walsh *walsh, const double *differences, size_t pairs,
	       struct error *err);
void walsh_release(struct walsh *walsh); /* all zero is fine */

/* Hodges and Lehmann's estimate of the centre: the median of the averages. */
double walsh_estimate(const struct walsh *walsh);

/* One-sided bounds at level alpha; -INFINITY and INFINITY if there is none. */
double walsh_lower(const struct walsh *walsh, double alpha);
double walsh_upper(const struct walsh *walsh, double alpha);

/* The exact p-value of "the centre is at most shift", from the averages that
 * are not above it. walsh_lower(alpha) > shift if and only if p <= alpha. */
double walsh_p_above(const struct walsh *walsh, double shift);

#endif
