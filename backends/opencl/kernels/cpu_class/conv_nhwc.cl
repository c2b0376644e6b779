/*
 * Convolutions of any kind in the cpu class, after generic.cl; a linear layer
 * is one of a single pixel with all its inputs as channels.
 *
 * Products read copies in which channels are last. Activations have zeros
 * around each plane, [sample][row][column][channel], so that the channels at
 * neighbouring taps of a window's row are one run of factors. Weights are in
 * tiles of COLUMNS outputs, [tile][row of the window][run][COLUMNS].
 *
 * A group computes a tile of sums in blocks of TALL rows of ACROSS vectors. A
 * block stays in registers for DEEP factors. The tile has ROWS of pixels, or
 * RUN_ROWS of a weight gradient: more, since their factors are copied first.
 */
#define ROWS (BLOCKS * TALL)
#define RUN_ROWS (RUN_BLOCKS * TALL)
#define COLUMNS (ACROSS * WIDE)
#define RUN_COLUMNS (RUN_TILES * COLUMNS)

static inline void tile_clear(vec (*sum)[TALL][ACROSS], int blocks)
{
#pragma unroll 1
	for (int block = 0; block < blocks; block++)
#pragma unroll
		for (int i = 0; i < TALL; i++)
#pragma unroll
			for (int j = 0; j < ACROSS; j++)
				sum[block][i][j] = 0;
}

static inline __attribute__((always_inline)) void
part_clear(vec part[TALL][ACROSS])
{
#pragma unroll
	for (int i = 0; i < TALL; i++)
#pragma unroll
		for (int j = 0; j < ACROSS; j++)
			part[i][j] = 0;
}

/* The products of DEEP factors are summed on their own first: small numbers
 * that are added to a large one one by one lose more. */
static inline __attribute__((always_inline)) void
part_add(vec sum[TALL][ACROSS], vec part[TALL][ACROSS])
{
#pragma unroll
	for (int i = 0; i < TALL; i++)
#pragma unroll
		for (int j = 0; j < ACROSS; j++)
			sum[i][j] += part[i][j];
}

/* Adds the products of factor k of each row with vectors from b on. */
static inline __attribute__((always_inline)) void
factor_add(vec part[TALL][ACROSS], global const float *const from[TALL], int k,
	   global const float *b)
{
	vec across[ACROSS];

#pragma unroll
	for (int j = 0; j < ACROSS; j++)
		across[j] = LOAD_LANES(b + j * WIDE);
#pragma unroll
	for (int i = 0; i < TALL; i++)
#pragma unroll
		for (int j = 0; j < ACROSS; j++)
			part[i][j] = fma((vec)(from[i][k]), across[j],
					 part[i][j]);
}

static inline void run_fetch(global const float *run, int depth)
{
	for (int i = 0; i < depth; i += LINE)
		FETCH(run + i);
}

/*
 * Adds the products of a run of factors: row i's from a + at[i] on, with
 * vectors that are COLUMNS apart, from b on. at[] is of whole blocks. Meanwhile
 * the next block's factors are fetched, row by row; during the last block, the
 * first block's factors from next on.
 */
static inline __attribute__((always_inline)) void
runs_add(vec (*sum)[TALL][ACROSS], int rows, global const float *a,
	 const int *at, global const float *b, int depth,
	 global const float *next)
{
#pragma unroll 1
	for (int block = 0; block * TALL < rows; block++) {
		const int is_last = (block + 1) * TALL >= rows;
		global const float *after = is_last ? next : a;
		const int *after_at = is_last ? at : at + (block + 1) * TALL;
		global const float *from[TALL];
		vec part[TALL][ACROSS];
		int k = 0;

#pragma unroll
		for (int i = 0; i < TALL; i++)
			from[i] = a + at[block * TALL + i];
		part_clear(part);
#pragma unroll 1
		for (int row = 0; row < TALL; row++) {
			const int stop = (row + 1) * depth / TALL;

			run_fetch(after + after_at[row], depth);
#pragma unroll 1
			for (; k < stop; k++)
				factor_add(part, from, k, b + k * COLUMNS);
		}
		part_add(sum[block], part);
	}
}

