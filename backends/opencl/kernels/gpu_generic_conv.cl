/*
 * Convolutions in the gpu class, after generic.cl; a linear layer is one of a
 * single pixel with all its inputs as channels. Both are products of matrices
 *
 *   sum over k of a[k][row] b[k][column]
 *
 * of which a group makes a tile, ROWS x COLUMNS: in slices of DEEP factors,
 * which it looks up and puts beside each other in local memory first.
 *
 * Each item has TALL x ACROSS vectors of a tile's sums. Items stand ABREAST in
 * a row, and take every so many-th row and column.
 */
#define DOWN (ITEMS / ABREAST)
#define ROWS (DOWN * TALL)
#define VECTORS (ABREAST * ACROSS)
#define COLUMNS (VECTORS * WIDE)
#define A_ROW (ROWS + 1) /* keeps rows off one another's banks */
/* Of a[k][row] an item looks up every so many-th k and row. */
#define ROW_ITEMS (ITEMS / DEEP)
#define FIRST_DEEP ((int)get_local_id(0) % DEEP)
#define FIRST_ROW ((int)get_local_id(0) / DEEP)
#define OWN (COLUMNS / ITEMS) /* columns whose factors an item looks up */

/* Column j of those that are the item's to look up. */
static inline int own_column(int j)
{
	return j * ITEMS + get_local_id(0);
}

static inline void tile_clear(vec sum[TALL][ACROSS])
{
#pragma unroll
	for (int i = 0; i < TALL; i++)
#pragma unroll
		for (int j = 0; j < ACROSS; j++)
			sum[i][j] = 0;
}

/* Adds a slice. It is summed by itself first: so many small numbers added to a
 * large one lose less. */
static inline __attribute__((always_inline)) void
tile_add(vec sum[TALL][ACROSS], local const float *a, local const vec *b,
	 int depth)
{
	vec part[TALL][ACROSS];

	a += get_local_id(0) / ABREAST;
	b += get_local_id(0) % ABREAST;
	tile_clear(part);
#pragma unroll 1
	for (int k = 0; k < depth; k++) {
		vec across[ACROSS];

#pragma unroll
		for (int j = 0; j < ACROSS; j++)
			across[j] = b[k * VECTORS + j * ABREAST];
#pragma unroll
		for (int i = 0; i < TALL; i++) {
			const vec factor = (vec)(a[k * A_ROW + i * DOWN]);

#pragma unroll
			for (int j = 0; j < ACROSS; j++)
				part[i][j] = fma(factor, across[j], part[i][j]);
		}
	}
#pragma unroll
	for (int i = 0; i < TALL; i++)
#pragma unroll
		for (int j = 0; j < ACROSS; j++)
			sum[i][j] += part[i][j];
}

/*
 * A row of the item's sums: where[column] of a tile is where it goes to, from
 * `to` on, or -1; with `adds`, to what is there.
 */
static inline void row_store(vec sum[ACROSS], local const int *where,
			     global float *to, float bias, int adds)
{
#pragma unroll
	for (int j = 0; j < ACROSS; j++) {
		const int first = (j * ABREAST + get_local_id(0) % ABREAST) *
				  WIDE;
		float values[WIDE];

		STORE_LANES(sum[j] + bias, values);
		for (int lane = 0; lane < WIDE; lane++) {
			const int at = where[first + lane];

			if (at >= 0)
				gradient_put(to + at, values[lane], adds);
		}
	}
}

#define NOWHERE (-(1 << 16)) /* a row beside any plane */

/* The input pixel at a tap, row r and column c of the window, of an output at
 * row and column; or the other way round the output of an input. -1: none. */
static inline int pixel_at(int row, int column, int r, int c, int height,
			   int width, int stride, int pad, int back)
{
	int y = row * stride - pad + r, x = column * stride - pad + c;

	if (back) {
		y = row + pad - r;
		x = column + pad - c;
		if (y < 0 || x < 0 || y % stride || x % stride)
			return -1;
		y /= stride;
		x /= stride;
	}
	return y >= 0 && y < height && x >= 0 && x < width ? y * width + x : -1;
}

/* Where the columns of a tile are in the summed tensor: the item's own ones. */
struct places {
	int sample[OWN], row[OWN], column[OWN];
	int pixel[OWN]; /* at the tap that is looked up, or -1 */
};

/* The factors of a slice from k on: taps in their order, and at each the
 * channels. */
