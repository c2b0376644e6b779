/*
 * Convolutions with 3x3 windows, stride 1 and padding of at most 2 in the cpu
 * class, after conv_last.cl and winograd_points.cl: Winograd's tiles, all
 * points of a batch one after the other.
 *
 *   V = B^T x B and M = U . V, y = A^T M A;  dM = A dY A^T, dw = G^T (V . dM) G
 *
 * are [point][sample][tile][channel], points `apart` floats from one another;
 * U is packed as conv_weights_pack does it, [point][tile of COLUMNS][factor]
 * [COLUMNS]. The input gradient is what y is of dy and of windows rotated by
 * 180 degrees. Channels are whole vectors.
 */

/* Of a square of values, rows apart: all points. */
static inline void values_to_points(const vec *values, int row,
				    global float *to, size_t apart)
{
	vec between[SIDE][SIDE];

#pragma unroll
	for (int c = 0; c < SIDE; c++) {
		vec column[SIDE], points[SIDE];

#pragma unroll
		for (int r = 0; r < SIDE; r++)
			column[r] = values[r * row + c];
		data_to_points(column, points);
#pragma unroll
		for (int r = 0; r < SIDE; r++)
			between[r][c] = points[r];
	}
#pragma unroll
	for (int r = 0; r < SIDE; r++) {
		vec points[SIDE];

		data_to_points(between[r], points);
#pragma unroll
		for (int c = 0; c < SIDE; c++)
			STORE_LANES(points[c], to + (r * SIDE + c) * apart);
	}
}

static inline void outputs_to_points(const vec *values, int row,
				     global float *to, size_t apart)
{
	vec between[SIDE][TILE];

#pragma unroll
	for (int c = 0; c < TILE; c++) {
		vec column[TILE], points[SIDE];

#pragma unroll
		for (int r = 0; r < TILE; r++)
			column[r] = values[r * row + c];
		output_to_points(column, points);
#pragma unroll
		for (int r = 0; r < SIDE; r++)
			between[r][c] = points[r];
	}
#pragma unroll
	for (int r = 0; r < SIDE; r++) {
		vec points[SIDE];

		output_to_points(between[r], points);
#pragma unroll
		for (int c = 0; c < SIDE; c++)
			STORE_LANES(points[c], to + (r * SIDE + c) * apart);
	}
}

/* Tiles of a row that are made at once, and the columns that they come from. */
#define STRIP_TILES 8
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

/* Rows and columns from y and x on of WIDE planes; zeros beside them. */
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

/* Group (t, n): V of a row of tiles of values or, with dy, of those of outputs'
 * gradients, dM. The first tile begins `before` pixels above and left of the
 * plane. */
kernel GROUP void tiles_spread(const int count,
			       global const float *restrict from,
			       global float *restrict to, const int channels,
			       const int height, const int width,
			       const int sample, const int before,
			       const int tiles_across, const int tiles,
			       const int apart, const int dy)
{
	const int row = get_group_id(0), side = dy ? TILE : SIDE;
	vec strip[SIDE * STRIP_COLUMNS];

	from += get_group_id(1) * (size_t)sample;
	to += (get_group_id(1) * (size_t)tiles + row * tiles_across) * channels;
	for (int c = 0; c < channels; c += WIDE, to += WIDE)
		for (int t = 0; t < tiles_across; t += STRIP_TILES) {
			const int some = min(STRIP_TILES, tiles_across - t);
			const int columns = (some - 1) * TILE + side;

			strip_load(from + c * (size_t)(height * width), height,
				   width, row * TILE - before,
				   t * TILE - before, side, columns, strip);
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

#define TAPS 9

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
	vec between[SIDE][3], points[SIDE];

#pragma unroll
	for (int c = 0; c < 3; c++) {
		vec column[3];

#pragma unroll
		for (int r = 0; r < 3; r++)
			column[r] = taps[(3 * r + c) * step];
		window_to_points(column, points);
#pragma unroll
		for (int r = 0; r < SIDE; r++)
			between[r][c] = points[r];
	}
#pragma unroll
	for (int r = 0; r < SIDE; r++) {
		window_to_points(between[r], points);
#pragma unroll
		for (int c = 0; c < SIDE; c++)
			STORE_LANES(points[c], to + (r * SIDE + c) * apart);
	}
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

/* Group (t, o, p): M at a point, of a tile of sums. */
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

/* The outputs of a tile, from its points. What is behind them at each point is
 * fetched, AHEAD floats from there: too many streams for a core to foresee. */
#define AHEAD (4 * WIDE)

static inline void points_to_outputs(global const float *points, size_t apart,
				     vec outputs[TILE * TILE])
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
			FETCH(at + AHEAD);
		}
		points_to_output(column, made);
#pragma unroll
		for (int r = 0; r < TILE; r++)
			between[r][c] = made[r];
	}
