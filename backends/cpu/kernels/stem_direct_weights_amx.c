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
#include "backends/cpu/kernels/simd_masks.h"
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

/* What becomes dy, and the slopes by the bias: two rows of windows next. */
struct spread {
	/* Of o in sample n, windows x .. x + count - 1 of two rows; none is
	 * kept of a dropped plane. */
	const float *slopes;
	const uint8_t *winners;
	uint8_t *to;
	int kept, count, pairs_left; /* of rows */
	int o, n, x;
	vec sum; /* of o's slopes, before scale */
	const struct stem_shape *shape;
	const struct stem_batch *batch;
	const float *all_slopes;
	const uint8_t *all_winners;
	uint8_t *all;
	struct stem_pairs pairs;
	int columns; /* windows of a row */
	float *bias;
};

/* Bytes of dy of a block of outputs. */
INLINE size_t slopes_block(const struct stem_pairs *pairs)
{
	return (size_t)pairs->height * pairs->slopes;
}

/* All rows of o, n and x. */
static void spread_start(struct spread *spread)
{
	const struct stem_pairs *pairs = &spread->pairs;
	const int plane = spread->n * spread->shape->outputs + spread->o;
	const uint8_t *keep = spread->batch->keep;
	const int rest = spread->columns - spread->x;
	const size_t at = (size_t)(plane * stem_plane(spread->shape) +
				   spread->x);
	const int column = spread->n * pairs->width + 2 * spread->x;

	spread->slopes = spread->all_slopes + at;
	spread->winners = spread->all_winners + at;
	spread->to = spread->all +
		     (size_t)(spread->o / AMX_ROWS) * slopes_block(pairs) +
		     (size_t)(spread->o % AMX_ROWS) *
			     (pairs->slopes / AMX_ROWS) +
		     (size_t)column * sizeof(uint16_t);
	spread->count = rest < LANES ? rest : LANES;
	spread->kept = keep && !keep[plane] ? 0 : spread->count;
	spread->pairs_left = pairs->height / STEM_TILE;
}

static struct spread spread_begin(const struct stem_shape *shape,
				  const struct stem_batch *batch,
				  const float *slopes, const uint8_t *winners,
				  uint8_t *to, float *slopes_by_bias)
{
	struct spread spread = {
		.shape = shape, .batch = batch,
		.all_slopes = slopes, .all_winners = winners, .all = to,
		.pairs = stem_pairs_of(shape, batch->count),
		.bias = slopes_by_bias,
	};
	const struct stem_pairs *pairs = &spread.pairs;

	spread.columns = pairs->width / 2;
	if (batch->count * pairs->width % AMX_DEPTH ||
	    shape->outputs % AMX_ROWS)
		memset(to, 0, (size_t)pairs->outputs * slopes_block(pairs));
	spread_start(&spread);
	return spread;
}

/* Goes on to what is behind the rows of o, n and x. */
static void spread_turn(struct spread *spread)
{
	spread->x += LANES;
	if (spread->x >= spread->columns) {
		spread->x = 0;
		spread->n++;
	}
	if (spread->n == spread->batch->count) {
		spread->n = 0;
		spread->bias[spread->o++] +=
			spread->batch->scale * vec_sum(spread->sum);
		spread->sum = (vec){ 0 };
	}
	if (spread->o < spread->shape->outputs)
		spread_start(spread);
}

/* Two rows of windows: of a dropped plane nothing is read, and 0 written. */
INLINE void spread_more(struct spread *spread)
{
	const float *slopes = spread->slopes;
	const uint8_t *winners = spread->winners;
	const vec scale = vec_set(spread->batch->scale);
	const int kept = spread->kept;
	const size_t row = spread->pairs.slopes;
	uint8_t *to = spread->to;
	vec sum = spread->sum;

	UNROLL for (int i = 0; i < 2; i++) {
		const vec slope = vec_load_first(slopes, kept);
		lanes_int rows[2];

		sum += slope;
		stem_slopes_place(scale * slope,
				  bytes_load_first(winners, kept), rows);
		vec_store_first((float *)(void *)to, (vec)rows[0],
				spread->count);
		vec_store_first((float *)(void *)(to + row), (vec)rows[1],
				spread->count);
		to += 2 * row;
		slopes += spread->columns;
		winners += spread->columns;
	}
	spread->to = to;
	spread->sum = sum;
	spread->slopes = slopes;
	spread->winners = winners;
	if (--spread->pairs_left == 0)
		spread_turn(spread);
}

/* The next one if it is of an output below this one. */
INLINE void spread_below(struct spread *spread, int output)
{
	if (spread->o < output)
		spread_more(spread);
}

/* All outputs below this one. */
static void spread_until(struct spread *spread, int output)
{
	if (output > spread->shape->outputs)
		output = spread->shape->outputs;
	while (spread->o < output)
		spread_more(spread);
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
static void column_add(const struct column *column, struct spread *spread,
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
		spread_below(spread, output);
		row_add_354(slopes + slopes_row, column->line,
			    planes + planes_row);
		spread_below(spread, output);
		row_add_435(slopes + 2 * slopes_row, column->line,
			    planes + 2 * planes_row);
		spread_below(spread, output);
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
			   struct spread *spread, float *sums)
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
				(size_t)o * slopes_block(pairs) +
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
	struct spread spread;
	struct space space;

	if (batch->count == 0)
		return;
	space_cut(&space, shape, batch->count, scratch);
	ISA_NAME(stem_pairs_fill)(shape, weights, batch, space.turned,
				  space.planes);
	spread = spread_begin(shape, batch, slopes, winners, space.slopes,
			      slopes_by_bias);
	amx_begin();
	for (int o = 0; o < pairs.outputs; o++) {
		spread_until(&spread, (o + 1) * AMX_ROWS);
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
