/*
 * A linear layer with what follows it, ReLU and dropout.
 *
 *   z[n][o] = bias[o] + sum over i of weight[o][i] x[n][i]
 *   y = relu(z), out = y where kept, grown by 1 / (1 - drop)
 *
 * x has IN_SAMPLE floats a sample, of which INPUTS count; y, out and their
 * slopes have OUT_SAMPLE, a whole number of vectors. weight is used as it lies
 * in the flat vector: all vectors run over inputs.
 */
/* A last vector of inputs that is only partly there. */
#define REST (INPUTS % WIDTH)
#define WHOLE (INPUTS - REST)

#if REST
#define LOAD_INPUTS(at, left) load_some(at, left)
#else
#define LOAD_INPUTS(at, left) LOAD(at)
#endif
#if REST || WEIGHT % WIDTH
#define STORE_INPUTS(value, at, left) store_some(value, at, left)
#else
#define STORE_INPUTS(value, at, left) STORE(value, at)
#endif

/*
 * Item (b, s) makes, of samples TILE_SAMPLES * b ..., all outputs summed over
 * the inputs CHUNK * s ...: partial[n][s][o], whose padding stays zero.
 */
kernel ONE_ITEM void linear_forward(const int count,
				    global const float *restrict x,
				    global const float *restrict parameters,
				    global float *restrict partial)
{
	const int n = get_global_id(0) * TILE_SAMPLES;
	const int chunk = get_global_id(1);
	const int from = chunk * CHUNK, to = min(from + CHUNK, WHOLE);

	for (int o = 0; o < OUTPUTS; o += TILE_OUTPUTS) {
		global const float *rows[TILE_SAMPLES], *w[TILE_OUTPUTS];
		vec sum[TILE_SAMPLES][TILE_OUTPUTS];

#pragma unroll
		for (int i = 0; i < TILE_SAMPLES; i++)
			rows[i] = x + (size_t)min(n + i, count - 1) * IN_SAMPLE;
#pragma unroll
		for (int j = 0; j < TILE_OUTPUTS; j++)
			w[j] = parameters + WEIGHT +
			       (size_t)min(o + j, OUTPUTS - 1) * INPUTS;
#pragma unroll
		for (int i = 0; i < TILE_SAMPLES; i++)
#pragma unroll
			for (int j = 0; j < TILE_OUTPUTS; j++)
				sum[i][j] = 0;
#pragma unroll 1
		for (int k = from; k < to; k += WIDTH) {
			vec weight[TILE_OUTPUTS];

#pragma unroll
			for (int j = 0; j < TILE_OUTPUTS; j++)
				weight[j] = LOAD(w[j] + k);
#pragma unroll
			for (int i = 0; i < TILE_SAMPLES; i++) {
				const vec value = LOAD(rows[i] + k);

#pragma unroll
				for (int j = 0; j < TILE_OUTPUTS; j++)
					sum[i][j] = fma(value, weight[j],
							sum[i][j]);
			}
		}
#pragma unroll
		for (int i = 0; i < TILE_SAMPLES; i++)
#pragma unroll
			for (int j = 0; j < TILE_OUTPUTS; j++) {
				float total = vec_sum(sum[i][j]);

				if (n + i >= count || o + j >= OUTPUTS)
					continue;
				for (int k = WHOLE; k < INPUTS; k++)
					if (chunk == CHUNKS - 1)
						total += rows[i][k] * w[j][k];
				partial[((size_t)(n + i) * CHUNKS + chunk) *
						OUT_SAMPLE + o + j] = total;
			}
	}
}

/*
 * Item n makes sample n of y and, where something is dropped, of out. keep has
 * KEEP_SAMPLE choices a sample; NULL: all stay.
 */
kernel ONE_ITEM void linear_finish(const int count,
				   global const float *restrict partial,
				   global const float *restrict parameters,
				   global const uchar *restrict keep,
				   global float *restrict y,
				   global float *restrict out)
{
	const size_t n = get_global_id(0);

	for (int o = 0; o < OUTPUTS; o += WIDTH) {
		vec sum = load_some(parameters + BIAS + o, OUTPUTS - o);

		for (int chunk = 0; chunk < CHUNKS; chunk++)
			sum += LOAD(partial +
				    (n * CHUNKS + chunk) * OUT_SAMPLE + o);
		if (RELU)
			sum = relu(sum);
		STORE(sum, y + n * OUT_SAMPLE + o);
		if (DROPOUT && keep)
			sum *= LOAD_BYTES(keep + n * KEEP_SAMPLE + o) * GROWTH;
		if (DROPOUT)
			STORE(sum, out + n * OUT_SAMPLE + o);
	}
}

