/* Compiles a model to a program of an OpenCL device, and frees it. */
#ifndef BACKENDS_OPENCL_PROGRAM_COMPILE_H
#define BACKENDS_OPENCL_PROGRAM_COMPILE_H

#include "backends/contract/backend.h"

/* These are slots of the backend. */
int opencl_compile(struct device *device, const struct model *model,
		   const struct program_options *options,
		   struct program **program, struct error *err);
void opencl_free(struct program *program);
double opencl_sample_bytes(const struct model *model,
			   const struct program_options *options);

#endif
