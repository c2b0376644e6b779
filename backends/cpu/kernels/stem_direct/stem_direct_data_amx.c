/*
 * The stem's backward pass by data in bf16, on AMX's tiles (amx.h), for a
 * sample after another:
 *
 *   dx[p][i] = sum over r, s, o of dz[p - r columns - s][o] w[o][r][s][i]
 *   first[i][tap] = sum over p of image[p + tap] dx[p][i] where ReLU let it
 *
 * Pixels p go on from row to row (stem_direct_data_amx.h), so no tile is less
 * than full. A block is 4 tiles of 64 pixels and 16 planes i; along k are the
 * taps of a row of a window, and all outputs of each. dz is where tiles of A
 * load it for any tap, and the weights of 16 planes fit the first cache. The
 * rest of dx is rounded to bf16, and is at once B of the second product.
 *
 * Tiles multiply while vectors round and stop the products of the block before,
 * a row at a time: a core looks no further ahead than some six products. The
 * sources of the next sample's dz are fetched meanwhile.
 *
 * Ceiling: 16 cycles per product of tiles, on a Xeon at the 2.5 GHz that it has
 * while tiles multiply; dz is stored in the second cache, a line in some four
 * cycles.
 */
#include "backends/cpu/kernels/stem_direct/stem_direct_data_amx.h"

#include <string.h>

#include "backends/cpu/kernels/simd/scratch.h"

/* Arguments and scratch of a call. */
struct data_task {
	struct direct_data data;
	const struct stem_batch *batch;
	const amx_tile *weights;
	const float *dy;
	const uint8_t *winners, *signs;
	int32_t *kept;
	uint16_t *dz;
	uint16_t *rows;
	amx_tile *patches;
	amx_tile *dx;	    /* [groups][blocks][DEEP] */
	float *products[2]; /* of a block and of the next: [PIXELS][16] */
	float *sums;	    /* [groups][taps][16][16] */
};

static size_t sums_size(const struct direct_data *data)
{
	return (size_t)(data->groups * data->taps * AMX_ROWS) * AMX_ROW;
}

/* Cuts scratch; without any, only counts its floats. */
static size_t task_lay_out(struct data_task *task,
			   const struct stem_shape *shape, float *scratch)
{
	const struct direct_data data = direct_data_of(shape);
	const size_t deep = (size_t)(data.blocks * DEEP) * sizeof(amx_tile);
	size_t used = 0;

	task->data = data;
	for (int i = 0; i < 2; i++)
		task->products[i] = scratch_take(scratch, &used,
						 PIXELS * AMX_ROW);
	task->kept = scratch_take(scratch, &used,
				  (size_t)data.pitch * sizeof(*task->kept));
	task->dz = scratch_take(scratch, &used, direct_dz_size(&data) *
							sizeof(uint16_t));
	task->rows = scratch_take(scratch, &used, direct_rows_size(&data) *
							  sizeof(uint16_t));
	task->patches = scratch_take(scratch, &used,
				     (size_t)data.taps * deep);
	task->dx = scratch_take(scratch, &used, (size_t)data.groups * deep);
	task->sums = scratch_take(scratch, &used, sums_size(&data));
	return used / sizeof(float);
}

size_t ISA_NAME(stem_direct_backward_scratch)(const struct stem_shape *shape)
{
	struct data_task task = { 0 };

	return task_lay_out(&task, shape, NULL);
}

/* In memory, or they would be broadcast anew for each row. */
struct constants {
	int32_t left, right; /* signs of two pixels */
	int32_t half;	     /* of a bf16's last bit */
	int32_t upper;	     /* bits */
};

/* Products that wait to be stopped and rounded: rows of two pixels each. */
struct finish {
	const struct direct_data *data;
	const uint8_t *signs; /* of the group's first plane: the next words */
	__mmask16 planes;     /* that there are */
	__m512i offsets;      /* of their signs, in words */
	__m512i words;	      /* of their signs, from the next pixel on */
	int run;	      /* rows until the next words */
	int y, x;	      /* of the first pixel of the next words */
	int left;
	const float *products;
	uint16_t *dx;
	const struct constants *constants;
};

