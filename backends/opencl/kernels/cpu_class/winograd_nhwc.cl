/*
 * Convolutions in the cpu class by Winograd's tiles, all points of a batch one
 * after the other. This file is compiled for each kind of tile and window,
 * after winograd_points.cl or winograd_points7.cl.
 *
 * Windows have stride 1 or, on images, are folded. With a stride s, an image
 * gets s * s times as many channels: one plane for each pixel of its squares of
 * s x s. A window gets 1 / s of its rows and columns, padded with zeros.
 *
 *   V = B^T x B and M = U . V, y = A^T M A;  dM = A dY A^T, dw = G^T (V . dM) G
 *
 * are [point][sample][tile][channel], with `apart` floats from point to point.
 * U is packed as by conv_weights_pack, [point][tile of COLUMNS][factor]
 * [COLUMNS]. The input gradient is computed like y, from dy and from windows
 * rotated by 180 degrees. Channels are whole vectors.
 */
#define TAPS (WINDOW * WINDOW)

/* Of a square of values, rows apart: all points. */
static inline void values_to_points(const vec *values, int row,
				    global float *to, size_t apart)
{
	SQUARE_TRANSFORM(data_to_points, SIDE, SIDE, values[r * row + c],
			 STORE_PAST(made[c], to + (r * SIDE + c) * apart));
}

static inline void outputs_to_points(const vec *values, int row,
				     global float *to, size_t apart)
{
	SQUARE_TRANSFORM(output_to_points, TILE, SIDE, values[r * row + c],
			 STORE_PAST(made[c], to + (r * SIDE + c) * apart));
}

/* Tiles of a row that are made at once, and the columns that they come from. */
#define STRIP_TILES (64 / TILE)
#define STRIP_COLUMNS (STRIP_TILES * TILE + SIDE - TILE)

/* Count pixels of WIDE planes from p on, channels last: rows of `width`, which
 * are to_width apart there. Squares end where the plane does. */
static inline void pixels_turn(global const float *from, int plane, int p,
			       int count, vec *to, int width, int to_width)
{
	int column = 0;

	for (const int end = p + count; p < end; p += WIDE) {
		const int first = max(min(p, plane - WIDE), 0);
		const int some = min(WIDE, end - p);
		vec square[WIDE];

#pragma unroll
		for (int i = 0; i < WIDE; i++) {
			FETCH(from + i * plane + first + STRIP_COLUMNS);
			square[i] = some_load(from + i * plane + first,
					      plane - first);
		}
		vecs_transpose(square);
		for (int i = 0; i < some; i++) {
			*to = square[p - first + i];
			column = column + 1 < width ? column + 1 : 0;
			to += column ? 1 : 1 + to_width - width;
		}
	}
}

/* Loads rows and columns from y and x on of WIDE planes; zeros outside. */
static inline void strip_load(global const float *from, int height, int width,
			      int y, int x, int rows, int columns, vec *strip)
{
	const int2 down = (int2)(max(y, 0), min(y + rows, height));
	const int2 across = (int2)(max(x, 0), min(x + columns, width));
	const int wide = across.y - across.x;
	vec *to = strip + (down.x - y) * columns + across.x - x;

	if (down.y - down.x < rows || wide < columns)
		for (int i = 0; i < rows * columns; i++)
			strip[i] = 0;
	if (wide == width)
		pixels_turn(from, height * width, down.x * width,
			    (down.y - down.x) * width, to, width, columns);
	else
		for (int r = down.x; r < down.y; r++, to += columns)
			pixels_turn(from, height * width, r * width + across.x,
				    wide, to, wide, columns);
}

/* Folds pixels of a row, from column on, into a run of lanes of vectors. The
 * zeros outside the row are there already. */
static inline void run_fold(global const float *from, int width, int column,
			    int run, float *to)
{
	const int is_whole = column >= 0 && column + run <= width;

	if (is_whole && run == 4)
		vstore4(vload4(0, from + column), 0, to);
	else if (is_whole && run == 2)
		vstore2(vload2(0, from + column), 0, to);
	else
		for (int k = 0; k < run; k++)
			if (column + k >= 0 && column + k < width)
				to[k] = from[column + k];
}

/* The same of planes that are folded, WIDE of them from c on, of channels that
 * are not: y and x are of these. */
