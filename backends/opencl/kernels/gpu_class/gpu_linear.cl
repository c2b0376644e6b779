/*
 * A linear layer with what follows it, ReLU and dropout; with HEAD a second
 * one, the tail, and with either or LOSS the loss, which are small: one group
 * does all of a sample.
 *
 *   z[n][o] = bias[o] + sum over i of weight[o][i] x[n][i]
 *   y = relu(z) where kept, grown by 1 / (1 - drop), else 0
 *   logits[n][c] = tail_bias[c] + sum over o of tail_weight[c][o] y[n][o]
 */
#define LANES 16
#define MINE_DOWN (ROWS * LANES / ITEMS)
#define MINE_ACROSS (COLUMNS / LANES)
#define SLICES_SUMMED 32 /* whose sum is added as one */
#define SPACE (DEEP * (ROWS + COLUMNS + 2))

#define INPUT_TILES PARTS_OF(INPUTS, COLUMNS)
#define WEIGHT_TILES (INPUT_TILES * PARTS_OF(OUTPUTS, ROWS))
#define TAIL_TILES \
	(HEAD * PARTS_OF(OUTPUTS, COLUMNS) * PARTS_OF(TAIL_OUTPUTS, ROWS))

/* Clears, or adds to, the item's sums what one slice of a and b gives. */
static inline void sums_clear(float *sum)
{
	for (int i = 0; i < MINE_DOWN * MINE_ACROSS; i++)
		sum[i] = 0;
}

static inline void sums_add(float *sum, local const float *a,
			    local const float *b)
{
	tile_add(sum, MINE_DOWN, MINE_ACROSS, LANES, a, ROWS + 1, b,
		 COLUMNS + 1, DEEP);
}

/* Stores the item's sums, or adds them to what is there. */
static inline void sums_store(const float *sum, global float *to, int by_row,
			      int most_rows, int most_columns, int adds)
{
	for (int i = 0; i < MINE_DOWN; i++)
		for (int j = 0; j < MINE_ACROSS; j++) {
			const int row = tile_row(i, LANES);
			const int column = tile_column(j, LANES);

			const size_t at = (size_t)row * by_row + column;
			const float value = sum[i * MINE_ACROSS + j];

			if (row < most_rows && column < most_columns)
				to[at] = adds ? to[at] + value : value;
		}
}

/* Group (t, r, s): partial[s][n][o] of COLUMNS outputs and ROWS samples, from
 * the inputs CHUNK * s ... */
kernel GROUP void linear_forward(const int count,
				 global const float *restrict x,
				 global const float *restrict parameters,
				 global float *restrict partial)
{
	local float space[SPACE];
	local float *a = space, *b = space + DEEP * (ROWS + 1);
	const int o = get_group_id(0) * COLUMNS, n = get_group_id(1) * ROWS;
	const int from = get_group_id(2) * CHUNK;
	const int to = n < count ? min(from + CHUNK, INPUTS) : from;
	float sum[MINE_DOWN * MINE_ACROSS];

	sums_clear(sum);
	for (int k = from; k < to; k += DEEP) {
		tile_load(a, ROWS, x + (size_t)n * INPUTS + k, INPUTS, 1,
			  count - n, to - k);
		tile_load(b, COLUMNS,
			  parameters + WEIGHT + (size_t)o * INPUTS + k, INPUTS,
			  1, OUTPUTS - o, to - k);
		MEET();
		sums_add(sum, a, b);
		MEET();
	}
	sums_store(sum,
		   partial + ((size_t)get_group_id(2) * count + n) * OUTPUTS +
			   o,
		   OUTPUTS, count - n, OUTPUTS - o, 0);
}

#if HEAD
/* Of sample n, whose y is here; an output's sum is split over HEAD_SPLIT
 * items. */
static inline void tail_forward(size_t n, local const float *y,
				local float *parts,
				global const float *parameters,
				global float *logits)
{
	for (int e = get_local_id(0); e < TAIL_OUTPUTS * HEAD_SPLIT;
	     e += ITEMS) {
		const int c = e / HEAD_SPLIT;
		float sum = 0;

		for (int o = e % HEAD_SPLIT; o < OUTPUTS; o += HEAD_SPLIT)
			sum = fma(parameters[TAIL_WEIGHT + c * OUTPUTS + o],
				  y[o], sum);
		parts[e] = sum;
	}
	MEET();
	for (int c = get_local_id(0); c < TAIL_OUTPUTS; c += ITEMS) {
		float sum = parameters[TAIL_BIAS + c];

		for (int s = 0; s < HEAD_SPLIT; s++)
			sum += parts[c * HEAD_SPLIT + s];
		logits[n * TAIL_OUTPUTS + c] = sum;
	}
}

