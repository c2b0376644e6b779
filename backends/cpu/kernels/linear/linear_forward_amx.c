/*
 * Forward pass of a linear layer on AMX's tiles:
 *
 *   out[b][o] = scale * ReLU(bias[o] + sum over c, i of w[c][o][i] x[b][c][i])
 *
 * For each block c, A has the inputs x of the samples that keep it, and B its
 * weights, transposed:
 *
 *   A: [samples / 16][depth][part] tiles    B: [outputs / 16][depth][part]
 *
 * depth is the number of tiles that a block's places take. If the last one is
 * half full, it has two parts side by side, so that three products replace six
 * with halves of zeros:
 *
 *   [a2 a1] [b0 b1] + [a0 a1] [b2 b0] + [a0 a0] [b1 b0]
 *
 * While a block is multiplied, the products of the block before it are added to
 * their samples' sums.
 *
 * Ceiling: the products of tiles (amx.h). They hide the work of the vector
 * units only in part.
 */
#include "backends/cpu/kernels/linear/linear_forward_tiles.h"

#define LEAST 32	  /* samples; 16 are faster without tiles */
/* samples with dropout: fp32 kernels skip what is dropped */
#define LEAST_DROPPED 112
#define FEED_ROWS 12	  /* samples that a group of products has time for */

static size_t cut(struct tiles_pass *pass, const struct linear_shape *shape,
		  int count, void *scratch)
{
	const size_t outputs = (size_t)shape->outputs;
	const size_t samples = (size_t)tiles_pad(count);
	size_t used = 0, row;

	pass->parts = amx_parts(shape->bf16);
	pass->depth = (shape->block + AMX_DEPTH - 1) / AMX_DEPTH;
	pass->groups = (count + FEED_ROWS - 1) / FEED_ROWS;
	row = (size_t)(pass->depth * pass->parts) * AMX_ROW;
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

size_t ISA_NAME(linear_forward_tiles_scratch)(const struct linear_shape *shape,
					      int count)
{
	const size_t other = ISA_NAME(linear_forward_scratch)(shape, count);
	struct tiles_pass pass;
	size_t used;

	if (!tiles_fit(shape, count, LEAST))
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

/* Does the vector units' work after product number i of tile d, in group g of a
 * block's products. */
INLINE void feed(const struct tiles_pass *pass, const struct block_side *next,
		 const struct block_side *last, int g, int d, int i, int parts,
		 int half)
{
	const int products = half ? parts : 6 - amx_first_product(parts);
	const int rows = FEED_ROWS / products;
	const int first = g * FEED_ROWS + i * rows;

	for (int r = first; r < first + rows && r < next->kept_count; r++)
		pack_sample(pass, next, r, d, parts, half);
	for (int r = first; r < first + rows && r < last->kept_count && !d; r++)
		add_sums(pass, last, r);
}

/* Multiplies 32 samples by 32 outputs. */
INLINE void multiply_square(const struct tiles_pass *pass, const amx_tile *a,
			    const amx_tile *b, float *to,
			    const struct block_side *next_side,
			    const struct block_side *last,
			    struct weights_cursor *cursor, int g, int parts)
{
	const int whole = pass->shape->block / AMX_DEPTH;
	const int next = pass->depth * parts;
	const size_t outputs = (size_t)pass->shape->outputs;
	const int first = amx_first_product(parts);

	amx_zero();
	for (int d = 0; d < whole; d++, a += parts, b += parts)
		for (int i = first; i < 6; i++) {
			const uint8_t *p = amx_products[i];

			amx_add_square(a + p[0], a + next + p[0], b + p[1],
				       b + next + p[1]);
			feed(pass, next_side, last, g, d, i - first, parts, 0);
			if (cursor->n < next_side->tiles)
				pack_outputs(pass, next_side, cursor, parts);
		}
	for (int i = 0; whole < pass->depth && i < parts; i++) {
		amx_add_square(a + i, a + next + i, b + i, b + next + i);
		feed(pass, next_side, last, g, whole, i, parts, 1);
		if (cursor->n < next_side->tiles)
			pack_outputs(pass, next_side, cursor, parts);
	}
	amx_store_square(to, to + AMX_ROWS * outputs, AMX_COLUMNS, outputs);
}

/* Does group g's share of the other work if the group has no products. */
INLINE void feed_group(const struct tiles_pass *pass,
		       const struct block_side *next,
		       const struct block_side *last, int g, int parts)
{
	const int whole = pass->shape->block / AMX_DEPTH;
	const int products = 6 - amx_first_product(parts);

	for (int d = 0; d < whole; d++)
		for (int i = 0; i < products; i++)
			feed(pass, next, last, g, d, i, parts, 0);
	for (int i = 0; whole < pass->depth && i < parts; i++)
		feed(pass, next, last, g, whole, i, parts, 1);
}

INLINE void multiply_block(const struct tiles_pass *pass,
			   const struct block_side *side,
			   const struct block_side *next,
			   const struct block_side *last, int parts)
{
	const amx_tile *a = (const amx_tile *)side->a;
	const amx_tile *b = (const amx_tile *)side->b;
	const int outputs = pass->shape->outputs;
	const int row = pass->depth * parts;
	struct weights_cursor cursor = { 0, 0 };
	int g = 0;

	for (int m = 0; m < side->kept_count; m += PAIR)
		for (int n = 0; n < outputs; n += PAIR, g++)
			multiply_square(pass, a + m / AMX_ROWS * row,
					b + n / AMX_COLUMNS * row,
					side->products + m * outputs + n, next,
					last, &cursor, g, parts);
	for (; g < pass->groups; g++)
		feed_group(pass, next, last, g, parts);
	while (cursor.n < next->tiles)
		pack_outputs(pass, next, &cursor, parts);
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

INLINE void multiply_all(struct tiles_pass *pass, int parts)
{
	const int blocks = pass->shape->blocks;
	const struct block_side *last = side_of(pass, -2);
	const struct block_side *side = side_of(pass, -1);

	for (int block = -1; block <= blocks; block++) {
		const struct block_side *next = side_of(pass, block + 1);

		multiply_block(pass, side, next, last, parts);
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

int ISA_NAME(linear_forward_is_dense)(const struct linear_shape *shape,
				      int count, int drops)
{
	return tiles_fit(shape, count,
			 drops && !shape->bf16 ? LEAST_DROPPED : LEAST);
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

	const int drops = batch->keep_in || batch->keep_out;

	if (!ISA_NAME(linear_forward_is_dense)(shape, batch->count, drops)) {
		ISA_NAME(linear_forward)(shape, parameters, batch, out,
					 scratch);
		return;
	}
	cut(&pass, shape, batch->count, scratch);
	memset(pass.sums, 0,
	       (size_t)(batch->count * shape->outputs) * sizeof(float));
	amx_begin();
	if (pass.parts == 1)
		multiply_all(&pass, 1);
	else
		multiply_all(&pass, AMX_PARTS);
	amx_end();
	finish(&pass, parameters->bias, out);
}
