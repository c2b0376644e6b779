/* Decisions of the last gradient that lie on the device as an activation. */
#ifndef BACKENDS_OPENCL_SOLVERS_DECISIONS_H
#define BACKENDS_OPENCL_SOLVERS_DECISIONS_H

#include "backends/opencl/program/steps.h"

/* values[n][i], of the last gradient's samples in plane order: 0 where a float
 * with this layout is 0 or below, else 1. */
int decisions_of_signs(struct opencl_program *program, cl_mem memory,
		       struct layout layout, struct shape shape,
		       uint8_t *values, struct error *err);
/* The same of bytes, as they are. */
int decisions_of_bytes(struct opencl_program *program, cl_mem memory,
		       struct layout layout, struct shape shape,
		       uint8_t *values, struct error *err);

#endif
