/*
 * Indirect GEMM (igemm.h) in bf16 on vectors (avx512_bf16). Factors are rounded
 * to the nearest, ties to even; sums are fp32.
 *
 * VDPBF16PS adds two products of neighbouring factors to each lane. All factors
 * are therefore packed in pairs: of two values of a tap, and in the weight
 * gradient of two pixels. A tap of odd depth is padded with 0. Weights are
 * packed first. Rows are packed just before use, unless they are already in
 * bf16.
 *
 * Blocking: a tile of 6 rows x 4 vectors keeps its sums in registers until all
 * values have passed. Its weights, one block of outputs (2 KB to 590 KB for
 * taps of 512 values), come from the second level of the cache, which is fast
 * enough: 4 loads for 24 products. A chunk of IGEMM_ROUNDED_ROWS rows and its
 * outputs stay there as well while all blocks pass. Meanwhile the next chunk
 * and its outputs are prefetched. 48 rows were faster than 96, 192 or 384 for
 * most layers of ResNet-50 on Zen 5.
 */
#include "backends/cpu/kernels/igemm/igemm_bf16.h"

#include <assert.h>

#if defined(__x86_64__) && defined(__AVX512F__) && !defined(__AMX_BF16__)

/* Two neighbouring bf16 in memory. */
typedef uint32_t pair __attribute__((may_alias, aligned(2)));

struct few_rows {
	int count;
	const char *in[IGEMM_ROUNDED_ROWS]; /* samples */
	int32_t pixels[IGEMM_ROUNDED_ROWS];
	size_t out[IGEMM_ROUNDED_ROWS]; /* offsets, in floats */
};

/* One product, rows of it, and a block of outputs. */
struct bf16_job {
	const struct igemm *igemm;
	const struct igemm_end *end;
	float *out;
	uint16_t *packed;	  /* these rows; NULL = in is bf16 */
	size_t in_sample, size;	  /* bytes of a sample of in, and of a value */
	const struct few_rows *rows, *next;
	const uint32_t *weights;
	int first; /* first output of the block */
	int block, blocks;
};

static int even(int depth)
{
	return depth + depth % 2;
}

static size_t values_of(const struct igemm *igemm)
{
	return (size_t)igemm->taps * (size_t)even(igemm->depth);
}

/* Fills rows from row number first of a batch on; in is its first sample. */
static void fill_rows(const struct bf16_job *job,
		      const struct igemm_batch *batch, const void *in,
		      size_t first, struct few_rows *rows)
{
	const size_t pixels = (size_t)job->igemm->pixels;
	const size_t all = (size_t)batch->count * pixels;
	const size_t left = first < all ? all - first : 0;
	size_t sample = first / pixels;
	int32_t pixel = (int32_t)(first % pixels);

	rows->count = left < IGEMM_ROUNDED_ROWS ? (int)left :
						   IGEMM_ROUNDED_ROWS;
	for (int r = 0; r < rows->count; r++) {
		rows->in[r] = (const char *)in + sample * job->in_sample;
		rows->pixels[r] = pixel;
		rows->out[r] = sample * batch->out_sample +
			       (size_t)job->igemm->places[pixel];
		if (++pixel == job->igemm->pixels) {
			pixel = 0;
			sample++;
		}
	}
}

/*
 * Returns a tap's values in the batch's format; the zeros are the same in bf16.
 */
INLINE const char *tap_in(const struct bf16_job *job,
			  const struct few_rows *rows, int tap, int r)
{
	const struct igemm *igemm = job->igemm;
	const int32_t at = igemm->table[(size_t)tap * (size_t)igemm->pixels +
					 (size_t)rows->pixels[r]];

	return at < 0 ? (const char *)igemm->zeros :
			rows->in[r] + (size_t)at * job->size;
}

/* Packs the chunk's rows. A tap's last vector may write zeros where the next
 * tap is stored. */
