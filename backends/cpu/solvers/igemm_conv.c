#include "backends/cpu/solvers/igemm_conv.h"

#include <stdlib.h>
#include <string.h>

#include "backends/host/host.h"

static int32_t *allocate_places(int taps, int pixels)
{
	const size_t count = (size_t)taps * (size_t)pixels;

	return malloc((count ? count : 1) * sizeof(int32_t));
}

static void igemm_close(struct igemm *igemm)
{
	free((void *)igemm->table);
	free((void *)igemm->places);
	free((void *)igemm->spread);
}

/* For each tap of a window: the input's pixel beneath it, per output. */
static int open_forward(struct igemm_conv *conv)
{
	const int window = conv->window, width = conv->out.width;
	const int joined = conv->joined;
	struct igemm *igemm = &conv->forward;
	int32_t *table, *places;

	igemm->taps = joined ? window : window * window;
	igemm->depth = joined ? window * conv->in.channels : conv->in.channels;
	igemm->outputs = conv->out.channels;
	igemm->pixels = conv->out.height * width;
	igemm->zeros = conv->zeros;
	igemm->table = table = allocate_places(igemm->taps, igemm->pixels);
	igemm->places = places = allocate_places(1, igemm->pixels);
	if (!table || !places)
		return -1;
	for (int p = 0; p < igemm->pixels; p++)
		places[p] = p * conv->out_stride;
	for (int t = 0; t < igemm->taps; t++)
		for (int p = 0; p < igemm->pixels; p++) {
			const int pad = joined ? 0 : conv->pad;
			const int row = p / width * conv->stride - pad +
					(joined ? t : t / window);
			const int column = p % width * conv->stride - pad +
					   (joined ? 0 : t % window);

			if (joined)
				*table++ = (row * (conv->in.width +
						   2 * conv->pad) + column) *
					   conv->in.channels;
			else
				*table++ = row < 0 || row >= conv->in.height ||
					   column < 0 ||
					   column >= conv->in.width ?
						   IGEMM_ZEROS :
						   (row * conv->in.width +
						    column) * conv->in_stride;
		}
	return 0;
}

/* Returns the pixels of a side whose place modulo the stride is first. */
static int count_pixels(int length, int first, int stride)
{
	return first < length ? (length - first + stride - 1) / stride : 0;
}

/* Returns the output whose window has this tap (row by row) over the input's
 * pixel y, x, as an offset in its plane; IGEMM_ZEROS: none. */
static int32_t place_over(const struct igemm_conv *conv, int y, int x,
			  int tap)
{
	const int row = y + conv->pad - tap / conv->window;
	const int column = x + conv->pad - tap % conv->window;

	if (row < 0 || row / conv->stride >= conv->out.height || column < 0 ||
	    column / conv->stride >= conv->out.width)
		return IGEMM_ZEROS;
	return (row / conv->stride * conv->out.width +
		column / conv->stride) * conv->out_stride;
}

static int fill_class(const struct igemm_conv *conv,
		      struct igemm_class *class, int first_row,
		      int first_column)
{
	const int rows = count_pixels(conv->in.height, first_row, conv->stride);
	const int columns = count_pixels(conv->in.width, first_column,
					 conv->stride);
	struct igemm *igemm = &class->igemm;
	int32_t *table, *places;

	igemm->pixels = rows * columns;
	igemm->table = table = allocate_places(igemm->taps, igemm->pixels);
	igemm->places = places = allocate_places(1, igemm->pixels);
	if (!table || !places)
		return -1;
	for (int t = -1; t < igemm->taps; t++)
		for (int p = 0; p < igemm->pixels; p++) {
			const int y = first_row + p / columns * conv->stride;
			const int x = first_column + p % columns * conv->stride;

			if (t < 0)
				*places++ = (y * conv->in.width + x) *
					    conv->in_stride;
			else
				*table++ = place_over(conv, y, x,
						      class->taps[t]);
		}
	return 0;
}

/* Opens the class of pixels whose row and column modulo the stride are c /
 * stride and c % stride, with the places of the window that reach them. */
static int open_class(struct igemm_conv *conv, int c)
{
	const int window = conv->window, stride = conv->stride;
	const int first_row = c / stride, first_column = c % stride;
	struct igemm_class *class = &conv->classes[c];
	struct igemm *igemm = &class->igemm;

	igemm->depth = conv->out.channels;
	igemm->outputs = conv->in.channels;
	igemm->zeros = conv->zeros;
	class->taps = malloc((size_t)(window * window) * sizeof(int));
	if (!class->taps)
		return -1;
	for (int t = window * window - 1; t >= 0; t--)
		if ((first_row + conv->pad - t / window) % stride == 0 &&
		    (first_column + conv->pad - t % window) % stride == 0)
			class->taps[igemm->taps++] = t;
	class->weights = conv->transposed;
	conv->transposed += igemm_weights(igemm);
	return fill_class(conv, class, first_row, first_column);
}

