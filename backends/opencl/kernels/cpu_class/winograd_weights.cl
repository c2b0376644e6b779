/*
 * Both transforms of the weights, G g G^T at each point p:
 *
 *   packed[p][input][output], then the biases as one more row
 *   transposed[p][output][input], unless it is NULL
 *
 * Item k makes input channel k of the one or, beyond those, an output channel
 * of the other; where LEAD is 1, one more does the other convolution's.
 */
static inline void window_store(const float *windows, global float *to,
				int stride)
{
	SQUARE_TRANSFORM(window_to_points, 3, SIDE,
			 LOAD(windows + (3 * r + c) * WIDTH),
			 STORE(made[c], to + (r * SIDE + c) * stride));
}

kernel ONE_ITEM void winograd_weights(const int count,
				      global const float *restrict parameters,
				      global float *restrict packed,
				      global float *restrict transposed,
				      global float *restrict lead_packed)
{
	const int k = get_global_id(0);
	const int forward = k < IN_CHANNELS;
	const int i = forward ? k : 0, o = forward ? 0 : k - IN_CHANNELS;
	const int channels = forward ? OUT_CHANNELS : IN_CHANNELS;
	const int apart = forward ? IN_CHANNELS * TAPS : TAPS;
	global const float *weight = parameters + WEIGHT +
				     (o * IN_CHANNELS + i) * TAPS;
	global float *to = forward ? packed + i * OUT_CHANNELS :
				     transposed + o * IN_CHANNELS;
	float windows[TAPS * WIDTH];

#if LEAD
	if (k == IN_CHANNELS + OUT_CHANNELS) {
		lead_pack(parameters, lead_packed);
		return;
	}
#endif
	if (!forward && !transposed)
		return;
	for (int first = 0; first < channels; first += WIDTH) {
		for (int lane = 0; lane < WIDTH; lane++)
			for (int tap = 0; tap < TAPS; tap++)
				windows[tap * WIDTH + lane] =
					weight[(first + lane) * apart + tap];
		window_store(windows, to + first, IN_CHANNELS * OUT_CHANNELS);
	}
	for (int b = 0; !k && b < OUT_CHANNELS; b++)
		packed[POINTS * IN_CHANNELS * OUT_CHANNELS + b] =
			parameters[BIAS + b];
}
