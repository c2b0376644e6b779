/*
 * Winograd's F(4,3) in one dimension: 4 outputs of a window of 3 from 6 data
 * with 6 products. Sources: Lavin and Gray 2016, arXiv 1509.09308; on the
 * choice of points, Barabasz et al. 2018, arXiv 1803.10986. In two dimensions,
 * each transform is applied to the columns and then to the rows:
 *
 *   Y = A^T [(G g G^T) . (B^T d B)] A
 *
 * The points are 0, +a, -a, +b, -b and infinity. All a and b have equal costs.
 * The rows of G for +-a and +-b are multiplied by a and b^2, and the columns of
 * A^T divided by them. This saves two multiplications in A^T. a = 3/4 and b =
 * 3/2, with exact squares, had the smallest error of 26 pairs, on sums over 32
 * planes in float. The error is 5e-7 (L2, relative; largest 6e-7 of the largest
 * value). The usual 1 and 2 have 1.0e-6 (2.3e-6), the direct sum 2.1e-7
 * (4.0e-7).
 *
 *         | a^2 b^2     0    -(a^2+b^2)     0       1   0 |   data, at 0
 *         |    0     -a b^2     -b^2        a       1   0 |   +a
 *   B^T = |    0      a b^2     -b^2       -a       1   0 |   -a
 *         |    0     -a^2 b     -a^2        b       1   0 |   +b
 *         |    0      a^2 b     -a^2       -b       1   0 |   -b
 *         |    0     a^2 b^2      0    -(a^2+b^2)   0   1 |   infinity
 *
 *         | 1  1/a  1/a  1/b^2  1/b^2  0 |
 *   A^T = | 0   1   -1    1/b   -1/b   0 |
 *         | 0   a    a     1      1    0 |
 *         | 0  a^2 -a^2    b     -b    1 |
 */
#ifndef BACKENDS_CPU_KERNELS_WINOGRAD_WINOGRAD_H
#define BACKENDS_CPU_KERNELS_WINOGRAD_WINOGRAD_H

#include "backends/cpu/kernels/simd/simd.h"

#define WINOGRAD_DATA 6
#define WINOGRAD_OUTPUT 4
#define WINOGRAD_WINDOW 3

#define WINOGRAD_A .75
#define WINOGRAD_B 1.5
#define WINOGRAD_AA (WINOGRAD_A * WINOGRAD_A)
#define WINOGRAD_BB (WINOGRAD_B * WINOGRAD_B)

/* Computes B^T d. */
INLINE void data_to_points(const vec data[WINOGRAD_DATA],
			   vec points[WINOGRAD_DATA])
{
	const vec a = vec_set((float)WINOGRAD_A);
	const vec b = vec_set((float)WINOGRAD_B);
	const vec aa = vec_set((float)WINOGRAD_AA);
	const vec bb = vec_set((float)WINOGRAD_BB);
	const vec product = vec_set((float)(WINOGRAD_AA * WINOGRAD_BB));
	const vec sum = vec_set((float)(WINOGRAD_AA + WINOGRAD_BB));
	const vec even_a = data[4] - bb * data[2];
	const vec odd_a = data[3] - bb * data[1];
	const vec even_b = data[4] - aa * data[2];
	const vec odd_b = data[3] - aa * data[1];

	points[0] = product * data[0] + (data[4] - sum * data[2]);
	points[1] = even_a + a * odd_a;
	points[2] = even_a - a * odd_a;
	points[3] = even_b + b * odd_b;
	points[4] = even_b - b * odd_b;
	points[5] = product * data[1] + (data[5] - sum * data[3]);
}

/* Computes A^T m. */
INLINE void points_to_output(const vec points[WINOGRAD_DATA],
			     vec output[WINOGRAD_OUTPUT])
{
	const vec a = vec_set((float)WINOGRAD_A);
	const vec b = vec_set((float)WINOGRAD_B);
	const vec aa = vec_set((float)WINOGRAD_AA);
	const vec over_a = vec_set((float)(1 / WINOGRAD_A));
	const vec over_b = vec_set((float)(1 / WINOGRAD_B));
	const vec over_bb = vec_set((float)(1 / WINOGRAD_BB));
	const vec even_a = points[1] + points[2];
	const vec odd_a = points[1] - points[2];
	const vec even_b = points[3] + points[4];
	const vec odd_b = points[3] - points[4];

	output[0] = points[0] + over_a * even_a + over_bb * even_b;
	output[1] = odd_a + over_b * odd_b;
	output[2] = even_b + a * even_a;
	output[3] = points[5] + aa * odd_a + b * odd_b;
}

