/*
 * The slopes by the stem's second convolution, directly; formula and layout of
 * the operands are in stem_direct_weights_amx.h.
 *
 *   float sums[block of outputs][block of planes][s][r][16][16]
 *
 * Blocking: three sums, those of taps r, stay in tiles while the rows go by.
 * Each row's tile of a is multiplied by those of three rows of dy, two of which
 * are there already: two tiles are loaded for three products. Meanwhile four
 * rows of the next block's dy are made. By itself, 200 instructions of
 * vectors were hidden by nine products if a third came after each three, and
 * 30 of their 100 cycles were if all came behind the nine.
 *
 * Ceiling: a product of 16 x 16 x 32 takes 18.6 cycles of a Xeon's 3.6 GHz
 * where few of the slopes are not 0, and 26 with numbers of full length, as
 * tiles slow the clock: 0.86 ms for an iteration of mnist, 128 samples. Alone,
 * all products with their loads take 1.07 ms, the planes between 0.42, and dy
 * 0.41; all of it takes 1.8 to 2.0.
 */
#include "backends/cpu/kernels/stem_direct_weights_amx.h"

#ifdef __AMX_BF16__
#include "backends/cpu/kernels/scratch.h"
#include "backends/cpu/kernels/stem_direct_slopes_amx.h"

#define SQUARE (AMX_ROWS * AMX_COLUMNS)
#define COLUMN (STEM_SIDE * SQUARE) /* floats of the sums of taps r */

/* What is in the scratch. */
struct space {
	uint8_t *slopes; /* dy */
	uint8_t *planes; /* a */
	float *turned;	 /* see stem_pairs_fill() */
};

/* Cuts scratch; returns the bytes that this takes. */
static size_t space_cut(struct space *space, const struct stem_shape *shape,
			int count, float *scratch)
{
	const struct stem_pairs pairs = stem_pairs_of(shape, count);
	size_t used = 0;

	space->slopes = scratch_take(scratch, &used,
				     (size_t)(pairs.outputs * pairs.height) *
					     pairs.slopes);
	space->planes = scratch_take(scratch, &used,
				     (size_t)(pairs.middle * STEM_SIDE) *
					     pairs.tap);
	space->turned = scratch_take(scratch, &used,
				     stem_pairs_turned(shape) * sizeof(float));
	return used;
}

size_t ISA_NAME(stem_direct_weights_scratch)(const struct stem_shape *shape)
{
	struct space space;

	return space_cut(&space, shape, stem_group(shape, LANES), NULL) /
	       sizeof(float);
}

size_t ISA_NAME(stem_direct_sums)(const struct stem_shape *shape)
{
	const struct stem_pairs pairs = stem_pairs_of(shape, 1);

	return (size_t)(pairs.outputs * pairs.middle * STEM_SIDE) * COLUMN;
}

/* A column of tiles: rows of dy and of a. */
struct column {
	const uint8_t *slopes, *planes;
	size_t slopes_row, planes_row; /* bytes */
	size_t line; /* of dy, from an output to the next */
	int rows;    /* of dy */
};

/* A row of a, and the newest, the one before and the one before that of dy. */
INLINE void row_add_534(const uint8_t *slopes, size_t line,
			const uint8_t *planes)
{
	_tile_loadd(5, slopes, line);
	_tile_loadd(6, planes, AMX_ROW);
	_tile_dpbf16ps(0, 5, 6);
	_tile_dpbf16ps(1, 4, 6);
	_tile_dpbf16ps(2, 3, 6);
}

INLINE void row_add_354(const uint8_t *slopes, size_t line,
			const uint8_t *planes)
{
	_tile_loadd(3, slopes, line);
	_tile_loadd(7, planes, AMX_ROW);
	_tile_dpbf16ps(0, 3, 7);
	_tile_dpbf16ps(1, 5, 7);
	_tile_dpbf16ps(2, 4, 7);
}

INLINE void row_add_435(const uint8_t *slopes, size_t line,
			const uint8_t *planes)
{
	_tile_loadd(4, slopes, line);
	_tile_loadd(6, planes, AMX_ROW);
	_tile_dpbf16ps(0, 4, 6);
	_tile_dpbf16ps(1, 3, 6);
	_tile_dpbf16ps(2, 5, 6);
}

/* The first two rows, of which dy has no rows above. */
INLINE void rows_begin(const struct column *column)
{
	_tile_loadd(3, column->slopes, column->line);
	_tile_loadd(6, column->planes, AMX_ROW);
	_tile_dpbf16ps(0, 3, 6);
	_tile_loadd(4, column->slopes + column->slopes_row, column->line);
	_tile_loadd(7, column->planes + column->planes_row, AMX_ROW);
	_tile_dpbf16ps(0, 4, 7);
	_tile_dpbf16ps(1, 3, 7);
}

