/*
 * Poolings, after generic.cl. Each output, or input, is one item's; but in the
 * cpu class a group has a plane of a max pooling to itself.
 */

/* The range of a window's rows or columns that lies in the input's side. */
static inline int2 window_inside(int first, int window, int side)
{
	return (int2)(max(first, 0), min(first + window, side));
}

/*
 * y = the window's maximum, of equals the first; a NaN is above any number.
 * winners[n][i] is its row * window + column. Padding never wins.
 */
#if ITEMS == 1
/* Elements of a row from `at` on, stride apart, of what there is from begin to
 * end around it: not more, even where no element is. */
static inline vec apart_load(global const float *row, int at, int stride,
			     int begin, int end)
{
	float values[WIDE];

	if (stride == 1 && at >= begin && at + WIDE <= end)
		return LOAD_LANES(row + at);
	if (stride == 2 && at >= begin && at + 2 * WIDE <= end) {
		const vec some = LOAD_LANES(row + at);
		const vec more = LOAD_LANES(row + at + WIDE);

		return EVENS(vec, some, more);
	}
	for (int lane = 0; lane < WIDE; lane++) {
		const int from = at + lane * stride;

		values[lane] = from >= begin && from < end ? row[from] : 0;
	}
	return LOAD_LANES(values);
}

/* Where the windows of WIDE outputs begin, the first one at column `at`. */
static inline ivec columns_from(int at, int stride)
{
	int columns[WIDE];

	for (int lane = 0; lane < WIDE; lane++)
		columns[lane] = at + lane * stride;
	return PASTE(vload, WIDE)(0, columns);
}

static inline void winners_store(ivec winner, global uchar *at, int lanes)
{
	int winners[WIDE];

	PASTE(vstore, WIDE)(winner, 0, winners);
	for (int lane = 0; lane < lanes; lane++)
		at[lane] = winners[lane];
}

/* Computes outputs from `out` on of a row of a plane. The plane's sample is
 * from begin to end. */
static inline void maxpool_row(global const float *plane, global float *y,
			       global uchar *winners, int2 size, int2 outs,
			       int row, int out, int window, int stride,
			       int pad, int begin, int end)
{
	const int2 rows = window_inside(row, window, size.x);
	const ivec columns = columns_from(out * stride - pad, stride);
	const int lanes = min(WIDE, outs.y - out);
	/* The first one that is there, if none is above it. */
	ivec winner = (rows.x - row) * window + max(-columns, 0);
	vec top = -INFINITY;

	for (int r = rows.x; r < rows.y; r++)
		for (int i = 0; i < window; i++) {
			const vec value = apart_load(
				plane, r * size.y + out * stride - pad + i,
				stride, begin, end);
			const ivec is_there = (columns + i >= 0) &
					      (columns + i < size.y);
			const ivec wins = is_there & ((value > top) |
						      isnan(value));

			top = select(top, value, wins);
			winner = select(winner,
					(ivec)((r - row) * window + i), wins);
		}
	some_store(top, y + out, lanes);
	winners_store(winner, winners + out, lanes);
}

kernel GROUP void maxpool(const int count, global const float *restrict x,
			  global float *restrict y,
			  global uchar *restrict winners, const int channels,
			  const int in_height, const int in_width,
			  const int x_sample, const int out_height,
			  const int out_width, const int y_sample,
			  const int window, const int stride, const int pad)
{
	const int c = get_group_id(0), plane = in_height * in_width;
	const size_t n = get_group_id(1);
	const size_t at = c * (size_t)(out_height * out_width);

	x += n * x_sample + c * (size_t)plane;
	y += n * y_sample + at;
	winners += n * channels * (size_t)(out_height * out_width) + at;
	for (int row = 0; row < out_height; row++)
		for (int out = 0; out < out_width; out += WIDE)
			maxpool_row(x, y + row * out_width,
				    winners + row * out_width,
				    (int2)(in_height, in_width),
				    (int2)(out_height, out_width),
				    row * stride - pad, out, window, stride,
				    pad, -c * plane, (channels - c) * plane);
}

kernel GROUP void maxpool_backward(
	const int count, global const uchar *restrict winners,
	global const float *restrict dy, global float *restrict dx,
	const int channels, const int in_height, const int in_width,
	const int x_sample, const int out_height, const int out_width,
	const int y_sample, const int window, const int stride, const int pad,
	const int adds)
{
	const size_t c = get_group_id(0), n = get_group_id(1);
	const int outs = out_height * out_width;

	winners += (n * channels + c) * outs;
	dy += n * y_sample + c * outs;
	dx += n * x_sample + c * (size_t)(in_height * in_width);
	if (!adds)
		for (int i = 0; i < in_height * in_width; i++)
			dx[i] = 0;
	for (int row = 0; row < out_height; row++)
		for (int i = 0; i < out_width; i++, winners++, dy++)
			dx[(row * stride - pad + *winners / window) * in_width +
			   i * stride - pad + *winners % window] += *dy;
}
#else
kernel GROUP void maxpool(const int count, global const float *restrict x,
			  global float *restrict y,
			  global uchar *restrict winners, const int channels,
			  const int in_height, const int in_width,
			  const int x_sample, const int out_height,
			  const int out_width, const int y_sample,
			  const int window, const int stride, const int pad)
{
	const int size = channels * out_height * out_width;

	x += get_group_id(1) * (size_t)x_sample;
	y += get_group_id(1) * (size_t)y_sample;
	winners += get_group_id(1) * (size_t)size;
	for EACH_OF(i, size) {
		const int row = i / out_width % out_height * stride - pad;
		const int column = i % out_width * stride - pad;
		const int2 rows = window_inside(row, window, in_height);
		const int2 columns = window_inside(column, window, in_width);
		global const float *plane = x + i / (out_height * out_width) *
							in_height * in_width;
		float top = -INFINITY;
		int best = -1;

		for (int r = rows.x; r < rows.y; r++)
			for (int c = columns.x; c < columns.y; c++) {
				const float value = plane[r * in_width + c];

				if (best >= 0 && !(value > top) &&
				    !isnan(value))
					continue;
				top = value;
				best = (r - row) * window + c - column;
			}
		y[i] = top;
		winners[i] = best;
	}
}

