/*
 * The stem: the layers that most of a small network's time goes into, as one
 * fused step.
 *
 *   image -> 3x3 convolution, ReLU -> 3x3 convolution [, ReLU] -> 2x2 max
 *   pooling [, dropout]
 *
 * The second convolution is Winograd's F(4x4,3x3) (Lavin and Gray 2016, arXiv
 * 1509.09308). Its output comes in tiles of 4x4, each from 6x6 values of the
 * planes between; each value comes from 3x3 pixels. A tile is thus a function
 * of 8x8 pixels, and 2x2 pooled outputs (quadrants) are all that is left of it;
 * the unpooled output does not exist, nor do the planes between for longer than
 * it takes to add up the weight gradient of one group. If products may be of
 * bf16, all three passes convolve by the definition instead.
 *
 *   tile t = row * tile_columns + column      quadrant q = 2 * row + column
 *
 * Pooled outputs, the gradient by them (dy) and the winners of a sample are
 * planes [outputs][stem_plane()]. place() says where their pixels are: in the
 * order of tiles, [q: 4][t: tiles], or, if the second convolution may be direct
 * (bf16), in the order of pixels, [row][column].
 *
 * A vector holds the same element of as many tiles as it has lanes. If the
 * tiles of one sample do not fill whole vectors, the tiles of a group of
 * samples share some; each call below takes 1 .. stem_group() samples.
 */
#ifndef BACKENDS_CPU_KERNELS_STEM_STEM_H
#define BACKENDS_CPU_KERNELS_STEM_STEM_H

#include <stddef.h>
#include <stdint.h>

struct stem_shape {
	int channels;	   /* of the image */
	int height, width; /* of the image; 4 more than whole tiles */
	int middle;	   /* planes between the convolutions */
	int outputs;	   /* planes of the second one */
	int relu;	   /* after the second one */
	int bf16; /* products may round their operands to bf16 */
};

#define STEM_TILE 4   /* side of the outputs of a tile */
#define STEM_POINTS 36 /* (4 + 3 - 1)^2, Winograd's multiplications */
#define STEM_PATCH 8  /* side of the pixels that a tile comes from */
#define STEM_TAPS 9   /* of a window */
#define STEM_QUADRANTS 4

static inline int stem_tiles(const struct stem_shape *shape)
{
	return (shape->height - 4) / STEM_TILE *
	       ((shape->width - 4) / STEM_TILE);
}

/* Pooled outputs of one plane of a sample. */
static inline int stem_plane(const struct stem_shape *shape)
{
	return STEM_QUADRANTS * stem_tiles(shape);
}

/*
 * Samples that fill vectors of lanes floats: the tiles that are left of each
 * one's whole vectors share one.
 */
static inline int stem_group(const struct stem_shape *shape, int lanes)
{
	const int rest = stem_tiles(shape) % lanes;

	return rest ? lanes / rest : 1;
}

/* Parameters; the second convolution's also transformed. */
struct stem_weights {
	const float *first;	 /* [middle][channels][3][3] */
	const float *first_bias; /* [middle] */
	const float *points;	 /* as transform left them */
	const float *bias;	 /* [outputs], of the second convolution */
};

/* The samples of one call; count of them, at most stem_group(). */
struct stem_batch {
	int count;
	const float *images; /* [count][channels][height][width] */
	/*
	 * [count][outputs]: 0 = the plane is dropped; NULL = no dropout. The
	 * contents of dropped planes change nothing, and are left as they are.
	 */
	const uint8_t *keep;
	float scale; /* of what is kept: 1 / (1 - drop), or 1 */
};

struct stem_kernels {
	int lanes;

	/* Returns the place of pixel row * width + column in a pooled plane: a
	 * permutation of 0 .. stem_plane() - 1. */
	int (*place)(const struct stem_shape *shape, int pixel);

	/* Floats of scratch, aligned to 64 bytes, for each of the calls. */
	size_t (*scratch)(const struct stem_shape *shape);
	/* Floats of the transformed weights, aligned to 64 bytes. */
	size_t (*points)(const struct stem_shape *shape);
	/* Floats of the sums of weight_gradient over a batch; may be 0. */
	size_t (*sums)(const struct stem_shape *shape);
	/* Bytes of signs of a group: which of the planes between are above 0.
	 * The signs of bf16 are in another order, which unpack supports too. */
	size_t (*signs)(const struct stem_shape *shape);

