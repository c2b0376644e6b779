/*
 * The end of the stem's backward kernel: from dV, the gradient at Winograd's
 * points, to the gradient by the first convolution's parameters, for each plane
 * i between and each vector of tiles:
 *
 *   dx[6][6] = B dV B^T, 0 where signs say that ReLU stopped it
 *   first[c][r][s] += sum over y, x of dx[y][x] pixels[c][y + r][x + s]
 *
 * The gradients by three weights, one for each r, from two rows of dx are
 * F(3,2) of the same kind, 4 products instead of 6, at the points 0, +1, -1 and
 * infinity. With p the pixels in rows y .. y + 3, and a and b rows y and y + 1
 * of dx, over the three pairs of rows:
 *
 *   m0 = sum of a (p[0] - p[2])             first[0] += m0 + m1 + m2
 *   m1 = sum of (a + b) (p[1] + p[2]) / 2   first[1] += m1 - m2
 *   m2 = sum of (a - b) (p[2] - p[1]) / 2   first[2] += m1 + m2 + m3
 *   m3 = sum of b (p[3] - p[1])
 *
 * Pixels are transformed once for all planes i, and sums once for all pairs and
 * vectors of a plane: 252 operations instead of 324 are left for a plane and a
 * vector, plus some 190 for B dV B^T and 36 for the masks. Ceiling: 240 cycles,
 * with two operations per cycle.
 */
#include <string.h>

#include "backends/cpu/kernels/simd/simd_masks.h"
#include "backends/cpu/kernels/stem/stem_part.h"
#include "backends/cpu/kernels/winograd/winograd.h"

#define PAIRS (WINOGRAD_DATA / 2)
#define PAIR_POINTS 4
#define WINDOW WINOGRAD_WINDOW
#define PIXEL_ROW (STEM_PATCH * LANES)

/* Floats of a channel: its pixels [pair][point][8][LANES], sums [point][3][] */
#define PIXELS (PAIRS * PAIR_POINTS * PIXEL_ROW)
#define SUMS (PAIR_POINTS * WINDOW * LANES)

/* One channel's patch. */
static void pixels_transform(const float *patch, float *pixels)
{
	for (int pair = 0; pair < PAIRS; pair++) {
		for (int x = 0; x < PIXEL_ROW; x += LANES) {
			const vec p0 = vec_load(patch + x);
			const vec p1 = vec_load(patch + PIXEL_ROW + x);
			const vec p2 = vec_load(patch + 2 * PIXEL_ROW + x);
			const vec p3 = vec_load(patch + 3 * PIXEL_ROW + x);

			vec_store(pixels + x, p0 - p2);
			vec_store(pixels + PIXEL_ROW + x, .5f * (p1 + p2));
			vec_store(pixels + 2 * PIXEL_ROW + x, .5f * (p2 - p1));
			vec_store(pixels + 3 * PIXEL_ROW + x, p3 - p1);
		}
		patch += 2 * PIXEL_ROW;
		pixels += PAIR_POINTS * PIXEL_ROW;
	}
}

/* B along y */
INLINE void columns_transform(const float *dv,
			      vec down[WINOGRAD_DATA][WINOGRAD_DATA])
{
	UNROLL
	for (int x = 0; x < WINOGRAD_DATA; x++) {
		vec points[WINOGRAD_DATA], data[WINOGRAD_DATA];

		UNROLL
		for (int y = 0; y < WINOGRAD_DATA; y++)
			points[y] = vec_load(dv + (y * WINOGRAD_DATA + x) *
							  LANES);
		points_to_data(points, data);
		UNROLL
		for (int y = 0; y < WINOGRAD_DATA; y++)
			down[y][x] = data[y];
	}
}

/* B along x, then ReLU's signs: one row of dx. */
INLINE void row_transform(const vec points[WINOGRAD_DATA],
			  const uint8_t *signs, vec dx[WINOGRAD_DATA])
{
	points_to_data(points, dx);
	UNROLL
	for (int x = 0; x < WINOGRAD_DATA; x++)
		dx[x] = vec_keep(mask_from_bits(
					 lane_bits_load(signs, (size_t)x)),
				 dx[x]);
}

/* Adds the products of a pair of rows of dx to sums; returns their sum. */
INLINE vec pair_correlate(const vec a[WINOGRAD_DATA],
			  const vec b[WINOGRAD_DATA], const float *pixels,
			  float *sums)
{
	vec total = { 0 };

	UNROLL
	for (int p = 0; p < PAIR_POINTS; p++) {
		vec m[WINDOW];

		UNROLL
		for (int s = 0; s < WINDOW; s++)
			m[s] = vec_load(sums + s * LANES);
		UNROLL
		for (int x = 0; x < WINOGRAD_DATA; x++) {
			const vec points[PAIR_POINTS] = { a[x], a[x] + b[x],
							  a[x] - b[x], b[x] };

			if (p == 1)
				total += points[1];
			UNROLL
			for (int s = 0; s < WINDOW; s++)
				m[s] += points[p] *
					vec_load(pixels + (x + s) * LANES);
		}
		UNROLL
		for (int s = 0; s < WINDOW; s++)
			vec_store(sums + s * LANES, m[s]);
		pixels += PIXEL_ROW;
		sums += WINDOW * LANES;
	}
	return total;
}

