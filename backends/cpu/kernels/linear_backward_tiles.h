/*
 * The operands of a linear layer's backward pass on AMX's tiles, and what
 * vectors do while tiles multiply: see linear_backward_amx.c.
 */
#ifndef BACKENDS_CPU_KERNELS_LINEAR_BACKWARD_TILES_H
#define BACKENDS_CPU_KERNELS_LINEAR_BACKWARD_TILES_H

#include "backends/cpu/kernels/adadelta.h"
#include "backends/cpu/kernels/linear_tiles.h"

#ifdef __AMX_BF16__

#define TRIPLE (3 * AMX_COLUMNS) /* places of a group of products */

/* A block: this one or the next. */
struct side {
	int block;
	int kept_count;
	int32_t *kept; /* [count + 1] */
};

struct pass {
	const struct linear_shape *shape;
	const struct linear_batch *batch;
	const struct linear_slopes *slopes;
	const float *weights;
	const struct linear_state *state; /* NULL: dw is stored */
	struct adadelta rates;
	float *gradient;
	int depth;   /* tiles of outputs that dx sums over */
	int columns; /* tiles of places */
	int chunks;  /* of 32 samples, of the whole batch */
	float *bias; /* [outputs]: sums of dz */
	float *dz;   /* [chunks * 32][outputs] */
	float *turned;	   /* dz[outputs][chunks * 32] */
	amx_tile *samples; /* dz: [samples / 16][depth] */
	amx_tile *outputs; /* dz: [outputs / 16][chunks] */
	amx_tile *dx_a;	   /* dz gathered: as samples */
	amx_tile *dx_b;	   /* weights: [depth][columns] */
	uint16_t *dw_a;	   /* dz gathered: [outputs][row] */
	amx_tile *dw_b;	   /* inputs: [chunks][columns] */
	int row;	   /* of dw_a: chunks * 32 and 32 to write beyond */
	float *dx;	   /* [samples][block] */
	float *dw;	   /* [outputs][block] */
	struct side sides[2]; /* of even and odd blocks */
};

/* What comes next of something in rows and columns. */
struct cursor {
	int row, column;
};

/* Work beside the products of dx, and of dw. */
struct beside {
	struct cursor inputs, weights;
	int gathered; /* rows of dw_a, then samples of dx_a */
	int copied;   /* samples of dx */
	int fetched;  /* weights and their state, of a block */
	int updated, ready; /* vectors of dw; of the block update */
	int update;
};

INLINE void cursor_move(struct cursor *cursor, int columns)
{
	if (++cursor->column == columns) {
		cursor->column = 0;
		cursor->row++;
	}
}

/* C[2][3] += two tiles of A by three tiles of B */
INLINE void add_six(const uint16_t *a, const uint16_t *next_a, size_t apart,
		    const amx_tile *b)
{
	_tile_loadd(6, a, apart);
	_tile_loadd(7, b, AMX_ROW);
	_tile_dpbf16ps(0, 6, 7);
	_tile_loadd(7, b + 1, AMX_ROW);
	_tile_dpbf16ps(1, 6, 7);
	_tile_loadd(7, b + 2, AMX_ROW);
	_tile_dpbf16ps(2, 6, 7);
	_tile_loadd(6, next_a, apart);
	_tile_dpbf16ps(5, 6, 7);
	_tile_loadd(7, b + 1, AMX_ROW);
	_tile_dpbf16ps(4, 6, 7);
	_tile_loadd(7, b, AMX_ROW);
	_tile_dpbf16ps(3, 6, 7);
}

INLINE void zero_six(void)
{
	amx_zero();
	_tile_zero(4);
	_tile_zero(5);
}

INLINE void store_six(float *to, size_t apart)
{
	const size_t row = apart * sizeof(float);
	float *next = to + AMX_ROWS * apart;

	_tile_stored(0, to, row);
	_tile_stored(1, to + AMX_COLUMNS, row);
	_tile_stored(2, to + 2 * AMX_COLUMNS, row);
	_tile_stored(3, next, row);
	_tile_stored(4, next + AMX_COLUMNS, row);
	_tile_stored(5, next + 2 * AMX_COLUMNS, row);
}

/* Inputs of two samples that are kept, or zeros, in 16 places. */
INLINE void pack_inputs(const struct pass *pass, const struct side *side,
			struct cursor *cursor)
{
	const struct linear_batch *batch = pass->batch;
	const float *in = batch->in + (size_t)side->block * batch->block +
			  cursor->column * AMX_COLUMNS;
	const int32_t *kept = side->kept;
	const int first = 2 * cursor->row, pairs = AMX_DEPTH / 2;
	amx_tile *tile = pass->dw_b + (cursor->row / pairs * pass->columns +
				       cursor->column);
	vec pair[2];

