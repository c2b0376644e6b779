/*
 * Gathered products (backends/cpu/kernels/gather.h) whose factors are rounded
 * to bf16, to the nearest, ties to even; products and sums are of fp32.
 *
 * VDPBF16PS adds to each lane two products of factors that are neighbours, so
 * all factors come in pairs, of two values of a row or, of the weight gradient,
 * of two pixels. Weights are packed first, and rows just before use.
 *
 * Blocking: as in gather.c and gather_weights.c, with half the bytes. A row's
 * taps follow each other, DEPTH values at a time: rows (192 KB) and a block's
 * weights (32 KB) stay in the second level of the cache.
 */
#include "backends/cpu/kernels/gather_bf16.h"

#include <assert.h>

#if defined(__x86_64__) && defined(__AVX512F__) && !defined(__AMX_BF16__)

struct product_scratch {
	uint32_t rows[MOST_CHUNK][PAIRS];
	/* [DEPTH values][block][pair][output of the block] */
	_Alignas(64) uint32_t weights[];
};

_Static_assert(sizeof(struct product_scratch) <= GATHER_SCRATCH,
	       "too much is packed at once");

/* Of a chunk's rows so many values from one on, all taps counted. */
struct part {
	const struct gather *gather;
	const struct chunk *chunk;
	const struct gather_end *end;
	int from, count;
	struct product_scratch *scratch;
	struct ahead *ahead;
};

/* The next values of this chunk, or the first ones of the next. */
static void look_ahead(const struct part *part, const struct chunk *next)
{
	const struct gather *gather = part->gather;
	const int each = gather->taps * gather->depth;
	const int past = part->from + part->count;
	const struct chunk *chunk = past < each ? part->chunk : next;
	const int at = past < each ? past : 0;
	const int left = each - at < DEPTH ? each - at : DEPTH;
	const int in_tap = each ? gather->depth - at % gather->depth : 0;

	ahead_clear(part->ahead);
	for (int r = 0; each && r < chunk->count; r++)
		ahead_add(part->ahead,
			  row_in(gather, chunk, at / gather->depth, r) +
				  at % gather->depth,
			  left < in_tap ? left : in_tap);
}

/* Behind an odd number of them there is a 0. */
WITH_BF16 static void pack_rows(const struct part *part)
{
	const struct gather *gather = part->gather;
	const struct chunk *chunk = part->chunk;
	const int count = part->count;

	for (int done = 0; done < count;) {
		const int tap = (part->from + done) / gather->depth;
		const int k = (part->from + done) % gather->depth;
		const int left = gather->depth - k;
		const int here = left < count - done ? left : count - done;

		for (int r = 0; r < chunk->count; r++) {
			const float *in = row_in(gather, chunk, tap, r) + k;
			char *to = (char *)part->scratch->rows[r] + 2 * done;

			for (int i = 0; i < here; i += LANES)
				_mm256_mask_storeu_epi16(
					to + 2 * i, first_lanes(here - i),
					load_rounded(in + i, here - i));
		}
		done += here;
	}
	for (int r = 0; count % 2 && r < chunk->count; r++)
		part->scratch->rows[r][count / 2] &= 0xffff;
}

/* Rows and a block of outputs that are packed. */
struct job {
	const struct chunk *chunk;
	const struct product_scratch *scratch;
	const uint32_t *weights;
	struct ahead *ahead;
	int pairs;
	int first, past; /* outputs: of the block, and behind all */
	const float *bias; /* of the first output; or NULL */
	int adds, relu;
};

/* rows and vectors are constants. */
WITH_BF16 INLINE void multiply_tile(const struct job *job, int r, int rows,
				    int vectors)
{
	const uint32_t *w = job->weights;
	const uint32_t *in = job->scratch->rows[r];
	const float *const *ahead = ahead_take(job->ahead, job->pairs);
	float *const *out = job->chunk->out + r;
	vec sums[MOST_ROWS][MOST_VECTORS];

	UNROLL
	for (int i = 0; i < rows; i++)
		UNROLL
		for (int v = 0; v < vectors; v++) {
			fetch_to_write(out[i], job->first + v * LANES);
			sums[i][v] = job->bias ?
				vec_load(job->bias + v * LANES) : vec_set(0);
		}
	for (int p = 0; p < job->pairs; p++, w += vectors * LANES) {
		__m512bh row[MOST_VECTORS];

		ahead_fetch(ahead, p);
		UNROLL
		for (int v = 0; v < vectors; v++)
			row[v] = (__m512bh)_mm512_loadu_si512(w + v * LANES);
		UNROLL
		for (int i = 0; i < rows; i++) {
			const vec x = vec_hold((vec)_mm512_set1_epi32(
				(int)in[i * PAIRS + p]));

			UNROLL
			for (int v = 0; v < vectors; v++)
				sums[i][v] = (vec)_mm512_dpbf16_ps(
					(__m512)sums[i][v], (__m512bh)x,
					row[v]);
		}
	}
	UNROLL
	for (int i = 0; i < rows; i++)
		UNROLL
		for (int v = 0; v < vectors; v++)
			end_sum(out[i] + job->first + v * LANES, sums[i][v],
				job->adds, job->relu,
				job->past - job->first - v * LANES);
}

