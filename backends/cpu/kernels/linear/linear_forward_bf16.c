/*
 * Forward pass of a linear layer in bf16 on vectors (avx512_bf16):
 *
 *   out[b][o] = scale * ReLU(bias[o] + sum over c, i of w[c][o][i] x[b][c][i])
 *
 * w and x are rounded to the nearest, ties to even; sums are fp32. VDPBF16PS
 * adds two products of neighbouring factors to each lane. Places of a block are
 * neighbours, so only the lanes of sums are shuffled. Dropped outputs are
 * multiplied with the others.
 *
 * Blocking: the inputs of a group of blocks (46 KB for 32 samples) are packed
 * first. Then OUTPUTS rows of these blocks at a time are read once. The first
 * SAMPLES samples are multiplied while rows are rounded and packed (11 KB). The
 * other samples use the packed rows from the first level of the cache.
 * Meanwhile the next rows are prefetched.
 *
 * Ceiling: memory bandwidth, with five streams of weights. Groups of eight
 * blocks, from the second level, are slower. Few samples are faster in fp32,
 * row by row (linear_rows.c).
 */
#include "backends/cpu/kernels/linear/linear_forward.h"

#if HAS_PAIRS

#define WITH_BF16 __attribute__((target("avx512bf16")))

#define SAMPLES 3
#define OUTPUTS 8 /* 24 sums, 3 vectors of inputs, one of weights */
#define MOST_VECTORS (PAIRS_PLACES / LANES)

struct bf16_pass {
	const struct linear_shape *shape;
	const struct linear_batch *batch;
	const float *weights;
	float *out;
	int from, to; /* blocks: the group */
	int vectors;  /* of floats per row of the group */
	/* Places of these vectors, then of the vector paired with a last odd
	 * one. */
	const float *at[MOST_VECTORS + 1];
	/* Packed pairs, in vectors: */
	uint32_t *in;	/* [count / SAMPLES][vectors / 2][SAMPLES] */
	uint32_t *rows; /* [vectors / 2][OUTPUTS] */
};

static int group_of(const struct linear_shape *shape)
{
	const int most = PAIRS_PLACES / shape->block;

	return most < shape->blocks ? most : shape->blocks;
}

static size_t cut(struct bf16_pass *pass, const struct linear_shape *shape,
		  int count, void *scratch)
{
	const int vectors = group_of(shape) * shape->block / LANES;
	const size_t row =
		(size_t)(vectors + 1) / 2 * LANES * sizeof(uint32_t);
	size_t used = 0;

	pass->in = scratch_take(scratch, &used,
				(size_t)(count + SAMPLES - 1) * row);
	pass->rows = scratch_take(scratch, &used, OUTPUTS * row);
	return used;
}

size_t VEC_NAME(linear_forward_bf16_scratch)(const struct linear_shape *shape,
					     int count)
{
	struct bf16_pass pass;

	return cut(&pass, shape, count, NULL);
}

/* Lists the group's vectors; its blocks are step floats apart. */
static void find_vectors(struct bf16_pass *pass, const float *from, size_t step)
{
	const int block = pass->shape->block;

	pass->vectors = 0;
	for (int c = pass->from; c < pass->to; c++, from += step)
		for (int i = 0; i < block; i += LANES)
			pass->at[pass->vectors++] = from + i;
}

/* Rounds two vectors of floats to one of pairs. */
WITH_BF16 INLINE __m512bh rounded(const float *low, const float *high)
{
	return _mm512_cvtne2ps_pbh((__m512)vec_load(high),
				   (__m512)vec_load(low));
}

/* Returns the pairs of a packed row. */
INLINE int pairs_of(const struct bf16_pass *pass)
{
	return (pass->vectors + 1) / 2 * LANES;
}

WITH_BF16 static void pack_sample(struct bf16_pass *pass, int b)
{
	static const float zeros[LANES];
	const struct linear_batch *batch = pass->batch;
	uint32_t *to;

	find_vectors(pass,
		     batch->in + (size_t)b * batch->sample +
			     (size_t)pass->from * batch->block,
		     batch->block);
	to = pass->in + b / SAMPLES * SAMPLES * pairs_of(pass) +
	     b % SAMPLES * LANES;
	pass->at[pass->vectors] = zeros;
	for (int v = 0; v < pass->vectors; v += 2, to += SAMPLES * LANES)
		_mm512_storeu_si512(to, (__m512i)rounded(pass->at[v],
							 pass->at[v + 1]));
}

/* Returns the sum of all lanes of sums[i] in lane i. */
INLINE __m256 fold(const vec *sums)
{
	const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 0, 0,
						0, 0, 0, 0, 0, 0);
	const __m512 low = (__m512)vec_fold(sums);
	const __m512 high = (__m512)vec_fold(sums + 4);
	/* Quarter i: two partial sums each of i and i + 4, in turn. */
	const __m512 both = _mm512_add_ps(_mm512_unpacklo_ps(low, high),
					  _mm512_unpackhi_ps(low, high));
	const __m512 all = _mm512_add_ps(both, _mm512_permute_ps(both, 0x4e));

	return _mm512_castps512_ps256(_mm512_permutexvar_ps(order, all));
}

