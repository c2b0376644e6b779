/* What solvers of any convolution in the cpu class share: conv_nhwc.cl. */
#ifndef BACKENDS_OPENCL_SOLVERS_CPU_CLASS_CONV_NHWC_H
#define BACKENDS_OPENCL_SOLVERS_CPU_CLASS_CONV_NHWC_H

#include "backends/opencl/solvers/generic.h"

/* A launch of one work-group, for step index, which multiplies nothing. */
struct launch last_launch(const char *name, int index);
/* The bias gradient, if there is a bias. */
int add_bias(struct opencl_program *program, struct pass *pass, int index,
	     struct error *err);

#endif
