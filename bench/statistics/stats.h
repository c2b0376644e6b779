/* Statistics of a list of numbers, each of which is finite, and of counts. Pure
 * functions. */
#ifndef BENCH_STATISTICS_STATS_H
#define BENCH_STATISTICS_STATS_H

#include <stddef.h>

struct stats {
	size_t count; /* 0: nothing is known, all others are NAN */
	double mean;
	double std; /* of the population: divided by count */
	double median, q1, q3, min, max;
};

/* Sorts values. */
struct stats stats_compute(double *values, size_t count);

void stats_sort(double *values, size_t count); /* smallest first */

/* Quantile p in 0..1 of sorted values, linear between the two nearest ranks
 * as numpy does it: rank p * (count - 1). NAN if there are none. */
double stats_quantile(const double *sorted, size_t count, double p);

/* Half width of the 95 % interval of the mean of independent values, Student's
 * t; NAN for fewer than two. */
double stats_half_width(const struct stats *stats);

/* The same where it says something: NAN for two values as well, whose interval
 * is so wide (12.7 standard errors) that it begins below 0. */
double stats_shown_half_width(const struct stats *stats);

/*
 * What k of n trials say about a chance: Clopper and Pearson's exact bounds of
 * it (Biometrika 26, 1934), each wrong with probability alpha at most,
 * 0 < alpha < 1: the one for which k or fewer, or k or more, have just that
 * probability. k is at most n, which is above 0.
 */
double binomial_upper(size_t k, size_t n, double alpha);
double binomial_lower(size_t k, size_t n, double alpha);

#endif
