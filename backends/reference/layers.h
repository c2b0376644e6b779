/*
 * Each layer of one sample as plain loops in double: the oracle. Planes are
 * [channel][row][column]; dX is the slope of the loss by X.
 */
#ifndef BACKENDS_REFERENCE_LAYERS_H
#define BACKENDS_REFERENCE_LAYERS_H

#include <stdint.h>

#include "backends/backend.h"

/* y[o][r][c] = bias[o] + sum over i, j, k of w[o][i][j][k] x[i][r+j][c+k] */
void conv_forward(const double *x, struct shape in, const double *w,
		  const double *bias, int outputs, int window, double *y);
/* Adds to dw and dbias; overwrites dx unless it is NULL. */
void conv_backward(const double *x, struct shape in, const double *w,
		   int outputs, int window, const double *dy, double *dw,
		   double *dbias, double *dx);

/* y[o] = bias[o] + sum over i of w[o][i] x[i] */
void linear_forward(const double *x, size_t inputs, const double *w,
		    const double *bias, int outputs, double *y);
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

void maxpool_forward(const double *x, struct shape in, int window,
		     const uint8_t *imposed, uint8_t *winners, double *y,
		     double *regret);
void maxpool_backward(const double *dy, struct shape in, int window,
		      const uint8_t *winners, double *dx);

/* Both ways: y = x / (1 - drop) where kept; a choice spans span elements. */
void dropout_apply(const double *x, size_t choices, size_t span,
		   const uint8_t *keep, double drop, double *y);

/* Adds to score; dx unless NULL is the slope of loss / divisor. */
void loss_forward(const double *x, int classes, int label, int divisor,
		  struct score *score, double *dx);

#endif
