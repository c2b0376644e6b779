/*
 * The forward pass by Winograd's algorithm, after winograd.cl, fused with bias,
 * ReLU, pooling and dropout: the sums before the pooling are not stored.
 * conv_forward.cl has the formulas.
 *
 * Vectors run over channels: x is channels last, so each tile's 6x6 values are
 * 36 aligned vectors, and so are its 36 sums of an output. FORWARD_BLOCK tiles
 * are processed at a time. Their points [point][tile][input] and products
 * [point][tile][output] stay in the second cache, and the weights of a point
 * are read once for all of them. A product of FORWARD_TILES tiles and
 * FORWARD_OUTPUTS vectors of outputs stays in registers.
 */
#define OUT_VECTORS (OUT_CHANNELS / WIDTH)

/* B^T d B of one tile and vector of inputs; stride is in vectors */
static inline void tile_enter(X_SPACE const float *x, vec *points, int stride)
{
	SQUARE_TRANSFORM(data_to_points, SIDE, SIDE,
			 LOAD(x + (r * IN_WIDTH + c) * IN_PADDED),
			 points[(r * SIDE + c) * stride] = made[c]);
}

/* products[tile][output] of one point, FORWARD_OUTPUTS vectors of it */
static inline void tiles_multiply(const float *points,
				  global const float *weight, vec *products)
{
	vec sum[FORWARD_TILES][FORWARD_OUTPUTS];

#pragma unroll
	for (int t = 0; t < FORWARD_TILES; t++)
#pragma unroll
		for (int v = 0; v < FORWARD_OUTPUTS; v++)
			sum[t][v] = 0;
#pragma unroll 4
	for (int i = 0; i < IN_CHANNELS; i++) {
		vec w[FORWARD_OUTPUTS];

#pragma unroll
		for (int v = 0; v < FORWARD_OUTPUTS; v++)
			w[v] = LOAD(weight + i * OUT_CHANNELS + v * WIDTH);
#pragma unroll
		for (int t = 0; t < FORWARD_TILES; t++) {
			const vec value = (vec)(points[t * IN_CHANNELS + i]);

#pragma unroll
			for (int v = 0; v < FORWARD_OUTPUTS; v++)
				sum[t][v] = fma(value, w[v], sum[t][v]);
		}
	}
#pragma unroll
	for (int t = 0; t < FORWARD_TILES; t++)
#pragma unroll
		for (int v = 0; v < FORWARD_OUTPUTS; v++)
			products[t * OUT_VECTORS + v] = sum[t][v];
}

/* All products of one point and a block of tiles */
static inline void point_multiply(const vec *points,
				  global const float *weight, vec *products)
{
	for (int v = 0; v < OUT_VECTORS; v += FORWARD_OUTPUTS)
		for (int t = 0; t < FORWARD_BLOCK; t += FORWARD_TILES)
			tiles_multiply((const float *)(points + t * IN_VECTORS),
				       weight + v * WIDTH,
				       products + t * OUT_VECTORS + v);
}

/* A^T M A of one tile and vector of outputs; stride is in vectors */
static inline void tile_leave(const vec *products, int stride,
			      vec sums[TILE][TILE])
{
	SQUARE_TRANSFORM(points_to_output, SIDE, TILE,
			 products[(r * SIDE + c) * stride],
			 sums[r][c] = made[c]);
}

static inline vec sum_finish(vec sum, vec bias)
{
	return RELU ? relu(sum + bias) : sum + bias;
}

/* The largest of a quadrant's four, and which: NaN before all, then the first
 * of equals. ReLU and bias are the same for all four. */
static inline vec quadrant_largest(vec sums[TILE][TILE], int q, ivec *code)
{
	const int row = q / 2 * 2, column = q % 2 * 2;
	vec best = sums[row][column];

	*code = 0;
#pragma unroll
	for (int k = 1; k < 4; k++) {
		const vec other = sums[row + k / 2][column + k % 2];
		const ivec better = (other > best) | isnan(other);

		best = select(best, other, better);
		*code = select(*code, (ivec)(k), better);
	}
	return best;
}

static inline void tile_pool(vec sums[TILE][TILE], int t, vec bias,
			     vec *pooled, bytes *codes)
{
#pragma unroll
	for (int q = 0; q < QUADRANTS; q++) {
		const int p = (t / TILES_ACROSS * 2 + q / 2) * OUT_WIDTH +
			      t % TILES_ACROSS * 2 + q % 2;
		ivec code;
		const vec best = quadrant_largest(sums, q, &code);

		pooled[p * OUT_VECTORS] = sum_finish(best, bias);
		codes[p * OUT_VECTORS] = PASTE(convert_uchar, WIDTH)(code);
	}
}

