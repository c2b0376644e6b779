/*
 * Slopes by the stem's second convolution in bf16, before the pooling, for
 * those by its weights: dy of stem_direct_weights_amx.h, made little by little.
 * Each window passes its slope to the winner's pixel, and zeros to the others.
 *
 * A vector holds 32 columns of a row, those of 16 windows: the halves of a lane
 * are the left and the right pixel of a window, so that a slope is put in its
 * place by a shift.
 */
#ifndef BACKENDS_CPU_KERNELS_STEM_DIRECT_SLOPES_AMX_H
#define BACKENDS_CPU_KERNELS_STEM_DIRECT_SLOPES_AMX_H

#include "backends/cpu/kernels/simd_masks.h"
#include "backends/cpu/kernels/stem_direct_weights_amx.h"

#ifdef __AMX_BF16__

/* What becomes dy, and the slopes by the bias: two rows of windows next. */
struct stem_spread {
	/* Of o in sample n, windows x .. x + count - 1 of two rows; none is
	 * kept of a dropped plane. */
	const float *slopes;
	const uint8_t *winners;
	uint8_t *to;
	int kept, count, pairs_left; /* of rows */
	int o, n, x;
	vec sum; /* of o's slopes, before scale */
	const struct stem_shape *shape;
	const struct stem_batch *batch;
	const float *all_slopes;
	const uint8_t *all_winners;
	uint8_t *all;
	struct stem_pairs pairs;
	int columns; /* windows of a row */
	float *bias;
};

/* Bytes of dy of a block of outputs. */
INLINE size_t stem_slopes_block(const struct stem_pairs *pairs)
{
	return (size_t)pairs->height * pairs->slopes;
}

/* Slopes and winners of a batch, to dy; adds the slopes by the bias to bias. */
void ISA_NAME(stem_spread_begin)(struct stem_spread *spread,
				 const struct stem_shape *shape,
				 const struct stem_batch *batch,
				 const float *slopes, const uint8_t *winners,
				 uint8_t *to, float *bias);

/* Goes on to what is behind the rows of o, n and x. */
void ISA_NAME(stem_spread_turn)(struct stem_spread *spread);

/* The upper and the lower row of pixels of windows beside each other. */
INLINE void stem_slopes_place(vec slope, lanes_int winner, lanes_int rows[2])
{
	const __mmask16 lower = _mm512_test_epi32_mask((__m512i)winner,
						       _mm512_set1_epi32(2));
	const __m512i rounded = _mm512_cvtepu16_epi32(
		(__m256i)_mm512_cvtneps_pbh((__m512)slope));
	const __m512i right = (__m512i)(winner << 4 & 16);

	rows[0] = (lanes_int)_mm512_maskz_sllv_epi32((__mmask16)~lower,
						     rounded, right);
	rows[1] = (lanes_int)_mm512_maskz_sllv_epi32(lower, rounded, right);
}

/* Two rows of windows: of a dropped plane nothing is read, and 0 written. */
INLINE void stem_spread_more(struct stem_spread *spread)
{
	const float *slopes = spread->slopes;
	const uint8_t *winners = spread->winners;
	const vec scale = vec_set(spread->batch->scale);
	const int kept = spread->kept;
	const size_t row = spread->pairs.slopes;
	uint8_t *to = spread->to;
	vec sum = spread->sum;

	UNROLL for (int i = 0; i < 2; i++) {
		const vec slope = vec_load_first(slopes, kept);
		lanes_int rows[2];

		sum += slope;
		stem_slopes_place(scale * slope,
				  bytes_load_first(winners, kept), rows);
		vec_store_first((float *)(void *)to, (vec)rows[0],
				spread->count);
		vec_store_first((float *)(void *)(to + row), (vec)rows[1],
				spread->count);
		to += 2 * row;
		slopes += spread->columns;
		winners += spread->columns;
	}
	spread->to = to;
	spread->sum = sum;
	spread->slopes = slopes;
	spread->winners = winners;
	if (--spread->pairs_left == 0)
		ISA_NAME(stem_spread_turn)(spread);
}

/* The next one if it is of an output below this one. */
INLINE void stem_spread_below(struct stem_spread *spread, int output)
{
	if (spread->o < output)
		stem_spread_more(spread);
}

/* All outputs below this one. */
INLINE void stem_spread_until(struct stem_spread *spread, int output)
{
	if (output > spread->shape->outputs)
		output = spread->shape->outputs;
	while (spread->o < output)
		stem_spread_more(spread);
}

#endif
#endif
