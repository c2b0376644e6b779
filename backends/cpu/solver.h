/*
 * A step of a program, and the solver that computes it. Only a solver accesses
 * its own kind of step. The solvers are in solvers/; cpu.c lists them, the most
 * special ones first.
 */
#ifndef BACKENDS_CPU_SOLVER_H
#define BACKENDS_CPU_SOLVER_H

#include "backends/contract/plan.h"
#include "backends/contract/profile.h"
#include "backends/cpu/value.h"

struct cpu_program;

/* Samples first .. first + count - 1 of a batch, stored at 0 .. count - 1 of
 * the values. A gradient's pass is the whole batch. */
struct cpu_pass {
	const struct batch *batch;
	int first, count;
	int training;
	/* Backward: the update to make at once; NULL = none. */
	const struct update *update;
};

/* First member of a solver's data of a step. */
struct cpu_step {
	const struct cpu_solver *solver;
	int index;	 /* among the program's steps */
	int first, last; /* rows */
	size_t at;	 /* offset of its parameters in the vectors */
	size_t length;	 /* floats of its parameters, gaps included */
	size_t scratch;	 /* bytes that it needs of the program's scratch */
	/* bytes of its tables, copies of the batch and packed weights */
	size_t own;
	int can_round;	 /* 1 = it can store out->rounded; set by lay_out */
	struct cpu_value *in, *out; /* of the first row, and of the last */
};

/* A solver's functions; unneeded ones may be NULL. They are called in the order
 * of steps, backward in reverse. */
struct cpu_solver {
	struct solver base;
	size_t size; /* of its data of a step, zeroed */
	int updates_at_once; /* 1 = backward makes pass->update */
	/* 1 = work() reads in, out and dy, so nothing else may use their
	 * memory. */
	int work_reads_values;

	/*
	 * Sets length, scratch and all that follows from shapes. Finds in, adds
	 * 1 to in->rounding if it would round in, and changes out if its layout
	 * is not the common one. Returns -1 without memory. place() follows
	 * when at is set.
	 */
	int (*lay_out)(struct cpu_program *program, struct cpu_step *step);
	void (*place)(struct cpu_program *program, struct cpu_step *step);
	/* Allocates arrays over the batch; returns -1 without memory. */
	int (*allocate)(struct cpu_program *program, struct cpu_step *step);
	void (*release)(struct cpu_step *step);

	/* Copies each of its parameters: from flat to own (to_own), or back. */
	void (*copy)(const struct cpu_program *program,
		     const struct cpu_step *step, float *own, float *flat,
		     int to_own);
	/* Derives data from changed parameters, before forward; training: for
	 * backward as well. */
	void (*refresh)(struct cpu_program *program, struct cpu_step *step,
			int training);

	void (*forward)(struct cpu_program *program, struct cpu_step *step,
			const struct cpu_pass *pass);
	/*
	 * Computes dx, the gradient of in, from dy, the gradient of out. dx is
	 * stored or added, as the graph says; dy may be overwritten. Also
	 * computes the gradient of the parameters: added to zeros, or stored if
	 * it updates at once. Not called if dy is not needed.
	 */
	void (*backward)(struct cpu_program *program, struct cpu_step *step,
			 const struct cpu_pass *pass);

	/* Stores the decisions of a ReLU or max pooling at row, in the
	 * contract's order; called after forward in training. */
	void (*decide)(const struct cpu_program *program,
		       const struct cpu_step *step, int row, uint8_t *values);
	/* Fills the parts of the step; see profile.h. */
	void (*work)(const struct cpu_program *program,
		     const struct cpu_step *step, struct profile_part *parts);
};

extern const struct cpu_solver cpu_stem_solver, cpu_sparse_linear_solver;
extern const struct cpu_solver cpu_winograd_solver, cpu_conv_solver;
extern const struct cpu_solver cpu_linear_solver;
extern const struct cpu_solver cpu_maxpool_solver, cpu_avgpool_solver;
extern const struct cpu_solver cpu_batchnorm_solver, cpu_add_solver;
extern const struct cpu_solver cpu_relu_solver, cpu_dropout_solver;

#endif
