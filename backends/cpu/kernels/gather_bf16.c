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
#include "backends/cpu/kernels/gather_kernels.h"

#if defined(__x86_64__) && defined(__AVX512F__) && !defined(__AMX_BF16__)

#define WITH_BF16 __attribute__((target("avx512bf16")))

#define DEPTH 256 /* values of a row, or of a tap */
#define PAIRS (DEPTH / 2)

/*
 * What is packed next, in pieces of PIECE floats, is fetched into the second
 * level of the cache while tiles are computed, a line with each pair: packing
 * alone would wait for memory a third of the time where outputs are few.
 */
#define PIECE 64
#define PIECE_LINES (PIECE / LANES)
#define MOST_AHEAD (8 * MOST_CHUNK)

static const float nothing[DEPTH];

struct ahead {
	const float *from[MOST_AHEAD + PAIRS];
	int count, next;
};

static void ahead_clear(struct ahead *ahead)
{
	ahead->count = ahead->next = 0;
}

static void ahead_add(struct ahead *ahead, const float *from, int floats)
{
	for (int i = 0; i < floats && ahead->count < MOST_AHEAD; i += PIECE)
		ahead->from[ahead->count++] = from + i;
}

/* For so many pairs; what is behind the last is nothing. */
static const float *const *ahead_take(struct ahead *ahead, int pairs)
{
	const float *const *from = ahead->from + ahead->next;
	const int taken = pairs / PIECE_LINES + 1;

	for (int i = ahead->count; i < ahead->next + taken; i++)
		ahead->from[i] = nothing;
	ahead->next += taken - 1;
	if (ahead->next > ahead->count)
		ahead->next = ahead->count;
	return from;
}

/* One line of what was taken, with pair p. */
INLINE void ahead_fetch(const float *const *taken, int p)
{
	__builtin_prefetch(taken[p / PIECE_LINES] + p % PIECE_LINES * LANES, 0,
			   2);
}

struct product_scratch {
	uint32_t rows[MOST_CHUNK][PAIRS];
	/* [DEPTH values][block][pair][output of the block] */
	_Alignas(64) uint32_t weights[];
};

/* The bits of lanes; others are 0. */
INLINE __mmask16 first_lanes(int lanes)
{
	return lanes >= LANES ? 0xffff : (__mmask16)((1u << lanes) - 1);
}

WITH_BF16 INLINE __m256i load_rounded(const float *from, int lanes)
{
	return (__m256i)_mm512_cvtneps_pbh(
		_mm512_maskz_loadu_ps(first_lanes(lanes), from));
}

/* to[i] = pair of first[i] and second[i], for i < count; what its last vector
 * has too much is 0. */
WITH_BF16 INLINE void pack_pairs(const float *first, const float *second,
				 int count, uint32_t *to)
{
	for (int i = 0; i < count; i += LANES) {
		const int lanes = count - i;
		const __m512i low = _mm512_cvtepu16_epi32(
			load_rounded(first + i, lanes));
		const __m512i high = _mm512_slli_epi32(
			_mm512_cvtepu16_epi32(load_rounded(second + i, lanes)),
			16);

		_mm512_storeu_si512(to + i, _mm512_or_si512(low, high));
	}
}

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

	ahead_clear(part->ahead);
	for (int r = 0; each && r < chunk->count; r++)
		ahead_add(part->ahead,
			  row_in(gather, chunk, at / gather->depth, r) +
				  at % gather->depth,
			  left < gather->depth ? left : gather->depth);
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
			__builtin_prefetch(out[i] + job->first + v * LANES, 1);
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

/*
 * The weight gradient. Two pixels are a pair, of x and of dy. The dy of PACKED
 * pixels and BLOCKS blocks of outputs (192 KB) stay in the second level of the
 * cache while all taps pass, DEPTH values at a time.
 */
#define PACKED (MOST_CHUNK / 2) /* pairs */
#define BLOCKS 4
#define PASSING 96	     /* pairs that pass at a time, 24 KB of dy */
#define STRIDE (DEPTH + LANES) /* else few sets of the cache hold a column */

struct weights_scratch {
	uint32_t dy[BLOCKS][PACKED][GATHER_BLOCK];
	uint32_t x[PACKED][STRIDE];
	const float *in[2 * PACKED];
};

_Static_assert(sizeof(struct product_scratch) <= GATHER_SCRATCH &&
		       sizeof(struct weights_scratch) <= GATHER_SCRATCH,
	       "too much is packed at once");

