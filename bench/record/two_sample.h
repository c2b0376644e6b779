/*
 * The rank-sum procedure of Wilcoxon, Mann and Whitney for the shift between
 * two independent samples: exact, distribution free, and indifferent to a few
 * wild values (Hollander, Wolfe and Chicken, Nonparametric Statistical Methods,
 * sections 4.1 to 4.3). The unpaired twin of bench/record/signed_rank.h.
 *
 * The differences are second_j - first_i, first x second of them. The number U
 * of those that are not above the true shift has a distribution that depends
 * on the two sizes alone, as long as no values are equal; equal ones are
 * counted against what is claimed.
 */
#ifndef BENCH_RECORD_TWO_SAMPLE_H
#define BENCH_RECORD_TWO_SAMPLE_H

#include <stddef.h>

#include "backends/contract/error.h"

/* Of each sample; beyond it the exact distribution is not made. */
#define TWO_SAMPLE_MOST 100

struct shifts {
	double *differences; /* sorted */
	double *cdf;	     /* [count + 1]: P(U <= u) */
	size_t first, second, count;
};

/* Values are finite, 1 to TWO_SAMPLE_MOST of each sample; ERROR_FAILED else. */
int shifts_make(struct shifts *shifts, const double *first, size_t first_count,
		const double *second, size_t second_count, struct error *err);
void shifts_release(struct shifts *shifts); /* all zero is fine */

/*
 * The largest k such that the k-th smallest difference, counted from 1, is a
 * lower bound of the shift that is too high with probability alpha at most; 0
 * if the samples are too small for any: 4 and 4 do for .025, 3 and 4 do not.
 */
size_t shifts_index(const struct shifts *shifts, double alpha);

/* Hodges and Lehmann's estimate: the median of the differences. */
double shifts_estimate(const struct shifts *shifts);

/* One-sided bounds at level alpha; -INFINITY and INFINITY if there is none. */
double shifts_lower(const struct shifts *shifts, double alpha);
double shifts_upper(const struct shifts *shifts, double alpha);

/* The exact p-value of "the shift is at most this", from the differences that
 * are not above it. It is <= alpha just if shifts_lower(alpha) > shift. */
double shifts_p_above(const struct shifts *shifts, double shift);

#endif
