/*
 * Each layer as plain loops in double: the oracle. Planes are
 * [channel][row][column]; all but batch norm see one sample. Backward functions
 * add to dx, the gradient of the loss by x, unless it is NULL.
 */
#ifndef BACKENDS_REFERENCE_LAYERS_H
#define BACKENDS_REFERENCE_LAYERS_H

#include <stdint.h>

#include "backends/backend.h"

/*
 * With stride s and p rows and columns of zeros around x:
 * y[o][r][c] = bias[o] + sum over i, j, k of w[o][i][j][k] x[i][rs+j-p][cs+k-p]
 * bias may be NULL.
 */
void conv_forward(const struct layer *layer, const double *x, struct shape in,
		  const double *w, const double *bias, double *y);
/* Adds to dw, and to dbias unless it is NULL. */
void conv_backward(const struct layer *layer, const double *x, struct shape in,
		   const double *w, const double *dy, double *dw,
		   double *dbias, double *dx);

/* y[o] = bias[o] + sum over i of w[o][i] x[i] */
void linear_forward(const double *x, size_t inputs, const double *w,
		    const double *bias, int outputs, double *y);
/* Adds to dw and dbias. */
void linear_backward(const double *x, size_t inputs, const double *w,
		     int outputs, const double *dy, double *dw, double *dbias,
		     double *dx);

/*
 * Decisions are taken, or followed where imposed is not NULL (DECISION_ANY
 * leaves them free). regret grows to the worst difference that an imposed one
 * makes.
 */
void relu_forward(const double *x, size_t count, const uint8_t *imposed,
		  uint8_t *passes, double *y, double *regret);
void relu_backward(const double *dy, size_t count, const uint8_t *passes,
		   double *dx);

/* Windows may overlap; a winner is row * window + column of its window. */
void maxpool_forward(const struct layer *layer, const double *x,
		     struct shape in, const uint8_t *imposed, uint8_t *winners,
		     double *y, double *regret);
void maxpool_backward(const struct layer *layer, const double *dy,
		      struct shape in, const uint8_t *winners, double *dx);

void avgpool_forward(const struct layer *layer, const double *x,
		     struct shape in, double *y);
void avgpool_backward(const struct layer *layer, const double *dy,
		      struct shape in, double *dx);

/* y = x / (1 - drop) where kept, else 0; a choice spans span elements. */
void dropout_forward(const double *x, size_t choices, size_t span,
		     const uint8_t *keep, double drop, double *y);
void dropout_backward(const double *dy, size_t choices, size_t span,
		      const uint8_t *keep, double drop, double *dx);

/* Of a channel: what it is normalised by, and what makes it anew. */
struct norm {
	double mean, deviation; /* sqrt(variance + eps) */
	double weight, bias;
};

/* The mean and biased variance of a channel of count samples of size values,
 * each stride values behind the one before; two passes. */
void moments(const double *x, int count, size_t stride, size_t size,
	     double *mean, double *variance);
/* y = (x - mean) / deviation * weight + bias, likewise. */
void norm_forward(const struct norm *norm, const double *x, int count,
		  size_t stride, size_t size, double *y);
/* Adds to dw and dbias: through mean and deviation of these very values. */
void norm_backward(const struct norm *norm, const double *x, const double *dy,
		   int count, size_t stride, size_t size, double *dw,
		   double *dbias, double *dx);

/* Adds to score; dx unless NULL is the gradient of loss / divisor. */
void loss_forward(const double *x, int classes, int label, int divisor,
		  struct score *score, double *dx);

#endif
