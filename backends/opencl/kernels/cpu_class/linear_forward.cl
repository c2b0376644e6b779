/*
 * The way forward of a linear layer, after linear.cl.
 *
 * Vectors run over outputs, and inputs are one number for all their lanes: so
 * sums need no adding up of lanes, and it costs little to leave a sum after
 * each PANEL_INPUTS inputs and come back to it. The weights of these inputs and
 * PANEL_OUTPUTS vectors of outputs are transposed into a panel [input][output],
 * which stays in the first cache while all samples go by. Where whole planes
 * are dropped, the inputs of a panel are of one plane, and the samples that
 * dropped it are left out.
 */
/* Inputs of the panel from k on, and how many of them are unrolled. */
#if REST
#define INPUTS_FROM(k) min(PANEL_INPUTS, INPUTS - (k))
#define UNROLLED 1
#else
#define INPUTS_FROM(k) PANEL_INPUTS
#define UNROLLED 4
#endif
#define PANEL (PANEL_OUTPUTS * WIDTH)
#define PANELS (PADDED(OUTPUTS) / PANEL)

/*
 * Sample n of y, from its sums over each chunk of the inputs, and, where
 * something is dropped, of out. keep has KEEP_SAMPLE choices a sample; NULL:
 * all stay. With LOSS, what follows is the loss.
 */
static inline void sample_finish(size_t n, int global_count,
				 global const float *partial,
				 global const float *parameters,
				 global const uchar *keep, global float *y,
				 global float *out, global const ushort *labels,
				 global float *outcomes, global float *dlogits)
{
	for (int o = 0; o < OUTPUTS; o += WIDTH) {
		vec sum = load_some(parameters + BIAS + o, OUTPUTS - o);

		for (int chunk = 0; chunk < CHUNKS; chunk++)
			sum += LOAD(partial +
				    (n * CHUNKS + chunk) * OUT_SAMPLE + o);
		if (RELU)
			sum = relu(sum);
		STORE(sum, y + n * OUT_SAMPLE + o);
		if (DROPOUT && keep)
			sum = GROWN_LANES(sum, keep + n * KEEP_SAMPLE + o);
		if (DROPOUT)
			STORE(sum, out + n * OUT_SAMPLE + o);
	}
	if (LOSS)
		sample_loss(n, CLASSES, LOGITS_SAMPLE, global_count, out,
			    labels, outcomes, dlogits);
}

/* WIDTH inputs from k on of as many outputs, those beyond OUTPUTS zero. */
static inline void weights_transpose(global const float *weight, int o,
				     int k, vec columns[WIDTH])
{
#pragma unroll
	for (int i = 0; i < WIDTH; i++)
		columns[i] = OUTPUTS % WIDTH && o + i >= OUTPUTS ? 0 :
			LOAD_INPUTS(weight + (size_t)(o + i) * INPUTS + k,
				    INPUTS - k);
	vecs_transpose(columns);
}

/* panel[i][output - o] = weight[output][k + i] */
static inline void panel_fill(global const float *weight, int o, int k,
			      vec panel[PANEL_INPUTS][PANEL_OUTPUTS])
{
	for (int v = 0; v < PANEL_OUTPUTS; v++)
		for (int i = 0; i < INPUTS_FROM(k); i += WIDTH) {
			vec columns[WIDTH];

			weights_transpose(weight, o + v * WIDTH, k + i,
					  columns);
#pragma unroll
			for (int j = 0; j < WIDTH; j++)
				panel[i + j][v] = columns[j];
		}
}

/* Which of the samples have input k, and how many; in_keep NULL: all. */
static inline int samples_list(int samples, int k, global const uchar *in_keep,
			       int list[ITEM_SAMPLES])
{
	int listed = 0;

	for (int n = 0; n < samples; n++) {
		list[listed] = n;
		listed += !IN_PLANE || !in_keep ||
			  in_keep[n * IN_KEEP_SAMPLE + k / max(IN_PLANE, 1)];
	}
	return listed;
}

/* Adds a panel times the inputs of TILE_SAMPLES samples to their sums. A last
 * tile has less, and goes over the last one of them again. */
