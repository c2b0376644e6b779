/*
 * dw[c][o][i] = sum over parts of (sum over b of dz[b][o] x[b][c][i]), and
 * Adadelta on it, for some blocks c and the samples b of all parts
 *
 * See linear_weights.c. The parts are what other cores have left of their
 * samples. One block after the other, and for each one part after the other:
 * what that part's inputs in the block add to dw is summed up in registers, a
 * row of places for all of its samples, and then added to what the parts before
 * have left, so that the bits are those of whole gradients added up. The inputs
 * of a part (55 KB for 96 samples of 144 places) are gathered into the first
 * two levels, dw (74 KB) stays in the second one. With the last part Adadelta
 * follows: no slope leaves the cache.
 *
 * The next part's inputs come from other cores' memory in runs of a block,
 * which the processor does not foresee: some are fetched for each output.
 */
#include "backends/cpu/kernels/linear_backward.h"

struct joint {
	const struct linear_shape *shape;
	const struct linear_state *state;
	const struct linear_part *parts;
	int count; /* of them */
	struct adadelta rates;
	struct backward part;	 /* its of_outputs and by_output */
	const struct linear_batch *next; /* fetched meanwhile, or NULL */
	int next_block;
	uint64_t *kept;	 /* [chunks]: samples of the part that keep the block */
	float *gathered; /* [samples][block]: their inputs */
	float *sums;	 /* dw[outputs][block] of the parts before */
};

static size_t cut(struct joint *joint, const struct linear_shape *shape,
		  int count, void *scratch)
{
	const size_t block = (size_t)shape->block * sizeof(float);
	const size_t chunks = (size_t)word_count(count ? count : 1);
	size_t used = 0;

	joint->kept =
		scratch_take(scratch, &used, chunks * sizeof(uint64_t));
	joint->gathered = scratch_take(scratch, &used, (size_t)count * block);
	joint->sums =
		scratch_take(scratch, &used, (size_t)shape->outputs * block);
	return used;
}

size_t ISA_NAME(linear_part_size)(const struct linear_shape *shape, int count)
{
	struct backward part;

	return ISA_NAME(linear_cut_part)(&part, shape, count, NULL);
}

size_t ISA_NAME(linear_parts_scratch)(const struct linear_shape *shape,
				      int count)
{
	struct joint joint;

	return cut(&joint, shape, count, NULL);
}

/* Inputs of the next part, those of every outputs-th sample from o on. */
INLINE void fetch_next(const struct joint *joint, int o)
{
	const struct linear_batch *next = joint->next;

	for (int b = o; next && b < next->count; b += joint->shape->outputs) {
		const float *in = next->in + (size_t)b * next->sample +
				  (size_t)joint->next_block * next->block;

		for (int i = 0; is_kept(next, joint->shape, b,
					joint->next_block) &&
				i < joint->shape->block;
		     i += CACHE_LINE / (int)sizeof(float))
			__builtin_prefetch(in + i, 0, 2);
	}
}

/* Adadelta on a tile of weights, from their slopes. */
INLINE void update_tile(const struct joint *joint, size_t at,
			const vec *slopes, int vectors, int rest)
{
	const struct linear_state *state = joint->state;
	float *p = state->parameters.weights + at;
	float *v = state->square_avg.weights + at;
	float *u = state->acc_delta.weights + at;

	UNROLL
	for (int i = 0; i < vectors * LANES; i += LANES) {
		vec square_avg = tile_load(v + i, rest);
		vec acc_delta = tile_load(u + i, rest);
		const vec parameters = tile_load(p + i, rest);
		const vec delta = adadelta_step(&joint->rates,
						slopes[i / LANES],
						&square_avg, &acc_delta);

		tile_store(v + i, square_avg, rest);
		tile_store(u + i, acc_delta, rest);
		tile_store(p + i, parameters - delta, rest);
	}
}

/* What a part adds to the tile from place at on, of a block */
INLINE void part_tile(const struct joint *joint, int block, int part, int at,
		      struct ahead *next, int vectors, int rest)
{
	const struct linear_shape *shape = joint->shape;
	const size_t stride = (size_t)shape->block;
	const int chunks = joint->part.chunks;
	struct ahead ahead = *next;

