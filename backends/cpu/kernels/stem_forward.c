/*
 * The stem forward, in strips of vectors of tiles (stem_lanes.h): those of one
 * sample, or of all samples where no plane is dropped.
 *
 *   V = B^T x B of the planes between (stem_enter.c)
 *   M[o] = sum over i of U[o][i] V[i] at each point (stem_products.c)
 *   y[o] = A^T M[o] A                                           4x4
 *   out[o][q] = scale * (bias[o] + max of a quadrant of y[o])
 *
 *   V: [point][middle][vectors][LANES]
 *   M: [point][rows][vectors][LANES], rows being the planes of a block
 *
 * Dropped planes of a sample are left out. The tail of a group goes with the
 * last sample, since more vectors a product are less loads; then only planes
 * that this sample dropped and another one keeps are left of it. V of a strip,
 * M of a block and U (at most 216 KB, 220 KB and 288 KB for the network of
 * mnist and AVX-512) are in the second cache together.
 *
 * A sample of mnist with a quarter of its planes dropped takes 124,000 cycles
 * on a Xeon with AVX-512, 63 % of them products; 64,000 are the FMAs of the
 * products and 20,000 what stem_enter.c must do. Pooling takes 130 a plane and
 * vector, and 60 more where outputs are on pages of 4 KB.
 */
#include "backends/cpu/kernels/simd_masks.h"
#include "backends/cpu/kernels/stem_kernels.h"
#include "backends/cpu/kernels/winograd.h"

/* Vectors of a strip: what one product has in registers, or twice. */
#if LANES == 16
#define STRIP 3
#elif LANES == 8
#define STRIP 4
#else
#define STRIP 8
#endif

#define BLOCK 32 /* most planes */
#define TAIL -1

/* What a call is about. */
struct task {
	const struct stem_shape *shape;
	const struct stem_weights *weights;
	const struct stem_batch *batch;
	struct stem_lanes lanes;
	float *out;
	uint8_t *winners, *signs;
	float *patches, *data, *products; /* scratch */
};

/* Vectors that are done together. */
struct strip {
	int count;
	int vectors[STRIP]; /* of the group's */
	int samples[STRIP]; /* whose tiles they are; TAIL: several ones' */
	int tiles[STRIP];   /* of the first lanes */
};

/* Planes of a strip's vectors, the first one on, that are done together. */
struct block {
	const struct strip *strip;
	int first;
	int count;
	int planes[BLOCK];
};

static size_t patches_size(const struct stem_shape *shape)
{
	return (size_t)shape->channels * STEM_PATCH * STEM_PATCH * LANES;
}

size_t ISA_NAME(stem_forward_scratch)(const struct stem_shape *shape)
{
	return patches_size(shape) +
	       STEM_POINTS * (stem_stride(shape->middle, STRIP) +
			      stem_stride(BLOCK, STRIP));
}

/* Where a plane's outputs begin: its first quadrant. */
static size_t plane_at(const struct task *task, int sample, int plane)
{
	return (size_t)(sample * task->shape->outputs + plane) *
	       STEM_QUADRANTS * (size_t)task->lanes.tiles;
}

static int plane_is_kept(const struct task *task, int sample, int plane)
{
	const uint8_t *keep = task->batch->keep;

	return !keep || keep[sample * task->shape->outputs + plane];
}

/* Of a sample, or of any where they share the tail. */
static int plane_is_wanted(const struct task *task, int sample, int plane)
{
	if (sample != TAIL)
		return plane_is_kept(task, sample, plane);
	for (int n = 0; n < task->batch->count; n++)
		if (plane_is_kept(task, n, plane))
			return 1;
	return 0;
}

/* Four pixels in their order; winner is where the largest one is. */
INLINE vec window_pool(const vec window[STEM_QUADRANTS], bytes *winner)
{
	const mask above = mask_wins(window[1], window[0]);
	const mask below = mask_wins(window[3], window[2]);
	const vec top = vec_choose(above, window[1], window[0]);
	const vec bottom = vec_choose(below, window[3], window[2]);
	const mask lower = mask_wins(bottom, top);

	*winner = bytes_choose(
		lower, bytes_choose(below, bytes_set(3), bytes_set(2)),
		bytes_choose(above, bytes_set(1), bytes_set(0)));
	return vec_choose(lower, bottom, top);
}

