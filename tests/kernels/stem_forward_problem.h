/*
 * For tests of the stem forward: a problem with random images and weights, and
 * its solution by plain loops in double.
 */
#ifndef TESTS_STEM_FORWARD_PROBLEM_H
#define TESTS_STEM_FORWARD_PROBLEM_H

#include "backends/cpu/kernels/kernels.h"
#include "tests/kernels/largest.h"
#include "tests/kernels/stem_draw.h"

/* A group of samples, and what is right for them. */
struct problem {
	struct stem_shape shape;
	int count;
	float *images, *first, *first_bias, *windows, *bias;
	uint8_t *keep;
	double *between; /* [count][middle][height - 2][width - 2], no ReLU */
	double *pixels;	 /* [count][outputs][row][column][4], before pooling */
	double largest_between, largest_pixel;
};

static inline size_t outputs_size(const struct stem_shape *shape, int count)
{
	return (size_t)(count * shape->outputs * stem_plane(shape));
}

static inline size_t between_at(const struct stem_shape *shape, int sample,
				int plane, int y, int x)
{
	return (size_t)(((sample * shape->middle + plane) *
			 (shape->height - 2) + y) * (shape->width - 2) + x);
}

/* Returns one value of the first convolution. */
static inline double between_value(const struct problem *problem, int n, int i,
				   int y, int x)
{
	const struct stem_shape *shape = &problem->shape;
	double sum = problem->first_bias[i];

	for (int c = 0; c < shape->channels; c++)
		for (int k = 0; k < STEM_TAPS; k++) {
			const int row = (n * shape->channels + c) *
						shape->height + y + k / 3;
			const int at = row * shape->width + x + k % 3;

			sum += (double)problem->images[at] *
			       problem->first[(i * shape->channels + c) *
						      STEM_TAPS + k];
		}
	return sum;
}

/* Returns the pixel at y, x of the second convolution. */
static inline double pixel_value(const struct problem *problem, int n, int o,
				 int y, int x)
{
	const struct stem_shape *shape = &problem->shape;
	double sum = problem->bias[o];

	for (int k = 0; k < STEM_TAPS; k++) {
		const float *window = problem->windows +
				      (o * STEM_TAPS + k) * shape->middle;

		for (int i = 0; i < shape->middle; i++) {
			const double value = problem->between[between_at(
				shape, n, i, y + k / 3, x + k % 3)];

			sum += (value <= 0 ? 0 : value) * (double)window[i];
		}
	}
	return sum;
}

static inline void problem_solve(struct problem *problem)
{
	const struct stem_shape *shape = &problem->shape;
	const int columns = (shape->width - 4) / 2;
	double *between = problem->between, *pixel = problem->pixels;

	for (int i = 0; i < problem->count * shape->middle; i++)
		for (int y = 0; y < shape->height - 2; y++)
			for (int x = 0; x < shape->width - 2; x++)
				*between++ = between_value(
					problem, i / shape->middle,
					i % shape->middle, y, x);
	for (int o = 0; o < problem->count * shape->outputs; o++)
		for (int at = 0; at < stem_plane(shape); at++)
			for (int k = 0; k < 4; k++)
				*pixel++ = pixel_value(
					problem, o / shape->outputs,
					o % shape->outputs,
					at / columns * 2 + k / 2,
					at % columns * 2 + k % 2);
	problem->largest_between =
		largest(problem->between,
			(size_t)(between - problem->between));
	problem->largest_pixel = largest(problem->pixels,
					 (size_t)(pixel - problem->pixels));
}

static inline struct problem problem_make(const struct stem_shape *shape,
					  int count, double drop)
{
	const int image = shape->channels * shape->height * shape->width;
	struct problem problem = { .shape = *shape, .count = count };

	problem.images = allocate_drawn(count * image, 1);
	problem.first = allocate_drawn(
		shape->middle * shape->channels * STEM_TAPS, .5);
	problem.first_bias = allocate_drawn(shape->middle, .2);
	problem.windows = allocate_drawn(
		shape->outputs * STEM_TAPS * shape->middle, .1);
	problem.bias = allocate_drawn(shape->outputs, .5);
	problem.keep = keep_draw(count * shape->outputs, drop);
	problem.between = allocate(between_at(shape, count, 0, 0, 0),
				   sizeof(double));
	problem.pixels = allocate(4 * outputs_size(shape, count),
				  sizeof(double));
	problem_solve(&problem);
	return problem;
}

static inline void problem_free(struct problem *problem)
{
	free(problem->images);
	free(problem->first);
	free(problem->first_bias);
	free(problem->windows);
	free(problem->bias);
	free(problem->keep);
	free(problem->between);
	free(problem->pixels);
}

#endif
