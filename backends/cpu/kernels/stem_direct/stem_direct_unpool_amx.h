/*
 * The gradient by the outputs of the stem's second convolution in bf16, before
 * the pooling, for its weight gradient: dz of stem_direct_pairs_amx.h, made
 * little by little. Each window passes its dy to the winner's pixel, and zeros
 * to the others.
 *
 * A vector holds 32 columns of a row, 16 windows. The halves of a lane are the
 * left and the right pixel of a window, so that a dy is put in its place by a
 * shift.
 */
#ifndef BACKENDS_CPU_KERNELS_STEM_DIRECT_STEM_DIRECT_UNPOOL_AMX_H
#define BACKENDS_CPU_KERNELS_STEM_DIRECT_STEM_DIRECT_UNPOOL_AMX_H

#include "backends/cpu/kernels/simd/simd_masks.h"
#include "backends/cpu/kernels/stem_direct/stem_direct_pairs_amx.h"

#ifdef __AMX_BF16__

/* The source of dz and of the bias gradient: two rows of windows next. */
struct stem_unpool {
	/* Windows x .. x + count - 1 of two rows of output o of sample n; a
	 * dropped plane keeps none. */
	const float *dy;
	const uint8_t *winners;
	uint8_t *to;
	int kept, count, pairs_left; /* of rows */
	int o, n, x;
	vec sum; /* of o's dy, before scale */
	const struct stem_shape *shape;
	const struct stem_batch *batch;
	const float *all_dy;
	const uint8_t *all_winners;
	uint8_t *all;
	struct stem_pairs pairs;
	int columns; /* windows of a row */
	float *bias;
};

/* Bytes of dz of a block of outputs. */
INLINE size_t stem_dz_block(const struct stem_pairs *pairs)
{
	return (size_t)pairs->height * pairs->dz_row;
}

/* dy and winners of a batch, to dz; adds the bias gradient to bias. */
void ISA_NAME(stem_unpool_begin)(struct stem_unpool *unpool,
				 const struct stem_shape *shape,
				 const struct stem_batch *batch,
				 const float *dy, const uint8_t *winners,
				 uint8_t *to, float *bias);

/* Goes on to the data after the rows of o, n and x. */
void ISA_NAME(stem_unpool_advance)(struct stem_unpool *unpool);

/* Makes the upper and the lower row of pixels of neighbouring windows. */
INLINE void stem_dz_place(vec value, lanes_int winner, lanes_int rows[2])
{
	const __mmask16 lower = _mm512_test_epi32_mask((__m512i)winner,
						       _mm512_set1_epi32(2));
	const __m512i rounded = _mm512_cvtepu16_epi32(
		(__m256i)_mm512_cvtneps_pbh((__m512)value));
	const __m512i right = (__m512i)(winner << 4 & 16);

	rows[0] = (lanes_int)_mm512_maskz_sllv_epi32((__mmask16)~lower,
						     rounded, right);
	rows[1] = (lanes_int)_mm512_maskz_sllv_epi32(lower, rounded, right);
}

/* Two rows of windows: of a dropped plane nothing is read, and 0 written. */
INLINE void stem_unpool_rows(struct stem_unpool *unpool)
{
	const float *dy = unpool->dy;
	const uint8_t *winners = unpool->winners;
	const vec scale = vec_set(unpool->batch->scale);
	const int kept = unpool->kept;
	const size_t row = unpool->pairs.dz_row;
	uint8_t *to = unpool->to;
	vec sum = unpool->sum;

	UNROLL for (int i = 0; i < 2; i++) {
		const vec value = vec_load_first(dy, kept);
		lanes_int rows[2];

		sum += value;
		stem_dz_place(scale * value,
			      bytes_load_first(winners, kept), rows);
		vec_store_first((float *)(void *)to, (vec)rows[0],
				unpool->count);
		vec_store_first((float *)(void *)(to + row), (vec)rows[1],
				unpool->count);
		to += 2 * row;
		dy += unpool->columns;
		winners += unpool->columns;
	}
	unpool->to = to;
	unpool->sum = sum;
	unpool->dy = dy;
	unpool->winners = winners;
	if (--unpool->pairs_left == 0)
		ISA_NAME(stem_unpool_advance)(unpool);
}

/* The next one if it is of an output below this one. */
INLINE void stem_unpool_below(struct stem_unpool *unpool, int output)
{
	if (unpool->o < output)
		stem_unpool_rows(unpool);
}

/* All outputs below this one. */
INLINE void stem_unpool_until(struct stem_unpool *unpool, int output)
{
	if (output > unpool->shape->outputs)
		output = unpool->shape->outputs;
	while (unpool->o < output)
		stem_unpool_rows(unpool);
}

#endif
#endif
