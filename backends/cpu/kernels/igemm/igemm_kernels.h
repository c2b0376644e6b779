/* Shared by the indirect GEMM's kernels: tiles of sums, gathered rows, sums of
 * biases. */
#ifndef BACKENDS_CPU_KERNELS_IGEMM_IGEMM_KERNELS_H
#define BACKENDS_CPU_KERNELS_IGEMM_IGEMM_KERNELS_H

#include "backends/cpu/kernels/igemm/igemm.h"
#include "backends/cpu/kernels/simd/simd.h"

/* Shape of a tile of sums: at most MOST_ROWS rows by MOST_VECTORS vectors of
 * outputs, MOST_SUMS vectors in all. */
#if LANES == 16
#define MOST_ROWS 12
#define MOST_VECTORS 4
#define MOST_SUMS 24
#define EACH_TILE(F) ROWS_12(F, 1) ROWS_12(F, 2) ROWS_8(F, 3) ROWS_6(F, 4)
#elif LANES == 8
#define MOST_ROWS 6
#define MOST_VECTORS 2
#define MOST_SUMS 12
#define EACH_TILE(F) ROWS_6(F, 2)
#else
#define MOST_ROWS 3
#define MOST_VECTORS 4
#define MOST_SUMS 12
#define EACH_TILE(F) F(1, 4) F(2, 4) F(3, 4)
#endif

/* F(rows, vectors) for each tile with v vectors. */
#define ROWS_6(F, v) F(1, v) F(2, v) F(3, v) F(4, v) F(5, v) F(6, v)
#define ROWS_8(F, v) ROWS_6(F, v) F(7, v) F(8, v)
#define ROWS_12(F, v) ROWS_8(F, v) F(9, v) F(10, v) F(11, v) F(12, v)

INLINE int most_rows(int vectors)
{
	return MOST_SUMS / vectors < MOST_ROWS ? MOST_SUMS / vectors :
						 MOST_ROWS;
}
#define PASS (MOST_VECTORS * LANES)
#define LINE 16 /* floats of a cache line */

/* Loads the first lanes of a vector, at most LANES; the others are 0. */
INLINE vec load_lanes(const float *from, int lanes)
{
	return lanes >= LANES ? vec_load(from) :
	       lanes > 0 ? vec_load_first(from, lanes) : vec_set(0);
}

INLINE void store_lanes(float *to, vec value, int lanes)
{
	if (lanes >= LANES)
		vec_store(to, value);
	else if (lanes > 0)
		vec_store_first(to, value, lanes);
}

INLINE vec relu(vec value)
{
	/* A NaN fails the comparison and passes. */
	return (vec)((lanes_int)value & ~(value <= vec_set(0)));
}

/* Stores some lanes of a sum. With adds it first adds the old value, which is
 * loaded last, so that its cache line has arrived. */
INLINE void end_sum(float *out, vec sum, int adds, int rectifies, int lanes)
{
	if (adds)
		sum += load_lanes(out, lanes);
	store_lanes(out, rectifies ? relu(sum) : sum, lanes);
}

/*
 * Adds a tile's sums to spread outputs, from output first on. Rows go one after
 * the other, since the next pixel may share an offset. rows and vectors are
 * constants.
 */
INLINE void add_spread(const struct igemm *igemm, int first,
		       float *const *out, int rows, int vectors,
		       vec (*sums)[MOST_VECTORS])
{
	UNROLL
	for (int v = 0; v < vectors; v++) {
		const int o = first + v * LANES;
		const int at = igemm->spread[o / IGEMM_LANES] +
			       o % IGEMM_LANES;
		const int lanes = igemm->channels -
				  o % igemm_whole(igemm->channels);

		UNROLL
		for (int i = 0; i < rows; i++)
			end_sum(out[i] + at, sums[i][v], 1, 0, lanes);
	}
}

/*
 * Rows that pass by the cached weights, with the places of their input and
 * output. Entries count .. known - 1 are rows of the next chunk, to prefetch.
 */
#define MOST_CHUNK 384

struct chunk {
	int count, known;
	const float *in[MOST_CHUNK]; /* samples */
	int32_t pixels[MOST_CHUNK];
	float *out[MOST_CHUNK];
};

/* Fills chunk with the product's rows from number first on: up to most rows, at
 * most MOST_CHUNK, and up to MOST_ROWS known rows after them. */
void VEC_NAME(igemm_fill_chunk)(const struct igemm *igemm,
				 const struct igemm_batch *batch, float *out,
				 size_t first, int most, struct chunk *chunk);

INLINE const float *row_in(const struct igemm *igemm,
			   const struct chunk *chunk, int tap, int r)
{
	const int32_t at = igemm->table[(size_t)tap * (size_t)igemm->pixels +
					 (size_t)chunk->pixels[r]];

	return at < 0 ? igemm->zeros : chunk->in[r] + at;
}

/* count rows of the product, from number first on. */
struct rows {
	const struct igemm *igemm;
	const struct igemm_batch *batch;
	size_t first;
	int count;
};

/* Iterator over the rows of dy, the gradient of the output. */
struct dy_walk {
	const struct rows *rows;
	const float *sample;
	size_t pixel;
};

/* Returns an iterator at row number first of the product. */
INLINE struct dy_walk dy_from(const struct rows *rows, const float *dy,
			      size_t first)
{
	const size_t pixels = (size_t)rows->igemm->pixels;

	return (struct dy_walk){
		rows, dy + first / pixels * rows->batch->out_sample,
		first % pixels
	};
}

INLINE const float *dy_next(struct dy_walk *walk)
{
	const struct igemm *igemm = walk->rows->igemm;
	const float *at = walk->sample + igemm->places[walk->pixel];

	if (++walk->pixel == (size_t)igemm->pixels) {
		walk->pixel = 0;
		walk->sample += walk->rows->batch->out_sample;
	}
	return at;
}

/*
 * Sums of dy, for biases, have four levels: BIAS_ROWS rows, one pack,
 * BIAS_PACKS packs, all. A float that sums a million rows one after the other
 * loses the last ones. With more than MOST_BIASES outputs, each pack is added
 * to the total.
 */
#define BIAS_ROWS 32 /* or rows of pairs */
#define BIAS_PACKS 32
#define MOST_BIASES 8192

/* Returns the array to which packs are added: some, cleared, or dbias (may be
 * NULL). */
INLINE float *biases_begin(const struct igemm *igemm, float *some,
			   float *dbias)
{
	if (!dbias || igemm_padded(igemm) > MOST_BIASES)
		return dbias;
	memset(some, 0, (size_t)igemm_padded(igemm) * sizeof(*some));
	return some;
}

/* Adds some to dbias and clears it, after BIAS_PACKS packs and after the last
 * row. Call it after each pack, with left rows to come. */
INLINE void biases_add(const struct igemm *igemm, size_t pack, size_t left,
		       float *some, float *dbias)
{
	if (some == dbias || (left && (pack + 1) % BIAS_PACKS))
		return;
	for (int o = 0; o < igemm->outputs; o++) {
		dbias[o] += some[o];
		some[o] = 0;
	}
}

/* Sets in[i] to a tap's values for row i of rows. */
void VEC_NAME(igemm_find_in)(const struct rows *rows, int tap,
			      const float **in);

void VEC_NAME(igemm_transpose)(const float *from, size_t from_stride, int rows,
				int columns, float *to, size_t to_stride);

void VEC_NAME(igemm_differentiate)(const struct igemm *igemm,
				    const struct igemm_batch *batch,
				    const float *dy, float *dw, float *dbias,
				    void *scratch);

#endif
