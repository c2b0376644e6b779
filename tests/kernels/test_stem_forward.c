/* The stem's pooled outputs, winners and signs against loops in double. */
#include "tests/kernels/stem_forward_problem.h"

#define NEAR 3e-6     /* of the largest output, or value between */
#define NEAR_BF16 3e-3 /* of it, in bf16; more than 2e-3 is measured */
#define WINNER_BF16 3e-3 /* a winner below the best */
#define UNTOUCHED 7.f /* what is in outputs that nobody may write */
#define SCALE 1.25f

/* channels, height, width, middle, outputs, relu; and what is dropped. */
static const struct {
	struct stem_shape shape;
	double drop;
} cases[] = {
	{ { 1, 28, 28, 32, 64, 0, 0 }, .25 },
	{ { 1, 28, 28, 32, 64, 1, 0 }, 0 },
	{ { 1, 8, 8, 5, 3, 0, 0 }, 0 },
	{ { 3, 8, 8, 32, 64, 1, 0 }, .5 },
	{ { 3, 12, 16, 5, 3, 1, 0 }, .25 },
	{ { 1, 12, 16, 32, 64, 0, 0 }, .75 },
	{ { 2, 28, 20, 7, 13, 0, 0 }, .25 },
	{ { 1, 40, 40, 3, 29, 1, 0 }, .25 },
	{ { 1, 20, 20, 17, 9, 0, 0 }, 1 },
	{ { 2, 12, 20, 64, 128, 1, 0 }, .25 },
	{ { 3, 8, 36, 33, 33, 1, 0 }, .25 },
	{ { 1, 16, 68, 1, 1, 0, 0 }, 0 },
};

#define CASES (sizeof(cases) / sizeof(cases[0]))

/* What a kernel says of the first samples of a problem. */
struct answer {
	int count;
	const uint8_t *keep;
	float *out;
	uint8_t *winners, *signs; /* NULL in an evaluation */
};

/* Buffers are exactly as large as promised, which sanitizers watch over. */
static struct answer answer_make(const struct stem_kernels *stem,
				 const struct problem *problem, int count,
				 const uint8_t *keep, int evaluates)
{
	const struct stem_shape *shape = &problem->shape;
	const size_t size = outputs_size(shape, count);
	const size_t scratch_size = stem->scratch(shape) * sizeof(float);
	struct answer answer = { count, keep,
				 allocate(size, sizeof(float)), NULL, NULL };
	float *scratch = aligned_alloc(64, (scratch_size + 63) / 64 * 64);
	const size_t points_size = stem->points(shape) * sizeof(float);
	float *points = aligned_alloc(64, (points_size + 63) / 64 * 64);
	const struct stem_weights weights = { problem->first,
					      problem->first_bias, points,
					      problem->bias };
	const struct stem_batch batch = { count, problem->images, keep, SCALE };

	assert_non_null(scratch);
	memset(scratch, 0xff, scratch_size);
	for (size_t i = 0; i < size; i++)
		answer.out[i] = UNTOUCHED;
	if (!evaluates) {
		answer.winners = allocate(size, 1);
		answer.signs = allocate(stem->signs(shape), 1);
	}
	stem->transform(shape, problem->windows, points);
	stem->forward(shape, &weights, &batch, answer.out, answer.winners,
		      answer.signs, scratch);
	free(points);
	free(scratch);
	return answer;
}

static void answer_free(struct answer *answer)
{
	free(answer->out);
	free(answer->winners);
	free(answer->signs);
}

/* Where an answer has the pooled pixel i of all planes. */
static size_t place_of(const struct stem_kernels *stem,
		       const struct stem_shape *shape, size_t i)
{
	const size_t plane = (size_t)stem_plane(shape);

	return i / plane * plane +
	       (size_t)stem->place(shape, (int)(i % plane));
}

