/*
 * A convolution whose points are rounded to bf16: what ROUNDS_POINTS of
 * backends/contract/backend.h is, in double. Its windows are 3x3, its stride 1.
 *
 * It is Winograd's F(4x4, 3x3), Y = A^T [(G g G^T) . (B^T d B)] A, with the
 * points 0, +a, -a, +b, -b and infinity, where a is 3/4 and b is 3/2. Rows of G
 * for +-a are divided by 2 a (a^2 - b^2), for +-b by 2 (b^2 - a^2), and
 * for 0 by a^2 b^2. How rows are divided between B, G and A decides what is
 * rounded. Both G g G^T and B^T d B are; the sums over channels are not.
 */
#ifndef BACKENDS_HOST_POINTS_H
#define BACKENDS_HOST_POINTS_H

#include "models/model.h"

/* Doubles of scratch that a sample takes. */
size_t points_scratch(const struct layer *layer, struct shape in);

/* y of x, a sample; bias: NULL without. */
void points_forward(const struct layer *layer, struct shape in,
		    const double *x, const double *weights, const double *bias,
		    double *scratch, double *y);

#endif
