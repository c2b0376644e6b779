/*
 * Weight gradient of the indirect GEMM in bf16 on vectors: see igemm_bf16.c. A
 * pair is two pixels, of x and of dy.
 *
 * Blocking: the dy of PACKED pairs of pixels and BLOCKS blocks of outputs (192
 * KB) stay in the second level of the cache while all taps pass, DEPTH values
 * at a time.
 */
#include "backends/cpu/kernels/igemm/igemm_bf16.h"

#if defined(__x86_64__) && defined(__AVX512F__) && !defined(__AMX_BF16__)

#define PACKED (MOST_CHUNK / 2) /* pairs */
#define BLOCKS 4
#define PASSING 96	     /* pairs that pass at a time: 24 KB of dy */
/* floats; with a power of 2, a column falls into few sets of the cache */
#define STRIDE (DEPTH + LANES)

/*
 * The data to be packed next, in pieces of PIECE floats, are prefetched into
 * the second level of the cache while tiles are computed, one line with each
 * pair.
 */
#define PIECE 64 /* floats, fewer at the end of a row */
#define PIECE_LINES (PIECE / LINE)
/* Per pixel: up to DEPTH values of x, and BLOCKS blocks of dy. */
#define MOST_AHEAD (8 * MOST_CHUNK)

struct prefetch_list {
	const float *from[MOST_AHEAD + PACKED / PIECE_LINES + 1];
	int count, next;
};

INLINE void ahead_clear(struct prefetch_list *ahead)
{
	ahead->count = ahead->next = 0;
}

INLINE void ahead_add(struct prefetch_list *ahead, const float *from,
		      int floats)
{
	for (int i = 0; i < floats && ahead->count < MOST_AHEAD; i += PIECE)
		ahead->from[ahead->count++] = from + i;
}

/* Takes the pieces to prefetch with a number of pairs; after the last piece
 * come dummies. */
INLINE const float *const *ahead_take(struct prefetch_list *ahead, int pairs)
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

/* Prefetches one line of the taken pieces, with pair p. */
INLINE void ahead_fetch(const float *const *taken, int p)
{
	fetch_early(taken[p / PIECE_LINES], p % PIECE_LINES * LINE);
}

struct pair_scratch {
	uint32_t dy[BLOCKS][PACKED][IGEMM_BLOCK];
	uint32_t x[PACKED][STRIDE];
	const float *in[2 * PACKED];
	float biases[MOST_BIASES];
};

_Static_assert(sizeof(struct pair_scratch) <= IGEMM_SCRATCH,
	       "too much is packed at once");

/* Pairs of pixels and one block of outputs. */
struct pair_panel {
	const uint32_t *x;  /* [pairs][STRIDE] */
	const uint32_t *dy; /* [pairs][IGEMM_BLOCK] */
	struct prefetch_list *ahead;
	int pairs;
	int width; /* floats from one row of dw to the next */
};