/* Computes G g. */
INLINE void window_to_points(const vec window[WINOGRAD_WINDOW],
			     vec points[WINOGRAD_DATA])
{
	const double apart = 2 * (WINOGRAD_BB - WINOGRAD_AA);
	const vec at_0 = vec_set((float)(1 / (WINOGRAD_AA * WINOGRAD_BB)));
	const vec at_a = vec_set((float)(-1 / (apart * WINOGRAD_A)));
	const vec at_b = vec_set((float)(1 / apart));
	const vec even_a = window[0] + (float)WINOGRAD_AA * window[2];
	const vec odd_a = (float)WINOGRAD_A * window[1];
	const vec even_b = window[0] + (float)WINOGRAD_BB * window[2];
	const vec odd_b = (float)WINOGRAD_B * window[1];

	points[0] = at_0 * window[0];
	points[1] = at_a * (even_a + odd_a);
	points[2] = at_a * (even_a - odd_a);
	points[3] = at_b * (even_b + odd_b);
	points[4] = at_b * (even_b - odd_b);
	points[5] = window[2];
}

/* Computes G^T m, the adjoint of window_to_points(). */
INLINE void points_to_window(const vec points[WINOGRAD_DATA],
			     vec window[WINOGRAD_WINDOW])
{
	const double apart = 2 * (WINOGRAD_BB - WINOGRAD_AA);
	const vec at_0 = vec_set((float)(1 / (WINOGRAD_AA * WINOGRAD_BB)));
	const vec at_a = vec_set((float)(-1 / (apart * WINOGRAD_A)));
	const vec at_b = vec_set((float)(1 / apart));
	const vec even_a = at_a * (points[1] + points[2]);
	const vec odd_a = at_a * (points[1] - points[2]);
	const vec even_b = at_b * (points[3] + points[4]);
	const vec odd_b = at_b * (points[3] - points[4]);

	window[0] = at_0 * points[0] + even_a + even_b;
	window[1] = (float)WINOGRAD_A * odd_a + (float)WINOGRAD_B * odd_b;
	window[2] = (float)WINOGRAD_AA * even_a + (float)WINOGRAD_BB * even_b +
		    points[5];
}

/* Computes A y, the adjoint of points_to_output(). */
INLINE void output_to_points(const vec output[WINOGRAD_OUTPUT],
			     vec points[WINOGRAD_DATA])
{
	const vec a = vec_set((float)WINOGRAD_A);
	const vec b = vec_set((float)WINOGRAD_B);
	const vec aa = vec_set((float)WINOGRAD_AA);
	const vec over_a = vec_set((float)(1 / WINOGRAD_A));
	const vec over_b = vec_set((float)(1 / WINOGRAD_B));
	const vec over_bb = vec_set((float)(1 / WINOGRAD_BB));
	const vec even_a = over_a * output[0] + a * output[2];
	const vec odd_a = output[1] + aa * output[3];
	const vec even_b = output[2] + over_bb * output[0];
	const vec odd_b = over_b * output[1] + b * output[3];

	points[0] = output[0];
	points[1] = even_a + odd_a;
	points[2] = even_a - odd_a;
	points[3] = even_b + odd_b;
	points[4] = even_b - odd_b;
	points[5] = output[3];
}

/* Computes A itself: output y of a tile adds coefficients[r][y] to point r. */
INLINE void output_coefficients(
	float coefficients[WINOGRAD_DATA][WINOGRAD_OUTPUT])
{
	for (int y = 0; y < WINOGRAD_OUTPUT; y++) {
		vec output[WINOGRAD_OUTPUT] = { 0 }, points[WINOGRAD_DATA];

		output[y] = vec_set(1);
		output_to_points(output, points);
		for (int r = 0; r < WINOGRAD_DATA; r++)
			coefficients[r][y] = points[r][0];
	}
}

/* Computes B v, the adjoint of data_to_points(). */
INLINE void points_to_data(const vec points[WINOGRAD_DATA],
			   vec data[WINOGRAD_DATA])
{
	const vec aa = vec_set((float)WINOGRAD_AA);
	const vec bb = vec_set((float)WINOGRAD_BB);
	const vec product = vec_set((float)(WINOGRAD_AA * WINOGRAD_BB));
	const vec sum = vec_set((float)(WINOGRAD_AA + WINOGRAD_BB));
	const vec even_a = points[1] + points[2];
	const vec even_b = points[3] + points[4];
	const vec odd_a = (float)WINOGRAD_A * (points[1] - points[2]);
	const vec odd_b = (float)WINOGRAD_B * (points[3] - points[4]);

	data[0] = product * points[0];
	data[1] = product * points[5] - bb * odd_a - aa * odd_b;
	data[2] = -sum * points[0] - bb * even_a - aa * even_b;
	data[3] = odd_a + odd_b - sum * points[5];
	data[4] = points[0] + even_a + even_b;
	data[5] = points[5];
}

#endif
