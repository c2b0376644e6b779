/*
 * A convolution as gathered products: which places of its input each pixel of
 * its output is made of, and the other way round for the gradient by the input.
 *
 * Planes are channels-last, [row][column][channel], in_stride and out_stride
 * floats from pixel to pixel. Backward, a pixel of the input is made of pixels
 * of the output; which places of the window reach some depends on its row and
 * column modulo the stride: each such class of pixels is a product of its own,
 * of transposed weights, and with the places of the window from the last to
 * the first. Without padding many of these places lie outside of the output,
 * most of a window of 5x5 on 12x12 pixels: there each pixel of the output may
 * add to all of its window instead, which is one product of many outputs.
 *
 * Few channels are too short to be a tap. Such an input is joined: copied
 * without gaps, and with its padding, so that a row of the window is one tap.
 *
 * Or, where the stride s is more than 1 and dx is not wanted, it is folded: s x
 * s pixels, padding among them, become one of as many times the channels, and a
 * window of w x w becomes one of w / s x w / s, rounded up, and of stride 1.
 * What the last places of that have too much are weights of 0.
 */
#ifndef BACKENDS_CPU_SOLVERS_IGEMM_CONV_H
#define BACKENDS_CPU_SOLVERS_IGEMM_CONV_H

#include "backends/cpu/kernels/igemm/igemm.h"
#include "models/model.h"

struct igemm_class {
	struct igemm igemm;
	int *taps; /* row * window + column of the window, of each tap; not of
		    * windows, whose places are outputs */
	size_t weights; /* in the transposed ones */
};

/* How dx is to be made. */
enum igemm_dx {
	IGEMM_DX_NONE,	   /* it is not wanted */
	IGEMM_DX_PIXELS,  /* by classes of its pixels */
	IGEMM_DX_CHEAPEST /* or by windows, if there is less to do */
};

struct igemm_conv {
	struct shape in, out;
	int window, stride, pad;
	int in_stride, out_stride;
	int joined;
	/* Of an input that is folded, else 0; forward then has a layout of
	 * weights alone. */
	struct shape folded;
	int folded_window;
	struct igemm forward; /* of the copy, where it is joined or folded */
	int class_count;       /* 0: dx is not wanted */
	int adds_windows;      /* one class, whose rows are the output's
				* pixels */
	struct igemm_class *classes;
	size_t transposed; /* floats: weights of all classes */
	float *zeros;
};

/* What layer makes of planes; joined or not, as the caller can. On failure,
 * to be closed as well. */
int igemm_conv_open(struct igemm_conv *conv, const struct layer *layer,
		    struct shape in, int in_stride, int out_stride, int joined,
		    enum igemm_dx dx);
/* The same of planes that are folded; allocates nothing. */
void igemm_conv_fold(struct igemm_conv *conv, const struct layer *layer,
		     struct shape in, int out_stride);
void igemm_conv_close(struct igemm_conv *conv);

/* Bytes of the tables of places. */
size_t igemm_conv_tables(const struct igemm_conv *conv);

/* The side of a layer's window when that is folded. */
int igemm_folded_window(const struct layer *layer, struct shape in);

/* Where the weight between an output and a place of the window is: each index
 * but the output adds so many times the same, unless it is folded. */
size_t igemm_conv_weight_at(const struct igemm_conv *conv, int output,
			    int channel, int row, int column);

/* Of the product that has most, with igemm_rounded_rows(). */
size_t igemm_conv_rounded(const struct igemm_conv *conv);

/* Sets dw to 0 where a folded window has no weight. */
void igemm_conv_clear_unused(const struct igemm_conv *conv, float *dw);

/* Floats of the copy of a sample that is joined or folded. */
size_t igemm_conv_joined_size(const struct igemm_conv *conv);
/*
 * Copies a sample, whose padding in to is 0 already: from planes whose channels
 * are by_channel floats apart, and pixels by_pixel.
 */
void igemm_conv_join(const struct igemm_conv *conv, const float *from,
		     size_t by_channel, size_t by_pixel, float *to);

/* Weights as igemm_conv_dx() wants them; of outputs that are padding there may
 * be anything. */
void igemm_conv_transpose(const struct igemm_conv *conv,
			  const struct igemm_kernels *kernels,
			  const float *weights, float *transposed);
/* dx, stored or added, from dy, which is the batch's input; scratch as the
 * kernels want it. */
void igemm_conv_dx(const struct igemm_conv *conv,
		   const struct igemm_kernels *kernels,
		   const struct igemm_batch *batch, const float *transposed,
		   int adds, float *dx, void *scratch);

#endif
