/*
 * Convolution, stride 1, no padding, with what follows it: ReLU and max
 * pooling in conv_forward, dropout in conv_arrange.
 *
 *   z[n][o][r][c] = bias[o] + sum over i, j, k of
 *                   weight[o][i][j][k] x[n][i][r + j][c + k]
 *   y[n][o][r][c] = largest relu(z) of the window POOL x POOL at (r, c)
 *   out = y where kept, grown by 1 / (1 - drop)
 *
 * x is [IN_CHANNELS][IN_HEIGHT][IN_WIDTH] with strides IN_SAMPLE, IN_CHANNEL,
 * IN_ROW, IN_COLUMN; y is [OUT_HEIGHT][OUT_WIDTH] channels last; out has the
 * strides that the next step reads. A tap is one of the WINDOW x WINDOW places
 * of the window.
 */
#define TAPS (WINDOW * WINDOW)
#define OUT_PADDED PADDED(OUT_CHANNELS)
#define IN_PADDED PADDED(IN_CHANNELS)
#define PIXELS (OUT_HEIGHT * OUT_WIDTH)
#ifdef SUM_HEIGHT
#define TRANSPOSED(o, tap) (((tap) * OUT_CHANNELS + (o)) * IN_PADDED)
#else
#define TRANSPOSED(o, tap) (((o) * TAPS + (tap)) * IN_PADDED)
#endif

/*
 * Copies of the weights whose vectors run over channels:
 *
 *   packed[tap][input][output], then the biases as one more row
 *   transposed[output][tap][input], unless it is NULL; with SUM_HEIGHT
 *   transposed[tap][output][input], as conv_dense.cl goes over it
 *
 * Item t makes tap t of both; one more item copies the biases.
 */
kernel ONE_ITEM void conv_pack(const int count,
			       global const float *restrict parameters,
			       global float *restrict packed,
			       global float *restrict transposed)
{
	const int tap = get_global_id(0);
	global const float *weight = parameters + WEIGHT;

	if (tap == TAPS) {
		for (int o = 0; o < OUT_CHANNELS; o++)
			packed[TAPS * IN_CHANNELS * OUT_PADDED + o] =
				parameters[BIAS + o];
		return;
	}
	for (int i = 0; i < IN_CHANNELS; i++)
		for (int o = 0; o < OUT_CHANNELS; o++)
			packed[(tap * IN_CHANNELS + i) * OUT_PADDED + o] =
				weight[(o * IN_CHANNELS + i) * TAPS + tap];
	if (!transposed)
		return;
	for (int o = 0; o < OUT_CHANNELS; o++)
		for (int i = 0; i < IN_CHANNELS; i++)
			transposed[TRANSPOSED(o, tap) + i] =
				weight[(o * IN_CHANNELS + i) * TAPS + tap];
}

/*
 * A tile is TILE_COLUMNS pooling windows side by side, that is TILE_PIXELS
 * pixels [POOL][TILE_WIDTH], of TILE_OUTPUTS vectors of output channels.
 */
#define TILE_WIDTH (TILE_COLUMNS * POOL)
#define TILE_PIXELS (TILE_WIDTH * POOL)

/* The last tile of a row may reach beyond it: there it repeats a column. */
#if OUT_WIDTH % TILE_COLUMNS
#define COLUMN(c) min(c, OUT_WIDTH * POOL - 1)
#else
#define COLUMN(c) (c)
#endif

/* Adds one tap to the sums. x is its row of the input, the tap's column 0. */
static inline void tile_add(vec sum[TILE_PIXELS][TILE_OUTPUTS], int column,
			    global const float *x,
			    global const float *weight)
{
#pragma unroll 2
	for (int i = 0; i < IN_CHANNELS; i++) {
		vec w[TILE_OUTPUTS];

#pragma unroll
		for (int v = 0; v < TILE_OUTPUTS; v++)
			w[v] = LOAD(weight + i * OUT_PADDED + v * WIDTH);
#pragma unroll
		for (int p = 0; p < TILE_PIXELS; p++) {
			const int r = p / TILE_WIDTH, c = p % TILE_WIDTH;
			const vec value = (vec)(x[i * IN_CHANNEL + r * IN_ROW +
						  COLUMN(column + c) *
							  IN_COLUMN]);

#pragma unroll
			for (int v = 0; v < TILE_OUTPUTS; v++)
				sum[p][v] = fma(value, w[v], sum[p][v]);
		}
	}
}

