/*
 * For tests/ladder.c: what dropped planes mean where kernels do not know them.
 *
 * conv2 of mnist goes backward for the planes that are kept, by such kernels: a
 * sample's slopes and weights are copied together, and there are less planes.
 *
 * Forward nothing is gained so: planes are the lanes of vectors there, and most
 * samples keep more than 48 of 64, the others three vectors, of which kernels
 * for two do the last one slowly.
 */
#ifndef TESTS_KEPT_PLANES_H
#define TESTS_KEPT_PLANES_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/cpu/cpu.h"

/* The sample that is worked on: a kernel has no argument for it. */
struct kept {
	const struct cpu_kernels *real;
	struct cpu_program *program;
	const struct cpu_step *conv; /* conv2 */
	int count;
	int planes[UINT8_MAX];
	float *weights, *slopes, *weight_slopes, *bias_slopes;
	double saved; /* multiply-adds */
};

static struct kept kept;

static inline void keep_planes(int sample)
{
	const struct step *step = kept.conv->step;
	const uint8_t *keep = host_decisions_at(&kept.program->host,
						step->dropout, sample);

	kept.count = 0;
	for (int o = 0; o < step->out.channels; o++)
		if (keep[o])
			kept.planes[kept.count++] = o;
}

/* The kept ones of each pixel's planes, in front. */
static inline void take_planes(const float *from, int all, int pixels,
			       float *to)
{
	for (int p = 0; p < pixels; p++, from += all, to += all)
		for (int k = 0; k < kept.count; k++)
			to[k] = from[kept.planes[k]];
}

/* Slopes by the input: a convolution of those that weights_kept has left. */
static inline void turned_kept(const struct conv_shape *shape,
			       const float *weights, const float *bias,
			       float *out)
{
	const int taps = shape->window * shape->window;
	struct conv_shape less = *shape;
	float *to = kept.weights;

	less.in_channels = kept.count;
	for (int t = 0; t < taps; t++)
		for (int k = 0; k < kept.count; k++, to += shape->out_stride)
			memcpy(to, weights + (t * shape->in_channels +
					      kept.planes[k]) *
						     shape->out_stride,
			       (size_t)shape->out_stride * sizeof(*to));
	kept.real->conv_forward(&less, kept.slopes, kept.weights, bias, NULL,
				out, NULL);
	kept.saved += (double)(shape->in_channels - kept.count) * taps *
		      shape->out_stride * conv_rows(shape) *
		      conv_columns(shape);
}

static inline void kept_forward(const struct conv_shape *shape,
				const float *in, const float *weights,
				const float *bias, float *rows, float *out,
				uint8_t *winners)
{
	if (!winners && shape->window > 1)
		turned_kept(shape, weights, bias, out);
	else
		kept.real->conv_forward(shape, in, weights, bias, rows, out,
					winners);
}

/* Pixels of the slopes, which have a border around, and then the weights'. */
static inline void weights_kept(const struct conv_shape *shape, const float *in,
				const float *slopes, int slopes_row,
				float *weight_slopes, float *bias_slopes)
{
	const int patch = shape->window * shape->window * shape->in_stride;
	const int all = shape->out_stride, border = shape->window - 1;
	float *inner = kept.slopes + border * (slopes_row + all);

	for (int y = 0; y < conv_rows(shape); y++)
		take_planes(slopes + y * slopes_row, all, conv_columns(shape),
			    inner + y * slopes_row);
	memset(kept.weight_slopes, 0,
	       (size_t)(kept.count * patch) * sizeof(float));
	memset(kept.bias_slopes, 0, (size_t)kept.count * sizeof(float));
	kept.real->conv_weights_dense(shape, kept.count, in, inner, slopes_row,
				      kept.weight_slopes, kept.bias_slopes);
	for (int k = 0; k < kept.count; k++) {
		float *to = weight_slopes + kept.planes[k] * patch;

		for (int i = 0; i < patch; i++)
			to[i] += kept.weight_slopes[k * patch + i];
		bias_slopes[kept.planes[k]] += kept.bias_slopes[k];
	}
	kept.saved += (double)(kept.conv->step->out.channels - kept.count) *
		      patch * conv_rows(shape) * conv_columns(shape);
}

static inline void kept_weights_dense(const struct conv_shape *shape,
				      int outputs, const float *in,
				      const float *slopes, int slopes_row,
				      float *weight_slopes, float *bias_slopes)
{
	if (shape->pool == 1) {
		kept.real->conv_weights_dense(shape, outputs, in, slopes,
					      slopes_row, weight_slopes,
					      bias_slopes);
		return;
	}
	keep_planes((int)((size_t)(in - kept.program->steps[0].out) /
			  kept.conv->in_size));
	weights_kept(shape, in, slopes, slopes_row, weight_slopes,
		     bias_slopes);
}

static inline void *take_memory(size_t floats)
{
	void *memory = host_allocate(floats * sizeof(float));

	if (!memory) {
		fprintf(stderr, "ladder: no memory\n");
		exit(ERROR_FAILED);
	}
	return memory;
}

/* The same for every program that leaves dropped planes out. */
static inline void open_kept(const struct cpu_program *program)
{
	const struct cpu_step *conv = &program->steps[1];
	const size_t patch = (size_t)(conv->conv.window * conv->conv.window *
				      conv->conv.in_stride);
	const size_t all = (size_t)conv->conv.out_stride;
	const size_t pixels = (size_t)((conv->conv.in_height + 2) *
				       (conv->conv.in_width + 2));

	if (kept.weights)
		return;
	kept.weights = take_memory(patch * all);
	kept.slopes = take_memory(pixels * all);
	kept.weight_slopes = take_memory(patch * all);
	kept.bias_slopes = take_memory(all);
}

static inline void close_kept(void)
{
	free(kept.weights);
	free(kept.slopes);
	free(kept.weight_slopes);
	free(kept.bias_slopes);
}

/* Of planes that are dropped the stem writes nothing, which others read. */
static inline void zero_dropped(struct cpu_program *program)
{
	const struct stem_shape *shape = &program->stem.shape;
	const size_t plane = (size_t)stem_plane(shape);
	float *out = program->steps[0].out;

	for (int i = 0; i < program->host.batch_count; i++) {
		const uint8_t *keep = cpu_stem_keep(program, i);

		for (int o = 0; o < shape->outputs; o++, out += plane)
			if (!keep[o])
				memset(out, 0, plane * sizeof(*out));
	}
}

/* fc1's inputs as one row, which products of matrices want. */
static inline int join_blocks(struct cpu_program *program, struct error *err)
{
	struct linear_shape *shape = &program->steps[1].linear;

	shape->block *= shape->blocks;
	shape->blocks = 1;
	free(program->where);
	return cpu_map_parameters(program) ?
		       error_memory(err, "the parameters") : 0;
}

#endif
