/*
 * Gradients of the weights and the bias of what conv_nhwc.cl computes, after
 * it: from the same copies, and from the points of winograd_nhwc.cl.
 */

/* Does the same as runs_add for one block, whose factors are adjacent. */
static inline __attribute__((always_inline)) void
pixels_add(vec sum[TALL][ACROSS], const float *a, const vec *b, int depth)
{
	vec part[TALL][ACROSS];

	part_clear(part);
#pragma unroll 1
	for (int k = 0; k < depth; k++) {
		const float *from = a + k * RUN_ROWS;

#pragma unroll
		for (int i = 0; i < TALL; i++)
#pragma unroll
			for (int j = 0; j < ACROSS; j++)
				part[i][j] = fma((vec)(from[i]),
						 b[k * ACROSS + j], part[i][j]);
	}
	part_add(sum, part);
}

/* Stores the first `columns` columns of a row of a tile. */
static inline void row_store(const vec *sums, int columns, global float *to)
{
	const int whole = columns / WIDE * WIDE;

	for (int c = 0; c < whole; c += WIDE)
		STORE_LANES(sums[c / WIDE], to + c);
	for (int c = whole; c < columns; c++)
		to[c] = ((const float *)sums)[c];
}

/* Tiles are multiplied whole, beyond the vectors that are loaded of them. */
static inline void tails_clear(vec a[DEEP][RUN_ROWS / WIDE],
			       vec b[RUN_TILES][DEEP * ACROSS], int rows,
			       int columns)
{
	for (int d = 0; d < DEEP; d++) {
		for (int i = (rows + WIDE - 1) / WIDE; i < RUN_ROWS / WIDE; i++)
			a[d][i] = 0;
		for (int i = (columns + WIDE - 1) / WIDE;
		     i < RUN_COLUMNS / WIDE; i++)
			b[i / ACROSS][d * ACROSS + i % ACROSS] = 0;
	}
}

/* Where the pixels of a weight gradient are: in x and in dy, each with the
 * floats between columns, rows and samples. */
struct pixels {
	global const float *x, *dy;
	int x_column, x_row, dy_column, dy_row;
	size_t x_sample, dy_sample;
	int height, width, all;
};

/* The next pixel, and where it is. */
struct pixel {
	int k, n, row, column;
};

static inline global const float *x_at(const struct pixels *pixels,
				       struct pixel p)
{
	return pixels->x + p.n * pixels->x_sample + p.row * pixels->x_row +
	       p.column * pixels->x_column;
}

static inline global const float *dy_at(const struct pixels *pixels,
					struct pixel p)
{
	return pixels->dy + p.n * pixels->dy_sample + p.row * pixels->dy_row +
	       p.column * pixels->dy_column;
}

static inline struct pixel pixel_after(const struct pixels *pixels,
				       struct pixel p)
{
	p.k++;
	p.column = p.column + 1 < pixels->width ? p.column + 1 : 0;
	p.row += !p.column;
	p.n += p.row == pixels->height;
	p.row = p.row < pixels->height ? p.row : 0;
	return p;
}

/* Copies pixels from p on. Returns the pixel after them. */
static inline struct pixel pixels_load(const struct pixels *pixels,
				       struct pixel p, int depth, int rows,
				       int columns,
				       vec a[DEEP][RUN_ROWS / WIDE],
				       vec b[RUN_TILES][DEEP * ACROSS])
{
	for (int d = 0; d < depth; d++, p = pixel_after(pixels, p)) {
		global const float *x = x_at(pixels, p);
		global const float *dy = dy_at(pixels, p);

		for (int i = 0; i * WIDE < rows; i++)
			a[d][i] = LOAD_LANES(x + i * WIDE);
		for (int i = 0; i * WIDE < columns; i++)
			b[i / ACROSS][d * ACROSS + i % ACROSS] =
				LOAD_LANES(dy + i * WIDE);
	}
	return p;
}

/* Prefetches pixels, if there are any. Returns the pixel after them. */
static inline struct pixel pixels_fetch(const struct pixels *pixels,
					struct pixel p, int some, int rows,
					int columns)
{
	for (; some && p.k < pixels->all; some--) {
		run_fetch(x_at(pixels, p), rows);
		run_fetch(dy_at(pixels, p), columns);
		p = pixel_after(pixels, p);
	}
	return p;
}

/*
 * part[r][k][o] = sum over samples and pixels p of dy[n][p][o] x[n][p's
 * window][r][k], of row r of a window and factor k of its run: of group (o, r
 * and k, s) over the samples split_samples * s ..., but not the last `broken`
 * ones. Both are as conv_spread has them; the rows' x and dy are x_apart and
 * dy_apart floats from one another. The next pixels are fetched while blocks of
 * the sums are computed.
 */
