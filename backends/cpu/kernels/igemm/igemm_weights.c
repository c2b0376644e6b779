/*
 * Weight gradient of the indirect GEMM (igemm.h) in fp32:
 *
 *   dw[t][k][o] += sum over p of in[table[t][p] + k] dy[p][o]
 *
 * A tile of values of a tap by vectors of outputs keeps its sums in registers
 * while pixels pass. With AVX-512, 6 values x 4 vectors take 10 loads, three
 * loads of addresses and two prefetches for 24 products.
 *
 * Blocking: the dy of up to PACKED pixels and one block of outputs are packed
 * (128 KB) and stay in the second level of the cache while all taps pass.
 * Unpacked, their rows would compete for few of its sets. PIXELS of them (24
 * KB) pass at a time from the first level, and dw is read and written once per
 * PIXELS.
 *
 * Rows are too far apart for the hardware to prefetch. A tile therefore
 * prefetches the input of the next tile, and the tiles of the first tap also
 * prefetch the dy to be packed next. Narrow tiles (10 loads for 12 products)
 * have no time for the latter: with AVX2 they became a third slower.
 */
#include "backends/cpu/kernels/igemm/igemm_kernels.h"

/* Pixels whose dy are packed together: per pixel a row of a block, the place of
 * its input, and the dy to prefetch. */
#define PACKED 512
#define PIXELS 96
#define AHEAD 8 /* pixels */
#define FEW_LOADS (LANES < 16) /* narrow tiles: no prefetch of dy */

struct weights_scratch {
	float packed[PACKED * IGEMM_BLOCK];
	const float *in[PACKED + PIXELS]; /* also of some pixels that follow */
	const float *next[PACKED];
	float biases[MOST_BIASES];
};

_Static_assert(sizeof(struct weights_scratch) <= IGEMM_SCRATCH,
	       "too much is packed at once");

/* One tap, and some of the packed pixels. */
struct pixel_panel {
	const float *rows; /* [pixels][width] */
	const float *const *in;
	const float *const *in_next; /* of the pixels after these */
	const float *const *dy_next; /* in again = nothing to prefetch */
	int pixels;
	int depth;
	size_t width;
};

/* values and vectors are constants. */
INLINE void tile(const struct pixel_panel *panel, int number, int k, int values,
		 int vectors, float *dw)
{
	const int is_last = k + values >= panel->depth;
	const float *const *ahead = is_last ? panel->in_next : panel->in;
	const int at = is_last ? 0 : k + 2 * values;
	const int has_line = number * LINE < (int)panel->width;
	const float *const *dy_next = has_line ? panel->dy_next : panel->in;
	const int line = has_line ? number * LINE : 0;
	const float *row = panel->rows;
	vec sums[MOST_ROWS][MOST_VECTORS];

	UNROLL
	for (int i = 0; i < values * vectors; i++)
		sums[i / vectors][i % vectors] = vec_set(0);
	for (int p = 0; p < panel->pixels; p++, row += panel->width) {
		const float *in = panel->in[p] + k;
		vec dy[MOST_VECTORS];

		if (FEW_LOADS) {
			fetch(in, 2 * values);
		} else {
			fetch(ahead[p], at);
			fetch_early(dy_next[p], line);
		}
		UNROLL
		for (int v = 0; v < vectors; v++)
			dy[v] = vec_load(row + v * LANES);
		UNROLL
		for (int i = 0; i < values; i++) {
			const vec x = vec_hold(vec_set(in[i]));

			UNROLL
			for (int v = 0; v < vectors; v++)
				sums[i][v] += x * dy[v];
		}
	}
	UNROLL
	for (int i = 0; i < values; i++)
		UNROLL
		for (int v = 0; v < vectors; v++) {
			float *to = dw + (size_t)i * panel->width + v * LANES;

			vec_store(to, vec_load(to) + sums[i][v]);
		}
}

/* Adds all values of a tap, in tiles as equal as possible. */
INLINE void tiles(const struct pixel_panel *panel, int most, int vectors,
		  float *dw)
{
	const int depth = panel->depth, count = (depth + most - 1) / most;

	for (int k = 0, number = 0; k < depth; number++) {
		const int left = count - number;
		const int values = (depth - k + left - 1) / left;

		UNROLL
		for (int n = 1; n <= most; n++)
			if (n == values)
				tile(panel, number, k, n, vectors,
				     dw + (size_t)k * panel->width);
		k += values;
	}
}

static void add_tap(const struct pixel_panel *panel, int vectors, float *dw)
{
#if LANES == 16
	if (vectors == 4)
		tiles(panel, 6, 4, dw);
	else if (vectors == 3)
		tiles(panel, 8, 3, dw);
	else if (vectors == 2)
		tiles(panel, 12, 2, dw);
	else
		tiles(panel, 12, 1, dw);
#else
	(void)vectors; /* a block has one pass at least */
	tiles(panel, MOST_ROWS, MOST_VECTORS, dw);
#endif
}

