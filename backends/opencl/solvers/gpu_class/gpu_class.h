/* Private to the gpu class of the OpenCL backend. */
#ifndef BACKENDS_OPENCL_SOLVERS_GPU_CLASS_GPU_CLASS_H
#define BACKENDS_OPENCL_SOLVERS_GPU_CLASS_GPU_CLASS_H

#include "backends/opencl/device/class.h"
#include "backends/opencl/program/program.h"
#include "backends/opencl/program/source.h"

extern const struct opencl_solver gpu_conv_solver, gpu_linear_solver;
/* Takes any convolution or linear layer. */
extern const struct opencl_solver generic_conv;

const struct tiling *gpu_tiling(const struct opencl_program *program);
/* Returns the rows of a tile with this number of columns; fewer if the product
 * has only `most` rows. */
int gpu_rows(const struct opencl_program *program, int columns, int most);
/* Returns the outputs per sample of step index. */
size_t gpu_outputs(const struct opencl_program *program, int index);
/* Returns a launch of this class with this number of work-groups. */
struct launch gpu_launch(const struct opencl_program *program, const char *name,
			 int index, int groups);
/* Builds the kernels of a step. Adds the macros of all steps to defines. */
int gpu_build(struct opencl_program *program, enum source source, int index,
	      struct defines *defines, struct error *err);
/* Appends a launch with the seed of dropout after the memories. */
int gpu_add_seeded(struct opencl_program *program, struct pass *pass,
		   const struct launch *launch, const cl_mem *memories,
		   int count, struct error *err);

/* gpu_conv.c: returns the samples per part of a weight gradient. */
int gpu_split_samples(const struct opencl_program *program);
int gpu_conv_columns(const struct opencl_program *program, int index);

/* gpu_sums.c: the parts of gradients, each laid out like the flat vector; the
 * last kernel of a step adds them up. gpu_parts_at() returns the offset of the
 * parts of step index in floats; for the number of steps, all floats. */
size_t gpu_parts_at(const struct opencl_program *program, int index);
int gpu_sums_begin(struct opencl_program *program, struct pass *pass,
		   struct error *err);
int gpu_sums_end(struct opencl_program *program, struct error *err);
int gpu_sums_build(struct opencl_program *program, struct error *err);
int gpu_sums_gradient(struct opencl_program *program, struct error *err);
int gpu_sums_train(struct opencl_program *program, const struct update *update,
		   struct error *err);

#endif
