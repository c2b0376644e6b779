/* For tests: the largest absolute value, which bounds are relative to. */
#ifndef TESTS_LARGEST_H
#define TESTS_LARGEST_H

#include <math.h>
#include <stddef.h>

static inline double largest_of(const float *values, size_t count)
{
	double most = 0;

	for (size_t i = 0; i < count; i++)
		most = fmax(most, fabs((double)values[i]));
	return most;
}

static inline double largest(const double *values, size_t count)
{
	double most = 0;

	for (size_t i = 0; i < count; i++)
		most = fmax(most, fabs(values[i]));
	return most;
}

#endif