/* Packs the dy of a block's outputs; adds their sums to dbias unless NULL. */
static void pack(const struct rows *rows, const float *dy, int first, int width,
		 float *packed, float *dbias)
{
	const struct igemm *igemm = rows->igemm;
	struct dy_walk walk = dy_from(rows, dy, rows->first);
	struct dy_walk next = dy_from(
		rows, dy, rows->first + (rows->count > AHEAD ? AHEAD : 0));
	vec sums[IGEMM_BLOCK / LANES] = { { 0 } };
	vec all[IGEMM_BLOCK / LANES] = { { 0 } };

	for (int r = 0; r < rows->count; r++, packed += width) {
		const float *row = dy_next(&walk) + first;
		const float *ahead = r + AHEAD < rows->count ?
					     dy_next(&next) + first : row;

		for (int o = 0; o < width; o += LANES) {
			const vec value = load_lanes(
				row + o, igemm->outputs - first - o);

			fetch(ahead, o);
			vec_store(packed + o, value);
			if (dbias)
				sums[o / LANES] += value;
		}
		for (int v = 0; r % BIAS_ROWS == BIAS_ROWS - 1 &&
				v < IGEMM_BLOCK / LANES; v++) {
			all[v] += sums[v];
			sums[v] = vec_set(0);
		}
	}
	for (int o = 0; dbias && o < width; o += LANES) {
		const int lanes = igemm->outputs - first - o;
		float *to = dbias + first + o;

		store_lanes(to, load_lanes(to, lanes) +
				(all[o / LANES] + sums[o / LANES]), lanes);
	}
}

void VEC_NAME(igemm_find_in)(const struct rows *rows, int tap,
			      const float **in)
{
	const struct igemm *igemm = rows->igemm;
	const size_t pixels = (size_t)igemm->pixels;
	const int32_t *table = igemm->table + (size_t)tap * pixels;
	const float *from = rows->batch->in + rows->first / pixels *
						      rows->batch->in_sample;
	size_t pixel = rows->first % pixels;

	for (int r = 0; r < rows->count; r++) {
		in[r] = table[pixel] < 0 ? igemm->zeros : from + table[pixel];
		if (++pixel == pixels) {
			pixel = 0;
			from += rows->batch->in_sample;
		}
	}
}

/* Finds the dy to be packed after a block's: the next block of the same pixels,
 * or the first block of the next pixels. */
static void find_next(const struct rows *rows, const float *dy, int first,
		      const float **next)
{
	const struct igemm *igemm = rows->igemm;
	const size_t all = (size_t)rows->batch->count * (size_t)igemm->pixels;
	const int is_last = first + IGEMM_BLOCK >= igemm->outputs;
	const size_t from = rows->first + (is_last ? (size_t)rows->count : 0);
	const size_t block = is_last ? 0 : (size_t)first + IGEMM_BLOCK;
	struct dy_walk walk = dy_from(rows, dy, from);

	for (size_t r = 0; r < (size_t)rows->count; r++)
		next[r] = from + r < all ? dy_next(&walk) + block : dy;
}

/* Adds a tap's values of all packed pixels, by a block of width outputs. */
static void add_pixels(const struct rows *rows, int width, int is_first,
		       const struct weights_scratch *scratch, float *dw)
{
	for (int p = 0; p < rows->count; p += PIXELS) {
		const int left = rows->count - p;
		const int pixels = left < PIXELS ? left : PIXELS;

		for (int o = 0; o < width; o += PASS) {
			const int lanes = width - o < PASS ? width - o : PASS;
			const struct pixel_panel panel = {
				.rows = scratch->packed +
					(size_t)p * (size_t)width + o,
				.in = scratch->in + p,
				.in_next = scratch->in + p + pixels,
				.dy_next = is_first ? scratch->next + p :
						      scratch->in + p,
				.pixels = pixels,
				.depth = rows->igemm->depth,
				.width = (size_t)width,
			};

			add_tap(&panel, lanes / LANES, dw + o);
		}
	}
}

static void add_block(const struct rows *rows, const float *dy, int first,
		      float *dw, float *dbias, struct weights_scratch *scratch)
{
	const struct igemm *igemm = rows->igemm;
	const int width = igemm_width(igemm, first);
	const size_t all = (size_t)rows->batch->count * (size_t)igemm->pixels;
	const size_t left = all - rows->first;
	struct rows known = *rows;

	known.count = left < PACKED + PIXELS ? (int)left : PACKED + PIXELS;
	pack(rows, dy, first, width, scratch->packed, dbias);
	if (!FEW_LOADS)
		find_next(rows, dy, first, scratch->next);
	for (int t = 0; t < igemm->taps; t++) {
		VEC_NAME(igemm_find_in)(&known, t, scratch->in);
		for (int r = known.count; r < PACKED + PIXELS; r++)
			scratch->in[r] = scratch->in[0];
		add_pixels(rows, width, t == 0, scratch, dw);
		dw += (size_t)igemm->depth * (size_t)width;
	}
}

void VEC_NAME(igemm_differentiate)(const struct igemm *igemm,
				    const struct igemm_batch *batch,
				    const float *dy, float *dw, float *dbias,
				    void *scratch)
{
	const size_t all = (size_t)batch->count * (size_t)igemm->pixels;
	const size_t each = (size_t)igemm->taps * (size_t)igemm->depth;
	struct weights_scratch *space = scratch;
	float *biases = biases_begin(igemm, space->biases, dbias);
	struct rows rows = { .igemm = igemm, .batch = batch };

	for (; rows.first < all; rows.first += (size_t)rows.count) {
		rows.count = all - rows.first < PACKED ?
				     (int)(all - rows.first) : PACKED;
		for (int o = 0; o < igemm->outputs; o += IGEMM_BLOCK)
			add_block(&rows, dy, o, dw + each * (size_t)o, biases,
				  space);
		biases_add(igemm, rows.first / PACKED,
			   all - rows.first - (size_t)rows.count, biases,
			   dbias);
	}
}