static void check_outputs(const struct stem_kernels *stem,
			  const struct problem *problem,
			  const struct answer *answer)
{
	const struct stem_shape *shape = &problem->shape;
	const int rounds = shape->bf16;
	const double bound = (rounds ? NEAR_BF16 : NEAR) *
			     problem->largest_pixel;
	const double below = (rounds ? WINNER_BF16 : 2 * NEAR) *
			     problem->largest_pixel;
	const size_t size = outputs_size(shape, answer->count);

	for (size_t i = 0; i < size; i++) {
		const double *pixels = problem->pixels + 4 * i;
		const double best = fmax(fmax(pixels[0], pixels[1]),
					 fmax(pixels[2], pixels[3]));
		const double right = shape->relu && best < 0 ? 0 : best;
		const size_t plane = i / (size_t)stem_plane(shape);
		const size_t at = place_of(stem, shape, i);

		if (answer->keep && !answer->keep[plane]) {
			assert_true(answer->out[at] == UNTOUCHED);
			continue;
		}
		if (!(fabs(answer->out[at] - SCALE * right) <= SCALE * bound))
			fail_msg("output %zu of %d samples is %g, not %g", i,
				 answer->count, (double)answer->out[at],
				 SCALE * right);
		if (answer->winners) {
			assert_in_range(answer->winners[at], 0, 3);
			assert_true(pixels[answer->winners[at]] >=
				    best - below);
		}
	}
}

/* The sign of one value between, where stem_lanes.h says that it is. */
static int sign_of(const struct stem_shape *shape, int lanes,
		   const uint8_t *signs, int sample, int tile, int plane,
		   int element)
{
	const int main = stem_tiles(shape) / lanes;
	const int rest = stem_tiles(shape) % lanes;
	const int in_tail = tile >= main * lanes;
	const int vector = in_tail ? stem_group(shape, lanes) * main :
				     sample * main + tile / lanes;
	const int lane = in_tail ? sample * rest + tile % lanes :
				   tile % lanes;
	const int at = (vector * shape->middle + plane) * STEM_POINTS + element;

	return lanes > 8 ? signs[2 * at + lane / 8] >> lane % 8 & 1 :
			   signs[at] >> lane & 1;
}

/* The same of bf16, a bit a column, as stem_direct_amx.h says. */
static int direct_sign_of(const struct stem_shape *shape, const uint8_t *signs,
			  int sample, int plane, int y, int x)
{
	const int bytes = (shape->width - 2 + 31) / 32 * 4;
	const int row = (sample * shape->middle + plane) *
				(shape->height - 2) + y;

	return signs[row * bytes + x / 8] >> x % 8 & 1;
}

static void check_signs(const struct problem *problem,
			const struct answer *answer, int lanes)
{
	const struct stem_shape *shape = &problem->shape;
	const int columns = (shape->width - 4) / STEM_TILE;
	const int tiles = stem_tiles(shape);
	const double near = NEAR * problem->largest_between;

	for (int n = 0; n < answer->count * tiles; n++)
		for (int i = 0; i < shape->middle * STEM_POINTS; i++) {
			const int tile = n % tiles, plane = i / STEM_POINTS;
			const int y = i % STEM_POINTS / 6, x = i % 6;
			const int row = tile / columns * STEM_TILE + y;
			const int column = tile % columns * STEM_TILE + x;
			const double value = problem->between[between_at(
				shape, n / tiles, plane, row, column)];
			const int sign =
				shape->bf16 ?
					direct_sign_of(shape, answer->signs,
						       n / tiles, plane, row,
						       column) :
					sign_of(shape, lanes, answer->signs,
						n / tiles, tile, plane,
						y * 6 + x);

			if (fabs(value) > near)
				assert_int_equal(sign, value > 0);
		}
}

static void check_build(const struct stem_kernels *stem,
			const struct problem *problem, const uint8_t *keep)
{
	const int group = stem_group(&problem->shape, stem->lanes);

	for (int count = 1; count <= group; count++) {
		struct answer training, evaluation;

		/* Of large groups, the first two and the last two. */
		if (count > 2 && count < group - 1)
			continue;
		training = answer_make(stem, problem, count, keep, 0);
		evaluation = answer_make(stem, problem, count, keep, 1);
		check_outputs(stem, problem, &training);
		check_signs(problem, &training, stem->lanes);
		assert_memory_equal(training.out, evaluation.out,
				    outputs_size(&problem->shape, count) *
					    sizeof(float));
		answer_free(&training);
		answer_free(&evaluation);
	}
}

/* Exact, and of bf16 where a build has products of it. */
static void check_precisions(const struct cpu_kernels *build,
			     struct problem *problem, const uint8_t *keep)
{
	check_build(build->stem, problem, keep);
	if (!build->has_tiles)
		return;
	problem->shape.bf16 = 1;
	check_build(build->stem, problem, keep);
	problem->shape.bf16 = 0;
}

