/* Loss and optimizer, which both classes launch alike: training.cl. */
#ifndef BACKENDS_OPENCL_PROGRAM_RECIPE_H
#define BACKENDS_OPENCL_PROGRAM_RECIPE_H

#include "backends/opencl/program/program.h"

/* Bytes of a sample's target: a label, or a vector of floats. */
size_t target_bytes(const struct opencl_program *program);

/* A loss that no step before it computes as well. */
extern const struct opencl_solver loss_solver;

int update_make(struct opencl_program *program, struct error *err);
/* The first arguments of the optimizer's kernel, as the bits of floats; returns
 * how many. */
#define UPDATE_WORDS 7
int update_words(const struct update *update, cl_uint words[UPDATE_WORDS]);

#endif