WITH_BF16 static void pack_rows(const struct bf16_job *job)
{
	const int depth = job->igemm->depth;
	uint16_t *to = job->packed;

	for (int r = 0; r < job->rows->count; r++)
		for (int t = 0; t < job->igemm->taps; t++) {
			const float *in = (const float *)(const void *)tap_in(
				job, job->rows, t, r);

			for (int k = 0; k < depth; k += LANES)
				_mm256_storeu_si256(
					(__m256i *)(void *)(to + k),
					load_rounded(in + k, depth - k));
			to += even(depth);
		}
}

/* sums += pair p of each row by its weights. single: the pair is the last value
 * of an odd tap and 0. rows, vectors and single are constants. */
WITH_BF16 INLINE void add_pair(const uint16_t *const *in, int p, int single,
			       const uint32_t *w, int rows, int vectors,
			       vec (*sums)[MOST_VECTORS])
{
	__m512bh row[MOST_VECTORS];

	UNROLL
	for (int v = 0; v < vectors; v++)
		row[v] = (__m512bh)_mm512_loadu_si512(w + v * LANES);
	UNROLL
	for (int i = 0; i < rows; i++) {
		const vec x = vec_hold((vec)_mm512_set1_epi32(
			single ? in[i][2 * p] :
				 (int)*(const pair *)(in[i] + 2 * p)));

		UNROLL
		for (int v = 0; v < vectors; v++)
			sums[i][v] = (vec)_mm512_dpbf16_ps((__m512)sums[i][v],
							   (__m512bh)x, row[v]);
	}
}

#define SEGMENT 16 /* pairs: a cache line in bf16, two in fp32 */

/* Prefetches the next chunk's values in the places of these. */
INLINE void fetch_segment(const struct bf16_job *job, int tap, int r, int rows,
			  int p)
{
	const int stop = r + rows < job->next->count ? r + rows :
						       job->next->count;

	for (; r < stop; r++) {
		const char *in = tap_in(job, job->next, tap, r) +
				 2 * (size_t)p * job->size;

		__builtin_prefetch(in, 0, 2);
		if (job->packed)
			__builtin_prefetch(in + 64, 0, 2);
	}
}

/* Adds all values of a tap, from row r on; returns the next tap's weights. */
WITH_BF16 INLINE const uint32_t *add_tap(const struct bf16_job *job, int tap,
					 int r, const uint32_t *w, int rows,
					 int vectors, vec (*sums)[MOST_VECTORS])
{
	const int depth = job->igemm->depth;
	const int pairs = (job->packed ? even(depth) : depth) / 2;
	const uint16_t *in[MOST_ROWS];

	UNROLL
	for (int i = 0; i < rows; i++)
		in[i] = job->packed ?
			job->packed +
				(size_t)(r + i) * values_of(job->igemm) +
				(size_t)tap * (size_t)even(depth) :
			(const uint16_t *)(const void *)tap_in(
				job, job->rows, tap, r + i);
	for (int p = 0; p < pairs;) {
		const int stop = p + SEGMENT < pairs ? p + SEGMENT : pairs;

		/* Each block of outputs prefetches its share. */
		if (p / SEGMENT % job->blocks == job->block)
			fetch_segment(job, tap, r, rows, p);
		for (; p < stop; p++, w += vectors * LANES)
			add_pair(in, p, 0, w, rows, vectors, sums);
	}
	if (2 * pairs < depth) {
		add_pair(in, pairs, 1, w, rows, vectors, sums);
		w += vectors * LANES;
	}
	return w;
}

WITH_BF16 INLINE void store_rounded(uint16_t *to, vec value, int lanes)
{
	const __m256i rounded = (__m256i)_mm512_cvtneps_pbh((__m512)value);

	/* A masked store of 16-bit lanes takes many cycles. */
	if (lanes >= LANES)
		_mm256_storeu_si256((__m256i *)(void *)to, rounded);
	else
		_mm256_mask_storeu_epi16(to, first_lanes(lanes), rounded);
}

#define EACH_SUM                                                               \
	UNROLL                                                                 \
	for (int i = 0; i < rows; i++)                                         \
		UNROLL                                                         \
		for (int v = 0; v < vectors; v++)

