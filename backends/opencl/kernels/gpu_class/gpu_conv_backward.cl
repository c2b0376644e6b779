/*
 * A convolution backward, all sums in one launch: its weight gradient and,
 * unless it reads the images themselves, its input gradient.
 *
 *   dz[n][o][y][x] = dy[n][o][window] where that is its route, grown, else 0
 *   dw[o][k] = sum over n, y, x of dz[n][o][y][x] column[k][n][y][x]
 *   dbias[o] = sum over n, y, x of dz[n][o][y][x]
 *   dx[n][c][y][x] = sum over o, i, j of
 *                        weight[o][c][i][j] dz[n][o][y - i][x - j]
 *
 * Of the groups, the first WEIGHT_TILES * SPLITS make tiles of dw, each
 * from SPLIT_SAMPLES samples, and the others tiles of dx. Each goes through
 * both, one of them without a slice: so no barrier is in a branch.
 */
#define IN_DOWN (IN_ROWS * LANES / ITEMS)
#define IN_TILES PARTS_OF(IN_CHANNELS, IN_ROWS)

/* Of dw's tiles, OUT_ROWS * FACTOR_COLUMNS from SPAN positions at once. */
#define WEIGHT_LANES 8
#define WEIGHT_DOWN (OUT_ROWS * WEIGHT_LANES / ITEMS)
#define WEIGHT_ACROSS (FACTOR_COLUMNS / WEIGHT_LANES)
#define FACTOR_TILES PARTS_OF(FACTORS, FACTOR_COLUMNS)
#define WEIGHT_TILES (FACTOR_TILES * PARTS_OF(OUT_CHANNELS, OUT_ROWS))
#define WEIGHTS_SIZE ((FACTORS + 1) * OUT_CHANNELS)

#define BACKWARD_SPACE                                   \
	MOST(MOST(SPAN * (OUT_ROWS + FACTOR_COLUMNS + 2), \
		  DEEP * (IN_ROWS + COLUMNS + 2)),        \
	     LEAD * IN_ROWS * (COLUMNS + 1))

#if BACKWARD_SPACE > LOCAL_FLOATS
#error "local memory has no room for the tiles of conv_backward"
#endif

static inline float dz_at(global const float *dy,
			  global const ushort *routes, int n, int o, int y,
			  int x)
{
	const size_t at = (size_t)(n * OUT_CHANNELS + o) * PLANE +
			  y / POOL * OUT_WIDTH + x / POOL;

	return routes[at] == y % POOL * POOL + x % POOL ? dy[at] * GROWTH :
							  0;
}

/* Loads to[p][o]: dz of SPAN positions; only the first `most` exist. */
static inline void dz_load(local float *to, global const float *dy,
			   global const ushort *routes, int position,
			   int most, int row)
{
	const int p = get_local_id(0) % SPAN;
	const struct position at = position_of((position + p) / POOLED,
					       (position + p) % POOLED);

	for (int o = get_local_id(0) / SPAN; o < OUT_ROWS; o += ITEMS / SPAN)
		to[p * (OUT_ROWS + 1) + o] =
			p < most && row + o < OUT_CHANNELS ?
				dz_at(dy, routes, at.sample, row + o,
				      at.y, at.x) : 0;
}

/* to[p][k]: columns of the same positions. */
static inline void factors_load(local float *to, global const float *x,
				global const float *parameters, int position,
				int most, int column)
{
#if LEAD
	const int windows = SPAN / POOLED;

	for (int e = get_local_id(0); e < FACTOR_COLUMNS / TAPS * windows;
	     e += ITEMS) {
		const int c = e / windows, w = e % windows;

		lead_columns(to + w * POOLED * (FACTOR_COLUMNS + 1) + c * TAPS,
			     1, FACTOR_COLUMNS + 1, x, parameters + LEAD_WEIGHT,
			     position / POOLED + w, column / TAPS + c,
			     column + c * TAPS < FACTORS && w * POOLED < most);
	}
#else
	const int p = get_local_id(0) % SPAN;
	const struct position at = position_of((position + p) / POOLED,
					       (position + p) % POOLED);
	const size_t from = (size_t)at.sample * IN_CHANNELS * IN_PLANE +
			    at.y * IN_WIDTH + at.x;

	for (int k = get_local_id(0) / SPAN; k < FACTOR_COLUMNS;
	     k += ITEMS / SPAN)
		to[p * (FACTOR_COLUMNS + 1) + k] =
			p < most && column + k < FACTORS ?
				x[from + factor_offset(0, column + k)] : 0;
#endif
}

/* Tile `tile` of dw, and of dbias, from samples SPLIT_SAMPLES * split ...;
 * none if split is SPLITS or more. */
