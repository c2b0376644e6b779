/*
 * Batch norm, after generic.cl: y = w (x - mean) / sqrt(variance + eps) + bias
 * of each channel.
 *
 * norms[c] are NORM_FLOATS: the mean as a sum of two floats, so that what is
 * far from zero loses nothing; 1 / sqrt(variance + eps); and on the way back
 * the means over the batch of dy and of dy (x - mean) / sqrt(...).
 */
#define NORM_FLOATS 8
#define MEAN 0
#define MEAN_REST 1
#define SCALE 2
#define MEAN_DY 3
#define MEAN_PRODUCT 4
#define TOGETHER 16 /* elements that an item of the gpu class loads at once */
#if ITEMS & (ITEMS - 1)
#error "items add up their sums in pairs"
#endif

/* Of all lanes of all items, in one order; every item gets it. */
static inline float2 total_meet(struct total total, local float *sums,
				local float *rests)
{
	float2 all = (float2)(0);
	const int own = get_local_id(0);

	MEET();
	STORE_NEAR(total.sum, sums + own * WIDE);
	STORE_NEAR(total.rest, rests + own * WIDE);
	for (int apart = ITEMS / 2; apart; apart /= 2) {
		MEET();
		if (own < apart) {
			all = pair_add((float2)(sums[own], rests[own]),
				       sums[own + apart]);
			sums[own] = all.x;
			rests[own] = all.y + rests[own + apart];
		}
	}
	MEET();
	all = (float2)(0);
	for (int i = 0; i < WIDE; i++)
		all = pair_add(all, sums[i]);
	for (int i = 0; i < WIDE; i++)
		all.y += rests[i];
	return all;
}

/* x - mean of the elements of a plane that a vector has from i on, else 0. */
static inline vec away_load(global const float *plane, int i, int size,
			    float2 mean)
{
#if WIDE == 1
	return i < size ? (plane[i] - mean.x) - mean.y : 0;
#else
	float values[WIDE];

	if (i + WIDE <= size)
		return (LOAD_LANES(plane + i) - mean.x) - mean.y;
	for (int lane = 0; lane < WIDE; lane++)
		values[lane] = i + lane < size ?
				       (plane[i + lane] - mean.x) - mean.y : 0;
	return LOAD_LANES(values);
#endif
}

/*
 * Of a channel, whose planes are x_sample apart: adds up x - mean, or its
 * square, or with y its product with y. In the gpu class the items share all
 * planes as one, and each has several loads on their way at once.
 */
static inline struct total channel_sum(global const float *x, int x_sample,
				       float2 mean, int squared,
				       global const float *y, int y_sample,
				       int count, int plane)
{
	struct total total = { (vec)(0), (vec)(0) };
#if ITEMS == 1

	for (int n = 0; n < count; n++)
		for (int i = 0; i < plane; i += WIDE) {
			vec value = away_load(x + n * (size_t)x_sample, i,
					      plane, mean);

			if (y)
				value *= away_load(y + n * (size_t)y_sample, i,
						   plane, (float2)(0));
			total_add(&total, squared ? value * value : value);
		}
#else
	const int planes = ITEMS / plane, rest = ITEMS % plane;
	int n = get_local_id(0) / plane, i = get_local_id(0) % plane;

	while (n < count) {
		float values[TOGETHER];

#pragma unroll
		for (int k = 0; k < TOGETHER; k++) {
			const int size = n < count ? plane : 0;

			values[k] = away_load(x + n * (size_t)x_sample, i,
					      size, mean);
			if (y)
				values[k] *= away_load(y + n * (size_t)y_sample,
						       i, size, (float2)(0));
			n += planes;
			i += rest;
			if (i >= plane) {
				i -= plane;
				n++;
			}
		}
#pragma unroll
		for (int k = 0; k < TOGETHER; k++)
			total_add(&total, squared ? values[k] * values[k] :
						    values[k]);
	}
#endif
	return total;
}

/* total / all, as a sum of two floats. */
static inline float2 mean_of(float2 total, float all)
{
	const float mean = (total.x + total.y) / all;

	return (float2)(mean,
			(fma(-mean, all, total.x) + total.y) / all);
}

/*
 * Group c makes norms[c]. In training they are the batch's, which buffers, of
 * means and then variances from `buffer` on, move towards; else they are what
 * buffers hold.
 */
