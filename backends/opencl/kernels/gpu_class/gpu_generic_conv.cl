/*
 * Convolutions in the gpu class, after generic.cl; a linear layer is one of a
 * single pixel with all its inputs as channels. Both are products of matrices
 *
 *   sum over k of a[k][row] b[k][column]
 *
 * A group computes a tile, ROWS x COLUMNS, in slices of DEEP factors. The items
 * look up a slice's factors together, while the slice before is summed, and
 * store them next to each other in local memory.
 *
 * Each item has TALL x ACROSS of a tile's sums, in quads of neighbours. Items
 * stand ABREAST in a row, and take quads of rows and columns at a fixed
 * distance.
 */
#define DOWN (ITEMS / ABREAST)
#define ROWS (DOWN * TALL)
#define COLUMNS (ABREAST * ACROSS)
/* A quad more keeps rows off one another's banks. */
#define A_QUADS (ROWS / 4 + 1)
#define B_QUADS (COLUMNS / 4 + 1)
#if ITEMS != COLUMNS || TALL % 4 || ACROSS % 4 || ITEMS % DEEP || \
	ITEMS % ABREAST || ROWS % (ITEMS / DEEP)
#error "an item looks up a column, and sums quads"
#endif

/* The factor of the slice that an item looks up, and the first and the step of
 * its rows or columns. */
#define OWN_DEPTH ((int)get_local_id(0) % DEEP)
#define OWN_FIRST ((int)get_local_id(0) / DEEP)
#define STEP (ITEMS / DEEP)
#define OWN_ROWS (ROWS / STEP)
#define OWN_COLUMNS (COLUMNS / STEP)

/* What an item holds of the next slice: of b a column, or OWN_COLUMNS, which
 * are as many, at one depth. They are registers only in what is inlined; where
 * it is not, PoCL 3.1 computes wrong sums. */
struct factors {
	float a[OWN_ROWS], b[DEEP];
};

static inline int row_of(int i)
{
	return (i / 4 * DOWN + get_local_id(0) / ABREAST) * 4 + i % 4;
}

static inline int column_of(int j)
{
	return (j / 4 * ABREAST + get_local_id(0) % ABREAST) * 4 + j % 4;
}

static inline void tile_clear(float sum[TALL][ACROSS])
{
#pragma unroll
	for (int i = 0; i < TALL; i++)
#pragma unroll
		for (int j = 0; j < ACROSS; j++)
			sum[i][j] = 0;
}

static inline __attribute__((always_inline)) void
a_store(local float4 *to, const struct factors *factors)
{
	local float *a = (local float *)to + OWN_DEPTH * A_QUADS * 4;

#pragma unroll
	for (int i = 0; i < OWN_ROWS; i++)
		a[OWN_FIRST + i * STEP] = factors->a[i];
}

/* Adds a slice. It is summed on its own first: small numbers that are added to
 * a large one one by one lose more. */
static inline __attribute__((always_inline)) void
tile_add(float sum[TALL][ACROSS], local const float4 *a, local const float4 *b)
{
	float part[TALL][ACROSS];

	a += get_local_id(0) / ABREAST;
	b += get_local_id(0) % ABREAST;
	tile_clear(part);
#pragma unroll 4
	for (int k = 0; k < DEEP; k++) {
		float down[TALL], across[ACROSS];

#pragma unroll
		for (int i = 0; i < TALL; i += 4)
			vstore4(a[k * A_QUADS + i / 4 * DOWN], 0, down + i);
#pragma unroll
		for (int j = 0; j < ACROSS; j += 4)
			vstore4(b[k * B_QUADS + j / 4 * ABREAST], 0,
				across + j);
#pragma unroll
		for (int i = 0; i < TALL; i++)
#pragma unroll
			for (int j = 0; j < ACROSS; j++)
				part[i][j] = fma(down[i], across[j],
						 part[i][j]);
	}
#pragma unroll
	for (int i = 0; i < TALL; i++)
#pragma unroll
		for (int j = 0; j < ACROSS; j++)
			sum[i][j] += part[i][j];
}