/* All rows of the chunk, in tiles that are as equal as can be. */
WITH_BF16 INLINE void multiply_tiles(const struct job *job, int most,
				     int vectors)
{
	int left = (job->chunk->count + most - 1) / most;

	for (int r = 0; r < job->chunk->count; left--) {
		const int rows = (job->chunk->count - r + left - 1) / left;

		/* A constant in each call. */
		UNROLL
		for (int n = 1; n <= most; n++)
			if (n == rows)
				multiply_tile(job, r, n, vectors);
		r += rows;
	}
}

WITH_BF16 static void multiply_chunk(const struct job *job, int vectors)
{
	if (vectors == 4)
		multiply_tiles(job, 6, 4);
	else if (vectors == 3)
		multiply_tiles(job, 8, 3);
	else if (vectors == 2)
		multiply_tiles(job, 12, 2);
	else
		multiply_tiles(job, 12, 1);
}

static int pairs_of(int count)
{
	return (count + 1) / 2;
}

/* Values of a row that pass from one on. */
static int count_from(const struct gather *gather, int from)
{
	const int left = gather->taps * gather->depth - from;

	return left < DEPTH ? left : DEPTH;
}

/* All of them. */
WITH_BF16 static void pack_weights(const struct gather *gather,
				   const float *weights, uint32_t *to)
{
	const int each = gather->taps * gather->depth;

	for (int from = 0; from < each; from += DEPTH)
		for (int o = 0; o < gather->outputs; o += GATHER_BLOCK) {
			const int width = gather_width(gather, o);
			const int count = count_from(gather, from);
			const float *row = weights +
					   (size_t)each * (size_t)o +
					   (size_t)from * (size_t)width;

			for (int k = 0; k < count; k += 2, to += width) {
				pack_pairs(row, k + 1 < count ? row + width :
								nothing,
					   width, to);
				row += 2 * width;
			}
		}
}

/* weights are those of the block that begins with this output. */
WITH_BF16 static void multiply_block(const struct part *part,
				     const uint32_t *weights, int first)
{
	const struct gather *gather = part->gather;
	const struct gather_end *end = part->end;
	const int count = part->count;
	const struct job job = {
		.chunk = part->chunk,
		.scratch = part->scratch,
		.weights = weights,
		.ahead = part->ahead,
		.pairs = pairs_of(count),
		.first = first,
		.past = gather->outputs,
		.bias = end->bias && !part->from ? end->bias + first : NULL,
		.adds = part->from || end->adds,
		.relu = end->relu &&
			part->from + count == gather->taps * gather->depth,
	};

	multiply_chunk(&job, gather_width(gather, first) / LANES);
}

/* All values of a chunk's rows; next is the chunk behind it. */
WITH_BF16 static void multiply_rows(struct part *part, const struct chunk *next)
{
	const struct gather *gather = part->gather;
	const int each = gather->taps * gather->depth;
	const uint32_t *weights = part->scratch->weights;

	part->from = 0;
	/* Of no tap there are sums, too. */
	do {
		part->count = count_from(gather, part->from);
		pack_rows(part);
		look_ahead(part, next);
		for (int o = 0; o < gather->outputs; o += GATHER_BLOCK) {
			multiply_block(part, weights, o);
			weights += pairs_of(part->count) *
				   gather_width(gather, o);
		}
		part->from += part->count;
	} while (part->from < each);
}

WITH_BF16 static void multiply(const struct gather *gather,
			       const struct gather_batch *batch,
			       const float *weights,
			       const struct gather_end *end, float *out,
			       void *scratch)
{
	const size_t rows = (size_t)batch->count * (size_t)gather->pixels;
	struct product_scratch *packed = scratch;
	struct chunk chunks[2];
	struct ahead ahead;
	struct part part = { gather, chunks, end, 0, 0, packed, &ahead };

	assert(!gather->spread);
	if (!rows)
		return;
	pack_weights(gather, weights, packed->weights);
	ISA_NAME(gather_fill_chunk)(gather, batch, out, 0, MOST_CHUNK, chunks);
	for (size_t first = 0; first < rows; first += MOST_CHUNK) {
		struct chunk *next = &chunks[part.chunk == chunks];

		next->count = 0;
		if (first + MOST_CHUNK < rows)
			ISA_NAME(gather_fill_chunk)(gather, batch, out,
						    first + MOST_CHUNK,
						    MOST_CHUNK, next);
		multiply_rows(&part, next);
		gather_tell(end, part.chunk->out[0], part.chunk->count);
		part.chunk = next;
	}
}

const struct gather_kernels ISA_NAME(gather_bf16) = {
	.multiply = multiply,
	.differentiate = ISA_NAME(gather_differentiate_bf16),
	.transpose = ISA_NAME(gather_transpose),
};

#endif
