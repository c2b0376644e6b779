/*
 * out[b][o] = scale * ReLU(bias[o] + sum over c, i of w[c][o][i] x[b][c][i])
 *
 * See linear_tiles.h. One block c after the other: A has its inputs x of the
 * samples that keep it, B its weights, transposed:
 *
 *   A: [samples / 16][depth][part] tiles    B: [outputs / 16][depth][part]
 *
 * where depth is the number of tiles that the places of a block take. If the
 * last one is half full, it has two parts beside each other, so that three
 * products do what six would do with halves of zeros:
 *
 *   [a2 a1] [b0 b1] + [a0 a1] [b2 b0] + [a0 a0] [b1 b0]
 *
 * Products of a block are added to the sums of the samples that they are of
 * while the next block is multiplied.
 */
#include "backends/cpu/kernels/linear_tiles.h"

#ifdef __AMX_BF16__

#define PLACES 4     /* whose weights are transposed at once */
#define FEED_ROWS 12 /* samples that a group of products has time for */
#define SIDES 3

/* The next weights to be transposed: tile n of outputs, from place at on. */
struct cursor {
	int n, at;
};

/* A block: the next one, the one that is multiplied, or the last one. */
struct side {
	int block;
	int kept_count;	 /* samples, which are rows of A and of products */
	int tiles;	 /* of outputs, in B */
	int32_t *kept;	 /* [count + 1]: which ones */
	float *products; /* [samples][outputs] */
	amx_tile *a, *b;
	size_t fetch_in, fetch_weights; /* to those of the block after it */
};

struct pass {
	const struct linear_shape *shape;
	const struct linear_batch *batch;
	const float *weights;
	int parts, depth;
	int groups;	       /* in which all work of a block is done */
	float *sums;	       /* [count][outputs] */
	amx_tile *a[2], *b[2]; /* of even and odd blocks */
	struct side sides[SIDES];
};

static const uint8_t half_parts[2][AMX_PARTS][2] = {
	{ { 2, 1 }, { 0, 1 }, { 0, 0 } }, /* of A: left, right */
	{ { 0, 1 }, { 2, 0 }, { 1, 0 } }, /* of B: above, below */
};

static size_t cut(struct pass *pass, const struct linear_shape *shape,
		  int count, void *scratch)
{
	const size_t outputs = (size_t)shape->outputs;
	const size_t samples = (size_t)tiles_pad(count);
	size_t used = 0, row;

	pass->parts = tiles_parts(shape);
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
	struct pass pass;
	size_t used;

	if (!tiles_fit(shape, count))
		return other;
	/* Fewer samples than that may come, too. */
	used = cut(&pass, shape, count, NULL);
	return used > other ? used : other;
}

/* 16 floats of a row of A whose tile is half full. */
INLINE void store_half_row(amx_tile *tile, int row, vec value, int parts)
{
	const vec zero = vec_set(0);
	lanes_int split[AMX_PARTS];

	if (parts < AMX_PARTS) {
		amx_store_row(tile, row, value, zero, parts);
		return;
	}
	amx_split(value, parts, split);
	UNROLL
	for (int p = 0; p < AMX_PARTS; p++) {
		const uint8_t *half = half_parts[0][p];
		const __m256i left = _mm512_cvtepi32_epi16(
			_mm512_srli_epi32((__m512i)split[half[0]], 16));
		const __m256i right = _mm512_cvtepi32_epi16(
			_mm512_srli_epi32((__m512i)split[half[1]], 16));

		_mm256_store_si256((__m256i *)(tile[p] + row * AMX_DEPTH),
				   left);
		_mm256_store_si256((__m256i *)(tile[p] + row * AMX_DEPTH +
					       AMX_DEPTH / 2),
				   right);
	}
}