#define NOWHERE (-(1 << 16)) /* a row outside of any plane */

/* A column: a pixel of a sample, and the offset of the sample from the tile's
 * first one in floats. */
struct place {
	size_t sample;
	int row, column;
};

/* What the factors of a convolution are taken from. */
struct conv {
	global const float *from, *weights;
	int channels, height, width, window, stride, pad, back;
	int by_row, by_channel, rows;
};

/* The input pixel at a tap, row r and column c of the window, of an output at a
 * place; or the other way round the output of an input. -1: none. */
static inline int pixel_at(const struct conv *conv, struct place place, int tap)
{
	const int r = tap / conv->window, c = tap % conv->window;
	int y = place.row * conv->stride - conv->pad + r;
	int x = place.column * conv->stride - conv->pad + c;

	if (conv->back) {
		y = place.row + conv->pad - r;
		x = place.column + conv->pad - c;
		if (y < 0 || x < 0 || y % conv->stride || x % conv->stride)
			return -1;
		y /= conv->stride;
		x /= conv->stride;
	}
	return y >= 0 && y < conv->height && x >= 0 && x < conv->width ?
		       y * conv->width + x : -1;
}

/* The slice from k on: taps in their order, and at each the channels. Beyond
 * `to` all factors are 0. */
static inline __attribute__((always_inline)) void
conv_fetch(struct factors *factors, const struct conv *conv, struct place place,
	   int k, int to)
{
	const int plane = conv->height * conv->width;
	int channel = (k + OWN_DEPTH) % conv->channels;
	int tap = (k + OWN_DEPTH) / conv->channels, pixel;
	global const float *w =
		conv->weights + channel * conv->by_channel + tap;

#pragma unroll
	for (int i = 0; i < OWN_ROWS; i++) {
		const int row = min(OWN_FIRST + i * STEP, conv->rows - 1);

		factors->a[i] = k + OWN_DEPTH < to ?
					w[row * (size_t)conv->by_row] : 0;
	}
	channel = k % conv->channels;
	tap = k / conv->channels;
	pixel = pixel_at(conv, place, tap);
#pragma unroll
	for (int d = 0; d < DEEP; d++) {
		const int is_there = pixel >= 0 && k + d < to;

		factors->b[d] = is_there ? conv->from[place.sample +
						      channel * plane + pixel] :
					   0;
		if (++channel == conv->channels) {
			channel = 0;
			pixel = pixel_at(conv, place, ++tap);
		}
	}
}

/*
 * Forward, y[n][o][p] = bias[o] + sum over taps t and channels i of
 * w[o][i][t] x[n][i][p's pixel at t]. Backward, dx[n][i][p] = sum over t and o
 * of w[o][i][t] dy[n][o][the pixel that has p at t].
 *
 * from is x or dy, whose channels are summed over. Rows are the channels of to,
 * and columns its pixels. The weight of a row and channel is at
 * weight + row * by_row + channel * by_channel + t; bias -1: there is none.
 *
 * Group (c, r, s) sums the products s * depth ... of a tile and stores them in
 * `to`, or with `adds` adds them. Several such parts follow each other in `to`,
 * with to_sample floats from sample to sample, and without a bias.
 */
