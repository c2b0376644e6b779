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

/* What products read: of a step's input, and of its output's gradient. */
struct copies {
	struct spread x, dy;
};

struct copies copies_of(const struct sides *s);
/* Makes a spread at least so large. */
void spread_widen(struct spread *spread, int height, int width);

/* A launch of one work-group, for step index, which multiplies nothing. */
struct launch last_launch(const char *name, int index);
/* Appends what copies planes at `from`, whose samples are so far apart. */
int add_spread(struct opencl_program *program, struct pass *pass, int index,
	       const struct spread *spread, cl_mem from, int sample, cl_mem to,
	       struct error *err);
/* Copies x and dy for the backward pass. */
int add_copies(struct opencl_program *program, struct pass *pass, int index,
	       const struct copies *copies, struct error *err);
/* The bias gradient, if there is a bias. */
int add_bias(struct opencl_program *program, struct pass *pass, int index,
	     struct error *err);

#endif
