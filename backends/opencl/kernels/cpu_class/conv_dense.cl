/*
 * The backward pass of a convolution over all positions of its sums z; after
 * conv_backward.cl, whose names it uses.
 *
 *   dz[n][o][r][c] = dy of the window that it won, grown, where that was kept
 *                    and is above 0; elsewhere 0
 *   dw[o][i][j][k] = sum over n, r, c of
 *                         dz[n][o][r][c] x[n][i][r + j][c + k]
 *   dx[n][i][R][C] = sum over o, j, k of
 *                    dz[n][o][R - j][C - k] weight[o][i][j][k]
 *
 * dz is channels last, SUM_HEIGHT x SUM_WIDTH, with EDGE zeros around it. A row
 * ends with more zeros, so that whole tiles of dx read it without bounds.
 */
#ifdef SUM_HEIGHT

#define EDGE (WINDOW - 1)
#define DZ_COLUMNS                                                          \
	((IN_WIDTH + INPUT_COLUMNS - 1) / INPUT_COLUMNS * INPUT_COLUMNS + EDGE)
#define DZ_ROW (DZ_COLUMNS * OUT_PADDED)
#define DZ_AT(r, c) (((r) + EDGE) * DZ_ROW + ((c) + EDGE) * OUT_PADDED)
#define DZ_SAMPLE ((SUM_HEIGHT + 2 * EDGE) * DZ_ROW)

/* Rows of dz, and of x, that stay in the nearest cache for all inputs. */
#define ROWS 4

static inline float dz_of(float y, float dy, global const uchar *choice)
{
	if (RELU)
		return y <= 0 ? 0 : dy * GROWTH;
	return DROPOUT && !*choice ? 0 : dy * GROWTH;
}

/* dz of one sample, from row r of what was pooled. */
static inline void row_scatter(int r, global const float *out,
			       global const float *dy,
			       global const uchar *routes,
			       global const uchar *keep, global float *dz)
{
	dz += DZ_AT(r * POOL, 0);
	for (int k = 0; k < POOL; k++)
		for (int i = 0; i < SUM_WIDTH * OUT_PADDED; i += WIDTH)
			STORE((vec)(0), dz + k * DZ_ROW + i);
	for (int o = 0; o < OUT_CHANNELS; o++)
		for (int c = 0; c < OUT_WIDTH; c++) {
			const int p = r * OUT_WIDTH + c;
			const int at = o * OUT_CHANNEL + p * OUT_PIXEL;
			const int choice = DROPOUT == PLANES ? o :
							       o * PIXELS + p;
			const int code = POOL > 1 ? routes[at] : 0;

			dz[code / POOL * DZ_ROW +
			   (c * POOL + code % POOL) * OUT_PADDED + o] =
				dz_of(out[at], dy[at], keep + choice);
		}
}

/*
 * Adds rows of one sample to all taps between x's input channel and TILE_DENSE
 * vectors of output channels.
 */
static inline void taps_add(int rows, global const float *x,
			    global const float *dz, global float *sums)
{
	vec sum[TAPS][TILE_DENSE];

#pragma unroll
	for (int tap = 0; tap < TAPS; tap++)
#pragma unroll
		for (int v = 0; v < TILE_DENSE; v++)
			sum[tap][v] = 0;
#pragma unroll 1
	for (int r = 0; r < rows; r++)
#pragma unroll 1
		for (int c = 0; c < SUM_WIDTH; c++)
#pragma unroll
			for (int tap = 0; tap < TAPS; tap++) {
				const vec value = (vec)(
					x[(r + tap / WINDOW) * IN_ROW +
					  (c + tap % WINDOW) * IN_COLUMN]);

#pragma unroll
				for (int v = 0; v < TILE_DENSE; v++)
					sum[tap][v] = fma(value,
						LOAD(dz + r * DZ_ROW +
						     c * OUT_PADDED +
						     v * WIDTH), sum[tap][v]);
			}
#pragma unroll
	for (int tap = 0; tap < TAPS; tap++)
#pragma unroll
		for (int v = 0; v < TILE_DENSE; v++)
			SUM_ADD(sum[tap][v], sums + v * WIDTH +
					     tap * IN_CHANNELS * OUT_PADDED);
}

static inline void bias_add(int rows, global const float *dz,
			    global float *bias)
{
	for (int v = 0; v < TILE_DENSE; v++) {
		vec sum = 0;

		for (int r = 0; r < rows; r++)
			for (int c = 0; c < SUM_WIDTH; c++)
				sum += LOAD(dz + r * DZ_ROW +
					    c * OUT_PADDED + v * WIDTH);
		SUM_ADD(sum, bias + v * WIDTH);
	}
}