	/* Returns 1 if weight_gradient has all products of the definition; 0 if
	 * it has only a window of each plane between per dy that is not 0. */
	int (*weight_gradient_is_dense)(const struct stem_shape *shape);

	/*
	 * Transforms weights[outputs][3][3][middle], the layout of dw below,
	 * into points[STEM_POINTS][outputs][middle] = G g G^T of each 3x3
	 * window g, followed by other forms that the kernels need; in bf16, the
	 * windows themselves, rounded.
	 */
	void (*transform)(const struct stem_shape *shape, const float *weights,
			  float *points);

	/*
	 * out[count][outputs][plane] = scale * pooled (of the ReLU if there is
	 * one); winners[count][outputs][plane] = row * 2 + column of the
	 * maximum in its window, the first of equals, a NaN before any. winners
	 * and signs are NULL in an evaluation.
	 */
	void (*forward)(const struct stem_shape *shape,
			const struct stem_weights *weights,
			const struct stem_batch *batch, float *out,
			uint8_t *winners, uint8_t *signs, float *scratch);

	/*
	 * Dropout by elements, of one sample: values[outputs][plane], times
	 * scale where keep[outputs][pooled row][pooled column] is 1, else 0.
	 * places has the places of a plane's pixels among its values.
	 */
	void (*drop)(const struct stem_shape *shape, const uint8_t *keep,
		     const int *pixel_order, float scale, float *values,
		     float *scratch);

	/* dy[count], times scale; 0 where out[count] is 0 or below */
	void (*stop)(size_t count, const float *out, float scale,
		     float *dy);

	/*
	 * values[middle][height - 2][width - 2] of one sample of a group, from
	 * its signs: 0 where the plane between was 0 or below, else 1.
	 */
	void (*unpack)(const struct stem_shape *shape, const uint8_t *signs,
		       int sample, uint8_t *values);

	/*
	 * From dy[count][outputs][plane] (the gradient of the loss by out;
	 * zero where the second ReLU stopped it): adds the first convolution's
	 * weight gradient to first[middle][channels][9][lanes] and its bias
	 * gradient to first_bias[middle][lanes], whose lanes are to be summed
	 * in the end. The adjoint of forward, point by point, dZ being dy at
	 * the pixels that won:
	 *   dM = A dZ A^T,  dV[i] = sum over o of U[o][i] dM[o],
	 *   dx = B dV B^T,  stopped where signs say,
	 * and of bf16 by the definition. A NaN of an image may reach all of
	 * the weight gradient.
	 */
	void (*backward)(const struct stem_shape *shape,
			 const struct stem_weights *weights,
			 const struct stem_batch *batch, const float *dy,
			 const uint8_t *winners, const uint8_t *signs,
			 float *first, float *first_bias, float *scratch);

	/*
	 * Adds the second convolution's bias gradient to dbias[outputs], and
	 * its weight gradient to dw[outputs][3][3][middle] or, in
	 * weights_finish()'s form, to sums, aligned to 64 bytes; all of them
	 * are zero before a batch's first group. Each window of the pooling
	 * passes its dy to one pixel. A NaN of an image may reach all of dw.
	 */
	void (*weight_gradient)(const struct stem_shape *shape,
				const struct stem_weights *weights,
				const struct stem_batch *batch,
				const float *dy, const uint8_t *winners,
				float *sums, float *dw, float *dbias,
				float *scratch);

	/* Once a batch, after all its groups: adds the sums to dw. */
	void (*weights_finish)(const struct stem_shape *shape,
			       const float *sums, float *dw);
};

/* Processors other than x86-64 have only the portable ones. */
extern const struct stem_kernels stem_kernels_amx;
extern const struct stem_kernels stem_kernels_avx512;
extern const struct stem_kernels stem_kernels_avx2;
extern const struct stem_kernels stem_kernels_portable;

#endif