/* The last two, of which dy has none below. */
INLINE void rows_end(const struct column *column, const uint8_t *slopes,
		     const uint8_t *planes)
{
	_tile_loadd(3, slopes - 2 * column->slopes_row, column->line);
	_tile_loadd(4, slopes - column->slopes_row, column->line);
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
static void column_add(const struct column *column, struct stem_spread *spread,
		       int output, float *sums)
{
	const uint8_t *slopes = column->slopes + 2 * column->slopes_row;
	const uint8_t *planes = column->planes + 2 * column->planes_row;
	const size_t slopes_row = column->slopes_row;
	const size_t planes_row = column->planes_row;
	int rest = column->rows - 2;

	_tile_loadd(0, sums, AMX_ROW);
	_tile_loadd(1, sums + SQUARE, AMX_ROW);
	_tile_loadd(2, sums + 2 * SQUARE, AMX_ROW);
	rows_begin(column);
	for (; rest >= STEM_SIDE; rest -= STEM_SIDE) {
		row_add_534(slopes, column->line, planes);
		stem_spread_below(spread, output);
		row_add_354(slopes + slopes_row, column->line,
			    planes + planes_row);
		stem_spread_below(spread, output);
		row_add_435(slopes + 2 * slopes_row, column->line,
			    planes + 2 * planes_row);
		stem_spread_below(spread, output);
		slopes += STEM_SIDE * slopes_row;
		planes += STEM_SIDE * planes_row;
	}
	if (rest > 0)
		row_add_534(slopes, column->line, planes);
	if (rest > 1)
		row_add_354(slopes + slopes_row, column->line,
			    planes + planes_row);
	rows_end(column, slopes + (size_t)rest * slopes_row,
		 planes + (size_t)rest * planes_row);
	_tile_stored(0, sums, AMX_ROW);
	_tile_stored(1, sums + SQUARE, AMX_ROW);
	_tile_stored(2, sums + 2 * SQUARE, AMX_ROW);
}

/* All products of a block of outputs, while the next one's dy is made. */
static void block_multiply(const struct space *space,
			   const struct stem_pairs *pairs, int o,
			   struct stem_spread *spread, float *sums)
{
	const int taps = pairs->middle * STEM_SIDE;
	const int most = (o + 2) * AMX_ROWS;
	const int outputs = spread->shape->outputs;
	const int output = most < outputs ? most : outputs;
	struct column column = {
		.slopes_row = pairs->slopes, .planes_row = pairs->planes,
		.line = pairs->slopes / AMX_ROWS, .rows = pairs->height,
	};

	for (int j = 0; j < pairs->tiles; j++) {
		column.slopes = space->slopes +
				(size_t)o * stem_slopes_block(pairs) +
				(size_t)j * AMX_ROW;
		column.planes = space->planes + (size_t)j * sizeof(amx_tile);
		for (int t = 0; t < taps; t++) {
			column_add(&column, spread, output,
				   sums + (o * taps + t) * COLUMN);
			column.planes += pairs->tap;
		}
	}
}

void ISA_NAME(stem_direct_weights)(const struct stem_shape *shape,
				   const struct stem_weights *weights,
				   const struct stem_batch *batch,
				   const float *slopes, const uint8_t *winners,
				   float *sums, float *slopes_by_bias,
				   float *scratch)
{
	const struct stem_pairs pairs = stem_pairs_of(shape, batch->count);
	struct stem_spread spread;
	struct space space;

	if (batch->count == 0)
		return;
	space_cut(&space, shape, batch->count, scratch);
	ISA_NAME(stem_pairs_fill)(shape, weights, batch, space.turned,
				  space.planes);
	ISA_NAME(stem_spread_begin)(&spread, shape, batch, slopes, winners,
				    space.slopes, slopes_by_bias);
	amx_begin();
	for (int o = 0; o < pairs.outputs; o++) {
		stem_spread_until(&spread, (o + 1) * AMX_ROWS);
		amx_hold_memory();
		block_multiply(&space, &pairs, o, &spread, sums);
	}
	amx_end();
}

void ISA_NAME(stem_direct_weights_finish)(const struct stem_shape *shape,
					  const float *sums,
					  float *slopes_by_weights)
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
				float *to = slopes_by_weights +
					    (o * STEM_TAPS + t) *
						    shape->middle + i;

				vec_store_first(to, vec_load_first(to, count) +
						vec_load(sums + at * SQUARE +
							 o % AMX_ROWS *
								 LANES),
						count);
			}
}
#endif
