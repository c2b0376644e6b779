/*
 * Kernels of layers without products, over channels-last planes (value.h). A
 * row is a pixel of a sample, stride floats from the next one. The gap after a
 * row's channels is neither read nor written. Max pooling is the exception: it
 * requires gaps of 0 and leaves them 0.
 */
#ifndef BACKENDS_CPU_KERNELS_ELEMENTWISE_ELEMENTWISE_H
#define BACKENDS_CPU_KERNELS_ELEMENTWISE_ELEMENTWISE_H

#include <stddef.h>
#include <stdint.h>

#include "models/model.h"

struct pool_shape {
	struct shape in, out;
	int window, stride, pad;   /* of max pooling */
	int in_stride, out_stride; /* floats from pixel to pixel */
	int winners_stride;	   /* bytes, whole vectors of CPU_LANES */
	/*
	 * 1 = in is a ReLU's output: a window without a positive value or a NaN
	 * passes no gradient, and its winner is marked. Requires window <=
	 * POOL_MOST_MARKED.
	 */
	int marks;
};

#define POOL_MARK 0x80
#define POOL_MOST_MARKED 11 /* its places are below POOL_MARK */

/* The pixels of all samples, over which each channel is normalised. */
struct norm_rows {
	size_t count;
	int channels, stride;
};

/* A map per channel: (x - mean) scale + bias */
struct norm_map {
	const float *mean, *scale, *bias;
};

/* Sums over rows of x - shift and of its square, per channel; shift is near the
 * mean. Arrays of [channels], owned by the caller. */
struct norm_moments {
	size_t rows; /* rows added so far; 0 = the next ones begin the sums */
	float *shift;
	double *sum, *square;
};

struct elementwise_kernels {
	/*
	 * maxpool() computes the max pooling of one sample; a window may reach
	 * out of the plane. The first of equal values wins; a NaN wins over any
	 * number. winners holds row * window + column, and POOL_MARK; NULL in
	 * an evaluation. maxpool_backward() adds to dx.
	 */
	void (*maxpool)(const struct pool_shape *shape, const float *in,
			float *out, uint8_t *winners);
	void (*maxpool_backward)(const struct pool_shape *shape,
				 const float *dy, const uint8_t *winners,
				 float *dx);
	/*
	 * Compute adaptive means of one sample; avgpool_backward() adds to dx.
	 */
	void (*avgpool)(const struct pool_shape *shape, const float *in,
			float *out);
	void (*avgpool_backward)(const struct pool_shape *shape,
				 const float *dy, float *dx);

	/*
	 * Adds rows to the sums; the first call sets shift to some rows' mean.
	 */
	void (*add_moments)(const struct norm_rows *rows, const float *x,
			    struct norm_moments *moments);
	/* Computes y = (x - mean) scale + bias, plus other unless NULL; then
	 * ReLU if relu is set. */
	void (*norm)(const struct norm_rows *rows,
		     const struct norm_map *map,
		     const float *x, const float *other, int relu, float *y);
	/*
	 * Sets sum and product to the sums over rows of g and of g (x - mean).
	 * g is dy or, with relu, the part of dy that passes the ReLU. If y is
	 * not NULL it is the ReLU's output, and g is stored in dy; else the
	 * ReLU's input is map of x.
	 */
	void (*norm_sums)(const struct norm_rows *rows,
			  const struct norm_map *map,
			  const float *x, int relu, const float *y, float *dy,
			  double *sum, double *product);
	/*
	 * Computes dx = scale (g - sum - (x - mean) product), added to dx if
	 * adds is set; else dx may be dy. g is dy or, with relu, the part that
	 * passes the ReLU of map of x.
	 */
	void (*norm_backward)(const struct norm_rows *rows,
			      const struct norm_map *map,
			      const float *x, int relu,
			      const float *dy, const float *sum,
			      const float *product, int adds, float *dx);

	/* Compute y = ReLU(x), y = a + b, to += from, on count values. Arrays
	 * may coincide. */
	void (*relu)(size_t count, const float *x, float *y);
	void (*add)(size_t count, const float *a, const float *b, float *y);
	void (*add_to)(size_t count, const float *from, float *to);
	/* Passes dy where y is above 0 or a NaN, else 0, to dx. Adds it if adds
	 * is set; else dx may be dy. */
	void (*relu_backward)(size_t count, const float *y, const float *dy,
			      int adds, float *dx);
};

/* Processors other than x86-64 have only the portable ones. */
extern const struct elementwise_kernels elementwise_kernels_amx;
extern const struct elementwise_kernels elementwise_kernels_avx512;
extern const struct elementwise_kernels elementwise_kernels_avx2;
extern const struct elementwise_kernels elementwise_kernels_portable;

#endif