/* values and vectors are constants. */
WITH_BF16 INLINE void weights_tile(const struct pair_panel *panel, int k,
				   int values, int vectors, float *dw)
{
	const uint32_t *x = panel->x + k, *row = panel->dy;
	const float *const *ahead = ahead_take(panel->ahead, panel->pairs);
	vec sums[MOST_ROWS][MOST_VECTORS];

	UNROLL
	for (int i = 0; i < values * vectors; i++)
		sums[i / vectors][i % vectors] = vec_set(0);
	for (int p = 0; p < panel->pairs;
	     p++, x += STRIDE, row += IGEMM_BLOCK) {
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

/* Adds count values, in tiles as equal as possible. */
WITH_BF16 INLINE void weights_tiles(const struct pair_panel *panel, int count,
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

WITH_BF16 static void add_panel(const struct pair_panel *panel, int count,
				float *dw)
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

/* Packs the dy of a block's outputs in pairs; adds their sums, in fp32, to
 * dbias unless NULL. */
WITH_BF16 static void pack_dy(const struct rows *rows, const float *dy,
			      int first, uint32_t (*to)[IGEMM_BLOCK],
			      float *dbias)
{
	const struct igemm *igemm = rows->igemm;
	const int left = igemm->outputs - first;
	const int count = left < IGEMM_BLOCK ? left : IGEMM_BLOCK;
	struct dy_walk walk = dy_from(rows, dy, rows->first);
	vec sums[IGEMM_BLOCK / LANES] = { { 0 } };
	vec all[IGEMM_BLOCK / LANES] = { { 0 } };

	for (int r = 0; r < rows->count; r += 2) {
		const float *row[2] = { nothing, nothing };

		for (int i = 0; i < 2 && r + i < rows->count; i++) {
			row[i] = dy_next(&walk) + first;
			for (int o = 0; dbias && o < count; o += LANES)
				sums[o / LANES] += load_lanes(row[i] + o,
							      count - o);
		}
		pack_pairs(row[0], row[1], count, to[r / 2]);
		for (int v = 0; r / 2 % BIAS_ROWS == BIAS_ROWS - 1 &&
				v < IGEMM_BLOCK / LANES; v++) {
			all[v] += sums[v];
			sums[v] = vec_set(0);
		}
	}
	for (int o = 0; dbias && o < count; o += LANES) {
		float *at = dbias + first + o;

		store_lanes(at, load_lanes(at, count - o) +
				(all[o / LANES] + sums[o / LANES]),
			    count - o);
	}
}

/* Packs values k .. k + count - 1 of a tap, of all pixels. */
WITH_BF16 static void pack_x(const struct rows *rows, int k, int count,
			     struct pair_scratch *scratch)
{
	const float *const *in = scratch->in;

	for (int r = 0; r < rows->count; r += 2)
		pack_pairs(in[r] + k,
			   r + 1 < rows->count ? in[r + 1] + k : nothing,
			   count, scratch->x[r / 2]);
}

/* Lists the data that follow the last tap of the blocks from first on: the dy
 * of the next blocks, or the next pixels and the dy of their first blocks. */
static void look_behind_blocks(const struct rows *rows, const float *dy,
			       int first, struct prefetch_list *ahead)
{
	const struct igemm *igemm = rows->igemm;
	const size_t pixels = (size_t)igemm->pixels;
	const size_t all = (size_t)rows->batch->count * pixels;
	const int is_last = first + BLOCKS * IGEMM_BLOCK >= igemm->outputs;
	const size_t from = rows->first + (is_last ? (size_t)rows->count : 0);
	const int next = is_last ? 0 : first + BLOCKS * IGEMM_BLOCK;
	const int left = igemm->outputs - next;
	struct dy_walk walk = dy_from(rows, dy, from);

	for (size_t r = from; r < all && r < from + 2 * PACKED; r++) {
		const float *sample = rows->batch->in +
				      r / pixels * rows->batch->in_sample;
		const int32_t at = igemm->table[walk.pixel];

		if (is_last && at >= 0)
			ahead_add(ahead, sample + at,
				  igemm->depth < DEPTH ? igemm->depth :
							  DEPTH);
		ahead_add(ahead, dy_next(&walk) + next,
			  left < BLOCKS * IGEMM_BLOCK ?
				  left : BLOCKS * IGEMM_BLOCK);
	}
}

/*
 * Lists the data to be packed after count values from run on (tap * depth + k).
 */
static void look_behind(const struct rows *rows, const float *dy, int first,
			int run, int count, const float *const *in,
			struct prefetch_list *ahead)
{
	const int depth = rows->igemm->depth, k = run % depth + count;

	ahead_clear(ahead);
	for (int r = 0; k < depth && r < rows->count; r++)
		ahead_add(ahead, in[r] + k,
			  depth - k < DEPTH ? depth - k : DEPTH);
	if (run + count == rows->igemm->taps * depth)
		look_behind_blocks(rows, dy, first, ahead);
}

/* Adds some blocks, from output first on; dw has all outputs. */
WITH_BF16 static void add_blocks(const struct rows *rows, const float *dy,
				 int first, float *dw, float *dbias,
				 struct pair_scratch *scratch)
{
	const struct igemm *igemm = rows->igemm;
	const int depth = igemm->depth, pairs = (rows->count + 1) / 2;
	const size_t each = (size_t)igemm->taps * (size_t)depth;
	const int left = igemm->outputs - first;
	const int past = left < BLOCKS * IGEMM_BLOCK ?
			       left : BLOCKS * IGEMM_BLOCK;
	struct prefetch_list ahead;

	for (int o = 0; o < past; o += IGEMM_BLOCK)
		pack_dy(rows, dy, first + o, scratch->dy[o / IGEMM_BLOCK],
			dbias);
	for (int run = 0; run < igemm->taps * depth;) {
		const int tap = run / depth, k = run % depth;
		const int count = depth - k < DEPTH ? depth - k : DEPTH;

		if (k == 0)
			VEC_NAME(igemm_find_in)(rows, tap, scratch->in);
		pack_x(rows, k, count, scratch);
		look_behind(rows, dy, first, run, count, scratch->in, &ahead);
		for (int o = 0; o < past; o += IGEMM_BLOCK)
			for (int p = 0; p < pairs; p += PASSING) {
				const int width = igemm_width(igemm,
							       first + o);
				const struct pair_panel panel = {
					scratch->x[p],
					scratch->dy[o / IGEMM_BLOCK][p],
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

WITH_BF16 void
ISA_NAME(igemm_differentiate_bf16)(const struct igemm *igemm,
				    const struct igemm_batch *batch,
				    const float *dy, float *dw, float *dbias,
				    void *scratch)
{
	const size_t all = (size_t)batch->count * (size_t)igemm->pixels;
	struct pair_scratch *space = scratch;
	float *biases = biases_begin(igemm, space->biases, dbias);
	struct rows rows = { .igemm = igemm, .batch = batch };

	for (; rows.first < all; rows.first += (size_t)rows.count) {
		rows.count = all - rows.first < 2 * PACKED ?
				     (int)(all - rows.first) : 2 * PACKED;
		for (int o = 0; o < igemm->outputs; o += BLOCKS * IGEMM_BLOCK)
			add_blocks(&rows, dy, o, dw, biases, space);
		biases_add(igemm, rows.first / (2 * PACKED),
			   all - rows.first - (size_t)rows.count, biases,
			   dbias);
	}
}

#endif
