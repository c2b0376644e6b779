/*
 * The weight gradient of the stem's second convolution, directly; formula and
 * layout of the operands are in stem_direct_pairs_amx.h.
 *
 *   float sums[block of outputs][block of planes][s][r][16][16]
 *
 * Blocking: three sums, of the taps r, stay in tiles while the rows go by. Each
 * row's tile of a is multiplied by the tiles of three rows of dz; two of these
 * are there already, so that two tiles are loaded for three products. Meanwhile
 * four rows of the next block's dz are made. Nine products hid 200 instructions
 * of vectors if a third came after each three products, but only 30 of their
 * 100 cycles if all came after the nine.
 *
 * Ceiling: a product of 16 x 16 x 32 takes 18.6 cycles of a Xeon's 3.6 GHz if
 * few of dz are not 0, and 26 with numbers of full length, as tiles slow the
 * clock.
 */
#include "backends/cpu/kernels/stem_direct/stem_direct_pairs_amx.h"
#include "backends/cpu/kernels/simd/scratch.h"
#include "backends/cpu/kernels/stem_direct/stem_direct_unpool_amx.h"

#define SQUARE (AMX_ROWS * AMX_COLUMNS)
#define COLUMN (STEM_SIDE * SQUARE) /* floats of the sums of taps r */

/* Layout of the scratch. */
struct amx_space {
	uint8_t *dz;
	uint8_t *planes; /* a */
	float *transposed; /* see stem_pairs_fill() */
};

/* Cuts scratch; returns the bytes that this takes. */
static size_t space_cut(struct amx_space *space, const struct stem_shape *shape,
			int count, float *scratch)
{
	const struct stem_pairs pairs = stem_pairs_of(shape, count);
	size_t used = 0;

	space->dz = scratch_take(scratch, &used,
				 (size_t)(pairs.outputs * pairs.height) *
					 pairs.dz_row);
	space->planes = scratch_take(scratch, &used,
				     (size_t)(pairs.middle * STEM_SIDE) *
					     pairs.tap);
	space->transposed =
		scratch_take(scratch, &used,
			     stem_pairs_transposed(shape) * sizeof(float));
	return used;
}

size_t ISA_NAME(stem_direct_weights_scratch)(const struct stem_shape *shape)
{
	struct amx_space space;

	return space_cut(&space, shape, stem_group(shape, LANES), NULL) /
	       sizeof(float);
}

size_t ISA_NAME(stem_direct_sums)(const struct stem_shape *shape)
{
	const struct stem_pairs pairs = stem_pairs_of(shape, 1);

	return (size_t)(pairs.outputs * pairs.middle * STEM_SIDE) * COLUMN;
}

/* A column of tiles: rows of dz and of a. */
struct tile_column {
	const uint8_t *dz, *planes;
	size_t dz_row, planes_row; /* bytes */
	size_t line; /* of dz, from an output to the next */
	int rows;    /* of dz */
};

/* Adds a row of a by the newest three rows of dz, newest first. */
INLINE void row_add_534(const uint8_t *dz, size_t line,
			const uint8_t *planes)
{
	_tile_loadd(5, dz, line);
	_tile_loadd(6, planes, AMX_ROW);
	_tile_dpbf16ps(0, 5, 6);
	_tile_dpbf16ps(1, 4, 6);
	_tile_dpbf16ps(2, 3, 6);
}

INLINE void row_add_354(const uint8_t *dz, size_t line,
			const uint8_t *planes)
{
	_tile_loadd(3, dz, line);
	_tile_loadd(7, planes, AMX_ROW);
	_tile_dpbf16ps(0, 3, 7);
	_tile_dpbf16ps(1, 5, 7);
	_tile_dpbf16ps(2, 4, 7);
}

INLINE void row_add_435(const uint8_t *dz, size_t line,
			const uint8_t *planes)
{
	_tile_loadd(4, dz, line);
	_tile_loadd(6, planes, AMX_ROW);
	_tile_dpbf16ps(0, 4, 6);
	_tile_dpbf16ps(1, 3, 6);
	_tile_dpbf16ps(2, 5, 6);
}

/* Adds the first two rows, above which dz has no rows. */
INLINE void rows_begin(const struct tile_column *column)
{
	_tile_loadd(3, column->dz, column->line);
	_tile_loadd(6, column->planes, AMX_ROW);
	_tile_dpbf16ps(0, 3, 6);
	_tile_loadd(4, column->dz + column->dz_row, column->line);
	_tile_loadd(7, column->planes + column->planes_row, AMX_ROW);
	_tile_dpbf16ps(0, 4, 7);
	_tile_dpbf16ps(1, 3, 7);
}

/* Adds the last two rows, below which dz has none. */
INLINE void rows_end(const struct tile_column *column, const uint8_t *dz,
		     const uint8_t *planes)
{
	_tile_loadd(3, dz - 2 * column->dz_row, column->line);
	_tile_loadd(4, dz - column->dz_row, column->line);
	_tile_loadd(6, planes, AMX_ROW);
	_tile_dpbf16ps(1, 4, 6);
	_tile_dpbf16ps(2, 3, 6);
	_tile_loadd(7, planes + column->planes_row, AMX_ROW);
	_tile_dpbf16ps(2, 4, 7);
}