kernel GROUP void conv_sum(const int count, global const float *restrict x,
			   global const float *restrict dy,
			   global float *restrict parts, const int run,
			   const int x_apart, const int dy_apart,
			   const int x_pixel, const int x_row,
			   const int x_sample, const int outputs,
			   const int out_height, const int out_width,
			   const int dy_row, const int dy_sample,
			   const int dy_begin, const int size,
			   const int split_samples, const int broken)
{
	const int tiles = (run + RUN_ROWS - 1) / RUN_ROWS;
	const int r = get_group_id(1) / tiles;
	const int first = get_group_id(1) % tiles * RUN_ROWS;
	const int rows = min(RUN_ROWS, run - first);
	const int column = get_group_id(0) * RUN_COLUMNS;
	const int columns = min(RUN_COLUMNS, outputs - column);
	const int from = get_group_id(2) * split_samples;
	const int samples = max(min(split_samples, count - broken - from), 0);
	const int blocks = (rows + TALL - 1) / TALL;
	const int across = (columns + COLUMNS - 1) / COLUMNS;
	const int some = (DEEP + blocks * across - 1) / (blocks * across);
	const struct pixels pixels = {
		x + from * (size_t)x_sample + r * (size_t)x_apart + first,
		dy + from * (size_t)dy_sample + r * (size_t)dy_apart +
			dy_begin + column,
		x_pixel, x_row, outputs, dy_row, x_sample, dy_sample,
		out_height, out_width, samples * out_height * out_width
	};
	struct pixel next = { 0, 0, 0, 0 };
	vec sum[RUN_TILES][RUN_BLOCKS][TALL][ACROSS];
	vec a[DEEP][RUN_ROWS / WIDE], b[RUN_TILES][DEEP * ACROSS];

	if (from >= count)
		return;
	parts += get_group_id(2) * (size_t)size +
		 (r * run + first) * (size_t)outputs + column;
	for (int tile = 0; tile < across; tile++)
		tile_clear(sum[tile], blocks);
	tails_clear(a, b, rows, columns);
	while (next.k < pixels.all) {
		const int depth = min(DEEP, pixels.all - next.k);
		struct pixel ahead;

		next = pixels_load(&pixels, next, depth, rows, columns, a, b);
		ahead = next;
		for (int i = 0; i < across * blocks; i++) {
			const int tile = i / blocks, block = i % blocks;

			ahead = pixels_fetch(&pixels, ahead, some, rows,
					     columns);
			pixels_add(sum[tile][block],
				   (const float *)a + block * TALL, b[tile],
				   depth);
		}
	}
	for (int tile = 0; tile < across; tile++)
		for (int i = 0; i < rows; i++)
			row_store(sum[tile][i / TALL][i % TALL],
				  min(COLUMNS, columns - tile * COLUMNS),
				  parts + i * (size_t)outputs + tile * COLUMNS);
}

/* Group (o, i): dw[o][i][t] of WIDE outputs and channels, from the parts of
 * splits of the samples, in their order. */
kernel GROUP void conv_unpack(const int count,
			      global const float *restrict parts,
			      global float *restrict gradient,
			      const int channels, const int outputs,
			      const int taps, const int weight, const int size,
			      const int split_samples)
{
	const int splits = (count + split_samples - 1) / split_samples;
	const int o = get_group_id(0) * WIDE, c = get_group_id(1) * WIDE;

	gradient += weight;
	for (int i = c; i < min(c + WIDE, channels); i++)
		for (int t = 0; t < taps; t++) {
			global const float *from = parts + o +
				(t * channels + i) * (size_t)outputs;
			global float *to = gradient + t +
				(o * (size_t)channels + i) * taps;
			float sums[WIDE];
			vec sum = LOAD_LANES(from);

			for (int s = 1; s < splits; s++)
				sum += LOAD_LANES(from + s * (size_t)size);
			STORE_NEAR(sum, sums);
			for (int j = 0; j < min(WIDE, outputs - o); j++)
				to[j * (size_t)(channels * taps)] = sums[j];
		}
}

/* Group o: dbias[o] = sum of dy[n][o][p]. */
kernel GROUP void conv_bias(const int count, global const float *restrict dy,
			    global float *restrict gradient, const int plane,
			    const int sample, const int bias)
{
	const int whole = plane / WIDE * WIDE;
	struct total total = { (vec)(0), (vec)(0) };
	float sums[WIDE], rests[WIDE];
	float2 all = (float2)(0);

	dy += get_group_id(0) * (size_t)plane;
	for (int n = 0; n < count; n++, dy += sample) {
		for (int first = 0; first < whole; first += SUMMED * WIDE) {
			const int end = min(first + SUMMED * WIDE, whole);
			vec part = 0;

			for (int p = first; p < end; p += WIDE)
				part += LOAD_LANES(dy + p);
			total_add(&total, part);
		}
		for (int p = whole; p < plane; p++)
			all = pair_add(all, dy[p]);
	}
	STORE_NEAR(total.sum, sums);
	STORE_NEAR(total.rest, rests);
	for (int i = 0; i < WIDE; i++) {
		all = pair_add(all, sums[i]);
		all.y += rests[i];
	}
	gradient[bias + get_group_id(0)] = all.x + all.y;
}