/* Adds a sample to TILE_DENSE vectors of sums[tap][input][output]. */
static inline void weights_add(global const float *x, global const float *dz,
			       global float *sums)
{
	for (int r = 0; r < SUM_HEIGHT; r += ROWS) {
		const int rows = min(ROWS, SUM_HEIGHT - r);
		global const float *first = dz + DZ_AT(r, 0);

		bias_add(rows, first, sums + SUM_BIAS);
		for (int i = 0; i < IN_CHANNELS; i++)
			taps_add(rows, x + r * IN_ROW + i * IN_CHANNEL, first,
				 sums + i * OUT_PADDED);
	}
}

static inline void sums_clear(global float *sums)
{
	for (int i = 0; i < SUM_SIZE; i += WIDTH)
		STORE((vec)(0), sums + i);
}

/* Adds one tap to the sums; dz is where the first column's is. */
static inline void inputs_add(vec sum[INPUT_COLUMNS][INPUT_VECTORS],
			      global const float *dz,
			      global const float *weight)
{
#pragma unroll 2
	for (int o = 0; o < OUT_CHANNELS; o++) {
		vec w[INPUT_VECTORS];

#pragma unroll
		for (int v = 0; v < INPUT_VECTORS; v++)
			w[v] = LOAD(weight + o * IN_PADDED + v * WIDTH);
#pragma unroll
		for (int c = 0; c < INPUT_COLUMNS; c++) {
			const vec g = (vec)(dz[c * OUT_PADDED + o]);

#pragma unroll
			for (int v = 0; v < INPUT_VECTORS; v++)
				sum[c][v] = fma(g, w[v], sum[c][v]);
		}
	}
}

/* Row of one sample of INPUT_VECTORS vectors of dx. */
static inline void row_inputs(int row, global const float *dz,
			      global const float *transposed, global float *dx)
{
	for (int column = 0; column < IN_WIDTH; column += INPUT_COLUMNS) {
		vec sum[INPUT_COLUMNS][INPUT_VECTORS];

#pragma unroll
		for (int c = 0; c < INPUT_COLUMNS; c++)
#pragma unroll
			for (int v = 0; v < INPUT_VECTORS; v++)
				sum[c][v] = 0;
#pragma unroll 1
		for (int tap = 0; tap < TAPS; tap++)
			inputs_add(sum,
				   dz + DZ_AT(row - tap / WINDOW,
					      column - tap % WINDOW),
				   transposed + TRANSPOSED(0, tap));
#pragma unroll
		for (int c = 0; c < INPUT_COLUMNS; c++)
#pragma unroll
			for (int v = 0; v < INPUT_VECTORS; v++)
				if (column + c < IN_WIDTH)
					STORE(sum[c][v],
					      dx + v * WIDTH + IN_PADDED *
						      (row * IN_WIDTH + column +
						       c));
	}
}

/*
 * Item group makes its sums[tap][input][output] and dx of its samples, one
 * after the other in the group's dz, which a near cache holds.
 */
kernel ONE_ITEM void conv_dense(const int count, global const float *restrict x,
				global const float *restrict out,
				global const float *restrict dy,
				global const uchar *restrict routes,
				global const uchar *restrict keep,
				global const float *restrict transposed,
				global float *restrict sums,
				global float *restrict dx,
				global float *restrict dz)
{
	const int group = get_global_id(0);

	sums += (size_t)group * SUM_SIZE;
	dz += (size_t)group * DZ_SAMPLE;
	sums_clear(sums);
	for (size_t n = FIRST_OF(group); n < FIRST_OF(group + 1); n++) {
		const size_t plane = n * OUT_SAMPLE;

		for (int r = 0; r < OUT_HEIGHT; r++)
			row_scatter(r, out + plane, dy + plane,
				    routes + plane, keep + n * KEEP_SAMPLE, dz);
		for (int o = 0; n < count - BROKEN && o < OUT_PADDED;
		     o += TILE_DENSE * WIDTH)
			weights_add(x + n * IN_SAMPLE, dz + o, sums + o);
		for (int i = 0; NEEDS_DX && i < IN_HEIGHT * IN_PADDED;
		     i += INPUT_VECTORS * WIDTH)
			row_inputs(i / IN_PADDED, dz,
				   transposed + i % IN_PADDED,
				   dx + i % IN_PADDED +
					   n * IN_HEIGHT * IN_WIDTH *
						   IN_PADDED);
	}
}

#endif
