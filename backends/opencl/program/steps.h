/*
 * The steps of a program's plan: their order, the layout of their activations,
 * and the amount of their work.
 */
#ifndef BACKENDS_OPENCL_PROGRAM_STEPS_H
#define BACKENDS_OPENCL_PROGRAM_STEPS_H

#include "backends/opencl/program/program.h"

const struct opencl_device *
program_device(const struct opencl_program *program);
const struct device_class *program_class(const struct opencl_program *program);

/* Returns the number of vectors that hold these floats. */
int vector_count(const struct opencl_program *program, int floats);
/* Returns the most samples of a gradient, at least 1. */
int batch_most(const struct opencl_program *program);

const struct step *step_at(const struct opencl_program *program, int index);
const struct opencl_solver *solver_of(const struct opencl_program *program,
				      int index);
/* Returns the step of a row. */
int step_of(const struct opencl_program *program, int row);
/* step_source() returns the step whose output step index reads, or STEP_IMAGES.
 * step_reader() returns the only step that reads its output, or STEP_NONE. */
#define STEP_IMAGES (-1)
#define STEP_NONE (-1)
int step_source(const struct opencl_program *program, int index);
int step_reader(const struct opencl_program *program, int index);
/* A step leads if it also computes its source, both ways. A step is led if its
 * only reader leads. */
int step_leads(const struct opencl_program *program, int index);
int step_is_led(const struct opencl_program *program, int index);
/* Returns 1 if the step also computes the loss after it; 0 for STEP_IMAGES. */
int step_has_loss(const struct opencl_program *program, int index);
/* Returns 1 if the step must compute its input gradient. */
int step_needs_dx(const struct opencl_program *program, int index);

/* Strides of an activation, in floats. */
struct layout {
	int sample, channel, row, column;
};

/* Return the layout of a step's input (the images, or the output of its source)
 * and of its output. */
struct layout layout_input(const struct opencl_program *program, int index);
struct layout layout_output(const struct opencl_program *program, int index);
/* Returns the layout with channels last, padded to whole vectors. */
struct layout layout_channels_last(const struct opencl_program *program,
				   struct shape shape);

/* The units that the dropout of a step drops. vector.cl has the same values. */
enum dropping { DROP_NOTHING, DROP_ELEMENTS, DROP_PLANES };
enum dropping step_dropping(const struct opencl_program *program, int index);
/* Returns the factor of kept values, as the bits of a float: its text would
 * depend on the locale. */
unsigned step_growth_bits(const struct opencl_program *program, int index);
/* Returns the bytes of a sample in keep: a multiple of what an item of
 * dropout_choose writes. */
int step_keep_sample(const struct opencl_program *program, int index);

/* Return the forward multiply-adds per sample, and the parameters, of the main
 * layer; and the inputs and outputs per sample of the step. */
double step_products(const struct opencl_program *program, int index);
double step_parameters(const struct opencl_program *program, int index);
double step_inputs(const struct opencl_program *program, int index);
double step_outputs(const struct opencl_program *program, int index);

/* Return the input of step index, and its input gradient or NULL. */
cl_mem step_input(const struct opencl_program *program,
		  const struct pass *pass, int index);
cl_mem step_dx(const struct opencl_program *program, const struct pass *pass,
	       int index);

/* The output of a row, or the images. */
struct value {
	cl_mem memory;
	cl_mem gradient; /* by it; NULL: not needed */
	int sample;	 /* floats from sample to sample */
};

struct value value_of(const struct opencl_program *program,
		      const struct pass *pass, int row);
/* Returns a launch of a kernel of generic.cl for size elements per sample, with
 * SPAN elements per work-group. */
struct launch generic_launch(const struct opencl_program *program,
			     const char *name, int index, size_t size);
/* Appends a launch with words after the memories. */
int generic_append(struct opencl_program *program, struct pass *pass,
		   const struct launch *launch, const cl_mem *memories,
		   int memory_count, const cl_int *words, int word_count,
		   struct error *err);

/*
 * A chain is a run of rows that specialized kernels compute together:
 * - a convolution with stride 1, a bias and no padding, then a ReLU, a pooling
 *   whose windows neither overlap nor leave gaps, and a dropout; or
 * - a linear layer, a ReLU and a dropout.
 *
 * It writes its input gradient and never adds to it. These functions return the
 * number of rows, from first on, that are a chain. 0: they are none; see struct
 * solver.
 */
int chain_of_conv(const struct graph *graph, int first, const char **why);
int chain_of_linear(const struct graph *graph, int first, const char **why);

/* The rows of a step by kind, as indices into the model's table or
 * STEP_NO_LAYER. Without a main layer the members after dropout are 0. */
#define STEP_NO_LAYER (-1)
struct chain {
	int main; /* the convolution or linear layer */
	int relu, pool, dropout;
	int window;	       /* of the convolution; 0: linear layer */
	int pool_window;       /* 1 without pooling */
	struct shape in, out;  /* of the whole step */
	struct shape main_out; /* of the main layer, before ReLU and pooling */
	size_t weight, bias;   /* offsets in the flat vector */
	int broken;	       /* see backend_layer_is_broken() */
};
struct chain chain_at(const struct opencl_program *program, int index);
/* Returns the only row that reads the output of row, or STEP_NO_LAYER. */
int chain_reader(const struct graph *graph, int row);

#endif
