/*
 * If LEAD is 1, the convolution whose output is x: it reads images and has
 * neither pooling nor dropout. It is short, so x is computed wherever it is
 * needed and stays in a near cache. Its weight gradient is computed while dx is
 * near too. Formulas, their order, and the layouts of packed and of the sums
 * are the same as in conv_forward and conv_weights. LEAD_ begins the names of
 * this convolution.
 */
#if LEAD

#define LEAD_TAPS (LEAD_WINDOW * LEAD_WINDOW)
#define LEAD_BIAS (LEAD_TAPS * LEAD_CHANNELS * IN_PADDED)
#define LEAD_SIZE (LEAD_BIAS + IN_PADDED)

static inline void lead_tile(global const float *image,
			     global const float *packed, vec *x)
{
	vec sum[LEAD_COLUMNS][LEAD_TILE];

#pragma unroll
	for (int c = 0; c < LEAD_COLUMNS; c++)
#pragma unroll
		for (int v = 0; v < LEAD_TILE; v++)
			sum[c][v] = LOAD(packed + LEAD_BIAS + v * WIDTH);
#pragma unroll 1
	for (int k = 0; k < LEAD_TAPS * LEAD_CHANNELS; k++) {
		const int tap = k / LEAD_CHANNELS;
		global const float *from =
			image + k % LEAD_CHANNELS * LEAD_CHANNEL +
			tap / LEAD_WINDOW * LEAD_ROW +
			tap % LEAD_WINDOW * LEAD_COLUMN;

#pragma unroll
		for (int c = 0; c < LEAD_COLUMNS; c++)
#pragma unroll
			for (int v = 0; v < LEAD_TILE; v++)
				sum[c][v] = fma(
					(vec)(from[c * LEAD_COLUMN]),
					LOAD(packed + k * IN_PADDED +
					     v * WIDTH), sum[c][v]);
	}
#pragma unroll
	for (int c = 0; c < LEAD_COLUMNS; c++)
#pragma unroll
		for (int v = 0; v < LEAD_TILE; v++)
			x[c * IN_VECTORS + v] = LEAD_RELU ? relu(sum[c][v]) :
							    sum[c][v];
}

/* x of a sample; LEAD_COLUMNS pixels and LEAD_TILE vectors are in registers. */
static inline void sample_enter(global const float *image,
				global const float *packed, vec *x)
{
	for (int i = 0; i < IN_PIXELS / LEAD_COLUMNS * IN_VECTORS;
	     i += LEAD_TILE) {
		const int v = i % IN_VECTORS;
		const int p = i / IN_VECTORS * LEAD_COLUMNS;
		global const float *corner = image + p / IN_WIDTH * LEAD_ROW +
					     p % IN_WIDTH * LEAD_COLUMN;

		lead_tile(corner, packed + v * WIDTH, x + p * IN_VECTORS + v);
	}
}

/* One input channel and LEAD_TILE vectors of outputs; adds to sums and, of the
 * first channel, to biases. */
static inline void lead_add(int first, global const float *image,
			    const vec *x, const vec *dx, global float *sums,
			    global float *biases)
{
	vec sum[LEAD_TAPS][LEAD_TILE], bias[LEAD_TILE];

#pragma unroll
	for (int v = 0; v < LEAD_TILE; v++) {
		bias[v] = 0;
#pragma unroll
		for (int tap = 0; tap < LEAD_TAPS; tap++)
			sum[tap][v] = 0;
	}
	for (int p = 0; p < IN_PIXELS; p++) {
		const int corner = p / IN_WIDTH * LEAD_ROW +
				   p % IN_WIDTH * LEAD_COLUMN;

#pragma unroll
		for (int v = 0; v < LEAD_TILE; v++) {
			vec g = dx[p * IN_VECTORS + v];

			if (LEAD_RELU)
				g = select(g, (vec)(0),
					   x[p * IN_VECTORS + v] <= (vec)(0));
			bias[v] += g;
#pragma unroll
			for (int tap = 0; tap < LEAD_TAPS; tap++)
				sum[tap][v] = fma(
					(vec)(image[corner +
						    tap / LEAD_WINDOW *
							    LEAD_ROW +
						    tap % LEAD_WINDOW *
							    LEAD_COLUMN]),
					g, sum[tap][v]);
		}
	}
#pragma unroll
	for (int v = 0; v < LEAD_TILE; v++) {
		if (first)
			SUM_ADD(bias[v], biases + v * WIDTH);
#pragma unroll
		for (int tap = 0; tap < LEAD_TAPS; tap++)
			SUM_ADD(sum[tap][v],
				sums + v * WIDTH +
					tap * LEAD_CHANNELS * IN_PADDED);
	}
}

static inline void sample_lead(global const float *image, const vec *x,
			       const vec *dx, global float *sums)
{
	for (int i = 0; i < LEAD_CHANNELS; i++)
		for (int v = 0; v < IN_VECTORS; v += LEAD_TILE)
			lead_add(!i, image + i * LEAD_CHANNEL, x + v, dx + v,
				 sums + i * IN_PADDED + v * WIDTH,
				 sums + LEAD_BIAS + v * WIDTH);
}

/* As conv_pack does it. */
static inline void lead_pack(global const float *parameters,
			     global float *packed)
{
	global const float *weight = parameters + LEAD_WEIGHT;

	for (int i = 0; i < LEAD_CHANNELS * LEAD_TAPS; i++)
		for (int o = 0; o < IN_CHANNELS; o++)
			packed[(i % LEAD_TAPS * LEAD_CHANNELS + i / LEAD_TAPS) *
				       IN_PADDED + o] =
				weight[o * LEAD_CHANNELS * LEAD_TAPS + i];
	for (int o = 0; o < IN_CHANNELS; o++)
		packed[LEAD_BIAS + o] = parameters[LEAD_BIAS_AT + o];
}

static inline void lead_place(int i, float value, global float *gradient)
{
	const int row = i / IN_PADDED, o = i % IN_PADDED;
	const int tap = row / LEAD_CHANNELS, input = row % LEAD_CHANNELS;

	if (i >= LEAD_BIAS)
		gradient[LEAD_BIAS_AT + o] = value;
	else
		gradient[LEAD_WEIGHT +
			 (o * LEAD_CHANNELS + input) * LEAD_TAPS + tap] = value;
}

static inline void lead_reduce(global const float *sums,
			       global float *gradient)
{
	for (int i = 0; i < LEAD_SIZE; i++) {
		float sum = 0;

		for (int group = 0; group < GROUPS; group++)
			sum += sums[group * LEAD_SIZE + i];
		lead_place(i, sum, gradient);
	}
}

/* Item b: as of conv_reduce; the last one does all of the other convolution. */
kernel ONE_ITEM void winograd_reduce(const int count,
				     global const float *restrict sums,
				     global const float *restrict lead_sums,
				     global float *restrict gradient)
{
	const int first = get_global_id(0) * REDUCED;

	if (first < SUM_SIZE)
		sums_reduce(first, sums, gradient);
	else
		lead_reduce(lead_sums, gradient);
}

#endif
