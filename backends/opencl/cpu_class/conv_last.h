/* What solvers of any convolution in the cpu class share: conv_last.cl. */
#ifndef BACKENDS_OPENCL_CPU_CLASS_CONV_LAST_H
#define BACKENDS_OPENCL_CPU_CLASS_CONV_LAST_H

#include "backends/opencl/program/generic.h"

/* Activations as conv_spread makes them: with a border, in pixels, before the
 * plane, and what is read behind it. */
struct spread {
	struct shape plane; /* what it is made of */
	int border, height, width;
	int row, sample; /* in floats */
};

/* A row as a convolution: a linear layer has one pixel and no neighbours. */
struct sides {
	struct shape in, out;
	int window, stride, pad;
	int run; /* factors of a row of the window */
	struct spread x, dy;
};

struct sides sides_of(const struct node *node);
/* Makes a spread at least so large. */
void spread_widen(struct spread *spread, int height, int width);

/* Samples of a part of a weight gradient of so many floats, which has so many
 * work-groups: there are as many parts as it takes to have work for all. */
int split_samples(const struct opencl_program *program, int groups,
		  size_t floats);

/* A launch of one work-group, for step index, which multiplies nothing. */
struct launch last_launch(const char *name, int index);
/* Appends what copies planes at `from`, whose samples are so far apart. */
int add_spread(struct opencl_program *program, struct pass *pass, int index,
	       const struct spread *spread, cl_mem from, int sample, cl_mem to,
	       struct error *err);
/* Copies x and dy for the backward pass. */
int add_spreads(struct opencl_program *program, struct pass *pass, int index,
		const struct sides *s, struct error *err);
/* The bias gradient, if there is a bias. */
int add_bias(struct opencl_program *program, struct pass *pass, int index,
	     struct error *err);

#endif