/* Cost of a sum that is added to others. A guess: in the posts' networks the
 * counts are 144 pixels to 64, far from equal. */
#define ADDED_COST 1.25

/* Returns 1 if windows can be added and that costs less than classes of pixels.
 * It requires no padding, and a place of the window that divides a block. */
static int windows_pay(const struct igemm_conv *conv)
{
	const double pixels = (double)conv->in.height * conv->in.width /
			      (conv->stride * conv->stride);
	const int outputs = igemm_whole(conv->in.channels);

	return !conv->pad && IGEMM_BLOCK % outputs == 0 &&
	       conv->in_stride >= outputs &&
	       pixels > ADDED_COST * conv->forward.pixels;
}

/*
 * Opens the product from each pixel of the output to all places of its window.
 */
static int open_windows(struct igemm_conv *conv)
{
	const int window = conv->window, count = window * window;
	const int each = igemm_whole(conv->in.channels) / IGEMM_LANES;
	struct igemm_class *class = conv->classes;
	struct igemm *igemm = &class->igemm;
	int32_t *table, *places, *spread;

	igemm->taps = 1;
	igemm->depth = conv->out.channels;
	igemm->outputs = count * igemm_whole(conv->in.channels);
	igemm->pixels = conv->forward.pixels;
	igemm->zeros = conv->zeros;
	igemm->channels = conv->in.channels;
	igemm->table = table = allocate_places(1, igemm->pixels);
	igemm->places = places = allocate_places(1, igemm->pixels);
	igemm->spread = spread = allocate_places(count, each);
	if (!table || !places || !spread)
		return -1;
	for (int p = 0; p < igemm->pixels; p++) {
		table[p] = p * conv->out_stride;
		places[p] = (p / conv->out.width * conv->in.width +
			     p % conv->out.width) * conv->stride *
			    conv->in_stride;
	}
	for (int t = 0; t < count; t++)
		for (int v = 0; v < each; v++)
			*spread++ = (t / window * conv->in.width + t % window) *
				    conv->in_stride + v * IGEMM_LANES;
	conv->transposed = igemm_weights(igemm);
	return 0;
}

static int open_classes(struct igemm_conv *conv, enum igemm_dx dx)
{
	int count = conv->stride * conv->stride;

	conv->adds_windows = dx == IGEMM_DX_CHEAPEST && windows_pay(conv);
	if (conv->adds_windows)
		count = 1;
	conv->classes = calloc((size_t)count, sizeof(*conv->classes));
	if (!conv->classes)
		return -1;
	conv->class_count = count;
	if (conv->adds_windows)
		return open_windows(conv);
	for (int c = 0; c < count; c++)
		if (open_class(conv, c))
			return -1;
	return 0;
}

int igemm_conv_open(struct igemm_conv *conv, const struct layer *layer,
		    struct shape in, int in_stride, int out_stride, int joined,
		    enum igemm_dx dx)
{
	const struct shape out = layer_output(layer, in);
	const int most = out.channels > in.channels ? out.channels :
						      in.channels;
	const int stride = layer_stride_within(layer, in);

	*conv = (struct igemm_conv){
		.in = in, .out = out,
		.window = layer->window, .stride = stride, .pad = layer->pad,
		.in_stride = in_stride, .out_stride = out_stride,
		.joined = joined,
	};
	conv->zeros = host_allocate((size_t)most * sizeof(float));
	if (!conv->zeros || open_forward(conv))
		return -1;
	return dx == IGEMM_DX_NONE ? 0 : open_classes(conv, dx);
}

int igemm_folded_window(const struct layer *layer, struct shape in)
{
	const int stride = layer_stride_within(layer, in);

	return (layer->window + stride - 1) / stride;
}

void igemm_conv_fold(struct igemm_conv *conv, const struct layer *layer,
		     struct shape in, int out_stride)
{
	const struct shape out = layer_output(layer, in);
	const int stride = layer_stride_within(layer, in);
	const int window = igemm_folded_window(layer, in);
	const struct shape folded = { in.channels * stride * stride,
				      out.height + window - 1,
				      out.width + window - 1 };

