/*
 * The stem forward by direct convolutions in bf16 on AMX's tiles:
 *
 *   y[o][py][px][n] = sum over i, r, s of
 *                     x[i][2 row + py + r][2 column + px + s] w[o][i][r][s]
 *   out[o][n] = scale * (bias[o] + max over py, px of y[o][py][px][n])
 *
 * with pooled outputs n and planes x of a strip as stem_direct_forward_amx.h
 * has them:
 *
 *   A: [outputs / 32][middle / 32][r][s][2] tiles of w
 *   B: the planes, at an offset of (py + r, px + s)
 *   C: [16 outputs][16 n], of two blocks of outputs and both px
 *
 * A tile product with fewer rows or columns takes hardly fewer cycles than the
 * 16 of a full one, so that n counts through the rows. Ceiling: the products of
 * tiles.
 */
#include "backends/cpu/kernels/stem_direct/stem_direct_forward_amx.h"
#include "backends/cpu/kernels/stem/stem_pool.h"
#include "backends/cpu/kernels/simd/scratch.h"

#define BLOCK STEM_BLOCK
#define MEMBERS 4 /* of a window of the pooling */
#define PRODUCTS ((size_t)(MEMBERS * BLOCK * AMX_COLUMNS))

/* Arrays in scratch. */
struct stem_direct {
	float *pixels;	  /* [channels][height][4][16] */
	uint32_t *planes; /* of a strip */
	float *bias;	  /* [outputs]: the second one's, times scale */
	float *products;  /* [MEMBERS][BLOCK][16] */
};

/* The widest one's pitch. */
static int pitch_most(const struct stem_shape *shape)
{
	const int pooled = (shape->width - 4) / 2;

	return strip_pitch(pooled < STRIP_COLUMNS ? pooled : STRIP_COLUMNS,
			   (shape->height - 4) / 2);
}

/* uint32_t of a strip's planes. */
static size_t planes_size(const struct stem_shape *shape)
{
	return (size_t)(stem_direct_deep(shape) * STRIP_SIDE *
			pitch_most(shape));
}

/* Cuts scratch; its size in bytes. */
static size_t direct_cut(const struct stem_shape *shape, void *scratch,
			 struct stem_direct *direct)
{
	size_t used = 0;

	direct->pixels = scratch_take(scratch, &used,
				      (size_t)(shape->channels *
					       shape->height * STRIP_SIDE) *
					      sizeof(vec));
	direct->bias = scratch_take(scratch, &used, (size_t)shape->outputs *
							    sizeof(float));
	direct->products = scratch_take(scratch, &used,
					PRODUCTS * sizeof(float));
	direct->planes = scratch_take(scratch, &used,
				      planes_size(shape) * sizeof(uint32_t));
	return used;
}

size_t ISA_NAME(stem_direct_forward_scratch)(const struct stem_shape *shape)
{
	struct stem_direct direct;

	return direct_cut(shape, NULL, &direct) / sizeof(float);
}

/* Returns an image's strip from pooled column first on. */
static struct stem_strip strip_of(const struct task *task,
				  const struct stem_direct *direct, int sample,
				  int first)
{
	const struct stem_shape *shape = task->shape;
	const size_t image = (size_t)(shape->channels * shape->height *
				      shape->width);
	const int rest = (shape->width - 4) / 2 - first;
	struct stem_strip strip = {
		.shape = shape,
		.sample = sample,
		.first = first,
		.columns = rest < STRIP_COLUMNS ? rest : STRIP_COLUMNS,
		.rows = (shape->height - 4) / 2,
		.planes = direct->planes,
		.image = task->batch->images + (size_t)sample * image +
			 2 * first,
	};

	strip.pitch = strip_pitch(strip.columns, strip.rows);
	if (task->signs)
		strip.signs = task->signs +
			      stem_direct_signs_at(shape, sample, 0, 0) *
				      sizeof(uint32_t);
	return strip;
}