/* A^T M A of one plane and vector, pooled; stride is M's from point to point */
INLINE void tile_pool(const float *products, size_t stride,
		      vec pooled[STEM_QUADRANTS],
		      bytes winners[STEM_QUADRANTS])
{
	vec half[WINOGRAD_DATA][STEM_TILE];

	UNROLL for (int x = 0; x < WINOGRAD_DATA; x++) {
		vec column[WINOGRAD_DATA];

		UNROLL for (int y = 0; y < WINOGRAD_DATA; y++)
			column[y] = vec_load(
				products + (size_t)(y * WINOGRAD_DATA + x) *
						   stride);
		points_to_output(column, half[x]);
	}
	UNROLL for (int y = 0; y < STEM_TILE; y += 2) {
		vec rows[2][STEM_TILE];

		UNROLL for (int r = 0; r < 2; r++) {
			vec row[WINOGRAD_DATA];

			UNROLL for (int x = 0; x < WINOGRAD_DATA; x++)
				row[x] = half[x][y + r];
			points_to_output(row, rows[r]);
		}
		UNROLL for (int x = 0; x < 2; x++) {
			const vec window[STEM_QUADRANTS] = {
				rows[0][2 * x], rows[0][2 * x + 1],
				rows[1][2 * x], rows[1][2 * x + 1],
			};

			pooled[y + x] = window_pool(window, &winners[y + x]);
		}
	}
}

/* The quadrants of one sample's tiles that are so many lanes of a vector. */
INLINE void lanes_store(float *out, uint8_t *winners, size_t tiles,
			const vec *values, const bytes *codes, int first,
			int count)
{
	UNROLL for (int q = 0; q < STEM_QUADRANTS; q++) {
		if (count == LANES)
			vec_store(out, values[q]);
		else
			vec_store_part(out, values[q], first, count);
		out += tiles;
	}
	if (!winners)
		return;
	UNROLL for (int q = 0; q < STEM_QUADRANTS; q++) {
		if (count == LANES)
			bytes_store(winners, codes[q]);
		else
			bytes_store_part(winners, codes[q], first, count);
		winners += tiles;
	}
}

/* A plane's quadrants of vector v of a strip, to where samples have them. */
INLINE void plane_store(const struct task *task, const struct strip *strip,
			int v, int plane, const vec *values,
			const bytes *codes)
{
	const size_t tiles = (size_t)task->lanes.tiles;
	const int is_tail = strip->samples[v] == TAIL;
	const int rest = task->lanes.rest, tile = strip->tiles[v];
	const int first = is_tail ? 0 : strip->samples[v];
	const int samples = is_tail ? task->batch->count : 1;

	for (int n = first; n < first + samples; n++) {
		const size_t at = plane_at(task, n, plane) + (size_t)tile;
		float *out = task->out + at;
		uint8_t *winners = task->winners ? task->winners + at : NULL;

		if (!is_tail)
			lanes_store(out, winners, tiles, values, codes, 0,
				    LANES);
		else if (plane_is_kept(task, n, plane))
			lanes_store(out, winners, tiles, values, codes,
				    n * rest, rest);
	}
}

/* Outputs of a block. */
static void block_leave(const struct task *task, const struct block *block)
{
	const int first = block->first, vectors = block->strip->count - first;
	const size_t stride = stem_stride(block->count, vectors);
	const vec scale = vec_set(task->batch->scale);
	const int relu = task->shape->relu;
	const float *products = task->products;

	for (int r = 0; r < block->count; r++) {
		const int plane = block->planes[r];
		const vec bias = scale * vec_set(task->weights->bias[plane]);

		for (int v = 0; v < vectors; v++) {
			vec values[STEM_QUADRANTS];
			bytes codes[STEM_QUADRANTS];

			tile_pool(products, stride, values, codes);
			UNROLL for (int q = 0; q < STEM_QUADRANTS; q++) {
				values[q] = values[q] * scale + bias;
				if (relu)
					values[q] = vec_max(vec_set(0),
							    values[q]);
			}
			plane_store(task, block->strip, first + v, plane,
				    values, codes);
			products += LANES;
		}
	}
}

