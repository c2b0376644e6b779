/*
 * dw[c][o][i] = sum over b of dz[b][o] x[b][c][i], and Adadelta on it
 *
 * See linear_backward.c. A row of dw stays in registers while the samples that
 * keep the block pass, whose inputs in it (55 KB for 96 samples of 144 places)
 * are in the first two levels. They are gathered first unless they are
 * neighbours: 4096 * 9 bytes apart, they would share a few sets of the cache.
 * Adadelta follows while dw is in registers, so that it is in no memory, and
 * parameters and their state are read and written once in a step.
 */
#include "backends/cpu/kernels/linear_backward.h"

/* Adadelta on a tile of weights, from their slopes. */
INLINE void update_tile(const struct backward *backward, size_t at,
			const vec *slopes, struct ahead *ahead, int vectors,
			int rest)
{
	const struct linear_state *state = backward->state;
	float *p = state->parameters.weights + at;
	float *v = state->square_avg.weights + at;
	float *u = state->acc_delta.weights + at;

	UNROLL
	for (int i = 0; i < vectors * LANES; i += LANES) {
		vec square_avg = tile_load(v + i, rest);
		vec acc_delta = tile_load(u + i, rest);
		const vec parameters = tile_load(p + i, rest);
		const vec delta =
			adadelta_step(&backward->rates, slopes[i / LANES],
				      &square_avg, &acc_delta);

		ahead_fetch(ahead);
		tile_store(v + i, square_avg, rest);
		tile_store(u + i, acc_delta, rest);
		tile_store(p + i, parameters - delta, rest);
	}
}

/* dw of the tile from place at on, of a block */
INLINE void weights_tile(const struct backward *backward, int block,
			 const float *in, int at, struct ahead *next,
			 int vectors, int rest)
{
	const struct linear_shape *shape = backward->shape;
	const size_t stride = (size_t)shape->block;
	struct ahead ahead = *next;

	for (int o = 0; o < shape->outputs; o++) {
		const size_t place = linear_weight_at(shape, o, block, at);
		vec sums[TILE_MOST];

		UNROLL
		for (int v = 0; v < vectors; v++)
			sums[v] = vec_set(0);
		for (int chunk = 0; chunk < backward->chunks; chunk++) {
			const int word = o * backward->chunks + chunk;

			add_rows(sums, backward->by_output + word * WORD,
				 in + chunk * WORD * stride + at, stride,
				 backward->of_outputs[word] &
					 backward->kept[chunk],
				 &ahead, vectors, rest);
		}
		if (backward->state) {
			update_tile(backward, place, sums, &ahead, vectors,
				    rest);
			continue;
		}
		UNROLL
		for (int v = 0; v < vectors; v++)
			tile_store(backward->gradient + place + v * LANES,
				   sums[v], rest);
	}
	*next = ahead;
}

/* Inputs of a block, sample by sample, as neighbours; notes who is kept. */
static const float *gather(const struct backward *backward, int block)
{
	const struct linear_shape *shape = backward->shape;
	const struct linear_batch *batch = backward->batch;
	const size_t stride = (size_t)shape->block;
	const int near = blocks_are_near(shape, batch);
	const float *in = batch->in + (size_t)block * batch->block;

	memset(backward->kept, 0,
	       (size_t)backward->chunks * sizeof(uint64_t));
	for (int b = 0; b < batch->count; b++) {
		if (!is_kept(batch, shape, b, block))
			continue;
		backward->kept[b / WORD] |= 1ull << b % WORD;
		if (!near)
			memcpy(backward->gathered + (size_t)b * stride,
			       in + (size_t)b * batch->sample,
			       stride * sizeof(float));
	}
	return near ? in : backward->gathered;
}

void ISA_NAME(linear_weights)(const struct backward *backward, int block,
			      struct ahead *next)
{
	const float *in = gather(backward, block);
	const int places = backward->shape->block;

	for (int at = 0; at < places;) {
		const int vectors = tile_vectors(places - at);

		switch (vectors) {
		case 9:
			weights_tile(backward, block, in, at, next, 9, 0);
			break;
		case 4:
			weights_tile(backward, block, in, at, next, 4, 0);
			break;
		case 1:
			weights_tile(backward, block, in, at, next, 1, 0);
			break;
		default:
			weights_tile(backward, block, in, at, next, 1,
				     places - at);
			return;
		}
		at += vectors * LANES;
	}
}
