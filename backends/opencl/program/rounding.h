/*
 * Precisions that round stored values (backends/host/storage.h). Only generic
 * steps are planned then, with launches of storage.cl between them. With other
 * precisions these functions do nothing.
 */
#ifndef BACKENDS_OPENCL_PROGRAM_ROUNDING_H
#define BACKENDS_OPENCL_PROGRAM_ROUNDING_H

#include "backends/opencl/program/program.h"

/* Sets program->products: VECTOR_PARAMETERS, or a copy that is rounded. */
int rounding_share(struct opencl_program *program, struct error *err);
int rounding_make(struct opencl_program *program, struct error *err);

/* Rounds the images, and the parameters of products, at the start of a pass. */
int rounding_begin(struct opencl_program *program, struct pass *pass,
		   struct error *err);
/* Rounds the output of step index. For the loss it multiplies the gradient by
 * its input with the loss scale, and rounds that. */
int rounding_forward(struct opencl_program *program, struct pass *pass,
		     int index, struct error *err);
/* Rounds the gradients by the inputs of step index. */
int rounding_backward(struct opencl_program *program, struct pass *pass,
		      int index, struct error *err);
/* Divides the gradient by the loss scale, and rounds it and the running
 * statistics, at the end of a pass. */
int rounding_end(struct opencl_program *program, struct pass *pass,
		 struct error *err);

/* Rounds from .. to of vectors: before an update the gradient, after it
 * (is_behind) the others. */
int rounding_update(struct opencl_program *program, size_t from, size_t to,
		    int is_behind, struct error *err);

#endif
