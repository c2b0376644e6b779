/*
 * The products of the slopes by the stem's second convolution, of bf16 on AMX's
 * tiles:
 *
 *   dU[p][o][i] += sum over steps and their k of dM[p][o][k] V[p][i][k]
 *
 * A block is 32 planes o by 32 planes i: 2 x 2 tiles of sums, which stay while
 * a call's steps are added up, and are then added to those of the batch, in the
 * second cache. So is V (stem_data_amx.c). dM never goes there: the slopes of a
 * tile's four quadrants each reach point p by a factor of their winners',
 *
 *   dM[p] = sum over q of slope[q] factors[p][q][winner[q]]
 *
 * at most four lookups and four multiply-adds for 16 tiles and a point, done
 * step by step while tiles multiply the step before.
 *
 * Measured on a Xeon with AMX, 28x28, 32 and 64 planes, 48 of 64 kept, all
 * slopes above 0: 3.0 to 3.3 ms for 128 samples, where lists take 4.3 to 5.0 in
 * the same turns (in an iteration 3.6 and 5.2). V takes 0.8 of these, slopes
 * in the order of steps 0.4 to 0.7, the products would take 0.3.
 * The rest is dM, which reads nine lines of the second cache for each row of
 * two vectors, 16 cycles at 1.8 each, beside 12 of arithmetic.
 *
 * Exact products (amx.h) took 5.7 ms so: 2.2 of products, of which 1.5 are the
 * tiles' own, 1.4 of V, and dM hidden by a third of itself only.
 */
#include "backends/cpu/kernels/stem_weights_amx.h"

#include <string.h>

#ifdef __AMX_BF16__
#include "backends/cpu/kernels/scratch.h"
#include "backends/cpu/kernels/winograd.h"

#define PLANE (STEM_READY * LANES) /* floats of a plane that is ready */
#define TOGETHER 2 /* planes: of one, each step waits for the one before */
#define SQUARE (AMX_ROWS * AMX_COLUMNS)
#define BLOCK_SUMS (4 * SQUARE)

/* What is in the scratch; steps of a call. */
struct space {
	int steps;
	uint8_t *data;	  /* V, see stem_weights_amx.h */
	size_t point;	  /* bytes of V, from one to the next */
	float *ready;
	uint8_t *kept;
	float *factors;	  /* [STEM_POINTS][4][LANES] */
	int buffers;	  /* for the dM of a step: one is read, one written */
	amx_tile *slopes; /* [buffers][2] of A */
	float *sums;	  /* of a block's point: 2 x 2 tiles */
	float *more;	  /* for who makes V */
};

/* Cuts scratch; returns the bytes that this takes. */
static size_t space_cut(struct space *space, const struct stem_shape *shape,
			int count, float *scratch)
{
	const size_t steps = (size_t)stem_steps_of(shape, count).all;
	const size_t outputs = (size_t)shape->outputs;
	size_t used = 0;

	space->steps = (int)steps;
	space->point = stem_data_point(shape, space->steps);
	space->buffers = steps > 1 ? space->steps : 2;
	space->data = scratch_take(scratch, &used, STEM_POINTS * space->point);
	space->ready = scratch_take(scratch, &used,
				    steps * outputs * PLANE * sizeof(float));
	space->kept = scratch_take(scratch, &used,
				   steps * (outputs / STEM_BLOCK) * STEM_KEPT);
	space->factors = scratch_take(scratch, &used,
				      STEM_POINTS * STEM_QUADRANTS * LANES *
					      sizeof(float));
	space->slopes = scratch_take(
		scratch, &used, (size_t)space->buffers * 2 * sizeof(amx_tile));
	space->sums = scratch_take(scratch, &used, BLOCK_SUMS * sizeof(float));
	space->more = scratch_take(scratch, &used,
				   ISA_NAME(stem_data_scratch)(shape) *
					   sizeof(float));
	return used;
}

size_t ISA_NAME(stem_weights_amx_scratch)(const struct stem_shape *shape)
{
	struct space space;

	return space_cut(&space, shape, stem_group(shape, LANES), NULL) /
	       sizeof(float);
}

/*
 * Four bits are looked up, the winners of an upper or lower pair of quadrants,
 * of which each table means but one.
 */
static void factors_fill(float scale, float *factors)
{
	float a[WINOGRAD_DATA][STEM_TILE];

	output_coefficients(a);
	for (int p = 0; p < STEM_POINTS; p++)
		for (int q = 0; q < STEM_QUADRANTS; q++)
			for (int l = 0; l < LANES; l++) {
				const int winner = l >> q % 2 * 2 & 3;
				const int y = q / 2 * 2 + winner / 2;
				const int x = q % 2 * 2 + winner % 2;

				*factors++ = scale * a[p / WINOGRAD_DATA][y] *
					     a[p % WINOGRAD_DATA][x];
			}
}

