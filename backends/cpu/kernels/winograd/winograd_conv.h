/*
 * Convolutions of stride 1 by Winograd's F(4x4, 3x3), or F(5x5, 3x3), F(4x4,
 * 4x4) and F(3x3, 5x5), on the products of igemm.h: the planes are cut into
 * tiles of so many outputs, and each tile, as each window of weights, becomes
 * 36 points (winograd.h), or 49 (winograd7.h). Point by point, tiles times
 * weights is a product over channels, of 36 multiplications where the
 * definition has 144, or of 49 where it has 225 or 256.
 *
 *   out = A^T (sum over channels of (G w G^T) . (B^T in B)) A
 *   dw += G^T (sum over tiles of (B^T in B) . (A dy A^T)) G
 *
 * dx is computed from dy as out is from in, with weights transposed and rotated
 * by 180 degrees. Planes are channels-last, with 0 where a pixel has more room
 * than channels. Tiles are counted sample by sample, in each row by row; points
 * are [point][tile][channel].
 *
 * The formulas are those of Lavin and Gray 2016, arXiv 1509.09308. They hold
 * for stride 1 and for windows of 3x3 to 5x5, whatever the padding, planes and
 * channels are: callers have no others (asserted). Nothing is allocated, and
 * nothing fails.
 */
#ifndef BACKENDS_CPU_KERNELS_WINOGRAD_WINOGRAD_CONV_H
#define BACKENDS_CPU_KERNELS_WINOGRAD_WINOGRAD_CONV_H

#include <stddef.h>
#include <stdint.h>

/* Of a tile's data, and of its points. */
static inline int winograd_side(int window, int output)
{
	return window + output - 1;
}

/* A batch's planes, of height x width pixels, pixel floats from one to the
 * next: at least its channels in whole vectors of IGEMM_LANES. */
struct winograd_planes {
	int height, width, pixel;
	size_t sample; /* floats from one to the next */
};

/* Tiles first .. first + count of those that the batch has. */
struct winograd_tiles {
	/* Of windows of 3, the side of a tile is 4 or 5; of 4, 4; of 5, 3. */
	int window, output;
	int rows, columns; /* of tiles, in a sample: they cover its outputs */
	int first, count;
	/* Floats from one to the next; a tile is channels in whole vectors. */
	size_t point, tile;
};

/* How many outputs there are, and what is done to them in the end. */
struct winograd_end {
	int outputs;
	const float *bias; /* in whole vectors; NULL: 0 */
	int adds;	   /* to what out holds */
	int relu;
	/* Unless NULL, outputs are rounded to bf16, to the nearest, ties to
	 * even, and go here, in the places that they have in out. */
	uint16_t *rounded;
};

struct winograd_kernels {
	/* Of channels in whole vectors; a tile's data begin pad pixels above
	 * and left of its outputs (below and right where pad is negative), and
	 * outside the planes there is 0. */
	void (*from_data)(const struct winograd_planes *planes,
			  const struct winograd_tiles *tiles, int pad,
			  int channels, const float *in, float *points);
	/* The same of F(4x4, 3x3), rounded to bf16, to the nearest, ties to
	 * even, on CPUs with avx512_bf16; or NULL. */
	void (*from_data_rounded)(const struct winograd_planes *planes,
				  const struct winograd_tiles *tiles, int pad,
				  int channels, const float *in,
				  uint16_t *points);
	/* Points are read in whole vectors; only outputs are written. */
	void (*to_outputs)(const struct winograd_planes *planes,
			   const struct winograd_tiles *tiles,
			   const struct winograd_end *end, const float *points,
			   float *out);
	/* A dy A^T of channels in whole vectors, IGEMM_BLOCK at most, whose
	 * sums over pixels are added to dbias, in whole vectors, too, unless
	 * that is NULL. */
	void (*from_outputs)(const struct winograd_planes *planes,
			     const struct winograd_tiles *tiles, int channels,
			     const float *dy, float *points, float *dbias);

	/* Between count weights of each place of a window, place after place,
	 * and their points, point floats from one to the next; count is whole
	 * vectors. dw is added to. */
	void (*from_weights)(int window, int output, const float *weights,
			     size_t count, float *points, size_t point);
	void (*to_weights)(int window, int output, const float *points,
			   size_t point, size_t count, float *dw);
};

/* Those of other processors than x86-64 are the portable ones alone. */
extern const struct winograd_kernels winograd_kernels_amx;
extern const struct winograd_kernels winograd_kernels_avx512;
extern const struct winograd_kernels winograd_kernels_avx2;
extern const struct winograd_kernels winograd_kernels_portable;

#endif
