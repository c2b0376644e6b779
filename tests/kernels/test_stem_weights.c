/* The gradient by the stem's second convolution, against plain loops. */
#include "tests/kernels/stem_weights_problem.h"

#include "backends/cpu/kernels/kernels.h"

#define NEAR 1e-5 /* of the largest entry */
#define NEAR_BF16 1e-2 /* of it, by tiles */
#define BEFORE 2 /* what is there before anything is added */

/* The network's shape, and shapes without a size that fills vectors. */
static const struct stem_shape shapes[] = {
	{ 1, 28, 28, 32, 64, 0, 0 }, { 1, 8, 8, 5, 3, 0, 0 },
	{ 3, 12, 16, 32, 64, 0, 0 }, { 3, 8, 8, 32, 3, 1, 0 },
	{ 1, 12, 16, 5, 64, 1, 0 },  { 2, 20, 12, 20, 7, 0, 0 },
	{ 1, 24, 28, 32, 5, 0, 0 },  { 1, 12, 60, 64, 2, 0, 0 },
	{ 2, 12, 20, 32, 32, 1, 0 }, { 1, 20, 36, 64, 32, 0, 0 },
	{ 1, 28, 20, 32, 96, 0, 0 }, { 3, 8, 12, 33, 33, 1, 0 },
	{ 1, 12, 36, 1, 1, 0, 0 },
};

#define SHAPES (sizeof(shapes) / sizeof(shapes[0]))

/* Guarded memory of the kernels': all bytes are value, the guard's 255. */
static uint8_t *allocate_guarded(size_t size, int value)
{
	const size_t room = (size + GUARD + 63) / 64 * 64;
	uint8_t *memory = aligned_alloc(64, room);

	assert_non_null(memory);
	memset(memory, 255, room);
	memset(memory, value, size);
	return memory;
}

static void free_guarded(uint8_t *memory, size_t size)
{
	for (size_t i = 0; i < GUARD; i++)
		assert_int_equal(memory[size + i], 255);
	free(memory);
}

/* The samples of a batch from first on that one call may take. */
static void run_group(const struct problem *problem,
		      const struct stem_kernels *stem, int first, float *sums,
		      float *scratch)
{
	const struct stem_shape *shape = &problem->shape;
	const int most = stem_group(shape, stem->lanes);
	const int at = first * shape->outputs;
	struct stem_batch group = problem->batch;
	float *dy;
	uint8_t *winners;

	group.count -= first;
	if (group.count > most)
		group.count = most;
	group.images += first * shape->channels * shape->height * shape->width;
	if (group.keep)
		group.keep += at;
	dy = dy_place(stem, shape, group.count * shape->outputs,
		      problem->dy + at * stem_plane(shape));
	winners = winners_place(stem, shape, group.count * shape->outputs,
				problem->winners + at * stem_plane(shape));
	stem->weight_gradient(shape, &problem->weights, &group, dy, winners,
			      sums, problem->dw, problem->dbias,
			      scratch);
	free(dy);
	free(winners);
}

/*
 * Group by group. Scratch and sums are as large as they must be, and what was
 * in scratch does not matter.
 */
static void run(const struct problem *problem, const struct stem_kernels *stem)
{
	const size_t size = stem->scratch(&problem->shape) * sizeof(float);
	const size_t sums_size = stem->sums(&problem->shape) * sizeof(float);
	uint8_t *scratch = allocate_guarded(size, 255);
	uint8_t *sums = allocate_guarded(sums_size, 0);

	for (int i = 0; i < problem->weight_count + GUARD; i++)
		problem->dw[i] = BEFORE;
	for (int i = 0; i < problem->shape.outputs + GUARD; i++)
		problem->dbias[i] = BEFORE;
	for (int first = 0; first < problem->batch.count;
	     first += stem_group(&problem->shape, stem->lanes))
		run_group(problem, stem, first, (float *)(void *)sums,
			  (float *)(void *)scratch);
	stem->weights_finish(&problem->shape, (float *)(void *)sums,
			     problem->dw);
	free_guarded(scratch, size);
	free_guarded(sums, sums_size);
}

