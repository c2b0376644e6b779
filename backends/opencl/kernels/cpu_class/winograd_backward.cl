/*
 * The backward pass of winograd_forward.cl, with the formulas, lists and sums
 * of conv_backward.cl. dx is the adjoint of Winograd's algorithm, point by
 * point:
 *
 *   dM = A dY A^T,  dV[i] = sum over o of U[o][i] dM[o],  dx += B dV B^T
 *
 * where dY is zero except at the winner of each quadrant. Only outputs that
 * were kept have a dM. BACKWARD_TILES tiles are processed at a time; their dM
 * [point][output][tile] and dV [point][tile][input] stay in the nearest caches.
 * A product of BACKWARD_TILES tiles and BACKWARD_INPUTS vectors of inputs stays
 * in registers.
 *
 * The weight gradient uses no tiles: an element of g needs TAPS vectors of x,
 * and by points it would need all POINTS / QUADRANTS of its tile.
 */
/* Of an output's dM at a point; not a multiple of 4 KiB, or all points would
 * compete for the same few lines of a cache. */
#define POINT_SIZE ((OUT_CHANNELS + 1) * WIDTH)

/* A sample's outputs that are not dropped, and what their windows pass on. */
struct sample {
	int listed;
	int outputs[OUT_CHANNELS];
	/* One more, of zeros, since rows are read beyond their ends. */
	vec gradients[OUT_CHANNELS * PIXELS / WIDTH + 1];
	bytes codes[OUT_CHANNELS * PIXELS / WIDTH + 1];
	ivec corners[OUT_CHANNELS * PIXELS / WIDTH]; /* of winners' patches */
};

/* The next output: gradients of the winners of a plane, and where they are. */
static inline void sample_list(struct sample *sample, int o,
			       global const float *out,
			       global const float *dy,
			       global const uchar *routes,
			       global const uchar *keep, const ivec *corners)
{
	const int first = sample->listed * (PIXELS / WIDTH);

	for (int i = 0; i < PIXELS / WIDTH; i++) {
		const bytes route = LOAD(routes + i * WIDTH);
		const ivec code = PASTE(convert_int, WIDTH)(route);
		vec g = LOAD(dy + i * WIDTH);

#if DROPOUT == ELEMENTS && !RELU
		g = GROWN_LANES(g, keep + i * WIDTH);
#else
		g *= GROWTH;
#endif
		if (RELU)
			g = select(g, (vec)(0),
				   LOAD(out + i * WIDTH) <= (vec)(0));
		sample->gradients[first + i] = g;
		sample->codes[first + i] = route;
		sample->corners[first + i] =
			corners[i] + code / POOL * (IN_WIDTH * IN_PADDED) +
			code % POOL * IN_PADDED;
	}
	sample->outputs[sample->listed++] = o;
}

static inline void sample_end(struct sample *sample)
{
	const int end = sample->listed * (PIXELS / WIDTH);

	sample->gradients[end] = 0;
	sample->codes[end] = 0;
}

/* Where quadrant q of tile t is in a plane. */
static inline int tile_quadrant(int t, int q)
{
	return (t / TILES_ACROSS * 2 + q / 2) * OUT_WIDTH +
	       t % TILES_ACROSS * 2 + q % 2;
}

/*
 * Lanes of a vector of BACKWARD_TILES tiles. Where two rows of tiles fit its
 * halves, those are two rows, and their quadrants are every second element of
 * what lies in a plane; otherwise they are collected.
 */
#if BACKWARD_TILES == 2 * TILES_ACROSS && 2 * TILES_ACROSS <= WIDTH
#define LANE(t) ((t) / TILES_ACROSS * (WIDTH / 2) + (t) % TILES_ACROSS)

static inline void quadrants_load(const float *gradients, const uchar *codes,
				  int first, vec g[QUADRANTS],
				  ivec code[QUADRANTS])
{
	gradients += tile_quadrant(first, 0);
	codes += tile_quadrant(first, 0);
#pragma unroll
	for (int row = 0; row < 2; row++) {
		const int below = (row + 2) * OUT_WIDTH;
		const vec upper = LOAD(gradients + row * OUT_WIDTH);
		const vec lower = LOAD(gradients + below);
		const ivec above = LOAD_CODES(codes + row * OUT_WIDTH);
		const ivec under = LOAD_CODES(codes + below);

		g[2 * row] = EVENS(vec, upper, lower);
		g[2 * row + 1] = ODDS(vec, upper, lower);
		code[2 * row] = EVENS(ivec, above, under);
		code[2 * row + 1] = ODDS(ivec, above, under);
	}
}
#else
#define LANE(t) (t)