/*
 * Adds a column's products to sums[r][16][16], and makes of the outputs below
 * this one what there is time for.
 */
static void column_add(const struct tile_column *column,
		       struct stem_unpool *unpool, int output, float *sums)
{
	const uint8_t *dz = column->dz + 2 * column->dz_row;
	const uint8_t *planes = column->planes + 2 * column->planes_row;
	const size_t dz_row = column->dz_row;
	const size_t planes_row = column->planes_row;
	int rest = column->rows - 2;

	_tile_loadd(0, sums, AMX_ROW);
	_tile_loadd(1, sums + SQUARE, AMX_ROW);
	_tile_loadd(2, sums + 2 * SQUARE, AMX_ROW);
	rows_begin(column);
	for (; rest >= STEM_SIDE; rest -= STEM_SIDE) {
		row_add_534(dz, column->line, planes);
		stem_unpool_below(unpool, output);
		row_add_354(dz + dz_row, column->line,
			    planes + planes_row);
		stem_unpool_below(unpool, output);
		row_add_435(dz + 2 * dz_row, column->line,
			    planes + 2 * planes_row);
		stem_unpool_below(unpool, output);
		dz += STEM_SIDE * dz_row;
		planes += STEM_SIDE * planes_row;
	}
	if (rest > 0)
		row_add_534(dz, column->line, planes);
	if (rest > 1)
		row_add_354(dz + dz_row, column->line,
			    planes + planes_row);
	rows_end(column, dz + (size_t)rest * dz_row,
		 planes + (size_t)rest * planes_row);
	_tile_stored(0, sums, AMX_ROW);
	_tile_stored(1, sums + SQUARE, AMX_ROW);
	_tile_stored(2, sums + 2 * SQUARE, AMX_ROW);
}

/* All products of a block of outputs, while the next one's dz is made. */
static void block_multiply(const struct amx_space *space,
			   const struct stem_pairs *pairs, int o,
			   struct stem_unpool *unpool, float *sums)
{
	const int taps = pairs->middle * STEM_SIDE;
	const int most = (o + 2) * AMX_ROWS;
	const int outputs = unpool->shape->outputs;
	const int output = most < outputs ? most : outputs;
	struct tile_column column = {
		.dz_row = pairs->dz_row, .planes_row = pairs->planes,
		.line = pairs->dz_row / AMX_ROWS, .rows = pairs->height,
	};

	for (int j = 0; j < pairs->tiles; j++) {
		column.dz = space->dz +
			    (size_t)o * stem_dz_block(pairs) +
			    (size_t)j * AMX_ROW;
		column.planes = space->planes + (size_t)j * sizeof(amx_tile);
		for (int t = 0; t < taps; t++) {
			column_add(&column, unpool, output,
				   sums + (o * taps + t) * COLUMN);
			column.planes += pairs->tap;
		}
	}
}

void ISA_NAME(stem_direct_weights)(const struct stem_shape *shape,
				   const struct stem_weights *weights,
				   const struct stem_batch *batch,
				   const float *dy, const uint8_t *winners,
				   float *sums, float *dbias,
				   float *scratch)
{
	const struct stem_pairs pairs = stem_pairs_of(shape, batch->count);
	struct stem_unpool unpool;
	struct amx_space space;

	if (batch->count == 0)
		return;
	space_cut(&space, shape, batch->count, scratch);
	ISA_NAME(stem_pairs_fill)(shape, weights, batch, space.transposed,
				  space.planes);
	ISA_NAME(stem_unpool_begin)(&unpool, shape, batch, dy, winners,
				    space.dz, dbias);
	amx_begin();
	for (int o = 0; o < pairs.outputs; o++) {
		stem_unpool_until(&unpool, (o + 1) * AMX_ROWS);
		amx_hold_memory();
		block_multiply(&space, &pairs, o, &unpool, sums);
	}
	amx_end();
}

void ISA_NAME(stem_direct_weights_finish)(const struct stem_shape *shape,
					  const float *sums,
					  float *dw)
{
	const struct stem_pairs pairs = stem_pairs_of(shape, 1);

	for (int o = 0; o < shape->outputs; o++)
		for (int i = 0; i < shape->middle; i += AMX_COLUMNS)
			for (int t = 0; t < STEM_TAPS; t++) {
				const int rest = shape->middle - i;
				const int count = rest < LANES ? rest : LANES;
				const int block = (o / AMX_ROWS * pairs.middle +
						   i / AMX_COLUMNS) * STEM_TAPS;
				const int at = block + t % 3 * 3 + t / 3;
				float *to = dw +
					    (o * STEM_TAPS + t) *
						    shape->middle + i;

				vec_store_first(to, vec_load_first(to, count) +
						vec_load(sums + at * SQUARE +
							 o % AMX_ROWS *
								 LANES),
						count);
			}
}
