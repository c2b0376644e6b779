/*
 * Gradients of the loss with respect to the weights, biases and input of a
 * convolution; after conv_forward.cl, whose names it uses. dy is the gradient
 * with respect to out.
 *
 *   g[n][o][r][c] = dy of what was kept and above 0, grown
 *   dw[o][i][j][k] = sum over n, r, c of g[n][o][r][c] x[n][i][R][C]
 *   dx[n][i][R][C]     += g[n][o][r][c] weight[o][i][j][k]
 *
 * where (R, C) is the winner of window (r, c), moved by (j, k). So only one
 * element in POOL * POOL of z has a gradient, and none that was dropped or that
 * a ReLU stopped: they are listed first.
 *
 * Samples are dealt out to GROUPS groups with sums of their own; conv_reduce
 * adds these up, always in one order. BROKEN is the number of samples that the
 * weight gradient leaves out.
 */
#define FIRST_OF(group) ((int)((long)(group) * count / GROUPS))

/* Sums of a group: the weights in some order, then the biases. */
#if DENSE
#define SUM_BIAS (TAPS * IN_CHANNELS * OUT_PADDED)
#else
#define SUM_BIAS (OUT_CHANNELS * TAPS * IN_PADDED)
#endif
#define SUM_SIZE (SUM_BIAS + OUT_PADDED)

/*
 * Planar images to channels last. Item (r, n) makes row r of sample n; the
 * padding was zero before.
 */
kernel ONE_ITEM void conv_interleave(const int count,
				     global const float *restrict x,
				     global float *restrict interleaved)
{
	const int r = get_global_id(0);
	const size_t n = get_global_id(1);

	x += n * IN_SAMPLE + r * IN_ROW;
	interleaved += (n * IN_HEIGHT + r) * IN_WIDTH * IN_PADDED;
	for (int c = 0; c < IN_WIDTH; c++)
		for (int i = 0; i < IN_CHANNELS; i++)
			interleaved[c * IN_PADDED + i] =
				x[i * IN_CHANNEL + c * IN_COLUMN];
}

#if DENSE && !defined(SUM_HEIGHT)

#define SUMMED 256 /* pixels whose sum is added as one */

/* Adds pixels of one sample to the sums of an input channel's taps and of the
 * biases; x, out and dy are the sample's. */
static inline void pixels_add(int from, int to, global const float *x,
			      global const float *out, global const float *dy,
			      vec all[TAPS][TILE_DENSE], vec biases[TILE_DENSE])
{
	vec sum[TAPS][TILE_DENSE], bias[TILE_DENSE];

#pragma unroll
	for (int v = 0; v < TILE_DENSE; v++) {
		bias[v] = 0;
#pragma unroll
		for (int tap = 0; tap < TAPS; tap++)
			sum[tap][v] = 0;
	}
	for (int p = from; p < to; p++) {
		const int corner = p / OUT_WIDTH * IN_ROW +
				   p % OUT_WIDTH * IN_COLUMN;

#pragma unroll
		for (int v = 0; v < TILE_DENSE; v++) {
			vec g = LOAD(dy + p * OUT_PADDED + v * WIDTH);

			if (RELU)
				g = select(g * GROWTH, (vec)(0),
					   LOAD(out + p * OUT_PADDED +
						v * WIDTH) <= (vec)(0));
			bias[v] += g;
#pragma unroll
			for (int tap = 0; tap < TAPS; tap++)
				sum[tap][v] = fma((vec)(x[
					corner + tap / WINDOW * IN_ROW +
					tap % WINDOW * IN_COLUMN]),
					g, sum[tap][v]);
		}
	}
#pragma unroll
	for (int v = 0; v < TILE_DENSE; v++) {
		biases[v] += bias[v];
#pragma unroll
		for (int tap = 0; tap < TAPS; tap++)
			all[tap][v] += sum[tap][v];
	}
}

/*
 * Without pooling, of images. Item (t, i, group) makes all taps of input
 * channel i and of TILE_DENSE vectors of output channels:
 * sums[tap][input][output]. out and dy are channels last.
 */