/* Applies the epilogue to a tile's sums; lanes: of the last vector. */
WITH_BF16 INLINE void end_tile(const struct bf16_job *job, const size_t *at,
			       int lanes, int rows, int vectors,
			       vec (*sums)[MOST_VECTORS])
{
	uint16_t *const rounded = job->end->rounded;
	float *const out = job->out;
	const int rectifies = job->end->relu;

	if (job->end->adds)
		EACH_SUM
			sums[i][v] += load_lanes(
				out + at[i] + v * LANES,
				v + 1 < vectors ? LANES : lanes);
	if (rectifies)
		EACH_SUM
			sums[i][v] = relu(sums[i][v]);
	if (rounded)
		EACH_SUM
			store_rounded(rounded + at[i] + v * LANES, sums[i][v],
				      v + 1 < vectors ? LANES : lanes);
	else
		EACH_SUM
			store_lanes(out + at[i] + v * LANES, sums[i][v],
				    v + 1 < vectors ? LANES : lanes);
}

INLINE void spread_tile(const struct bf16_job *job, int r, int rows,
			int vectors, vec (*sums)[MOST_VECTORS])
{
	float *out[MOST_ROWS];

	UNROLL
	for (int i = 0; i < rows; i++)
		out[i] = job->out + job->rows->out[r + i];
	add_spread(job->igemm, job->first, out, rows, vectors, sums);
}

/* Prefetches the next chunk's outputs in the places of these. */
INLINE void fetch_outputs(const struct bf16_job *job, int r, int rows,
			  int vectors)
{
	const struct igemm_end *end = job->end;
	const int stop = r + rows < job->next->count ? r + rows :
						       job->next->count;

	for (; r < stop; r++) {
		const size_t at = job->next->out[r] + (size_t)job->first;

		if (!end->rounded || end->adds)
			UNROLL
			for (int v = 0; v < vectors; v++)
				fetch_early(job->out, (ptrdiff_t)at +
						      v * LANES);
		if (end->rounded)
			UNROLL
			for (int v = 0; v < vectors; v += 2)
				__builtin_prefetch(end->rounded + at +
							   v * LANES, 0, 2);
	}
}

/* rows and vectors are constants. */
WITH_BF16 INLINE void multiply_tile(const struct bf16_job *job, int r, int rows,
				    int vectors)
{
	const float *bias = job->end->bias;
	const int lanes = job->igemm->outputs - job->first -
			  (vectors - 1) * LANES;
	const uint32_t *w = job->weights;
	size_t at[MOST_ROWS];
	vec sums[MOST_ROWS][MOST_VECTORS];

	UNROLL
	for (int i = 0; i < rows; i++)
		at[i] = job->rows->out[r + i] + (size_t)job->first;
	EACH_SUM
		sums[i][v] = bias ? vec_load(bias + job->first + v * LANES) :
				    vec_set(0);
	if (!job->igemm->spread)
		fetch_outputs(job, r, rows, vectors);
	for (int t = 0; t < job->igemm->taps; t++)
		w = add_tap(job, t, r, w, rows, vectors, sums);
	if (job->igemm->spread)
		spread_tile(job, r, rows, vectors, sums);
	else if (lanes >= LANES)
		end_tile(job, at, LANES, rows, vectors, sums);
	else
		end_tile(job, at, lanes, rows, vectors, sums);
}

#define TILE(rows, vectors)                                              \
	WITH_BF16 static void tile_##rows##_##vectors(                   \
		const struct bf16_job *job, int r)                       \
	{                                                                \
		multiply_tile(job, r, rows, vectors);                    \
	}
#define ENTRY(rows, vectors) [vectors - 1][rows - 1] = tile_##rows##_##vectors,

EACH_TILE(TILE)

/* Multiplies all rows of the chunk, in tiles as equal as possible. */
static void multiply_block(const struct bf16_job *job, int vectors)
{
	static void (*const of[MOST_VECTORS][MOST_ROWS])(
		const struct bf16_job *, int) = {
		EACH_TILE(ENTRY)
	};
	const int most = most_rows(vectors), count = job->rows->count;
	int left = (count + most - 1) / most;

	for (int r = 0; r < count; left--) {
		const int rows = (count - r + left - 1) / left;

		of[vectors - 1][rows - 1](job, r);
		r += rows;
	}
}

