/*
 * The steps of a program's plan: how they follow one another, where their
 * activations are, and how much there is to do.
 */
#ifndef BACKENDS_OPENCL_PROGRAM_STEPS_H
#define BACKENDS_OPENCL_PROGRAM_STEPS_H

#include "backends/opencl/program/program.h"

const struct opencl_device *
program_device(const struct opencl_program *program);
const struct device_class *program_class(const struct opencl_program *program);

/* Vectors that so many floats fill, the last of them perhaps not whole. */
int vector_count(const struct opencl_program *program, int floats);
/* Samples of a gradient, at least 1. */
int batch_most(const struct opencl_program *program);

const struct step *step_at(const struct opencl_program *program, int index);
const struct opencl_solver *solver_of(const struct opencl_program *program,
				      int index);
/* The step that a row belongs to. */
int step_of(const struct opencl_program *program, int row);
/* The step that makes what step index reads, or STEP_IMAGES; and the only one
 * that reads what it makes, or STEP_NONE. */
#define STEP_IMAGES (-1)
#define STEP_NONE (-1)
int step_source(const struct opencl_program *program, int index);
int step_reader(const struct opencl_program *program, int index);
/* Whether step index leads: also computes the one that it reads, both ways; and
 * whether the one that reads it does so. */
int step_leads(const struct opencl_program *program, int index);
int step_is_led(const struct opencl_program *program, int index);
/* Whether it computes the loss behind it, too; not of STEP_IMAGES. */
int step_has_loss(const struct opencl_program *program, int index);
/* Whether its input gradient is wanted. */
int step_wants_dx(const struct opencl_program *program, int index);

/* Where things are in an activation, counted in floats. */
struct layout {
	int sample, channel, row, column;
};

/* Of the input of step index: the images, or what its source makes. */
struct layout layout_input(const struct opencl_program *program, int index);
struct layout layout_output(const struct opencl_program *program, int index);
/* Channels last: what convolutions make, and read unless they are first. */
struct layout layout_channels_last(const struct opencl_program *program,
				   struct shape shape);

/* What is dropped at the end of a step; the values are those of vector.cl. */
enum dropping { DROP_NOTHING, DROP_ELEMENTS, DROP_PLANES };
enum dropping step_dropping(const struct opencl_program *program, int index);
/* What is kept grows by this: the bits of a float, whose text would depend on
 * the locale. */
unsigned step_growth_bits(const struct opencl_program *program, int index);
/* Bytes of a sample in keep: whole numbers of what dropout_choose makes. */
int step_keep_sample(const struct opencl_program *program, int index);

/* Multiply-adds of a sample, forward, and parameters of the main layer. */
double step_products(const struct opencl_program *program, int index);
double step_parameters(const struct opencl_program *program, int index);
double step_inputs(const struct opencl_program *program, int index);
double step_outputs(const struct opencl_program *program, int index);

/* What step index reads, and its input gradient, or NULL. */
cl_mem step_input(const struct opencl_program *program,
		  const struct pass *pass, int index);
cl_mem step_dx(const struct opencl_program *program, const struct pass *pass,
	       int index);

/* What a row makes, or the images; the gradient by it is NULL if it is not
 * wanted. Samples are so many floats apart. */
struct value {
	cl_mem memory, gradient;
	int sample;
};

struct value value_of(const struct opencl_program *program,
		      const struct pass *pass, int row);
/* A kernel of generic.cl for size elements of each sample, SPAN for each
 * work-group. */
struct launch generic_launch(const struct opencl_program *program,
			     const char *name, int index, size_t size);
/* Appends a launch, the words behind the memories. */
int generic_append(struct opencl_program *program, struct pass *pass,
		   const struct launch *launch, const cl_mem *memories,
		   int memory_count, const cl_int *words, int word_count,
		   struct error *err);

/*
 * A chain: rows that kernels made for it compute together, a convolution with
 * stride 1, a bias and nothing around it, then a ReLU, a pooling whose windows
 * neither overlap nor leave gaps, and a dropout; or a linear layer, a ReLU and
 * a dropout. It writes its input gradient, and does not add to it. Returns how
 * many rows from first on are one; 0: none, see struct solver.
 */
int chain_of_conv(const struct graph *graph, int first, const char **why);
int chain_of_linear(const struct graph *graph, int first, const char **why);

/* The rows of a step by their kinds. Layers are indices into the model's table,
 * or STEP_NO_LAYER; what is of a main layer that is not there is 0. */
#define STEP_NO_LAYER (-1)
struct chain {
	int main; /* the convolution or linear layer */
	int relu, pool, dropout;
	int window;	       /* of the convolution */
	int pool_window;       /* 1 without pooling */
	struct shape in, out;  /* of the whole step */
	struct shape main_out; /* of the main layer, before ReLU and pooling */
	size_t weight, bias;   /* offsets in the flat vector */
	int broken;	       /* see backend_layer_is_broken() */
};
struct chain chain_at(const struct opencl_program *program, int index);
/* The only row that reads row's output, or STEP_NO_LAYER. */
int chain_reader(const struct graph *graph, int row);

#endif
