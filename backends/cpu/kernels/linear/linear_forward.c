/*
 * Forward pass of a linear layer that skips dropped inputs and outputs:
 *
 *   out[b][o] = scale * ReLU(bias[o] + sum over c, i of w[c][o][i] x[b][c][i])
 *
 * x[b][c][i] are the inputs, w[c][o][i] the weights: places i within block c. A
 * tile of x[b][c] stays in registers; for each output that sample b needs, it
 * is multiplied by a tile of w[c][o] from the cache. The products of four
 * outputs become one vector of four partial sums each, whose lanes are added in
 * the end. There are sums of needed outputs only, in order.
 *
 * Blocking: one block's rows of 64 outputs (37 KB for 144 places) stay in the
 * first level while all samples pass. The sums (128 KB for 128 samples that
 * need half of 128 outputs) pass through the second level once per block.
 * Meanwhile the next block and the next sample's inputs are prefetched. Other
 * cases: linear_dense.c without dropout; linear_rows.c for few samples of a
 * large layer; linear_forward_bf16.c for many, if factors may be rounded.
 *
 * Ceiling, on a Xeon with AVX-512 and AMX: 1.3 products per cycle with an
 * operand in the first level, hence 7 cycles for a row of 9. Mispredicted ends
 * of the loops over bits are not the limit, by experiment.
 */
#include "backends/cpu/kernels/linear/linear_forward.h"

#include <math.h>

/* Cuts scratch into the arrays of forward; returns its bytes. */
static size_t cut(struct forward *forward, const struct linear_shape *shape,
		  int count, void *scratch)
{
	const size_t most = (size_t)count * (size_t)(shape->outputs / FOLD + 1);
	size_t words, used = 0;

	forward->words = word_count(shape->outputs);
	words = (size_t)count * (size_t)forward->words;
	forward->needed =
		scratch_take(scratch, &used, words * sizeof(uint64_t));
	forward->places =
		scratch_take(scratch, &used, words * sizeof(uint32_t));
	forward->sums =
		scratch_take(scratch, &used, most * LANES * sizeof(float));
	return used;
}

size_t VEC_NAME(linear_forward_scratch)(const struct linear_shape *shape,
					int count)
{
	const size_t rows = VEC_NAME(linear_rows_scratch)(shape, count);
	struct forward forward;
	size_t other = cut(&forward, shape, count, NULL);

#if HAS_PAIRS
	/* A later call may have fewer samples, and not round. */
	if (VEC_NAME(linear_forward_is_dense)(shape, count)) {
		const size_t pairs =
			VEC_NAME(linear_forward_bf16_scratch)(shape, count);

		other = pairs > other ? pairs : other;
	}
#endif
	return rows > other ? rows : other;
}

static uint64_t kept_bits(const uint8_t *keep, int count)
{
	uint64_t bits = 0;

	for (int i = 0; i < count; i++)
		bits |= (uint64_t)(keep[i] != 0) << i;
	return bits;
}

/* Sets needed and places, and clears the sums. */
static void start(const struct forward *forward)
{
	const int outputs = forward->shape->outputs;
	const uint8_t *keep = forward->batch->keep_out;
	uint64_t *needed = forward->needed;
	uint32_t *places = forward->places;
	uint32_t place = 0;

	for (int b = 0; b < forward->batch->count; b++)
		for (int o = 0; o < outputs; o += WORD) {
			const int here = outputs - o < WORD ? outputs - o :
							      WORD;

			*needed = keep ? kept_bits(keep + b * outputs + o,
						   here) :
					 word_first(here);
			*places++ = place;
			place += ((uint32_t)__builtin_popcountll(*needed++) +
				  FOLD - 1) / FOLD;
		}
	memset(forward->sums, 0, place * LANES * sizeof(float));
}

/* sums += values . rows[o] over one tile, for the outputs in bits. If fewer
 * than four remain, the last one is repeated, and its sum is not read. */
INLINE void add_products(const vec *values, const float *rows, size_t stride,
			 uint64_t bits, float *sums, struct ahead *ahead,
			 int lines, int vectors, int rest)
{
	for (; bits; sums += LANES) {
		vec four[FOLD];

		UNROLL
		for (int i = 0; i < FOLD; i++) {
			const size_t o = (size_t)__builtin_ctzll(bits);
			const float *row = row_at(rows, o, stride);
			const uint64_t left = bits & (bits - 1);

			bits = left || i == FOLD - 1 ? left : bits;
			four[i] = vec_set(0);
			for (int line = 0; line < lines; line++)
				ahead_fetch(ahead);
			UNROLL
			for (int v = 0; v < vectors; v++)
				four[i] += values[v] *
					   tile_load(row + v * LANES, rest);
		}
		vec_store(sums, vec_load(sums) + vec_fold(four));
	}
}

