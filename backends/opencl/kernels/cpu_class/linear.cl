/*
 * A linear layer with what follows it, ReLU and dropout.
 *
 *   z[n][o] = bias[o] + sum over i of weight[o][i] x[n][i]
 *   y = relu(z), out = y where kept, grown by 1 / (1 - drop)
 *
 * x has IN_SAMPLE floats per sample; the first INPUTS are read. y, out and dy,
 * the gradient with respect to out, have OUT_SAMPLE, a whole number of vectors.
 * weight is read from the flat vector: backward, all vectors run over inputs.
 */
/* A last vector of inputs that is only partly there. */
#define REST (INPUTS % WIDTH)

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
 * Lists the non-zeros of dz by outputs: dropout and ReLU leave few of them. If
 * the layer has neither, dy is read as it is. With DENSE, zeros are listed too,
 * and all of dz is also listed by samples.
 *
 *   places[n][k], values[n][k] = outputs of sample n and their dz
 *   places[o][k], values[o][k] = samples of output o and their dz
 *
 * The counts are at k = -1. One vector holds first SAMPLE_LISTS lists of
 * samples (0 without DENSE) of length SAMPLE_LIST, then the lists of outputs of
 * length OUTPUT_LIST, whose first LIST entries are not their own. An item makes
 * a list. The item of an output also sums up the gradient of its bias.
 */
#define SUMMED 1024 /* samples whose sum is added as one */
#define SAMPLE_AT(n) ((size_t)(n) * SAMPLE_LIST + LIST)
#define OUTPUT_AT(o) \
	((size_t)SAMPLE_LISTS * SAMPLE_LIST + (size_t)(o) * OUTPUT_LIST + LIST)

static inline float dz_of(size_t at, int choice,
			  global const float *out,
			  global const float *dy,
			  global const uchar *keep)
{
	if (RELU)
		return out[at] <= 0 ? 0 : dy[at] * GROWTH;
	return DROPOUT && !keep[choice] ? 0 : dy[at] * GROWTH;
}

kernel ONE_ITEM void linear_lists(const int count,
				  global const float *restrict out,
				  global const uchar *restrict keep,
				  global const float *restrict dy,
				  global int *restrict places,
				  global float *restrict values,
				  global float *restrict gradient)
{
	const int item = get_global_id(0);
	const int by_sample = item < SAMPLE_LISTS;
	const int entries = by_sample ? OUTPUTS : count;
	int listed = 0;
	float sum = 0, part = 0;

	if (by_sample && item >= count)
		return;
	places += by_sample ? SAMPLE_AT(item) : OUTPUT_AT(item - SAMPLE_LISTS);
	values += by_sample ? SAMPLE_AT(item) : OUTPUT_AT(item - SAMPLE_LISTS);
	for (int k = 0; k < entries; k++) {
		const int n = by_sample ? item : k;
		const int o = by_sample ? k : item - SAMPLE_LISTS;
		const float g = dz_of((size_t)n * OUT_SAMPLE + o,
				      n * KEEP_SAMPLE + o, out, dy, keep);

		places[listed] = k;
		values[listed] = g;
		listed += DENSE || g != 0;
		part += g;
		if (k % SUMMED == SUMMED - 1) {
			sum += part;
			part = 0;
		}
	}
	places[-1] = listed;
	if (!by_sample)
		gradient[BIAS + item - SAMPLE_LISTS] = sum + part;
}

#define LISTED (RELU || DROPOUT)

static inline float dbias_of(int count, global const float *dy)
{
	float sum = 0;

	for (int first = 0; first < count; first += SUMMED) {
		const int end = min(first + SUMMED, count);
		float part = 0;

		for (int n = first; n < end; n++)
			part += dy[(size_t)n * OUT_SAMPLE];
		sum += part;
	}
	return sum;
}

/* Loads a block of a row of weights, or of its gradient, that has `left` more
 * inputs. */
static inline void block_load(global const float *from, int left,
			      vec weights[BLOCK])
{
#pragma unroll
	for (int v = 0; v < BLOCK; v++)
		weights[v] = LOAD_INPUTS(from + v * WIDTH, left - v * WIDTH);
}