#pragma unroll
	for (int r = 0; r < TILE; r++)
		points_to_output(between[r], outputs + r * TILE);
}

/* Row r of a lane's tile among vectors of pixels. */
static inline const float *tile_row(const vec *pixels, int lane, int r)
{
	return (const float *)(pixels + r * TILE / WIDE * WIDE + lane) +
	       r * TILE % WIDE;
}

/* As much of a tile as is there, of each channel. */
static inline void tile_planar(vec outputs[TILE * TILE], global float *to,
			       int rows, int columns, int width, int plane,
			       int adds)
{
	for (int i = 0; i < TILE * TILE; i += WIDE)
		vecs_transpose(outputs + i);
	for (int lane = 0; lane < WIDE; lane++, to += plane)
		for (int r = 0; r < rows; r++) {
			const float *from = tile_row(outputs, lane, r);
			float4 values = vload4(0, from);
			global float *row = to + r * width;

			if (columns < TILE) {
				for (int i = 0; i < columns; i++)
					gradient_put(row + i, from[i], adds);
				continue;
			}
			if (adds)
				values += vload4(0, row);
			vstore4(values, 0, row);
		}
}

/* Group (t, n): a tile of y or, with -1 as bias, dx, planar. */
kernel GROUP void tiles_store(const int count,
			      global const float *restrict from,
			      global const float *restrict parameters,
			      global float *restrict to, const int channels,
			      const int height, const int width,
			      const int sample, const int tiles_across,
			      const int tiles, const int apart, const int bias,
			      const int adds)
{
	const int t = get_group_id(0);
	const int y = t / tiles_across * TILE, x = t % tiles_across * TILE;
	const int rows = min(TILE, height - y), columns = min(TILE, width - x);
	const int plane = height * width;

	from += (get_group_id(1) * (size_t)tiles + t) * channels;
	to += get_group_id(1) * (size_t)sample + y * width + x;
	for (int c = 0; c < channels; c += WIDE, to += WIDE * (size_t)plane) {
		vec outputs[TILE * TILE];

		points_to_outputs(from + c, apart, outputs);
		if (bias >= 0)
			for (int i = 0; i < TILE * TILE; i++)
				outputs[i] += LOAD_LANES(parameters + bias + c);
		tile_planar(outputs, to, rows, columns, width, plane, adds);
	}
}

/* The taps of a window from its points, `apart` floats from each other and each
 * the sum of parts; those of the next window are fetched. */
static inline void points_to_taps(global const float *points, size_t apart,
				  int parts, size_t part, int next,
				  vec taps[TAPS])
{
	vec between[3][SIDE], window[3];

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
		for (int r = 0; r < 3; r++)
			between[r][c] = window[r];
	}
#pragma unroll
	for (int r = 0; r < 3; r++) {
		points_to_window(between[r], window);
#pragma unroll
		for (int c = 0; c < 3; c++)
			taps[3 * r + c] = window[c];
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