static inline void weights_tile(local float *space, int tile, int split,
				int count, global const float *x,
				global const float *parameters,
				global const ushort *routes,
				global const float *dy,
				global float *sums)
{
	const int sample = PLANE * POOLED;
	const int row = tile / FACTOR_TILES * OUT_ROWS;
	const int column = tile % FACTOR_TILES * FACTOR_COLUMNS;
	const int from = split * SPLIT_SAMPLES;
	const int to = split < SPLITS ? min(from + SPLIT_SAMPLES, count) : from;
	const int known = (min(to, count - BROKEN)) * sample;
	local float *a = space, *b = space + SPAN * (OUT_ROWS + 1);
	const int mine = get_local_id(0);
	const int is_bias = !column && mine < OUT_ROWS;
	/* With a return after a loop of one slice, PoCL 3.1 makes one branch
	 * of both, and then runs its stores in all groups. */
	const int outputs = from < to ? OUT_CHANNELS : 0;
	float sum[WEIGHT_DOWN * WEIGHT_ACROSS];
	float2 bias = (float2)(0);

	for (int i = 0; i < WEIGHT_DOWN * WEIGHT_ACROSS; i++)
		sum[i] = 0;
	for (int p = from * sample; p < to * sample; p += SPAN) {
		dz_load(a, dy, routes, p, to * sample - p, row);
		factors_load(b, x, parameters, p, known - p, column);
		MEET();
		tile_add(sum, WEIGHT_DOWN, WEIGHT_ACROSS, WEIGHT_LANES, a,
			 OUT_ROWS + 1, b, FACTOR_COLUMNS + 1, SPAN);
		if (is_bias)
			bias = pair_add(bias, column_sum(a + mine, OUT_ROWS + 1,
							 SPAN));
		MEET();
	}
	sums += (size_t)split * WEIGHTS_SIZE;
	for (int i = 0; i < WEIGHT_DOWN; i++)
		for (int j = 0; j < WEIGHT_ACROSS; j++) {
			const int o = row + tile_row(i, WEIGHT_LANES);
			const int k = column + tile_column(j, WEIGHT_LANES);

			if (o < outputs && k < FACTORS)
				sums[o * FACTORS + k] =
					sum[i * WEIGHT_ACROSS + j];
		}
	if (is_bias && row + mine < outputs)
		sums[OUT_CHANNELS * FACTORS + row + mine] = bias.x + bias.y;
}

#if NEEDS_DX
/* to[k = (o, i, j)][q]: dz of the sums that pixels q of the input are in. */
static inline void pixels_load(local float *to, global const float *dy,
			       global const ushort *routes, int first,
			       int pixels, int k0)
{
	for (int e = get_local_id(0); e < COLUMNS; e += ITEMS) {
		const int n = (first + e) / IN_PLANE;
		const int pixel = (first + e) % IN_PLANE;

#pragma unroll
		for (int k = 0; k < DEEP; k++) {
			const int tap = factor_tap(k0, k);
			const int y = pixel / IN_WIDTH - tap / WINDOW;
			const int x = pixel % IN_WIDTH - tap % WINDOW;
			const int inside = first + e < pixels && y >= 0 &&
					   x >= 0 && y < OUT_HEIGHT * POOL &&
					   x < OUT_WIDTH * POOL &&
					   k0 + k < OUT_CHANNELS * TAPS;

			to[k * (COLUMNS + 1) + e] =
				inside ? dz_at(dy, routes, n,
					       factor_channel(k0, k), y, x) :
					 0;
		}
	}
}

/* to[k = (o, i, j)][c] = weight[o][c][i][j] */
static inline void transposed_load(local float *to,
				   global const float *parameters, int row,
				   int k0)
{
	for (int e = get_local_id(0); e < DEEP * IN_ROWS; e += ITEMS) {
		const int k = k0 + e % DEEP, c = row + e / DEEP;
		const int o = k / TAPS;

		to[e % DEEP * (IN_ROWS + 1) + e / DEEP] =
			o < OUT_CHANNELS && c < IN_CHANNELS ?
				parameters[WEIGHT + (o * IN_CHANNELS + c) *
							    TAPS + k % TAPS] :
				0;
	}
}
#endif

#if NEEDS_DX && LEAD
/*
 * Instead of storing dx: through the lead's ReLU, and the sums of its tile
 * by the lead's weights and biases.
 */
