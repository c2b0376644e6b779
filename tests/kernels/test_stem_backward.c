/*
 * The gradient by the stem's first convolution against plain loops in double:
 * the gradient of each pooled output to the pixel that won, the data gradient
 * of the second convolution, the signs that are given, and the weight gradient
 * of the first.
 */
#include "tests/kernels/largest.h"
#include "tests/kernels/stem_backward_problem.h"

#define NEAR 1e-5 /* of the largest entry */
#define NEAR_BF16 1e-2 /* of it, in bf16 */
#define BEFORE 2  /* what is there before anything is added */
#define MOST_BYTES 2 /* of a vector's signs */

/* dx of the window's inputs, from a gradient g at pixel (y, x) of plane o. */
static void conv_dx_plainly(const struct problem *problem, int o, int y, int x,
			    double g, double *dx)
{
	const int middle = problem->shape.middle;
	const int height = problem->shape.height - 2;
	const int width = problem->shape.width - 2;
	const float *w = problem->weights + o * STEM_TAPS * middle;

	for (int tap = 0; tap < STEM_TAPS; tap++)
		for (int i = 0; i < middle; i++)
			dx[(i * height + y + tap / 3) * width + x + tap % 3] +=
				g * w[tap * middle + i];
}

/* dx of sample s, not stopped by ReLU yet. */
static void between_plainly(const struct problem *problem, int s, double *dx)
{
	const struct stem_shape *shape = &problem->shape;
	const int plane = stem_plane(shape), columns = (shape->width - 4) / 2;

	for (int o = 0; o < shape->outputs; o++) {
		const int at = s * shape->outputs + o;

		if (problem->batch.keep && !problem->keep[at])
			continue;
		for (int i = 0; i < plane; i++) {
			const int k = problem->winners[at * plane + i];
			const double g = problem->dy[at * plane + i];

			if (g != 0)
				conv_dx_plainly(problem, o,
						i / columns * 2 + k / 2,
						i % columns * 2 + k % 2,
						g * problem->batch.scale, dx);
		}
	}
}

/* Adds the gradient by the first convolution, of plane i of one sample. */
static void first_plainly(const struct stem_shape *shape, const double *dx,
			  const uint8_t *above, const float *image,
			  double *first, double *bias)
{
	const int height = shape->height - 2, width = shape->width - 2;

	for (int p = 0; p < height * width; p++) {
		const float *at = image + p / width * shape->width + p % width;

		if (!above[p])
			continue;
		*bias += dx[p];
		for (int c = 0; c < shape->channels; c++)
			for (int tap = 0; tap < STEM_TAPS; tap++)
				first[c * STEM_TAPS + tap] +=
					dx[p] *
					at[(c * shape->height + tap / 3) *
						   shape->width + tap % 3];
	}
}

/* first[middle][channels][9], then bias[middle] */
static double *solve_plainly(const struct problem *problem)
{
	const struct stem_shape *shape = &problem->shape;
	const int between = between_count(shape);
	const int plane = (shape->height - 2) * (shape->width - 2);
	const int image = shape->channels * shape->height * shape->width;
	const int each = shape->channels * STEM_TAPS;
	double *first = allocate((size_t)(first_count(shape) + shape->middle),
				 sizeof(*first));

	for (int s = 0; s < problem->batch.count; s++) {
		double *dx = allocate((size_t)between, sizeof(*dx));

		between_plainly(problem, s, dx);
		for (int i = 0; i < shape->middle; i++)
			first_plainly(shape, dx + i * plane,
				      problem->above + s * between + i * plane,
				      problem->images + s * image,
				      first + i * each,
				      first + first_count(shape) + i);
		free(dx);
	}
	return first;
}

/*
 * Sets the bits of one tile, for the order of lanes in kernels/stem_lanes.h:
 * signs[vector][middle][6x6], a bit for each lane.
 */