/* Returns the tiles that stem_direct_tile() made. */
static const amx_tile *tiles_of(const struct task *task)
{
	return (const amx_tile *)(const void *)task->weights->points;
}

/* Three taps of a row, of both px; side: pairs from s to s + 1. */
INLINE void row_add(const amx_tile *a, const uint32_t *b, size_t side,
		    size_t bytes)
{
	_tile_loadd(4, a, AMX_ROW);
	_tile_loadd(6, b, bytes);
	_tile_dpbf16ps(0, 4, 6);
	_tile_loadd(5, a + 1, AMX_ROW);
	_tile_dpbf16ps(2, 5, 6);
	_tile_loadd(7, b + side, bytes);
	_tile_dpbf16ps(1, 4, 7);
	_tile_dpbf16ps(3, 5, 7);

	_tile_loadd(4, a + 2, AMX_ROW);
	_tile_dpbf16ps(0, 4, 7);
	_tile_loadd(5, a + 3, AMX_ROW);
	_tile_dpbf16ps(2, 5, 7);
	_tile_loadd(6, b + 2 * side, bytes);
	_tile_dpbf16ps(1, 4, 6);
	_tile_dpbf16ps(3, 5, 6);

	_tile_loadd(4, a + 4, AMX_ROW);
	_tile_dpbf16ps(0, 4, 6);
	_tile_loadd(5, a + 5, AMX_ROW);
	_tile_dpbf16ps(2, 5, 6);
	_tile_loadd(7, b + 3 * side, bytes);
	_tile_dpbf16ps(1, 4, 7);
	_tile_dpbf16ps(3, 5, 7);
}

/* products[py][px][BLOCK][16] of a block, from pooled output n on. */
static void block_multiply(const struct stem_strip *strip, const amx_tile *a,
			   int n, float *products)
{
	const int rows = stem_direct_deep(strip->shape) / AMX_DEPTH * 3;
	const size_t pitch = (size_t)strip->pitch;
	const size_t parity = STRIP_PAIRS * pitch, side = 2 * parity;

	for (int py = 0; py < 2; py++) {
		const amx_tile *tile = a;

		amx_zero();
		for (int k = 0; k < rows; k++) {
			const int t = py + k % 3;

			row_add(tile,
				strip->planes +
					(size_t)(k / 3 * STRIP_SIDE) * side +
					(size_t)(t % 2) * parity +
					(size_t)(n + t / 2 * strip->columns),
				side, pitch * sizeof(*strip->planes));
			tile += 6;
		}
		/* px next to px + 1: [px][BLOCK][16] */
		amx_store_square(products, products + AMX_ROWS * AMX_COLUMNS,
				 BLOCK * AMX_COLUMNS, AMX_COLUMNS);
		products += PRODUCTS / 2;
	}
}

/* A row's lanes of a tile of pooled outputs. */
struct piece {
	int32_t to; /* where lane 0 would be in a plane */
	__mmask16 lanes;
};

/* Destination of a tile of a block's pooled products. */
struct pooling {
	const float *products, *bias;
	float *out;	  /* of the block's first output, */
	uint8_t *winners; /* of the same windows; or NULL */
	size_t plane;	  /* floats from plane to plane */
	vec scale;
	int relu;
	int count; /* of the pieces */
	struct piece pieces[AMX_COLUMNS];
};

/* Pooled outputs n .. n + 15: one piece, where a strip is all of a plane. */
static void pieces_find(struct pooling *pooling, const struct stem_strip *strip,
			int n)
{
	const int others = (strip->shape->width - 4) / 2 - strip->columns;
	const int all = strip->rows * strip->columns;
	const int run = others ? strip->columns : all;
	const int end = n + AMX_COLUMNS < all ? n + AMX_COLUMNS : all;
	struct piece *piece = pooling->pieces;

	for (int from = n, to; from < end; from = to) {
		const int row = from / run;

		to = (row + 1) * run < end ? (row + 1) * run : end;
		*piece++ = (struct piece){
			.to = n + row * others + strip->first,
			.lanes = (__mmask16)((1u << (to - n)) -
					     (1u << (from - n))),
		};
	}
	pooling->count = (int)(piece - pooling->pieces);
}