	for (int o = 0; o < shape->outputs; o++) {
		float *before = joint->sums + (size_t)o * stride + at;
		vec sums[TILE_MOST];

		if (!at)
			fetch_next(joint, o);
		UNROLL
		for (int v = 0; v < vectors; v++)
			sums[v] = vec_set(0);
		for (int chunk = 0; chunk < chunks; chunk++) {
			const int word = o * chunks + chunk;

			add_rows(sums, joint->part.by_output + word * WORD,
				 joint->gathered + chunk * WORD * stride + at,
				 stride,
				 joint->part.of_outputs[word] &
					 joint->kept[chunk],
				 &ahead, vectors, rest);
		}
		UNROLL
		for (int v = 0; part && v < vectors; v++)
			sums[v] += tile_load(before + v * LANES, rest);
		if (part == joint->count - 1) {
			update_tile(joint, linear_weight_at(shape, o, block,
							    at),
				    sums, vectors, rest);
			continue;
		}
		UNROLL
		for (int v = 0; v < vectors; v++)
			tile_store(before + v * LANES, sums[v], rest);
	}
	*next = ahead;
}

/* Inputs of a part in a block, sample by sample; notes who is kept. */
static void gather(const struct joint *joint, int block,
		   const struct linear_batch *batch)
{
	const size_t stride = (size_t)joint->shape->block;
	const float *in = batch->in + (size_t)block * batch->block;

	memset(joint->kept, 0, (size_t)joint->part.chunks * sizeof(uint64_t));
	for (int b = 0; b < batch->count; b++) {
		if (!is_kept(batch, joint->shape, b, block))
			continue;
		joint->kept[b / WORD] |= 1ull << b % WORD;
		memcpy(joint->gathered + (size_t)b * stride,
		       in + (size_t)b * batch->sample, stride * sizeof(float));
	}
}

static void add_part(const struct joint *joint, int block, int part,
		     struct ahead *next)
{
	const int places = joint->shape->block;

	for (int at = 0; at < places;) {
		const int vectors = tile_vectors(places - at);

		switch (vectors) {
		case 9:
			part_tile(joint, block, part, at, next, 9, 0);
			break;
		case 4:
			part_tile(joint, block, part, at, next, 4, 0);
			break;
		case 1:
			part_tile(joint, block, part, at, next, 1, 0);
			break;
		default:
			part_tile(joint, block, part, at, next, 1,
				  places - at);
			return;
		}
		at += vectors * LANES;
	}
}

/* Parameters and state of a block. */
static struct ahead state_of(const struct joint *joint, int block)
{
	const struct linear_state *state = joint->state;
	const size_t at = linear_weight_at(joint->shape, 0, block, 0);
	const size_t size = linear_weight_at(joint->shape, 0, 1, 0);
	struct ahead ahead = { 0 };

	ahead_add(&ahead, state->acc_delta.weights + at, size);
	ahead_add(&ahead, state->square_avg.weights + at, size);
	ahead_add(&ahead, state->parameters.weights + at, size);
	return ahead;
}

void ISA_NAME(linear_update_parts)(const struct linear_shape *shape,
				   const struct linear_state *state,
				   const struct update *update,
				   const struct linear_part *parts, int count,
				   int from, int to, void *scratch)
{
	struct joint joint = { .shape = shape,
			       .state = state,
			       .parts = parts,
			       .count = count,
			       .rates = adadelta_of(update) };
	int most = 0;

	for (int p = 0; p < count; p++)
		most = parts[p].batch.count > most ? parts[p].batch.count :
						     most;
	cut(&joint, shape, most, scratch);
	for (int block = from; block < to; block++) {
		struct ahead ahead = state_of(&joint, block);

		for (int p = 0; p < count; p++) {
			const struct linear_batch *batch = &parts[p].batch;
			const int last = p + 1 == count;

			ISA_NAME(linear_cut_part)(&joint.part, shape,
						  batch->count,
						  parts[p].slopes);
			joint.next_block = block + last;
			joint.next = joint.next_block == to ? NULL :
				     &parts[last ? 0 : p + 1].batch;
			gather(&joint, block, batch);
			add_part(&joint, block, p, &ahead);
		}
	}
}