/* Of an input: the outputs whose windows it lies in. */
static inline int2 windows_with(int at, int window, int stride, int pad,
				int side)
{
	const int beyond = at + pad - window; /* of a stride or more below 0 */

	return (int2)(beyond < 0 ? 0 : beyond / stride + 1,
		      min((at + pad) / stride + 1, side));
}

kernel GROUP void maxpool_backward(
	const int count, global const uchar *restrict winners,
	global const float *restrict dy, global float *restrict dx,
	const int channels, const int in_height, const int in_width,
	const int x_sample, const int out_height, const int out_width,
	const int y_sample, const int window, const int stride, const int pad,
	const int adds)
{
	const int outs = out_height * out_width;

	winners += get_group_id(1) * (size_t)(channels * outs);
	dy += get_group_id(1) * (size_t)y_sample;
	dx += get_group_id(1) * (size_t)x_sample;
	for EACH_OF(i, channels * in_height * in_width) {
		const int row = i / in_width % in_height;
		const int column = i % in_width;
		const int plane = i / (in_height * in_width) * outs;
		const int2 rows = windows_with(row, window, stride, pad,
					       out_height);
		const int2 columns = windows_with(column, window, stride, pad,
						  out_width);
		float sum = 0;

		for (int r = rows.x; r < rows.y; r++)
			for (int c = columns.x; c < columns.y; c++) {
				const int at = plane + r * out_width + c;
				const int place =
					(row - r * stride + pad) * window +
					column - c * stride + pad;

				sum += winners[at] == place ? dy[at] : 0;
			}
		gradient_put(dx + i, sum, adds);
	}
}

#endif

/* Of a side: the inputs of an output, and the outputs of an input. */
static inline int2 inputs_of(int at, int in, int out)
{
	return (int2)(at * in / out, ((at + 1) * in + out - 1) / out);
}

static inline int2 outputs_of(int at, int in, int out)
{
	return inputs_of(at, out, in);
}

static inline int length_of(int2 range)
{
	return range.y - range.x;
}

kernel GROUP void avgpool(const int count, global const float *restrict x,
			  global float *restrict y, const int channels,
			  const int in_height, const int in_width,
			  const int x_sample, const int out_height,
			  const int out_width, const int y_sample)
{
	x += get_group_id(1) * (size_t)x_sample;
	y += get_group_id(1) * (size_t)y_sample;
	for EACH_OF(i, channels * out_height * out_width) {
		const int2 rows = inputs_of(i / out_width % out_height,
					    in_height, out_height);
		const int2 columns = inputs_of(i % out_width, in_width,
					       out_width);
		global const float *plane = x + i / (out_height * out_width) *
							in_height * in_width;
		float2 sum = (float2)(0);

		for (int r = rows.x; r < rows.y; r++)
			for (int c = columns.x; c < columns.y; c += SUMMED) {
				const int end = min(c + SUMMED, columns.y);
				float part = 0;

				for (int k = c; k < end; k++)
					part += plane[r * in_width + k];
				sum = pair_add(sum, part);
			}
		y[i] = (sum.x + sum.y) / (length_of(rows) * length_of(columns));
	}
}

kernel GROUP void avgpool_backward(const int count,
				   global const float *restrict dy,
				   global float *restrict dx,
				   const int channels, const int in_height,
				   const int in_width, const int x_sample,
				   const int out_height, const int out_width,
				   const int y_sample, const int adds)
{
	dy += get_group_id(1) * (size_t)y_sample;
	dx += get_group_id(1) * (size_t)x_sample;
	for EACH_OF(i, channels * in_height * in_width) {
		const int2 rows = outputs_of(i / in_width % in_height,
					     in_height, out_height);
		const int2 columns = outputs_of(i % in_width, in_width,
						out_width);
		global const float *plane = dy + i / (in_height * in_width) *
							 out_height * out_width;
		float sum = 0;

		for (int r = rows.x; r < rows.y; r++)
			for (int c = columns.x; c < columns.y; c++)
				sum += plane[r * out_width + c] /
				       (length_of(inputs_of(r, in_height,
							    out_height)) *
					length_of(inputs_of(c, in_width,
							    out_width)));
		gradient_put(dx + i, sum, adds);
	}
}