/* Two rows of floats to rows of B whose tile is half full. */
INLINE void store_half_pair(amx_tile *tile, int row, vec even, vec odd,
			    int parts)
{
	lanes_int low[AMX_PARTS], high[AMX_PARTS];
	__m512i pairs[AMX_PARTS];

	amx_split(even, parts, low);
	amx_split(odd, parts, high);
	UNROLL
	for (int p = 0; p < parts; p++)
		pairs[p] = _mm512_mask_blend_epi16(
			0xaaaaaaaa, _mm512_srli_epi32((__m512i)low[p], 16),
			(__m512i)high[p]);
	UNROLL
	for (int p = 0; p < parts; p++) {
		uint16_t *to = tile[p] + row * AMX_DEPTH;
		const uint8_t *half = half_parts[1][p];

		if (parts < AMX_PARTS) {
			_mm512_store_si512(to, pairs[0]);
			_mm512_store_si512(to + sizeof(*tile) / 4,
					   _mm512_setzero_si512());
			return;
		}
		_mm512_store_si512(to, pairs[half[0]]);
		_mm512_store_si512(to + sizeof(*tile) / 4, pairs[half[1]]);
	}
}

/* 32 places, or the 16 that are left, of one sample that is kept. */
INLINE void pack_sample(const struct pass *pass, const struct side *side, int i,
			int d, int parts, int half)
{
	const struct linear_batch *batch = pass->batch;
	const float *x = batch->in + (size_t)side->kept[i] * batch->sample +
			 (size_t)side->block * batch->block + d * AMX_DEPTH;
	amx_tile *tile =
		side->a + (i / AMX_ROWS * pass->depth + d) * parts;

	/* Of the next block, whether it is kept or not. */
	tiles_fetch(x + side->fetch_in, half ? AMX_DEPTH / 2 : AMX_DEPTH);
	if (half)
		store_half_row(tile, i % AMX_ROWS, vec_load(x), parts);
	else
		amx_store_row(tile, i % AMX_ROWS, vec_load(x),
			      vec_load(x + LANES), parts);
}

/* Four places of 16 rows: columns[place][row]. */
INLINE void transpose_four(const float *rows, size_t stride, vec columns[4])
{
	__m512 four[4], low[2], high[2];

	UNROLL
	for (int r = 0; r < 4; r++) {
		const float *row = rows + (size_t)r * stride;

		four[r] = _mm512_broadcast_f32x4(_mm_loadu_ps(row));
		UNROLL
		for (int lane = 1; lane < 4; lane++)
			four[r] = _mm512_mask_broadcast_f32x4(
				four[r], (__mmask16)(15 << 4 * lane),
				_mm_loadu_ps(row + (size_t)(4 * lane) *
							   stride));
	}
	UNROLL
	for (int i = 0; i < 2; i++) {
		low[i] = _mm512_unpacklo_ps(four[2 * i], four[2 * i + 1]);
		high[i] = _mm512_unpackhi_ps(four[2 * i], four[2 * i + 1]);
	}
	columns[0] = (vec)_mm512_unpacklo_pd((__m512d)low[0], (__m512d)low[1]);
	columns[1] = (vec)_mm512_unpackhi_pd((__m512d)low[0], (__m512d)low[1]);
	columns[2] =
		(vec)_mm512_unpacklo_pd((__m512d)high[0], (__m512d)high[1]);
	columns[3] =
		(vec)_mm512_unpackhi_pd((__m512d)high[0], (__m512d)high[1]);
}

/* PLACES places of 16 outputs, from the cursor on, which moves on. */
INLINE void pack_outputs(const struct pass *pass, const struct side *side,
			 struct cursor *cursor, int parts)
{
	const struct linear_shape *shape = pass->shape;
	const int d = cursor->at / AMX_DEPTH;
	const int row = cursor->at % AMX_DEPTH / 2;
	const float *rows = pass->weights +
			    linear_weight_at(shape, cursor->n * AMX_COLUMNS,
					     side->block, 0);
	amx_tile *tile = side->b + (cursor->n * pass->depth + d) * parts;
	vec columns[PLACES];