static inline void tail_backward(size_t n, global const float *parameters,
				 global const float *dlogits,
				 global float *dy)
{
	for (int o = get_local_id(0); o < OUTPUTS; o += ITEMS) {
		float sum = 0;

		for (int c = 0; c < TAIL_OUTPUTS; c++)
			sum = fma(parameters[TAIL_WEIGHT + c * OUTPUTS + o],
				  dlogits[n * TAIL_OUTPUTS + c], sum);
		dy[n * OUTPUTS + o] = sum;
	}
}
#endif

/*
 * Group n finishes sample n: routes and dy are NULL in a test. Without HEAD
 * logits are y, and dlogits is dy.
 */
kernel GROUP void linear_finish(
	const int count, const int global_count, const uint step,
	const int place, const int stride, global const float *restrict partial,
	global const float *restrict parameters, global float *y,
	global ushort *restrict routes, global float *dy,
	global float *logits, global float *dlogits,
	global const ushort *restrict labels, global float *restrict outcomes,
	const uint seed_low, const uint seed_high)
{
	local float kept_y[HEAD ? OUTPUTS : 1];
#if HEAD
	local float parts[TAIL_OUTPUTS * HEAD_SPLIT];
#endif
	const float growth = routes ? GROWTH : 1;
	const size_t n = get_group_id(0);

	for (int o = get_local_id(0); o < OUTPUTS; o += ITEMS) {
		float sum = parameters[BIAS + o];
		int route = 0;

#pragma unroll 8
		for (int chunk = 0; chunk < CHUNKS; chunk++)
			sum += partial[((size_t)chunk * count + n) * OUTPUTS +
				       o];
		if (RELU && sum <= 0) {
			sum = 0;
			route = STOPPED;
		}
		if (DROPOUT && routes &&
		    !is_kept(o, place + stride * n, step, seed_low, seed_high))
			route |= DROPPED;
		sum = route & DROPPED ? 0 : sum * growth;
		y[n * OUTPUTS + o] = sum;
		if (routes)
			routes[n * OUTPUTS + o] = route;
		if (HEAD)
			kept_y[o] = sum;
	}
#if HEAD
	MEET();
	tail_forward(n, kept_y, parts, parameters, logits);
#endif
#if HEAD || LOSS
	barrier(CLK_GLOBAL_MEM_FENCE);
	if (get_local_id(0) == 0)
		sample_loss(n, CLASSES, LOGITS_SAMPLE, global_count, logits,
			    labels, outcomes, dlogits);
#endif
#if HEAD
	barrier(CLK_GLOBAL_MEM_FENCE);
	if (dy)
		tail_backward(n, parameters, dlogits, dy);
#endif
}

/*
 * A tile of a product of dz, which is dy passed on by its routes (NULL: as it
 * is), and another matrix: sum over k of dz[i, k] other[k, j].
 */
struct product {
	int depth;		     /* k's of dz */
	global const float *dy;	     /* at the tile's first row, k = 0 */
	global const ushort *routes; /* of the same outputs */
	float growth;
	int by_row, by_k, most_rows;
	global const float *other; /* at the tile's first column, k = 0 */
	int other_by_column, other_by_k, most_columns;
	int other_depth; /* k's of it; none is beyond */
	global float *to; /* the tile's first element */
	int to_by_row;
	global float *bias; /* sums of dz over k, unless NULL */
};

/*
 * dw[o][i] = sum over n of dz[n][o] x[n][i] and dbias[o] = sum over n of
 * dz[n][o], of ROWS outputs and COLUMNS inputs.
 */
static inline struct product
weights_product(int tile, int outputs, int inputs, int count, int broken,
		global const float *x, global const ushort *routes,
		global const float *dy, float growth, global float *dw,
		global float *dbias)
{
	const int across = PARTS_OF(inputs, COLUMNS);
	const int o = tile / across * ROWS, i = tile % across * COLUMNS;

	return (struct product){
		.depth = count,
		.dy = dy + o,
		.routes = routes ? routes + o : routes,
		.growth = growth,
		.by_row = 1,
		.by_k = outputs,
		.most_rows = outputs - o,
		.other = x + i,
		.other_by_column = 1,
		.other_by_k = inputs,
		.most_columns = inputs - i,
		.other_depth = count - broken,
		.to = dw + (size_t)o * inputs + i,
		.to_by_row = inputs,
		.bias = i ? NULL : dbias + o,
	};
}

