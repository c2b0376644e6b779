/*
 * Shared by the stem's kernels of bf16: they convolve directly, on tiles of
 * AMX, in any shape, while the fp32 kernels use Winograd's points.
 *
 * The planes between are padded with planes of zeros to whole tiles, and so are
 * outputs.
 *
 * Signs: a bit for each value of the planes between, set where ReLU let it
 * pass, column x at bit x % 32 of word x / 32 of its row:
 *   uint32_t signs[sample of the group][middle][height - 2][words]
 */
#ifndef BACKENDS_CPU_KERNELS_STEM_DIRECT_STEM_DIRECT_AMX_H
#define BACKENDS_CPU_KERNELS_STEM_DIRECT_STEM_DIRECT_AMX_H

#include "backends/cpu/kernels/simd/amx.h"
#include "backends/cpu/kernels/stem/stem_kernels.h"

/* Returns 1 if this build convolves directly. */
INLINE int stem_is_direct(const struct stem_shape *shape)
{
#ifdef __AMX_BF16__
	return shape->bf16;
#else
	(void)shape;
	return 0;
#endif
}

#define STEM_WORD_BITS 32

/* Words of signs of a row. */
INLINE int stem_direct_words(const struct stem_shape *shape)
{
	return (shape->width - 2 + STEM_WORD_BITS - 1) / STEM_WORD_BITS;
}

/* Returns the offset of a row's signs, in words. */
INLINE size_t stem_direct_signs_at(const struct stem_shape *shape, int sample,
				   int plane, int row)
{
	const size_t rows = (size_t)(sample * shape->middle + plane) *
				    (size_t)(shape->height - 2) +
			    (size_t)row;

	return rows * (size_t)stem_direct_words(shape);
}

/* Signs are bytes to the caller, and need not be aligned. */
INLINE uint32_t stem_direct_word(const uint8_t *signs, size_t at)
{
	uint32_t word;

	memcpy(&word, signs + at * sizeof(word), sizeof(word));
	return word;
}

#ifdef __AMX_BF16__

/* Planes between in whole tiles, along k. */
INLINE int stem_direct_deep(const struct stem_shape *shape)
{
	return (shape->middle + AMX_DEPTH - 1) / AMX_DEPTH * AMX_DEPTH;
}

#endif
#endif