static inline void quadrants_load(const float *gradients, const uchar *codes,
				  int first, vec g[QUADRANTS],
				  ivec code[QUADRANTS])
{
	float lanes[WIDTH];
	int winners[WIDTH];

	for (int q = 0; q < QUADRANTS; q++) {
		for (int t = 0; t < WIDTH; t++) {
			const int at = tile_quadrant(min(first + t, TILES - 1),
						     q);

			lanes[t] = gradients[at];
			winners[t] = codes[at];
		}
		g[q] = LOAD(lanes);
		code[q] = LOAD(winners);
	}
}
#endif

/* dM of one output, of the BACKWARD_TILES tiles from first */
static inline void tiles_return(const float *gradients, const uchar *codes,
				int first, vec *points)
{
	vec output[TILE][TILE], g[QUADRANTS];
	ivec code[QUADRANTS];

	quadrants_load(gradients, codes, first, g, code);
#pragma unroll
	for (int q = 0; q < QUADRANTS; q++)
#pragma unroll
		for (int k = 0; k < 4; k++)
			output[q / 2 * 2 + k / 2][q % 2 * 2 + k % 2] =
				select((vec)(0), g[q], code[q] == (ivec)(k));
	SQUARE_TRANSFORM(output_to_points, TILE, SIDE, output[r][c],
			 points[(r * SIDE + c) * (POINT_SIZE / WIDTH)] =
				 made[c]);
}

/* What one output adds to a product */
static inline void output_gather(const float *points,
				 global const float *weight,
				 vec sum[BACKWARD_TILES][BACKWARD_INPUTS])
{
	vec w[BACKWARD_INPUTS];

#pragma unroll
	for (int v = 0; v < BACKWARD_INPUTS; v++)
		w[v] = LOAD(weight + v * WIDTH);
#pragma unroll
	for (int t = 0; t < BACKWARD_TILES; t++) {
		const vec value = (vec)(points[LANE(t)]);

#pragma unroll
		for (int v = 0; v < BACKWARD_INPUTS; v++)
			sum[t][v] = fma(value, w[v], sum[t][v]);
	}
}

/* dV[tile][input] of one point, BACKWARD_INPUTS vectors of it. Two outputs at
 * a time: PoCL's compiler will not unroll the loop itself. */
static inline void tiles_gather(int listed, const int *outputs,
				const float *points,
				global const float *weight, vec *products)
{
	vec sum[BACKWARD_TILES][BACKWARD_INPUTS];
	int k;

#pragma unroll
	for (int t = 0; t < BACKWARD_TILES; t++)
#pragma unroll
		for (int v = 0; v < BACKWARD_INPUTS; v++)
			sum[t][v] = 0;
#pragma unroll 1
	for (k = 0; k + 1 < listed; k += 2) {
		output_gather(points + k * WIDTH,
			      weight + outputs[k] * IN_CHANNELS, sum);
		output_gather(points + (k + 1) * WIDTH,
			      weight + outputs[k + 1] * IN_CHANNELS, sum);
	}
	if (k < listed)
		output_gather(points + k * WIDTH,
			      weight + outputs[k] * IN_CHANNELS, sum);
#pragma unroll
	for (int t = 0; t < BACKWARD_TILES; t++)
#pragma unroll
		for (int v = 0; v < BACKWARD_INPUTS; v++)
			products[t * IN_VECTORS + v] = sum[t][v];
}

/* dx += B dV B^T of one tile and vector of inputs; stride is in vectors */
static inline void tile_add_dx(const vec *products, int stride,
			       vec *dx)
{
	SQUARE_TRANSFORM(points_to_data, SIDE, SIDE,
			 products[(r * SIDE + c) * stride],
			 dx[(r * IN_WIDTH + c) * IN_VECTORS] += made[c]);
}