/* NaN are where they are right, or where tiles mix values of one image. */
static int nan_is_right(double value, double right, int mixes)
{
	return isnan(right) ? isnan(value) : mixes || !isnan(value);
}

static void compare(const char *what, const float *values, const double *right,
		    int count, double near, int mixes)
{
	/* Exact sums round what they are added to as well. */
	double largest = near > NEAR ? 0 : BEFORE;

	for (int i = 0; i < count; i++)
		if (fabs(right[i]) > largest)
			largest = fabs(right[i]);
	for (int i = 0; i < count; i++) {
		const double error = values[i] - BEFORE - right[i];

		if (!nan_is_right(values[i], right[i], mixes) ||
		    fabs(error) > near * largest)
			fail_msg("%s %d is %g, not %g", what, i,
				 values[i] - BEFORE, right[i]);
	}
	for (int i = count; i < count + GUARD; i++)
		assert_true(values[i] == BEFORE);
}

static void compare_build(const struct problem *problem,
			  const struct stem_kernels *stem, double near)
{
	const int mixes = problem->image_is_bad && problem->shape.bf16;

	run(problem, stem);
	compare("weight", problem->dw, problem->right_weights,
		problem->weight_count, near, mixes);
	compare("bias", problem->dbias, problem->right_bias,
		problem->shape.outputs, NEAR, 0);
}

static void compare_builds(struct problem *problem)
{
	plain_gradient(problem);
	for (size_t i = 0; cpu_builds[i]; i++) {
		if (!cpu_builds[i]->supported())
			continue;
		compare_build(problem, cpu_builds[i]->stem, NEAR);
		if (!cpu_builds[i]->has_tiles)
			continue;
		problem->shape.bf16 = 1;
		compare_build(problem, cpu_builds[i]->stem, NEAR_BF16);
		problem->shape.bf16 = 0;
	}
	problem_free(problem);
}

static void gradient_is_that_of_plain_loops(void **state)
{
	(void)state;
	srand(1);
	for (size_t s = 0; s < SHAPES; s++)
		for (int drops = 0; drops < 2; drops++) {
			struct problem problem =
				problem_draw(&shapes[s], 2, drops, 1);

			compare_builds(&problem);
		}
}

static void a_batch_may_be_smaller_than_a_group(void **state)
{
	(void)state;
	srand(2);
	for (size_t s = 1; s < SHAPES; s++)
		for (int n = 1; n <= stem_group(&shapes[s], 16) && n < 5; n++) {
			struct problem problem =
				problem_draw(&shapes[s], n, 1, 1);

			compare_builds(&problem);
		}
}

/* From none to nearly all: each length of a list. */
static void zeros_add_nothing(void **state)
{
	static const double densities[] = { 0, .01, .1, .33, .9 };
	struct problem problem;

	(void)state;
	srand(3);
	for (size_t s = 0; s < SHAPES; s++)
		for (size_t d = 0; d < 5; d++) {
			problem = problem_draw(&shapes[s], 1, d % 2,
					       densities[d]);
			compare_builds(&problem);
		}
}

static void a_nan_is_passed_on(void **state)
{
	(void)state;
	srand(4);
	for (size_t s = 0; s < SHAPES; s++) {
		struct problem problem = problem_draw(&shapes[s], 1, 0, .5);

		problem.dy[stem_plane(&shapes[s]) / 2] = NAN;
		compare_builds(&problem);
		problem = problem_draw(&shapes[s], 1, 0, .5);
		problem.images[shapes[s].width + 1] = NAN;
		problem.image_is_bad = 1;
		compare_builds(&problem);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(gradient_is_that_of_plain_loops),
		cmocka_unit_test(a_batch_may_be_smaller_than_a_group),
		cmocka_unit_test(zeros_add_nothing),
		cmocka_unit_test(a_nan_is_passed_on),
	};

	return cmocka_run_group_tests_name("stem_weights", tests, NULL, NULL);
}
