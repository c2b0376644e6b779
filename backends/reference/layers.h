/*
 * Each layer as plain loops in double: the oracle. Planes are
 * [channel][row][column]; all but batch norm see one sample. Backward functions
 * add to dx, the gradient of the loss by x, unless it is NULL.
 *
 * single.c has them once more in float: what rounding alone makes of a network.
 */
#ifndef BACKENDS_REFERENCE_LAYERS_H
#define BACKENDS_REFERENCE_LAYERS_H

#include <stdint.h>

#include "backends/contract/program.h"
#include "backends/host/real.h"

/*
 * With stride s and p rows and columns of zeros around x:
 * y[o][r][c] = bias[o] + sum over i, j, k of w[o][i][j][k] x[i][rs+j-p][cs+k-p]
 * bias may be NULL.
 */
void conv_forward(const struct layer *layer, const real *x, struct shape in,
		  const real *w, const real *bias, real *y);
/* Adds to dw, and to dbias unless it is NULL. */
void conv_backward(const struct layer *layer, const real *x, struct shape in,
		   const real *w, const real *dy, real *dw,
		   real *dbias, real *dx);

/* Adds a convolution's or a linear layer's gradient by its biases. */
void bias_backward(struct shape out, const real *dy, real *dbias);

/* y[o] = bias[o] + sum over i of w[o][i] x[i] */
void linear_forward(const real *x, size_t inputs, const real *w,
		    const real *bias, int outputs, real *y);
/* Adds to dw, and to dbias unless it is NULL. */
void linear_backward(const real *x, size_t inputs, const real *w,
		     int outputs, const real *dy, real *dw, real *dbias,
		     real *dx);

/*
 * Decisions are taken, or followed where imposed is not NULL (DECISION_ANY
 * leaves them free). regret grows to the worst difference that an imposed one
 * makes.
 */
void relu_forward(const real *x, size_t count, const uint8_t *imposed,
		  uint8_t *passes, real *y, double *regret);
void relu_backward(const real *dy, size_t count, const uint8_t *passes,
		   real *dx);

/* Windows may overlap; a winner is row * window + column of its window. */
void maxpool_forward(const struct layer *layer, const real *x,
		     struct shape in, const uint8_t *imposed, uint8_t *winners,
		     real *y, double *regret);
void maxpool_backward(const struct layer *layer, const real *dy,
		      struct shape in, const uint8_t *winners, real *dx);

void avgpool_forward(const struct layer *layer, const real *x,
		     struct shape in, real *y);
void avgpool_backward(const struct layer *layer, const real *dy,
		      struct shape in, real *dx);

/* y = x / (1 - drop) where kept, else 0; a choice spans span elements. */
void dropout_forward(const real *x, size_t choices, size_t span,
		     const uint8_t *keep, double drop, real *y);
void dropout_backward(const real *dy, size_t choices, size_t span,
		      const uint8_t *keep, double drop, real *dx);

/* Of a channel: what it is normalised by, and what makes it anew. */
struct norm {
	real mean, deviation; /* sqrt(variance + eps) */
	real weight, bias;
};

/* The mean and biased variance of a channel of count samples of size values,
 * each stride values behind the one before; two passes. */
void moments(const real *x, int count, size_t stride, size_t size,
	     double *mean, double *variance);
/* y = (x - mean) / deviation * weight + bias, likewise. */
void norm_forward(const struct norm *norm, const real *x, int count,
		  size_t stride, size_t size, real *y);
/* Adds to dw and dbias: through mean and deviation of these very values. */
void norm_backward(const struct norm *norm, const real *x, const real *dy,
		   int count, size_t stride, size_t size, real *dw,
		   real *dbias, real *dx);

/* Of sample i of a batch; adds to score. dx unless NULL is the gradient of
 * loss / batch->global_count. */
void loss_forward(enum loss loss, const real *x, int outputs,
		  const struct batch *batch, int i, struct score *score,
		  real *dx);

#endif
