/* Linear layers of the cpu backend against plain loops in double. */
#include "tests/kernels/linear_run.h"

#include "backends/cpu/isa.h"
#include "tests/kernels/skipping.h"

#define MOST_BUILDS 4

/* Sizes that are whole vectors and words, and that are not. */
static const struct linear_case cases[] = {
	{ { 64, 144, 128, 1, 0 }, 3, 1, 1, 0, 0, 0 },
	{ { 3, 144, 128, 1, 0 }, 128, 1, 1, 1, 0, 0 },
	{ { 3, 144, 128, 1, 0 }, 128, 1, 1, 0, 0, 0 },
	{ { 2, 144, 128, 1, 0 }, 64, 0, 1, 0, 1, 0 },
	{ { 2, 144, 128, 1, 0 }, 130, 0, 0, 1, 0, 0 },
	{ { 1, 128, 10, 0, 0 }, 128, 0, 0, 0, 1, 0 },
	{ { 9, 33, 14, 1, 0 }, 10, 0, 0, 1, 0, 0 },
	{ { 1, 9, 5, 1, 0 }, 1, 0, 0, 0, 0, 1 },
	{ { 2, 25, 67, 0, 0 }, 63, 1, 1, 1, 0, 0 },
	{ { 5, 33, 64, 1, 0 }, 65, 1, 0, 0, 0, 0 },
	{ { 3, 95, 130, 1, 0 }, 2, 0, 1, 0, 1, 0 },
	{ { 4, 1, 1, 0, 0 }, 5, 1, 1, 0, 0, 1 },
	{ { 2, 16, 7, 1, 0 }, 0, 1, 1, 0, 0, 0 },
	{ { 2, 7, 3, 1, 0 }, 1000, 1, 1, 0, 0, 0 },
	{ { 64, 144, 128, 1, 0 }, 115, 1, 1, 0, 0, 0 },
	{ { 5, 32, 32, 1, 0 }, 32, 0, 0, 1, 0, 0 },
	{ { 1, 16, 64, 0, 0 }, 33, 0, 0, 0, 1, 0 },
	{ { 3, 96, 32, 1, 0 }, 120, 1, 0, 1, 1, 1 },
	{ { 2, 80, 160, 1, 0 }, 113, 0, 1, 0, 0, 0 },
	/* More weights than the cache has: row by row (linear_rows.c). */
	{ { 4, 144, 520, 1, 0 }, 8, 0, 1, 0, 0, 0 },
	{ { 17, 37, 512, 1, 0 }, 5, 0, 0, 1, 1, 0 },
	{ { 4, 144, 520, 0, 0 }, 15, 1, 1, 0, 0, 0 },
	{ { 9, 64, 461, 1, 0 }, 3, 0, 0, 0, 0, 1 },
	{ { 4, 144, 520, 1, 0 }, 8, 1, 1, 1, 0, 0 },
	{ { 4, 144, 520, 1, 0 }, 0, 0, 0, 0, 0, 0 },
};

#define CASES (sizeof(cases) / sizeof(cases[0]))

#define HEAVY 1e8 /* multiplications that only an unhindered CPU is given */

/* Whether a case is for a light run as well. */
static int is_run(const struct linear_case *is)
{
	const struct linear_shape *shape = &is->shape;

	return !getenv("BENCH_TEST_LIGHT") ||
	       (double)shape->blocks * shape->block * shape->outputs *
			       is->count < HEAVY;
}

/* Each test is made of each build that this CPU has. */
static const struct linear_kernels *kernels_of(void **build)
{
	const struct cpu_kernels *kernels = *build;

	return kernels->linear;
}

static void compare_backward(struct layer_run *run)
{
	backward(run);
	plain_backward(run);
	compare(run, "dx", &run->dx);
	compare(run, "dw", &run->weights[GRADIENT]);
	compare(run, "bias gradient", &run->bias[GRADIENT]);
}

/* Forward and backward, each against plain loops. */
static void compare_step(struct layer_run *run)
{
	forward(run);
	plain_forward(run);
	compare(run, "output", &run->out);
	compare_backward(run);
}