/*
 * The taps of one dimension that are summed, in the order of their factors in
 * memory. Forward these are all taps. Backward, an input at `at` (and each
 * stride-th one after it) has every stride-th tap, the last first. For the
 * first input, the factor of the first tap is `begin` pixels into the plane
 * with its border.
 */
struct taps {
	int first, step, count, begin;
};

static inline struct taps taps_along(int at, int window, int stride, int pad,
				     int border, int back)
{
	const int first = (at + pad) % stride;
	const int count = first < window ?
				  (window - first + stride - 1) / stride : 0;

	if (!back)
		return (struct taps){ 0, 1, window, 0 };
	return (struct taps){ first + (count - 1) * stride, -stride, count,
			      border + (at + pad) / stride - count + 1 };
}

/* Clears some channels of `pixels` pixels from `to` on. */
static inline void pixels_clear(global float *to, int pixels, int channels,
				int lanes)
{
	for (int i = 0; i < pixels; i++, to += channels)
		for (int lane = 0; lane < lanes; lane++)
			to[lane] = 0;
}

/* Squares of a plane, whole vectors of pixels and of channels: to is where its
 * first pixel goes, and rows there are to_width pixels apart. Returns how many
 * pixels it has done. */
static inline int squares_spread(global const float *from, int plane,
				 global float *to, int channels, int width,
				 int to_width)
{
	const int beyond = (to_width - width) * channels;
	int p = 0, column = 0;

	for (; p + WIDE <= plane; p += WIDE) {
		vec square[WIDE];

#pragma unroll
		for (int i = 0; i < WIDE; i++)
			square[i] = LOAD_LANES(from + i * plane + p);
		vecs_transpose(square);
#pragma unroll
		for (int i = 0; i < WIDE; i++) {
			STORE_LANES(square[i], to);
			column = column + 1 < width ? column + 1 : 0;
			to += column ? channels : channels + beyond;
		}
	}
	return p;
}

/* Group (c, n): WIDE channels of sample n, with its border, channels last. */
kernel GROUP void conv_spread(const int count,
			      global const float *restrict from,
			      global float *restrict to, const int channels,
			      const int height, const int width,
			      const int sample, const int border,
			      const int to_height, const int to_width)
{
	const int c = get_group_id(0) * WIDE, plane = height * width;
	const int lanes = min(WIDE, channels - c);
	const int behind = to_width - border - width;
	global float *first;

	from += get_group_id(1) * (size_t)sample + c * (size_t)plane;
	to += get_group_id(1) * (size_t)(to_height * to_width) * channels + c;
	pixels_clear(to, border * to_width, channels, lanes);
	to += border * to_width * channels;
	first = to + border * channels;
	for (int y = 0; y < height; y++, to += to_width * channels) {
		pixels_clear(to, border, channels, lanes);
		pixels_clear(to + (border + width) * channels, behind, channels,
			     lanes);
	}
	pixels_clear(to, (to_height - border - height) * to_width, channels,
		     lanes);
	for (int p = lanes < WIDE ? 0 :
				    squares_spread(from, plane, first, channels,
						   width, to_width);
	     p < plane; p++)
		for (int lane = 0; lane < lanes; lane++)
			first[(p / width * to_width + p % width) * channels +
			      lane] = from[lane * plane + p];
}

/*
 * Group (k, o, class): packs WIDE factors' weights for a tile of outputs, at
 * all taps in the order of a run. The weight of output o is at weight + o *
 * by_output + k * by_factor + tap. Backward, factors are the layer's outputs,
 * and outputs its inputs; inputs of a class are reached by the same taps.
 */