/* Pairs of pixels and one block of outputs. */
struct panel {
	const uint32_t *x;  /* [pairs][STRIDE] */
	const uint32_t *dy; /* [pairs][GATHER_BLOCK] */
	struct ahead *ahead;
	int pairs;
	int width; /* floats from one row of dw to the next */
};

/* values and vectors are constants. */
WITH_BF16 INLINE void weights_tile(const struct panel *panel, int k, int values,
				   int vectors, float *dw)
{
	const uint32_t *x = panel->x + k, *row = panel->dy;
	const float *const *ahead = ahead_take(panel->ahead, panel->pairs);
	vec sums[MOST_ROWS][MOST_VECTORS];

	UNROLL
	for (int i = 0; i < values * vectors; i++)
		sums[i / vectors][i % vectors] = vec_set(0);
	for (int p = 0; p < panel->pairs;
	     p++, x += STRIDE, row += GATHER_BLOCK) {
		__m512bh dy[MOST_VECTORS];

		ahead_fetch(ahead, p);
		UNROLL
		for (int v = 0; v < vectors; v++)
			dy[v] = (__m512bh)_mm512_loadu_si512(row + v * LANES);
		UNROLL
		for (int i = 0; i < values; i++) {
			const vec value = vec_hold(
				(vec)_mm512_set1_epi32((int)x[i]));

			UNROLL
			for (int v = 0; v < vectors; v++)
				sums[i][v] = (vec)_mm512_dpbf16_ps(
					(__m512)sums[i][v], (__m512bh)value,
					dy[v]);
		}
	}
	UNROLL
	for (int i = 0; i < values; i++)
		UNROLL
		for (int v = 0; v < vectors; v++) {
			float *to = dw + (size_t)i * (size_t)panel->width +
				    v * LANES;

			vec_store(to, vec_load(to) + sums[i][v]);
		}
}

/* count values, in tiles that are as equal as can be. */
WITH_BF16 INLINE void weights_tiles(const struct panel *panel, int count,
				    int most, int vectors, float *dw)
{
	int left = (count + most - 1) / most;

	for (int k = 0; k < count; left--) {
		const int values = (count - k + left - 1) / left;

		UNROLL
		for (int n = 1; n <= most; n++)
			if (n == values)
				weights_tile(panel, k, n, vectors,
					     dw + (size_t)k *
						  (size_t)panel->width);
		k += values;
	}
}

WITH_BF16 static void add_panel(const struct panel *panel, int count, float *dw)
{
	const int vectors = panel->width / LANES;

	if (vectors == 4)
		weights_tiles(panel, count, 6, 4, dw);
	else if (vectors == 3)
		weights_tiles(panel, count, 8, 3, dw);
	else if (vectors == 2)
		weights_tiles(panel, count, 12, 2, dw);
	else
		weights_tiles(panel, count, 12, 1, dw);
}

/* The dy of a block's outputs, in pairs; their sums, in fp32, are added to
 * dbias, unless that is NULL. */
WITH_BF16 static void pack_dy(const struct rows *rows, const float *dy,
			      int first, uint32_t (*to)[GATHER_BLOCK],
			      float *dbias)
{
	const struct gather *gather = rows->gather;
	const int left = gather->outputs - first;
	const int count = left < GATHER_BLOCK ? left : GATHER_BLOCK;
	vec sums[GATHER_BLOCK / LANES] = { { 0 } };

	for (int r = 0; r < rows->count; r += 2) {
		const float *row[2] = { nothing, nothing };

		for (int i = 0; i < 2 && r + i < rows->count; i++) {
			row[i] = row_of_dy(rows, dy, r + i) + first;
			for (int o = 0; dbias && o < count; o += LANES)
				sums[o / LANES] += load_lanes(row[i] + o,
							      count - o);
		}
		pack_pairs(row[0], row[1], count, to[r / 2]);
	}
	for (int o = 0; dbias && o < count; o += LANES) {
		float *at = dbias + first + o;

		store_lanes(at, load_lanes(at, count - o) + sums[o / LANES],
			    count - o);
	}
}

/* Values of a tap, from one on, of all pixels. */
WITH_BF16 static void pack_x(const struct rows *rows, int k, int count,
			     struct weights_scratch *scratch)
{
	const float *const *in = scratch->in;

	for (int r = 0; r < rows->count; r += 2)
		pack_pairs(in[r] + k,
			   r + 1 < rows->count ? in[r + 1] + k : nothing,
			   count, scratch->x[r / 2]);
}

