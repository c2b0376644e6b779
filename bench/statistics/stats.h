/* Statistics of finite numbers and of counts. All functions are pure. */
#ifndef BENCH_STATISTICS_STATS_H
#define BENCH_STATISTICS_STATS_H

#include <stddef.h>

struct stats {
	size_t count; /* 0 = none, and all other fields are NAN */
	double mean;
	double std; /* population standard deviation: divided by count */
	double median, q1, q3, min, max;
};

/* Sorts values, then computes their statistics. */
struct stats stats_compute(double *values, size_t count);

void stats_sort(double *values, size_t count); /* ascending */

/* Returns quantile p in 0..1 of sorted values, linear between the two nearest
 * ranks like numpy: rank p * (count - 1). Returns NAN if count is 0. */
double stats_quantile(const double *sorted, size_t count, double p);

/* Returns the half width of the 95 % interval of the mean of independent
 * values, by Student's t; NAN for fewer than two. */
double stats_half_width(const struct stats *stats);

/* Returns the same half width if it is worth showing: NAN for two values, whose
 * interval is 12.7 standard errors wide on each side. */
double stats_shown_half_width(const struct stats *stats);

/*
 * Return Clopper and Pearson's exact bounds of a probability after k successes
 * in n trials (Biometrika 26, 1934). Each bound is wrong with probability at
 * most alpha, 0 < alpha < 1. At the upper bound, k or fewer successes have
 * probability alpha. At the lower bound, k or more have. Requires k <= n, n >
 * 0.
 */
double binomial_upper(size_t k, size_t n, double alpha);
double binomial_lower(size_t k, size_t n, double alpha);

#endif
