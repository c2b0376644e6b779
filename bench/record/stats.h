/* Statistics of a list of numbers. Pure functions; every value is finite. */
#ifndef BENCH_RECORD_STATS_H
#define BENCH_RECORD_STATS_H

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

#endif
