/*
 * What several cores have in common to make the weight gradient of a linear
 * layer together, and with it the update: each core for some blocks of the
 * layer's inputs, over the samples of all. Of each core it has the layer's
 * inputs, and what its kernels leave of the gradient by its outputs.
 */
#ifndef BACKENDS_CPU_SOLVERS_JOINT_H
#define BACKENDS_CPU_SOLVERS_JOINT_H

#include "backends/cpu/solvers/sparse_linear.h"

struct cpu_joint {
	struct linear_step *linear;
	int rank, size;
	int apart;    /* no memory is common: each core updates all weights */
	size_t each;  /* bytes of a core's part */
	char *all;    /* [size][each]; owned where cores are apart */
	size_t keep, dz, in; /* places in a part, behind its header */
	struct linear_part *parts; /* [size] */
	void *scratch;
	size_t updated; /* floats of each vector, in the last update */
};

/* Whether cores make the layer's update together. */
int cpu_joint_fits(const struct cpu_program *program,
		   const struct linear_step *linear);
/* -1: no memory. */
int cpu_joint_open(struct cpu_program *program, struct linear_step *linear);
void cpu_joint_close(struct cpu_program *program); /* without one, too */
int cpu_is_joint(const struct cpu_program *program,
		 const struct cpu_step *step);
/* The layer's weights; returns the place behind them. */
size_t cpu_joint_place(struct cpu_program *program, size_t at);
/* Every core calls it at once: memory of all, the layer's inputs among it. */
int cpu_joint_share(struct cpu_program *program, struct error *err);

/* The layer's own backward pass, but for what cores make together. */
void cpu_joint_backward(struct cpu_program *program,
			const struct linear_batch *batch,
			const struct linear_flow *flow);
/* Before a gradient, which leaves nothing of a batch without samples. */
void cpu_joint_begin(struct cpu_program *program);
/* Of what is behind program->reduced: see update of struct backend. */
void cpu_joint_update(struct cpu_program *program, const struct update *update);

#endif
