/* The sums of batch norm on the cpu backend, of values that cancel badly. */
#include "backends/cpu/kernels.h"

#include "tests/subject.h"

#include <math.h>

#define ROWS 1000
#define CHANNELS 19 /* a whole vector, and some */
#define MOST_BUILDS 8

static float x[ROWS][CHANNELS], dy[ROWS][CHANNELS];
static const struct norm_rows rows = { ROWS, CHANNELS, CHANNELS };

/* As behind a dropped plane: a sum in float would be off by 1e-6 of it, which
 * a deviation of sqrt(eps) makes 3e-4 of the gradient behind. */
static void equal_gradients_are_summed_well(void **state)
{
	const struct cpu_kernels *kernels = *state;
	const float mean[CHANNELS] = { 0 };
	double sum[CHANNELS], product[CHANNELS];

	for (int r = 0; r < ROWS; r++)
		for (int c = 0; c < CHANNELS; c++) {
			x[r][c] = 1 / 3.f;
			dy[r][c] = .1f + .01f * (float)c;
		}
	kernels->planes->norm_sums(&rows, x[0], dy[0], mean, sum, product);
	for (int c = 0; c < CHANNELS; c++) {
		const double right = ROWS * (double)dy[0][c];

		assert_true(fabs(sum[c] - right) <= 3e-7 * right);
		assert_true(fabs(product[c] - right * (double)x[0][c]) <=
			    4e-7 * right);
	}
}

static void variances_are_right_far_from_zero(void **state)
{
	const struct cpu_kernels *kernels = *state;
	double mean[CHANNELS], variance[CHANNELS];

	for (int r = 0; r < ROWS; r++)
		for (int c = 0; c < CHANNELS; c++)
			x[r][c] = (float)(1024 * c + (r % 2 ? 1 : -1));
	kernels->planes->moments(&rows, x[0], mean, variance);
	for (int c = 0; c < CHANNELS; c++) {
		assert_true(fabs(mean[c] - 1024 * c) <= 1e-6);
		assert_true(fabs(variance[c] - 1) <= 1e-6);
	}
}

int main(void)
{
	struct CMUnitTest tests[2 * MOST_BUILDS];
	size_t count = 0;

	for (size_t b = 0; cpu_builds[b]; b++) {
		const int runs = cpu_builds[b]->supported();

		assert_true(b < MOST_BUILDS);
		tests[count++] = (struct CMUnitTest){
			.name = cpu_builds[b]->name,
			.test_func = test_if(runs,
					     equal_gradients_are_summed_well),
			.initial_state = (void *)cpu_builds[b],
		};
		tests[count++] = (struct CMUnitTest){
			.name = cpu_builds[b]->name,
			.test_func = test_if(runs,
					     variances_are_right_far_from_zero),
			.initial_state = (void *)cpu_builds[b],
		};
	}
	return _cmocka_run_group_tests("norm", tests, count, NULL, NULL);
}
