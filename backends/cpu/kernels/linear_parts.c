/*
 * dw[c][o][i] = sum over parts of (sum over b of dz[b][o] x[b][c][i]), and a
 * step of the optimizer with it, for some blocks c and all parts' samples b
 *
 * See linear_weights.c. The parts are what other cores have left of their
 * samples. One block after the other, and for each one part after the other:
 * what that part's inputs in the block add to dw is summed up in registers, a
 * row of places for all of its samples, and then added to what the parts before
 * have left, so that the bits are those of whole gradients added up. The inputs
 * of a part (55 KB for 96 samples of 144 places) are gathered into the first
 * two levels, dw (74 KB) stays in the second one. With the last part the
 * update follows: no gradient leaves the cache.
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
	struct rates rates;
	uint64_t *kept;	 /* [chunks]: samples of a part that keep a block */
	float *gathered; /* [samples][block]: their inputs in it */
	float *sums;	 /* dw[outputs][block] of the parts before */
};

/* What one part adds to one block. */
struct addend {
	const struct joint *joint;
	int block, index; /* of the part: 0 .. count - 1 */
	struct output_gradients outputs;
	const float *in; /* [samples][block] */
	const struct linear_batch *next; /* fetched meanwhile, or NULL */
	int next_block;			 /* of it */
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
	struct output_gradients outputs;

	return ISA_NAME(linear_cut_part)(&outputs, shape, count, NULL);
}

size_t ISA_NAME(linear_parts_scratch)(const struct linear_shape *shape,
				      int count)
{
	struct joint joint;

	return cut(&joint, shape, count, NULL);
}

/* Inputs of the next part, those of every outputs-th sample from o on. */
INLINE void fetch_next(const struct addend *addend, int o)
{
	const struct linear_shape *shape = addend->joint->shape;
	const struct linear_batch *next = addend->next;
	const int block = addend->next_block;

	for (int b = o; next && b < next->count; b += shape->outputs) {
		const float *in = next->in + (size_t)b * next->sample +
				  (size_t)block * next->block;

		for (int i = 0; is_kept(next, shape, b, block) &&
				i < shape->block;
		     i += CACHE_LINE / (int)sizeof(float))
			__builtin_prefetch(in + i, 0, 2);
	}
}

/* What a part adds to the tile from place at on */
INLINE void part_tile(const void *pass, int at, struct ahead *next,
		      int vectors, int rest)
{
	const struct addend *addend = pass;
	const struct joint *joint = addend->joint;
	const struct linear_shape *shape = joint->shape;
	const size_t stride = (size_t)shape->block;
	const int first = addend->index == 0;
	const int last = addend->index == joint->count - 1;
	struct ahead ahead = *next;

	for (int o = 0; o < shape->outputs; o++) {
		float *before = joint->sums + (size_t)o * stride + at;
		vec sums[TILE_MOST];

		if (!at)
			fetch_next(addend, o);
		sum_tile(&addend->outputs, o, joint->kept, addend->in + at,
			 stride, sums, &ahead, vectors, rest);
		UNROLL
		for (int v = 0; !first && v < vectors; v++)
			sums[v] += tile_load(before + v * LANES, rest);
		if (last) {
			update_tile(joint->state, &joint->rates,
				    linear_weight_at(shape, o, addend->block,
						     at),
				    sums, NULL, vectors, rest);
			continue;
		}
		UNROLL
		for (int v = 0; v < vectors; v++)
			tile_store(before + v * LANES, sums[v], rest);
	}
	*next = ahead;
}

/* A part of a block, by its index. Behind the last one comes the next block,
 * unless that is to. */
static void add_part(const struct joint *joint, int block, int to, int index,
		     struct ahead *ahead)
{
	const struct linear_part *part = &joint->parts[index];
	const int last = index + 1 == joint->count;
	struct addend addend = {
		.joint = joint,
		.block = block,
		.index = index,
		.next_block = last ? block + 1 : block,
	};

	if (addend.next_block < to)
		addend.next = &joint->parts[last ? 0 : index + 1].batch;
	ISA_NAME(linear_cut_part)(&addend.outputs, joint->shape,
				  part->batch.count, part->dz);
	addend.in = gather_block(joint->shape, &part->batch, block,
				 addend.outputs.chunks, joint->kept,
				 joint->gathered);
	walk_tiles(part_tile, &addend, joint->shape->block, ahead);
}

/* Parameters and state of a block. */
static struct ahead state_of(const struct joint *joint, int block)
{
	const struct linear_state *state = joint->state;
	const size_t at = linear_weight_at(joint->shape, 0, block, 0);
	const size_t size = linear_weight_at(joint->shape, 0, 1, 0);
	struct ahead ahead = { 0 };

	ahead_state(&ahead, state, at, size);
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
			       .rates = rates_of(update) };
	int most = 0;

	for (int p = 0; p < count; p++)
		most = parts[p].batch.count > most ? parts[p].batch.count :
						     most;
	cut(&joint, shape, most, scratch);
	for (int block = from; block < to; block++) {
		struct ahead ahead = state_of(&joint, block);

		for (int p = 0; p < count; p++)
			add_part(&joint, block, to, p, &ahead);
	}
}