	UNROLL
	for (int i = 0; i < 2; i++)
		pair[i] = first + i < side->kept_count ?
				  vec_load(in + (size_t)kept[first + i] *
						       batch->sample) :
				  vec_set(0);
	amx_store_pair(tile, cursor->row % pairs, pair[0], pair[1], 1);
	cursor_move(cursor, pass->columns);
}

/* Weights of two outputs, in 16 places. */
INLINE void pack_weights(const struct pass *pass, const struct side *side,
			 struct cursor *cursor)
{
	const struct linear_shape *shape = pass->shape;
	const float *w = pass->weights +
			 linear_weight_at(shape, 2 * cursor->row, side->block,
					  cursor->column * AMX_COLUMNS);
	const int pairs = AMX_DEPTH / 2;
	amx_tile *tile = pass->dx_b + (cursor->row / pairs * pass->columns +
				       cursor->column);

	amx_store_pair(tile, cursor->row % pairs, vec_load(w),
		       vec_load(w + shape->block), 1);
	cursor_move(cursor, pass->columns);
}

/* dz of one output and the samples that are kept, and zeros behind them. */
INLINE void gather_output(const struct pass *pass, const struct side *side,
			  const uint32_t *masks, int o)
{
	const amx_tile *from = (const amx_tile *)pass->outputs +
			       o / AMX_ROWS * pass->chunks;
	uint16_t *to = pass->dw_a + o * pass->row;
	int at = 0;

	for (int c = 0; c < pass->chunks; c++) {
		const __m512i all = _mm512_load_si512(
			from[c] + o % AMX_ROWS * AMX_DEPTH);

		_mm512_storeu_si512(to + at, _mm512_maskz_compress_epi16(
						     masks[c], all));
		at += __builtin_popcount(masks[c]);
	}
	_mm512_storeu_si512(to + side->kept_count, _mm512_setzero_si512());
}

/* dz of sample i of those that are kept; its inputs are fetched. */
INLINE void gather_sample(const struct pass *pass, const struct side *side,
			  int i)
{
	const struct linear_batch *batch = pass->batch;
	const int b = side->kept[i], tiles = pass->depth;
	const amx_tile *from = (const amx_tile *)pass->samples +
			       b / AMX_ROWS * tiles;
	amx_tile *to = pass->dx_a + i / AMX_ROWS * tiles;

	tiles_fetch(batch->in + (size_t)b * batch->sample +
			    (size_t)side->block * batch->block,
		    pass->shape->block);
	for (int t = 0; t < tiles; t++)
		_mm512_store_si512(to[t] + i % AMX_ROWS * AMX_DEPTH,
				   _mm512_load_si512(from[t] + b % AMX_ROWS *
								   AMX_DEPTH));
}

/* dx of sample i of those that are kept. */
INLINE void copy_sample(const struct pass *pass, const struct side *side, int i)
{
	const struct linear_batch *batch = pass->batch;
	const int places = pass->shape->block;
	const float *from = pass->dx + i * places;
	float *to = pass->slopes->in_slopes +
		    (size_t)side->kept[i] * batch->sample +
		    (size_t)side->block * batch->block;

	for (int at = 0; at < places; at += LANES)
		vec_store(to + at, vec_load(from + at));
}

/* Adadelta on a vector of weights. */
INLINE void update_vector(const struct pass *pass, int block, int vector)
{
	const struct linear_state *state = pass->state;
	const size_t at = linear_weight_at(pass->shape, 0, block, 0) +
			  (size_t)vector * LANES;
	float *p = state->parameters.weights + at;
	float *v = state->square_avg.weights + at;
	float *u = state->acc_delta.weights + at;
	vec square_avg = vec_load(v), acc_delta = vec_load(u);
	const vec delta = adadelta_step(&pass->rates,
					vec_load(pass->dw + vector * LANES),
					&square_avg, &acc_delta);

	vec_store(v, square_avg);
	vec_store(u, acc_delta);
	vec_store(p, vec_load(p) - delta);
}

/* At most count vectors of those whose slopes are there. */
INLINE void update_some(const struct pass *pass, struct beside *beside,
			int count)
{
	for (int i = 0; i < count && beside->updated < beside->ready; i++)
		update_vector(pass, beside->update, beside->updated++);
}

#endif
#endif
