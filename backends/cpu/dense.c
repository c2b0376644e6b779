/*
 * The backward pass of a convolution with every multiplication of its
 * definition: what `--algorithm dense` does instead of skipping what pooling,
 * ReLU and dropout have stopped.
 *
 *   dy   the slopes by the output before pooling, with window - 1 zeros around
 *   dx   the convolution of dy with the weights turned by half a circle
 *   dw   see kernels/conv_dense.c
 */
#include <stdlib.h>
#include <string.h>

#include "backends/cpu/cpu.h"

/* dy with its border as the input of the convolution that makes dx. */
static struct conv_shape turned_shape(const struct cpu_step *bound)
{
	const struct conv_shape *conv = &bound->conv;
	const int border = conv->window - 1;

	return (struct conv_shape){
		.in_height = conv_rows(conv) + 2 * border,
		.in_width = conv_columns(conv) + 2 * border,
		.in_channels = bound->step->out.channels,
		.in_stride = conv->out_stride,
		.out_stride = conv->in_stride,
		.window = conv->window,
		.pool = 1,
	};
}

int cpu_dense_allocate(struct cpu_step *bound)
{
	const struct conv_shape turned = turned_shape(bound);
	const size_t pixels = (size_t)turned.in_height *
			      (size_t)turned.in_width;
	const size_t taps = (size_t)turned.window * (size_t)turned.window;

	bound->unpooled = host_allocate(pixels * (size_t)turned.in_stride *
					sizeof(float));
	bound->turned = host_allocate(taps * (size_t)turned.in_channels *
				      (size_t)turned.out_stride *
				      sizeof(float));
	bound->no_bias = host_allocate((size_t)turned.out_stride *
				       sizeof(float));
	return bound->unpooled && bound->turned && bound->no_bias ? 0 : -1;
}

void cpu_dense_release(struct cpu_step *bound)
{
	free(bound->unpooled);
	free(bound->turned);
	free(bound->no_bias);
}

/* turned[tap][output][channel], the taps from the last to the first. */
void cpu_dense_refresh(const struct cpu_step *bound, const float *weights)
{
	const struct conv_shape *conv = &bound->conv;
	const int taps = conv->window * conv->window;
	const int outputs = bound->step->out.channels;

	for (int o = 0; o < outputs; o++)
		for (int t = 0; t < taps; t++) {
			memcpy(bound->turned + ((taps - 1 - t) * outputs + o) *
						       conv->in_stride,
			       weights, (size_t)conv->in_stride *
						sizeof(float));
			weights += conv->in_stride;
		}
}

/* The slopes before pooling, into the middle; around it they stay zero. */
static void unpool(const struct cpu_program *program,
		   const struct cpu_step *bound, const float *slopes,
		   const uint8_t *winners, float *unpooled, int row)
{
	const struct conv_shape *conv = &bound->conv;
	const int out_row = conv_columns(conv) * conv->out_stride;

	if (winners) {
		program->kernels->conv_unpool(conv, slopes, winners, unpooled,
					      row);
		return;
	}
	for (int y = 0; y < conv_rows(conv); y++)
		memcpy(unpooled + y * row, slopes + y * out_row,
		       (size_t)out_row * sizeof(float));
}

void cpu_dense_backward(const struct cpu_program *program,
			struct cpu_step *bound, const float *in,
			const float *slopes, const uint8_t *winners,
			float *in_slopes)
{
	const struct conv_shape *conv = &bound->conv;
	const struct conv_shape turned = turned_shape(bound);
	const int border = turned.window - 1;
	int row = turned.in_width * turned.in_stride;
	float *inner = bound->unpooled + border * (row + turned.in_stride);
	float *g = program->host.vectors[VECTOR_GRADIENT];

	if (winners || in_slopes) {
		unpool(program, bound, slopes, winners, inner, row);
		slopes = inner;
	} else {
		row = conv_columns(conv) * conv->out_stride;
	}
	program->kernels->conv_weights_dense(conv, bound->step->out.channels,
					     in, slopes, row,
					     g + bound->weight,
					     g + bound->bias);
	if (in_slopes)
		program->kernels->conv_forward(&turned, bound->unpooled,
					       bound->turned, bound->no_bias,
					       NULL, in_slopes, NULL);
}
