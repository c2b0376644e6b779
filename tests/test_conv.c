/* Direct convolutions of the cpu backend against plain loops in double. */
#include "tests/conv_run.h"
#include "tests/skipping.h"

#define MOST_BUILDS 4

/* Sizes that fill tiles, and that do not. */
static const struct conv_case cases[] = {
	{ 26, 26, 32, 64, 3, 2, 1 },  { 28, 28, 64, 32, 3, 1, 0 },
	{ 26, 26, 9, 32, 1, 1, 1 },   { 5, 17, 3, 5, 2, 2, 0 },
	{ 9, 8, 16, 20, 5, 1, 1 },    { 12, 31, 17, 7, 4, 3, 1 },
	{ 3, 3, 1, 1, 3, 1, 0 },      { 10, 44, 33, 50, 3, 2, 0 },
	{ 2, 16, 40, 16, 1, 2, 1 },   { 11, 20, 48, 31, 6, 2, 1 },
};

#define CASES (sizeof(cases) / sizeof(cases[0]))

static void compare_forward(struct conv_run *run,
			    const struct cpu_kernels *kernels)
{
	const struct conv_shape *shape = &run->shape;
	const int width = conv_columns(shape) / shape->pool;
	const int height = conv_rows(shape) / shape->pool;

	kernels->conv_forward(shape, run->in, run->weights, run->bias,
			      run->rows, run->out,
			      shape->pool > 1 ? run->winners : NULL);
	for (int i = 0; i < height * width * shape->out_stride; i++) {
		const int pixel = i / shape->out_stride;
		const double right =
			plain_output(run, pixel / width, pixel % width,
				     i % shape->out_stride, winner_of(run, i));

		if (!(fabs(run->out[i] - right) < NEAR))
			fail_msg("%s: output %d is %g, not %g", kernels->name,
				 i, (double)run->out[i], right);
	}
}

/* Those by the biases, and none of padding. */
static void compare_biases(const struct conv_run *run, const float *before)
{
	const struct conv_shape *shape = &run->shape;

	for (int o = 0; o < shape->out_stride; o++) {
		double right = before[o];

		for (int i = 0; o < run->one->outputs &&
				i < conv_rows(shape) * conv_columns(shape); i++)
			right += run->unpooled[i / conv_columns(shape) *
						       run->slopes_row +
					       i % conv_columns(shape) *
						       shape->out_stride +
					       o];
		assert_true(fabs(run->bias_slopes[o] - right) < NEAR);
	}
}

/* differentiate adds to both kinds of slopes. */
static void compare_weights(struct conv_run *run,
			    const struct cpu_kernels *kernels,
			    void (*differentiate)(struct conv_run *run,
						  const struct cpu_kernels *))
{
	const struct conv_shape *shape = &run->shape;
	const int taps = shape->window * shape->window;
	const int patch = taps * shape->in_stride;
	const size_t count = (size_t)((run->one->outputs + 1) * patch);
	const size_t biases = (size_t)shape->out_stride;
	float *before = values_of(count + biases);

	memcpy(before, run->weight_slopes, count * sizeof(float));
	memcpy(before + count, run->bias_slopes, biases * sizeof(float));
	differentiate(run, kernels);
	for (size_t i = 0; i < count; i++) {
		const int o = (int)i / patch, at = (int)i % patch;
		double right = before[i];

		if (o < run->one->outputs)
			right += plain_slope(run, o, at / shape->in_stride,
					     at % shape->in_stride);
		if (!(fabs(run->weight_slopes[i] - right) < NEAR))
			fail_msg("%s: slope %zu is %g, not %g", kernels->name,
				 i, (double)run->weight_slopes[i], right);
	}
	compare_biases(run, before + count);
	free(before);
}

static void weights_dense(struct conv_run *run,
			  const struct cpu_kernels *kernels)
{
	kernels->conv_weights_dense(&run->shape, run->one->outputs, run->in,
				    run->unpooled, run->slopes_row,
				    run->weight_slopes, run->bias_slopes);
}

static void compare_unpool(struct conv_run *run,
			   const struct cpu_kernels *kernels)
{
	const size_t size = unpooled_size(run);
	float *right;

	if (run->shape.pool == 1)
		return;
	right = values_of(size);
	memcpy(right, run->unpooled, size * sizeof(float));
	plain_unpool(run, right);
	kernels->conv_unpool(&run->shape, run->slopes, run->winners,
			     run->unpooled, run->slopes_row);
	for (size_t i = 0; i < size; i++)
		if (run->unpooled[i] != right[i])
			fail_msg("%s: unpooled slope %zu is %g, not %g",
				 kernels->name, i, (double)run->unpooled[i],
				 (double)right[i]);
	free(right);
}

static void both_of_winners(struct conv_run *run,
			    const struct cpu_kernels *kernels)
{
	kernels->conv_backward(&run->shape, run->one->outputs, run->in,
			       run->turned, run->slopes, winners_of(run),
			       run->weight_slopes, run->bias_slopes,
			       run->in_slopes);
}

/* Nobody asks for the slopes by the input. */
static void weights_of_winners(struct conv_run *run,
			       const struct cpu_kernels *kernels)
{
	kernels->conv_backward(&run->shape, run->one->outputs, run->in,
			       run->turned, run->slopes, winners_of(run),
			       run->weight_slopes, run->bias_slopes, NULL);
}

static void compare_in_slopes(const struct conv_run *run,
			      const struct cpu_kernels *kernels)
{
	const struct conv_shape *shape = &run->shape;
	const int pixels = conv_rows(shape) * conv_columns(shape);
	double *right = calloc(in_size(run), sizeof(*right));

	assert_non_null(right);
	for (int i = 0; i < pixels * run->one->outputs; i++) {
		const int pixel = i / run->one->outputs;

		plain_in_slopes(run, pixel / conv_columns(shape),
				pixel % conv_columns(shape),
				i % run->one->outputs, right);
	}
	for (size_t i = 0; i < in_size(run); i++)
		if (!(fabs(run->in_slopes[i] - right[i]) < NEAR))
			fail_msg("%s: slope by input %zu is %g, not %g",
				 kernels->name, i, (double)run->in_slopes[i],
				 right[i]);
	free(right);
}

/* From the slopes by winners alone: nothing comes from outside of windows. */
static void compare_backward(struct conv_run *run,
			     const struct cpu_kernels *kernels)
{
	memset(run->unpooled, 0, unpooled_size(run) * sizeof(float));
	plain_unpool(run, run->unpooled);
	compare_weights(run, kernels, both_of_winners);
	compare_in_slopes(run, kernels);
	compare_weights(run, kernels, weights_of_winners);
}

static void convolutions_are_right(void **build)
{
	const struct cpu_kernels *kernels = *build;
	struct conv_run run;

	for (size_t i = 0; i < CASES; i++) {
		run_open(&run, &cases[i]);
		compare_forward(&run, kernels);
		compare_unpool(&run, kernels);
		compare_weights(&run, kernels, weights_dense);
		compare_backward(&run, kernels);
		run_close(&run);
	}
}

int main(void)
{
	struct CMUnitTest tests[MOST_BUILDS];
	size_t count = 0;

	for (size_t b = 0; cpu_builds[b]; b++)
		tests[count++] = (struct CMUnitTest){
			.name = cpu_builds[b]->name,
			.test_func = test_if(cpu_builds[b]->supported(),
					     convolutions_are_right),
			.initial_state = (void *)cpu_builds[b],
		};
	return _cmocka_run_group_tests("conv", tests, count, NULL, NULL);
}