TRANSPOSE(bytes_transpose, bytes)

/*
 * Pixels of one vector of channels, channels last, become planes of the output
 * with what is dropped as zero.
 */
static inline void planes_store(const vec *pooled, global const uchar *keep,
				int first, global float *out)
{
	for (int p = 0; p < PIXELS; p += WIDTH) {
		vec rows[WIDTH];

#pragma unroll
		for (int k = 0; k < WIDTH; k++)
			rows[k] = pooled[(p + k) * OUT_VECTORS];
		vecs_transpose(rows);
#pragma unroll
		for (int k = 0; k < WIDTH; k++) {
			const int at = (first + k) * PIXELS + p;

			if (keep && DROPOUT == PLANES)
				rows[k] = GROWN(rows[k], keep[first + k]);
			if (keep && DROPOUT == ELEMENTS)
				rows[k] = GROWN_LANES(rows[k], keep + at);
			STORE(rows[k], out + at);
		}
	}
}

static inline void codes_store(const bytes *codes, int first,
			       global uchar *routes)
{
	for (int p = 0; p < PIXELS; p += WIDTH) {
		bytes rows[WIDTH];

#pragma unroll
		for (int k = 0; k < WIDTH; k++)
			rows[k] = codes[(p + k) * OUT_VECTORS];
		bytes_transpose(rows);
#pragma unroll
		for (int k = 0; k < WIDTH; k++)
			*(global bytes *)(routes + (first + k) * PIXELS + p) =
				rows[k];
	}
}

/*
 * Item n makes sample n; routes NULL: the winners are not stored. Where
 * LEAD is 1, input are images, and lead_packed the weights to make x.
 */
kernel ONE_ITEM void winograd_forward(const int count,
				      global const float *restrict input,
				      global const float *restrict packed,
				      global float *restrict out,
				      global uchar *restrict routes,
				      global const uchar *restrict keep,
				      global const float *restrict lead_packed)
{
	const size_t n = get_global_id(0);
	vec points[POINTS * FORWARD_BLOCK * IN_VECTORS];
	vec products[POINTS * FORWARD_BLOCK * OUT_VECTORS];
	vec pooled[PIXELS * OUT_VECTORS];
	bytes codes[PIXELS * OUT_VECTORS];

#if LEAD
	vec made[IN_PIXELS * IN_VECTORS];
	const float *x = (const float *)made;

	sample_enter(input + n * LEAD_SAMPLE, lead_packed, made);
#else
	global const float *x = input + n * IN_SAMPLE;
#endif
	for (int first = 0; first < TILES; first += FORWARD_BLOCK) {
		for (int i = 0; i < FORWARD_BLOCK * IN_VECTORS; i++)
			tile_enter(x + tile_corner(first + i / IN_VECTORS) +
					   i % IN_VECTORS * WIDTH,
				   points + i, FORWARD_BLOCK * IN_VECTORS);
		for (int p = 0; p < POINTS; p++)
			point_multiply(points + p * FORWARD_BLOCK * IN_VECTORS,
				       packed + p * IN_CHANNELS * OUT_CHANNELS,
				       products +
					       p * FORWARD_BLOCK * OUT_VECTORS);
		for (int i = 0; i < FORWARD_BLOCK * OUT_VECTORS; i++) {
			const int t = first + i / OUT_VECTORS;
			const int v = i % OUT_VECTORS;
			const vec bias = LOAD(packed + v * WIDTH +
					      POINTS * IN_CHANNELS *
						      OUT_CHANNELS);
			vec sums[TILE][TILE];

			tile_leave(products + i, FORWARD_BLOCK * OUT_VECTORS,
				   sums);
			tile_pool(sums, t, bias, pooled + v, codes + v);
		}
	}
	for (int v = 0; v < OUT_VECTORS; v++) {
		planes_store(pooled + v,
			     keep ? keep + n * KEEP_SAMPLE : keep, v * WIDTH,
			     out + n * OUT_SAMPLE);
		if (routes)
			codes_store(codes + v, v * WIDTH,
				    routes + n * OUT_SAMPLE);
	}
}
