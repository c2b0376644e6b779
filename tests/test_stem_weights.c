/* The slopes by the stem's second convolution against plain loops in double. */
#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "backends/cpu/kernels.h"
#include "backends/cpu/stem.h"

#define NEAR 1e-5 /* of the largest entry */
#define NEAR_BF16 5e-2 /* at points, whose sums cancel */
#define GUARD 64  /* floats after each result, to stay as they are */
#define BEFORE 2  /* what is there before anything is added */

/* The network's, and some of which no size is a whole number of vectors. */
static const struct stem_shape shapes[] = {
	{ 1, 28, 28, 32, 64, 0, 0 }, { 1, 8, 8, 5, 3, 0, 0 },
	{ 3, 12, 16, 32, 64, 0, 0 }, { 3, 8, 8, 32, 3, 1, 0 },
	{ 1, 12, 16, 5, 64, 1, 0 },  { 2, 20, 12, 20, 7, 0, 0 },
	{ 1, 24, 28, 32, 5, 0, 0 },  { 1, 12, 60, 64, 2, 0, 0 },
	{ 2, 12, 20, 32, 32, 1, 0 }, { 1, 20, 36, 64, 32, 0, 0 },
	{ 1, 28, 20, 32, 96, 0, 0 },
};

#define SHAPES (sizeof(shapes) / sizeof(shapes[0]))

/* Shapes whose products, if they may be of bf16, are those of tiles. */
static int fills_tiles(const struct stem_shape *shape)
{
	return shape->bf16 && shape->outputs % 32 == 0 &&
	       shape->middle % 32 == 0 && (shape->width - 4) / 4 % 2 == 0;
}

struct problem {
	struct stem_shape shape;
	struct stem_weights weights;
	struct stem_batch batch;
	float *first, *first_bias, *images, *slopes;
	uint8_t *keep, *winners;
	int weight_count;	/* of the second convolution */
	int image_is_bad;	/* has a NaN */
	float *by_weights, *by_bias;
	double *right_weights, *right_bias;
};

static void *allocate(size_t size)
{
	void *memory = calloc(1, size);

	assert_non_null(memory);
	return memory;
}

static double draw(void)
{
	return rand() / (double)RAND_MAX;
}

static float *allocate_drawn(int count)
{
	float *values = allocate((size_t)count * sizeof(*values));

	for (int i = 0; i < count; i++)
		values[i] = (float)(2 * draw() - 1);
	return values;
}

/* Of the slopes of kept planes, density is not zero; dropped ones are bad. */
static void draw_slopes(struct problem *problem, double density)
{
	const struct stem_batch *batch = &problem->batch;
	const int plane = stem_plane(&problem->shape);
	const int count = batch->count * problem->shape.outputs * plane;

	problem->slopes = allocate_drawn(count);
	problem->winners = allocate((size_t)count);
	for (int i = 0; i < count; i++) {
		problem->winners[i] = (uint8_t)(rand() % 4);
		if (draw() >= density)
			problem->slopes[i] = 0;
		if (batch->keep && !batch->keep[i / plane]) {
			problem->slopes[i] = NAN;
			problem->winners[i] = 255;
		}
	}
}

static struct problem problem_draw(const struct stem_shape *shape, int count,
				   int drops, double density)
{
	const int planes = count * shape->outputs;
	struct problem problem = { .shape = *shape };

	problem.first = allocate_drawn(shape->middle * shape->channels *
				       STEM_TAPS);
	problem.first_bias = allocate_drawn(shape->middle);
	problem.images = allocate_drawn(count * shape->channels *
					shape->height * shape->width);
	problem.keep = allocate((size_t)planes);
	for (int i = 0; i < planes; i++)
		problem.keep[i] = draw() >= .25;
	problem.weights.first = problem.first;
	problem.weights.first_bias = problem.first_bias;
	problem.batch = (struct stem_batch){ count, problem.images,
					     drops ? problem.keep : NULL,
					     drops ? 4.f / 3 : 1 };
	draw_slopes(&problem, density);
	problem.weight_count = shape->outputs * STEM_TAPS * shape->middle;
	problem.by_weights = allocate_drawn(problem.weight_count + GUARD);
	problem.by_bias = allocate_drawn(shape->outputs + GUARD);
	problem.right_weights = allocate((size_t)problem.weight_count *
					 sizeof(double));
	problem.right_bias = allocate((size_t)shape->outputs * sizeof(double));
	return problem;
}

static void problem_free(struct problem *problem)
{
	free(problem->first);
	free(problem->first_bias);
	free(problem->images);
	free(problem->slopes);
	free(problem->keep);
	free(problem->winners);
	free(problem->by_weights);
	free(problem->by_bias);
	free(problem->right_weights);
	free(problem->right_bias);
}

