/*
 * What lies between the steps of a program: what a row puts out, and the
 * gradient of the loss by it.
 *
 * The common layout is channels-last, [sample][row][column][channel]. From
 * pixel to pixel it is a whole number of vectors of CPU_LANES, what is too much
 * of it being 0; planes of one pixel are without gaps, so that linear layers
 * have [sample][output]. Images come as the contract has them, [sample]
 * [channel][row][column], and so do the planes that a stem hands to a linear
 * layer, but for the order of pixels.
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
	int by_channel, by_pixel; /* floats from one to the next */
	const int *places;  /* of each pixel; NULL: in their order */
	size_t size;	    /* floats of a sample, gaps included */
	float *out;	    /* [batch][size] */
	/* In inference, where all who read it would round it to bf16: it is
	 * here alone, [batch][size], and out is no more than what the last row
	 * adds to. Else NULL. */
	uint16_t *rounded;
	int is_rounded;
	int rounding; /* of the row's readers, so many round it */
	float *gradient;    /* [batch][size]; NULL: not wanted */
	int out_is_lent;    /* it has memory already */
	/* A ReLU put it out, and who writes the gradient leaves 0 in it where
	 * that ReLU lets none pass. */
	int gradient_passed;
	/* A 2d dropout: planes that it drops may hold anything. Or
	 * CPU_NO_ROW. */
	int dropped_by;
	/* What a batch norm that trains wants of out: whoever computes out may
	 * add all of its rows, as the common layout has them. Or NULL. */
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

/* Place of a channel's pixel in a sample. */
static inline size_t cpu_value_at(const struct cpu_value *value, int channel,
				  int pixel)
{
	const int place = value->places ? value->places[pixel] : pixel;

	return (size_t)channel * (size_t)value->by_channel +
	       (size_t)place * (size_t)value->by_pixel;
}

/* In the common layout, and in the contract's. */
struct cpu_value cpu_value_common(struct shape shape);
struct cpu_value cpu_value_images(struct shape shape);

/* Copies count samples; to has no gaps, or 0 in them. */
void cpu_value_copy(const struct cpu_value *from, const float *values,
		    int count, const struct cpu_value *to, float *copies);

#endif
