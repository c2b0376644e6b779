/*
 * A value between the steps of a program: a row's output, and the gradient of
 * the loss by it.
 *
 * The common layout is channels-last, [sample][row][column][channel]. A pixel
 * is a whole number of vectors of CPU_LANES, padded with 0. Planes of one pixel
 * have no gaps, so that linear layers have [sample][output]. Images have the
 * contract's layout, [sample][channel][row][column]. The planes from a stem to
 * a linear layer have that as well, with another order of pixels.
 */
#ifndef BACKENDS_CPU_VALUE_H
#define BACKENDS_CPU_VALUE_H

#include <stddef.h>
#include <stdint.h>

#include "models/model.h"

#define CPU_NO_ROW (-2) /* MODEL_IMAGES is -1 */

struct norm_moments;

struct cpu_value {
	struct shape shape;
	/* floats from channel to channel and from pixel to pixel */
	int by_channel, by_pixel;
	const int *pixel_order; /* place of each pixel; NULL = row by row */
	size_t size;	    /* floats of a sample, gaps included */
	float *out;	    /* [batch][size] */
	/*
	 * bf16 output in inference, [batch][size], if every reader would round
	 * it. out then holds only the value that the last row adds to. NULL =
	 * fp32 in out.
	 */
	uint16_t *rounded;
	int is_rounded;
	int rounding; /* number of the row's readers that round it */
	float *gradient;    /* [batch][size]; NULL = not needed */
	int out_is_lent;    /* 1 = out points to memory of others */
	/* 1 = the output is a ReLU's, and whoever writes the gradient stores 0
	 * where that ReLU passes none. */
	int gradient_passed;
	/* Row of a 2d dropout, whose dropped planes may hold anything; or
	 * CPU_NO_ROW. */
	int dropped_by;
	/* Moments for a batch norm that trains on out; the step that computes
	 * out may add all of its rows, in the common layout. NULL = none. */
	struct norm_moments *moments;
};

static inline int cpu_pixels(const struct cpu_value *value)
{
	return value->shape.height * value->shape.width;
}

static inline int cpu_is_common(const struct cpu_value *value)
{
	return value->by_channel == 1;
}

/* Returns the offset of a channel's pixel in a sample. */
static inline size_t cpu_value_at(const struct cpu_value *value, int channel,
				  int pixel)
{
	const int place = value->pixel_order ? value->pixel_order[pixel] :
					       pixel;

	return (size_t)channel * (size_t)value->by_channel +
	       (size_t)place * (size_t)value->by_pixel;
}

/* Return a value without memory, in the common layout or the images'. */
struct cpu_value cpu_value_common(struct shape shape);
struct cpu_value cpu_value_images(struct shape shape);

/* Copies count samples; to must have no gaps, or 0 in them. */
void cpu_value_copy(const struct cpu_value *from, const float *values,
		    int count, const struct cpu_value *to, float *copies);

#endif