/* Of the second cache, to the first one. */
INLINE void lines_prefetch(const void *from, int count)
{
	for (int l = 0; l < count; l++)
		_mm_prefetch((const char *)from + l * AMX_ROW, _MM_HINT_T0);
}

/* What is to become a step's dM at a point. */
struct making {
	const float *ready;   /* of the block's first plane */
	const uint8_t *kept;  /* how many, and which */
	const float *factors; /* of the point */
	amx_tile *to;	      /* two of A */
};

/*
 * One plane o. The outermost points of an axis have factors of one half of a
 * tile alone: first .. last (constants) of its rows of quadrants, and columns.
 */
INLINE void planes_add(const struct making *making, const vec *tables,
		       const uint8_t *list, const int rows[2],
		       const int columns[2], vec even[TOGETHER],
		       vec odd[TOGETHER])
{
	UNROLL for (int q = 0; q < STEM_QUADRANTS; q++) {
		if (q / 2 < rows[0] || q / 2 > rows[1] || q % 2 < columns[0] ||
		    q % 2 > columns[1])
			continue;
		UNROLL for (int i = 0; i < TOGETHER; i++) {
			const float *ready = making->ready + list[i] * PLANE;
			const lanes_int winners = (lanes_int)vec_load(
				ready + 2 * STEM_QUADRANTS * LANES);
			const int bits = q / 2 * 4;

			even[i] += vec_load(ready + 2 * q * LANES) *
				   vec_lookup(tables[q], winners >> bits);
			odd[i] += vec_load(ready + (2 * q + 1) * LANES) *
				  vec_lookup(tables[q], winners >> (bits + 8));
		}
	}
}

/* All kept planes, TOGETHER at once. */
INLINE void planes_make(const struct making *making, const int rows[2],
			const int columns[2])
{
	vec tables[STEM_QUADRANTS];

	UNROLL for (int q = 0; q < STEM_QUADRANTS; q++)
		tables[q] = vec_load(making->factors + q * LANES);
	for (int k = 0; k < making->kept[0]; k += TOGETHER) {
		const uint8_t *list = making->kept + 1 + k;
		vec even[TOGETHER] = { { 0 } }, odd[TOGETHER] = { { 0 } };

		planes_add(making, tables, list, rows, columns, even, odd);
		UNROLL for (int i = 0; i < TOGETHER; i++)
			amx_store_pair(making->to + list[i] / AMX_ROWS,
				       list[i] % AMX_ROWS, even[i], odd[i], 1);
	}
}

/* Adds the products of a step. */
INLINE void step_multiply(const amx_tile *slopes, const amx_tile *data)
{
	amx_hold_memory();
	amx_add_square(slopes, slopes + 1, data, data + 1);
	amx_hold_memory();
}

struct block {
	const struct space *space;
	int o, i;    /* blocks of planes */
	int os, is;  /* how many there are */
};

/*
 * The tiles of A of all points' steps in turn. Where a call has more than one
 * step, each has a buffer, whose rows of dropped planes are never written.
 */
INLINE void *slopes_of(const struct block *block, int turn)
{
	return block->space->slopes + turn % block->space->buffers * 2;
}

INLINE struct making making_of(const struct block *block, int turn)
{
	const struct space *space = block->space;
	const int point = turn / space->steps, n = turn % space->steps;
	const size_t at = (size_t)(n * block->os + block->o);

	return (struct making){
		.ready = space->ready + at * STEM_BLOCK * PLANE,
		.kept = space->kept + at * STEM_KEPT,
		.factors = space->factors + point * STEM_QUADRANTS * LANES,
		.to = slopes_of(block, turn),
	};
}

INLINE void *data_of(const struct block *block, int point, int n)
{
	const struct space *space = block->space;
	const int tile = (n * block->is + block->i) * 2;

	return space->data + (size_t)point * space->point +
	       (size_t)tile * sizeof(amx_tile);
}

/* Those of the second cache are asked for early enough. */
INLINE void sums_add(const float *point, float *sums)
{
	for (int l = 0; l < BLOCK_SUMS; l += LANES)
		vec_store(sums + l, vec_load(sums + l) + vec_load(point + l));
}

static const int both[2] = { 0, 1 };
static const int first[2] = { 0, 0 };
static const int second[2] = { 1, 1 };

/* Those of a column, whose rows (a constant) have factors. */
INLINE void row_make(const struct making *making, const int rows[2],
		     int column)
{
	if (column == 0)
		planes_make(making, rows, first);
	else if (column == WINOGRAD_DATA - 1)
		planes_make(making, rows, second);
	else
		planes_make(making, rows, both);
}