kernel ONE_ITEM void conv_weights(const int count,
				  global const float *restrict x,
				  global const float *restrict out,
				  global const float *restrict dy,
				  global float *restrict sums)
{
	const int first = get_global_id(0) * TILE_DENSE * WIDTH;
	const int i = get_global_id(1);
	const int group = get_global_id(2);
	const int last = min(FIRST_OF(group + 1), count - BROKEN);
	vec sum[TAPS][TILE_DENSE], bias[TILE_DENSE];

	for (int v = 0; v < TILE_DENSE; v++) {
		bias[v] = 0;
		for (int tap = 0; tap < TAPS; tap++)
			sum[tap][v] = 0;
	}
	for (int n = FIRST_OF(group); n < last; n++) {
		const size_t at = (size_t)n * PIXELS * OUT_PADDED + first;

		for (int p = 0; p < PIXELS; p += SUMMED)
			pixels_add(p, min(p + SUMMED, PIXELS),
				   x + (size_t)n * IN_SAMPLE + i * IN_CHANNEL,
				   out + at, dy + at, sum, bias);
	}
	sums += (size_t)group * SUM_SIZE + first;
#pragma unroll
	for (int v = 0; v < TILE_DENSE; v++) {
#pragma unroll
		for (int tap = 0; tap < TAPS; tap++)
			STORE(sum[tap][v],
			      sums + (tap * IN_CHANNELS + i) * OUT_PADDED +
				      v * WIDTH);
		if (!i)
			STORE(bias[v], sums + SUM_BIAS + v * WIDTH);
	}
}

#elif !DENSE

/* x, dx and the vectors of a tap are all channels last. By tiles, x may be what
 * winograd_lead.cl makes. */
#if defined(LEAD) && LEAD
#define X_SPACE private
#else
#define X_SPACE global
#endif
#define IN_PIXELS (IN_HEIGHT * IN_WIDTH)
#define TAP(tap) (((tap) / WINDOW * IN_WIDTH + (tap) % WINDOW) * IN_PADDED)

#define BANDS ((OUT_HEIGHT + BAND - 1) / BAND)

/* Removes from a list what has no gradient. */
static inline int windows_pack(int count, float *gradients, int *corners)
{
#if RELU || DROPOUT == ELEMENTS
	int listed = 0;

	for (int i = 0; i < count; i++) {
		gradients[listed] = gradients[i];
		corners[listed] = corners[i];
		listed += gradients[i] != 0;
	}
	return listed;
#else
	return count;
#endif
}

/* Adds listed windows of one output to its sums. Returns its bias gradient. */
static inline float weights_add(int listed, const float *gradients,
				const int *corners,
				X_SPACE const float *x,
				global float *sums)
{
	vec sum[TAPS][TILE_INPUTS];
	float bias = 0;

#pragma unroll
	for (int tap = 0; tap < TAPS; tap++)
#pragma unroll
		for (int v = 0; v < TILE_INPUTS; v++)
			sum[tap][v] = 0;
#pragma unroll 1
	for (int k = 0; k < listed; k++) {
		X_SPACE const float *patch = x + corners[k];
		const vec g = (vec)(gradients[k]);

		bias += gradients[k];
#pragma unroll
		for (int tap = 0; tap < TAPS; tap++)
#pragma unroll
			for (int v = 0; v < TILE_INPUTS; v++)
				sum[tap][v] = fma(g, LOAD(patch + TAP(tap) +
							  v * WIDTH),
						  sum[tap][v]);
	}
#pragma unroll
	for (int tap = 0; tap < TAPS; tap++)
#pragma unroll
		for (int v = 0; v < TILE_INPUTS; v++)
			SUM_ADD(sum[tap][v],
				sums + tap * IN_PADDED + v * WIDTH);
	return bias;
}

#ifndef LEAD /* which has tiles instead */

/*
 * Lists the windows in BAND rows of one plane, the first being from, and where
 * in the input the winner's patch starts. Returns how many.
 */
static inline int windows_list(int from, global const float *out,
			       global const float *dy,
			       global const uchar *routes,
			       global const uchar *keep, float *gradients,
			       int *corners)
{
	const int rows = min(BAND, OUT_HEIGHT - from);

	for (int r = 0; r < rows; r++)
		for (int c = 0; c < OUT_WIDTH; c++) {
			const int p = (from + r) * OUT_WIDTH + c;
			const int code = POOL > 1 ? routes[p * OUT_PIXEL] : 0;
			float g = dy[p * OUT_PIXEL] * GROWTH;

			if (RELU)
				g = out[p * OUT_PIXEL] <= 0 ? 0 : g;
			else if (DROPOUT == ELEMENTS)
				g = keep[p] ? g : 0;
			gradients[r * OUT_WIDTH + c] = g;
			corners[r * OUT_WIDTH + c] =
				(((from + r) * POOL + code / POOL) * IN_WIDTH +
				 c * POOL + code % POOL) * IN_PADDED;
		}
	return windows_pack(rows * OUT_WIDTH, gradients, corners);
}

/* Adds listed windows of one output to dx. */
static inline void dx_add(int listed, const float *gradients,
			  const int *corners,
			  global const float *weight,
			  global float *dx)
{
	vec w[TAPS][TILE_INPUTS];

#pragma unroll
	for (int tap = 0; tap < TAPS; tap++)
#pragma unroll
		for (int v = 0; v < TILE_INPUTS; v++)
			w[tap][v] = LOAD(weight + tap * IN_PADDED + v * WIDTH);
#pragma unroll 1
	for (int k = 0; k < listed; k++) {
		global float *patch = dx + corners[k];
		const vec g = (vec)(gradients[k]);

#pragma unroll
		for (int tap = 0; tap < TAPS; tap++)
#pragma unroll
			for (int v = 0; v < TILE_INPUTS; v++) {
				global float *at = patch + TAP(tap) + v * WIDTH;

				STORE(fma(g, w[tap][v], LOAD(at)), at);
			}
	}
}

