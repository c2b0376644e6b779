/*
 * Indirect GEMM in fp32: see backends/cpu/kernels/igemm/igemm.h.
 *
 * A tile of rows by vectors of outputs keeps its sums in registers while all
 * taps and their values pass. With AVX-512, 6 rows x 4 vectors take 10 loads
 * for 24 products; with AVX2, 6 x 2 take 8 for 12. If a block has fewer
 * vectors, a tile has more rows.
 *
 * Blocking: DEPTH values of each tap at a time. Their weights for a block of
 * outputs (590 KB for 9 taps) pass from the second level of the cache for each
 * tile, while the ROWS rows of a chunk stay there as well. Memory is slower
 * than the sums. The rows of the next tile are therefore prefetched while one
 * is computed. Old outputs are added last, when their lines have arrived.
 */
#include "backends/cpu/kernels/igemm/igemm.h"

#include <assert.h>

#include "backends/cpu/kernels/igemm/igemm_kernels.h"

#define ROWS 192
#define DEPTH 256

/* One chunk, some vectors of a block's outputs, some values of each tap. */
struct fp32_job {
	const struct igemm *igemm;
	const struct chunk *chunk;
	const float *weights; /* of the first tap's first value */
	size_t width;	      /* floats from value to value */
	size_t tap;	      /* floats from tap to tap */
	int first;	      /* first output */
	int from, depth;      /* first value, and number of values */
	const float *bias;    /* of the first output; NULL = 0 */
	int adds, relu;
};

/* Returns how many lanes of vector v are outputs and not padding, or more than
 * LANES. If vectors are wide, only the last one can have fewer. */
INLINE int lanes_of(const struct fp32_job *job, int v, int vectors)
{
	return LANES == IGEMM_LANES && v + 1 < vectors ?
		       LANES : job->igemm->outputs - job->first - v * LANES;
}

/* Rows with fewer values are not prefetched: they are close together, or too
 * short for another look-up in the table. */
#define LEAST_FETCHED 64

/*
 * sums += the values of a tap in rows r on, by its weights. With each value,
 * one cache line of the following rows is prefetched, row by row. rows and
 * vectors are constants.
 */
INLINE void add_tap(const struct fp32_job *job, int tap, int r, int rows,
		    int vectors, vec (*sums)[MOST_VECTORS])
{
	const struct chunk *chunk = job->chunk;
	const float *w = job->weights + (size_t)tap * job->tap;
	const int is_short = job->depth < LEAST_FETCHED;
	const int lines = is_short ? job->depth :
				     (job->depth + LINE - 1) / LINE;
	const float *in[MOST_ROWS];

	UNROLL
	for (int i = 0; i < rows; i++)
		in[i] = row_in(job->igemm, chunk, tap, r + i) + job->from;
	for (int k = 0, i = r + rows; k < job->depth; i++) {
		const int stop = k + lines < job->depth ? k + lines :
							  job->depth;
		const int is_next = !is_short && i < r + 2 * rows &&
				    i < chunk->known;
		const float *next = is_next ?
			row_in(job->igemm, chunk, tap, i) + job->from : in[0];
		ptrdiff_t ahead = 0;

		for (; k < stop; k++, w += job->width) {
			vec row[MOST_VECTORS];

			fetch_early(next, ahead);
			ahead += is_next ? LINE : 0;
			UNROLL
			for (int v = 0; v < vectors; v++)
				row[v] = vec_load(w + v * LANES);
			UNROLL
			for (int j = 0; j < rows; j++) {
				const vec x = vec_hold(vec_set(in[j][k]));

				UNROLL
				for (int v = 0; v < vectors; v++)
					sums[j][v] += x * row[v];
			}
		}
	}
}

/* Stores sums of contiguous outputs. */
INLINE void store_sums(const struct fp32_job *job, float *const *out, int rows,
		       int vectors, vec (*sums)[MOST_VECTORS])
{
	UNROLL
	for (int i = 0; i < rows; i++)
		UNROLL
		for (int v = 0; v < vectors; v++)
			end_sum(out[i] + job->first + v * LANES, sums[i][v],
				job->adds, job->relu,
				lanes_of(job, v, vectors));
}

/* rows and vectors are constants. */
INLINE void tile(const struct fp32_job *job, int r, int rows, int vectors)
{
	float *const *out = job->chunk->out + r;
	vec sums[MOST_ROWS][MOST_VECTORS];

	/* Stores that miss the cache would wait for each other. With spread,
	 * only the first offsets are right. */
	UNROLL
	for (int i = 0; i < rows; i++)
		UNROLL
		for (int v = 0; v < vectors; v++) {
			fetch_to_write(out[i], job->first + v * LANES);
			sums[i][v] = job->bias ?
				vec_load(job->bias + v * LANES) : vec_set(0);
		}
	for (int t = 0; t < job->igemm->taps; t++)
		add_tap(job, t, r, rows, vectors, sums);
	if (job->igemm->spread)
		add_spread(job->igemm, job->first, out, rows, vectors, sums);
	else
		store_sums(job, out, rows, vectors, sums);
}

/* One function per tile: as one function, they take gcc half a minute. */
#define TILE(rows, vectors)                                              \
	static void tile_##rows##_##vectors(const struct fp32_job *job, int r) \
	{                                                                \
		tile(job, r, rows, vectors);                             \
	}
#define ENTRY(rows, vectors) [vectors - 1][rows - 1] = tile_##rows##_##vectors,

EACH_TILE(TILE)

