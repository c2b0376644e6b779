/*
 * Weight gradient of the indirect GEMM in bf16 on AMX's tiles. A is x,
 * transposed; B is dy. The dy of PIXELS pixels and BLOCKS blocks of outputs
 * (192 KB) stay in the second level of the cache while all taps pass, VALUES at
 * a time.
 */
#include "backends/cpu/kernels/igemm/igemm_amx.h"

#define PIXELS MOST_CHUNK
#define PIXEL_STEPS (PIXELS / AMX_DEPTH)
#define BLOCKS 4
#define VALUES 128

struct tile_scratch {
	/* x: [k / 16][step]; dy: [output / 16][step]. */
	amx_tile x[VALUES / AMX_ROWS][PIXEL_STEPS];
	amx_tile dy[BLOCKS * IGEMM_BLOCK / AMX_COLUMNS][PIXEL_STEPS];
	float sums[SQUARE][SQUARE];
	const float *in[PIXELS];
	float biases[MOST_BIASES];
};

_Static_assert(sizeof(struct tile_scratch) <= IGEMM_SCRATCH,
	       "too much is packed at once");

/* Packs the dy of count outputs from first on, in pairs. */
static void pack_dy(const struct rows *rows, const float *dy, int first,
		    int count, struct tile_scratch *scratch)
{
	struct dy_walk walk = dy_from(rows, dy, rows->first);

	for (int i = 0; i < rows->count; i += 2) {
		const float *row = dy_next(&walk) + first;
		const float *next = i + 1 < rows->count ?
					    dy_next(&walk) + first : NULL;
		const int step = i / AMX_DEPTH;
		const int at = i % AMX_DEPTH * AMX_COLUMNS;

		for (int o = 0; o < count; o += AMX_COLUMNS)
			_mm512_store_si512(
				scratch->dy[o / AMX_COLUMNS][step] + at,
				amx_round_pair(
					load_lanes(row + o, count - o),
					load_lanes(next ? next + o : nothing,
						   count - o)));
	}
	for (int i = (rows->count + 1) / 2 * 2; i % AMX_DEPTH; i += 2)
		for (int o = 0; o < count; o += AMX_COLUMNS)
			_mm512_store_si512(scratch->dy[o / AMX_COLUMNS]
						      [i / AMX_DEPTH] +
					   i % AMX_DEPTH * AMX_COLUMNS,
					   _mm512_setzero_si512());
}

/* Adds the sums of dy in fp32. */
static void add_biases(const struct rows *rows, const float *dy, float *dbias)
{
	const int outputs = rows->igemm->outputs;

	for (int o = 0; o < outputs; o += LANES) {
		const int lanes = outputs - o;
		struct dy_walk walk = dy_from(rows, dy, rows->first);
		vec all = vec_set(0), sum = vec_set(0);

		for (int i = 0; i < rows->count; i++) {
			sum += load_lanes(dy_next(&walk) + o, lanes);
			if (i % BIAS_ROWS == BIAS_ROWS - 1) {
				all += sum;
				sum = vec_set(0);
			}
		}
		store_lanes(dbias + o,
			    load_lanes(dbias + o, lanes) + (all + sum), lanes);
	}
}

/* Moves lane j of rows[i] to lane i of rows[j]. */
INLINE void transpose(__m512i rows[16])
{
	__m512i next[16];

	UNROLL
	for (int i = 0; i < 16; i += 2) {
		next[i] = _mm512_unpacklo_epi32(rows[i], rows[i + 1]);
		next[i + 1] = _mm512_unpackhi_epi32(rows[i], rows[i + 1]);
	}
	UNROLL
	for (int i = 0; i < 16; i += 4) {
		rows[i] = _mm512_unpacklo_epi64(next[i], next[i + 2]);
		rows[i + 1] = _mm512_unpackhi_epi64(next[i], next[i + 2]);
		rows[i + 2] = _mm512_unpacklo_epi64(next[i + 1], next[i + 3]);
		rows[i + 3] = _mm512_unpackhi_epi64(next[i + 1], next[i + 3]);
	}
	UNROLL
	for (int i = 0; i < 4; i++) {
		next[i] = _mm512_shuffle_i32x4(rows[i], rows[i + 4], 0x88);
		next[i + 4] = _mm512_shuffle_i32x4(rows[i], rows[i + 4], 0xdd);
		next[i + 8] = _mm512_shuffle_i32x4(rows[i + 8], rows[i + 12],
						   0x88);
		next[i + 12] = _mm512_shuffle_i32x4(rows[i + 8], rows[i + 12],
						    0xdd);
	}
	UNROLL
	for (int i = 0; i < 8; i++) {
		rows[i] = _mm512_shuffle_i32x4(next[i], next[i + 8], 0x88);
		rows[i + 8] = _mm512_shuffle_i32x4(next[i], next[i + 8], 0xdd);
	}
}

/* Packs up to 32 pixels, left at most, of up to 16 values into a tile of A. */
INLINE void pack_x_tile(const float *const *in, int left, int k, int lanes,
			amx_tile *tile)
{
	__m512i pairs[AMX_ROWS];

	UNROLL
	for (int i = 0; i < AMX_ROWS; i++) {
		const float *row = 2 * i < left ? in[2 * i] + k : nothing;
		const float *next = 2 * i + 1 < left ? in[2 * i + 1] + k :
						       nothing;

		pairs[i] = amx_round_pair(load_lanes(row, lanes),
					  load_lanes(next, lanes));
	}
	transpose(pairs);
	UNROLL
	for (int i = 0; i < AMX_ROWS; i++)
		_mm512_store_si512(*tile + i * AMX_DEPTH, pairs[i]);
}