static void steps_are_right(void **build)
{
	const struct linear_kernels *kernels = kernels_of(build);
	struct layer_run run;

	for (size_t i = 0; i < CASES; i++) {
		if (!is_run(&cases[i]))
			continue;
		run_open(&run, kernels, &cases[i]);
		compare_step(&run);
		run_close(&run);
	}
}

/* Forward, products may be of bf16. */
static const struct linear_case rounded_cases[] = {
	{ { 5, 144, 128, 1, 1 }, 128, 1, 1, 0, 0, 0 },
	{ { 3, 144, 128, 1, 1 }, 115, 1, 1, 1, 0, 0 },
	{ { 3, 96, 32, 0, 1 }, 97, 1, 0, 0, 1, 0 },
	{ { 2, 48, 64, 1, 1 }, 130, 0, 1, 0, 0, 1 },
	{ { 2, 80, 96, 1, 1 }, 40, 1, 1, 0, 0, 0 },
	{ { 2, 37, 20, 1, 1 }, 9, 1, 1, 0, 0, 0 },
	/* More weights than the cache has: pairs (linear_forward_bf16.c). */
	{ { 5, 144, 440, 1, 1 }, 26, 0, 1, 0, 0, 0 },
	{ { 4, 176, 461, 0, 1 }, 25, 0, 0, 1, 1, 0 },
	{ { 4, 176, 461, 1, 1 }, 25, 1, 1, 0, 0, 0 },
	{ { 1, 576, 470, 1, 1 }, 33, 0, 0, 0, 0, 1 },
};

#define ROUNDED_CASES (sizeof(rounded_cases) / sizeof(rounded_cases[0]))

/* The same value as a float and as a bf16. */
static void array_round(struct array *array)
{
	for (size_t i = 0; i < array->size; i++) {
		uint32_t bits;

		memcpy(&bits, &array->values[i], sizeof(bits));
		bits &= 0xffff0000;
		memcpy(&array->values[i], &bits, sizeof(bits));
		array->right[i] = array->values[i];
	}
}

/* Rounds only what this CPU can. */
static void able_open(struct layer_run *run, const struct cpu_kernels *build,
		      const struct linear_case *is)
{
	struct linear_case able = *is;

	if (!cpu_bf16_products(build))
		able.shape.bf16 = 0;
	run_open(run, build->linear, &able);
}

static void rounded_open(struct layer_run *run,
			 const struct cpu_kernels *build,
			 const struct linear_case *is)
{
	able_open(run, build, is);
	array_round(&run->in);
	array_round(&run->weights[PARAMETERS]);
	array_round(&run->dy);
}

static void compare_update(struct layer_run *run, const struct update *update)
{
	plain_update(update, run->weights);
	plain_update(update, run->bias);
	backward_update(run, update);
	for (int v = 0; v < GRADIENT; v++) {
		compare(run, names[v], &run->weights[v]);
		compare(run, names[v], &run->bias[v]);
	}
}

static void rounded_steps_are_right(void **build)
{
	struct layer_run run;

	for (size_t i = 0; i < ROUNDED_CASES; i++) {
		rounded_open(&run, *build, &rounded_cases[i]);
		compare_step(&run);
		compare_update(&run, &updates[0]);
		run_close(&run);
	}
}

/*
 * The outputs' own errors, where factors may be rounded: bf16 has 8 bits, so
 * that each of the two is off by 2^-8 of itself at most, and their product by
 * 2^-7 and a little.
 */
static void compare_rounded(const struct layer_run *run)
{
	const double most = 0x1p-7 + 0x1p-16;
	const int outputs = run->shape.outputs;

	for (int i = 0; i < run->batch.count * outputs; i++) {
		const double size = plain_size(run, i / outputs, i % outputs);

		assert_near(run->kernels->name, "rounded output", (size_t)i,
			    run->out.values[i], run->out.right[i],
			    most * size + 1e-6 * (1 + size));
	}
}

