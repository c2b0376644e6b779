/* For tests: numbers that are what they should be, but for rounding. */
#ifndef TESTS_NEAR_H
#define TESTS_NEAR_H

#include "tests/cmocka.h"

#ifndef NEAR
#define NEAR 1e-9 /* of the number */
#endif

static inline void near(double value, double expected)
{
	if (!(fabs(value - expected) <= NEAR * fabs(expected)))
		fail_msg("%.17g, expected %.17g", value, expected);
}

#endif