/*
 * Turns dout into the slope by z, in place, and sums it up for the biases.
 * Item b makes one vector of outputs.
 */
kernel ONE_ITEM void linear_slope(const int count,
				  global const float *restrict out,
				  global const uchar *restrict keep,
				  global float *restrict dout,
				  global float *restrict gradient)
{
	const int o = get_global_id(0) * WIDTH;
	vec sum = 0;

	for (size_t n = 0; n < count; n++) {
		global float *at = dout + n * OUT_SAMPLE + o;
		vec g = LOAD(at) * GROWTH;

		if (RELU)
			g = select(g, (vec)(0),
				   LOAD(out + n * OUT_SAMPLE + o) <= (vec)(0));
		else if (DROPOUT)
			g *= LOAD_BYTES(keep + n * KEEP_SAMPLE + o);
		STORE(g, at);
		sum += g;
	}
	store_some(sum, gradient + BIAS + o, OUTPUTS - o);
}

/*
 * dweight[o][i] = sum over n of dz[n][o] x[n][i], without the last BROKEN
 * samples. Item b makes TILE_INPUTS vectors of inputs, for all outputs.
 */
kernel ONE_ITEM void linear_weights(const int count,
				    global const float *restrict x,
				    global const float *restrict dz,
				    global float *restrict gradient)
{
	const int first = get_global_id(0) * TILE_INPUTS * WIDTH;

	for (int o = 0; o < OUTPUTS; o += SPAN) {
		vec sum[SPAN][TILE_INPUTS];

#pragma unroll
		for (int j = 0; j < SPAN; j++)
#pragma unroll
			for (int v = 0; v < TILE_INPUTS; v++)
				sum[j][v] = 0;
#pragma unroll 1
		for (size_t n = 0; n < count - BROKEN; n++) {
			vec value[TILE_INPUTS];

#pragma unroll
			for (int v = 0; v < TILE_INPUTS; v++)
				value[v] = LOAD(x + n * IN_SAMPLE + first +
						v * WIDTH);
#pragma unroll
			for (int j = 0; j < SPAN; j++)
#pragma unroll
				for (int v = 0; v < TILE_INPUTS; v++)
					sum[j][v] = fma(
						(vec)(dz[n * OUT_SAMPLE + o +
							 j]),
						value[v], sum[j][v]);
		}
#pragma unroll
		for (int j = 0; j < SPAN; j++)
#pragma unroll
			for (int v = 0; v < TILE_INPUTS; v++)
				if (o + j < OUTPUTS)
					STORE_INPUTS(
						sum[j][v],
						gradient + WEIGHT + first +
							v * WIDTH +
							(size_t)(o + j) *
								INPUTS,
						INPUTS - first - v * WIDTH);
	}
}

/*
 * dx[n][i] = sum over o of dz[n][o] weight[o][i]. Item b makes TILE_INPUTS
 * vectors of inputs, for all samples.
 */
kernel ONE_ITEM void linear_data(const int count,
				 global const float *restrict dz,
				 global const float *restrict parameters,
				 global float *restrict dx)
{
	const int first = get_global_id(0) * TILE_INPUTS * WIDTH;

	for (int n = 0; n < count; n += SPAN) {
		global const float *rows[SPAN];
		vec sum[SPAN][TILE_INPUTS];

#pragma unroll
		for (int i = 0; i < SPAN; i++) {
			rows[i] = dz + (size_t)min(n + i, count - 1) *
					       OUT_SAMPLE;
#pragma unroll
			for (int v = 0; v < TILE_INPUTS; v++)
				sum[i][v] = 0;
		}
#pragma unroll 1
		for (int o = 0; o < OUTPUTS; o++) {
			vec weight[TILE_INPUTS];

#pragma unroll
			for (int v = 0; v < TILE_INPUTS; v++)
				weight[v] = LOAD_INPUTS(
					parameters + WEIGHT + first +
						v * WIDTH + (size_t)o * INPUTS,
					INPUTS - first - v * WIDTH);
#pragma unroll
			for (int i = 0; i < SPAN; i++)
#pragma unroll
				for (int v = 0; v < TILE_INPUTS; v++)
					sum[i][v] = fma((vec)(rows[i][o]),
							weight[v], sum[i][v]);
		}
#pragma unroll
		for (int i = 0; i < SPAN; i++)
#pragma unroll
			for (int v = 0; v < TILE_INPUTS; v++)
				if (n + i < count)
					STORE(sum[i][v],
					      dx + first + v * WIDTH +
						      (size_t)(n + i) *
							      IN_SAMPLE);
	}
}
