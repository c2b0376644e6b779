/*
 * Winograd's F(3,5), F(4,4) and F(5,3) in one dimension, by the algorithm of
 * winograd.h. Outputs come from 7 data with 7 products: 3 with a window of 5, 4
 * with 4, or 5 with 3. The points are +-a, +-b, +-c and infinity. 0 is not
 * used: it has no opposite to share terms with.
 *
 * Let M(x) = (x^2 - a^2) (x^2 - b^2) (x^2 - c^2). Data are multiplied by the
 * coefficients of M(x) / (x - p) for a point p, and of M for infinity. The
 * window is evaluated at p and divided by M'(p); at infinity it is its last
 * value. In backward passes outputs are evaluated at p too, without the
 * division. M'(-p) is -M'(p): the sign is in the data, so that both points of a
 * pair have one divisor.
 *
 * 5/16, 7/8 and 7/4 had the least error of 180 triples, on sums over 24 planes
 * in float. Its L2, relative, is 1.0e-6 forward and 1.2e-6 in weight gradients.
 * F(4,3) has 5.5e-7 and 7.5e-7; the usual points 0, +-1, +-2, 1/2 have 1.7e-6
 * and 2.2e-6.
 */
#ifndef BACKENDS_CPU_KERNELS_WINOGRAD_WINOGRAD7_H
#define BACKENDS_CPU_KERNELS_WINOGRAD_WINOGRAD7_H

#include "backends/cpu/kernels/simd/simd.h"

#define WINOGRAD7_DATA 7
#define WINOGRAD7_PAIRS 3

/* The squares of a = 5/16, b = 7/8 and c = 7/4. */
#define WINOGRAD7_AA (.3125 * .3125)
#define WINOGRAD7_BB (.875 * .875)
#define WINOGRAD7_CC (1.75 * 1.75)

/* A pair of points +-p: p, the sum and the product of the other points'
 * squares, and the divisor of the window. */
struct winograd7_pair {
	double point, sum, product, divisor;
};

#define WINOGRAD7_PAIR(p, q, r) \
	{ p, (q) + (r), (q) * (r), \
	  2 * (p) * ((p) * (p) - (q)) * ((p) * (p) - (r)) }

static const struct winograd7_pair winograd7_pairs[WINOGRAD7_PAIRS] = {
	WINOGRAD7_PAIR(.3125, WINOGRAD7_BB, WINOGRAD7_CC),
	WINOGRAD7_PAIR(.875, WINOGRAD7_AA, WINOGRAD7_CC),
	WINOGRAD7_PAIR(1.75, WINOGRAD7_AA, WINOGRAD7_BB),
};

/* Computes B^T d. */
INLINE void data_to_points7(const vec data[WINOGRAD7_DATA],
			    vec points[WINOGRAD7_DATA])
{
	const double aa = WINOGRAD7_AA, bb = WINOGRAD7_BB, cc = WINOGRAD7_CC;
	const vec sum = vec_set((float)(aa + bb + cc));
	const vec pairs = vec_set((float)(aa * bb + aa * cc + bb * cc));
	const vec product = vec_set((float)(aa * bb * cc));

	UNROLL
	for (int i = 0; i < WINOGRAD7_PAIRS; i++) {
		const struct winograd7_pair pair = winograd7_pairs[i];
		const vec s = vec_set((float)pair.sum);
		const vec p = vec_set((float)pair.product);
		const vec even = data[4] - s * data[2] + p * data[0];
		const vec odd = data[5] - s * data[3] + p * data[1];

		points[2 * i] = (float)pair.point * even + odd;
		points[2 * i + 1] = (float)pair.point * even - odd;
	}
	points[6] = data[6] - sum * data[4] + pairs * data[2] -
		    product * data[0];
}

/*
 * Computes A y for count values, a constant from 3 to 5: a polynomial's values.
 */
INLINE void values_to_points7(int count, const vec *values,
			      vec points[WINOGRAD7_DATA])
{
	UNROLL
	for (int i = 0; i < WINOGRAD7_PAIRS; i++) {
		const float p = (float)winograd7_pairs[i].point;
		vec odd = values[1], even = values[2];

		if (count > 3)
			odd += p * p * values[3];
		if (count > 4)
			even += p * p * values[4];
		even = values[0] + p * p * even;
		points[2 * i] = even + p * odd;
		points[2 * i + 1] = even - p * odd;
	}
	points[6] = values[count - 1];
}

/* Computes A^T m, the adjoint of values_to_points7(). */
INLINE void points7_to_values(int count, const vec points[WINOGRAD7_DATA],
			      vec *values)
{
	vec odd[WINOGRAD7_PAIRS], even[WINOGRAD7_PAIRS];

	UNROLL
	for (int i = 0; i < WINOGRAD7_PAIRS; i++) {
		even[i] = points[2 * i] + points[2 * i + 1];
		odd[i] = points[2 * i] - points[2 * i + 1];
	}
	UNROLL
	for (int k = 0; k < count; k++) {
		vec sum = k == count - 1 ? points[6] : vec_set(0);

		UNROLL
		for (int i = 0; i < WINOGRAD7_PAIRS; i++) {
			const float p = (float)winograd7_pairs[i].point;
			const float power = (k > 1 ? p * p : 1) *
					    (k > 3 ? p * p : 1) *
					    (k % 2 ? p : 1);

			sum += power * (k % 2 ? odd[i] : even[i]);
		}
		values[k] = sum;
	}
}

INLINE void divide7(vec points[WINOGRAD7_DATA])
{
	UNROLL
	for (int i = 0; i < 2 * WINOGRAD7_PAIRS; i++)
		points[i] *= (float)(1 / winograd7_pairs[i / 2].divisor);
}

/* Compute G g and its adjoint G^T m. */
INLINE void window_to_points7(int count, const vec *window,
			      vec points[WINOGRAD7_DATA])
{
	values_to_points7(count, window, points);
	divide7(points);
}

INLINE void points7_to_window(int count, const vec points[WINOGRAD7_DATA],
			      vec *window)
{
	vec divided[WINOGRAD7_DATA];

	memcpy(divided, points, sizeof(divided));
	divide7(divided);
	points7_to_values(count, divided, window);
}

#endif