static inline void strip_fold(global const float *from, int channels,
			      int height, int width, int stride, int c, int y,
			      int x, int rows, int columns, vec *strip)
{
	const int run = WIDE % stride ? 1 : stride;

	for (int i = 0; i < rows * columns; i++)
		strip[i] = 0;
	for (int lane = 0; lane < WIDE; lane += run) {
		const int channel = (c + lane) / (stride * stride);
		const int down = y + (c + lane) / stride % stride;
		const int across = x + (c + lane) % stride;

		if (channel == channels)
			return;
		for (int r = 0; r < rows; r++) {
			const int row = down + r * stride;
			float *to = (float *)(strip + r * columns) + lane;

			if (row < 0 || row >= height)
				continue;
			for (int i = 0; i < columns; i++)
				run_fold(from + (channel * height + row) *
							width,
					 width, across + i * stride, run,
					 to + i * WIDE);
		}
	}
}

/* Group (t, n): V of a row of tiles of values or, with dy, dM of a row of tiles
 * of gradients by outputs. The first tile begins `before` pixels above and left
 * of the plane. With a stride the values are an image's, folded to `folded`
 * channels. */
kernel GROUP void tiles_spread(const int count,
			       global const float *restrict from,
			       global float *restrict to, const int channels,
			       const int height, const int width,
			       const int sample, const int before,
			       const int tiles_across, const int tiles,
			       const int apart, const int dy, const int stride,
			       const int folded)
{
	const int row = get_group_id(0), side = dy ? TILE : SIDE;
	vec strip[SIDE * STRIP_COLUMNS];

	from += get_group_id(1) * (size_t)sample;
	to += (get_group_id(1) * (size_t)tiles + row * tiles_across) * channels;
	for (int c = 0; c < channels; c += WIDE, to += WIDE)
		for (int t = 0; t < tiles_across; t += STRIP_TILES) {
			const int some = min(STRIP_TILES, tiles_across - t);
			const int columns = (some - 1) * TILE + side;
			const int y = row * TILE * stride - before;
			const int x = t * TILE * stride - before;

			if (stride > 1)
				strip_fold(from, folded, height, width, stride,
					   c, y, x, side, columns, strip);
			else
				strip_load(from + c * (size_t)(height * width),
					   height, width, y, x, side, columns,
					   strip);
			for (int i = 0; i < some; i++) {
				global float *points =
					to + (t + i) * (size_t)channels;

				if (dy)
					outputs_to_points(strip + i * TILE,
							  columns, points,
							  apart);
				else
					values_to_points(strip + i * TILE,
							 columns, points,
							 apart);
			}
		}
}

/* WIDE rows, `apart` floats from each other, of WIDE windows each:
 * to[TAPS * i + t] is tap t of window i in each of the rows. */
static inline void windows_load(global const float *from, size_t apart,
				vec to[WIDE * TAPS])
{
	for (int square = 0; square < TAPS; square++) {
#pragma unroll
		for (int row = 0; row < WIDE; row++)
			to[row] = LOAD_LANES(from + row * apart);
		vecs_transpose(to);
		from += WIDE;
		to += WIDE;
	}
}

/* The other way round. */
static inline void windows_store(vec from[WIDE * TAPS], global float *to,
				 size_t apart)
{
	for (int square = 0; square < TAPS; square++) {
		vecs_transpose(from);
#pragma unroll
		for (int row = 0; row < WIDE; row++)
			STORE_LANES(from[row], to + row * apart);
		from += WIDE;
		to += WIDE;
	}
}

/* Lanes are windows instead of rows, and windows rows. */
static inline void windows_turn(vec windows[WIDE * TAPS])
{
	for (int t = 0; t < TAPS; t++) {
		vec square[WIDE];

#pragma unroll
		for (int i = 0; i < WIDE; i++)
			square[i] = windows[TAPS * i + t];
		vecs_transpose(square);
#pragma unroll
		for (int i = 0; i < WIDE; i++)
			windows[TAPS * i + t] = square[i];
	}
}

/* All points of a window whose taps are from taps on, forwards or backwards. */
static inline void window_all_points(const vec *taps, int step,
				     global float *to, size_t apart)
{
	SQUARE_TRANSFORM(window_to_points, WINDOW, SIDE,
			 taps[(WINDOW * r + c) * step],
			 STORE_PAST(made[c], to + (r * SIDE + c) * apart));
}