static void tile_pack(const struct problem *problem, int s, int t, int vector,
		      int lane, int bytes, uint8_t *signs)
{
	const struct stem_shape *shape = &problem->shape;
	const int columns = (shape->width - 4) / STEM_TILE;
	const int height = shape->height - 2, width = shape->width - 2;
	const int corner = t / columns * STEM_TILE * width +
			   t % columns * STEM_TILE;

	for (int i = 0; i < shape->middle; i++)
		for (int p = 0; p < STEM_POINTS; p++) {
			const int at = (vector * shape->middle + i) *
					       STEM_POINTS + p;
			const int pixel = corner + p / 6 * width + p % 6;

			if (problem->above[s * between_count(shape) +
					   i * height * width + pixel])
				signs[at * bytes + lane / 8] |=
					(uint8_t)(1 << lane % 8);
		}
}

/* Packs the signs of bf16, a bit per column, as stem_direct_amx.h says. */
static void rows_pack(const struct problem *problem, uint8_t *signs)
{
	const struct stem_shape *shape = &problem->shape;
	const int width = shape->width - 2;
	const int bytes = (width + 31) / 32 * 4;
	const int count = problem->batch.count * between_count(shape);

	for (int p = 0; p < count; p++)
		if (problem->above[p])
			signs[p / width * bytes + p % width / 8] |=
				(uint8_t)(1 << p % width % 8);
}

static uint8_t *signs_pack(const struct problem *problem,
			   const struct stem_kernels *stem)
{
	const struct stem_shape *shape = &problem->shape;
	const int tiles = stem_tiles(shape), lanes = stem->lanes;
	const int main = tiles / lanes, rest = tiles % lanes;
	const int bytes = lanes > 8 ? MOST_BYTES : 1;
	uint8_t *signs = allocate(stem->signs(shape), 1);

	if (shape->bf16)
		rows_pack(problem, signs);
	for (int s = 0; s < problem->batch.count && !shape->bf16; s++)
		for (int t = 0; t < tiles; t++)
			if (t < main * lanes)
				tile_pack(problem, s, t, s * main + t / lanes,
					  t % lanes, bytes, signs);
			else
				tile_pack(problem, s, t,
					  stem_group(shape, lanes) * main,
					  s * rest + t % lanes, bytes, signs);
	return signs;
}

/* Lanes to their sums, less what was there before; a NaN stays one. */
static void compare(const float *lanes_of, int lanes, const double *right,
		    int count, double bound, const char *name,
		    const char *what)
{
	double off = 0;

	for (int i = 0; i < count; i++) {
		double sum = -BEFORE * lanes;

		for (int l = 0; l < lanes; l++)
			sum += lanes_of[i * lanes + l];
		if (isnan(right[i])) {
			assert_true(isnan(sum));
			continue;
		}
		off = isnan(sum) ? INFINITY : fmax(off, fabs(sum - right[i]));
	}
	if (off > bound)
		fail_msg("%s, %s: off by %g, not %g", name, what, off, bound);
	for (int i = 0; i < GUARD; i++)
		assert_true(lanes_of[count * lanes + i] == BEFORE);
}

