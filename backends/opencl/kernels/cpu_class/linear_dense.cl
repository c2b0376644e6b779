/*
 * The gradients of linear.cl from every entry of its lists, which include the
 * zeros then:
 *
 *   dw[o][i] = sum over n of dz[n][o] x[n][i]
 *   dx[n][i] = sum over o of dz[n][o] weight[o][i]
 */
#if DENSE

/* Rows of x, or of weight, that are multiplied at once. They are copied side by
 * side first: as far from one another as they lie, no near cache holds many. */
#define PANEL_ROWS 128

static inline void panel_copy(int rows, global const float *from, size_t row,
			      int left, vec panel[PANEL_ROWS][BLOCK])
{
	for (int k = 0; k < rows; k++)
#pragma unroll
		for (int v = 0; v < BLOCK; v++)
			panel[k][v] = LOAD_INPUTS(from + k * row + v * WIDTH,
						  left - v * WIDTH);
}

/* Adds the values of LISTS lists, so long each, times the rows of a panel. */
static inline void lists_add(int rows, global const float *values, int size,
			     vec panel[PANEL_ROWS][BLOCK],
			     vec sum[LISTS][BLOCK])
{
#pragma unroll 1
	for (int k = 0; k < rows; k++)
#pragma unroll
		for (int i = 0; i < LISTS; i++) {
			const vec g = (vec)(values[i * size + k]);

#pragma unroll
			for (int v = 0; v < BLOCK; v++)
				sum[i][v] = fma(g, panel[k][v], sum[i][v]);
		}
}

static inline void inputs_add(vec sum, int starts, global float *to, int left)
{
	STORE_INPUTS(starts ? sum : LOAD_INPUTS(to, left) + sum, to, left);
}

/*
 * Multiplies count lists, `size` long each, by a panel, and adds the products
 * to as many rows of to, or starts these rows. A row has `left` floats. A last
 * tile reads more lists than it stores.
 */
static inline void panel_multiply(int rows, vec panel[PANEL_ROWS][BLOCK],
				  int count, global const float *values,
				  int size, int starts, global float *to,
				  size_t row, int left)
{
	for (int first = 0; first < count; first += LISTS) {
		vec sum[LISTS][BLOCK];

#pragma unroll
		for (int i = 0; i < LISTS; i++)
#pragma unroll
			for (int v = 0; v < BLOCK; v++)
				sum[i][v] = 0;
		lists_add(rows, values + first * size, size, panel, sum);
#pragma unroll
		for (int i = 0; i < LISTS; i++)
#pragma unroll
			for (int v = 0; v < BLOCK; v++)
				if (first + i < count)
					inputs_add(sum[i][v], starts,
						   to + (first + i) * row +
							   v * WIDTH,
						   left - v * WIDTH);
	}
}

/*
 * Item b makes BLOCK vectors of inputs of both, dw without the last BROKEN
 * samples, and dx unless it is NULL.
 */
kernel ONE_ITEM void linear_dense(const int count,
				  global const float *restrict x,
				  global const float *restrict parameters,
				  global const float *restrict values,
				  global float *restrict gradient,
				  global float *restrict dx)
{
	const int first = get_global_id(0) * BLOCK * WIDTH;
	const int left = INPUTS - first;
	const int samples = count - BROKEN;
	vec panel[PANEL_ROWS][BLOCK];

	for (int n = 0; n < max(samples, 1); n += PANEL_ROWS) {
		const int rows = min(PANEL_ROWS, samples - n);

		panel_copy(rows, x + (size_t)n * IN_SAMPLE + first, IN_SAMPLE,
			   BLOCK * WIDTH, panel);
		panel_multiply(rows, panel, OUTPUTS,
			       values + OUTPUT_AT(0) + n, OUTPUT_LIST, n == 0,
			       gradient + WEIGHT + first, INPUTS, left);
	}
	for (int o = 0; dx && o < OUTPUTS; o += PANEL_ROWS) {
		const int rows = min(PANEL_ROWS, OUTPUTS - o);

		panel_copy(rows, parameters + WEIGHT + (size_t)o * INPUTS +
				 first, INPUTS, left, panel);
		panel_multiply(rows, panel, count, values + SAMPLE_AT(0) + o,
			       SAMPLE_LIST, o == 0, dx + first, IN_SAMPLE,
			       BLOCK * WIDTH);
	}
}

#endif