kernel GROUP void conv_weights_pack(const int count,
			    global const float *restrict parameters,
			    global float *restrict packed, const int factors,
			    const int outputs, const int window,
			    const int stride, const int pad, const int border,
			    const int back, const int weight,
			    const int by_output, const int by_factor,
			    const int size)
{
	const int class = get_group_id(2), first = get_group_id(0) * WIDE;
	const struct taps down = taps_along(class / stride, window, stride,
					    pad, border, back);
	const struct taps across = taps_along(class % stride, window, stride,
					      pad, border, back);
	const int run = across.count * factors;
	const int column = get_group_id(1) * COLUMNS;
	const int lanes = min(COLUMNS, outputs - column);

	parameters += weight + column * (size_t)by_output;
	packed += class * (size_t)size + get_group_id(1) *
					   (size_t)(down.count * run) * COLUMNS;
	for (int k = first; k < min(first + WIDE, factors); k++)
		for (int t = 0; t < down.count * across.count; t++) {
			const int r = t / across.count, c = t % across.count;
			global const float *from = parameters +
				k * (size_t)by_factor +
				(down.first + r * down.step) * window +
				across.first + c * across.step;
			global float *to = packed +
				(r * run + c * factors + k) * (size_t)COLUMNS;

			for (int lane = 0; lane < lanes; lane++)
				to[lane] = from[lane * (size_t)by_output];
			for (int lane = lanes; lane < COLUMNS; lane++)
				to[lane] = 0;
		}
}

/* Stores a square of a tile, rows from `at` on, as planes in one piece. */
static inline void square_store(const vec *sums, int columns, global float *to,
				int plane, global const float *bias, int adds)
{
	vec square[WIDE];

#pragma unroll
	for (int i = 0; i < WIDE; i++)
		square[i] = sums[i * ACROSS];
	vecs_transpose(square);
	for (int c = 0; c < min(columns, WIDE); c++, to += plane) {
		const vec value = square[c] + (bias ? bias[c] : 0);

		STORE_LANES(adds ? LOAD_LANES(to) + value : value, to);
	}
}

/* A tile of sums, planar: row r of it at where[r]. */
static inline void tile_store(vec (*sum)[TALL][ACROSS], int rows, int columns,
			      const int *where, global float *to, int plane,
			      global const float *bias, int adds)
{
	const vec *vectors = sum[0][0];
	const float *sums = (const float *)sum;

	for (int r = 0; r < rows; r += WIDE) {
		const int some = min(WIDE, rows - r);

		if (some == WIDE && where[r + WIDE - 1] - where[r] == WIDE - 1)
			for (int c = 0; c < columns; c += WIDE)
				square_store(vectors + r * ACROSS + c / WIDE,
					     columns - c,
					     to + c * plane + where[r], plane,
					     bias ? bias + c : 0, adds);
		else
			for (int c = 0; c < columns; c++)
				for (int i = r; i < r + some; i++)
					gradient_put(
						to + c * plane + where[i],
						sums[i * COLUMNS + c] +
							(bias ? bias[c] : 0),
						adds);
	}
}

/*
 * Group (p, o, class). Forward, y[n][o][p] = bias[o] + sum over taps t and
 * channels i of w[o][i][t] x[n][i][p's pixel at t]. Backward, dx[n][i][p] = sum
 * over t and o of w[o][i][t] dy[n][o][the pixel that has p at t]. from is x or
 * dy as conv_spread stores it, with from_row and from_sample floats from row to
 * row and from sample to sample.
 */
