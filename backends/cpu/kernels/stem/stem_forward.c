/*
 * The stem forward, in strips of vectors of tiles (stem_lanes.h): the tiles of
 * one sample, or of all samples if no plane is dropped.
 *
 *   V = B^T x B of the planes between (stem_input.c)
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
 * Ceiling, for a sample of mnist with a quarter of its planes dropped, on a
 * Xeon with AVX-512: 64,000 cycles for the FMAs of the products and 20,000 for
 * stem_input.c.
 */
#include "backends/cpu/kernels/stem_direct/stem_direct_forward_amx.h"
#include "backends/cpu/kernels/stem/stem_pool.h"

/* Vectors of a strip: what one product has in registers, or twice. */
#if LANES == 16
#define STRIP 3
#elif LANES == 8
#define STRIP 4
#else
#define STRIP 8
#endif

#define BLOCK 32 /* most planes */

/* Vectors that are done together. */
struct vector_strip {
	int count;
	int vectors[STRIP]; /* of the group's */
	int samples[STRIP]; /* whose tiles they are; TAIL: several ones' */
	int tiles[STRIP];   /* of the first lanes */
};

/* Planes of a strip's vectors, the first one on, that are done together. */
struct plane_block {
	const struct vector_strip *strip;
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
#ifdef __AMX_BF16__
	if (stem_is_direct(shape))
		return ISA_NAME(stem_direct_forward_scratch)(shape);
#endif
	return patches_size(shape) +
	       STEM_POINTS * (stem_stride(shape->middle, STRIP) +
			      stem_stride(BLOCK, STRIP));
}

/* Outputs of a block. */
static void block_leave(const struct task *task,
			const struct plane_block *block)
{
	const struct vector_strip *strip = block->strip;
	const size_t stride = stem_stride(block->count,
					  strip->count - block->first);
	const float *products = task->products;

	for (int r = 0; r < block->count; r++)
		for (int v = block->first; v < strip->count; v++) {
			plane_leave(task, strip->samples[v], strip->tiles[v],
				    block->planes[r], products, stride);
			products += LANES;
		}
}

/*
 * Fetches, into the second cache, where block_leave() will store outputs and
 * winners: one of STEM_POINTS shares of a block's planes. A vector's first line
 * is enough, since the next one begins in its second.
 */
INLINE void outputs_fetch(const struct task *task,
			  const struct plane_block *block, int share)
{
	const struct vector_strip *strip = block->strip;
	const int end = (share + 1) * block->count / STEM_POINTS;

	for (int r = share * block->count / STEM_POINTS; r < end; r++)
		for (int v = block->first; v < strip->count; v++) {
			const int sample = strip->samples[v];
			size_t at;

			if (sample == TAIL)
				continue;
			at = plane_at(task, sample, block->planes[r]) +
			     (size_t)strip->tiles[v];
			for (int q = 0; q < STEM_QUADRANTS; q++) {
				fetch_early(task->out, (ptrdiff_t)at);
				if (task->winners)
					fetch_byte_early(task->winners, at);
				at += (size_t)task->lanes.tiles;
			}
		}
}

/* M of a block. */
static void block_multiply(const struct task *task,
			   const struct plane_block *block)
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
		outputs_fetch(task, block, k);
		VEC_NAME(stem_products)(&product);
		product.points += (size_t)shape->outputs *
				  (size_t)shape->middle;
		product.data += stem_stride(shape->middle, vectors);
		product.to += stem_stride(block->count, product.vectors);
	}
}

/*
 * Returns the next plane, from the given one on, that a strip's vectors need.
 */
static int plane_next(const struct task *task, const struct vector_strip *strip,
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
static void vectors_leave(const struct task *task,
			  const struct vector_strip *strip, int first)
{
	struct plane_block block = { .strip = strip, .first = first };
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

static void strip_forward(const struct task *task,
			  const struct vector_strip *strip)
{
	const int last = strip->count - 1;

	VEC_NAME(stem_input)(task->shape, task->weights, task->batch,
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
	struct vector_strip strip = { 0 };

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

#ifdef __AMX_BF16__
	if (stem_is_direct(shape)) {
		ISA_NAME(stem_direct_forward)(shape, weights, batch, out,
					      winners, signs, scratch);
		return;
	}
#endif
	task.data = task.patches + patches_size(shape);
	task.products = task.data +
			STEM_POINTS * stem_stride(shape->middle, STRIP);
	for (int n = 0; n < apart; n++)
		samples_forward(&task, n, batch->keep ? 1 : batch->count,
				has_tail && n == apart - 1);
}
