/*
 * A convolution forward, with what follows it: ReLU, max pooling, dropout.
 *
 *   y[n][o][window] = max over the window of relu(z)
 *   output = y where kept, grown by 1 / (1 - drop), else 0
 *
 * Group (t, r) makes OUT_ROWS planes of TILE_WINDOWS pooling windows. Columns
 * of its tile are the first places of all of them, then the second ones ...: so
 * neighbouring items, which have neighbouring windows, are on different banks.
 */
#define TILE_WINDOWS (COLUMNS / POOLED)
#define OUT_DOWN (OUT_ROWS * LANES / ITEMS)
#define FORWARD_SPACE \
	MOST(DEEP * (OUT_ROWS + COLUMNS + 2), OUT_ROWS * COLUMNS)

#if FORWARD_SPACE > LOCAL_FLOATS
#error "local memory has no room for the tiles of conv_forward"
#endif

static inline void columns_load(local float *to, global const float *x,
				global const float *parameters, int first,
				int windows, int k0)
{
#if LEAD
	const int channels = min(DEEP / TAPS, IN_CHANNELS - k0 / TAPS);

	for (int e = get_local_id(0); e < DEEP / TAPS * TILE_WINDOWS;
	     e += ITEMS) {
		const int c = e / TILE_WINDOWS, w = e % TILE_WINDOWS;

		lead_columns(to + c * TAPS * (COLUMNS + 1) + w,
			     COLUMNS + 1, TILE_WINDOWS, x,
			     parameters + LEAD_WEIGHT, first + w, k0 / TAPS + c,
			     c < channels && first + w < windows);
	}
#else
	for (int e = get_local_id(0); e < COLUMNS; e += ITEMS) {
		const int w = e % TILE_WINDOWS, place = e / TILE_WINDOWS;
		const int inside = place < POOLED && first + w < windows;
		const struct position at = position_of(first + w, place);
		const size_t from = (size_t)at.sample * IN_CHANNELS * IN_PLANE +
				    at.y * IN_WIDTH + at.x;

#pragma unroll
		for (int k = 0; k < DEEP; k++)
			to[k * (COLUMNS + 1) + e] =
				inside && k0 + k < FACTORS ?
					x[from + factor_offset(k0, k)] : 0;
	}
#endif
}

/* A NaN wins, then the first of the largest; z has the window's first sum. */
static inline void window_finish(local const float *z, float bias, size_t at,
				 int kept, global float *output,
				 global ushort *routes)
{
	const float growth = routes ? GROWTH : 1;
	float best = 0;
	int route = 0;

	for (int place = 0; place < POOLED; place++) {
		float value = z[place * TILE_WINDOWS] + bias;

		if (RELU && value <= 0)
			value = 0;
		if (place && (isnan(best) || value <= best))
			continue;
		best = value;
		route = place;
	}
	if (RELU && best <= 0)
		route |= STOPPED;
	if (!kept)
		route |= DROPPED;
	output[at] = kept ? best * growth : 0;
	if (routes)
		routes[at] = route;
}

/*
 * routes: NULL where nothing is dropped, in a test. lead: NULL, or where to
 * leave the parameters of a first convolution, from which lead_remake makes it
 * again.
 */
kernel GROUP void conv_forward(const int count, const int global_count,
			       const uint step, const int place,
			       const int stride, global const float *restrict x,
			       global const float *restrict parameters,
			       global float *restrict output,
			       global ushort *restrict routes,
			       global float *restrict lead,
			       const uint seed_low, const uint seed_high)
{
	local float space[FORWARD_SPACE];
	local float *a = space, *b = space + DEEP * (OUT_ROWS + 1);
	const int windows = count * PLANE;
	const int first = get_group_id(0) * TILE_WINDOWS;
	const int row = get_group_id(1) * OUT_ROWS;
	const int depth = first < windows ? FACTORS : 0;
	float sum[OUT_DOWN * ACROSS];

#if LEAD
	for (int e = get_local_id(0); lead && !first && e < LEAD_SIZE;
	     e += ITEMS)
		lead[e] = parameters[LEAD_WEIGHT + e];
#endif
	for (int i = 0; i < OUT_DOWN * ACROSS; i++)
		sum[i] = 0;
	for (int k = 0; k < depth; k += DEEP) {
		tile_load(a, OUT_ROWS,
			  parameters + WEIGHT + (size_t)row * FACTORS + k,
			  FACTORS, 1, OUT_CHANNELS - row, FACTORS - k);
		columns_load(b, x, parameters, first, windows, k);
		MEET();
		tile_add(sum, OUT_DOWN, ACROSS, LANES, a, OUT_ROWS + 1, b,
			 COLUMNS + 1, DEEP);
		MEET();
	}
	for (int i = 0; i < OUT_DOWN; i++)
		for (int j = 0; j < ACROSS; j++)
			space[tile_row(i, LANES) * COLUMNS +
			      tile_column(j, LANES)] = sum[i * ACROSS + j];
	MEET();
	for (int e = get_local_id(0); e < OUT_ROWS * TILE_WINDOWS; e += ITEMS) {
		const int o = row + e / TILE_WINDOWS;
		const int window = first + e % TILE_WINDOWS;
		const int n = window / PLANE, pixel = window % PLANE;

		if (o >= OUT_CHANNELS || window >= windows)
			continue;
		window_finish(space + e / TILE_WINDOWS * COLUMNS +
				      e % TILE_WINDOWS,
			      parameters[BIAS + o],
			      ((size_t)n * OUT_CHANNELS + o) * PLANE + pixel,
			      !DROPOUT || !routes ||
				      is_kept(DROPOUT == PLANES ?
						      o : o * PLANE + pixel,
					      place + stride * n, step,
					      seed_low, seed_high),
			      output, routes);
	}
}

#if LEAD
/* Items make y[n][c][row][column], the output of the lead. */
kernel GROUP void lead_remake(const int count,
			      global const float *restrict images,
			      global const float *restrict lead,
			      global float *restrict y)
{
	const int at = get_global_id(0);
	const int plane = at / IN_PLANE, pixel = at % IN_PLANE;
	const int n = plane / IN_CHANNELS;

	if (n < count)
		y[at] = lead_value(images + (size_t)n * LEAD_CHANNELS *
						    LEAD_PLANE +
					   pixel / IN_WIDTH * LEAD_WIDTH +
					   pixel % IN_WIDTH,
				   lead, plane % IN_CHANNELS);
}
#endif
