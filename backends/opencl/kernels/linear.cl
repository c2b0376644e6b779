/*
 * A linear layer with what follows it, ReLU and dropout.
 *
 *   z[n][o] = bias[o] + sum over i of weight[o][i] x[n][i]
 *   y = relu(z), out = y where kept, grown by 1 / (1 - drop)
 *
 * x has IN_SAMPLE floats a sample, of which INPUTS count; y, out and dy, the
 * gradient with respect to out, have OUT_SAMPLE, a whole number of vectors.
 * weight is used as it lies in the flat vector: on the way back all vectors run
 * over inputs.
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
 * dz, of which dropout and ReLU leave few: where it is not zero, once by
 * samples and once by outputs. Where there is neither, dy is used as
 * it is.
 *
 *   places[n][k], values[n][k] = outputs of sample n and their dz
 *   places[o][k], values[o][k] = samples of output o and their dz, behind
 *
 * with their counts at k = -1, in one vector: MOST lists of samples, as long as
 * SAMPLE_LIST, and then those of outputs, as long as OUTPUT_LIST, of whose
 * entries the first LIST are not their own. Item k < count lists sample k;
 * those from MOST on list an output and sum up the gradient of its bias. With
 * DENSE, zeros are listed too.
 */
#define SAMPLE_AT(n) ((size_t)(n) * SAMPLE_LIST + LIST)
#define OUTPUT_AT(o) \
	((size_t)MOST * SAMPLE_LIST + (size_t)(o) * OUTPUT_LIST + LIST)

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
	const int by_sample = item < MOST;
	const int entries = by_sample ? OUTPUTS : count;
	int listed = 0;
	float sum = 0;

	if (by_sample && item >= count)
		return;
	places += by_sample ? SAMPLE_AT(item) : OUTPUT_AT(item - MOST);
	values += by_sample ? SAMPLE_AT(item) : OUTPUT_AT(item - MOST);
	for (int k = 0; k < entries; k++) {
		const int n = by_sample ? item : k;
		const int o = by_sample ? k : item - MOST;
		const float g = dz_of((size_t)n * OUT_SAMPLE + o,
				      n * KEEP_SAMPLE + o, out, dy, keep);

		places[listed] = k;
		values[listed] = g;
		listed += DENSE || g != 0;
		sum += g;
	}
	places[-1] = listed;
	if (!by_sample)
		gradient[BIAS + item - MOST] = sum;
}

#define LISTED (RELU || DROPOUT)

/*
 * sum += a list's values, which are apart, times the rows of BLOCK vectors at
 * its places; where nothing is listed, at all places in their order.
 */
static inline void rows_add(global const int *places,
			    global const float *values, int apart, int listed,
			    global const float *rows, size_t row, int left,
			    vec sum[BLOCK])
{
#pragma unroll 1
	for (int k = 0; k < listed; k++) {
		global const float *at = rows + (LISTED ? places[k] : k) * row;
		const vec g = (vec)(values[k * apart]);

#pragma unroll
		for (int v = 0; v < BLOCK; v++)
			sum[v] = fma(g, LOAD_INPUTS(at + v * WIDTH,
						    left - v * WIDTH), sum[v]);
	}
}

static inline float dbias_of(int count, global const float *dy)
{
	float sum = 0;

	for (int n = 0; n < count; n++)
		sum += dy[n * OUT_SAMPLE];
	return sum;
}

/*
 * dw[o][i] = sum over n of dz[n][o] x[n][i], without the last BROKEN
 * samples; dx[n][i] = sum over o of dz[n][o] weight[o][i], unless dx is NULL.
 * Item b makes BLOCK vectors of inputs of both, for all outputs and samples:
 * their weights and inputs stay in a near cache. What is dropped of the planes
 * that dx is of, IN_PLANE inputs each, is never read, and left out.
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
	const int left = INPUTS - first;

	for (int o = 0; o < OUTPUTS; o++) {
		const size_t list = OUTPUT_AT(o);
		int listed = LISTED ? places[list - 1] : count - BROKEN;
		vec sum[BLOCK];

#pragma unroll
		for (int v = 0; v < BLOCK; v++)
			sum[v] = 0;
		if (BROKEN && LISTED && listed &&
		    places[list + listed - 1] == count - 1)
			listed--;
		rows_add(places + list, LISTED ? values + list : dy + o,
			 LISTED ? 1 : OUT_SAMPLE, listed, x + first, IN_SAMPLE,
			 BLOCK * WIDTH, sum);
		if (!LISTED && !first)
			gradient[BIAS + o] = dbias_of(count, dy + o);
#pragma unroll
		for (int v = 0; v < BLOCK; v++)
			STORE_INPUTS(sum[v],
				     gradient + WEIGHT + first + v * WIDTH +
					     (size_t)o * INPUTS,
				     left - v * WIDTH);
	}
	for (int n = 0; dx && n < count; n++) {
		const size_t list = SAMPLE_AT(n);
		vec sum[BLOCK];

		if (IN_PLANE && in_keep &&
		    !in_keep[n * IN_KEEP_SAMPLE + first / max(IN_PLANE, 1)])
			continue;
#pragma unroll
		for (int v = 0; v < BLOCK; v++)
			sum[v] = 0;
		rows_add(places + list,
			 LISTED ? values + list : dy + n * OUT_SAMPLE, 1,
			 LISTED ? places[list - 1] : OUTPUTS,
			 parameters + WEIGHT + first, INPUTS, left, sum);
#pragma unroll
		for (int v = 0; v < BLOCK; v++)
			STORE(sum[v],
			      dx + (size_t)n * IN_SAMPLE + first + v * WIDTH);
	}
}