kernel GROUP void conv_multiply(
	const int count, global const float *restrict from,
	global const float *restrict packed,
	global const float *restrict parameters, global float *restrict to,
	const int channels, const int from_row, const int from_sample,
	const int outputs, const int to_height, const int to_width,
	const int to_sample, const int window, const int stride, const int pad,
	const int border, const int back, const int size, const int bias,
	const int adds)
{
	const int y = get_group_id(2) / stride, x = get_group_id(2) % stride;
	const struct taps down = taps_along(y, window, stride, pad, border,
					    back);
	const struct taps across = taps_along(x, window, stride, pad, border,
					      back);
	/* Steps between the summed pixels, and between their sources. */
	const int apart = back ? stride : 1, step = back ? 1 : stride;
	const int height = (to_height - y + apart - 1) / apart;
	const int width = (to_width - x + apart - 1) / apart;
	const int first = get_group_id(0) * ROWS;
	const int rows = min(ROWS, count * height * width - first);
	const int column = get_group_id(1) * COLUMNS;
	const int run = across.count * channels;
	int at[ROWS], where[ROWS];
	vec sum[BLOCKS][TALL][ACROSS];
	int first_sample;

	if (height <= 0 || width <= 0 || rows <= 0)
		return;
	first_sample = first / (height * width);
	from += first_sample * (size_t)from_sample;
	to += first_sample * (size_t)to_sample +
	      column * (size_t)(to_height * to_width);
	packed += get_group_id(2) * (size_t)size +
		  get_group_id(1) * (size_t)(down.count * run) * COLUMNS;
	for (int r = 0; r < ROWS; r++) {
		const int m = first + min(r, rows - 1);
		const int n = m / (height * width) - first_sample;
		const int row = m / width % height, c = m % width;

		at[r] = n * from_sample + (row * step + down.begin) * from_row +
			(c * step + across.begin) * channels;
		where[r] = n * to_sample + (y + row * apart) * to_width + x +
			   c * apart;
	}
	tile_clear(sum, BLOCKS);
	for (int r = 0; r < down.count; r++)
		for (int k = 0; k < run; k += DEEP)
			runs_add(sum, rows, from + r * (size_t)from_row + k, at,
				 packed + (r * run + k) * (size_t)COLUMNS,
				 min(DEEP, run - k),
				 from + (k + DEEP < run ?
						 r * (size_t)from_row + k +
							 DEEP :
						 (r + 1) * (size_t)from_row));
	tile_store(sum, rows, min(COLUMNS, outputs - column), where, to,
		   to_height * to_width,
		   bias < 0 ? 0 : parameters + bias + column, adds);
}

/* Group (t, o, p): M of winograd_nhwc.cl at a point, of a tile of sums, from V
 * and packed U. */
kernel GROUP void tiles_multiply(const int count,
				 global const float *restrict from,
				 global const float *restrict packed,
				 global float *restrict to, const int channels,
				 const int outputs, const int tiles,
				 const int from_apart, const int to_apart)
{
	const int first = get_group_id(0) * ROWS;
	const int rows = min(ROWS, count * tiles - first);
	const int column = get_group_id(1) * COLUMNS;
	const int columns = min(COLUMNS, outputs - column);
	vec sum[BLOCKS][TALL][ACROSS];
	int at[ROWS];

	if (rows <= 0)
		return;
	from += get_group_id(2) * (size_t)from_apart +
		first * (size_t)channels;
	packed += (get_group_id(2) * (size_t)get_num_groups(1) +
		   get_group_id(1)) * channels * COLUMNS;
	to += get_group_id(2) * (size_t)to_apart + first * (size_t)outputs +
	      column;
	for (int r = 0; r < ROWS; r++)
		at[r] = min(r, rows - 1) * channels;
	tile_clear(sum, BLOCKS);
	for (int k = 0; k < channels; k += DEEP)
		runs_add(sum, rows, from + k, at, packed + k * (size_t)COLUMNS,
			 min(DEEP, channels - k),
			 from + (k + DEEP < channels ? k + DEEP :
						       ROWS * channels));
	for (int r = 0; r < rows; r++)
		for (int j = 0; j * WIDE < columns; j++)
			STORE_LANES(sum[r / TALL][r % TALL][j],
				    to + r * (size_t)outputs + j * WIDE);
}