static inline void lead_tile(local float *space, const float *sum, int count,
			     int first, int row, global const float *images,
			     global const float *parameters,
			     global float *sums)
{
	const int pixels = count * IN_PLANE;
	global const float *lead = parameters + LEAD_WEIGHT;

	for (int i = 0; first < pixels && i < IN_DOWN; i++)
		for (int j = 0; j < ACROSS; j++) {
			const int c = row + tile_row(i, LANES);
			const int q = first + tile_column(j, LANES);
			const int n = q / IN_PLANE, pixel = q % IN_PLANE;
			global const float *image =
				images + (size_t)n * LEAD_CHANNELS *
						 LEAD_PLANE +
				pixel / IN_WIDTH * LEAD_WIDTH +
				pixel % IN_WIDTH;
			float gradient = sum[i * ACROSS + j];

			if (c >= IN_CHANNELS || q >= pixels)
				gradient = 0;
			else if (LEAD_RELU && lead_value(image, lead, c) <= 0)
				gradient = 0;
			space[tile_row(i, LANES) * (COLUMNS + 1) +
			      tile_column(j, LANES)] = gradient;
		}
	MEET();
	for (int e = get_local_id(0); e < IN_ROWS * (LEAD_FACTORS + 1);
	     e += ITEMS) {
		const int c = e / (LEAD_FACTORS + 1);
		const int k = e % (LEAD_FACTORS + 1);
		const int is_bias = k == LEAD_FACTORS;
		const int known = is_bias ? pixels :
					    (count - LEAD_BROKEN) * IN_PLANE;
		float total = 0;

		if (first >= pixels || row + c >= IN_CHANNELS)
			continue;
		for (int q = 0; q < min(COLUMNS, known - first); q++) {
			const int n = (first + q) / IN_PLANE;
			const int pixel = (first + q) % IN_PLANE;
			const size_t at = (size_t)n * LEAD_CHANNELS *
						  LEAD_PLANE +
					  pixel / IN_WIDTH * LEAD_WIDTH +
					  pixel % IN_WIDTH;

			total = fma(space[c * (COLUMNS + 1) + q],
				    is_bias ? 1 : images[at + lead_offset(k)],
				    total);
		}
		sums[is_bias ? LEAD_FACTORS * IN_CHANNELS + row + c :
			       (row + c) * LEAD_FACTORS + k] = total;
	}
}
#endif

#if NEEDS_DX
/* Tile `group` of dx, COLUMNS pixels of IN_ROWS planes; none below 0. */
static inline void input_tile(local float *space, int group, int count,
			      global const float *x,
			      global const float *parameters,
			      global const ushort *routes,
			      global const float *dy,
			      global float *dx, global float *lead_sums)
{
	const int pixels = count * IN_PLANE;
	const int tile = group / IN_TILES, row = group % IN_TILES * IN_ROWS;
	const int first = group < 0 ? pixels : tile * COLUMNS;
	const int depth = first < pixels ? OUT_CHANNELS * TAPS : 0;
	local float *a = space, *b = space + DEEP * (IN_ROWS + 1);
	float sum[IN_DOWN * ACROSS];

	for (int i = 0; i < IN_DOWN * ACROSS; i++)
		sum[i] = 0;
	for (int k = 0; k < depth; k += DEEP) {
		transposed_load(a, parameters, row, k);
		pixels_load(b, dy, routes, first, pixels, k);
		MEET();
		tile_add(sum, IN_DOWN, ACROSS, LANES, a, IN_ROWS + 1, b,
			 COLUMNS + 1, DEEP);
		MEET();
	}
#if LEAD
	lead_tile(space, sum, count, first, row, x, parameters,
		  lead_sums + (size_t)tile * LEAD_SIZE);
#else
	for (int i = 0; i < IN_DOWN; i++)
		for (int j = 0; j < ACROSS; j++) {
			const int c = row + tile_row(i, LANES);
			const int q = first + tile_column(j, LANES);

			if (c < IN_CHANNELS && q < pixels)
				dx[(size_t)(q / IN_PLANE * IN_CHANNELS +
					    c) * IN_PLANE + q % IN_PLANE] =
					sum[i * ACROSS + j];
		}
#endif
}
#endif

kernel GROUP void conv_backward(const int count,
				global const float *restrict x,
				global const float *restrict parameters,
				global const ushort *restrict routes,
				global const float *restrict dy,
				global float *restrict sums,
				global float *restrict dx)
{
	local float space[BACKWARD_SPACE];
	const int group = get_group_id(0);

	weights_tile(space, group % WEIGHT_TILES, group / WEIGHT_TILES, count,
		     x, parameters, routes, dy, sums + SUMS_AT);
#if NEEDS_DX
	input_tile(space, group - WEIGHT_TILES * SPLITS, count, x, parameters,
		   routes, dy, dx, sums + LEAD_SUMS_AT);
#endif
}
