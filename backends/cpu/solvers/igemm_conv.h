/*
 * A convolution as an indirect GEMM. Tables have the offsets of the input for
 * each pixel of the output, and of dy for each pixel of dx.
 *
 * Planes are channels-last, [row][column][channel], in_stride and out_stride
 * floats from pixel to pixel.
 *
 * Backward: a pixel of the input depends on pixels of the output. Which places
 * of the window reach any depends on its row and column modulo the stride. Each
 * such class of pixels is a product of its own, with transposed weights and the
 * window in reverse order. Without padding, many of these places lie outside
 * the output: most of a window of 5x5 on 12x12 pixels. Instead, each pixel of
 * the output may then add to all of its window, in one product of many outputs.
 *
 * Few channels are too short for a tap. Such an input is joined: it is copied
 * without gaps and with its padding, so that a row of the window is one tap.
 *
 * If the stride s is more than 1 and dx is not needed, the input may be folded.
 * s x s pixels, padding included, become one pixel with s x s times the
 * channels. A window of w x w becomes one of w / s x w / s, rounded up, with
 * stride 1. Weights beyond the window are 0.
 */
#ifndef BACKENDS_CPU_SOLVERS_IGEMM_CONV_H
#define BACKENDS_CPU_SOLVERS_IGEMM_CONV_H

#include "backends/cpu/kernels/igemm/igemm.h"
#include "models/model.h"

struct igemm_class {
	struct igemm igemm;
	/* [taps]: row * window + column; NULL if windows are added */
	int *taps;
	size_t weights; /* offset in the transposed weights */
};

/* Method for dx. */
enum igemm_dx {
	IGEMM_DX_NONE,	   /* not computed */
	IGEMM_DX_PIXELS,  /* by classes of its pixels */
	IGEMM_DX_CHEAPEST /* or by windows, if that has fewer products */
};

struct igemm_conv {
	struct shape in, out;
	int window, stride, pad;
	int in_stride, out_stride;
	int joined;
	/* Shape of a folded input, else 0; forward then only describes the
	 * weights. */
	struct shape folded;
	int folded_window;
	struct igemm forward; /* on the copy, if joined or folded */
	int class_count;       /* 0 = dx is not computed */
	/* 1 = one class, whose rows are the output's pixels */
	int adds_windows;
	struct igemm_class *classes;
	size_t transposed; /* floats: weights of all classes */
	float *zeros;
};

/*
 * Opens a convolution on planes. joined: the caller copies the input with
 * igemm_conv_join(). Returns -1 without memory; the caller then closes it as
 * well.
 */
int igemm_conv_open(struct igemm_conv *conv, const struct layer *layer,
		    struct shape in, int in_stride, int out_stride, int joined,
		    enum igemm_dx dx);
/* Describes a convolution on folded planes; allocates nothing. */
void igemm_conv_fold(struct igemm_conv *conv, const struct layer *layer,
		     struct shape in, int out_stride);
void igemm_conv_close(struct igemm_conv *conv);

/* Returns the bytes of the tables of offsets. */
size_t igemm_conv_tables(const struct igemm_conv *conv);

/* Returns the side of a layer's window after folding. */
int igemm_folded_window(const struct layer *layer, struct shape in);

/* Returns the offset of the weight between an output and a place of the window.
 * Unless folded, channel, row and column each have a constant stride. */
size_t igemm_conv_weight_at(const struct igemm_conv *conv, int output,
			    int channel, int row, int column);

/* Returns the bytes of igemm_rounded() and igemm_rounded_rows() of the largest
 * product. */
size_t igemm_conv_rounded(const struct igemm_conv *conv);

/* Sets dw to 0 where a folded window has no weight. */
void igemm_conv_clear_unused(const struct igemm_conv *conv, float *dw);

/* Returns the floats of a joined or folded sample. */
size_t igemm_conv_joined_size(const struct igemm_conv *conv);
/* Copies a sample; the padding of to must be 0. In from, channels are
 * by_channel floats apart, and pixels by_pixel. */
void igemm_conv_join(const struct igemm_conv *conv, const float *from,
		     size_t by_channel, size_t by_pixel, float *to);

/* Transposes the weights for igemm_conv_dx(). The padding of outputs is
 * undefined. */
void igemm_conv_transpose(const struct igemm_conv *conv,
			  const struct igemm_kernels *kernels,
			  const float *weights, float *transposed);
/* Computes dx, stored or added, from dy, which is the batch's input; scratch is
 * the kernels'. */
void igemm_conv_dx(const struct igemm_conv *conv,
		   const struct igemm_kernels *kernels,
		   const struct igemm_batch *batch, const float *transposed,
		   int adds, float *dx, void *scratch);

#endif