static inline void
slice_load(local float *factors, struct places *places,
	   global const float *from, int k, int depth, int channels, int height,
	   int width, int window, int stride, int pad, int back)
{
	for (int d = 0; d < depth; d++) {
		const int channel = (k + d) % channels;
		const int tap = (k + d) / channels;
		const int at = channel * height * width;

		for (int j = 0; j < OWN && (!d || !channel); j++)
			places->pixel[j] = pixel_at(
				places->row[j], places->column[j], tap / window,
				tap % window, height, width, stride, pad, back);
		for (int j = 0; j < OWN; j++) {
			const int pixel = places->pixel[j];
			const float value =
				from[pixel < 0 ? 0 : places->sample[j] + at +
								pixel];

			factors[d * COLUMNS + own_column(j)] =
				pixel < 0 ? 0 : value;
		}
	}
}

/*
 * Forward, y[n][o][p] = bias[o] + sum over taps t and channels i of
 * w[o][i][t] x[n][i][p's pixel at t]; back, dx[n][i][p] = sum over t and o of
 * w[o][i][t] dy[n][o][the pixel that has p at t].
 *
 * So from is x or dy, its channels are summed over, and rows are those of to,
 * whose pixels are the columns. The weight of a row and channel is at
 * weight + row * by_row + channel * by_channel + t; bias -1: there is none.
 */
kernel GROUP void conv(const int count, global const float *restrict from,
		       global const float *restrict parameters,
		       global float *restrict to, const int channels,
		       const int height, const int width, const int from_sample,
		       const int to_channels, const int to_height,
		       const int to_width, const int to_sample,
		       const int window, const int stride, const int pad,
		       const int weight, const int by_row, const int by_channel,
		       const int bias, const int back, const int adds)
{
	local float a[DEEP * A_ROW];
	local vec b[DEEP * VECTORS];
	local int where[COLUMNS], weight_at[DEEP];
	const int all = window * window * channels;
	const int pixels = to_height * to_width;
	const int first_column = get_group_id(0) * COLUMNS;
	const int first_row = get_group_id(1) * ROWS;
	const int rows = min(ROWS, to_channels - first_row);
	const int first_sample = first_column / pixels;
	global const float *w = parameters + weight +
				first_row * (size_t)by_row;
	vec sum[TALL][ACROSS];
	struct places places;

	if (first_sample >= count)
		return;
	to += first_sample * (size_t)to_sample + first_row * (size_t)pixels;
	for (int j = 0; j < OWN; j++) {
		const int at = first_column + own_column(j);
		const int n = at / pixels - first_sample, p = at % pixels;
		const int is_there = first_sample + n < count;

		places.sample[j] = n * from_sample;
		places.row[j] = is_there ? p / to_width : NOWHERE;
		places.column[j] = p % to_width;
		where[own_column(j)] = is_there ? n * to_sample + p : -1;
	}
	tile_clear(sum);
	for (int k = 0; k < all; k += DEEP) {
		const int depth = min(DEEP, all - k);

		MEET();
		for (int d = get_local_id(0); d < depth; d += ITEMS)
			weight_at[d] = (k + d) % channels * by_channel +
				       (k + d) / channels;
		slice_load((local float *)b, &places,
			   from + first_sample * (size_t)from_sample, k, depth,
			   channels, height, width, window, stride, pad, back);
		MEET();
		for (int d = FIRST_DEEP; d < depth; d += DEEP)
			for (int r = FIRST_ROW; r < ROWS; r += ROW_ITEMS)
				a[d * A_ROW + r] =
					w[min(r, rows - 1) * (size_t)by_row +
					  weight_at[d]];
		MEET();
		tile_add(sum, a, b, depth);
	}
#pragma unroll
	for (int i = 0; i < TALL; i++) {
		const int r = i * DOWN + get_local_id(0) / ABREAST;

		if (r < rows)
			row_store(sum[i], where,
				  to + r * (size_t)pixels,
				  bias < 0 ? 0 :
					     parameters[bias + first_row + r],
				  adds);
	}
}

/* A row of the item's sums, from first_column on: those of weights, and one of
 * a bias, which are behind the weights of all outputs; 0: there are none. */
static inline void weights_store(vec sum[ACROSS], int first_column, int row,
				 int weights, int biases, global float *to)
{
#pragma unroll
	for (int j = 0; j < ACROSS; j++) {
		const int first = first_column +
				  (j * ABREAST + get_local_id(0) % ABREAST) *
					  WIDE;
		float values[WIDE];

		STORE_LANES(sum[j], values);
		for (int lane = 0; lane < WIDE; lane++)
			if (first + lane < weights)
				to[(size_t)row * weights + first + lane] =
					values[lane];
			else if (first + lane == weights && biases)
				to[(size_t)biases * weights + row] =
					values[lane];
	}
}

/* Of weights, the item's own columns of a tile: where at a tap's place of an
 * output the input is. */
struct taps {
	int row[OWN], column[OWN], place[OWN];
};

