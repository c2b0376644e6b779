/*
 * Shared by the kernels of a linear layer.
 *
 * A block's places are covered by tiles of 9, 8, 4 or 1 vectors. The number is
 * a constant in the loops that run over a tile: 144 places are one tile of
 * AVX-512, two of AVX2. A remainder of rest places is less than a vector.
 *
 * Bits, 64 per word, mark the outputs of a sample, or the samples of an output,
 * that need work. The addresses in a loop over set bits depend on no load, as
 * they would with lists.
 */
#ifndef BACKENDS_CPU_KERNELS_LINEAR_LINEAR_KERNELS_H
#define BACKENDS_CPU_KERNELS_LINEAR_LINEAR_KERNELS_H

#include "backends/cpu/kernels/simd/scratch.h"
#include "backends/cpu/kernels/simd/simd.h"
#include "backends/cpu/kernels/linear/linear.h"

#define WORD 64 /* bits */
#define TILE_MOST 9
#define FOLD 4 /* outputs whose sums share a vector */

INLINE int word_count(int count)
{
	return (count + WORD - 1) / WORD;
}

/* Returns a word whose first count bits are set; count is at most WORD. */
INLINE uint64_t word_first(int count)
{
	return count >= WORD ? ~0ull : (1ull << count) - 1;
}

/* Returns the vectors of the next tile with this many places left; 0 = a
 * remainder. */
INLINE int tile_vectors(int places)
{
	const int vectors = places / LANES;

	return vectors >= TILE_MOST ? TILE_MOST : vectors >= 8 ? 8 :
	       vectors >= 4 ? 4 : vectors ? 1 : 0;
}

/* Loads a vector, or its first rest places if rest is not 0. */
INLINE vec tile_load(const float *from, int rest)
{
	return rest ? vec_load_first(from, rest) : vec_load(from);
}

INLINE void tile_store(float *to, vec value, int rest)
{
	if (rest)
		vec_store_first(to, value, rest);
	else
		vec_store(to, value);
}

/* Selects four of two vectors' quarters, 0 .. 3 and 4 .. 7. */
#if LANES == 16
#define QUARTER(i) 4 * i, 4 * i + 1, 4 * i + 2, 4 * i + 3
#elif LANES == 8
#define QUARTER(i) 2 * i, 2 * i + 1
#else
#define QUARTER(i) i
#endif
#define QUARTERS(a, b, i, j, k, l) \
	__builtin_shufflevector(a, b, QUARTER(i), QUARTER(j), QUARTER(k), \
				QUARTER(l))

/* Returns a vector whose quarter i has partial sums of sums[i]'s lanes. */
INLINE vec vec_fold(const vec *sums)
{
	const vec first = QUARTERS(sums[0], sums[1], 0, 1, 4, 5) +
			  QUARTERS(sums[0], sums[1], 2, 3, 6, 7);
	const vec second = QUARTERS(sums[2], sums[3], 0, 1, 4, 5) +
			   QUARTERS(sums[2], sums[3], 2, 3, 6, 7);

	return QUARTERS(first, second, 0, 2, 4, 6) +
	       QUARTERS(first, second, 1, 3, 5, 7);
}

/* Returns row number i, opaque to the compiler: it would otherwise add i *
 * stride to each vector's own offset, with more instructions than products. */
INLINE const float *row_at(const float *rows, size_t i, size_t stride)
{
	const float *row = rows + i * stride;

	__asm__("" : "+r"(row));
	return row;
}

/*
 * Regions to prefetch into the second level of the cache, one line at a time
 * between products. Spread evenly, lines at 30 GB/s are hidden by 24 products
 * each; bursts of 9 or 18 lines are not hidden fully.
 */
struct ahead {
	uintptr_t at, end; /* of the current region */
	int left;	   /* regions after it */
	uintptr_t regions[4][2];
};

INLINE void ahead_add(struct ahead *ahead, const float *from, size_t count)
{
	uintptr_t *region = ahead->regions[ahead->left++];

	region[0] = (uintptr_t)from;
	region[1] = (uintptr_t)(from + count);
}

INLINE void ahead_fetch(struct ahead *ahead)
{
	if (ahead->at >= ahead->end) {
		if (!ahead->left)
			return;
		ahead->left--;
		ahead->at = ahead->regions[ahead->left][0];
		ahead->end = ahead->regions[ahead->left][1];
	}
	__builtin_prefetch((const void *)ahead->at, 0, 2);
	ahead->at += CACHE_LINE;
}

/* Words of outputs that pass together. With more, the weights that one pass has
 * read would leave the second level of the cache before the next pass. */
#define GROUP 2 /* words */

struct words {
	int block, from, to; /* words */
};

/* Returns the group of GROUP words, or fewer, that begins at word. */
INLINE struct words rows_from(int block, int word, int words)
{
	const int to = word + GROUP;

	return (struct words){ block, word, to < words ? to : words };
}

/* Returns the offset of the rows' first weight. */
INLINE size_t rows_at(const struct linear_shape *shape, struct words rows)
{
	return linear_weight_at(shape, rows.from * WORD, rows.block, 0);
}

