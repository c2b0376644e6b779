/*
 * A program of the cpu backend: steps in the order of the plan's, what lies
 * between them, and where the parameters of each are.
 */
#ifndef BACKENDS_CPU_PROGRAM_H
#define BACKENDS_CPU_PROGRAM_H

#include "backends/cpu/kernels/kernels.h"
#include "backends/cpu/solver.h"
#include "backends/host/host.h"
#include "backends/host/storage.h"

/* What a pass back leaves of the gradient of what can be updated at once. */
enum cpu_leaves {
	CPU_LEAVES_GRADIENT, /* the gradient */
	CPU_LEAVES_UPDATE,   /* nothing: steps have made their update */
	CPU_LEAVES_PARTS     /* of joint layers, what cores make it of */
};

struct cpu_factors;

#define CPU_MOST_SOLVERS 12

struct cpu_program {
	struct host_program host;
	const struct cpu_kernels *kernels;
	const struct solver *solvers[CPU_MOST_SOLVERS]; /* the plan's choice */
	int count;
	struct cpu_step *steps[MODEL_MAX_LAYERS];
	struct cpu_value images, values[MODEL_MAX_LAYERS]; /* by rows */
	/* The images in the common layout, if a step wants them so. */
	struct cpu_value common_images;
	int wants_common;
	char *memory;	   /* of values, but of those that are lent */
	float *logits;	   /* of a sample, in the contract's order */
	void *scratch;	   /* of the largest step */
	int moved;	   /* parameters, since refresh forward ... */
	int moved_back;	   /* ... and with training */
	size_t updated;	   /* floats of each vector, since the last gradient */
	/* Floats of the vectors before those that can be updated at once. */
	size_t eager;
	enum cpu_leaves leaves; /* of the last gradient */
	struct cpu_factors *joint; /* NULL: a core updates all it has alone */
	/* What is rounded, for solvers that leave what they make in their
	 * step's values; and the parameters as products take them: a copy
	 * where these alone are rounded, else VECTOR_PARAMETERS. */
	struct storage storage;
	float *parameters;
	unsigned char rounds[MODEL_MAX_LAYERS]; /* as struct program says */
	int rounds_all; /* whatever can be, as nothing is faster so */
	int rounds_forward; /* whether a layer does that has no such mark */
	float *rounded_images; /* NULL: they are taken as they come */
};

/* Whether factors are rounded to bf16 where kernels have AMX's tiles. */
int cpu_multiplies_tiles(const struct cpu_program *program);
/* The first row of a step rounds what struct program says. */
void cpu_tell_rounding(struct cpu_program *program, int row,
		       enum rounds rounding);
/* The products of bf16 whose factors may be rounded before, as in inference
 * weights and what is between two of them are; else NULL. */
const struct igemm_kernels *cpu_packed_products(
	const struct cpu_program *program);

/* Steps from the plan; what each solver makes of them, places in the vectors:
 * length is that of one. */
int cpu_lay_out(struct cpu_program *program, size_t *length);
/* All arrays of a program that is laid out, vectors aside. */
int cpu_allocate_arrays(struct cpu_program *program);
/* Bytes of the large ones: values, images in other forms, scratch, what steps
 * have of their own. */
double cpu_array_bytes(const struct cpu_program *program);
void cpu_release_steps(struct cpu_program *program);

/* All parameters, to the vectors' own order or from it. */
void cpu_copy_parameters(const struct cpu_program *program, float *own,
			 float *flat, int to_own);

void cpu_forward(struct cpu_program *program, const struct cpu_pass *pass);
/* After that of the whole batch, and the gradient of the logits. */
void cpu_backward(struct cpu_program *program, const struct cpu_pass *pass);

/* What a row puts out; MODEL_IMAGES are a row, too. */
struct cpu_value *cpu_value_of(struct cpu_program *program, int row);
/* The same where it has to be in the common layout; for lay_out. */
struct cpu_value *cpu_common_value(struct cpu_program *program, int row);

static inline const struct node *cpu_node(const struct cpu_program *program,
					  int row)
{
	return &program->host.graph.nodes[row];
}

/* The step's row of a kind, or CPU_NO_ROW; LAYER_DROPOUT is either dropout. */
int cpu_row_of(const struct cpu_program *program, const struct cpu_step *step,
	       enum layer_kind kind);

/* Whether a dropout's row, or CPU_NO_ROW, drops anything; its choices, by
 * samples of the last gradient, and what those that are kept grow by. */
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

/* Decisions of a ReLU in the last gradient, from what it puts out. */
void cpu_decide_relu(const struct cpu_program *program,
		     const struct cpu_value *value, uint8_t *values);

#endif
