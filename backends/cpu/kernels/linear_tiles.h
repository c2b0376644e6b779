/*
 * What the passes of a linear layer on AMX's tiles share. See amx.h.
 *
 * A block's inputs are those of the samples that keep it, gathered, so that a
 * quarter that is dropped is not multiplied. What of the outputs is dropped is
 * multiplied with the others: tiles have no holes.
 *
 * Tiles multiply while vectors are at work. What there is to do for vectors is
 * cut into units of 20 to 200 instructions, one or a few of which follow each
 * few products: operands of the next block are made while this one's are
 * multiplied, and what has been multiplied is put where it belongs.
 */
#ifndef BACKENDS_CPU_KERNELS_LINEAR_TILES_H
#define BACKENDS_CPU_KERNELS_LINEAR_TILES_H

#include "backends/cpu/kernels/amx.h"
#include "backends/cpu/kernels/linear_kernels.h"

#ifdef __AMX_BF16__

#define PAIR (2 * AMX_ROWS) /* rows of two tiles */
#define LEAST_SAMPLES 16    /* below, splitting weights takes too long */

/* Whether a layer fills tiles, and a batch is worth it. */
INLINE int tiles_fit(const struct linear_shape *shape, int count)
{
	return shape->block % AMX_COLUMNS == 0 && shape->outputs % PAIR == 0 &&
	       count >= LEAST_SAMPLES;
}

INLINE int tiles_parts(const struct linear_shape *shape)
{
	return shape->bf16 ? 1 : AMX_PARTS;
}

/* Rows of whole pairs of tiles. */
INLINE int tiles_pad(int rows)
{
	return (rows + PAIR - 1) / PAIR * PAIR;
}

/* count floats, into the second level of the cache. */
INLINE void tiles_fetch(const float *from, int count)
{
	for (int i = 0; i < count; i += AMX_ROW / (int)sizeof(*from))
		__builtin_prefetch(from + i, 0, 2);
}

/* The samples that keep a block, in their order; returns how many. */
INLINE int tiles_gather(const struct linear_shape *shape,
			const struct linear_batch *batch, int block,
			int32_t *kept)
{
	int count = 0;

	for (int b = 0; b < batch->count; b++) {
		kept[count] = b;
		count += !batch->keep_in ||
			 batch->keep_in[b * shape->blocks + block];
	}
	return count;
}

#endif
#endif