static inline void tile_add(const int *list, int listed,
			    global const float *x, int inputs,
			    vec panel[PANEL_INPUTS][PANEL_OUTPUTS],
			    global float *partial)
{
	global const float *rows[TILE_SAMPLES];
	vec sum[TILE_SAMPLES][PANEL_OUTPUTS];

#pragma unroll
	for (int i = 0; i < TILE_SAMPLES; i++) {
		rows[i] = x + (size_t)list[min(i, listed - 1)] * IN_SAMPLE;
#pragma unroll
		for (int v = 0; v < PANEL_OUTPUTS; v++)
			sum[i][v] = 0;
	}
#pragma unroll UNROLLED
	for (int k = 0; k < inputs; k++)
#pragma unroll
		for (int i = 0; i < TILE_SAMPLES; i++) {
			const vec value = (vec)(rows[i][k]);

#pragma unroll
			for (int v = 0; v < PANEL_OUTPUTS; v++)
				sum[i][v] = fma(value, panel[k][v], sum[i][v]);
		}
#pragma unroll
	for (int i = 0; i < TILE_SAMPLES; i++) {
		global float *to = partial +
				   (size_t)list[min(i, listed - 1)] * CHUNKS *
					   OUT_SAMPLE;

		if (i >= listed)
			continue;
#pragma unroll
		for (int v = 0; v < PANEL_OUTPUTS; v++)
			STORE(LOAD(to + v * WIDTH) + sum[i][v],
			      to + v * WIDTH);
	}
}

/*
 * Item (p, b, s) makes, of samples ITEM_SAMPLES * b ..., the outputs of panel p
 * summed over the inputs CHUNK * s ...: partial[n][s][o], whose padding stays
 * zero. Where that is all, it finishes them.
 */
kernel ONE_ITEM void linear_forward(const int count, const int global_count,
				    global const float *restrict x,
				    global float *partial,
				    global const float *restrict parameters,
				    global const uchar *restrict keep,
				    global float *y, global float *out,
				    global const ushort *restrict labels,
				    global float *restrict outcomes,
				    global float *restrict dlogits,
				    global const uchar *restrict in_keep)
{
	const int o = get_global_id(0) * PANEL;
	const size_t n = get_global_id(1) * ITEM_SAMPLES;
	const int samples = min(ITEM_SAMPLES, count - (int)n);
	const int chunk = get_global_id(2);
	global float *sums = partial + (n * CHUNKS + chunk) * OUT_SAMPLE + o;
	vec panel[PANEL_INPUTS][PANEL_OUTPUTS];
	int list[ITEM_SAMPLES];

	if (IN_PLANE && in_keep)
		in_keep += n * IN_KEEP_SAMPLE;
	for (int i = 0; i < samples; i++)
		for (int v = 0; v < PANEL; v += WIDTH)
			STORE((vec)(0),
			      sums + (size_t)i * CHUNKS * OUT_SAMPLE + v);
	for (int k = chunk * CHUNK; k < min((chunk + 1) * CHUNK, INPUTS);
	     k += PANEL_INPUTS) {
		const int listed = samples_list(samples, k, in_keep, list);

		panel_fill(parameters + WEIGHT, o, k, panel);
		for (int i = 0; i < listed; i += TILE_SAMPLES)
			tile_add(list + i, listed - i, x + n * IN_SAMPLE + k,
				 INPUTS_FROM(k), panel, sums);
	}
	for (int i = 0; CHUNKS * PANELS == 1 && i < samples; i++)
		sample_finish(n + i, global_count, partial, parameters, keep, y,
			      out, labels, outcomes, dlogits);
}

/* Item n finishes sample n. */
kernel ONE_ITEM void linear_finish(const int count, const int global_count,
				   global const float *restrict partial,
				   global const float *restrict parameters,
				   global const uchar *restrict keep,
				   global float *y, global float *out,
				   global const ushort *restrict labels,
				   global float *restrict outcomes,
				   global float *restrict dlogits)
{
	sample_finish(get_global_id(0), global_count, partial, parameters, keep,
		      y, out, labels, outcomes, dlogits);
}
