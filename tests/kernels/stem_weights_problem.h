/*
 * For tests of the gradient by the stem's second convolution: what is drawn,
 * and what is right for it by plain loops in double.
 */
#ifndef TESTS_STEM_WEIGHTS_PROBLEM_H
#define TESTS_STEM_WEIGHTS_PROBLEM_H

#include "tests/kernels/stem_draw.h"

#define GUARD 64 /* floats after each result, to stay as they are */

struct problem {
	struct stem_shape shape;
	struct stem_weights weights;
	struct stem_batch batch;
	float *first, *first_bias, *images, *dy;
	uint8_t *keep, *winners;
	int weight_count;	/* of the second convolution */
	int image_is_bad;	/* has a NaN */
	float *dw, *dbias;
	double *right_weights, *right_bias;
};

static inline struct problem problem_draw(const struct stem_shape *shape,
					  int count, int drops, double density)
{
	struct problem problem = { .shape = *shape };

	problem.first = allocate_drawn(
		shape->middle * shape->channels * STEM_TAPS, 1);
	problem.first_bias = allocate_drawn(shape->middle, 1);
	problem.images = allocate_drawn(count * shape->channels *
						shape->height * shape->width,
					1);
	problem.keep = keep_draw(count * shape->outputs, .25);
	problem.weights.first = problem.first;
	problem.weights.first_bias = problem.first_bias;
	problem.batch = (struct stem_batch){ count, problem.images,
					     drops ? problem.keep : NULL,
					     drops ? 4.f / 3 : 1 };
	dy_draw(shape, &problem.batch, density, &problem.dy,
		&problem.winners);
	problem.weight_count = shape->outputs * STEM_TAPS * shape->middle;
	problem.dw = allocate_drawn(problem.weight_count + GUARD, 1);
	problem.dbias = allocate_drawn(shape->outputs + GUARD, 1);
	problem.right_weights = allocate((size_t)problem.weight_count,
					 sizeof(double));
	problem.right_bias = allocate((size_t)shape->outputs, sizeof(double));
	return problem;
}

static inline void problem_free(struct problem *problem)
{
	free(problem->first);
	free(problem->first_bias);
	free(problem->images);
	free(problem->dy);
	free(problem->keep);
	free(problem->winners);
	free(problem->dw);
	free(problem->dbias);
	free(problem->right_weights);
	free(problem->right_bias);
}

/* planes[y][x][i] = ReLU(first convolution) of a sample */
static inline void plain_planes(const struct problem *problem, int sample,
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

/* The window n of a plane passed g to its winner. */
static inline void plain_window(const struct problem *problem,
				const double *planes, int o, int n, int winner,
				double g)
{
	const struct stem_shape *shape = &problem->shape;
	const int columns = shape->width - 2, middle = shape->middle;
	const int across = (shape->width - 4) / 2;
	const int y = n / across * 2 + winner / 2;
	const int x = n % across * 2 + winner % 2;

	for (int tap = 0; tap < STEM_TAPS; tap++)
		for (int i = 0; i < middle; i++)
			problem->right_weights[(o * STEM_TAPS + tap) * middle +
					       i] +=
				g * planes[((y + tap / 3) * columns + x +
					    tap % 3) * middle + i];
	problem->right_bias[o] += g;
}

static inline void plain_gradient(const struct problem *problem)
{
	const struct stem_shape *shape = &problem->shape;
	const int plane = stem_plane(shape);
	double *planes = allocate((size_t)((shape->height - 2) *
					   (shape->width - 2) * shape->middle),
				  sizeof(double));

	for (int b = 0; b < problem->batch.count; b++) {
		plain_planes(problem, b, planes);
		for (int o = 0; o < shape->outputs; o++) {
			const int at = b * shape->outputs + o;

			if (problem->batch.keep && !problem->batch.keep[at])
				continue;
			for (int n = 0; n < plane; n++) {
				const float g =
					problem->dy[at * plane + n];

				if (g != 0)
					plain_window(problem, planes, o, n,
						     problem->winners[at * plane
								      + n],
						     (double)g *
						     problem->batch.scale);
			}
		}
	}
	free(planes);
}

#endif
