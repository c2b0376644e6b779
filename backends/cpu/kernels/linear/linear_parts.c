/*
 * Weight gradient of a linear layer from the parts of several cores (sufficient
 * factors), with the optimizer's step, for some blocks c:
 *
 *   dw[c][o][i] = sum over parts of (sum over b of dz[b][o] x[b][c][i])
 *
 * See linear_weights.c. A part is what backward_part() left of a core's
 * samples. The loops run over blocks, then 128 outputs at a time, then parts. A
 * row of dw is summed in registers over all samples of a part, then added to
 * the sum of the parts before. Adding up whole gradients would give equal bits.
 *
 * Blocking: the inputs of a part (55 KB for 96 samples of 144 places) are
 * gathered into the first two levels; dw (74 KB) stays in the second. The
 * update follows with the last part: no gradient leaves the cache.
 *
 * The next part's inputs come from other cores' memory in runs of a block,
 * which the hardware does not prefetch: some are prefetched for each output.
 */
#include "backends/cpu/kernels/linear/linear_backward.h"

#define MOST_OUTPUTS 128 /* at a time */

struct factors {
	const struct linear_shape *shape;
	const struct linear_state *state;
	const struct linear_part *parts;
	int count; /* parts */
	struct rates rates;
	/* Space for each part; for one part if all outputs pass at once. */
	int chunks, samples;
	uint64_t *kept;	 /* [][chunks]: samples that keep a block */
	float *gathered; /* [][samples][block]: their inputs in the block */
	float *sums;	 /* dw[outputs][block] of the parts before */
};

/* Outputs that pass together. */
struct outputs {
	int from, to;
};

/* A part's contribution to one block. */
struct addend {
	const struct factors *factors;
	int block, index; /* of the part: 0 .. count - 1 */
	struct outputs passing;
	struct output_gradients outputs;
	const uint64_t *kept; /* [chunks] */
	const float *in;      /* [samples][block] */
	const struct linear_batch *next; /* to prefetch, or NULL */
	int next_block;			 /* block of next */
};

static int passes_at_once(const struct linear_shape *shape)
{
	return shape->outputs <= MOST_OUTPUTS;
}

static size_t cut(struct factors *factors, const struct linear_shape *shape,
		  int parts, int samples, void *scratch)
{
	const size_t block = (size_t)shape->block * sizeof(float);
	const size_t each = passes_at_once(shape) ? 1 : (size_t)parts;
	const size_t outputs = passes_at_once(shape) ? (size_t)shape->outputs :
						       MOST_OUTPUTS;
	size_t used = 0;

	factors->samples = samples ? samples : 1;
	factors->chunks = word_count(factors->samples);
	factors->kept = scratch_take(scratch, &used,
				     each * (size_t)factors->chunks *
					     sizeof(uint64_t));
	factors->gathered = scratch_take(scratch, &used,
					 each * (size_t)factors->samples *
						 block);
	factors->sums = scratch_take(scratch, &used, outputs * block);
	return used;
}

size_t VEC_NAME(linear_part_size)(const struct linear_shape *shape, int count)
{
	struct output_gradients outputs;

	return VEC_NAME(linear_cut_part)(&outputs, shape, count, NULL);
}

size_t VEC_NAME(linear_parts_scratch)(const struct linear_shape *shape,
				      int parts, int count)
{
	struct factors factors;

	return cut(&factors, shape, parts, count, NULL);
}

/* Prefetches output o's share of the next part's inputs: every n-th sample,
 * with n outputs passing. */
INLINE void fetch_next(const struct addend *addend, int o)
{
	const struct linear_shape *shape = addend->factors->shape;
	const struct outputs passing = addend->passing;
	const struct linear_batch *next = addend->next;
	const int block = addend->next_block;

	for (int b = o - passing.from; next && b < next->count;
	     b += passing.to - passing.from) {
		const float *in = next->in + (size_t)b * next->sample +
				  (size_t)block * next->block;

		for (int i = 0; is_kept(next, shape, b, block) &&
				i < shape->block;
		     i += CACHE_LINE / (int)sizeof(float))
			__builtin_prefetch(in + i, 0, 2);
	}
}

/* Adds a part's products to the tile from place at on. */
INLINE void part_tile(const void *pass, int at, struct ahead *next,
		      int vectors, int rest)
{
	const struct addend *addend = pass;
	const struct factors *factors = addend->factors;
	const struct linear_shape *shape = factors->shape;
	const size_t stride = (size_t)shape->block;
	const int first = addend->index == 0;
	const int last = addend->index == factors->count - 1;
	struct ahead ahead = *next;

	for (int o = addend->passing.from; o < addend->passing.to; o++) {
		float *before = factors->sums + at +
				(size_t)(o - addend->passing.from) * stride;
		vec sums[TILE_MOST];

		if (!at)
			fetch_next(addend, o);
		sum_tile(&addend->outputs, o, addend->kept, addend->in + at,
			 stride, sums, &ahead, vectors, rest);
		UNROLL
		for (int v = 0; !first && v < vectors; v++)
			sums[v] += tile_load(before + v * LANES, rest);
		if (last) {
			update_tile(factors->state, &factors->rates,
				    linear_weight_at(shape, o, addend->block,
						     at),
				    sums,
				    passes_at_once(shape) ? NULL : &ahead,
				    vectors, rest);
			continue;
		}
		UNROLL
		for (int v = 0; v < vectors; v++)
			tile_store(before + v * LANES, sums[v], rest);
	}
	*next = ahead;
}

