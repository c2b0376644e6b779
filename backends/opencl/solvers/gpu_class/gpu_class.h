/* Private to the gpu class of the OpenCL backend. */
#ifndef BACKENDS_OPENCL_SOLVERS_GPU_CLASS_GPU_CLASS_H
#define BACKENDS_OPENCL_SOLVERS_GPU_CLASS_GPU_CLASS_H

#include "backends/opencl/device/class.h"
#include "backends/opencl/program/program.h"
#include "backends/opencl/program/source.h"

extern const struct opencl_solver gpu_conv_solver, gpu_linear_solver;
/* Of any convolution or linear layer. */
extern const struct opencl_solver generic_conv;

const struct tiling *gpu_tiling(const struct opencl_program *program);
/* Rows of a tile with so many columns: few more than there are at most. */
int gpu_rows(const struct opencl_program *program, int columns, int most);
size_t gpu_outputs(const struct opencl_program *program, int index);
/* Of a kernel of this class: so many work-groups at most. */
struct launch gpu_launch(const struct opencl_program *program, const char *name,
			 int index, int groups);
/* Builds the kernels of a step, with the macros of all steps besides these. */
int gpu_build(struct opencl_program *program, enum source source, int index,
	      struct defines *defines, struct error *err);
/* Appends to a pass, with the seed of the dropout behind the memories. */
int gpu_add_seeded(struct opencl_program *program, struct pass *pass,
		   const struct launch *launch, const cl_mem *memories,
		   int count, struct error *err);

/* gpu_conv.c: samples of each part of a sum of weights. */
int gpu_split_samples(const struct opencl_program *program);
int gpu_conv_columns(const struct opencl_program *program, int index);

/* gpu_sums.c: gradients of parameters that lie in parts, each as in the flat
 * vector, until the last kernel of a step sums them up. The floats of all of
 * them, or where those of step index begin. */
size_t gpu_parts_at(const struct opencl_program *program, int index);
int gpu_sums_begin(struct opencl_program *program, struct pass *pass,
		   struct error *err);
int gpu_sums_end(struct opencl_program *program, struct error *err);
int gpu_sums_build(struct opencl_program *program, struct error *err);
int gpu_sums_gradient(struct opencl_program *program, struct error *err);
int gpu_sums_train(struct opencl_program *program, const struct update *update,
		   struct error *err);

#endif
