/*
 * The planes between the stem's convolutions, where they are needed whole:
 *
 *   planes[y][x][i] = max(0, b[i] + sum over c, r, s of
 *			      image[c][y + r][x + s] w[c][r][s][i])
 *
 * Blocking: 6 to 10 pixels of a row x VECTORS of planes are in registers. An
 * image of 28 x 28 and 32 planes are 12168 multiply-adds of 512 bits, 6.1
 * thousand cycles where two are done in each.
 */
#include "backends/cpu/kernels/stem/stem_planes.h"

#define PIXELS 10
#if defined(__AVX512F__) || defined(__aarch64__)
#define VECTORS 2
#else
#define VECTORS 1
#endif

void VEC_NAME(stem_planes_transpose)(const struct stem_shape *shape,
				     const struct stem_weights *weights,
				     float *transposed)
{
	const int padded = stem_planes_padded(shape);
	const int taps = shape->channels * STEM_TAPS;

	for (int i = 0; i < padded; i++) {
		const int real = i < shape->middle;

		transposed[i] = real ? weights->first_bias[i] : 0;
		for (int t = 0; t < taps; t++)
			transposed[(1 + t) * padded + i] =
				real ? weights->first[i * taps + t] : 0;
	}
}

/* A pixel times a tap's weights. */
INLINE void pixel_add(vec sums[VECTORS], float pixel, const int vectors,
		    const float *weights)
{
	UNROLL for (int v = 0; v < vectors; v++)
		sums[v] += vec_set(pixel) * vec_load(weights + v * LANES);
}

/*
 * pixels x vectors (constants) of a row, from a plane on; the last vector has
 * last planes.
 */
INLINE void pixels_compute(const struct stem_shape *shape,
			   const float *transposed, const float *image,
			   const int pixels, const int vectors, const int last,
			   float *planes)
{
	const int padded = stem_planes_padded(shape);
	vec sums[PIXELS][VECTORS];

	UNROLL for (int p = 0; p < pixels; p++)
		UNROLL for (int v = 0; v < vectors; v++)
			sums[p][v] = vec_load(transposed + v * LANES);
	for (int c = 0; c < shape->channels; c++)
		for (int r = 0; r < 3; r++) {
			const float *from = address_hold(
				image + (c * shape->height + r) * shape->width);

			UNROLL for (int t = 0; t < 3; t++) {
				transposed = address_hold(transposed + padded);
				UNROLL for (int p = 0; p < pixels; p++)
					pixel_add(sums[p], from[p + t], vectors,
						transposed);
			}
		}
	UNROLL for (int p = 0; p < pixels; p++)
		UNROLL for (int v = 0; v < vectors; v++) {
			const vec value = vec_max((vec){ 0 }, sums[p][v]);
			float *to = planes + p * shape->middle + v * LANES;

			if (last == LANES || v + 1 < vectors)
				vec_store(to, value);
			else
				vec_store_first(to, value, last);
		}
}

/* pixels (a constant) of a row of all planes between. */
INLINE void pixels_compute_all(const struct stem_shape *shape,
			       const float *transposed, const float *image,
			       const int pixels, float *planes)
{
	const int middle = shape->middle;
	int i = 0;

	for (; i + VECTORS * LANES <= middle; i += VECTORS * LANES)
		pixels_compute(shape, transposed + i, image, pixels, VECTORS,
			       LANES, planes + i);
	for (; i + LANES <= middle; i += LANES)
		pixels_compute(shape, transposed + i, image, pixels, 1, LANES,
			       planes + i);
	if (i < middle)
		pixels_compute(shape, transposed + i, image, pixels, 1,
			       middle - i, planes + i);
}

/* Rows are 4 k + 2 pixels wide: some eights, and 6 or 10. */
void VEC_NAME(stem_planes)(const struct stem_shape *shape,
			   const float *transposed, const float *image,
			   int first, int rows, float *planes)
{
	const int columns = shape->width - 2;

	image += first * shape->width;
	for (int y = 0; y < rows; y++) {
		int x = 0;

		for (; x + 10 < columns; x += 8)
			pixels_compute_all(shape, transposed, image + x, 8,
					   planes + x * shape->middle);
		if (x + 10 == columns)
			pixels_compute_all(shape, transposed, image + x, 10,
					   planes + x * shape->middle);
		else
			pixels_compute_all(shape, transposed, image + x, 6,
					   planes + x * shape->middle);
		image += shape->width;
		planes += columns * shape->middle;
	}
}
