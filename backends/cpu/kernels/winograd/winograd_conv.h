/*
 * Transforms for convolutions of stride 1 by Winograd's F(4x4, 3x3), F(5x5,
 * 3x3), F(4x4, 4x4) and F(3x3, 5x5); igemm.h does the products. Planes are cut
 * into tiles of 3x3 to 5x5 outputs. Each tile and each window of weights
 * becomes 36 points (winograd.h) or 49 (winograd7.h). Per point, tiles times
 * weights is a matrix product over channels. It has 36 multiplications where
 * the definition has 144, or 49 where it has 225 or 256:
 *
 *   out = A^T (sum over channels of (G w G^T) . (B^T in B)) A
 *   dw += G^T (sum over tiles of (B^T in B) . (A dy A^T)) G
 *
 * dx is computed from dy as out is from in, with weights transposed and rotated
 * by 180 degrees. Planes are channels-last, with 0 in the gap after a pixel's
 * channels. Tiles are numbered sample by sample, row by row in each. Points are
 * [point][tile][channel].
 *
 * The formulas are from Lavin and Gray 2016, arXiv 1509.09308. They require
 * stride 1 and windows of 3x3 to 5x5, square (asserted); padding, planes and
 * channels are free. Nothing is allocated, and nothing fails.
 */
#ifndef BACKENDS_CPU_KERNELS_WINOGRAD_WINOGRAD_CONV_H
#define BACKENDS_CPU_KERNELS_WINOGRAD_WINOGRAD_CONV_H

#include <stddef.h>
#include <stdint.h>

/* Returns the side of a tile's data, and of its points. */
static inline int winograd_side(int window, int output)
{
	return window + output - 1;
}

/* Planes of a batch: height x width pixels, pixel floats from one to the next,
 * at least the channels in whole vectors of IGEMM_LANES. */
struct winograd_planes {
	int height, width, pixel;
	size_t sample; /* floats from sample to sample */
};

/* Tiles first .. first + count - 1 of a batch. */
struct winograd_tiles {
	/* Sides of the window and of a tile's outputs: 3 and 4 or 5, 4 and 4, 5
	 * and 3. */
	int window, output;
	int rows, columns; /* tiles of a sample, which cover its outputs */
	int first, count;
	/* Floats from point to point and from tile to tile; a tile is channels
	 * in whole vectors. */
	size_t point, tile;
};

/* Epilogue: number of outputs, and what happens to them. */
struct winograd_end {
	int outputs;
	const float *bias; /* in whole vectors; NULL = 0 */
	int adds;	   /* 1 = outputs are added to out */
	int relu;
	/* NULL = fp32. Else outputs are rounded to bf16, to the nearest, ties
	 * to even, and stored here, at their offsets in out. */
	uint16_t *rounded;
};

struct winograd_kernels {
	/*
	 * Computes B^T in B, for channels in whole vectors. A tile's data begin
	 * pad pixels above and left of its outputs (below and right if pad is
	 * negative); data outside the planes are 0.
	 */
	void (*from_data)(const struct winograd_planes *planes,
			  const struct winograd_tiles *tiles, int pad,
			  int channels, const float *in, float *points);
	/* Runs from_data() of F(4x4, 3x3), rounded to bf16, to the nearest,
	 * ties to even, on CPUs with avx512_bf16; NULL in other builds. */
	void (*from_data_rounded)(const struct winograd_planes *planes,
				  const struct winograd_tiles *tiles, int pad,
				  int channels, const float *in,
				  uint16_t *points);
	/* Computes A^T points A; reads whole vectors of points and writes only
	 * outputs. */
	void (*to_outputs)(const struct winograd_planes *planes,
			   const struct winograd_tiles *tiles,
			   const struct winograd_end *end, const float *points,
			   float *out);
	/*
	 * Computes A dy A^T, for channels in whole vectors, IGEMM_BLOCK at
	 * most. Adds the sums of dy over pixels to dbias, in whole vectors too,
	 * unless it is NULL.
	 */
	void (*from_outputs)(const struct winograd_planes *planes,
			     const struct winograd_tiles *tiles, int channels,
			     const float *dy, float *points, float *dbias);

	/*
	 * Compute G w G^T and its adjoint, for count weights per place of the
	 * window, place after place; count is whole vectors. point: floats from
	 * point to point. to_weights() adds to dw.
	 */
	void (*from_weights)(int window, int output, const float *weights,
			     size_t count, float *points, size_t point);
	void (*to_weights)(int window, int output, const float *points,
			   size_t point, size_t count, float *dw);
};

/* Processors other than x86-64 have only the portable ones. */
extern const struct winograd_kernels winograd_kernels_amx;
extern const struct winograd_kernels winograd_kernels_avx512;
extern const struct winograd_kernels winograd_kernels_avx2;
extern const struct winograd_kernels winograd_kernels_portable;

#endif