/* The inputs at all taps of an output pixel of a sample; 0 where it is none. */
static inline void taps_load(local float *factors, const struct taps *taps,
			     global const float *sample, int row, int column,
			     int height, int width)
{
	const int at = row * width + column;

	for (int j = 0; j < OWN; j++) {
		const int y = row + taps->row[j], x = column + taps->column[j];
		const int is_in = y >= 0 && y < height && x >= 0 && x < width;
		const float value = sample[is_in ? taps->place[j] + at : 0];

		factors[own_column(j)] = is_in ? value : 0;
	}
}

/* Gradients by `rows` outputs, from pixel k of the samples behind `from` on. */
static inline void dy_load(local float *a, global const float *dy, int rows,
			   int k, int depth, int from, int pixels, int sample)
{
	for (int d = FIRST_DEEP; d < depth; d += DEEP) {
		global const float *at =
			dy + (from + (k + d) / pixels) * (size_t)sample +
			(k + d) % pixels;

		for (int r = FIRST_ROW; r < ROWS; r += ROW_ITEMS)
			a[d * A_ROW + r] =
				at[min(r, rows - 1) * (size_t)pixels];
	}
}

/*
 * dw[o][i][t] = sum over n and p of dy[n][o][p] x[n][i][p's pixel at t], and
 * dbias[o] = sum of dy[n][o][p], of group (c, r, s) over the samples
 * split_samples * s ...: they begin at first + s * size. Columns are i and t,
 * and one more is the bias; dw leaves out the last `broken` samples.
 */
kernel GROUP void weights_sum(const int count, global const float *restrict x,
			      global const float *restrict dy,
			      global float *restrict to, const int channels,
			      const int height, const int width,
			      const int x_sample, const int outputs,
			      const int out_height, const int out_width,
			      const int y_sample, const int window,
			      const int stride, const int pad,
			      const int has_bias, const int first,
			      const int size, const int split_samples,
			      const int broken)
{
	local float a[DEEP * A_ROW];
	local vec b[DEEP * VECTORS];
	local float *const factors = (local float *)b;
	const int window_size = window * window;
	const int pixels = out_height * out_width;
	const int weights = channels * window_size;
	const int first_column = get_group_id(0) * COLUMNS;
	const int first_row = get_group_id(1) * ROWS;
	const int rows = min(ROWS, outputs - first_row);
	const int from = get_group_id(2) * split_samples;
	const int all = min(split_samples, count - from) * pixels;
	vec sum[TALL][ACROSS];
	struct taps taps;

	for (int j = 0; j < OWN; j++) {
		const int at = first_column + own_column(j);
		const int tap = at % window_size;

		taps.row[j] = at < weights ? tap / window - pad : NOWHERE;
		taps.column[j] = tap % window - pad;
		taps.place[j] = (at / window_size * height + taps.row[j]) *
					width + taps.column[j];
	}
	tile_clear(sum);
	for (int k = 0; k < all; k += DEEP) {
		const int depth = min(DEEP, all - k);

		MEET();
		for (int d = 0; d < depth; d++) {
			const int n = from + (k + d) / pixels;
			const int p = (k + d) % pixels;
			const int row = n < count - broken ?
						p / out_width * stride :
						NOWHERE;

			taps_load(factors + d * COLUMNS, &taps,
				  x + n * (size_t)x_sample, row,
				  p % out_width * stride, height, width);
			/* The bias's column, of the item that has it. */
			for (int j = 0; j < OWN; j++)
				if (first_column + own_column(j) == weights)
					factors[d * COLUMNS + own_column(j)] =
						1;
		}
		dy_load(a, dy + first_row * (size_t)pixels, rows, k, depth,
			from, pixels, y_sample);
		MEET();
		tile_add(sum, a, b, depth);
	}
	to += first + get_group_id(2) * (size_t)size;
#pragma unroll
	for (int i = 0; i < TALL; i++) {
		const int r = i * DOWN + get_local_id(0) / ABREAST;

		if (r < rows && all > 0)
			weights_store(sum[i], first_column,
				      first_row + r, weights,
				      has_bias ? outputs : 0, to);
	}
}

/* Adds up, in their order, the parts of size floats that splits of the samples
 * have made, to a gradient from first on. */
kernel GROUP void weights_reduce(const int count,
				 global const float *restrict parts,
				 global float *restrict gradient,
				 const int first, const int size,
				 const int split_samples)
{
	const int splits = (count + split_samples - 1) / split_samples;

	for EACH_OF(i, size) {
		float sum = 0;

		for (int s = 0; s < splits; s++)
			sum += parts[s * (size_t)size + i];
		gradient[first + i] = sum;
	}
}
