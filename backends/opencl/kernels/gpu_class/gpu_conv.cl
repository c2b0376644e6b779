/*
 * What the convolutions of the gpu class share: where a product's factors are.
 *
 *   z[n][o][y][x] = bias[o] + sum over k of weight[o][k] column[k][n][y][x]
 *   column[k = (c, i, j)][n][y][x] = input[n][c][y + i][x + j]
 *
 * is a product of matrices whose second one is never stored. With LEAD the
 * input is what a first convolution makes of the images, and is not stored
 * either, but made again wherever it is needed:
 *
 *   input[n][c][y][x] = relu(lead_bias[c] + sum of lead_weight[c] image)
 */
#define TAPS (WINDOW * WINDOW)
#define FACTORS (IN_CHANNELS * TAPS) /* of a sum */
#define IN_PLANE (IN_HEIGHT * IN_WIDTH)
#define PLANE (OUT_HEIGHT * OUT_WIDTH) /* pooled */
#define POOLED (POOL * POOL)

#define LANES 16 /* of tiles whose columns are positions */
#define ACROSS (COLUMNS / LANES)

/* Sums in the order of the pooling windows that they belong to. */
struct position {
	int sample, y, x;
};

static inline struct position position_of(int window, int place)
{
	const int pixel = window % PLANE;

	return (struct position){
		window / PLANE,
		pixel / OUT_WIDTH * POOL + place / POOL,
		pixel % OUT_WIDTH * POOL + place % POOL,
	};
}

/*
 * Factor k0 + k, where k0 is a multiple of DEEP: if whole channels fill a
 * slice, a loop over k that is unrolled has its divisions done by the compiler.
 */
static inline int factor_channel(int k0, int k)
{
	return DEEP % TAPS ? (k0 + k) / TAPS : k0 / TAPS + k / TAPS;
}

static inline int factor_tap(int k0, int k)
{
	return (DEEP % TAPS ? k0 + k : k) % TAPS;
}

/* From the pixel of a sum to that factor. */
static inline int factor_offset(int k0, int k)
{
	const int tap = factor_tap(k0, k);

	return factor_channel(k0, k) * IN_PLANE + tap / WINDOW * IN_WIDTH +
	       tap % WINDOW;
}

#if LEAD
#define LEAD_TAPS (LEAD_WINDOW * LEAD_WINDOW)
#define LEAD_FACTORS (LEAD_CHANNELS * LEAD_TAPS)
#define LEAD_PLANE (LEAD_HEIGHT * LEAD_WIDTH)
#define LEAD_SIZE ((LEAD_FACTORS + 1) * IN_CHANNELS)

static inline int lead_offset(int k)
{
	return k / LEAD_TAPS * LEAD_PLANE + k % LEAD_TAPS / LEAD_WINDOW *
						    LEAD_WIDTH +
	       k % LEAD_TAPS % LEAD_WINDOW;
}

/* One pixel of channel c; image begins at it; lead is weights, then biases.
 * Everywhere the same bits: a ReLU's decision must be one. */
static inline float lead_value(global const float *image,
			       global const float *lead, int c)
{
	float sum = lead[LEAD_FACTORS * IN_CHANNELS + c];

#pragma unroll
	for (int k = 0; k < LEAD_FACTORS; k++)
		sum = fma(lead[c * LEAD_FACTORS + k], image[lead_offset(k)],
			  sum);
	return LEAD_RELU && sum <= 0 ? 0 : sum;
}

/* Side of what a pooling window reads of a channel. */
#define PATCH (POOL + WINDOW - 1)

/*
 * All columns of a channel that a pooling window has, each pixel made once:
 * column (tap, place) goes to to[tap * by_tap + place * by_place].
 */
static inline void lead_columns(local float *to, int by_tap, int by_place,
				global const float *images,
				global const float *lead, int window, int c,
				int inside)
{
	const struct position at = position_of(window, 0);
	global const float *image = images +
				    (size_t)at.sample * LEAD_CHANNELS *
					    LEAD_PLANE +
				    at.y * LEAD_WIDTH + at.x;

#pragma unroll
	for (int p = 0; p < PATCH * PATCH; p++) {
		const int y = p / PATCH, x = p % PATCH;
		const float value =
			inside ? lead_value(image + y * LEAD_WIDTH + x, lead,
					    c) : 0;

#pragma unroll
		for (int place = 0; place < POOLED; place++) {
			const int i = y - place / POOL, j = x - place % POOL;

			if (i >= 0 && i < WINDOW && j >= 0 && j < WINDOW)
				to[(i * WINDOW + j) * by_tap +
				   place * by_place] = value;
		}
	}
}
#endif