/* Packs values k .. k + count - 1 of a tap, of all pixels. */
static void pack_x(const struct rows *rows, int k, int count,
		   struct tile_scratch *scratch)
{
	for (int first = 0; first < rows->count; first += AMX_DEPTH) {
		const float *const *in = scratch->in + first;
		const int left = rows->count - first;

		for (int i = 0; i < count; i += AMX_ROWS) {
			amx_tile *tile = &scratch->x[i / AMX_ROWS]
						    [first / AMX_DEPTH];

			if (left >= AMX_DEPTH && count - i >= AMX_ROWS)
				pack_x_tile(in, AMX_DEPTH, k + i, AMX_ROWS,
					    tile);
			else
				pack_x_tile(in, left, k + i, count - i, tile);
		}
	}
}

/*
 * Adds SQUARE values by SQUARE outputs to dw; its rows are width floats apart.
 */
static void add_whole(struct tile_scratch *scratch, int tile, int column,
		      int steps, float *dw, size_t width)
{
	load_square(dw, width);
	add_steps(scratch->x[tile], scratch->x[tile + 1], scratch->dy[column],
		  scratch->dy[column + 1], steps, 2, 2);
	amx_store_square(dw, dw + AMX_ROWS * width, AMX_COLUMNS, width);
	amx_hold_memory();
}

/* Adds fewer values and columns, through scratch. */
static void add_some(struct tile_scratch *scratch, int tile, int column,
		     int steps, int values, int columns, float *dw,
		     size_t width)
{
	const int rows = values > AMX_ROWS ? 2 : 1;

	amx_zero();
	add_square(scratch->x[tile], scratch->x[tile + rows - 1],
		   scratch->dy[column], scratch->dy[column + columns - 1],
		   steps, rows, columns);
	amx_store_square(scratch->sums[0], scratch->sums[AMX_ROWS],
			 AMX_COLUMNS, SQUARE);
	amx_hold_memory();
	for (int i = 0; i < values; i++)
		for (int v = 0; v < columns; v++) {
			float *to = dw + (size_t)i * width + v * LANES;

			vec_store(to, vec_load(to) +
				      vec_load(scratch->sums[i] + v * LANES));
		}
}

/* Adds the packed values from run on (tap * depth + k) to the blocks from
 * output first on. */
static void add_run(const struct rows *rows, int first, int run, int count,
		    float *dw, struct tile_scratch *scratch)
{
	const struct igemm *igemm = rows->igemm;
	const size_t each = (size_t)igemm->taps * (size_t)igemm->depth;
	const int steps = (rows->count + AMX_DEPTH - 1) / AMX_DEPTH;
	const int left = igemm_padded(igemm) - first;
	const int past = left < BLOCKS * IGEMM_BLOCK ?
				 left : BLOCKS * IGEMM_BLOCK;

	for (int k = 0; k < count; k += SQUARE)
		for (int o = 0; o < past; o += SQUARE) {
			const int block = first + o / IGEMM_BLOCK *
							  IGEMM_BLOCK;
			const size_t width =
				(size_t)igemm_width(igemm, block);
			float *to = dw + each * (size_t)block +
				    (size_t)(run + k) * width +
				    (first + o - block);
			const int tile = k / AMX_ROWS, column = o / AMX_COLUMNS;

			if (count - k >= SQUARE && past - o >= SQUARE)
				add_whole(scratch, tile, column, steps, to,
					  width);
			else
				add_some(scratch, tile, column, steps,
					 count - k < SQUARE ? count - k :
							      SQUARE,
					 past - o > AMX_COLUMNS ? 2 : 1, to,
					 width);
		}
}

/* Adds some blocks, from output first on. */
static void add_blocks(const struct rows *rows, const float *dy, int first,
		       float *dw, struct tile_scratch *scratch)
{
	const struct igemm *igemm = rows->igemm;
	const int depth = igemm->depth;
	const int left = igemm->outputs - first;
	const int past = left < BLOCKS * IGEMM_BLOCK ?
				 left : BLOCKS * IGEMM_BLOCK;

	pack_dy(rows, dy, first, past, scratch);
	for (int run = 0; run < igemm->taps * depth;) {
		const int k = run % depth;
		const int count = depth - k < VALUES ? depth - k : VALUES;

		if (k == 0)
			VEC_NAME(igemm_find_in)(rows, run / depth,
						 scratch->in);
		pack_x(rows, k, count, scratch);
		amx_hold_memory();
		add_run(rows, first, run, count, dw, scratch);
		run += count;
	}
}

void ISA_NAME(igemm_differentiate_tiles)(const struct igemm *igemm,
					  const struct igemm_batch *batch,
					  const float *dy, float *dw,
					  float *dbias, void *scratch)
{
	const size_t all = (size_t)batch->count * (size_t)igemm->pixels;
	struct tile_scratch *space = scratch;
	float *biases = biases_begin(igemm, space->biases, dbias);
	struct rows rows = { .igemm = igemm, .batch = batch };

	amx_begin();
	for (; rows.first < all; rows.first += (size_t)rows.count) {
		rows.count = all - rows.first < PIXELS ?
				     (int)(all - rows.first) : PIXELS;
		for (int o = 0; o < igemm->outputs; o += BLOCKS * IGEMM_BLOCK)
			add_blocks(&rows, dy, o, dw, space);
		if (dbias)
			add_biases(&rows, dy, biases);
		biases_add(igemm, rows.first / PIXELS,
			   all - rows.first - (size_t)rows.count, biases,
			   dbias);
	}
	amx_end();
}
