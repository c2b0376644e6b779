/* Functions that conv_nhwc and winograd_nhwc share: kernels of conv_nhwc.cl. */
#ifndef BACKENDS_OPENCL_SOLVERS_CPU_CLASS_CONV_NHWC_H
#define BACKENDS_OPENCL_SOLVERS_CPU_CLASS_CONV_NHWC_H

#include "backends/opencl/solvers/generic.h"

/* Returns a launch of one work-group, without multiply-adds, for step index. */
struct launch last_launch(const char *name, int index);
/* Appends the launches of the bias gradient, if the layer has a bias. */
int add_bias(struct opencl_program *program, struct pass *pass, int index,
	     struct error *err);

#endif