/* Output o of a block. */
INLINE void output_pool(const struct pooling *pooling, int o)
{
	const float *from = pooling->products + o * AMX_COLUMNS;
	const size_t at = (size_t)o * pooling->plane;
	vec window[MEMBERS], value;
	lane_bytes winner;

	UNROLL for (int m = 0; m < MEMBERS; m++)
		window[m] = vec_load(from + m * BLOCK * AMX_COLUMNS);
	value = window_pool(window, &winner) * pooling->scale +
		vec_set(pooling->bias[o]);
	if (pooling->relu)
		value = vec_max((vec){ 0 }, value);
	for (int p = 0; p < pooling->count; p++) {
		const struct piece *piece = &pooling->pieces[p];
		const size_t to = at + (size_t)piece->to;

		_mm512_mask_storeu_ps(pooling->out + to, piece->lanes,
				      (__m512)value);
		if (pooling->winners)
			_mm_mask_storeu_epi8(pooling->winners + to,
					     piece->lanes, winner);
	}
}

/* The outputs of a block that a sample keeps; how many. */
static int block_kept(const struct task *task, int sample, int first,
		      uint8_t kept[BLOCK])
{
	const int rest = task->shape->outputs - first;
	int count = 0;

	for (int o = 0; o < (rest < BLOCK ? rest : BLOCK); o++) {
		kept[count] = (uint8_t)o;
		count += plane_is_kept(task, sample, first + o);
	}
	return count;
}

/* A block of outputs, from the first one on. */
static void block_forward(const struct task *task,
			  const struct stem_direct *direct,
			  const struct stem_strip *strip, const amx_tile *a,
			  int first)
{
	const size_t at = plane_at(task, strip->sample, first);
	const int all = strip->rows * strip->columns;
	uint8_t kept[BLOCK];
	const int count = block_kept(task, strip->sample, first, kept);
	struct pooling pooling = {
		.products = direct->products,
		.bias = direct->bias + first,
		.out = task->out + at,
		.winners = task->winners ? task->winners + at : NULL,
		.plane = (size_t)stem_plane(task->shape),
		.scale = vec_set(task->batch->scale),
		.relu = task->shape->relu,
	};

	for (int n = 0; n < all; n += AMX_COLUMNS) {
		block_multiply(strip, a, n, direct->products);
		pieces_find(&pooling, strip, n);
		for (int k = 0; k < count; k++)
			output_pool(&pooling, kept[k]);
	}
}

static void strip_forward(const struct task *task,
			  const struct stem_direct *direct,
			  const struct stem_strip *strip)
{
	const amx_tile *a = tiles_of(task);

	ISA_NAME(stem_direct_input)(strip, task->weights, direct->pixels);
	amx_begin();
	for (int o = 0; o < task->shape->outputs; o += BLOCK) {
		block_forward(task, direct, strip, a, o);
		a += stem_direct_block_tiles(task->shape);
	}
	amx_end();
}

void ISA_NAME(stem_direct_forward)(const struct stem_shape *shape,
				   const struct stem_weights *weights,
				   const struct stem_batch *batch, float *out,
				   uint8_t *winners, uint8_t *signs,
				   float *scratch)
{
	const int pooled = (shape->width - 4) / 2;
	const struct task task = {
		.shape = shape,
		.weights = weights,
		.batch = batch,
		.lanes = stem_lanes_of(shape),
		.out = out,
		.winners = winners,
		.signs = signs,
	};
	struct stem_direct direct;

	direct_cut(shape, scratch, &direct);
	for (int o = 0; o < shape->outputs; o++)
		direct.bias[o] = batch->scale * weights->bias[o];
	for (int n = 0; n < batch->count; n++)
		for (int x = 0; x < pooled; x += STRIP_COLUMNS) {
			const struct stem_strip strip =
				strip_of(&task, &direct, n, x);

			strip_forward(&task, &direct, &strip);
		}
}