/* Computes all outputs of the chunk; weights: of the first block. */
static void multiply_chunk(struct bf16_job *job, const uint32_t *weights)
{
	const struct igemm *igemm = job->igemm;

	if (job->packed)
		pack_rows(job);
	job->weights = weights;
	for (job->block = 0; job->block < job->blocks; job->block++) {
		job->first = job->block * IGEMM_BLOCK;
		multiply_block(job, igemm_width(igemm, job->first) / LANES);
		job->weights += values_of(igemm) / 2 *
				(size_t)igemm_width(igemm, job->first);
	}
	igemm_report(job->end, job->out + job->rows->out[0], job->rows->count);
}

static void multiply_packed(const struct igemm *igemm,
			    const struct igemm_batch *batch,
			    const uint16_t *in, const void *packed,
			    const struct igemm_end *end, float *out,
			    void *scratch)
{
	const size_t rows = (size_t)batch->count * (size_t)igemm->pixels;
	const size_t size = in ? sizeof(*in) : sizeof(*batch->in);
	const void *from = in ? (const void *)in : batch->in;
	struct few_rows chunks[2];
	struct bf16_job job = {
		.igemm = igemm, .end = end, .out = out,
		.packed = in ? NULL : scratch,
		.in_sample = batch->in_sample * size, .size = size,
		.blocks = (igemm->outputs + IGEMM_BLOCK - 1) / IGEMM_BLOCK,
	};

	for (size_t first = 0; first < rows; first += IGEMM_ROUNDED_ROWS) {
		struct few_rows *now = &chunks[first / IGEMM_ROUNDED_ROWS % 2];
		struct few_rows *next = now == chunks ? &chunks[1] : chunks;

		if (!first)
			fill_rows(&job, batch, from, 0, now);
		fill_rows(&job, batch, from, first + IGEMM_ROUNDED_ROWS, next);
		job.rows = now;
		job.next = next;
		multiply_chunk(&job, packed);
	}
}

/* Packs weights into pairs: [block][tap][pair][output of the block]. */
WITH_BF16 static void pack(const struct igemm *igemm, const float *weights,
			   void *packed)
{
	uint32_t *to = packed;

	for (int o = 0; o < igemm->outputs; o += IGEMM_BLOCK) {
		const int width = igemm_width(igemm, o);

		for (int t = 0; t < igemm->taps; t++)
			for (int k = 0; k < igemm->depth; k += 2) {
				const int single = k + 1 == igemm->depth;

				pack_pairs(weights, single ? nothing :
							     weights + width,
					   width, to);
				weights += single ? width : 2 * width;
				to += width;
			}
	}
}

static void multiply(const struct igemm *igemm,
		     const struct igemm_batch *batch, const float *weights,
		     const struct igemm_end *end, float *out, void *scratch)
{
	assert(!igemm->spread || (end->adds && !end->relu));
	pack(igemm, weights, scratch);
	multiply_packed(igemm, batch, NULL, scratch, end, out,
			(char *)scratch + igemm_rounded(igemm));
}

WITH_BF16 static void round_values(const float *from, size_t count,
				   uint16_t *to)
{
	size_t i = 0;

	for (; i + LANES <= count; i += LANES)
		_mm256_storeu_si256((__m256i *)(void *)(to + i),
				    load_rounded(from + i, LANES));
	if (i < count)
		_mm256_mask_storeu_epi16(to + i, first_lanes((int)(count - i)),
					 load_rounded(from + i,
						      (int)(count - i)));
}

const struct igemm_kernels ISA_NAME(igemm_bf16) = {
	.multiply = multiply,
	.differentiate = ISA_NAME(igemm_differentiate_bf16),
	.transpose = VEC_NAME(igemm_transpose),
	.pack = pack,
	.multiply_packed = multiply_packed,
	.round = round_values,
	.spreads = 1,
};

#endif
