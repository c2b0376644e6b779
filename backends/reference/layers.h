/*
 * Each layer as plain loops in double. Planes are [channel][row][column]; all
 * functions but batch norm's process one sample. Backward functions add to dx,
 * the gradient of x, unless it is NULL.
 *
 * single.c compiles them again in float, to show the effect of rounding alone.
 */
#ifndef BACKENDS_REFERENCE_LAYERS_H
#define BACKENDS_REFERENCE_LAYERS_H

#include <stdint.h>

#include "backends/contract/program.h"
#include "backends/host/real.h"

/*
 * Computes a convolution with stride s and p rows and columns of zeros around
 * x. bias may be NULL.
 *
 *   y[o][r][c] = bias[o] +
 *     sum over i, j, k of w[o][i][j][k] x[i][rs+j-p][cs+k-p]
 */
void conv_forward(const struct layer *layer, const real *x, struct shape in,
		  const real *w, const real *bias, real *y);
/* Adds to dw, and to dbias unless it is NULL. */
void conv_backward(const struct layer *layer, const real *x, struct shape in,
		   const real *w, const real *dy, real *dw,
		   real *dbias, real *dx);

/* Adds the bias gradient of a convolution or a linear layer to dbias. */
void bias_backward(struct shape out, const real *dy, real *dbias);

/* Computes y[o] = bias[o] + sum over i of w[o][i] x[i]. */
void linear_forward(const real *x, size_t inputs, const real *w,
		    const real *bias, int outputs, real *y);
/* Adds to dw, and to dbias unless it is NULL. */
void linear_backward(const real *x, size_t inputs, const real *w,
		     int outputs, const real *dy, real *dw, real *dbias,
		     real *dx);

/*
 * Make their decisions, or follow imposed ones unless NULL or DECISION_ANY.
 * regret becomes the largest relative difference that an imposed decision
 * makes, if that is larger.
 */
void relu_forward(const real *x, size_t count, const uint8_t *imposed,
		  uint8_t *passes, real *y, double *regret);
void relu_backward(const real *dy, size_t count, const uint8_t *passes,
		   real *dx);

/* Windows may overlap; a winner is row * window + column in its window. */
void maxpool_forward(const struct layer *layer, const real *x,
		     struct shape in, const uint8_t *imposed, uint8_t *winners,
		     real *y, double *regret);
void maxpool_backward(const struct layer *layer, const real *dy,
		      struct shape in, const uint8_t *winners, real *dx);

void avgpool_forward(const struct layer *layer, const real *x,
		     struct shape in, real *y);
void avgpool_backward(const struct layer *layer, const real *dy,
		      struct shape in, real *dx);

/*
 * Compute y = x / (1 - drop) if kept, else 0; each choice covers span elements.
 */
void dropout_forward(const real *x, size_t choices, size_t span,
		     const uint8_t *keep, double drop, real *y);
void dropout_backward(const real *dy, size_t choices, size_t span,
		      const uint8_t *keep, double drop, real *dx);

/* Statistics of a channel, and its trained parameters. */
struct norm {
	real mean, deviation; /* sqrt(variance + eps) */
	real weight, bias;
};

/* Computes the mean and biased variance of a channel in two passes. It has
 * count samples of size values, stride values apart. */
void moments(const real *x, int count, size_t stride, size_t size,
	     double *mean, double *variance);
/* Computes y = (x - mean) / deviation * weight + bias, for a channel as in
 * moments(). */
void norm_forward(const struct norm *norm, const real *x, int count,
		  size_t stride, size_t size, real *y);
/*
 * Adds to dw and dbias; dx includes the dependence of mean and deviation on x.
 */
void norm_backward(const struct norm *norm, const real *x, const real *dy,
		   int count, size_t stride, size_t size, real *dw,
		   real *dbias, real *dx);

/* Adds the loss of sample i of a batch to score. dx, unless NULL, becomes the
 * gradient of loss / batch->global_count. */
void loss_forward(enum loss loss, const real *x, int outputs,
		  const struct batch *batch, int i, struct score *score,
		  real *dx);

#endif