/* Adds the products of two vectors of each row; packs is a constant. */
WITH_BF16 INLINE void add_vectors(const struct bf16_pass *pass,
				  vec sums[SAMPLES][OUTPUTS], int v, int o,
				  const uint32_t *in, uint32_t *rows,
				  int samples, int packs)
{
	const size_t row = (size_t)pass->shape->block;
	const float *low = pass->at[v] + (size_t)o * row;
	const float *high = pass->at[v + 1] + (size_t)o * row;
	const int last = pass->shape->outputs - 1 - o;
	__m512bh x[SAMPLES];

	UNROLL
	for (int i = 0; i < samples; i++)
		x[i] = (__m512bh)_mm512_loadu_si512(in + i * LANES);
	UNROLL
	for (int n = 0; n < OUTPUTS; n++) {
		/* After the last row, repeats it. */
		const size_t at = (size_t)(n < last ? n : last) * row;
		const vec w = packs ? (vec)rounded(low + at, high + at) :
				      vec_hold(vec_load((float *)rows +
							n * LANES));

		if (packs)
			vec_store((float *)rows + n * LANES, w);
		UNROLL
		for (int i = 0; i < samples; i++)
			sums[i][n] = (vec)_mm512_dpbf16_ps(
				(__m512)sums[i][n], x[i], (__m512bh)w);
	}
}

/* Computes OUTPUTS outputs from o on, for samples from b on; their number is a
 * constant. */
WITH_BF16 INLINE void multiply(const struct bf16_pass *pass, int b, int o,
			       int samples, int packs)
{
	const uint32_t *in = pass->in + b * pairs_of(pass);
	uint32_t *rows = pass->rows;
	const size_t outputs = (size_t)pass->shape->outputs;
	const int left = pass->shape->outputs - o;
	const __mmask8 kept =
		left < OUTPUTS ? (__mmask8)((1 << left) - 1) : 0xff;
	vec sums[SAMPLES][OUTPUTS];

	UNROLL
	for (int i = 0; i < samples * OUTPUTS; i++)
		sums[i / OUTPUTS][i % OUTPUTS] = vec_set(0);
	for (int v = 0; v < pass->vectors; v += 2) {
		add_vectors(pass, sums, v, o, in, rows, samples, packs);
		in += SAMPLES * LANES;
		rows += OUTPUTS * LANES;
	}
	UNROLL
	for (int i = 0; i < samples; i++) {
		float *to = pass->out + (size_t)(b + i) * outputs + o;

		_mm256_mask_storeu_ps(
			to, kept,
			_mm256_add_ps(_mm256_maskz_loadu_ps(kept, to),
				      fold(sums[i])));
	}
}

/* Prefetches the share of SAMPLES samples, from b on, of the next outputs'
 * rows. */
INLINE void fetch_next(const struct bf16_pass *pass, int b, int o)
{
	const int count = pass->batch->count;
	const int floats = OUTPUTS * pass->shape->block;
	const int from = floats * b / count;
	const int past = b + SAMPLES < count ? b + SAMPLES : count;
	const int to = floats * past / count;

	for (int c = pass->from; c < pass->to; c++) {
		const float *next =
			pass->weights + linear_weight_at(pass->shape, o, c, 0);

		for (int i = from; i < to; i += LANES)
			fetch_early(next, floats + i);
	}
}

WITH_BF16 static void multiply_outputs(const struct bf16_pass *pass, int o)
{
	const int count = pass->batch->count;
	int b = SAMPLES;

	fetch_next(pass, 0, o);
	multiply(pass, 0, o, SAMPLES, 1);
	for (; b + SAMPLES <= count; b += SAMPLES) {
		fetch_next(pass, b, o);
		multiply(pass, b, o, SAMPLES, 0);
	}
	if (b == count)
		return;
	fetch_next(pass, b, o);
	if (count - b == 2)
		multiply(pass, b, o, 2, 0);
	else
		multiply(pass, b, o, 1, 0);
}

static void multiply_group(struct bf16_pass *pass)
{
	const struct linear_shape *shape = pass->shape;

	for (int b = 0; b < pass->batch->count; b++)
		pack_sample(pass, b);
	find_vectors(pass,
		     pass->weights + linear_weight_at(shape, 0, pass->from, 0),
		     linear_weight_at(shape, 0, 1, 0));
	/* Multiplied by zeros: a NaN only where the sum has one anyway. */
	pass->at[pass->vectors] = pass->at[pass->vectors - 1];
	for (int o = 0; o < shape->outputs; o += OUTPUTS)
		multiply_outputs(pass, o);
}

static void finish(const struct bf16_pass *pass)
{
	const int all = pass->batch->count * pass->shape->outputs;
	const uint8_t *keep = pass->batch->keep_out;
	const float scale = pass->batch->scale;
	const int relu = pass->shape->relu;
	float *out = pass->out;

	for (int i = 0; i < all; i++) {
		/* A NaN fails the comparison and passes. */
		const int passes =
			!(relu && out[i] <= 0) && (!keep || keep[i]);

		out[i] = passes ? scale * out[i] : 0;
	}
}

void VEC_NAME(linear_forward_bf16)(const struct linear_shape *shape,
				   const struct linear_values *parameters,
				   const struct linear_batch *batch, float *out,
				   void *scratch)
{
	const size_t outputs = (size_t)shape->outputs;
	const int group = group_of(shape);
	struct bf16_pass pass = {
		.shape = shape,
		.batch = batch,
		.weights = parameters->weights,
		.out = out,
	};

	cut(&pass, shape, batch->count, scratch);
	for (int b = 0; b < batch->count; b++)
		memcpy(out + (size_t)b * outputs, parameters->bias,
		       outputs * sizeof(*out));
	for (int c = 0; c < shape->blocks; c += group) {
		const int left = shape->blocks - c;

		pass.from = c;
		pass.to = c + (left < group ? left : group);
		multiply_group(&pass);
	}
	finish(&pass);
}

#endif
