#include "bench/statistics/stats.h"

#include <math.h>
#include <stdlib.h>

static int double_compare(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;

	return (a > b) - (a < b);
}

void stats_sort(double *values, size_t count)
{
	qsort(values, count, sizeof(*values), double_compare);
}

double stats_quantile(const double *sorted, size_t count, double p)
{
	double rank, below;
	size_t at;

	if (count == 0)
		return NAN;
	rank = p * (double)(count - 1);
	below = floor(rank);
	at = (size_t)below;
	if (at + 1 >= count)
		return sorted[count - 1];
	return sorted[at] + (rank - below) * (sorted[at + 1] - sorted[at]);
}

struct stats stats_compute(double *values, size_t count)
{
	struct stats stats = { 0, NAN, NAN, NAN, NAN, NAN, NAN, NAN };
	double sum = 0, squares = 0;

	if (count == 0)
		return stats;
	stats_sort(values, count);
	for (size_t i = 0; i < count; i++)
		sum += values[i];
	stats.count = count;
	stats.mean = sum / (double)count;
	for (size_t i = 0; i < count; i++)
		squares += (values[i] - stats.mean) * (values[i] - stats.mean);
	stats.std = sqrt(squares / (double)count);
	stats.median = stats_quantile(values, count, .5);
	stats.q1 = stats_quantile(values, count, .25);
	stats.q3 = stats_quantile(values, count, .75);
	stats.min = values[0];
	stats.max = values[count - 1];
	return stats;
}

/* The 97.5 % point of Student's t. Beyond the table its expansion in powers of
 * 1 / freedom (Abramowitz and Stegun 26.7.5), good to 1e-5 there. */
static double student_point(size_t freedom)
{
	static const double table[] = {
		12.706205, 4.302653, 3.182446, 2.776445, 2.570582, 2.446912,
		2.364624,  2.306004, 2.262157, 2.228139, 2.200985, 2.178813,
		2.160369,  2.144787, 2.131450, 2.119905, 2.109816, 2.100922,
		2.093024,  2.085963,
	};
	const double z = 1.959963984540054, z3 = z * z * z, z5 = z3 * z * z;
	double n = (double)freedom;

	if (freedom <= sizeof(table) / sizeof(table[0]))
		return table[freedom - 1];
	return z + (z3 + z) / (4 * n) +
	       (5 * z5 + 16 * z3 + 3 * z) / (96 * n * n) +
	       (3 * z5 * z * z + 19 * z5 + 17 * z3 - 15 * z) /
		       (384 * n * n * n);
}

double stats_half_width(const struct stats *stats)
{
	if (stats->count < 2)
		return NAN;
	return student_point(stats->count - 1) * stats->std /
	       sqrt((double)(stats->count - 1));
}

double stats_shown_half_width(const struct stats *stats)
{
	return stats->count > 2 ? stats_half_width(stats) : NAN;
}

/* P(X <= k) of n trials, each with chance p, 0 < p < 1. */
static double binomial_cdf(size_t k, size_t n, double p)
{
	double sum = 0;

	for (size_t i = 0; i <= k && i <= n; i++)
		sum += exp(lgamma((double)n + 1) - lgamma((double)i + 1) -
			   lgamma((double)(n - i) + 1) + (double)i * log(p) +
			   (double)(n - i) * log1p(-p));
	return sum;
}

double binomial_upper(size_t k, size_t n, double alpha)
{
	double below = 0, above = 1;

	if (k >= n)
		return 1;
	for (int i = 0; i < 100; i++) {
		double p = (below + above) / 2;

		if (binomial_cdf(k, n, p) > alpha)
			below = p;
		else
			above = p;
	}
	return above;
}

double binomial_lower(size_t k, size_t n, double alpha)
{
	return 1 - binomial_upper(n - k, n, alpha);
}