/* M of a block. */
static void block_multiply(const struct task *task, const struct block *block)
{
	const struct stem_shape *shape = task->shape;
	const int vectors = block->strip->count;
	int places[BLOCK];
	struct stem_product product = {
		.points = task->weights->points,
		.places = places,
		.rows = block->count,
		.depth = shape->middle,
		.data = task->data + block->first * LANES,
		.data_step = (size_t)(vectors * LANES),
		.to = task->products,
		.to_step = (size_t)((vectors - block->first) * LANES),
		.vectors = vectors - block->first,
	};

	for (int r = 0; r < block->count; r++)
		places[r] = block->planes[r] * shape->middle;
	for (int k = 0; k < STEM_POINTS; k++) {
		ISA_NAME(stem_products)(&product);
		product.points += (size_t)shape->outputs *
				  (size_t)shape->middle;
		product.data += stem_stride(shape->middle, vectors);
		product.to += stem_stride(block->count, product.vectors);
	}
}

/* Of the planes wanted by a strip's vectors, the first one on; the next one. */
static int plane_next(const struct task *task, const struct strip *strip,
		      int first, int plane)
{
	for (; plane < task->shape->outputs; plane++)
		if (plane_is_wanted(task, strip->samples[first], plane) &&
		    (!first || !plane_is_wanted(task, strip->samples[0],
						plane)))
			break;
	return plane;
}

/* Blocks of nearly one size, since products of few rows are slower. */
static void vectors_leave(const struct task *task, const struct strip *strip,
			  int first)
{
	struct block block = { .strip = strip, .first = first };
	int left = 0, plane = 0;

	while ((plane = plane_next(task, strip, first, plane)) <
	       task->shape->outputs) {
		plane++;
		left++;
	}
	plane = 0;
	while (left > 0) {
		const int blocks = (left + BLOCK - 1) / BLOCK;
		const int size = (left + blocks - 1) / blocks;

		for (block.count = 0; block.count < size; plane++) {
			plane = plane_next(task, strip, first, plane);
			block.planes[block.count++] = plane;
		}
		block_multiply(task, &block);
		block_leave(task, &block);
		left -= size;
	}
}

static void strip_forward(const struct task *task, const struct strip *strip)
{
	const int last = strip->count - 1;

	ISA_NAME(stem_enter)(task->shape, task->weights, task->batch,
			     strip->vectors, strip->count, task->data,
			     task->signs, task->patches);
	vectors_leave(task, strip, 0);
	if (last > 0 && strip->samples[last] == TAIL)
		vectors_leave(task, strip, last);
}

/* The vectors of samples that drop the same planes, and perhaps the tail. */
static void samples_forward(const struct task *task, int sample, int samples,
			    int has_tail)
{
	const int main = task->lanes.main, apart = samples * main;
	struct strip strip = { 0 };

	for (int i = 0; i < apart + has_tail; i++) {
		const int v = strip.count++, is_tail = i == apart;

		strip.vectors[v] = is_tail ? task->lanes.group * main :
					     sample * main + i;
		strip.samples[v] = is_tail ? TAIL : sample + i / main;
		strip.tiles[v] = is_tail ? main * LANES : i % main * LANES;
		if (strip.count == STRIP || i + 1 == apart + has_tail) {
			strip_forward(task, &strip);
			strip.count = 0;
		}
	}
}

void ISA_NAME(stem_forward)(const struct stem_shape *shape,
			    const struct stem_weights *weights,
			    const struct stem_batch *batch, float *out,
			    uint8_t *winners, uint8_t *signs, float *scratch)
{
	struct task task = {
		.shape = shape,
		.weights = weights,
		.batch = batch,
		.lanes = stem_lanes_of(shape),
		.out = out,
		.winners = winners,
		.signs = signs,
		.patches = scratch,
	};
	const int has_tail = task.lanes.rest > 0;
	const int apart = batch->keep ? batch->count : 1;

	task.data = task.patches + patches_size(shape);
	task.products = task.data +
			STEM_POINTS * stem_stride(shape->middle, STRIP);
	for (int n = 0; n < apart; n++)
		samples_forward(&task, n, batch->keep ? 1 : batch->count,
				has_tail && n == apart - 1);
}
