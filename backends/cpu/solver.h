/*
 * A step of a program, and the solver that computes it: only a solver knows
 * what its step is, and where it stands among the others. The solvers are in
 * solvers/, and their list, the most special ones first, in cpu.c.
 */
#ifndef BACKENDS_CPU_SOLVER_H
#define BACKENDS_CPU_SOLVER_H

#include "backends/contract/plan.h"
#include "backends/contract/profile.h"
#include "backends/cpu/value.h"

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
	size_t own;	 /* bytes of its tables, of copies of the batch, and of
			  * packed weights */
	int can_round;	 /* set by lay_out: it can put out->rounded out */
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
	/* work() reads in, out and dy: nothing else may use their memory. */
	int work_reads_values;

	/* Sets length, scratch and whatever follows from shapes; finds in,
	 * counts itself in in->rounding if it would round that, and changes out
	 * where it is not to be of the common layout. -1: no memory. Then, at
	 * being set, its parameters have their place. */
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

	/* After forward in training: decisions of a ReLU or max pooling among
	 * its rows, in the contract's order. */
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
