/*
 * Winograd's F(3,5), F(4,4) and F(5,3) in one dimension, by seven points: what
 * winograd_points.cl has for six, of tiles of TILE outputs and of windows of
 * WINDOW, which are SIDE + 1 together.
 *
 * The points are +-a, +-b, +-c and infinity; 0, which has no opposite to share
 * its terms with, is none of them. With M(x) = (x^2 - a^2) (x^2 - b^2)
 * (x^2 - c^2) data are multiplied by the coefficients of M(x) / (x - p) for a
 * point p, and of M for infinity. A window is a polynomial at p, divided by
 * M'(p), and at infinity its last value; so are outputs, not divided, on the
 * way back. M'(-p) is -M'(p): -1 of that is in the data. 5/16, 7/8 and 7/4, the
 * best of 180 triples, have squares and products of these that are exact, and
 * twice the error of six points.
 */
#define SIDE 7
#define POINT_A .3125f
#define POINT_B .875f
#define POINT_C 1.75f
#define AA (POINT_A * POINT_A)
#define BB (POINT_B * POINT_B)
#define CC (POINT_C * POINT_C)

/* Data at p and -p; the squares of the other points are q and r. */
static inline void data_at(const vec data[SIDE], float p, float q, float r,
			   vec pair[2])
{
	const vec even = fma((vec)(-(q + r)), data[2],
			     fma((vec)(q * r), data[0], data[4]));
	const vec odd = fma((vec)(-(q + r)), data[3],
			    fma((vec)(q * r), data[1], data[5]));

	pair[0] = fma((vec)(p), even, odd);
	pair[1] = fma((vec)(p), even, -odd);
}

/* B^T d */
static inline void data_to_points(const vec data[SIDE], vec points[SIDE])
{
	data_at(data, POINT_A, BB, CC, points);
	data_at(data, POINT_B, AA, CC, points + 2);
	data_at(data, POINT_C, AA, BB, points + 4);
	points[6] = fma((vec)(-(AA + BB + CC)), data[4],
			fma((vec)(AA * BB + AA * CC + BB * CC), data[2],
			    fma((vec)(-(AA * BB * CC)), data[0], data[6])));
}

/* A polynomial of count coefficients, from 3 to 5, at p and -p */
static inline void values_at(const vec *values, int count, float p,
			     vec pair[2])
{
	vec odd = values[1], even = values[2];

	if (count > 3)
		odd = fma((vec)(p * p), values[3], odd);
	if (count > 4)
		even = fma((vec)(p * p), values[4], even);
	even = fma((vec)(p * p), even, values[0]);
	pair[0] = fma((vec)(p), odd, even);
	pair[1] = fma((vec)(-p), odd, even);
}

static inline void polynomial_to_points(const vec *values, int count,
					vec points[SIDE])
{
	values_at(values, count, POINT_A, points);
	values_at(values, count, POINT_B, points + 2);
	values_at(values, count, POINT_C, points + 4);
	points[6] = values[count - 1];
}

static inline vec terms_sum(vec a, vec b, vec c, float at_a, float at_b,
			    float at_c)
{
	return fma((vec)(at_a), a, fma((vec)(at_b), b, at_c * c));
}

/* The adjoint of polynomial_to_points */
static inline void points_to_polynomial(const vec points[SIDE], int count,
					vec *values)
{
	const vec even_a = points[0] + points[1];
	const vec even_b = points[2] + points[3];
	const vec even_c = points[4] + points[5];
	const vec odd_a = points[0] - points[1];
	const vec odd_b = points[2] - points[3];
	const vec odd_c = points[4] - points[5];

	values[0] = even_a + (even_b + even_c);
	values[1] = terms_sum(odd_a, odd_b, odd_c, POINT_A, POINT_B, POINT_C);
	values[2] = terms_sum(even_a, even_b, even_c, AA, BB, CC);
	if (count > 3)
		values[3] = terms_sum(odd_a, odd_b, odd_c, POINT_A * AA,
				      POINT_B * BB, POINT_C * CC);
	if (count > 4)
		values[4] = terms_sum(even_a, even_b, even_c, AA * AA, BB * BB,
				      CC * CC);
	values[count - 1] += points[6];
}

/* Both points of a pair have one divisor, M'(p). */
static inline void pair_divide(const vec pair[2], float p, float q, float r,
			       vec divided[2])
{
	const float factor = 1 / (2 * p * (p * p - q) * (p * p - r));

	divided[0] = factor * pair[0];
	divided[1] = factor * pair[1];
}

static inline void points_divide(const vec points[SIDE], vec divided[SIDE])
{
	pair_divide(points, POINT_A, BB, CC, divided);
	pair_divide(points + 2, POINT_B, AA, CC, divided + 2);
	pair_divide(points + 4, POINT_C, AA, BB, divided + 4);
	divided[6] = points[6];
}

/* A^T m */
static inline void points_to_output(const vec points[SIDE], vec output[TILE])
{
	points_to_polynomial(points, TILE, output);
}

/* A y, the adjoint of points_to_output */
static inline void output_to_points(const vec output[TILE], vec points[SIDE])
{
	polynomial_to_points(output, TILE, points);
}

/* G g */
static inline void window_to_points(const vec window[WINDOW], vec points[SIDE])
{
	polynomial_to_points(window, WINDOW, points);
	points_divide(points, points);
}

/* G^T p, the adjoint of window_to_points */
static inline void points_to_window(const vec points[SIDE], vec window[WINDOW])
{
	vec divided[SIDE];

	points_divide(points, divided);
	points_to_polynomial(divided, WINDOW, window);
}