/* One input of each sample alone: errors are not averaged. */
static void inputs_thin(struct layer_run *run)
{
	const struct linear_shape *shape = &run->shape;

	for (int b = 0; b < run->batch.count; b++)
		for (int c = 0; c < shape->blocks; c++)
			for (int i = 0; i < shape->block; i++) {
				const size_t at = input_at(run, b, c, i);

				if (c == 0 && i == b % shape->block)
					continue;
				run->in.values[at] = 0;
				run->in.right[at] = 0;
			}
}

/* Operands of 24 bits: nothing is off by more than rounding explains. */
static void rounding_is_as_bf16_says(void **build)
{
	struct layer_run run;

	for (size_t i = 0; i < 2 * ROUNDED_CASES; i++) {
		able_open(&run, *build, &rounded_cases[i / 2]);
		if (i % 2)
			inputs_thin(&run);
		forward(&run);
		plain_forward(&run);
		compare_rounded(&run);
		/* From these outputs on, all is fp32. */
		compare_backward(&run);
		run_close(&run);
	}
}

/* dx is from the parameters before the update. A light run has one update of
 * each case, and six cases of each update. */
static void fused_steps_are_right(void **build)
{
	const struct linear_kernels *kernels = kernels_of(build);
	const int is_light = getenv("BENCH_TEST_LIGHT") != NULL;
	struct layer_run run;

	for (size_t i = 0; i < CASES * UPDATES; i++) {
		const size_t one = i / UPDATES;

		if (!is_run(&cases[one]) ||
		    (is_light && i % UPDATES != one % UPDATES))
			continue;
		run_open(&run, kernels, &cases[one]);
		forward(&run);
		plain_backward(&run);
		compare_update(&run, &updates[i % UPDATES]);
		compare(&run, "dx", &run.dx);
		run_close(&run);
	}
}

/* Sums of a few positive products have nearly all bits of a float. */
static void outputs_are_precise(void **build)
{
	static const struct linear_case is = {
		{ 1, 48, 32, 0, 0 }, 64, 0, 0, 0, 0, 0
	};
	const struct linear_kernels *kernels = kernels_of(build);
	struct layer_run run;

	run_open(&run, kernels, &is);
	for (size_t i = 0; i < run.in.size; i++)
		run.in.right[i] = run.in.values[i] =
			(float)(1 + run.bias[0].right[i % 32] / 3);
	for (size_t i = 0; i < run.weights[PARAMETERS].size; i++)
		run.weights[PARAMETERS].right[i] =
			run.weights[PARAMETERS].values[i] =
				fabsf(run.weights[PARAMETERS].values[i]);
	forward(&run);
	plain_forward(&run);
	for (size_t i = 0; i < run.out.size; i++)
		assert_near(kernels->name, "precise output", i,
			    run.out.values[i], run.out.right[i],
			    1e-6 * fabs(run.out.right[i]));
	run_close(&run);
}

/* Vectors with a remainder, whole ones, and bf16 on tiles and on vectors. */
static const struct linear_case nan_cases[] = {
	{ { 2, 37, 20, 1, 0 }, 4, 0, 0, 0, 0, 0 },
	{ { 2, 48, 32, 1, 0 }, 128, 0, 0, 0, 0, 0 },
	{ { 2, 48, 32, 1, 1 }, 128, 0, 0, 0, 0, 0 },
	{ { 8, 72, 520, 1, 0 }, 4, 0, 0, 0, 0, 0 },
	{ { 4, 176, 461, 1, 1 }, 25, 0, 0, 0, 0, 0 },
};

#define NAN_CASES (sizeof(nan_cases) / sizeof(nan_cases[0]))

static void nan_cases_walk(void **build,
			   void (*check)(struct layer_run *run))
{
	struct layer_run run;

	for (size_t i = 0; i < NAN_CASES; i++) {
		able_open(&run, *build, &nan_cases[i]);
		check(&run);
		run_close(&run);
	}
}

