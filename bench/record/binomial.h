/* What k of n trials say about a chance, exactly. Pure functions. */
#ifndef BENCH_RECORD_BINOMIAL_H
#define BENCH_RECORD_BINOMIAL_H

#include <stddef.h>

/*
 * Clopper and Pearson's bounds of the chance (Biometrika 26, 1934), each wrong
 * with probability alpha at most, 0 < alpha < 1: the one for which k or fewer,
 * or k or more, have just that probability. k is at most n, which is above 0.
 */
double binomial_upper(size_t k, size_t n, double alpha);
double binomial_lower(size_t k, size_t n, double alpha);

#endif