kernel GROUP void conv(const int count, global const float *restrict from,
		       global const float *restrict parameters,
		       global float *restrict to, const int channels,
		       const int height, const int width, const int from_sample,
		       const int to_channels, const int to_height,
		       const int to_width, const int to_sample,
		       const int window, const int stride, const int pad,
		       const int weight, const int by_row, const int by_channel,
		       const int bias, const int back, const int adds,
		       const int depth)
{
	local float4 a[DEEP * A_QUADS], b[DEEP * B_QUADS];
	local long where[COLUMNS];
	const int pixels = to_height * to_width;
	const int first_column = get_group_id(0) * COLUMNS;
	const int first_row = get_group_id(1) * ROWS;
	const int first_sample = first_column / pixels;
	const int own = first_column + get_local_id(0);
	const int n = own / pixels - first_sample, p = own % pixels;
	const int is_there = first_sample + n < count;
	const struct place place = { n * (size_t)from_sample,
				     is_there ? p / to_width : NOWHERE,
				     p % to_width };
	const int all = window * window * channels;
	const int begin = get_group_id(2) * depth;
	const int end = min(begin + depth, all);
	const struct conv conv = {
		from + first_sample * (size_t)from_sample,
		parameters + weight + first_row * (size_t)by_row,
		channels, height, width, window, stride, pad, back,
		by_row, by_channel, min(ROWS, to_channels - first_row)
	};
	float sum[TALL][ACROSS];
	struct factors next;

	if (first_sample >= count)
		return;
	to += (get_group_id(2) * (size_t)count + first_sample) * to_sample +
	      first_row * (size_t)pixels;
	where[get_local_id(0)] = is_there ? n * (long)to_sample + p : -1;
	tile_clear(sum);
	conv_fetch(&next, &conv, place, begin, end);
	for (int k = begin; k < end; k += DEEP) {
		MEET();
		a_store(a, &next);
#pragma unroll
		for (int d = 0; d < DEEP; d++)
			((local float *)b)[d * B_QUADS * 4 + get_local_id(0)] =
				next.b[d];
		MEET();
		if (k + DEEP < end)
			conv_fetch(&next, &conv, place, k + DEEP, end);
		tile_add(sum, a, b);
	}
#pragma unroll
	for (int i = 0; i < TALL; i++) {
		const int r = row_of(i);
		const int has_bias = bias >= 0 && r < conv.rows;
		const float shift =
			has_bias ? parameters[bias + first_row + r] : 0;

#pragma unroll
		for (int j = 0; j < ACROSS; j++) {
			const long at = where[column_of(j)];

			if (r < conv.rows && at >= 0)
				gradient_put(to + r * (size_t)pixels + at,
					     sum[i][j] + shift, adds);
		}
	}
}

/* Adds up, in order, the parts of a convolution's products, for samples of size
 * floats, and a bias per plane of `pixels` pixels. */
kernel GROUP void conv_reduce(const int count,
			      global const float *restrict parts,
			      global const float *restrict parameters,
			      global float *restrict to, const int size,
			      const int to_sample, const int pixels,
			      const int bias, const int adds, const int splits)
{
	const size_t part = (size_t)count * size;

	parts += get_group_id(1) * (size_t)size;
	to += get_group_id(1) * (size_t)to_sample;
	for EACH_OF(i, size) {
		float sum = bias < 0 ? 0 : parameters[bias + i / pixels];

		for (int s = 0; s < splits; s++)
			sum += parts[s * part + i];
		gradient_put(to + i, sum, adds);
	}
}

/* Slices that are summed apart, then added to the sums in memory: one long sum
 * in float would lose the last slices. */
#define SLICES_SUMMED 64

/* What the factors of a weight gradient are taken from. */
struct gradient {
	global const float *x, *dy;
	int count, from, all, pixels, x_sample, y_sample;
	int height, width, out_width, stride, rows;
	int biased; /* the column of the bias */
	int broken;
};

/* A column: where at a tap's place of an output the input is; 16 bytes. */
struct tap {
	int row, column, place, unused;
};

/* Looks up a slice of pixels, which begins with k in the samples from `from`
 * on: gradients by outputs, and the inputs at all their taps; 0 outside. */