/* Returns the output after the rows' last one. */
INLINE int rows_end(const struct linear_shape *shape, struct words rows)
{
	const int past = rows.to * WORD;

	return past < shape->outputs ? past : shape->outputs;
}

INLINE size_t rows_weights(const struct linear_shape *shape, struct words rows)
{
	return linear_weight_at(shape, rows_end(shape, rows) - rows.from * WORD,
				0, 0);
}

/* Returns 1 if a block's inputs of successive samples are contiguous. */
INLINE int blocks_are_near(const struct linear_shape *shape,
			   const struct linear_batch *batch)
{
	return batch->sample == (size_t)shape->block;
}

/* Returns 1 if a pass goes through the weights row by row (linear_rows.c). The
 * weights exceed the cache, and a block's inputs fit into its first level. */
#define CACHED_WEIGHTS (1 << 20) /* bytes */
#define NEAR_INPUTS ((size_t)(LANES < 16 ? 10 : 20) << 10) /* bytes */

INLINE int rows_pay(const struct linear_shape *shape, int count)
{
	const size_t row = (size_t)shape->block * sizeof(float);

	return count <= WORD && (size_t)count * row <= NEAR_INPUTS &&
	       (size_t)shape->blocks * (size_t)shape->outputs * row >
		       CACHED_WEIGHTS;
}

size_t VEC_NAME(linear_forward_scratch)(const struct linear_shape *shape,
					int count);
void VEC_NAME(linear_forward)(const struct linear_shape *shape,
			      const struct linear_values *parameters,
			      const struct linear_batch *batch, float *out,
			      void *scratch);

size_t VEC_NAME(linear_backward_scratch)(const struct linear_shape *shape,
					 int count);
void VEC_NAME(linear_backward)(const struct linear_shape *shape,
			       const struct linear_values *parameters,
			       const struct linear_batch *batch,
			       const struct linear_flow *flow,
			       const struct linear_values *gradient,
			       void *scratch);
void VEC_NAME(linear_backward_update)(const struct linear_shape *shape,
				      const struct linear_state *state,
				      const struct update *update,
				      const struct linear_batch *batch,
				      const struct linear_flow *flow,
				      void *scratch);

void VEC_NAME(linear_backward_part)(const struct linear_shape *shape,
				    const struct linear_values *parameters,
				    const struct linear_batch *batch,
				    const struct linear_flow *flow,
				    float *bias, void *part, void *scratch);
size_t VEC_NAME(linear_part_size)(const struct linear_shape *shape, int count);
size_t VEC_NAME(linear_parts_scratch)(const struct linear_shape *shape,
				      int parts, int count);
void VEC_NAME(linear_update_parts)(const struct linear_shape *shape,
				   const struct linear_state *state,
				   const struct update *update,
				   const struct linear_part *parts, int count,
				   int from, int to, void *scratch);

#ifdef __AMX_BF16__
/*
 * Returns 1 if factors may be rounded, the layer fills tiles, and the batch is
 * large enough to be worth packing the weights.
 */
int ISA_NAME(linear_forward_is_dense)(const struct linear_shape *shape,
				      int count);

/* linear_forward() on tiles if linear_forward_is_dense(), else in fp32. */
size_t ISA_NAME(linear_forward_tiles_scratch)(const struct linear_shape *shape,
					      int count);
void ISA_NAME(linear_forward_tiles)(const struct linear_shape *shape,
				    const struct linear_values *parameters,
				    const struct linear_batch *batch,
				    float *out, void *scratch);
#define TILED(name) ISA_NAME(name##_tiles)
#define TILED_SCRATCH(name) ISA_NAME(name##_tiles_scratch)
#else
/* Pairs of bf16: see linear_forward_bf16.c. */
#if defined(__x86_64__) && defined(__AVX512F__)
#define HAS_PAIRS 1
#else
#define HAS_PAIRS 0
#endif

#define PAIRS_PLACES 720 /* at most, in a group of blocks */
/* at least; with 9216 inputs 16 are slower than fp32 */
#define PAIRS_SAMPLES 20

/*
 * Returns 1 if forward rounds a batch without keep_in. With keep_in, rounding
 * would multiply dropped inputs as well; callers set shape->bf16 accordingly.
 */
INLINE int ISA_NAME(linear_forward_is_dense)(const struct linear_shape *shape,
					     int count)
{
	const size_t weights = linear_inputs(shape) * (size_t)shape->outputs;

	return HAS_PAIRS && shape->bf16 && count >= PAIRS_SAMPLES &&
	       weights * sizeof(float) > CACHED_WEIGHTS &&
	       shape->block % LANES == 0 && shape->block <= PAIRS_PLACES;
}

#define TILED(name) ISA_NAME(name)
#define TILED_SCRATCH(name) ISA_NAME(name##_scratch)
#endif

void ISA_NAME(optimize)(const struct update *update, size_t count, float *p,
			float *first, float *second, const float *gradient);

#endif