/* One plane and vector: to sums[channels][point][3][LANES] and to the bias. */
INLINE void tile_finish(const float *dv, const uint8_t *signs,
			const float *pixels, int channels, float *bias,
			float *sums)
{
	const size_t row = WINOGRAD_DATA * sizeof(lane_bits);
	vec down[WINOGRAD_DATA][WINOGRAD_DATA];
	vec total = vec_load(bias);

	columns_transform(dv, down);
	UNROLL
	for (int pair = 0; pair < PAIRS; pair++) {
		vec a[WINOGRAD_DATA], b[WINOGRAD_DATA], sum = { 0 };

		row_transform(down[2 * pair], signs, a);
		row_transform(down[2 * pair + 1], signs + row, b);
		for (int c = 0; c < channels; c++)
			sum = pair_correlate(a, b, pixels + c * PIXELS,
					     sums + c * SUMS);
		total += sum;
		pixels += PAIR_POINTS * PIXEL_ROW;
		signs += 2 * row;
	}
	vec_store(bias, total);
}

/* With one channel, sums stay in registers from pair to pair. */
static void tile_finish_gray(const float *dv, const uint8_t *signs,
			     const float *pixels, float *bias, float *sums)
{
	tile_finish(dv, signs, pixels, 1, bias, sums);
}

static void tile_finish_any(const float *dv, const uint8_t *signs,
			    const float *pixels, int channels, float *bias,
			    float *sums)
{
	tile_finish(dv, signs, pixels, channels, bias, sums);
}

/* From sums of one channel to its window [3][3][LANES] */
static void sums_add(const float *sums, float *first)
{
	for (int s = 0; s < WINDOW * LANES; s += LANES) {
		const vec m0 = vec_load(sums + s);
		const vec m1 = vec_load(sums + WINDOW * LANES + s);
		const vec m2 = vec_load(sums + 2 * WINDOW * LANES + s);
		const vec m3 = vec_load(sums + 3 * WINDOW * LANES + s);
		float *to[WINDOW];

		for (int r = 0; r < WINDOW; r++)
			to[r] = first + r * WINDOW * LANES + s;
		vec_store(to[0], vec_load(to[0]) + (m0 + (m1 + m2)));
		vec_store(to[1], vec_load(to[1]) + (m1 - m2));
		vec_store(to[2], vec_load(to[2]) + (m3 + (m1 + m2)));
	}
}

size_t VEC_NAME(part_finish_scratch)(const struct stem_shape *shape,
				     int vectors)
{
	return (size_t)shape->channels *
	       (size_t)(vectors * PIXELS + SUMS +
			STEM_PATCH * PIXEL_ROW);
}

/* Plane i of all vectors of the part: to sums and to the bias. */
static void plane_finish(const struct stem_part *part, int i, const float *dv,
			 const uint8_t *signs, const float *pixels, float *bias,
			 float *sums)
{
	const struct stem_shape *shape = part->shape;
	const int channels = shape->channels;

	for (int v = 0; v < part->vectors; v++) {
		const float *at = dv + (v * shape->middle + i) * STEM_POINTS *
					       LANES;
		const uint8_t *above =
			signs + stem_signs_at(shape, part->vector + v, i) *
					sizeof(lane_bits);

		if (channels == 1)
			tile_finish_gray(at, above, pixels, bias, sums);
		else
			tile_finish_any(at, above, pixels, channels, bias,
					sums);
		pixels += channels * PIXELS;
	}
}

void VEC_NAME(part_finish)(const struct stem_part *part,
			   const struct stem_batch *batch, const float *dv,
			   const uint8_t *signs, float *first,
			   float *first_bias, float *scratch)
{
	const struct stem_shape *shape = part->shape;
	const int channels = shape->channels;
	float *sums = scratch + part->vectors * channels * PIXELS;
	float *patch = sums + channels * SUMS, *pixels = scratch;

	for (int v = 0; v < part->vectors; v++) {
		ISA_NAME(stem_gather)(shape, batch, part->vector + v, patch);
		for (int c = 0; c < channels; c++) {
			pixels_transform(patch + c * STEM_PATCH * PIXEL_ROW,
					 pixels);
			pixels += PIXELS;
		}
	}
	for (int i = 0; i < shape->middle; i++) {
		memset(sums, 0, (size_t)(channels * SUMS) * sizeof(*sums));
		plane_finish(part, i, dv, signs, scratch,
			     first_bias + i * LANES, sums);
		for (int c = 0; c < channels; c++) {
			sums_add(sums + c * SUMS, first);
			first += STEM_TAPS * LANES;
		}
	}
}