/* Behind all taps of some blocks of outputs, of which first is the first: the
 * dy of the next blocks, or the next pixels and the dy of their first ones. */
static void look_behind_blocks(const struct rows *rows, const float *dy,
			       int first, struct ahead *ahead)
{
	const struct gather *gather = rows->gather;
	const size_t pixels = (size_t)gather->pixels;
	const size_t all = (size_t)rows->batch->count * pixels;
	const int is_last = first + BLOCKS * GATHER_BLOCK >= gather->outputs;
	const size_t from = rows->first + (is_last ? (size_t)rows->count : 0);
	const int next = is_last ? 0 : first + BLOCKS * GATHER_BLOCK;
	const int left = gather->outputs - next;
	struct dy_walk walk = dy_from(rows, dy, from);

	for (size_t r = from; r < all && r < from + 2 * PACKED; r++) {
		const float *sample = rows->batch->in +
				      r / pixels * rows->batch->in_sample;
		const int32_t at = gather->table[walk.pixel];

		if (is_last && at >= 0)
			ahead_add(ahead, sample + at,
				  gather->depth < DEPTH ? gather->depth :
							  DEPTH);
		ahead_add(ahead, dy_next(&walk) + next,
			  left < BLOCKS * GATHER_BLOCK ?
				  left : BLOCKS * GATHER_BLOCK);
	}
}

/* Behind the values from run on, so many of a tap, that are packed. */
static void look_behind(const struct rows *rows, const float *dy, int first,
			int run, int count, const float *const *in,
			struct ahead *ahead)
{
	const int depth = rows->gather->depth, k = run % depth + count;

	ahead_clear(ahead);
	for (int r = 0; k < depth && r < rows->count; r++)
		ahead_add(ahead, in[r] + k,
			  depth - k < DEPTH ? depth - k : DEPTH);
	if (run + count == rows->gather->taps * depth)
		look_behind_blocks(rows, dy, first, ahead);
}

/* Some blocks of outputs, from output first on; dw is of all. */
WITH_BF16 static void add_blocks(const struct rows *rows, const float *dy,
				 int first, float *dw, float *dbias,
				 struct weights_scratch *scratch)
{
	const struct gather *gather = rows->gather;
	const int depth = gather->depth, pairs = (rows->count + 1) / 2;
	const size_t each = (size_t)gather->taps * (size_t)depth;
	const int left = gather->outputs - first;
	const int past = left < BLOCKS * GATHER_BLOCK ?
			       left : BLOCKS * GATHER_BLOCK;
	struct ahead ahead;

	for (int o = 0; o < past; o += GATHER_BLOCK)
		pack_dy(rows, dy, first + o, scratch->dy[o / GATHER_BLOCK],
			dbias);
	for (int run = 0; run < gather->taps * depth;) {
		const int tap = run / depth, k = run % depth;
		const int count = depth - k < DEPTH ? depth - k : DEPTH;

		if (k == 0)
			ISA_NAME(gather_find_in)(rows, tap, scratch->in);
		pack_x(rows, k, count, scratch);
		look_behind(rows, dy, first, run, count, scratch->in, &ahead);
		for (int o = 0; o < past; o += GATHER_BLOCK)
			for (int p = 0; p < pairs; p += PASSING) {
				const int width = gather_width(gather,
							       first + o);
				const struct panel panel = {
					scratch->x[p],
					scratch->dy[o / GATHER_BLOCK][p],
					&ahead,
					pairs - p < PASSING ? pairs - p :
							      PASSING,
					width,
				};

				add_panel(&panel, count,
					  dw + each * (size_t)(first + o) +
						  (size_t)run * (size_t)width);
			}
		run += count;
	}
}

WITH_BF16 static void differentiate(const struct gather *gather,
				    const struct gather_batch *batch,
				    const float *dy, float *dw, float *dbias,
				    void *scratch)
{
	const size_t all = (size_t)batch->count * (size_t)gather->pixels;
	struct rows rows = { .gather = gather, .batch = batch };

	for (; rows.first < all; rows.first += (size_t)rows.count) {
		rows.count = all - rows.first < 2 * PACKED ?
				     (int)(all - rows.first) : 2 * PACKED;
		for (int o = 0; o < gather->outputs; o += BLOCKS * GATHER_BLOCK)
			add_blocks(&rows, dy, o, dw, dbias, scratch);
	}
}

const struct gather_kernels ISA_NAME(gather_bf16) = {
	.multiply = multiply,
	.differentiate = differentiate,
	.transpose = ISA_NAME(gather_transpose),
};

#endif
