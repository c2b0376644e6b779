/*
 * Winograd's F(4x4,3x3) for a convolution with 3x3 windows: a tile of 4x4 sums
 * over one input channel takes 36 multiplications from 6x6 of its values, and
 * 144 by the definition (Lavin and Gray 2016, arXiv 1509.09308).
 *
 *   Y = A^T [(G g G^T) . (B^T d B)] A
 *
 * The six points of a dimension are 0, +a, -a, +b, -b and infinity, a = 3/4 and
 * b = 3/2. Their squares are exact, and their error is half as large as with
 * points 1 and 2.
 * The rows of G for +-a and +-b are multiplied by a and b^2, and the columns of
 * A^T divided by them.
 *
 * Each function below transforms one dimension of a vector of channels, or of
 * tiles. Every product that is added is an fma, so that two compilations
 * compute the same bits.
 */
#define POINTS 36
#define SIDE 6 /* of the points, and of the values that a tile comes from */
#define TILE 4 /* side of a tile */
#define POINT_A .75f
#define POINT_B 1.5f
#define AA (POINT_A * POINT_A)
#define BB (POINT_B * POINT_B)

/* B^T d */
static inline void data_to_points(const vec data[SIDE], vec points[SIDE])
{
	const vec even_a = fma((vec)(-BB), data[2], data[4]);
	const vec odd_a = fma((vec)(-BB), data[1], data[3]);
	const vec even_b = fma((vec)(-AA), data[2], data[4]);
	const vec odd_b = fma((vec)(-AA), data[1], data[3]);

	points[0] = fma((vec)(AA * BB), data[0],
			fma((vec)(-(AA + BB)), data[2], data[4]));
	points[1] = fma((vec)(POINT_A), odd_a, even_a);
	points[2] = fma((vec)(-POINT_A), odd_a, even_a);
	points[3] = fma((vec)(POINT_B), odd_b, even_b);
	points[4] = fma((vec)(-POINT_B), odd_b, even_b);
	points[5] = fma((vec)(AA * BB), data[1],
			fma((vec)(-(AA + BB)), data[3], data[5]));
}

/* B v, the adjoint of data_to_points */
static inline void points_to_data(const vec points[SIDE], vec data[SIDE])
{
	const vec even_a = points[1] + points[2];
	const vec even_b = points[3] + points[4];
	const vec odd_a = POINT_A * (points[1] - points[2]);
	const vec odd_b = POINT_B * (points[3] - points[4]);

	data[0] = AA * BB * points[0];
	data[1] = fma((vec)(AA * BB), points[5],
		      fma((vec)(-BB), odd_a, -AA * odd_b));
	data[2] = fma((vec)(-(AA + BB)), points[0],
		      fma((vec)(-BB), even_a, -AA * even_b));
	data[3] = fma((vec)(-(AA + BB)), points[5], odd_a + odd_b);
	data[4] = points[0] + (even_a + even_b);
	data[5] = points[5];
}

/* A^T m */
static inline void points_to_output(const vec points[SIDE], vec output[TILE])
{
	const vec even_a = points[1] + points[2];
	const vec odd_a = points[1] - points[2];
	const vec even_b = points[3] + points[4];
	const vec odd_b = points[3] - points[4];

	output[0] = fma((vec)(1 / POINT_A), even_a,
			fma((vec)(1 / BB), even_b, points[0]));
	output[1] = fma((vec)(1 / POINT_B), odd_b, odd_a);
	output[2] = fma((vec)(POINT_A), even_a, even_b);
	output[3] = fma((vec)(AA), odd_a,
			fma((vec)(POINT_B), odd_b, points[5]));
}

/* A y, the adjoint of points_to_output */
static inline void output_to_points(const vec output[TILE], vec points[SIDE])
{
	const vec even_a = fma((vec)(POINT_A), output[2],
			       1 / POINT_A * output[0]);
	const vec odd_a = fma((vec)(AA), output[3], output[1]);
	const vec even_b = fma((vec)(1 / BB), output[0], output[2]);
	const vec odd_b = fma((vec)(POINT_B), output[3],
			      1 / POINT_B * output[1]);

	points[0] = output[0];
	points[1] = even_a + odd_a;
	points[2] = even_a - odd_a;
	points[3] = even_b + odd_b;
	points[4] = even_b - odd_b;
	points[5] = output[3];
}

/* G g */
static inline void window_to_points(const vec window[3], vec points[SIDE])
{
	const float apart = 2 * (BB - AA);
	const vec even_a = fma((vec)(AA), window[2], window[0]);
	const vec odd_a = POINT_A * window[1];
	const vec even_b = fma((vec)(BB), window[2], window[0]);
	const vec odd_b = POINT_B * window[1];

	points[0] = 1 / (AA * BB) * window[0];
	points[1] = -1 / (apart * POINT_A) * (even_a + odd_a);
	points[2] = -1 / (apart * POINT_A) * (even_a - odd_a);
	points[3] = 1 / apart * (even_b + odd_b);
	points[4] = 1 / apart * (even_b - odd_b);
	points[5] = window[2];
}

/* G^T p, the adjoint of window_to_points */
static inline void points_to_window(const vec points[SIDE], vec window[3])
{
	const float apart = 2 * (BB - AA);
	const vec even_a = -1 / (apart * POINT_A) * (points[1] + points[2]);
	const vec odd_a = -1 / (apart * POINT_A) * (points[1] - points[2]);
	const vec even_b = 1 / apart * (points[3] + points[4]);
	const vec odd_b = 1 / apart * (points[3] - points[4]);

	window[0] = fma((vec)(1 / (AA * BB)), points[0], even_a + even_b);
	window[1] = fma((vec)(POINT_A), odd_a, POINT_B * odd_b);
	window[2] = fma((vec)(AA), even_a, fma((vec)(BB), even_b, points[5]));
}