	*conv = (struct igemm_conv){
		.in = in, .out = out, .window = layer->window,
		.stride = stride, .pad = layer->pad,
		.in_stride = igemm_whole(folded.channels),
		.out_stride = out_stride,
		.folded = folded, .folded_window = window,
		.forward = { .taps = window * window,
			     .depth = folded.channels,
			     .outputs = out.channels,
			     .pixels = out.height * out.width },
	};
}

static size_t table_bytes(const struct igemm *igemm)
{
	return (size_t)(igemm->taps + 1) * (size_t)igemm->pixels *
	       sizeof(int32_t);
}

size_t igemm_conv_tables(const struct igemm_conv *conv)
{
	size_t bytes = conv->folded_window ? 0 : table_bytes(&conv->forward);

	for (int c = 0; c < conv->class_count; c++)
		bytes += table_bytes(&conv->classes[c].igemm);
	return bytes;
}

void igemm_conv_close(struct igemm_conv *conv)
{
	igemm_close(&conv->forward);
	for (int c = 0; c < conv->class_count; c++) {
		igemm_close(&conv->classes[c].igemm);
		free(conv->classes[c].taps);
	}
	free(conv->classes);
	free(conv->zeros);
}

/*
 * Returns the offset of a place of the window, or of one added by rounding up.
 */
static size_t folded_weight_at(const struct igemm_conv *conv, int output,
			       int channel, int row, int column)
{
	const int stride = conv->stride;
	const int tap = row / stride * conv->folded_window + column / stride;
	const int in_pixel = row % stride * stride + column % stride;

	return igemm_weight_at(&conv->forward, output, tap,
				channel * stride * stride + in_pixel);
}

void igemm_conv_clear_unused(const struct igemm_conv *conv, float *dw)
{
	const int side = conv->folded_window * conv->stride;

	for (int r = 0; r < side; r++)
		for (int c = r < conv->window ? conv->window : 0; c < side; c++)
			for (int k = 0; k < conv->in.channels; k++)
				for (int o = 0; o < conv->out.channels; o++)
					dw[folded_weight_at(conv, o, k, r,
							    c)] = 0;
}

size_t igemm_conv_weight_at(const struct igemm_conv *conv, int output,
			    int channel, int row, int column)
{
	if (conv->folded_window)
		return folded_weight_at(conv, output, channel, row, column);
	if (conv->joined)
		return igemm_weight_at(&conv->forward, output, row,
					column * conv->in.channels + channel);
	return igemm_weight_at(&conv->forward, output,
				row * conv->window + column, channel);
}

static size_t rounded_bytes(const struct igemm *igemm)
{
	return igemm_rounded(igemm) + igemm_rounded_rows(igemm);
}

size_t igemm_conv_rounded(const struct igemm_conv *conv)
{
	size_t most = rounded_bytes(&conv->forward);

	for (int c = 0; c < conv->class_count; c++) {
		const size_t bytes = rounded_bytes(&conv->classes[c].igemm);

		most = bytes > most ? bytes : most;
	}
	return most;
}

size_t igemm_conv_joined_size(const struct igemm_conv *conv)
{
	if (conv->folded_window)
		return (size_t)conv->folded.height *
		       (size_t)conv->folded.width * (size_t)conv->in_stride;
	return (size_t)(conv->in.height + 2 * conv->pad) *
	       (size_t)(conv->in.width + 2 * conv->pad) *
	       (size_t)conv->in.channels;
}

/* Folds a row of a channel. Its first pixels are the last ones of a folded
 * pixel, then each folded pixel is full. run is the stride, a constant. */
static inline __attribute__((always_inline)) void
fold_row(int run, const float *from, size_t by_pixel, int pixels, int last,
	 size_t folded, float *to)
{
	int x = 0;

	for (; x < last && x < pixels; x++)
		to[run - last + x] = from[(size_t)x * by_pixel];
	to += last ? folded : 0;
	for (; x + run <= pixels; x += run, to += folded)
		for (int i = 0; i < run; i++)
			to[i] = from[(size_t)(x + i) * by_pixel];
	for (int i = 0; x < pixels; x++, i++)
		to[i] = from[(size_t)x * by_pixel];
}

static void fold_any_row(int stride, const float *from, size_t by_pixel,
			 int pixels, int last, size_t folded, float *to)
{
	if (stride == 4 && by_pixel == 1)
		fold_row(4, from, 1, pixels, last, folded, to);
	else if (stride == 2 && by_pixel == 1)
		fold_row(2, from, 1, pixels, last, folded, to);
	else
		fold_row(stride, from, by_pixel, pixels, last, folded, to);
}

