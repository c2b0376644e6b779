/* Loss and optimizer of both classes: training.cl. */
#ifndef BACKENDS_OPENCL_PROGRAM_RECIPE_H
#define BACKENDS_OPENCL_PROGRAM_RECIPE_H

#include "backends/opencl/program/program.h"

/* Returns the bytes of a sample's target: a label, or a vector of floats. */
size_t target_bytes(const struct opencl_program *program);

/* Computes a loss that no step before it computes: see makes_loss. */
extern const struct opencl_solver loss_solver;

int update_make(struct opencl_program *program, struct error *err);
/* Writes the first arguments of the optimizer's kernel, as bits of floats.
 * Returns their number. */
#define UPDATE_WORDS 7
int update_words(const struct update *update, cl_uint words[UPDATE_WORDS]);

#endif