static void point_make(const struct making *making, int point)
{
	const int row = point / WINOGRAD_DATA, column = point % WINOGRAD_DATA;

	if (row == 0)
		row_make(making, first, column);
	else if (row == WINOGRAD_DATA - 1)
		row_make(making, second, column);
	else
		row_make(making, both, column);
}

/* All points and steps of a block. */
static void block_multiply(const struct block *block, float *sums)
{
	const int steps = block->space->steps, turns = STEM_POINTS * steps;
	const int apart = block->os * block->is * BLOCK_SUMS;
	float *point = block->space->sums;
	struct making next = making_of(block, 0);
	int turn = 0;

	memset(next.to, 0, (size_t)(block->space->buffers * 2) *
				   sizeof(amx_tile));
	point_make(&next, 0);
	sums += (block->o * block->is + block->i) * BLOCK_SUMS;
	for (int p = 0; p < STEM_POINTS; p++) {
		amx_zero();
		for (int n = 0; n < steps; n++) {
			step_multiply(slopes_of(block, turn),
				      data_of(block, p, n));
			if (n == 0 && p > 0)
				sums_add(point, sums + (p - 1) * apart);
			if (++turn == turns)
				break;
			next = making_of(block, turn);
			point_make(&next, turn / steps);
		}
		lines_prefetch(sums + p * apart, BLOCK_SUMS / LANES);
		/* To where they are added from once they are there. */
		amx_store_square(point, point + 2 * SQUARE, SQUARE,
				 AMX_COLUMNS);
	}
	sums_add(point, sums + (STEM_POINTS - 1) * apart);
}

void ISA_NAME(stem_weights_amx)(const struct stem_shape *shape,
				const struct stem_weights *weights,
				const struct stem_batch *batch,
				const float *slopes, const uint8_t *winners,
				float *sums, float *slopes_by_bias,
				float *scratch)
{
	struct space space;
	struct block block = { .space = &space,
			       .os = shape->outputs / STEM_BLOCK,
			       .is = shape->middle / (2 * AMX_COLUMNS) };

	space_cut(&space, shape, batch->count, scratch);
	ISA_NAME(stem_data)(shape, weights, batch, space.data, space.more);
	ISA_NAME(stem_ready)(shape, batch, slopes, winners, space.ready,
			     space.kept, slopes_by_bias);
	factors_fill(batch->scale, space.factors);
	amx_begin();
	for (block.o = 0; block.o < block.os; block.o++)
		for (block.i = 0; block.i < block.is; block.i++)
			block_multiply(&block, sums);
	amx_end();
}

/* The 3 x 3 slopes of 16 planes i of an output: G^T dU G. */
static void windows_finish(const float *sums, size_t point, size_t middle,
			   float *slopes)
{
	vec half[WINOGRAD_DATA][WINOGRAD_WINDOW];

	for (int y = 0; y < WINOGRAD_DATA; y++) {
		vec points[WINOGRAD_DATA];

		UNROLL for (int x = 0; x < WINOGRAD_DATA; x++) {
			points[x] = vec_load(sums);
			sums += point;
		}
		points_to_window(points, half[y]);
	}
	UNROLL for (int s = 0; s < WINOGRAD_WINDOW; s++) {
		vec points[WINOGRAD_DATA], window[WINOGRAD_WINDOW];

		UNROLL for (int y = 0; y < WINOGRAD_DATA; y++)
			points[y] = half[y][s];
		points_to_window(points, window);
		UNROLL for (int r = 0; r < WINOGRAD_WINDOW; r++) {
			float *to = slopes + (size_t)(r * WINOGRAD_WINDOW + s) *
						     middle;

			vec_store(to, vec_load(to) + window[r]);
		}
	}
}

void ISA_NAME(stem_weights_amx_finish)(const struct stem_shape *shape,
				       const float *sums,
				       float *slopes_by_weights)
{
	const size_t middle = (size_t)shape->middle;
	const size_t point = (size_t)shape->outputs * middle;
	const size_t is = middle / LANES;

	for (size_t o = 0; o < (size_t)shape->outputs; o++)
		for (size_t i = 0; i < is; i++) {
			/* [o / 32][i / 2][o / 16 % 2][i % 2][o % 16] */
			const size_t at = ((o / 32 * (is / 2) + i / 2) * 4 +
					   o / 16 % 2 * 2 + i % 2) * 16 +
					  o % 16;

			windows_finish(sums + at * LANES, point, middle,
				       slopes_by_weights +
				       o * STEM_TAPS * middle + i * LANES);
		}
}
#endif