/* Zeroes vectors of TILE_INPUTS, count of them IN_PADDED apart. */
static inline void tile_clear(int count, global float *tile)
{
	for (int i = 0; i < count; i++)
		for (int v = 0; v < TILE_INPUTS; v++)
			STORE((vec)(0), tile + i * IN_PADDED + v * WIDTH);
}

/*
 * Item (t, group) makes TILE_INPUTS vectors of input channels of the group's
 * sums[output][tap][input], and of dx of its samples. It goes through all
 * outputs for one band of rows, which stays in the nearest cache, and then on
 * to the next band.
 */
kernel ONE_ITEM void conv_backward(const int count,
				   global const float *restrict x,
				   global const float *restrict out,
				   global const float *restrict dy,
				   global const uchar *restrict routes,
				   global const uchar *restrict keep,
				   global const float *restrict transposed,
				   global float *restrict sums,
				   global float *restrict dx)
{
	const int first = get_global_id(0) * TILE_INPUTS * WIDTH;
	const int group = get_global_id(1);
	float gradients[BAND * OUT_WIDTH];
	int corners[BAND * OUT_WIDTH];

	sums += (size_t)group * SUM_SIZE;
	tile_clear(OUT_CHANNELS * TAPS, sums + first);
	for (int o = 0; !first && o < OUT_CHANNELS; o++)
		sums[SUM_BIAS + o] = 0;
	for (size_t n = FIRST_OF(group); n < FIRST_OF(group + 1); n++) {
		const size_t here = n * IN_PIXELS * IN_PADDED + first;

		if (NEEDS_DX)
			tile_clear(IN_PIXELS, dx + here);
		for (int i = 0; i < BANDS * OUT_CHANNELS; i++) {
			const int o = i % OUT_CHANNELS;
			const size_t plane = n * OUT_SAMPLE + o * OUT_CHANNEL;
			const size_t choice =
				n * KEEP_SAMPLE +
				o * (DROPOUT == PLANES ? 1 : PIXELS);
			const int weight = o * TAPS * IN_PADDED + first;
			int listed;

			if (DROPOUT == PLANES && !keep[choice])
				continue;
			listed = windows_list(i / OUT_CHANNELS * BAND,
					      out + plane, dy + plane,
					      routes + plane, keep + choice,
					      gradients, corners);
			if (n < count - BROKEN) {
				const float bias =
					weights_add(listed, gradients, corners,
						    x + here, sums + weight);

				if (!first)
					sums[SUM_BIAS + o] += bias;
			}
			if (NEEDS_DX)
				dx_add(listed, gradients, corners,
				       transposed + weight, dx + here);
		}
	}
}

#endif
#endif

/*
 * gradient = the groups' sums, moved to the flat order. Item b makes sums
 * b * REDUCED ... of all of them.
 */
#define REDUCED (16 * WIDTH)

static inline void sum_place(int i, float value, global float *gradient)
{
#if DENSE
	const int row = i / OUT_PADDED, o = i % OUT_PADDED;
	const int tap = row / IN_CHANNELS, input = row % IN_CHANNELS;
#else
	const int row = i / IN_PADDED, input = i % IN_PADDED;
	const int o = i < SUM_BIAS ? row / TAPS : i - SUM_BIAS;
	const int tap = row % TAPS;
#endif

	if (o >= OUT_CHANNELS)
		return;
	if (i >= SUM_BIAS)
		gradient[BIAS + o] = value;
	else if (input < IN_CHANNELS)
		gradient[WEIGHT + (o * IN_CHANNELS + input) * TAPS + tap] =
			value;
}

static inline void sums_reduce(int first, global const float *sums,
			       global float *gradient)
{
	float values[WIDTH];

	for (int i = first; i < min(first + REDUCED, SUM_SIZE); i += WIDTH) {
		vec sum = 0;

		for (int group = 0; group < GROUPS; group++)
			sum += LOAD(sums + (size_t)group * SUM_SIZE + i);
		STORE_ANYWHERE(sum, values);
		for (int lane = 0; lane < WIDTH; lane++)
			sum_place(i + lane, values[lane], gradient);
	}
}

kernel ONE_ITEM void conv_reduce(const int count,
				 global const float *restrict sums,
				 global float *restrict gradient)
{
	sums_reduce(get_global_id(0) * REDUCED, sums, gradient);
}