/*
 * Sets next to the inputs to prefetch: the next part's while the first outputs
 * pass, or the next block's in the last part of the last outputs. All other
 * passes find inputs already gathered.
 */
static void find_next(struct addend *addend, int to)
{
	const struct factors *factors = addend->factors;
	const int last = addend->index + 1 == factors->count;

	addend->next_block = addend->block + last;
	if (last ? addend->passing.to == factors->shape->outputs &&
			   addend->next_block < to :
		   addend->passing.from == 0)
		addend->next =
			&factors->parts[last ? 0 : addend->index + 1].batch;
}

/* Adds one part, by its index, to some outputs of a block. */
static void add_part(const struct factors *factors, int block, int to,
		     int index, struct outputs passing, struct ahead *ahead)
{
	const struct linear_shape *shape = factors->shape;
	const struct linear_part *part = &factors->parts[index];
	const size_t place = passes_at_once(shape) ? 0 : (size_t)index;
	uint64_t *kept = factors->kept + place * (size_t)factors->chunks;
	float *gathered = factors->gathered + place * (size_t)factors->samples *
						    (size_t)shape->block;
	struct addend addend = {
		.factors = factors,
		.block = block,
		.index = index,
		.passing = passing,
		.kept = kept,
		.in = gathered,
	};

	find_next(&addend, to);
	VEC_NAME(linear_cut_part)(&addend.outputs, shape, part->batch.count,
				  part->dz);
	if (passing.from == 0)
		addend.in = gather_block(shape, &part->batch, block,
					 addend.outputs.chunks, kept, gathered);
	else if (blocks_are_near(shape, &part->batch))
		addend.in = part->batch.in + (size_t)block * part->batch.block;
	walk_tiles(part_tile, &addend, shape->block, ahead);
}

static struct outputs outputs_from(const struct linear_shape *shape, int o)
{
	const int left = shape->outputs - o;

	return (struct outputs){
		o, o + (left < MOST_OUTPUTS ? left : MOST_OUTPUTS)
	};
}

/* Returns parameters and state of some outputs of a block, to prefetch. */
static struct ahead state_of(const struct factors *factors, int block,
			     struct outputs passing)
{
	const struct linear_shape *shape = factors->shape;
	const size_t at = linear_weight_at(shape, passing.from, block, 0);
	const size_t size = (size_t)(passing.to - passing.from) *
			    (size_t)shape->block;
	struct ahead ahead = { 0 };

	ahead_state(&ahead, factors->state, at, size);
	ahead_add(&ahead, factors->state->parameters.weights + at, size);
	return ahead;
}

/*
 * Returns what to prefetch while the outputs from o on pass: the next outputs'
 * state; sums over few samples leave time for half of it. If all outputs pass
 * at once it is their own, while parts before the last are summed.
 */
static struct ahead fetched_at(const struct factors *factors, int block, int to,
			       int o)
{
	const struct linear_shape *shape = factors->shape;
	const int next = o + MOST_OUTPUTS;
	const int wraps = next >= shape->outputs;

	if (passes_at_once(shape))
		return state_of(factors, block, outputs_from(shape, o));
	if (block + wraps >= to)
		return (struct ahead){ 0 };
	return state_of(factors, block + wraps,
			outputs_from(shape, wraps ? 0 : next));
}

void VEC_NAME(linear_update_parts)(const struct linear_shape *shape,
				   const struct linear_state *state,
				   const struct update *update,
				   const struct linear_part *parts, int count,
				   int from, int to, void *scratch)
{
	struct factors factors = { .shape = shape,
				   .state = state,
				   .parts = parts,
				   .count = count,
				   .rates = rates_of(update) };
	int most = 0;

	for (int p = 0; p < count; p++)
		most = parts[p].batch.count > most ? parts[p].batch.count :
						     most;
	cut(&factors, shape, count, most, scratch);
	for (int block = from; block < to; block++)
		for (int o = 0; o < shape->outputs; o += MOST_OUTPUTS) {
			struct ahead ahead = fetched_at(&factors, block, to, o);

			for (int p = 0; p < count; p++)
				add_part(&factors, block, to, p,
					 outputs_from(shape, o), &ahead);
		}
}
