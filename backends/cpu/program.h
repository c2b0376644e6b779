/* A program of the cpu backend: steps in the plan's order, the values between
 * them, and the places of their parameters. */
#ifndef BACKENDS_CPU_PROGRAM_H
#define BACKENDS_CPU_PROGRAM_H

#include "backends/cpu/kernels/kernels.h"
#include "backends/cpu/solver.h"
#include "backends/host/host.h"
#include "backends/host/storage.h"

/* Result of a backward pass for the parameters that can be updated at once. */
enum cpu_gradient_kind {
	CPU_GRADIENT_STORED,  /* their gradient */
	CPU_GRADIENT_APPLIED, /* the update is made; no gradient */
	CPU_GRADIENT_FACTORS  /* for shared layers, factors of the update */
};

struct cpu_factors;

#define CPU_MOST_SOLVERS 12

struct cpu_program {
	struct host_program host;
	const struct cpu_kernels *kernels;
	const struct solver *solvers[CPU_MOST_SOLVERS]; /* the plan's choices */
	int count;
	struct cpu_step *steps[MODEL_MAX_LAYERS];
	struct cpu_value images, values[MODEL_MAX_LAYERS]; /* outputs of rows */
	/* The images in the common layout, if a step needs that. */
	struct cpu_value common_images;
	int needs_common;
	char *memory;	   /* of values that are not lent */
	float *logits;	   /* of a sample, in the contract's order */
	void *scratch;	   /* of the largest step */
	/* 1 = parameters changed since the last refresh, and since the last
	 * one for training */
	int stale_forward, stale_backward;
	size_t updated;	   /* floats of each vector, since the last gradient */
	/* Floats at the front of the vectors whose steps do not update during
	 * the backward pass */
	size_t deferred_end;
	enum cpu_gradient_kind gradient_kind; /* of the last gradient */
	struct cpu_factors *factors; /* NULL = none are updated together */
	/* Rows whose stored values are rounded; and the parameters that
	 * products read: in fp16 a rounded copy, else VECTOR_PARAMETERS. */
	struct storage storage;
	float *parameters;
	/* enum rounds of each row, for struct program */
	unsigned char rounds[MODEL_MAX_LAYERS];
	/* 1 = round wherever possible: rounding makes no layer faster */
	int rounds_all;
	/* 1 = forward of a layer without a mark in rounds is rounded */
	int rounds_forward;
	float *rounded_images; /* NULL = images are used as they are */
};

/* Returns 1 if factors are rounded to bf16 and the kernels have AMX's tiles. */
int cpu_multiplies_tiles(const struct cpu_program *program);
/* Records in struct program how the step that begins at row rounds. */
void cpu_set_rounding(struct cpu_program *program, int row,
		      enum rounds rounding);
/* Returns the bf16 kernels that take factors rounded in advance, as weights and
 * values are in inference; else NULL. */
const struct igemm_kernels *cpu_packed_products(
	const struct cpu_program *program);

/*
 * Makes the plan's steps, lets each solver lay its step out, and places their
 * parameters. Sets length to the floats of a vector. Returns 0, or -1 without
 * memory.
 */
int cpu_lay_out(struct cpu_program *program, size_t *length);
/* Allocates all arrays of a program that is laid out, except the vectors.
 * Returns 0, or -1 without memory. */
int cpu_allocate_arrays(struct cpu_program *program);
/* Returns the bytes of the large arrays: values, other forms of the images,
 * scratch, and the steps' own. */
double cpu_array_bytes(const struct cpu_program *program);
void cpu_release_steps(struct cpu_program *program);

/* Copies all parameters from flat, the contract's order, to own, the program's
 * (to_own), or back. */
void cpu_copy_parameters(const struct cpu_program *program, float *own,
			 float *flat, int to_own);

void cpu_forward(struct cpu_program *program, const struct cpu_pass *pass);
/* Requires cpu_forward() on the whole batch, and the gradient of the logits. */
void cpu_backward(struct cpu_program *program, const struct cpu_pass *pass);

/* Returns a row's output; MODEL_IMAGES is a row, too. */
struct cpu_value *cpu_value_of(struct cpu_program *program, int row);
/* Returns a row's output in the common layout; for lay_out, which may request a
 * copy of the images. */
struct cpu_value *cpu_common_value(struct cpu_program *program, int row);

static inline const struct node *cpu_node(const struct cpu_program *program,
					  int row)
{
	return &program->host.graph.nodes[row];
}

/* Returns the step's row of a kind, or CPU_NO_ROW; LAYER_DROPOUT finds either
 * dropout. */
int cpu_row_of(const struct cpu_program *program, const struct cpu_step *step,
	       enum layer_kind kind);

/*
 * Returns 1 if the dropout at row drops anything; row may be CPU_NO_ROW. The
 * functions below return its choices for the last gradient's samples, and the
 * factor of kept values.
 */
int cpu_drops(const struct cpu_program *program, int row);
static inline const uint8_t *cpu_choices(const struct cpu_program *program,
					 int row)
{
	return program->host.decisions[row];
}
static inline float cpu_drop_scale(const struct cpu_program *program, int row)
{
	return (float)(1 / (1 - cpu_node(program, row)->layer->drop));
}
static inline int cpu_drops_planes(const struct cpu_program *program, int row)
{
	return cpu_node(program, row)->layer->kind == LAYER_DROPOUT2D;
}

/* Computes a ReLU's decisions in the last gradient from its output. */
void cpu_decide_relu(const struct cpu_program *program,
		     const struct cpu_value *value, uint8_t *values);

#endif