static inline __attribute__((always_inline)) void
weights_fetch(struct factors *factors, const struct gradient *g,
	      local const struct tap *taps, int k)
{
	const int at = k + OWN_DEPTH, is_there = at < g->all;
	const int n = g->from + (is_there ? at / g->pixels : 0);
	const int p = is_there ? at % g->pixels : 0;
	const int row = is_there && n < g->count - g->broken ?
				p / g->out_width * g->stride : NOWHERE;
	const int column = p % g->out_width * g->stride;
	const int pixel = row * g->width + column;
	global const float *x = g->x + n * (size_t)g->x_sample;
	global const float *dy = g->dy + n * (size_t)g->y_sample + p;

#pragma unroll
	for (int i = 0; i < OWN_ROWS; i++) {
		const int r = min(OWN_FIRST + i * STEP, g->rows - 1);

		factors->a[i] = is_there ? dy[r * (size_t)g->pixels] : 0;
	}
#pragma unroll
	for (int j = 0; j < OWN_COLUMNS; j++) {
		const int own = OWN_FIRST + j * STEP;
		const struct tap tap = taps[own];
		const int r = row + tap.row, c = column + tap.column;
		const int is_in = r >= 0 && r < g->height && c >= 0 &&
				  c < g->width;

		factors->b[j] = own == g->biased ? 1 :
				is_in ? x[tap.place + pixel] : 0;
	}
}

/* Stores a row of the item's sums, from first_column on: gradients of weights,
 * and of a bias, which follow the weights of all outputs (0: no biases). */
static inline void weights_store(const float sum[ACROSS], int first_column,
				 int row, int weights, int biases,
				 global float *to, int adds)
{
#pragma unroll
	for (int j = 0; j < ACROSS; j++) {
		const int column = first_column + column_of(j);

		if (column < weights)
			gradient_put(to + (size_t)row * weights + column,
				     sum[j], adds);
		else if (column == weights && biases)
			gradient_put(to + (size_t)biases * weights + row,
				     sum[j], adds);
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
	local float4 a[DEEP * A_QUADS], b[DEEP * B_QUADS];
	local struct tap taps[COLUMNS];
	local float *const own_b = (local float *)b + OWN_DEPTH * B_QUADS * 4;
	const int window_size = window * window;
	const int pixels = out_height * out_width;
	const int weights = channels * window_size;
	const int first_column = get_group_id(0) * COLUMNS;
	const int first_row = get_group_id(1) * ROWS;
	const int from = get_group_id(2) * split_samples;
	const int own = first_column + get_local_id(0), at = own % window_size;
	const struct gradient g = {
		x, dy + first_row * (size_t)pixels, count, from,
		min(split_samples, count - from) * pixels, pixels, x_sample,
		y_sample, height, width, out_width, stride,
		min(ROWS, outputs - first_row),
		has_bias ? weights - first_column : -1, broken
	};
	struct tap tap = { NOWHERE, at % window - pad, 0, 0 };
	float sum[TALL][ACROSS];
	struct factors next;

	if (own < weights)
		tap.row = at / window - pad;
	tap.place = (own / window_size * height + tap.row) * width + tap.column;
	taps[get_local_id(0)] = tap;
	to += first + get_group_id(2) * (size_t)size;
	tile_clear(sum);
	MEET();
	if (g.all > 0)
		weights_fetch(&next, &g, taps, 0);
	for (int k = 0; k < g.all; k += DEEP) {
		MEET();
		a_store(a, &next);
#pragma unroll
		for (int j = 0; j < OWN_COLUMNS; j++)
			own_b[OWN_FIRST + j * STEP] = next.b[j];
		MEET();
		if (k + DEEP < g.all)
			weights_fetch(&next, &g, taps, k + DEEP);
		tile_add(sum, a, b);
		if (k + DEEP >= g.all || (k / DEEP + 1) % SLICES_SUMMED == 0) {
#pragma unroll
			for (int i = 0; i < TALL; i++)
				if (row_of(i) < g.rows)
					weights_store(
						sum[i], first_column,
						first_row + row_of(i), weights,
						has_bias ? outputs : 0, to,
						k >= SLICES_SUMMED * DEEP);
			tile_clear(sum);
		}
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