/* All of dx of a sample, from its outputs that are listed. */
static inline void sample_dx(const struct sample *sample,
			     global const float *transposed, vec *dx)
{
	const float *gradients = (const float *)sample->gradients;
	const uchar *codes = (const uchar *)sample->codes;
	const int *outputs = sample->outputs;
	const int listed = sample->listed;
	vec points[POINTS * POINT_SIZE / WIDTH];
	vec products[POINTS * BACKWARD_TILES * IN_VECTORS];

	for (int i = 0; i < IN_PIXELS * IN_VECTORS; i++)
		dx[i] = 0;
	for (int first = 0; first < TILES; first += BACKWARD_TILES) {
		for (int k = 0; k < listed; k++)
			tiles_return(gradients + k * PIXELS, codes + k * PIXELS,
				     first, points + k);
		for (int p = 0; p < POINTS; p++)
			for (int v = 0; v < IN_VECTORS; v += BACKWARD_INPUTS)
				tiles_gather(listed, outputs,
					     (const float *)points +
						     p * POINT_SIZE,
					     transposed + v * WIDTH +
						     p * OUT_CHANNELS *
							     IN_CHANNELS,
					     products + v +
						     p * BACKWARD_TILES *
							     IN_VECTORS);
		for (int i = 0; i < BACKWARD_TILES * IN_VECTORS; i++)
			tile_add_dx(products + i,
				    BACKWARD_TILES * IN_VECTORS,
				    dx + i % IN_VECTORS +
						tile_corner(first +
							    i / IN_VECTORS) /
							WIDTH);
	}
}

/* Adds the weight gradient of the outputs listed, from a sample's windows. */
static inline void sample_weights(struct sample *sample,
				  X_SPACE const float *x, global float *sums)
{
	for (int i = 0; i < BANDS * sample->listed; i++) {
		const int from = i / sample->listed * BAND;
		const int k = i % sample->listed;
		const int o = sample->outputs[k];
		const int at = k * PIXELS + from * OUT_WIDTH;
		float *gradients = (float *)sample->gradients + at;
		int *corners = (int *)sample->corners + at;
		const int windows = windows_pack(
			min(BAND, OUT_HEIGHT - from) * OUT_WIDTH, gradients,
			corners);

		for (int first = 0; first < IN_CHANNELS;
		     first += TILE_INPUTS * WIDTH) {
			const float bias = weights_add(
				windows, gradients, corners, x + first,
				sums + o * TAPS * IN_PADDED + first);

			if (!first)
				sums[SUM_BIAS + o] += bias;
		}
	}
}

/*
 * Item g makes the sums of group g, and dx of its samples or, where LEAD is 1,
 * lead_sums.
 */
kernel ONE_ITEM void winograd_backward(const int count,
				       global const float *restrict input,
				       global const float *restrict out,
				       global const float *restrict dy,
				       global const uchar *restrict routes,
				       global const uchar *restrict keep,
				       global const float *restrict transposed,
				       global float *restrict sums,
				       global float *restrict dx,
				       global const float *restrict lead_packed,
				       global float *restrict lead_sums)
{
	const int group = get_global_id(0);
	ivec corners[PIXELS / WIDTH];
	vec sample_gradient[IN_PIXELS * IN_VECTORS];
#if LEAD
	vec made[IN_PIXELS * IN_VECTORS];
#endif
	struct sample sample;

	for (int p = 0; p < PIXELS; p++)
		((int *)corners)[p] =
			(p / OUT_WIDTH * IN_WIDTH + p % OUT_WIDTH) *
			POOL * IN_PADDED;
	sums += (size_t)group * SUM_SIZE;
	for (int i = 0; i < SUM_SIZE; i += WIDTH)
		STORE((vec)(0), sums + i);
#if LEAD
	lead_sums += (size_t)group * LEAD_SIZE;
	for (int i = 0; i < LEAD_SIZE; i += WIDTH)
		STORE((vec)(0), lead_sums + i);
#endif
	for (size_t n = FIRST_OF(group); n < FIRST_OF(group + 1); n++) {
		const size_t at = n * OUT_SAMPLE;
#if LEAD
		global const float *image = input + n * LEAD_SAMPLE;
		const float *x = (const float *)made;
#else
		global const float *x = input + n * IN_SAMPLE;
#endif

		sample.listed = 0;
		for (int o = 0; o < OUT_CHANNELS; o++) {
			const int plane = o * PIXELS;
			const size_t choice =
				n * KEEP_SAMPLE +
				(DROPOUT == PLANES ? o : plane);

			if (DROPOUT == PLANES && !keep[choice])
				continue;
			sample_list(&sample, o, out + at + plane,
				    dy + at + plane, routes + at + plane,
				    keep + choice, corners);
		}
		sample_end(&sample);
		sample_dx(&sample, transposed, sample_gradient);
#if LEAD
		sample_enter(image, lead_packed, made);
		if (n < count - LEAD_BROKEN)
			sample_lead(image, made, sample_gradient, lead_sums);
#else
		for (int i = 0; i < IN_PIXELS * IN_VECTORS; i++)
			STORE(sample_gradient[i],
			      dx + n * IN_SAMPLE + i * WIDTH);
#endif
		if (n < count - BROKEN)
			sample_weights(&sample, x, sums);
	}
}
