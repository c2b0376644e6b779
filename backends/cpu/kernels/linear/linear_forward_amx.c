/*
 * Forward pass of a linear layer in bf16 on AMX's tiles:
 *
 *   out[b][o] = scale * ReLU(bias[o] + sum over c, i of w[c][o][i] x[b][c][i])
 *
 * For each block c, A has the inputs x of the samples that keep it, and B its
 * weights, transposed:
 *
 *   A: [samples / 16][depth] tiles    B: [outputs / 16][depth]
 *
 * depth is the number of tiles that a block's places take; the last one may be
 * half full.
 *
 * While a block is multiplied, the products of the block before it are added to
 * their samples' sums.
 *
 * Ceiling: the products of tiles (amx.h). They hide the work of the vector
 * units only in part.
 */
#include "backends/cpu/kernels/linear/linear_forward_tiles.h"

#define LEAST 32     /* samples; 16 are faster without tiles */
#define FEED_ROWS 12 /* samples that a group of products has time for */

static size_t cut(struct tiles_pass *pass, const struct linear_shape *shape,
		  int count, void *scratch)
{
	const size_t outputs = (size_t)shape->outputs;
	const size_t samples = (size_t)tiles_pad(count);
	size_t used = 0, row;

	pass->depth = (shape->block + AMX_DEPTH - 1) / AMX_DEPTH;
	pass->groups = (count + FEED_ROWS - 1) / FEED_ROWS;
	row = (size_t)pass->depth * AMX_ROW;
	pass->sums = scratch_take(scratch, &used,
				  (size_t)count * outputs * sizeof(float));
	for (int i = 0; i < 2; i++) {
		pass->a[i] = scratch_take(scratch, &used, samples * row);
		pass->b[i] = scratch_take(scratch, &used, outputs * row);
	}
	for (int i = 0; i < SIDES; i++) {
		pass->sides[i].products = scratch_take(
			scratch, &used, samples * outputs * sizeof(float));
		pass->sides[i].kept =
			scratch_take(scratch, &used,
				     (size_t)(count + 1) * sizeof(int32_t));
	}
	return used;
}

int ISA_NAME(linear_forward_is_dense)(const struct linear_shape *shape,
				      int count)
{
	return shape->bf16 && shape->block % AMX_COLUMNS == 0 &&
	       shape->outputs % PAIR == 0 && count >= LEAST &&
	       count <= MOST_CHUNKS * PAIR;
}

/* Returns the shape of a layer that does not fit tiles: it is not rounded. */
static struct linear_shape in_fp32(const struct linear_shape *shape)
{
	struct linear_shape fp32 = *shape;

	fp32.bf16 = 0;
	return fp32;
}

size_t ISA_NAME(linear_forward_tiles_scratch)(const struct linear_shape *shape,
					      int count)
{
	const struct linear_shape fp32 = in_fp32(shape);
	const size_t other = VEC_NAME(linear_forward_scratch)(&fp32, count);
	struct tiles_pass pass;
	size_t used;

	if (!ISA_NAME(linear_forward_is_dense)(shape, count))
		return other;
	/* A later call may have fewer samples, and not use tiles. */
	used = cut(&pass, shape, count, NULL);
	return used > other ? used : other;
}

/* Adds the products of one kept sample to its sums. */
INLINE void add_sums(const struct tiles_pass *pass,
		     const struct block_side *side, int i)
{
	const int outputs = pass->shape->outputs;
	const float *products = side->products + i * outputs;
	float *sums = pass->sums + side->kept[i] * outputs;

	for (int o = 0; o < outputs; o += LANES)
		vec_store(sums + o, vec_load(sums + o) +
					    vec_load(products + o));
}

/* Does the vector units' work after the products of tile d, in group g of a
 * block's products. */
INLINE void feed(const struct tiles_pass *pass, const struct block_side *next,
		 const struct block_side *last, int g, int d)
{
	const int first = g * FEED_ROWS, past = first + FEED_ROWS;

	for (int r = first; r < past && r < next->kept_count; r++)
		pack_sample(pass, next, r, d);
	for (int r = first; r < past && r < last->kept_count && !d; r++)
		add_sums(pass, last, r);
}

/* Multiplies 32 samples by 32 outputs. */
INLINE void multiply_square(const struct tiles_pass *pass, const amx_tile *a,
			    const amx_tile *b, float *to,
			    const struct block_side *next_side,
			    const struct block_side *last,
			    struct weights_cursor *cursor, int g)
{
	const int next = pass->depth;
	const size_t outputs = (size_t)pass->shape->outputs;