/* Multiplies all rows of the chunk, in tiles as equal as possible. */
static void multiply_chunk(const struct fp32_job *job, int vectors)
{
	static void (*const of[MOST_VECTORS][MOST_ROWS])(
		const struct fp32_job *, int) = {
		EACH_TILE(ENTRY)
	};
	const int most = most_rows(vectors), count = job->chunk->count;
	int left = (count + most - 1) / most;

	for (int r = 0; r < count; left--) {
		const int rows = (count - r + left - 1) / left;

		of[vectors - 1][rows - 1](job, r);
		r += rows;
	}
}

void VEC_NAME(igemm_fill_chunk)(const struct igemm *igemm,
				 const struct igemm_batch *batch, float *out,
				 size_t first, int most, struct chunk *chunk)
{
	const size_t pixels = (size_t)igemm->pixels;
	const size_t left = (size_t)batch->count * pixels - first;
	size_t sample = first / pixels;
	int32_t pixel = (int32_t)(first % pixels);

	chunk->count = left < (size_t)most ? (int)left : most;
	chunk->known = most + MOST_ROWS < MOST_CHUNK ? most + MOST_ROWS :
						       MOST_CHUNK;
	if (left < (size_t)chunk->known)
		chunk->known = (int)left;
	for (int r = 0; r < chunk->known; r++) {
		chunk->in[r] = batch->in + sample * batch->in_sample;
		chunk->pixels[r] = pixel;
		chunk->out[r] = out + sample * batch->out_sample +
				igemm->places[pixel];
		if (++pixel == igemm->pixels) {
			pixel = 0;
			sample++;
		}
	}
}

/* Computes one block of a chunk's outputs, from output first on. */
static void multiply_block(const struct igemm *igemm,
			   const struct chunk *chunk, const float *weights,
			   const struct igemm_end *end, int first)
{
	const int width = igemm_width(igemm, first), depth = igemm->depth;
	const int most = igemm->run ? igemm->run : DEPTH;
	int from = 0;

	do {
		const int left = depth - from;
		const int here = left < most ? left : most;

		for (int o = 0; o < width; o += PASS) {
			const int lanes = width - o < PASS ? width - o : PASS;
			const struct fp32_job job = {
				.igemm = igemm,
				.chunk = chunk,
				.weights = weights + (size_t)from *
						(size_t)width + o,
				.width = (size_t)width,
				.tap = (size_t)depth * (size_t)width,
				.first = first + o,
				.from = from,
				.depth = here,
				.bias = end->bias && !from ?
						end->bias + first + o : NULL,
				.adds = from || end->adds,
				.relu = end->relu && from + here == depth,
			};

			multiply_chunk(&job, lanes / LANES);
		}
		from += here;
	} while (from < depth);
}

static void multiply(const struct igemm *igemm,
		     const struct igemm_batch *batch, const float *weights,
		     const struct igemm_end *end, float *out, void *scratch)
{
	const size_t rows = (size_t)batch->count * (size_t)igemm->pixels;
	const size_t each = (size_t)igemm->taps * (size_t)igemm->depth;
	struct chunk chunk;

	(void)scratch;
	assert(!igemm->spread || (end->adds && !end->relu));
	for (size_t first = 0; first < rows; first += ROWS) {
		VEC_NAME(igemm_fill_chunk)(igemm, batch, out, first, ROWS,
					    &chunk);
		for (int o = 0; o < igemm->outputs; o += IGEMM_BLOCK)
			multiply_block(igemm, &chunk,
				       weights + each * (size_t)o, end, o);
		igemm_report(end, chunk.out[0], chunk.count);
	}
}

/* Interleave the lower, or upper, halves of two vectors. */
#if LANES == 16
#define LOWER 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23
#define UPPER 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31
#elif LANES == 8
#define LOWER 0, 8, 1, 9, 2, 10, 3, 11
#define UPPER 4, 12, 5, 13, 6, 14, 7, 15
#else
#define LOWER 0, 4, 1, 5
#define UPPER 2, 6, 3, 7
#endif

/* Transposes LANES rows and columns. Each turn rotates the bits of a value's
 * index (row, then column) by one. */
INLINE void transpose_square(const float *from, size_t from_stride, float *to,
			     size_t to_stride)
{
	vec rows[LANES], turned[LANES];

	UNROLL
	for (size_t i = 0; i < LANES; i++)
		rows[i] = vec_load(from + i * from_stride);
	UNROLL
	for (int turn = 1; turn < LANES; turn *= 2) {
		UNROLL
		for (int i = 0; i < LANES / 2; i++) {
			const vec a = rows[i], b = rows[i + LANES / 2];

			turned[2 * i] = __builtin_shufflevector(a, b, LOWER);
			turned[2 * i + 1] = __builtin_shufflevector(a, b,
								    UPPER);
		}
		memcpy(rows, turned, sizeof(rows));
	}
	UNROLL
	for (size_t i = 0; i < LANES; i++)
		vec_store(to + i * to_stride, rows[i]);
}

void VEC_NAME(igemm_transpose)(const float *from, size_t from_stride, int rows,
				int columns, float *to, size_t to_stride)
{
	for (int r = 0; r < rows; r += LANES) {
		int c = 0;

		for (; r + LANES <= rows && c + LANES <= columns; c += LANES)
			transpose_square(from + (size_t)r * from_stride + c,
					 from_stride,
					 to + (size_t)c * to_stride + r,
					 to_stride);
		for (; c < columns; c++)
			for (int i = r; i < rows && i < r + LANES; i++)
				to[(size_t)c * to_stride + (size_t)i] =
					from[(size_t)i * from_stride +
					     (size_t)c];
	}
}

const struct igemm_kernels VEC_NAME(igemm_kernels) = {
	.multiply = multiply,
	.differentiate = VEC_NAME(igemm_differentiate),
	.transpose = VEC_NAME(igemm_transpose),
	.spreads = 1,
};