static struct finish finish_begin(const struct data_task *task, int sample,
				  int group)
{
	const struct direct_data *data = &task->data;
	const struct stem_shape *shape = data->shape;
	const int first = group * AMX_COLUMNS, rest = shape->middle - first;
	const int words = data->rows * stem_direct_words(shape);
	const size_t at = stem_direct_signs_at(shape, sample, first, 0);
	const __m512i lanes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9,
						10, 11, 12, 13, 14, 15);
	static const struct constants bits = { 1, 2, 0x8000,
					       (int32_t)0xffff0000 };
	const struct constants *constants = &bits;

	/* They are not known to the compiler from here on. */
	__asm__("" : "+r"(constants));
	return (struct finish){
		.constants = constants,
		.data = data,
		.signs = task->signs + at * sizeof(uint32_t),
		.planes = (__mmask16)(rest < AMX_COLUMNS ? (1u << rest) - 1 :
							   0xffff),
		.offsets = _mm512_mullo_epi32(lanes, _mm512_set1_epi32(words)),
		.words = _mm512_setzero_si512(),
		.dx = task->dx[group * data->blocks * DEEP],
	};
}

/* The next words of signs; no pixel passes after the last row. */
INLINE void finish_gather(struct finish *finish)
{
	const int rest = finish->data->columns - finish->x;
	const __m512i none = _mm512_setzero_si512();

	finish->words = none;
	finish->run = PIXELS;
	if (finish->y >= finish->data->rows)
		return;
	finish->words = _mm512_mask_i32gather_epi32(
		none, finish->planes, finish->offsets, finish->signs,
		sizeof(uint32_t));
	finish->signs += sizeof(uint32_t);
	finish->x += STEM_WORD_BITS;
	finish->run = STEM_WORD_BITS / 2;
	if (rest > STEM_WORD_BITS)
		return;
	finish->run = rest / 2;
	finish->x = 0;
	finish->y++;
}

/*
 * Two neighbouring pixels of 16 planes, to a row of B. Tiles' NaNs have no bits
 * that rounding would carry.
 */
INLINE void pair_finish(const float *products, __m512i words,
			const struct constants *constants, uint16_t *to)
{
	const __m512i half = _mm512_set1_epi32(constants->half);
	const __m512i left = _mm512_maskz_add_epi32(
		_mm512_test_epi32_mask(words, _mm512_set1_epi32(
						      constants->left)),
		_mm512_load_si512(products), half);
	const __m512i right = _mm512_maskz_add_epi32(
		_mm512_test_epi32_mask(words, _mm512_set1_epi32(
						      constants->right)),
		_mm512_load_si512(products + AMX_COLUMNS), half);

	/* The upper halves of both: of bits 0xf0, 0xcc and 0xaa. */
	_mm512_store_si512(to, _mm512_ternarylogic_epi32(
				       right, _mm512_srli_epi32(left, 16),
				       _mm512_set1_epi32(constants->upper),
				       0xe4));
}

/* The next row, if there is one. */
INLINE void finish_some(struct finish *finish)
{
	if (!finish->left)
		return;
	if (!finish->run)
		finish_gather(finish);
	finish->run--;
	pair_finish(finish->products, finish->words, finish->constants,
		    finish->dx);
	finish->words = _mm512_srli_epi32(finish->words, 2);
	finish->left--;
	finish->products += 2 * AMX_COLUMNS;
	finish->dx += AMX_DEPTH;
}

/* The sources of the next sample's dz, to prefetch while there is time. */
struct fetch {
	const char *dy, *winners;
};

/* More than there is does no harm. */
INLINE void fetch_some(struct fetch *fetch)
{
	_mm_prefetch(fetch->dy, _MM_HINT_T1);
	_mm_prefetch(fetch->dy + CACHE_LINE, _MM_HINT_T1);
	_mm_prefetch(fetch->winners, _MM_HINT_T1);
	fetch->dy += 2 * CACHE_LINE;
	fetch->winners += CACHE_LINE / 2;
}

/* Adds 32 k of 64 pixels, from a on, and 16 planes. */
INLINE void column_add(const uint16_t *a, size_t pixel, const amx_tile *b,
		       struct finish *finish, struct fetch *fetch)
{
	const char *at = (const char *)a;

	_tile_loadd(6, b, AMX_ROW);
	_tile_loadd(4, at, pixel);
	_tile_dpbf16ps(0, 4, 6);
	finish_some(finish);
	_tile_loadd(5, at + AMX_ROWS * pixel, pixel);
	_tile_dpbf16ps(1, 5, 6);
	_tile_loadd(4, at + 2 * AMX_ROWS * pixel, pixel);
	_tile_dpbf16ps(2, 4, 6);
	finish_some(finish);
	_tile_loadd(5, at + 3 * AMX_ROWS * pixel, pixel);
	_tile_dpbf16ps(3, 5, 6);
	fetch_some(fetch);
}

