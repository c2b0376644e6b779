/*
 * Precisions that round what is stored (backends/host/storage.h): launches of
 * storage.cl between those of the generic steps, which alone are planned then.
 * Without such a precision these functions do nothing.
 */
#ifndef BACKENDS_OPENCL_PROGRAM_ROUNDING_H
#define BACKENDS_OPENCL_PROGRAM_ROUNDING_H

#include "backends/opencl/program/program.h"

/* The parameters as products take them, VECTOR_PARAMETERS or a copy. */
int rounding_share(struct opencl_program *program, struct error *err);
int rounding_make(struct opencl_program *program, struct error *err);

/* At the start of a pass: images, and parameters as products take them. */
int rounding_begin(struct opencl_program *program, struct pass *pass,
		   struct error *err);
/* What step index has made; of the loss, the gradient by what it reads, which
 * is then of the loss times its scale. */
int rounding_forward(struct opencl_program *program, struct pass *pass,
		     int index, struct error *err);
/* The gradients by what step index reads. */
int rounding_backward(struct opencl_program *program, struct pass *pass,
		      int index, struct error *err);
/* At the end: the gradient, of the loss alone, and running statistics. */
int rounding_end(struct opencl_program *program, struct pass *pass,
		 struct error *err);

/* Vectors of an update, from .. to: the gradient before, the others behind. */
int rounding_update(struct opencl_program *program, size_t from, size_t to,
		    int is_behind, struct error *err);

#endif