/* All builds that this CPU has take the same problem, of the largest group. */
static void test_values(void **state)
{
	(void)state;
	for (size_t i = 0; i < CASES; i++) {
		struct problem problem;
		int group = 1;

		for (size_t b = 0; cpu_builds[b]; b++) {
			const int own = stem_group(&cases[i].shape,
						   cpu_builds[b]->stem->lanes);

			group = own > group ? own : group;
		}
		problem = problem_make(&cases[i].shape, group, cases[i].drop);
		for (size_t b = 0; cpu_builds[b]; b++)
			if (cpu_builds[b]->supported())
				check_precisions(cpu_builds[b], &problem,
						 cases[i].drop > 0 ?
							 problem.keep :
							 NULL);
		problem_free(&problem);
	}
}

/* Blank images make all pixels of a window equal: the first one wins. */
static void test_ties(void **state)
{
	struct problem problem = problem_make(&cases[0].shape, 4, 0);
	const int image = 28 * 28 * 4;

	(void)state;
	memset(problem.images, 0, (size_t)image * sizeof(float));
	for (int i = 0; i < problem.shape.middle; i++)
		problem.first_bias[i] = -1;
	for (size_t b = 0; cpu_builds[b]; b++) {
		const struct stem_kernels *stem = cpu_builds[b]->stem;
		struct answer answer;

		if (!cpu_builds[b]->supported())
			continue;
		answer = answer_make(stem, &problem,
				     stem_group(&problem.shape, stem->lanes),
				     NULL, 0);
		for (size_t i = 0; i < outputs_size(&problem.shape,
						    answer.count); i++) {
			assert_int_equal(answer.winners[i], 0);
			assert_true(answer.out[i] ==
				    SCALE * problem.bias[i / 144 % 64]);
		}
		answer_free(&answer);
	}
	problem_free(&problem);
}

/* A NaN in a corner of the second of some images: its pixel wins its window. */
static void check_corner(const struct stem_kernels *stem,
			 struct problem *problem, int corner)
{
	const int last = 27, plane = 144;
	const int row = corner / 2, column = corner % 2;
	const int hit = stem->place(&problem->shape,
				    (row * 12 + column) * 11);
	const int group = stem_group(&problem->shape, stem->lanes);
	const int sample = group > 1;
	float *pixel = problem->images + (sample * 28 + row * last) * 28 +
		       column * last;
	const float before = *pixel;
	struct answer answer;

	*pixel = NAN;
	answer = answer_make(stem, problem, group, NULL, 0);
	for (int o = 0; o < group * 64; o++)
		for (int at = 0; at < plane; at++) {
			const int i = o * plane + at;
			const int is_hit = o / 64 == sample && at == hit;

			assert_int_equal(isnan(answer.out[i]) != 0, is_hit);
			if (is_hit)
				assert_int_equal(answer.winners[i], corner);
		}
	answer_free(&answer);
	*pixel = before;
}

static void check_corners(const struct cpu_kernels *build,
			  struct problem *problem, int corner)
{
	for (int bf16 = 0; bf16 <= build->has_tiles; bf16++) {
		problem->shape.bf16 = bf16;
		check_corner(build->stem, problem, corner);
	}
	problem->shape.bf16 = 0;
}

static void test_nan(void **state)
{
	(void)state;
	for (int relu = 0; relu < 2; relu++) {
		struct problem problem = problem_make(&cases[relu].shape, 4, 0);

		for (size_t b = 0; cpu_builds[b]; b++)
			for (int corner = 0; corner < 4; corner++)
				if (cpu_builds[b]->supported())
					check_corners(cpu_builds[b], &problem,
						      corner);
		problem_free(&problem);
	}
}

/* Each place of a plane belongs to one pixel. */
static void check_places(const struct stem_kernels *stem,
			 const struct stem_shape *shape)
{
	const int plane = stem_plane(shape);
	uint8_t *found = allocate((size_t)plane, 1);

	for (int p = 0; p < plane; p++) {
		const int place = stem->place(shape, p);

		assert_in_range(place, 0, plane - 1);
		assert_int_equal(found[place]++, 0);
	}
	free(found);
}

static void test_places(void **state)
{
	(void)state;
	for (size_t b = 0; cpu_builds[b]; b++)
		for (size_t i = 0; i < CASES; i++) {
			struct stem_shape shape = cases[i].shape;

			if (!cpu_builds[b]->supported())
				continue;
			check_places(cpu_builds[b]->stem, &shape);
			shape.bf16 = cpu_builds[b]->has_tiles;
			check_places(cpu_builds[b]->stem, &shape);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_places),
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_ties),
		cmocka_unit_test(test_nan),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
