/*
 * Weight gradient of a linear layer, with the optimizer's step:
 *
 *   dw[c][o][i] = sum over b of dz[b][o] x[b][c][i]
 *
 * See linear_backward.c. A row of dw stays in registers while the samples that
 * keep the block pass; their inputs in the block (55 KB for 96 samples of 144
 * places) are in the first two levels. Inputs that are not contiguous are
 * gathered first: 4096 * 9 bytes apart, they would share a few sets of the
 * cache. The update follows while dw is in registers, so that dw is never in
 * memory. Parameters and state are read and written once per step.
 */
#include "backends/cpu/kernels/linear/linear_backward.h"

/* Some rows in the computation of dw. */
struct weights_pass {
	const struct backward *backward;
	struct words rows;
	const float *in; /* of all samples, contiguous */
};

/* Computes dw of the tile from place at on. */
INLINE void weights_tile(const void *weights_pass, int at, struct ahead *next,
			 int vectors, int rest)
{
	const struct weights_pass *pass = weights_pass;
	const struct backward *backward = pass->backward;
	const struct linear_shape *shape = backward->shape;
	const int end = rows_end(shape, pass->rows);
	struct ahead ahead = *next;

	for (int o = pass->rows.from * WORD; o < end; o++) {
		const size_t place =
			linear_weight_at(shape, o, pass->rows.block, at);
		vec sums[TILE_MOST];

		sum_tile(&backward->outputs, o, backward->kept, pass->in + at,
			 (size_t)shape->block, sums, &ahead, vectors, rest);
		if (backward->state) {
			update_tile(backward->state, &backward->rates, place,
				    sums, &ahead, vectors, rest);
			continue;
		}
		UNROLL
		for (int v = 0; v < vectors; v++)
			tile_store(backward->gradient + place + v * LANES,
				   sums[v], rest);
	}
	*next = ahead;
}

void VEC_NAME(linear_weights)(const struct backward *backward,
			      struct words rows, const float *in,
			      struct ahead *next)
{
	const struct weights_pass pass = { backward, rows, in };

	walk_tiles(weights_tile, &pass, backward->shape->block, next);
}