/* planes[y][x][i] = ReLU(first convolution) of a sample */
static void plain_planes(const struct problem *problem, int sample,
			 double *planes)
{
	const struct stem_shape *shape = &problem->shape;
	const int height = shape->height, width = shape->width;
	const float *image = problem->images +
			     sample * shape->channels * height * width;

	for (int y = 0; y < height - 2; y++)
		for (int x = 0; x < width - 2; x++)
			for (int i = 0; i < shape->middle; i++) {
				const float *weights = problem->first;
				double sum = problem->first_bias[i];

				weights += i * shape->channels * STEM_TAPS;
				for (int c = 0; c < shape->channels; c++)
					for (int t = 0; t < STEM_TAPS; t++)
						sum += (double)*weights++ *
						       image[(c * height + y +
							      t / 3) * width +
							     x + t % 3];
				*planes++ = sum < 0 ? 0 : sum;
			}
}

/* The window n of a plane, [4][tiles], passed slope to its winner. */
static void plain_window(const struct problem *problem, const double *planes,
			 int o, int n, int winner, double slope)
{
	const struct stem_shape *shape = &problem->shape;
	const int tiles = stem_tiles(shape), columns = shape->width - 2;
	const int across = (shape->width - 4) / STEM_TILE;
	const int q = n / tiles, t = n % tiles, middle = shape->middle;
	const int y = t / across * STEM_TILE + q / 2 * 2 + winner / 2;
	const int x = t % across * STEM_TILE + q % 2 * 2 + winner % 2;

	for (int tap = 0; tap < STEM_TAPS; tap++)
		for (int i = 0; i < middle; i++)
			problem->right_weights[(o * STEM_TAPS + tap) * middle +
					       i] +=
				slope * planes[((y + tap / 3) * columns + x +
						tap % 3) * middle + i];
	problem->right_bias[o] += slope;
}

static void plain_slopes(const struct problem *problem)
{
	const struct stem_shape *shape = &problem->shape;
	const int plane = stem_plane(shape);
	double *planes = allocate(sizeof(double) *
				  (size_t)((shape->height - 2) *
					   (shape->width - 2) * shape->middle));

	for (int b = 0; b < problem->batch.count; b++) {
		plain_planes(problem, b, planes);
		for (int o = 0; o < shape->outputs; o++) {
			const int at = b * shape->outputs + o;

			if (problem->batch.keep && !problem->batch.keep[at])
				continue;
			for (int n = 0; n < plane; n++) {
				const float slope =
					problem->slopes[at * plane + n];

				if (slope != 0)
					plain_window(problem, planes, o, n,
						     problem->winners[at * plane
								      + n],
						     (double)slope *
						     problem->batch.scale);
			}
		}
	}
	free(planes);
}

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

	group.count -= first;
	if (group.count > most)
		group.count = most;
	group.images += first * shape->channels * shape->height * shape->width;
	if (group.keep)
		group.keep += at;
	stem->weight_slopes(shape, &problem->weights, &group,
			    problem->slopes + at * stem_plane(shape),
			    problem->winners + at * stem_plane(shape), sums,
			    problem->by_weights, problem->by_bias, scratch);
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
		problem->by_weights[i] = BEFORE;
	for (int i = 0; i < problem->shape.outputs + GUARD; i++)
		problem->by_bias[i] = BEFORE;
	for (int first = 0; first < problem->batch.count;
	     first += stem_group(&problem->shape, stem->lanes))
		run_group(problem, stem, first, (float *)(void *)sums,
			  (float *)(void *)scratch);
	stem->weights_finish(&problem->shape, (float *)(void *)sums,
			     problem->by_weights);
	free_guarded(scratch, size);
	free_guarded(sums, sums_size);
}

/* NaN are where they are right, or where tiles mix those of an image too. */
static int nan_is_right(double value, double right, int mixes)
{
	return isnan(right) ? isnan(value) : mixes || !isnan(value);
}

static void compare(const char *what, const float *values, const double *right,
		    int count, double near, int mixes)
{
	double largest = BEFORE;

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
	const int mixes = problem->image_is_bad && fills_tiles(&problem->shape);

	run(problem, stem);
	compare("weight", problem->by_weights, problem->right_weights,
		problem->weight_count, near, mixes);
	compare("bias", problem->by_bias, problem->right_bias,
		problem->shape.outputs, NEAR, 0);
}

static void compare_builds(struct problem *problem)
{
	plain_slopes(problem);
	for (size_t i = 0; cpu_builds[i]; i++) {
		if (!cpu_builds[i]->supported())
			continue;
		compare_build(problem, cpu_builds[i]->stem, NEAR);
		if (!cpu_builds[i]->bf16)
			continue;
		problem->shape.bf16 = 1;
		compare_build(problem, cpu_builds[i]->stem, NEAR_BF16);
		problem->shape.bf16 = 0;
	}
	problem_free(problem);
}

static void slopes_are_those_of_plain_loops(void **state)
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

		problem.slopes[stem_plane(&shapes[s]) / 2] = NAN;
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
		cmocka_unit_test(slopes_are_those_of_plain_loops),
		cmocka_unit_test(a_batch_may_be_smaller_than_a_group),
		cmocka_unit_test(zeros_add_nothing),
		cmocka_unit_test(a_nan_is_passed_on),
	};

	return cmocka_run_group_tests_name("stem_weights", tests, NULL, NULL);
}