static void nan_input_check(struct layer_run *run)
{
	const int outputs = run->shape.outputs;

	run->in.values[run->batch.sample + 36] = NAN; /* of sample 1 */
	forward(run);
	for (int i = 0; i < run->batch.count * outputs; i++)
		assert_int_equal(!!isnan(run->out.values[i]), i / outputs == 1);
	/* What ReLU lets a NaN through for passes its gradient as well. */
	backward(run);
	for (int o = 0; o < outputs; o++) {
		const size_t at = linear_weight_at(&run->shape, o, 0, 36);

		assert_true(isnan(run->weights[GRADIENT].values[at]));
	}
}

static void nan_weight_check(struct layer_run *run)
{
	const int outputs = run->shape.outputs;

	run->weights[PARAMETERS]
		.values[linear_weight_at(&run->shape, 7, 1, 0)] = NAN;
	forward(run);
	for (int i = 0; i < run->batch.count * outputs; i++)
		assert_int_equal(!!isnan(run->out.values[i]), i % outputs == 7);
}

/* The dy of output 5 of sample 2, in all that it is a part of. */
static void nan_dy_check(struct layer_run *run)
{
	const int outputs = run->shape.outputs, block = run->shape.block;

	run->shape.relu = 0;
	forward(run);
	run->dy.values[2 * outputs + 5] = NAN;
	backward(run);
	for (size_t i = 0; i < run->dx.size; i++)
		assert_int_equal(!!isnan(run->dx.values[i]),
				 i / run->batch.sample == 2);
	for (int o = 0; o < outputs; o++) {
		const size_t at = linear_weight_at(&run->shape, o, 1, 3);

		assert_int_equal(!!isnan(run->weights[GRADIENT].values[at]),
				 o == 5);
		assert_int_equal(!!isnan(run->bias[GRADIENT].values[o]),
				 o == 5);
	}
	backward_update(run, &updates[0]);
	for (int v = PARAMETERS; v < GRADIENT; v++)
		for (size_t i = 0; i < run->weights[v].size; i++)
			assert_int_equal(!!isnan(run->weights[v].values[i]),
					 (int)i / block % outputs == 5);
}

static void nan_reaches_outputs(void **build)
{
	nan_cases_walk(build, nan_input_check);
}

static void nan_weight_reaches_outputs(void **build)
{
	nan_cases_walk(build, nan_weight_check);
}

static void nan_reaches_gradients(void **build)
{
	nan_cases_walk(build, nan_dy_check);
}

static const struct check {
	const char *name;
	CMUnitTestFunction function;
	int rounds; /* for builds that have products of bf16 */
} checks[] = {
	{ "steps", steps_are_right, 0 },
	{ "fused steps", fused_steps_are_right, 0 },
	{ "precise outputs", outputs_are_precise, 0 },
	{ "bf16 steps", rounded_steps_are_right, 1 },
	{ "bf16 rounding", rounding_is_as_bf16_says, 1 },
	{ "NaN inputs", nan_reaches_outputs, 0 },
	{ "NaN weights", nan_weight_reaches_outputs, 0 },
	{ "NaN gradients", nan_reaches_gradients, 0 },
};

#define CHECKS (sizeof(checks) / sizeof(checks[0]))

int main(void)
{
	static struct CMUnitTest tests[MOST_BUILDS * CHECKS];
	static char titles[MOST_BUILDS * CHECKS][64];
	size_t count = 0;

	for (size_t b = 0; cpu_builds[b]; b++)
		for (size_t c = 0; c < CHECKS; c++) {
			if (checks[c].rounds && !cpu_builds[b]->igemm_bf16)
				continue;
			assert_true(count < MOST_BUILDS * CHECKS);
			snprintf(titles[count], sizeof(titles[0]), "%s: %s",
				 cpu_builds[b]->name, checks[c].name);
			tests[count++] = (struct CMUnitTest){
				.name = titles[count],
				.test_func = test_if(cpu_builds[b]->supported(),
						     checks[c].function),
				.initial_state = (void *)cpu_builds[b],
			};
		}
	return _cmocka_run_group_tests("linear", tests, count, NULL, NULL);
}