/* Group (k, o): U of WIDE factors and a tile of outputs, from weights that are
 * where conv_weights_pack finds them; back, windows are rotated. */
kernel GROUP void tiles_pack(const int count,
			     global const float *restrict parameters,
			     global float *restrict packed, const int factors,
			     const int outputs, const int back,
			     const int weight, const int by_output,
			     const int by_factor)
{
	const int first = get_group_id(0) * WIDE;
	const int column = get_group_id(1) * COLUMNS;
	const size_t apart = (size_t)((outputs + COLUMNS - 1) / COLUMNS) *
			     factors * COLUMNS;
	vec windows[WIDE * TAPS];

	parameters += weight + column * (size_t)by_output +
		      first * (size_t)by_factor;
	packed += (get_group_id(1) * (size_t)factors + first) * COLUMNS;
	for (int o = 0; o < min(COLUMNS, outputs - column); o += WIDE) {
		windows_load(parameters + o * (size_t)by_output,
			     back ? by_factor : by_output, windows);
		if (back)
			windows_turn(windows);
		for (int k = 0; k < WIDE; k++)
			window_all_points(windows + TAPS * k +
						  (back ? TAPS - 1 : 0),
					  back ? -1 : 1,
					  packed + k * COLUMNS + o, apart);
	}
}

/* Computes the outputs of a tile from its points. Prefetches `next` floats
 * ahead at each point: these are too many streams for the core's prefetcher. */
static inline void points_to_outputs(global const float *points, size_t apart,
				     int next, vec *outputs, int row)
{
	vec between[TILE][SIDE];

#pragma unroll
	for (int c = 0; c < SIDE; c++) {
		vec column[SIDE], made[TILE];

#pragma unroll
		for (int r = 0; r < SIDE; r++) {
			global const float *at = points +
						 (r * SIDE + c) * apart;

			column[r] = LOAD_LANES(at);
			FETCH(at + next);
		}
		points_to_output(column, made);
#pragma unroll
		for (int r = 0; r < TILE; r++)
			between[r][c] = made[r];
	}
#pragma unroll
	for (int r = 0; r < TILE; r++)
		points_to_output(between[r], outputs + r * row);
}

/* What pixels_turn does, the other way round: count pixels in rows of `width`,
 * which are from_width apart, and the bias of each plane. */
static inline void pixels_return(const vec *from, int width, int from_width,
				 int count, vec bias, global float *to,
				 int plane, int adds)
{
	int column = 0;

	for (int p = 0; p < count; p += WIDE) {
		vec square[WIDE];

#pragma unroll
		for (int i = 0; i < WIDE; i++) {
			const int is_last = p + i + 1 >= count;

			square[i] = *from + bias;
			column = column + 1 < width ? column + 1 : 0;
			from += is_last ? 0 :
				column ? 1 : 1 + from_width - width;
		}
		vecs_transpose(square);
#pragma unroll
		for (int i = 0; i < WIDE; i++)
			gradients_put(to + i * plane + p, square[i], count - p,
				      adds);
	}
}

/* Group (t, n): a row of tiles of y or, with -1 as bias, dx, planar. */
kernel GROUP void tiles_store(const int count,
			      global const float *restrict from,
			      global const float *restrict parameters,
			      global float *restrict to, const int channels,
			      const int height, const int width,
			      const int sample, const int tiles_across,
			      const int tiles, const int apart, const int bias,
			      const int adds)
{
	const int y = get_group_id(0) * TILE, rows = min(TILE, height - y);
	const int plane = height * width;
	vec strip[TILE * TILE * STRIP_TILES];

	from += (get_group_id(1) * (size_t)tiles +
		 get_group_id(0) * tiles_across) * channels;
	to += get_group_id(1) * (size_t)sample + y * width;
	for (int c = 0; c < channels; c += WIDE, to += WIDE * (size_t)plane)
		for (int t = 0; t < tiles_across; t += STRIP_TILES) {
			const int some = min(STRIP_TILES, tiles_across - t);
			const int columns = min(some * TILE, width - t * TILE);
			const vec all = bias < 0 ? (vec)(0) :
					LOAD_LANES(parameters + bias + c);

			for (int i = 0; i < some; i++)
				points_to_outputs(from + c +
						  (t + i) * (size_t)channels,
						  apart,
						  some < 4 ? 4 * WIDE : WIDE,
						  strip + i * TILE,
						  some * TILE);
			if (columns == width)
				pixels_return(strip, width, some * TILE,
					      rows * width, all, to, plane,
					      adds);
			else
				for (int r = 0; r < rows; r++)
					pixels_return(strip +
						      r * some * TILE, columns,
						      columns, columns, all,
						      to + r * width + t * TILE,
						      plane, adds);
		}
}

