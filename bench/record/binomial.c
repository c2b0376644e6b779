#include "bench/record/binomial.h"

#include <math.h>

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