/* Adds the tile from place at on, of some rows, for all samples. */
INLINE void add_tile(const struct forward *forward, struct words where, int at,
		     struct ahead *next, int vectors, int rest)
{
	const int block = where.block;
	const struct linear_shape *shape = forward->shape;
	const struct linear_batch *batch = forward->batch;
	const uint8_t *keep = batch->keep_in;
	/* Lines to prefetch per product; half of the outputs may be dropped. */
	const int lines = 1 + shape->block / (CACHE_LINE / 4 / 2) /
				  (batch->count + 1);
	struct ahead ahead = *next;

	for (int word = where.from; word < where.to; word++) {
		const float *rows =
			forward->weights +
			linear_weight_at(shape, word * WORD, block, at);

		for (int b = 0; b < batch->count; b++) {
			const int which = b * forward->words + word;
			const float *x = batch->in +
					 (size_t)b * batch->sample +
					 (size_t)block * batch->block + at;
			vec values[TILE_MOST];

			if (keep && !keep[b * shape->blocks + block])
				continue;
			UNROLL
			for (int v = 0; v < vectors; v++) {
				fetch(x, (ptrdiff_t)batch->sample + v * LANES);
				values[v] = tile_load(x + v * LANES, rest);
			}
			add_products(values, rows, (size_t)shape->block,
				     forward->needed[which],
				     forward->sums +
					     forward->places[which] * LANES,
				     &ahead, lines, vectors, rest);
		}
	}
	*next = ahead;
}

static struct ahead next_rows(const struct forward *forward, struct words rows)
{
	const struct linear_shape *shape = forward->shape;
	const struct linear_batch *batch = forward->batch;
	const int more = rows.to < forward->words;
	const struct words next = rows_from(rows.block + !more,
					    more ? rows.to : 0, forward->words);
	struct ahead ahead = { 0 };

	if (next.block == shape->blocks)
		return ahead;
	if (!more && blocks_are_near(shape, batch))
		ahead_add(&ahead, batch->in + (size_t)next.block * batch->block,
			  (size_t)batch->count * (size_t)shape->block);
	ahead_add(&ahead, forward->weights + rows_at(shape, next),
		  rows_weights(shape, next));
	return ahead;
}

static void add_rows(const struct forward *forward, struct words rows)
{
	const int places = forward->shape->block;
	struct ahead next = next_rows(forward, rows);

	for (int at = 0; at < places;) {
		const int vectors = tile_vectors(places - at);

		switch (vectors) {
		case 9:
			add_tile(forward, rows, at, &next, 9, 0);
			break;
		case 8:
			add_tile(forward, rows, at, &next, 8, 0);
			break;
		case 4:
			add_tile(forward, rows, at, &next, 4, 0);
			break;
		case 1:
			add_tile(forward, rows, at, &next, 1, 0);
			break;
		default:
			add_tile(forward, rows, at, &next, 1, places - at);
			return;
		}
		at += vectors * LANES;
	}
}

static void add_kept(const struct forward *forward)
{
	for (int block = 0; block < forward->shape->blocks; block++)
		for (int word = 0; word < forward->words; word += GROUP)
			add_rows(forward, rows_from(block, word,
						    forward->words));
}

static void finish(const struct forward *forward, const float *bias, float *out)
{
	const int outputs = forward->shape->outputs, words = forward->words;
	const float scale = forward->batch->scale;
	const float least = forward->shape->relu ? 0 : -INFINITY;

	memset(out, 0,
	       (size_t)forward->batch->count * (size_t)outputs * sizeof(*out));
	for (int w = 0; w < forward->batch->count * words; w++) {
		const float *sums = forward->sums + forward->places[w] * LANES;
		const int first = w / words * outputs + w % words * WORD;
		int i = 0;

		for (uint64_t bits = forward->needed[w]; bits;
		     bits &= bits - 1) {
			const int o = __builtin_ctzll(bits);
			const float value =
				bias[w % words * WORD + o] + sum_of(sums, i++);

			/* A NaN fails the comparison and passes. */
			out[first + o] =
				scale * (value <= least ? least : value);
		}
	}
}

void VEC_NAME(linear_forward)(const struct linear_shape *shape,
			      const struct linear_values *parameters,
			      const struct linear_batch *batch, float *out,
			      void *scratch)
{
	struct forward forward = {
		.shape = shape,
		.batch = batch,
		.weights = parameters->weights,
	};

#if HAS_PAIRS
	if (!batch->keep_in &&
	    VEC_NAME(linear_forward_is_dense)(shape, batch->count)) {
		VEC_NAME(linear_forward_bf16)(shape, parameters, batch, out,
					      scratch);
		return;
	}
#endif
	if (rows_pay(shape, batch->count) && !batch->keep_in &&
	    (float)batch->count <= FEW_SAMPLES * batch->scale) {
		VEC_NAME(linear_rows)(shape, parameters, batch, out, scratch);
		return;
	}
	cut(&forward, shape, batch->count, scratch);
	start(&forward);
	if (batch->keep_in || batch->keep_out)
		add_kept(&forward);
	else
		VEC_NAME(linear_dense)(&forward);
	finish(&forward, parameters->bias, out);
}