/* Computes the taps of a window from its points, which are `apart` floats from
 * each other, each the sum of parts. Prefetches the next window's points. */
static inline void points_to_taps(global const float *points, size_t apart,
				  int parts, size_t part, int next,
				  vec taps[TAPS])
{
	vec between[WINDOW][SIDE], window[WINDOW];

#pragma unroll
	for (int c = 0; c < SIDE; c++) {
		vec column[SIDE];

#pragma unroll
		for (int r = 0; r < SIDE; r++) {
			global const float *at = points +
						 (r * SIDE + c) * apart;

			FETCH(at + next);
			column[r] = LOAD_LANES(at);
			for (int s = 1; s < parts; s++)
				column[r] += LOAD_LANES(at + s * part);
		}
		points_to_window(column, window);
#pragma unroll
		for (int r = 0; r < WINDOW; r++)
			between[r][c] = window[r];
	}
#pragma unroll
	for (int r = 0; r < WINDOW; r++) {
		points_to_window(between[r], window);
#pragma unroll
		for (int c = 0; c < WINDOW; c++)
			taps[WINDOW * r + c] = window[c];
	}
}

/* Group (o, i): dw[o][i] of WIDE outputs and channels, from the points' parts
 * of splits of the samples, in their order. */
kernel GROUP void tiles_unpack(const int count,
			       global const float *restrict parts,
			       global float *restrict gradient,
			       const int channels, const int outputs,
			       const int weight, const int size,
			       const int split_samples)
{
	const int splits = (count + split_samples - 1) / split_samples;
	const int o = get_group_id(0) * WIDE, first = get_group_id(1) * WIDE;
	vec windows[WIDE * TAPS];

	for (int i = 0; i < WIDE; i++)
		points_to_taps(parts + (first + i) * (size_t)outputs + o,
			       channels * (size_t)outputs, splits, size,
			       outputs, windows + TAPS * i);
	windows_store(windows, gradient + weight +
			       (o * (size_t)channels + first) * TAPS,
		      channels * (size_t)TAPS);
}

/* Where tap t of a folded channel is in an output's windows; -1: in none. */
static inline int folded_place(int channel, int t, int channels, int window,
			       int stride)
{
	const int plane = channel / (stride * stride);
	const int row = t / WINDOW * stride + channel / stride % stride;
	const int column = t % WINDOW * stride + channel % stride;

	return plane < channels && row < window && column < window ?
		       (plane * window + row) * window + column : -1;
}

/* Group o: an output's windows, folded. */
kernel GROUP void windows_fold(const int count,
			       global const float *restrict parameters,
			       global float *restrict to, const int weight,
			       const int folded, const int channels,
			       const int window, const int stride)
{
	parameters += weight +
		      get_group_id(0) * (size_t)(channels * window * window);
	to += get_group_id(0) * (size_t)(folded * TAPS);
	for (int i = 0; i < folded * TAPS; i++) {
		const int at = folded_place(i / TAPS, i % TAPS, channels,
					    window, stride);

		to[i] = at < 0 ? 0 : parameters[at];
	}
}

/* Group o: unfolds the gradient of its windows. */
kernel GROUP void windows_unfold(const int count,
				 global const float *restrict from,
				 global float *restrict gradient,
				 const int weight, const int folded,
				 const int channels, const int window,
				 const int stride)
{
	gradient += weight +
		    get_group_id(0) * (size_t)(channels * window * window);
	from += get_group_id(0) * (size_t)(folded * TAPS);
	for (int i = 0; i < folded * TAPS; i++) {
		const int at = folded_place(i / TAPS, i % TAPS, channels,
					    window, stride);

		if (at >= 0)
			gradient[at] = from[i];
	}
}