static inline void block_store(const vec sum[BLOCK], global float *to,
			       int left)
{
#pragma unroll
	for (int v = 0; v < BLOCK; v++)
		STORE_INPUTS(sum[v], to + v * WIDTH, left - v * WIDTH);
}

/* What a sample adds to BLOCK vectors of the sums of an output. */
static inline void sample_add(vec g, global const float *x, vec sum[BLOCK])
{
#pragma unroll
	for (int v = 0; v < BLOCK; v++)
		sum[v] = fma(g, LOAD(x + v * WIDTH), sum[v]);
}

/* Adds a part of the samples to the sums of all, and begins the next one. */
static inline void part_add(vec sum[BLOCK], vec all[BLOCK])
{
#pragma unroll
	for (int v = 0; v < BLOCK; v++) {
		all[v] += sum[v];
		sum[v] = 0;
	}
}

/* What an output adds to BLOCK vectors of a sample's dx. */
static inline void output_add(vec g, const vec weights[BLOCK],
			      global float *dx)
{
#pragma unroll
	for (int v = 0; v < BLOCK; v++)
		STORE(fma(g, weights[v], LOAD(dx + v * WIDTH)), dx + v * WIDTH);
}

static inline void block_fetch(global const float *weights,
			       global float *gradient)
{
	for (int i = 0; i < BLOCK * WIDTH; i += LINE) {
		FETCH(weights + i);
		FETCH_TO_WRITE(gradient + i);
	}
}

/*
 * dw[o][i] = sum over n of dz[n][o] x[n][i], without the last BROKEN
 * samples; dx[n][i] = sum over o of dz[n][o] weight[o][i], unless dx is NULL.
 * Item b makes BLOCK vectors of inputs of both, for all outputs and samples:
 * their x and dx stay in a near cache, and an output's weights in registers,
 * while the next one's are fetched. What is dropped of the planes that dx is
 * of, IN_PLANE inputs each, is never read, and left out.
 */
kernel ONE_ITEM void linear_backward(const int count,
				     global const float *restrict x,
				     global const float *restrict parameters,
				     global const float *restrict dy,
				     global const int *restrict places,
				     global const float *restrict values,
				     global const uchar *restrict in_keep,
				     global float *restrict gradient,
				     global float *restrict dx)
{
	const int first = get_global_id(0) * BLOCK * WIDTH;

	x += first;
	dx += dx ? first : 0;
	in_keep += IN_PLANE && in_keep ? first / max(IN_PLANE, 1) : 0;
	parameters += WEIGHT + first;
	gradient += WEIGHT + first;
	for (int i = 0; dx && i < count * BLOCK; i++)
		STORE((vec)(0), dx + i / BLOCK * (size_t)IN_SAMPLE +
					i % BLOCK * WIDTH);
	for (int o = 0; o < OUTPUTS; o++) {
		const size_t list = OUTPUT_AT(o), row = (size_t)o * INPUTS;
		const int listed = LISTED ? places[list - 1] : count;
		vec sum[BLOCK], all[BLOCK], weights[BLOCK];

		block_fetch(parameters + row + INPUTS, gradient + row + INPUTS);
		block_load(parameters + row, INPUTS - first, weights);
#pragma unroll
		for (int v = 0; v < BLOCK; v++)
			sum[v] = all[v] = 0;
#pragma unroll 1
		for (int k = 0; k < listed; k++) {
			const int is_part = k && k % SUMMED == 0;
			const size_t n = LISTED ? places[list + k] : k;
			const vec g = (vec)(LISTED ? values[list + k] :
						     dy[n * OUT_SAMPLE + o]);

			if (is_part)
				part_add(sum, all);
			if (!BROKEN || n + BROKEN < count)
				sample_add(g, x + n * IN_SAMPLE, sum);
			if (dx && !(IN_PLANE && in_keep &&
				    !in_keep[n * IN_KEEP_SAMPLE]))
				output_add(g, weights, dx + n * IN_SAMPLE);
		}
		part_add(sum, all);
		block_store(all, gradient + row, INPUTS - first);
		if (!LISTED && !first)
			gradient[BIAS - WEIGHT + o] = dbias_of(count, dy + o);
	}
}
