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
 * y = the window's maximum, the first one, a NaN above any; winners[n][i] is
 * its row * window + column. What lies beside the input never wins.
 */
#if ITEMS == 1
/* An element of the window of each output of a row, which is there of those
 * from columns.x to columns.y. */
static inline void maxpool_element(global const float *restrict x,
				   global float *restrict y,
				   global uchar *restrict winners,
				   int2 columns, int stride, int place)
{
	for (int c = columns.x; c < columns.y; c++) {
		const float value = x[c * stride];
		const int wins = value > y[c] || isnan(value);

		y[c] = wins ? value : y[c];
		winners[c] = wins ? place : winners[c];
	}
}

kernel GROUP void maxpool(const int count, global const float *restrict x,
			  global float *restrict y,
			  global uchar *restrict winners, const int channels,
			  const int in_height, const int in_width,
			  const int x_sample, const int out_height,
			  const int out_width, const int y_sample,
			  const int window, const int stride, const int pad)
{
	const size_t c = get_group_id(0), n = get_group_id(1);
	const int outs = out_height * out_width;

	x += n * x_sample + c * (size_t)(in_height * in_width);
	y += n * y_sample + c * outs;
	winners += (n * channels + c) * outs;
	for (int out = 0; out < out_height; out++) {
		const int row = out * stride - pad;
		const int2 rows = window_inside(row, window, in_height);

		/* The first one that is there, if none is above it. */
		for (int i = 0; i < out_width; i++) {
			y[i] = -INFINITY;
			winners[i] = (rows.x - row) * window +
				     max(pad - i * stride, 0);
		}
		for (int r = rows.x; r < rows.y; r++)
			for (int i = 0; i < window; i++) {
				const int2 columns = (int2)(
					max(pad - i + stride - 1, 0) / stride,
					min((in_width - 1 + pad - i + stride) /
						    stride, out_width));

				maxpool_element(x + r * in_width + i - pad, y,
						winners, columns, stride,
						(r - row) * window + i);
			}
		y += out_width;
		winners += out_width;
	}
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
		float sum = 0;

		for (int r = rows.x; r < rows.y; r++) {
			float of_row = 0;

			for (int c = columns.x; c < columns.y; c++)
				of_row += plane[r * in_width + c];
			sum += of_row;
		}
		y[i] = sum / (length_of(rows) * length_of(columns));
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