/* dx[n][i] = sum over o of dz[n][o] weight[o][i], of ROWS samples. */
static inline struct product
input_product(int tile, int count, global const float *parameters,
	      global const ushort *routes, global const float *dy,
	      global float *dx)
{
	const int n = tile / INPUT_TILES * ROWS;
	const int i = tile % INPUT_TILES * COLUMNS;

	return (struct product){
		.depth = n < count ? OUTPUTS : 0,
		.dy = dy + (size_t)n * OUTPUTS,
		.routes = routes + (size_t)n * OUTPUTS,
		.growth = GROWTH,
		.by_row = OUTPUTS,
		.by_k = 1,
		.most_rows = count - n,
		.other = parameters + WEIGHT + i,
		.other_by_column = 1,
		.other_by_k = INPUTS,
		.most_columns = INPUTS - i,
		.other_depth = OUTPUTS,
		.to = dx + (size_t)n * INPUTS + i,
		.to_by_row = INPUTS,
	};
}

/* to[k - first][i]: see tile_load(). */
static inline void dz_load(local float *to, const struct product *product,
			   int first)
{
	for (int e = get_local_id(0); e < ROWS * DEEP; e += ITEMS) {
		const int i = product->by_k == 1 ? e / DEEP : e % ROWS;
		const int k = product->by_k == 1 ? e % DEEP : e / ROWS;
		const size_t at = (size_t)i * product->by_row +
				  (size_t)(first + k) * product->by_k;
		float dz = 0;

		if (i < product->most_rows && first + k < product->depth &&
		    !(product->routes && product->routes[at]))
			dz = product->dy[at] * product->growth;
		to[k * (ROWS + 1) + i] = dz;
	}
}

/*
 * Groups compute, in this order, tiles of dw, of the tail's dw, and of dx if it
 * is needed.
 */
kernel GROUP void linear_backward(const int count,
				  global const float *restrict x,
				  global const float *restrict parameters,
				  global const ushort *restrict routes,
				  global const float *restrict dy,
				  global float *restrict gradient,
				  global float *restrict dx,
				  global const float *restrict y,
				  global const float *restrict dlogits)
{
	local float space[SPACE];
	local float *a = space, *b = space + DEEP * (ROWS + 1);
	const int tile = get_group_id(0), mine = get_local_id(0);
	float sum[MINE_DOWN * MINE_ACROSS];
	float2 bias = (float2)(0);
	struct product product;
	int is_bias, stored = 0;

	if (tile < WEIGHT_TILES)
		product = weights_product(tile, OUTPUTS, INPUTS, count, BROKEN,
					  x, routes, dy, GROWTH,
					  gradient + WEIGHT, gradient + BIAS);
	else if (tile < WEIGHT_TILES + TAIL_TILES)
		product = weights_product(tile - WEIGHT_TILES, TAIL_OUTPUTS,
					  OUTPUTS, count, TAIL_BROKEN, y, NULL,
					  dlogits, 1,
					  gradient + TAIL_WEIGHT,
					  gradient + TAIL_BIAS);
	else
		product = input_product(tile - WEIGHT_TILES - TAIL_TILES, count,
					parameters, routes, dy, dx);
	is_bias = product.bias && mine < ROWS;
	sums_clear(sum);
	for (int k = 0; k < product.depth; k += DEEP) {
		dz_load(a, &product, k);
		tile_load(b, COLUMNS,
			  product.other + (size_t)k * product.other_by_k,
			  product.other_by_column, product.other_by_k,
			  product.most_columns, product.other_depth - k);
		MEET();
		sums_add(sum, a, b);
		if (is_bias)
			bias = pair_add(bias,
					column_sum(a + mine, ROWS + 1, DEEP));
		MEET();
		/* A longer sum, one by one, would lose the last numbers. */
		if ((k / DEEP + 1) % SLICES_SUMMED == 0 &&
		    k + DEEP < product.depth) {
			sums_store(sum, product.to, product.to_by_row,
				   product.most_rows, product.most_columns,
				   stored);
			sums_clear(sum);
			stored = 1;
		}
	}
	sums_store(sum, product.to, product.to_by_row, product.most_rows,
		   product.most_columns, stored);
	if (is_bias && mine < product.most_rows)
		product.bias[mine] = bias.x + bias.y;
}
