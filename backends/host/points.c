#include "backends/host/points.h"

#include "backends/host/storage.h"

#define SIDE 6
#define OUTPUT 4
#define WINDOW 3
#define POINTS (SIDE * SIDE)

#define A .75
#define B 1.5
#define AA (A * A)
#define BB (B * B)

/* A one-dimensional transform; values are step doubles apart. */
typedef void line_transform(const double *from, int step, double *to);

/* B^T d */
static void data_to_points(const double *d, int step, double *points)
{
	const double d1 = d[step], d2 = d[2 * step], d3 = d[3 * step];
	const double d4 = d[4 * step];
	const double odd_a = A * (d3 - BB * d1), even_a = d4 - BB * d2;
	const double odd_b = B * (d3 - AA * d1), even_b = d4 - AA * d2;

	points[0] = AA * BB * d[0] - (AA + BB) * d2 + d4;
	points[1] = even_a + odd_a;
	points[2] = even_a - odd_a;
	points[3] = even_b + odd_b;
	points[4] = even_b - odd_b;
	points[5] = AA * BB * d1 - (AA + BB) * d3 + d[5 * step];
}

/* G g */
static void window_to_points(const double *g, int step, double *points)
{
	const double by_a = 2 * A * (AA - BB), by_b = 2 * (BB - AA);
	const double g1 = g[step], g2 = g[2 * step];

	points[0] = g[0] / (AA * BB);
	points[1] = (g[0] + A * g1 + AA * g2) / by_a;
	points[2] = (g[0] - A * g1 + AA * g2) / by_a;
	points[3] = (g[0] + B * g1 + BB * g2) / by_b;
	points[4] = (g[0] - B * g1 + BB * g2) / by_b;
	points[5] = g2;
}

/* A^T m */
static void points_to_output(const double *m, int step, double *outputs)
{
	const double even_a = m[step] + m[2 * step];
	const double odd_a = m[step] - m[2 * step];
	const double even_b = m[3 * step] + m[4 * step];
	const double odd_b = m[3 * step] - m[4 * step];

	outputs[0] = m[0] + even_a / A + even_b / BB;
	outputs[1] = odd_a + odd_b / B;
	outputs[2] = A * even_a + even_b;
	outputs[3] = AA * odd_a + B * odd_b + m[5 * step];
}

/* Transforms [in][in] to [out][out]: columns, then rows. */
static void transform(line_transform *line, int in, int out, const double *from,
		      double *to)
{
	double columns[SIDE][SIDE], column[SIDE]; /* [in][out] */

	for (int c = 0; c < in; c++)
		line(from + c, in, columns[c]);
	for (int r = 0; r < out; r++) {
		for (int c = 0; c < in; c++)
			column[c] = columns[c][r];
		line(column, 1, to + r * out);
	}
}

static int tiles_of(int length)
{
	return (length + OUTPUT - 1) / OUTPUT;
}

/* Computes one channel's points of all tiles, [tile][POINTS][channels]. */
static void plane_points(struct shape in, struct shape out, int pad,
			 const double *plane, int channels, double *points)
{
	for (int t = 0; t < tiles_of(out.height) * tiles_of(out.width); t++) {
		const int top = t / tiles_of(out.width) * OUTPUT - pad;
		const int left = t % tiles_of(out.width) * OUTPUT - pad;
		double data[POINTS] = { 0 }, made[POINTS];

		for (int p = 0; p < POINTS; p++) {
			const int y = top + p / SIDE, x = left + p % SIDE;

			if (y >= 0 && y < in.height && x >= 0 && x < in.width)
				data[p] = plane[y * in.width + x];
		}
		transform(data_to_points, SIDE, SIDE, data, made);
		storage_round_double(PRECISION_BF16_STORAGE, made, POINTS);
		for (int p = 0; p < POINTS; p++)
			points[(t * POINTS + p) * channels] = made[p];
	}
}

/* Computes the points of one output's weights, [POINTS][channels]. */
static void weight_points(const double *weights, int channels, double *points)
{
	for (int c = 0; c < channels; c++) {
		double made[POINTS];

		transform(window_to_points, WINDOW, SIDE,
			  weights + c * WINDOW * WINDOW, made);
		storage_round_double(PRECISION_BF16_STORAGE, made, POINTS);
		for (int p = 0; p < POINTS; p++)
			points[p * channels + c] = made[p];
	}
}

/* Computes the part of one output's tile that lies in the plane. */
static void tile_output(struct shape out, int t, int channels,
			const double *data, const double *weights, double bias,
			double *plane)
{
	const int top = t / tiles_of(out.width) * OUTPUT;
	const int left = t % tiles_of(out.width) * OUTPUT;
	double sums[POINTS] = { 0 }, made[OUTPUT * OUTPUT];

	for (int p = 0; p < POINTS; p++)
		for (int c = 0; c < channels; c++)
			sums[p] += data[p * channels + c] *
				   weights[p * channels + c];
	transform(points_to_output, SIDE, OUTPUT, sums, made);
	for (int i = 0; i < OUTPUT * OUTPUT; i++) {
		const int y = top + i / OUTPUT, x = left + i % OUTPUT;

		if (y < out.height && x < out.width)
			plane[y * out.width + x] = made[i] + bias;
	}
}

size_t points_scratch(const struct layer *layer, struct shape in)
{
	const struct shape out = layer_output(layer, in);
	const int tiles = tiles_of(out.height) * tiles_of(out.width);

	return (size_t)in.channels * POINTS * ((size_t)tiles + 1);
}

void points_forward(const struct layer *layer, struct shape in,
		    const double *x, const double *weights, const double *bias,
		    double *scratch, double *y)
{
	const struct shape out = layer_output(layer, in);
	const int tiles = tiles_of(out.height) * tiles_of(out.width);
	const int channels = in.channels;
	double *data = scratch + (size_t)channels * POINTS;

	for (int c = 0; c < channels; c++)
		plane_points(in, out, layer->pad,
			     x + (size_t)c * (size_t)(in.height * in.width),
			     channels, data + c);
	for (int o = 0; o < out.channels; o++) {
		weight_points(weights + (size_t)o * (size_t)channels * WINDOW *
						WINDOW,
			      channels, scratch);
		for (int t = 0; t < tiles; t++)
			tile_output(out, t, channels,
				    data + (size_t)t * POINTS *
						    (size_t)channels,
				    scratch, bias ? bias[o] : 0,
				    y + (size_t)o * (size_t)(out.height *
							     out.width));
	}
}
