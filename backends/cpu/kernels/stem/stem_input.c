/*
 * The stem's planes between, and Winograd's transform of them:
 *
 *   x[i] = ReLU(bias[i] + sum over c, r, s of
 *               patch[c][y + r][x + s] weights[i][c][r][s])    6x6
 *   V[point][i] = B^T x[i] B                                   6x6 points
 *
 *   patches: [channels][8][8][LANES]
 *   V: [point][middle][vectors][LANES], padded from point to point
 *
 * A value is computed 2.25 times, once for each tile that it is under: fetching
 * it from planes would cost more than its nine FMAs. Two columns of six values
 * are summed at once, 12 sums being enough to keep two FMA units busy. Ceiling,
 * for a plane and vector: two ports need 270 cycles for 324 FMAs, 144
 * operations of the transform, 36 maxima and 36 signs.
 */
#include "backends/cpu/kernels/simd/simd_masks.h"
#include "backends/cpu/kernels/stem/stem_kernels.h"
#include "backends/cpu/kernels/winograd/winograd.h"

#define PATCH (STEM_PATCH * STEM_PATCH)
#define COLUMNS 2

#define SIGNS_AHEAD 7 /* planes from those stored to those fetched */

/* Adds one channel's part to COLUMNS columns of a plane between. */
INLINE void columns_add(const float *patches, const float *weights,
			vec columns[COLUMNS][WINOGRAD_DATA])
{
	UNROLL for (int x = 0; x < COLUMNS + 2; x++)
		UNROLL for (int y = 0; y < STEM_PATCH; y++) {
			const vec pixel = vec_load(
				patches + (y * STEM_PATCH + x) * LANES);

			UNROLL for (int r = 0; r < 3; r++)
				UNROLL for (int c = 0; c < COLUMNS; c++)
					if (y >= r && y - r < WINOGRAD_DATA &&
					    x >= c && x - c < 3)
						columns[c][y - r] +=
							pixel *
							vec_set(weights[r * 3 +
									x - c]);
		}
}

/* ReLU of a column, x being its place, and the signs of it unless NULL. */
INLINE void column_rectify(vec column[WINOGRAD_DATA], int x, uint8_t *signs,
			   size_t sign)
{
	UNROLL for (int y = 0; y < WINOGRAD_DATA; y++) {
		if (signs)
			lane_bits_store(signs,
					sign + (size_t)(y * WINOGRAD_DATA + x),
					mask_bits(mask_passes(column[y])));
		column[y] = vec_max(vec_set(0), column[y]);
	}
}

/* One plane of one vector; channels is a constant where there is but one. */
INLINE void plane_input(const float *patches, const float *weights, float bias,
			int channels, uint8_t *signs, size_t sign, float *data,
			size_t stride)
{
	vec half[WINOGRAD_DATA][WINOGRAD_DATA];

	for (int x = 0; x < WINOGRAD_DATA; x += COLUMNS) {
		vec columns[COLUMNS][WINOGRAD_DATA];

		UNROLL for (int c = 0; c < COLUMNS; c++)
			UNROLL for (int y = 0; y < WINOGRAD_DATA; y++)
				columns[c][y] = vec_set(bias);
		/* Held, or pixels of the next columns would push sums out. */
		for (int c = 0; c < channels; c++)
			columns_add(address_hold(patches +
						 (c * PATCH + x) * LANES),
				    weights + c * STEM_TAPS, columns);
		UNROLL for (int c = 0; c < COLUMNS; c++) {
			column_rectify(columns[c], x + c, signs, sign);
			data_to_points(columns[c], half[x + c]);
		}
	}
	for (int y = 0; y < WINOGRAD_DATA; y++) {
		vec row[WINOGRAD_DATA], points[WINOGRAD_DATA];

		UNROLL for (int x = 0; x < WINOGRAD_DATA; x++)
			row[x] = half[x][y];
		data_to_points(row, points);
		UNROLL for (int x = 0; x < WINOGRAD_DATA; x++)
			vec_store(data + (size_t)x * stride, points[x]);
		data += WINOGRAD_DATA * stride;
	}
}

/*
 * A batch's signs do not stay in the second cache. The signs of the plane
 * SIGNS_AHEAD after this one are fetched to be written: their first line and
 * their last one.
 */
INLINE void signs_fetch(const uint8_t *signs, size_t sign)
{
	const size_t size = STEM_POINTS * sizeof(lane_bits);
	const uintptr_t at = (uintptr_t)signs + sign * sizeof(lane_bits) +
			     SIGNS_AHEAD * size;

	__builtin_prefetch((const void *)at, 1);
	__builtin_prefetch((const void *)(at + size - 1), 1);
}

/* All planes of one of the strip's vectors. */
INLINE void vector_input(const struct stem_shape *shape,
			 const struct stem_weights *weights, int channels,
			 const float *patches, uint8_t *signs, size_t sign,
			 float *data, int vectors)
{
	for (int i = 0; i < shape->middle; i++) {
		if (signs)
			signs_fetch(signs, sign);
		plane_input(patches, weights->first + i * channels * STEM_TAPS,
			    weights->first_bias[i], channels, signs, sign,
			    data, stem_stride(shape->middle, vectors));
		sign += STEM_POINTS;
		data += vectors * LANES;
	}
}

void VEC_NAME(stem_input)(const struct stem_shape *shape,
			  const struct stem_weights *weights,
			  const struct stem_batch *batch, const int *list,
			  int vectors, float *data, uint8_t *signs,
			  float *patches)
{
	for (int v = 0; v < vectors; v++) {
		const size_t sign = stem_signs_at(shape, list[v], 0);

		ISA_NAME(stem_gather)(shape, batch, list[v], patches);
		if (shape->channels > 1)
			vector_input(shape, weights, shape->channels, patches,
				     signs, sign, data, vectors);
		else if (signs)
			vector_input(shape, weights, 1, patches, signs, sign,
				     data, vectors);
		else
			vector_input(shape, weights, 1, patches, NULL, 0, data,
				     vectors);
		data += LANES;
	}
}
