/* The choices of dropout layers, once a step; after philox.cl. */

#ifndef __ENDIAN_LITTLE__
#error "four choices are stored as one little-endian word"
#endif

/*
 * keep[n][i] as models/random.h defines it: word i % 4 of the Philox counter (i
 * / 4, place of the sample, step, layer). Item (n, k) computes the choices of
 * sample n in the k-th of two layers; the second may be missing. It writes 4 *
 * WIDTH bytes at a time, and a sample's bytes are a multiple of that.
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