/* The products of a block, without rows of taps that have zeros alone. */
static void block_multiply(const struct direct_data *data,
			   const uint16_t *dz, const amx_tile *weights,
			   int block, struct finish *finish,
			   struct fetch *fetch, float *products)
{
	const int first = block * PIXELS, last = first + PIXELS - 1;
	const size_t pixel = (size_t)data->pitch * sizeof(uint16_t);
	const int steps = direct_steps(data);
	const uint16_t *from = dz + (data->before + first - 2) *
						data->pitch;

	amx_zero();
	for (int r = 0; r < 3; r++) {
		if (last / data->columns >= r &&
		    first / data->columns < data->rows - 2 + r)
			for (int k = 0; k < steps; k++)
				column_add(from + k * AMX_DEPTH, pixel,
					   weights + k, finish, fetch);
		weights += steps;
		from -= data->columns * data->pitch;
	}
	while (finish->left)
		finish_some(finish);
	amx_store_column(products, AMX_COLUMNS);
	amx_hold_memory();
}

/* The gradient by the first convolution of a sample, added to sums. */
static void sample_correlate(const struct data_task *task)
{
	const struct direct_data *data = &task->data;
	const int tiles = data->blocks * DEEP;
	float *sums = task->sums;

	for (int g = 0; g < data->groups; g++)
		for (int t = 0; t < data->taps; t++) {
			amx_tile *a = task->patches + t * tiles;
			amx_tile *b = task->dx + g * tiles;

			amx_hold_memory();
			_tile_loadd(0, sums, AMX_ROW);
			for (int n = 0; n < tiles; n++) {
				_tile_loadd(4, a + n, AMX_ROW);
				_tile_loadd(6, b + n, AMX_ROW);
				_tile_dpbf16ps(0, 4, 6);
			}
			_tile_stored(0, sums, AMX_ROW);
			amx_hold_memory();
			sums += AMX_ROWS * AMX_COLUMNS;
		}
}

/* Returns the offset of a sample's dy and winners. */
static size_t source_at(const struct data_task *task, int sample)
{
	const struct stem_shape *shape = task->data.shape;

	return (size_t)(sample * shape->outputs * stem_plane(shape));
}

/* A sample's dz, where its products load it. */
static void sample_unpool(const struct data_task *task, int sample)
{
	const struct stem_shape *shape = task->data.shape;
	const struct direct_source source = {
		.dy = task->dy + source_at(task, sample),
		.winners = task->winners + source_at(task, sample),
		.kept = task->kept,
		.scale = task->batch->scale,
	};
	const uint8_t *keep = task->batch->keep;

	if (keep)
		keep += sample * shape->outputs;
	for (int o = 0; o < task->data.pitch; o++)
		task->kept[o] = o >= shape->outputs || (keep && !keep[o]) ? 0 :
									    -1;
	ISA_NAME(direct_dz_fill)(&task->data, &source, task->dz);
}

/* dx of a sample whose dz is there. */
static void sample_multiply(const struct data_task *task, int sample)
{
	const struct direct_data *data = &task->data;
	const amx_tile *weights = task->weights;
	const size_t next = source_at(task, sample + 1);
	struct fetch fetch = { (const char *)(task->dy + next),
			       (const char *)(task->winners + next) };

	for (int g = 0; g < data->groups; g++) {
		struct finish finish = finish_begin(task, sample, g);

		for (int b = 0; b < data->blocks; b++) {
			float *products = task->products[b % 2];

			block_multiply(data, task->dz, weights, b, &finish,
				       &fetch, products);
			finish.products = products;
			finish.left = PIXELS / 2;
		}
		while (finish.left)
			finish_some(&finish);
		weights += 3 * direct_steps(data);
	}
}

void ISA_NAME(stem_direct_backward)(const struct stem_shape *shape,
				    const void *tiles,
				    const struct stem_batch *batch,
				    const float *dy,
				    const uint8_t *winners,
				    const uint8_t *signs, float *first,
				    float *first_bias, float *scratch)
{
	const int image = shape->channels * shape->height * shape->width;
	struct data_task task = { .batch = batch,
				  .weights = (const amx_tile *)tiles,
				  .dy = dy,
				  .winners = winners,
				  .signs = signs };
	const struct direct_data *data = &task.data;

	task_lay_out(&task, shape, scratch);
	memset(task.sums, 0, sums_size(data));
	ISA_NAME(direct_dz_clear)(data, task.dz);
	amx_begin();
	for (int s = 0; s < batch->count; s++) {
		sample_unpool(&task, s);
		ISA_NAME(direct_patches)(data, batch->images + s * image,
					      task.patches, task.rows);
		sample_multiply(&task, s);
		sample_correlate(&task);
	}
	amx_end();
	ISA_NAME(direct_first_add)(data, task.sums, first, first_bias);
}
