/* For tests of the stem's kernels: what each of them draws at random. */
#ifndef TESTS_STEM_DRAW_H
#define TESTS_STEM_DRAW_H

#include "backends/cpu/kernels/stem/stem.h"
#include "tests/cmocka.h"

static inline void *allocate(size_t count, size_t size)
{
	void *memory = calloc(count + !count, size);

	assert_non_null(memory);
	return memory;
}

/* From 0 to 1. */
static inline double draw(void)
{
	return rand() / (double)RAND_MAX;
}

/* From -size to size. */
static inline float *allocate_drawn(int count, double size)
{
	float *values = allocate((size_t)count, sizeof(*values));

	for (int i = 0; i < count; i++)
		values[i] = (float)(size * (2 * draw() - 1));
	return values;
}

static inline uint8_t *keep_draw(int planes, double drop)
{
	uint8_t *keep = allocate((size_t)planes, 1);

	for (int i = 0; i < planes; i++)
		keep[i] = draw() >= drop;
	return keep;
}

/*
 * By pixels. A share `density` of dy in kept planes is not zero; dropped planes
 * are bad. Both are allocated.
 */
static inline void dy_draw(const struct stem_shape *shape,
			   const struct stem_batch *batch, double density,
			   float **dy, uint8_t **winners)
{
	const int plane = stem_plane(shape);
	const int count = batch->count * shape->outputs * plane;

	*dy = allocate_drawn(count, 1);
	*winners = allocate((size_t)count, 1);
	for (int i = 0; i < count; i++) {
		(*winners)[i] = (uint8_t)(rand() % 4);
		if (draw() >= density)
			(*dy)[i] = 0;
		if (batch->keep && !batch->keep[i / plane]) {
			(*dy)[i] = NAN;
			(*winners)[i] = 255;
		}
	}
}

/* The planes of a sample or several, of pixels, as kernels have them: */
static inline float *dy_place(const struct stem_kernels *stem,
			      const struct stem_shape *shape, int planes,
			      const float *dy)
{
	const int plane = stem_plane(shape);
	float *placed = allocate((size_t)(planes * plane), sizeof(*placed));

	for (int i = 0; i < planes * plane; i++)
		placed[i / plane * plane + stem->place(shape, i % plane)] =
			dy[i];
	return placed;
}

/* and of winners. */
static inline uint8_t *winners_place(const struct stem_kernels *stem,
				     const struct stem_shape *shape,
				     int planes, const uint8_t *winners)
{
	const int plane = stem_plane(shape);
	uint8_t *placed = allocate((size_t)(planes * plane), 1);

	for (int i = 0; i < planes * plane; i++)
		placed[i / plane * plane + stem->place(shape, i % plane)] =
			winners[i];
	return placed;
}

#endif
