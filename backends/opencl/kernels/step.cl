/*
 * What is done once a step: the choices of dropout layers, a loss that no
 * linear layer comes before, and the optimizer.
 */

#ifndef __ENDIAN_LITTLE__
#error "four choices are stored as one little-endian word"
#endif

/* The bijection of Philox4x32: ten rounds of c under key k. */
static inline void philox(uvec c[4], uint low, uint high)
{
	for (int round = 0; round < 10; round++) {
		const uvec a = mul_hi((uvec)(0xd2511f53u), c[0]);
		const uvec b = mul_hi((uvec)(0xcd9e8d57u), c[2]);
		const uvec a_low = 0xd2511f53u * c[0];
		const uvec b_low = 0xcd9e8d57u * c[2];

		c[0] = b ^ c[1] ^ low;
		c[1] = b_low;
		c[2] = a ^ c[3] ^ high;
		c[3] = a_low;
		low += 0x9e3779b9u;
		high += 0xbb67ae85u;
	}
}

/*
 * keep[n][i] as models/random.h defines it: word i % 4 of the Philox counter
 * (i / 4, place of the sample, step, layer). Item (n, k) makes the choices of
 * sample n in the k-th of two layers, the second of which may not be asked for,
 * 4 * WIDTH at a time, which is what a sample's bytes are a multiple of.
 */
kernel ONE_ITEM void dropout_choose(
	const int count, const int global_count, const uint step,
	const int place, const int stride, global uchar *restrict keep,
	global uchar *restrict second_keep, const uint seed_low,
	const uint seed_high, const uint layer, const uint threshold,
	const int keep_sample, const uint second_layer,
	const uint second_threshold, const int second_sample)
{
	const size_t n = get_global_id(0);
	const int second = get_global_id(1);
	const int each = second ? second_sample : keep_sample;
	const uint least = second ? second_threshold : threshold;
	global uchar *to = (second ? second_keep : keep) + n * each;
	uint lanes[WIDTH];

	for (int i = 0; i < WIDTH; i++)
		lanes[i] = i;
	for (int i = 0; i < each; i += 4 * WIDTH) {
		uvec words[4];

		words[0] = LOAD(lanes) + (uint)(i / 4);
		words[1] = (uint)place + (uint)stride * (uint)n;
		words[2] = step;
		words[3] = second ? second_layer : layer;
		philox(words, seed_low, seed_high);
		for (int w = 0; w < 4; w++)
			words[w] = select((uvec)(0), (uvec)(1u << 8 * w),
					  words[w] >= (uvec)(least));
		*(global uvec *)(to + i) =
			words[0] | words[1] | words[2] | words[3];
	}
}

/* Item n: see loss.cl. */
kernel ONE_ITEM void loss(const int count, const int global_count,
			  global const float *restrict logits,
			  global const ushort *restrict labels,
			  global float *restrict outcomes,
			  global float *restrict slopes, const int classes,
			  const int logits_sample)
{
	sample_loss(get_global_id(0), classes, logits_sample, global_count,
		    logits, labels, outcomes, slopes);
}

/*
 * v = rho v + (1 - rho) g^2, delta = sqrt(u + eps) / sqrt(v + eps) g,
 * u = rho u + (1 - rho) delta^2, p = p - lr delta; rest is 1 - rho. Item b
 * makes parameters from + UPDATED * b ..., none at to or beyond.
 */
kernel ONE_ITEM void adadelta(const float lr, const float rho,
			      const float rest, const float eps,
			      const uint from, const uint to,
			      global float *restrict parameters,
			      global const float *restrict gradient,
			      global float *restrict square_avg,
			      global float *restrict acc_delta)
{
	const uint first = from + get_global_id(0) * UPDATED;
	const uint last = min(first + UPDATED, to);

	for (uint i = first; i < last; i += WIDTH) {
		const int lanes = last - i;
		const vec p = load_some(parameters + i, lanes);
		const vec g = load_some(gradient + i, lanes);
		const vec v = rho * load_some(square_avg + i, lanes) +
			      rest * g * g;
		const vec u = load_some(acc_delta + i, lanes);
		const vec delta = sqrt(u + eps) / sqrt(v + eps) * g;

		store_some(v, square_avg + i, lanes);
		store_some(rho * u + rest * delta * delta, acc_delta + i,
			   lanes);
		store_some(p - lr * delta, parameters + i, lanes);
	}
}