	amx_zero();
	for (int d = 0; d < pass->depth; d++, a++, b++) {
		amx_add_square(a, a + next, b, b + next);
		feed(pass, next_side, last, g, d);
		if (cursor->n < next_side->tiles)
			pack_outputs(pass, next_side, cursor);
	}
	amx_store_square(to, to + AMX_ROWS * outputs, AMX_COLUMNS, outputs);
}

static void multiply_block(const struct tiles_pass *pass,
			   const struct block_side *side,
			   const struct block_side *next,
			   const struct block_side *last)
{
	const amx_tile *a = (const amx_tile *)side->a;
	const amx_tile *b = (const amx_tile *)side->b;
	const int outputs = pass->shape->outputs;
	const int depth = pass->depth;
	struct weights_cursor cursor = { 0, 0 };
	int g = 0;

	for (int m = 0; m < side->kept_count; m += PAIR)
		for (int n = 0; n < outputs; n += PAIR, g++)
			multiply_square(pass, a + m / AMX_ROWS * depth,
					b + n / AMX_COLUMNS * depth,
					side->products + m * outputs + n, next,
					last, &cursor, g);
	/* The groups' share of the other work that had no products. */
	for (; g < pass->groups; g++)
		for (int d = 0; d < depth; d++)
			feed(pass, next, last, g, d);
	while (cursor.n < next->tiles)
		pack_outputs(pass, next, &cursor);
}

/* Returns the state of a block; the block need not exist. */
static const struct block_side *side_of(struct tiles_pass *pass, int block)
{
	const struct linear_shape *shape = pass->shape;
	struct block_side *side = &pass->sides[(block + SIDES) % SIDES];
	const int later = block + 1 < shape->blocks;

	side->block = block;
	side->kept_count = 0;
	side->tiles = 0;
	if (block < 0 || block >= shape->blocks)
		return side;
	side->kept_count =
		tiles_gather(shape, pass->batch, block, side->kept);
	side->tiles = shape->outputs / AMX_COLUMNS;
	side->a = pass->a[block % 2];
	side->b = pass->b[block % 2];
	side->fetch_in = later ? pass->batch->block : 0;
	side->fetch_weights = later ? linear_weight_at(shape, 0, 1, 0) : 0;
	return side;
}

static void multiply_all(struct tiles_pass *pass)
{
	const int blocks = pass->shape->blocks;
	const struct block_side *last = side_of(pass, -2);
	const struct block_side *side = side_of(pass, -1);

	for (int block = -1; block <= blocks; block++) {
		const struct block_side *next = side_of(pass, block + 1);

		multiply_block(pass, side, next, last);
		last = side;
		side = next;
	}
}

static void finish(const struct tiles_pass *pass, const float *bias, float *out)
{
	const struct linear_batch *batch = pass->batch;
	const int outputs = pass->shape->outputs;
	const vec scale = vec_set(batch->scale);

	for (int b = 0; b < batch->count; b++)
		for (int o = 0; o < outputs; o += LANES) {
			const int at = b * outputs + o;
			const vec value = vec_load(pass->sums + at) +
					  vec_load(bias + o);
			lanes_int passes = ~(lanes_int){ 0 };

			/* A NaN fails the comparison and passes. */
			if (pass->shape->relu)
				passes = ~(lanes_int)(value <= vec_set(0));
			if (batch->keep_out)
				passes &= tiles_kept(batch->keep_out + at);
			vec_store(out + at,
				  (vec)((lanes_int)(scale * value) & passes));
		}
}

void ISA_NAME(linear_forward_tiles)(const struct linear_shape *shape,
				    const struct linear_values *parameters,
				    const struct linear_batch *batch,
				    float *out, void *scratch)
{
	struct tiles_pass pass = {
		.shape = shape,
		.batch = batch,
		.weights = parameters->weights,
	};

	if (!ISA_NAME(linear_forward_is_dense)(shape, batch->count)) {
		const struct linear_shape fp32 = in_fp32(shape);

		VEC_NAME(linear_forward)(&fp32, parameters, batch, out,
					 scratch);
		return;
	}
	cut(&pass, shape, batch->count, scratch);
	memset(pass.sums, 0,
	       (size_t)(batch->count * shape->outputs) * sizeof(float));
	amx_begin();
	multiply_all(&pass);
	amx_end();
	finish(&pass, parameters->bias, out);
}
