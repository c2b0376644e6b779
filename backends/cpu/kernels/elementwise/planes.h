/*
 * Layers that multiply nothing, over planes that are channels-last: see
 * value.h. A row is a pixel of a sample, stride floats from the next one; what
 * is between its channels and the next row is neither read for anything nor
 * written, but by max pooling, to which it has to be 0 and which leaves it so.
 */
#ifndef BACKENDS_CPU_KERNELS_ELEMENTWISE_PLANES_H
#define BACKENDS_CPU_KERNELS_ELEMENTWISE_PLANES_H

#include <stddef.h>
#include <stdint.h>

#include "models/model.h"

struct pool_shape {
	struct shape in, out;
	int window, stride, pad;   /* of a max pooling */
	int in_stride, out_stride; /* floats from pixel to pixel */
	int winners_stride;	   /* bytes, whole vectors of CPU_LANES */
	/* in is what a ReLU put out: a window without a value above 0, or a
	 * NaN, passes no gradient, and its winner is marked. For windows of up
	 * to POOL_MOST_MARKED a side. */
	int marks;
};

#define POOL_MARK 0x80
#define POOL_MOST_MARKED 11 /* whose places are below the mark */

/* Pixels of all samples, of which each channel is normalised. */
struct norm_rows {
	size_t count;
	int channels, stride;
};

/* By channels: (x - mean) scale + bias */
struct norm_map {
	const float *mean, *scale, *bias;
};

/* Sums over rows of what each channel's values are above shift, which is near
 * their mean, and of the squares of that: [channels] each, the caller's. */
struct norm_moments {
	size_t rows; /* that were added; 0: the sums begin with the next ones */
	float *shift;
	double *sum, *square;
};

struct plane_kernels {
	/*
	 * One sample: the maximum, in a window that may reach out of the plane;
	 * the first of equals, a NaN before any. winners are its row * window +
	 * column in the window, and POOL_MARK; NULL in an evaluation. Backward
	 * adds to dx.
	 */
	void (*maxpool)(const struct pool_shape *shape, const float *in,
			float *out, uint8_t *winners);
	void (*maxpool_backward)(const struct pool_shape *shape,
				 const float *dy, const uint8_t *winners,
				 float *dx);
	/* One sample: adaptive means. Backward adds to dx. */
	void (*avgpool)(const struct pool_shape *shape, const float *in,
			float *out);
	void (*avgpool_backward)(const struct pool_shape *shape,
				 const float *dy, float *dx);

	/* Adds rows; shift becomes the mean of some of the first ones. */
	void (*add_moments)(const struct norm_rows *rows, const float *x,
			    struct norm_moments *moments);
	/* y = (x - mean) scale + bias, plus other unless that is NULL, and ReLU
	 * of this if relu says so. */
	void (*norm)(const struct norm_rows *rows,
		     const struct norm_map *map,
		     const float *x, const float *other, int relu, float *y);
	/*
	 * Sums over the rows of g, and of g (x - mean). g is dy or, with relu,
	 * what of it a ReLU lets pass: one that put out y, then g is stored in
	 * dy; or, if y is NULL, one of what map made of x.
	 */
	void (*norm_sums)(const struct norm_rows *rows,
			  const struct norm_map *map,
			  const float *x, int relu, const float *y, float *dy,
			  double *sum, double *product);
	/* dx = scale (g - sum - (x - mean) product), added if adds says so;
	 * else it may be dy. g is dy, with relu what of it passes a ReLU of
	 * what map made of x. */
	void (*norm_backward)(const struct norm_rows *rows,
			      const struct norm_map *map,
			      const float *x, int relu,
			      const float *dy, const float *sum,
			      const float *product, int adds, float *dx);

	/* Of count values: y = ReLU(x), y = a + b, to += from. Any of them may
	 * be the same. */
	void (*relu)(size_t count, const float *x, float *y);
	void (*add)(size_t count, const float *a, const float *b, float *y);
	void (*add_to)(size_t count, const float *from, float *to);
	/* dy where y is not 0 or below, else 0; stored in dx, which may be dy,
	 * or added. */
	void (*relu_backward)(size_t count, const float *y, const float *dy,
			      int adds, float *dx);
};

/* Those of other processors than x86-64 are the portable ones alone. */
extern const struct plane_kernels plane_kernels_amx;
extern const struct plane_kernels plane_kernels_avx512;
extern const struct plane_kernels plane_kernels_avx2;
extern const struct plane_kernels plane_kernels_portable;

#endif
