/*
 * Where the slopes of stem_direct_slopes_amx.h come from and go to: planes of
 * outputs one after the other, of each those of all samples, and of a sample
 * windows in columns of as many as a vector has lanes.
 */
#include "backends/cpu/kernels/stem_direct_slopes_amx.h"

#ifdef __AMX_BF16__

/* All rows of o, n and x. */
static void spread_start(struct stem_spread *spread)
{
	const struct stem_pairs *pairs = &spread->pairs;
	const int plane = spread->n * spread->shape->outputs + spread->o;
	const uint8_t *keep = spread->batch->keep;
	const int rest = spread->columns - spread->x;
	const size_t at = (size_t)(plane * stem_plane(spread->shape) +
				   spread->x);
	const int column = spread->n * pairs->width + 2 * spread->x;

	spread->slopes = spread->all_slopes + at;
	spread->winners = spread->all_winners + at;
	spread->to = spread->all +
		     (size_t)(spread->o / AMX_ROWS) * stem_slopes_block(pairs) +
		     (size_t)(spread->o % AMX_ROWS) *
			     (pairs->slopes / AMX_ROWS) +
		     (size_t)column * sizeof(uint16_t);
	spread->count = rest < LANES ? rest : LANES;
	spread->kept = keep && !keep[plane] ? 0 : spread->count;
	spread->pairs_left = pairs->height / STEM_TILE;
}

void ISA_NAME(stem_spread_begin)(struct stem_spread *spread,
				 const struct stem_shape *shape,
				 const struct stem_batch *batch,
				 const float *slopes, const uint8_t *winners,
				 uint8_t *to, float *bias)
{
	const struct stem_pairs pairs = stem_pairs_of(shape, batch->count);

	*spread = (struct stem_spread){
		.shape = shape, .batch = batch,
		.all_slopes = slopes, .all_winners = winners, .all = to,
		.pairs = pairs, .columns = pairs.width / 2, .bias = bias,
	};
	if (batch->count * pairs.width % AMX_DEPTH ||
	    shape->outputs % AMX_ROWS)
		memset(to, 0, (size_t)pairs.outputs *
			      stem_slopes_block(&pairs));
	spread_start(spread);
}

void ISA_NAME(stem_spread_turn)(struct stem_spread *spread)
{
	spread->x += LANES;
	if (spread->x >= spread->columns) {
		spread->x = 0;
		spread->n++;
	}
	if (spread->n == spread->batch->count) {
		spread->n = 0;
		spread->bias[spread->o++] +=
			spread->batch->scale * vec_sum(spread->sum);
		spread->sum = (vec){ 0 };
	}
	if (spread->o < spread->shape->outputs)
		spread_start(spread);
}

#endif