/* Pixels at the right and below that no window reaches are left out. */
static void fold(const struct igemm_conv *conv, const float *from,
		 size_t by_channel, size_t by_pixel, float *to)
{
	const int stride = conv->stride, square = stride * stride;
	const int height = conv->folded.height * stride - conv->pad;
	const int width = conv->folded.width * stride - conv->pad;
	const size_t pixel = (size_t)conv->in_stride;
	const size_t row = (size_t)conv->folded.width * pixel;
	const int last = (stride - conv->pad % stride) % stride;

	to += (size_t)(conv->pad / stride) * pixel;
	for (int y = 0; y < conv->in.height && y < height; y++)
		for (int c = 0; c < conv->in.channels; c++)
			fold_any_row(
				stride,
				from + (size_t)c * by_channel +
					(size_t)(y * conv->in.width) *
						by_pixel,
				by_pixel,
				conv->in.width < width ? conv->in.width : width,
				last, pixel,
				to + (size_t)((y + conv->pad) / stride) * row +
					c * square +
					(y + conv->pad) % stride * stride);
}

void igemm_conv_join(const struct igemm_conv *conv, const float *from,
		     size_t by_channel, size_t by_pixel, float *to)
{
	const int channels = conv->in.channels;
	const int edge = conv->pad * channels;
	const int row = conv->in.width * channels + 2 * edge;

	if (conv->folded_window) {
		fold(conv, from, by_channel, by_pixel, to);
		return;
	}
	to += conv->pad * row + edge;
	for (int y = 0; y < conv->in.height; y++, to += 2 * edge)
		for (int x = 0; x < conv->in.width; x++, from += by_pixel)
			for (int c = 0; c < channels; c++)
				*to++ = from[(size_t)c * by_channel];
}

/* Transposes one place of the window to a tap of a class, and its outputs from
 * first on; first is 0 unless windows are added. */
static void transpose_tap(const struct igemm_conv *conv,
			  const struct igemm_kernels *kernels,
			  const float *weights, int tap,
			  const struct igemm_class *class, int to_tap,
			  int first, float *transposed)
{
	const struct igemm *forward = &conv->forward;
	const struct igemm *back = &class->igemm;
	const int row = tap / conv->window, column = tap % conv->window;

	for (int o = 0; o < forward->outputs; o += IGEMM_BLOCK)
		for (int c = 0; c < conv->in.channels; c += IGEMM_BLOCK) {
			const int outputs = forward->outputs - o;
			const int channels = conv->in.channels - c;
			const int at = first + c;
			const int block = at / IGEMM_BLOCK * IGEMM_BLOCK;

			kernels->transpose(
				weights + igemm_conv_weight_at(conv, o, c, row,
								column),
				(size_t)igemm_width(forward, o),
				channels < IGEMM_BLOCK ? channels :
							  IGEMM_BLOCK,
				outputs < IGEMM_BLOCK ? outputs : IGEMM_BLOCK,
				transposed + class->weights +
					igemm_weight_at(back, at, to_tap, o),
				(size_t)igemm_width(back, block));
		}
}

void igemm_conv_transpose(const struct igemm_conv *conv,
			  const struct igemm_kernels *kernels,
			  const float *weights, float *transposed)
{
	const int places = conv->window * conv->window;

	if (conv->adds_windows) {
		for (int t = 0; t < places; t++)
			transpose_tap(conv, kernels, weights, t, conv->classes,
				      0, t * igemm_whole(conv->in.channels),
				      transposed);
		return;
	}
	for (int c = 0; c < conv->class_count; c++)
		for (int t = 0; t < conv->classes[c].igemm.taps; t++)
			transpose_tap(conv, kernels, weights,
				      conv->classes[c].taps[t],
				      &conv->classes[c], t, 0, transposed);
}

static void clear_dx(const struct igemm_conv *conv,
		     const struct igemm_batch *batch, float *dx)
{
	const int pixels = conv->in.height * conv->in.width;

	for (int i = 0; i < batch->count; i++, dx += batch->out_sample)
		for (int p = 0; p < pixels; p++)
			memset(dx + (size_t)p * (size_t)conv->in_stride, 0,
			       (size_t)conv->in.channels * sizeof(float));
}

void igemm_conv_dx(const struct igemm_conv *conv,
		   const struct igemm_kernels *kernels,
		   const struct igemm_batch *batch, const float *transposed,
		   int adds, float *dx, void *scratch)
{
	const struct igemm_end end = { .adds = adds || conv->adds_windows };

	if (conv->adds_windows && !adds)
		clear_dx(conv, batch, dx);
	for (int c = 0; c < conv->class_count; c++)
		kernels->multiply(&conv->classes[c].igemm, batch,
				  transposed + conv->classes[c].weights,
				  &end, dx, scratch);
}
