/*
 * Makes dz of stem_direct_unpool_amx.h from dy: planes of outputs one after the
 * other, in each all samples, and in a sample windows in columns of a vector's
 * lanes.
 */
#include "backends/cpu/kernels/stem_direct/stem_direct_unpool_amx.h"

/* All rows of o, n and x. */
static void unpool_start(struct stem_unpool *unpool)
{
	const struct stem_pairs *pairs = &unpool->pairs;
	const int plane = unpool->n * unpool->shape->outputs + unpool->o;
	const uint8_t *keep = unpool->batch->keep;
	const int rest = unpool->columns - unpool->x;
	const size_t at = (size_t)(plane * stem_plane(unpool->shape) +
				   unpool->x);
	const int column = unpool->n * pairs->width + 2 * unpool->x;

	unpool->dy = unpool->all_dy + at;
	unpool->winners = unpool->all_winners + at;
	unpool->to = unpool->all +
		     (size_t)(unpool->o / AMX_ROWS) * stem_dz_block(pairs) +
		     (size_t)(unpool->o % AMX_ROWS) *
			     (pairs->dz_row / AMX_ROWS) +
		     (size_t)column * sizeof(uint16_t);
	unpool->count = rest < LANES ? rest : LANES;
	unpool->kept = keep && !keep[plane] ? 0 : unpool->count;
	unpool->pairs_left = pairs->height / STEM_TILE;
}

void ISA_NAME(stem_unpool_begin)(struct stem_unpool *unpool,
				 const struct stem_shape *shape,
				 const struct stem_batch *batch,
				 const float *dy, const uint8_t *winners,
				 uint8_t *to, float *bias)
{
	const struct stem_pairs pairs = stem_pairs_of(shape, batch->count);

	*unpool = (struct stem_unpool){
		.shape = shape, .batch = batch,
		.all_dy = dy, .all_winners = winners, .all = to,
		.pairs = pairs, .columns = pairs.width / 2, .bias = bias,
	};
	if (batch->count * pairs.width % AMX_DEPTH ||
	    shape->outputs % AMX_ROWS)
		memset(to, 0, (size_t)pairs.outputs *
			      stem_dz_block(&pairs));
	unpool_start(unpool);
}

void ISA_NAME(stem_unpool_advance)(struct stem_unpool *unpool)
{
	unpool->x += LANES;
	if (unpool->x >= unpool->columns) {
		unpool->x = 0;
		unpool->n++;
	}
	if (unpool->n == unpool->batch->count) {
		unpool->n = 0;
		unpool->bias[unpool->o++] +=
			unpool->batch->scale * vec_sum(unpool->sum);
		unpool->sum = (vec){ 0 };
	}
	if (unpool->o < unpool->shape->outputs)
		unpool_start(unpool);
}