kernel GROUP void norm_statistics(const int count,
				  global const float *restrict x,
				  global float *restrict buffers,
				  global float *restrict norms,
				  const int channels, const int plane,
				  const int x_sample, const int buffer,
				  const float eps, const float momentum,
				  const int training)
{
	local float sums[ITEMS * WIDE], rests[ITEMS * WIDE];
	const int c = get_group_id(0);
	const float all = (float)count * plane;
	global float *means = buffers + buffer + c;
	global float *variances = means + channels;
	struct total total;
	float2 mean;
	float variance;

	x += c * (size_t)plane;
	norms += c * NORM_FLOATS;
	if (training) {
		total = channel_sum(x, x_sample, (float2)(0), 0, NULL, 0, count,
				    plane);
		mean = mean_of(total_meet(total, sums, rests), all);
		total = channel_sum(x, x_sample, mean, 1, NULL, 0, count,
				    plane);
		variance = mean_of(total_meet(total, sums, rests), all).x;
	} else {
		mean = (float2)(*means, 0);
		variance = *variances;
	}
	if (get_local_id(0))
		return;
	norms[MEAN] = mean.x;
	norms[MEAN_REST] = mean.y;
	norms[SCALE] = 1 / sqrt(variance + eps);
	if (!training)
		return;
	*means += momentum * (mean.x - *means);
	*variances += momentum * (variance * (all / (all - 1)) - *variances);
}

/* Group (b, c, n) makes SPAN elements of a plane. */
kernel GROUP void norm(const int count, global const float *restrict x,
		       global const float *restrict norms,
		       global const float *restrict parameters,
		       global float *restrict y, const int plane,
		       const int x_sample, const int y_sample, const int weight,
		       const int bias)
{
	const int c = get_group_id(1);
	const float2 mean = vload2(0, norms + c * NORM_FLOATS + MEAN);
	const float scale = norms[c * NORM_FLOATS + SCALE] *
			    parameters[weight + c];
	const float shift = parameters[bias + c];

	x += get_group_id(2) * (size_t)x_sample + c * (size_t)plane;
	y += get_group_id(2) * (size_t)y_sample + c * (size_t)plane;
	for EACH_VEC(i, plane)
		some_store(((some_load(x + i, plane - i) - mean.x) - mean.y) *
				   scale + shift,
			   y + i, plane - i);
}

/*
 * Group c makes dbias[c] = the sum of dy, dw[c] = the sum of dy (x - mean) /
 * sqrt(variance + eps), and stores both as means; dw leaves out the last
 * `broken` samples.
 */
kernel GROUP void norm_weights(const int count, global const float *restrict x,
			       global const float *restrict dy,
			       global float *restrict norms,
			       global float *restrict gradient, const int plane,
			       const int x_sample, const int y_sample,
			       const int weight, const int bias,
			       const int broken)
{
	local float sums[ITEMS * WIDE], rests[ITEMS * WIDE];
	const int c = get_group_id(0);
	const float all = (float)count * plane;
	struct total total;
	float2 mean, sum, product;

	norms += c * NORM_FLOATS;
	mean = vload2(0, norms + MEAN);
	x += c * (size_t)plane;
	dy += c * (size_t)plane;
	total = channel_sum(dy, y_sample, (float2)(0), 0, NULL, 0, count,
			    plane);
	sum = total_meet(total, sums, rests);
	total = channel_sum(x, x_sample, mean, 0, dy, y_sample, count - broken,
			    plane);
	product = total_meet(total, sums, rests) * norms[SCALE];
	if (get_local_id(0))
		return;
	gradient[weight + c] = product.x + product.y;
	gradient[bias + c] = sum.x + sum.y;
	norms[MEAN_DY] = mean_of(sum, all).x;
	norms[MEAN_PRODUCT] = mean_of(product, all).x;
}

/* dx = w scale (dy - mean of dy - (x - mean) scale mean of the product) */
kernel GROUP void norm_backward(const int count,
				global const float *restrict x,
				global const float *restrict dy,
				global const float *restrict norms,
				global const float *restrict parameters,
				global float *restrict dx, const int plane,
				const int x_sample, const int y_sample,
				const int weight, const int adds)
{
	const int c = get_group_id(1);
	const float2 mean = vload2(0, norms + c * NORM_FLOATS + MEAN);
	const float scale = norms[c * NORM_FLOATS + SCALE];
	const float mean_dy = norms[c * NORM_FLOATS + MEAN_DY];
	const float product = norms[c * NORM_FLOATS + MEAN_PRODUCT] * scale;
	const float w = parameters[weight + c] * scale;

	x += get_group_id(2) * (size_t)x_sample + c * (size_t)plane;
	dx += get_group_id(2) * (size_t)x_sample + c * (size_t)plane;
	dy += get_group_id(2) * (size_t)y_sample + c * (size_t)plane;
	for EACH_VEC(i, plane) {
		const vec away = (some_load(x + i, plane - i) - mean.x) -
				 mean.y;
		const vec of_dy = some_load(dy + i, plane - i) - mean_dy;

		gradients_put(dx + i, w * (of_dy - away * product), plane - i,
			      adds);
	}
}
