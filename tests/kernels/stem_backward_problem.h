/*
 * For tests of the stem backward, to the gradient by its first convolution:
 * shapes, and what is drawn for them.
 */
#ifndef TESTS_STEM_BACKWARD_PROBLEM_H
#define TESTS_STEM_BACKWARD_PROBLEM_H

#include "backends/cpu/kernels/kernels.h"
#include "tests/kernels/stem_draw.h"

#define GUARD 16 /* floats after what is aligned, to stay as they are */

/* The network's shape, and shapes without a size that fills vectors or tiles.
 */
static const struct stem_shape shapes[] = {
	{ 1, 28, 28, 32, 64, 0, 0 }, { 1, 8, 8, 5, 3, 0, 0 },
	{ 3, 8, 8, 32, 3, 1, 0 },	  { 1, 12, 16, 5, 64, 1, 0 },
	{ 3, 12, 16, 32, 64, 0, 0 }, { 2, 16, 20, 13, 7, 0, 0 },
	{ 1, 12, 60, 6, 17, 0, 0 },  { 1, 24, 28, 1, 1, 0, 0 },
	{ 3, 12, 8, 33, 33, 1, 0 },  { 1, 56, 56, 5, 64, 0, 0 },
};

#define SHAPES (sizeof(shapes) / sizeof(shapes[0]))

struct problem {
	struct stem_shape shape;
	struct stem_batch batch;
	float *weights; /* of the second convolution, [outputs][9][middle] */
	float *images, *dy;
	uint8_t *keep, *winners;
	uint8_t *above; /* [count][middle][height - 2][width - 2]: 0 or 1 */
};

/* Scratch and results of kernels are whole vectors. */
static inline float *allocate_aligned(size_t floats, float value)
{
	const size_t most = (floats + GUARD + 15) / 16 * 16;
	float *memory = aligned_alloc(64, most * sizeof(*memory));

	assert_non_null(memory);
	for (size_t i = 0; i < most; i++)
		memory[i] = value;
	return memory;
}

static inline int weight_count(const struct stem_shape *shape)
{
	return shape->outputs * STEM_TAPS * shape->middle;
}

static inline int first_count(const struct stem_shape *shape)
{
	return shape->middle * shape->channels * STEM_TAPS;
}

static inline int between_count(const struct stem_shape *shape)
{
	return shape->middle * (shape->height - 2) * (shape->width - 2);
}

static inline struct problem problem_draw(const struct stem_shape *shape,
					  int count, double drop,
					  double density)
{
	struct problem problem = { .shape = *shape };

	problem.weights = allocate_drawn(weight_count(shape), 1);
	problem.images = allocate_drawn(count * shape->channels *
						shape->height * shape->width,
					1);
	problem.keep = keep_draw(count * shape->outputs, drop);
	problem.above = allocate((size_t)(count * between_count(shape)), 1);
	for (int i = 0; i < count * between_count(shape); i++)
		problem.above[i] = rand() >> 8 & 1;
	problem.batch = (struct stem_batch){ count, problem.images,
					     drop > 0 ? problem.keep : NULL,
					     drop > 0 ? 4.f / 3 : 1 };
	dy_draw(shape, &problem.batch, density, &problem.dy,
		&problem.winners);
	return problem;
}

static inline void problem_free(struct problem *problem)
{
	free(problem->weights);
	free(problem->images);
	free(problem->dy);
	free(problem->keep);
	free(problem->winners);
	free(problem->above);
}

#endif
