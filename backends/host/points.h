/*
 * A convolution with points rounded to bf16, in double: the reference of
 * ROUNDS_POINTS (backends/contract/precision.h). Windows are 3x3, the stride is
 * 1.
 *
 * The algorithm is Winograd's F(4x4, 3x3), Y = A^T [(G g G^T) . (B^T d B)] A.
 * The points are 0, +a, -a, +b, -b and infinity, with a = 3/4 and b = 3/2. G's
 * rows for +-a are divided by 2 a (a^2 - b^2), for +-b by 2 (b^2 - a^2), for 0
 * by a^2 b^2. The division of factors between B, G and A decides what is
 * rounded. Both G g G^T and B^T d B are rounded; the sums over channels are
 * not.
 */
#ifndef BACKENDS_HOST_POINTS_H
#define BACKENDS_HOST_POINTS_H

#include "models/model.h"

/* Returns the doubles of scratch per sample. */
size_t points_scratch(const struct layer *layer, struct shape in);

/* Computes y of x, one sample; bias: NULL = none. */
void points_forward(const struct layer *layer, struct shape in,
		    const double *x, const double *weights, const double *bias,
		    double *scratch, double *y);

#endif