static void solve(const struct problem *problem,
		  const struct cpu_kernels *build, const double *right)
{
	const struct stem_shape *shape = &problem->shape;
	const struct stem_kernels *stem = build->stem;
	const int lanes = stem->lanes, count = first_count(shape);
	const size_t scratch_size = stem->scratch(shape);
	float *points = allocate_aligned(stem->points(shape), 0);
	float *scratch = allocate_aligned(scratch_size, NAN);
	float *first = allocate_aligned((size_t)(count * lanes), BEFORE);
	float *bias = allocate_aligned((size_t)(shape->middle * lanes), BEFORE);
	const int planes = problem->batch.count * shape->outputs;
	float *dy = dy_place(stem, shape, planes, problem->dy);
	uint8_t *winners = winners_place(stem, shape, planes,
					 problem->winners);
	uint8_t *signs = signs_pack(problem, stem);
	const struct stem_weights weights = { .points = points };
	const double near = shape->bf16 ? NEAR_BF16 : NEAR;
	const double most = largest(right, (size_t)count);
	const double most_bias = largest(right + count, (size_t)shape->middle);

	stem->transform(shape, problem->weights, points);
	for (int i = 0; i < GUARD; i++)
		scratch[scratch_size + (size_t)i] = BEFORE;
	stem->backward(shape, &weights, &problem->batch, dy, winners,
		       signs, first, bias, scratch);
	for (int i = 0; i < GUARD; i++)
		assert_true(scratch[scratch_size + (size_t)i] == BEFORE);
	compare(first, lanes, right, count, near * most, build->name,
		"weights");
	/* In bf16 the bias, the gradient of a tap of ones, is relative to the
	 * largest tap: one bias may cancel to almost nothing. */
	compare(bias, lanes, right + count, shape->middle,
		near * (shape->bf16 ? fmax(most, most_bias) : most_bias),
		build->name, "bias");
	free(points);
	free(scratch);
	free(first);
	free(bias);
	free(dy);
	free(winners);
	free(signs);
}

/* Exact, and in bf16 where a build has that. */
static void solve_precisions(struct problem *problem,
			     const struct cpu_kernels *build,
			     const double *right)
{
	for (int bf16 = 0; bf16 <= build->has_tiles; bf16++) {
		problem->shape.bf16 = bf16;
		solve(problem, build, right);
	}
	problem->shape.bf16 = 0;
}

static int group_of(const struct stem_shape *shape,
		    const struct cpu_kernels *build)
{
	return stem_group(shape, build->stem->lanes);
}

/* Counts of the group: one, one that is not whole, and all. */
static void solve_counts(const struct stem_shape *shape,
			 const struct cpu_kernels *build, double drop,
			 double density)
{
	const int group = group_of(shape, build);
	const int counts[] = { 1, (group + 1) / 2, group - 1, group };

	for (int c = 0; c < 4; c++) {
		struct problem problem;
		double *right;

		if (!counts[c] || (c && counts[c] == counts[c - 1]))
			continue;
		problem = problem_draw(shape, counts[c], drop, density);
		right = solve_plainly(&problem);
		solve_precisions(&problem, build, right);
		free(right);
		problem_free(&problem);
	}
}

/* Each build that this processor runs, with each shape. */
static void solve_all(double drop, double density)
{
	srand(1);
	for (size_t b = 0; cpu_builds[b]; b++)
		for (size_t s = 0; cpu_builds[b]->supported() && s < SHAPES;
		     s++)
			solve_counts(&shapes[s], cpu_builds[b], drop, density);
}

static void test_all_kept(void **state)
{
	(void)state;
	solve_all(0, 1);
}

static void test_dropped(void **state)
{
	(void)state;
	solve_all(.25, 1);
	solve_all(.9, 1);
}

static void test_nothing_kept(void **state)
{
	(void)state;
	solve_all(1.5, 1);
}

static void test_sparse(void **state)
{
	(void)state;
	solve_all(0, .05);
}

static void test_nan(void **state)
{
	(void)state;
	srand(1);
	for (size_t b = 0; cpu_builds[b]; b++) {
		const int group = group_of(&shapes[0], cpu_builds[b]);
		const int plane = stem_plane(&shapes[0]);
		struct problem problem;
		double *right;

		if (!cpu_builds[b]->supported())
			continue;
		/* The first window of a sample, and its last. */
		for (int at = 0; at < plane; at += plane - 1) {
			problem = problem_draw(&shapes[0], group, 0, 1);
			problem.dy[(group * 64 - 1) * plane + at] = NAN;
			right = solve_plainly(&problem);
			assert_true(isnan(right[0]));
			solve_precisions(&problem, cpu_builds[b], right);
			free(right);
			problem_free(&problem);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_kept),
		cmocka_unit_test(test_dropped),
		cmocka_unit_test(test_nothing_kept),
		cmocka_unit_test(test_sparse),
		cmocka_unit_test(test_nan),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
