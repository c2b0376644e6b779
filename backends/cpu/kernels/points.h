/*
 * Convolutions of stride 1 by Winograd's F(4x4, 3x3) or F(2x2, 5x5) on the
 * products of gather.h: the planes are cut into tiles of 4x4 or 2x2 outputs,
 * and each tile, as each window of weights, becomes 36 points (winograd.h).
 * Point by point, tiles times weights is a product over channels, of 36
 * multiplications where the definition has 144 or 100.
 *
 *   out = A^T (sum over channels of (G w G^T) . (B^T in B)) A
 *   dw += G^T (sum over tiles of (B^T in B) . (A dy A^T)) G
 *
 * dx is out of dy with transposed and turned weights. Planes are channels-last,
 * what is too much of a pixel being 0. Tiles are counted sample by sample, in
 * each row by row; points are [point][tile][channel].
 */
#ifndef BACKENDS_CPU_KERNELS_POINTS_H
#define BACKENDS_CPU_KERNELS_POINTS_H

#include <stddef.h>

#define POINTS_DATA 6 /* a side of what a tile is made of, and of points */
#define POINTS 36

/* A batch's planes, of height x width pixels, pixel floats from one to the
 * next. */
struct points_planes {
	int height, width, pixel;
	size_t sample; /* floats from one to the next */
};

/* Tiles first .. first + count of those that the batch has. */
struct points_tiles {
	int output;	   /* their side */
	int rows, columns; /* of tiles, in a sample */
	int first, count;
	size_t point, tile; /* floats from one to the next */
};

/* Outputs of a block that are no padding, and what is done in the end. */
struct points_end {
	int outputs;
	const float *bias; /* in whole vectors; NULL: 0 */
	int adds;	   /* to what out holds */
	int relu;
};

/* What differs by the window. */
struct points_form {
	int window, output; /* sides */

	void (*to_outputs)(const struct points_planes *planes,
			   const struct points_tiles *tiles,
			   const struct points_end *end, const float *points,
			   float *out);
	/* A dy A^T of channels in whole vectors, whose sums over pixels are
	 * added to dbias, unless that is NULL. */
	void (*from_outputs)(const struct points_planes *planes,
			     const struct points_tiles *tiles, int channels,
			     const float *dy, float *points, float *dbias);

	/* Between count weights of each tap of the window, tap after tap, and
	 * their points, point floats from one to the next; dw is added to. */
	void (*from_weights)(const float *weights, size_t count, float *points,
			     size_t point);
	void (*to_weights)(const float *points, size_t point, size_t count,
			   float *dw);
};

struct points_kernels {
	struct points_form square3, square5;
	/* Of channels in whole vectors; a tile's data begin pad pixels above
	 * and left of its outputs, and beside the planes there is 0. */
	void (*from_data)(const struct points_planes *planes,
			  const struct points_tiles *tiles, int pad,
			  int channels, const float *in, float *points);
};

/* Those of other processors than x86-64 are the portable ones alone. */
extern const struct points_kernels points_kernels_amx;
extern const struct points_kernels points_kernels_avx512;
extern const struct points_kernels points_kernels_avx2;
extern const struct points_kernels points_kernels_portable;

#endif
