/*
 * The cpu backend's own types: a program is a list of steps, each of which one
 * solver computes. Only a solver knows what its step is, and where it stands
 * among the others: that of the stem is the first one.
 */
#ifndef BACKENDS_CPU_CPU_H
#define BACKENDS_CPU_CPU_H

#include "backends/cpu/kernels.h"
#include "backends/cpu/parts.h"
#include "backends/cpu/value.h"
#include "backends/host/host.h"

struct cpu_program;

/* Samples first .. first + count of a batch, into places 0 .. count. A
 * gradient's are those of the whole batch. */
struct cpu_pass {
	const struct batch *batch;
	int first, count;
	int training;
	/* Backward: the update that steps which can make it at once. */
	const struct update *update;
};

/* First member of what a solver keeps of a step. */
struct cpu_step {
	const struct cpu_solver *solver;
	int index;	 /* among the program's steps */
	int first, last; /* rows */
	size_t at;	 /* place of its parameters in the vectors ... */
	size_t length;	 /* ... and how many floats they are, gaps included */
	size_t scratch;	 /* bytes that it wants of the program's */
	struct cpu_value *in, *out; /* of the first row, and of the last */
};

/*
 * A solver's functions; those that are not needed may be NULL. All of them are
 * called in the order of steps, but for backward.
 */
struct cpu_solver {
	struct solver base;
	size_t size; /* of what it keeps of a step, all 0 */
	int updates_at_once; /* backward makes the update, where there is one */

	/* Sets length, scratch and whatever follows from shapes; finds in,
	 * and changes out where it is not to be of the common layout. -1: no
	 * memory. Then parameters are placed, at being known. */
	int (*lay_out)(struct cpu_program *program, struct cpu_step *step);
	void (*place)(struct cpu_program *program, struct cpu_step *step);
	/* Arrays over the batch. -1: no memory. */
	int (*allocate)(struct cpu_program *program, struct cpu_step *step);
	void (*release)(struct cpu_step *step);

	/* Copies each of its parameters: to own from flat, or back. */
	void (*copy)(const struct cpu_program *program,
		     const struct cpu_step *step, float *own, float *flat,
		     int to_own);
	/* After a change of the parameters, before forward; training: and
	 * backward. */
	void (*refresh)(struct cpu_program *program, struct cpu_step *step,
			int training);

	void (*forward)(struct cpu_program *program, struct cpu_step *step,
			const struct cpu_pass *pass);
	/* From dy, the gradient by out, which it may change, to dx, that by in
	 * (stored or added, as the graph says), and the gradient by parameters:
	 * added to what is 0 before or, where it updates at once, stored. Not
	 * called where dy is not wanted. */
	void (*backward)(struct cpu_program *program, struct cpu_step *step,
			 const struct cpu_pass *pass);

	/* Of the last gradient, those of a row, in the contract's order. NULL:
	 * those that the host has. */
	void (*decide)(const struct cpu_program *program,
		       const struct cpu_step *step, int row, uint8_t *values);
	/* Fills the parts of the step; see work.h. */
	void (*work)(const struct cpu_program *program,
		     const struct cpu_step *step, struct profile_part *parts);
};

/* What a pass back leaves of the gradient of what can be updated at once. */
enum cpu_leaves {
	CPU_LEAVES_GRADIENT, /* the gradient */
	CPU_LEAVES_UPDATE,   /* nothing: steps have made their update */
	CPU_LEAVES_PARTS     /* of the joint layer, what cores make it of */
};

struct cpu_joint;

struct cpu_program {
	struct host_program host;
	const struct cpu_kernels *kernels;
	int count;
	struct cpu_step *steps[MODEL_MAX_LAYERS];
	struct cpu_value images, values[MODEL_MAX_LAYERS]; /* by rows */
	/* The images in the common layout, if a step wants them so. */
	struct cpu_value common_images;
	int wants_common;
	float *logits;	   /* of a sample, in the contract's order */
	void *scratch;	   /* of the largest step */
	int moved;	   /* parameters, since refresh forward ... */
	int moved_back;	   /* ... and with training */
	size_t updated;	   /* floats of each vector, in the last update */
	/* Floats of the vectors before those that can be updated at once. */
	size_t eager;
	enum cpu_leaves leaves; /* of the last gradient */
	struct cpu_joint *joint; /* NULL: a core updates all it has alone */
};

/* Steps from the plan; what each solver makes of them, places in the vectors:
 * length is that of one. */
int cpu_lay_out(struct cpu_program *program, size_t *length);
/* All arrays of a program that is laid out, vectors aside. */
int cpu_allocate_arrays(struct cpu_program *program);
void cpu_release_steps(struct cpu_program *program);

/* All parameters, to the vectors' own order or from it. */
void cpu_copy_parameters(const struct cpu_program *program, float *own,
			 float *flat, int to_own);

const struct cpu_kernels *cpu_choose_kernels(struct error *err);
/* Whether these kernels have the precision that is asked for. */
int cpu_check_precision(const struct cpu_kernels *kernels,
			const struct program_options *options,
			struct error *err);
/* Slot of struct backend; BENCH_ISA does not matter here. */
const struct peak *cpu_peak(int index);

void cpu_forward(struct cpu_program *program, const struct cpu_pass *pass);
/* After that of the whole batch, and the gradient of the logits. */
void cpu_backward(struct cpu_program *program, const struct cpu_pass *pass);
/* Forward and backward. The update is that of CPU_LEAVES_UPDATE, else NULL. */
void cpu_differentiate(struct cpu_program *program, const struct batch *batch,
		       enum cpu_leaves leaves, const struct update *update);

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

/* Of a ReLU, from what it puts out. */
void cpu_decide_relu(const struct cpu_program *program,
		     const struct cpu_value *value, uint8_t *values);
/* Slot of struct backend. */
int cpu_decisions(struct program *program, int layer, uint8_t *values,
		  struct error *err);

extern const struct cpu_solver cpu_stem_solver, cpu_sparse_linear_solver;
extern const struct cpu_solver cpu_conv_solver, cpu_linear_solver;
extern const struct cpu_solver cpu_maxpool_solver, cpu_avgpool_solver;
extern const struct cpu_solver cpu_batchnorm_solver, cpu_add_solver;
extern const struct cpu_solver cpu_relu_solver, cpu_dropout_solver;

#endif