	tiles_fetch(rows + side->fetch_weights + cursor->at * AMX_COLUMNS,
		    PLACES * AMX_COLUMNS);
	transpose_four(rows + cursor->at, (size_t)shape->block, columns);
	UNROLL
	for (int c = 0; c < PLACES; c += 2) {
		if ((d + 1) * AMX_DEPTH > shape->block)
			store_half_pair(tile, row + c / 2, columns[c],
					columns[c + 1], parts);
		else
			amx_store_pair(tile, row + c / 2, columns[c],
				       columns[c + 1], parts);
	}
	cursor->at += PLACES;
	if (cursor->at == shape->block) {
		cursor->at = 0;
		cursor->n++;
	}
}

/* The products of one sample that was kept, to its sums. */
INLINE void add_sums(const struct pass *pass, const struct side *side, int i)
{
	const int outputs = pass->shape->outputs;
	const float *products = side->products + i * outputs;
	float *sums = pass->sums + side->kept[i] * outputs;

	for (int o = 0; o < outputs; o += LANES)
		vec_store(sums + o, vec_load(sums + o) +
					    vec_load(products + o));
}

/*
 * What vectors do behind number i of the products of tile d, in group g of
 * those of a block.
 */
INLINE void feed(const struct pass *pass, const struct side *next,
		 const struct side *last, int g, int d, int i, int parts,
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

/* 32 samples by 32 outputs */
INLINE void multiply_square(const struct pass *pass, const amx_tile *a,
			    const amx_tile *b, float *to,
			    const struct side *next_side,
			    const struct side *last, struct cursor *cursor,
			    int g, int parts)
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

/* Group g's share of the other work, where there are no products for it. */
INLINE void feed_group(const struct pass *pass, const struct side *next,
		       const struct side *last, int g, int parts)
{
	const int whole = pass->shape->block / AMX_DEPTH;
	const int products = 6 - amx_first_product(parts);

	for (int d = 0; d < whole; d++)
		for (int i = 0; i < products; i++)
			feed(pass, next, last, g, d, i, parts, 0);
	for (int i = 0; whole < pass->depth && i < parts; i++)
		feed(pass, next, last, g, whole, i, parts, 1);
}

INLINE void multiply_block(const struct pass *pass, const struct side *side,
			   const struct side *next, const struct side *last,
			   int parts)
{
	const amx_tile *a = (const amx_tile *)side->a;
	const amx_tile *b = (const amx_tile *)side->b;
	const int outputs = pass->shape->outputs;
	const int row = pass->depth * parts;
	struct cursor cursor = { 0, 0 };
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

/* The side of a block, which need not exist. */
static const struct side *side_of(struct pass *pass, int block)
{
	const struct linear_shape *shape = pass->shape;
	struct side *side = &pass->sides[(block + SIDES) % SIDES];
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

INLINE void multiply_all(struct pass *pass, int parts)
{
	const int blocks = pass->shape->blocks;
	const struct side *last = side_of(pass, -2);
	const struct side *side = side_of(pass, -1);

	for (int block = -1; block <= blocks; block++) {
		const struct side *next = side_of(pass, block + 1);

		multiply_block(pass, side, next, last, parts);
		last = side;
		side = next;
	}
}

static void finish(const struct pass *pass, const float *bias, float *out)
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

			/* A NaN is not below 0. */
			if (pass->shape->relu)
				passes = ~(lanes_int)(value <= vec_set(0));
			if (batch->keep_out)
				passes &= (lanes_int)_mm512_cvtepi8_epi32(
					_mm_loadu_si128(
						(const __m128i *)(batch->keep_out +
								  at))) != 0;
			vec_store(out + at,
				  (vec)((lanes_int)(scale * value) & passes));
		}
}

void ISA_NAME(linear_forward_tiles)(const struct linear_shape *shape,
				    const struct linear_values *parameters,
				    const struct linear_batch *batch,
				    float *out, void *scratch)
{
	struct pass pass = {
		.shape = shape,
		.batch = batch,
		.weights = parameters->weights,
	};

	if (!tiles_fit(shape, batch->count)) {
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

#endif