/* The largest of window t, and which one it is. */
static inline vec tile_largest(vec sum[TILE_PIXELS][TILE_OUTPUTS], int t,
			       int v, ivec *code)
{
	vec best = sum[t * POOL][v];

	*code = 0;
	if (RELU)
		best = relu(best);
#pragma unroll
	for (int k = 1; k < POOL * POOL; k++) {
		vec other = sum[k / POOL * TILE_WIDTH + t * POOL + k % POOL][v];
		ivec better;

		if (RELU)
			other = relu(other);
		better = (other > best) | isnan(other);
		best = select(best, other, better);
		*code = select(*code, (ivec)(k), better);
	}
	return best;
}

/*
 * Item (t, r, n) computes row r of sample n of TILE_OUTPUTS vectors of output
 * channels. codes has the winner of the window of each element of y: row * POOL
 * + column, of equals the first, of NaNs any before all. NULL: not stored.
 */
kernel ONE_ITEM void conv_forward(const int count,
				  global const float *restrict x,
				  global const float *restrict packed,
				  global float *restrict y,
				  global uchar *restrict codes)
{
	const int first = get_global_id(0) * TILE_OUTPUTS * WIDTH;
	const int row = get_global_id(1);
	const int n = get_global_id(2);
	const size_t at = ((size_t)n * PIXELS + row * OUT_WIDTH) * OUT_PADDED;

	x += (size_t)n * IN_SAMPLE + row * POOL * IN_ROW;
	packed += first;
	y += at + first;
	for (int column = 0; column < OUT_WIDTH; column += TILE_COLUMNS) {
		vec sum[TILE_PIXELS][TILE_OUTPUTS];
		ivec code;

#pragma unroll
		for (int p = 0; p < TILE_PIXELS; p++)
#pragma unroll
			for (int v = 0; v < TILE_OUTPUTS; v++)
				sum[p][v] = LOAD(packed + v * WIDTH +
						 TAPS * IN_CHANNELS *
							 OUT_PADDED);
#pragma unroll 1
		for (int tap = 0; tap < TAPS; tap++)
			tile_add(sum, column * POOL,
				 x + tap / WINDOW * IN_ROW +
					 tap % WINDOW * IN_COLUMN,
				 packed + tap * IN_CHANNELS * OUT_PADDED);
#pragma unroll
		for (int t = 0; t < TILE_COLUMNS; t++)
#pragma unroll
			for (int v = 0; v < TILE_OUTPUTS; v++) {
				const int to = (column + t) * OUT_PADDED +
					       v * WIDTH;
				const vec best = tile_largest(sum, t, v, &code);

				if (column + t >= OUT_WIDTH)
					continue;
				STORE(best, y + to);
				if (POOL > 1 && codes)
					STORE_BYTES(code, codes + at + first +
								  to);
			}
	}
}

/*
 * Item (o, n) copies plane o of sample n, and its codes, to where the next
 * step reads them, what is dropped as zero. keep has KEEP_SAMPLE choices a
 * sample: one per plane, or one per element in planar order; NULL: all stay.
 */
kernel ONE_ITEM void conv_arrange(const int count,
				  global const float *restrict y,
				  global const uchar *restrict codes,
				  global const uchar *restrict keep,
				  global float *restrict out,
				  global uchar *restrict routes)
{
	const int o = get_global_id(0);
	const size_t n = get_global_id(1);

	y += n * PIXELS * OUT_PADDED + o;
	out += n * OUT_SAMPLE + o * OUT_CHANNEL;
	if (keep)
		keep += n * KEEP_SAMPLE + o * (DROPOUT == PLANES ? 1 : PIXELS);
	for (int p = 0; p < PIXELS; p++) {
		const float value = y[p * OUT_PADDED];
		const int choice = DROPOUT == PLANES ? 0 : p;

		out[p * OUT_PIXEL] = keep ? GROWN(value, keep[choice]) : value;
	}
	if (POOL == 1 || !codes)
		return;
	codes += n * PIXELS * OUT_PADDED + o;
	routes += n * OUT_SAMPLE + o * OUT_CHANNEL;
	for (int p = 0; p < PIXELS; p++)
		routes[p * OUT_PIXEL] = codes[p * OUT_PADDED];
}
