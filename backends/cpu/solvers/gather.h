/* A convolution or linear layer whose parameters are those of a gathered
 * product (kernels/gather.h), for the solvers that compute one. */
#ifndef BACKENDS_CPU_SOLVERS_GATHER_H
#define BACKENDS_CPU_SOLVERS_GATHER_H

#include "backends/cpu/program.h"
#include "backends/cpu/solvers/gather_conv.h"

struct gather_step {
	struct cpu_step step;
	struct gather_conv conv;
	const struct gather_kernels *kernels; /* of its own products */
	size_t weight, bias; /* in the vectors; bias without one, too */
	int relu;	     /* row, or CPU_NO_ROW */
	struct cpu_value *other; /* what is added to a convolution, or NULL */
	float *joined;	     /* [batch], copies: of a conv that is joined, or
			      * folded */
	/* In inference, where factors are rounded: the weights, and copies that
	 * are joined, of which joined has one. Or NULL. */
	void *packed;
	uint16_t *rounded;
};

/* Lays out a convolution; dx: how its input gradient is computed, if it is
 * wanted. -1: no memory. */
int gather_lay_out_conv(struct cpu_program *program, struct cpu_step *step,
			enum gather_dx dx);

/* Of gather_lay_out_conv(), what follows once the step's conv is open. */
void gather_lay_out_parameters(struct cpu_program *program,
			       struct gather_step *gather);

/* Slots of struct cpu_solver. */
int gather_allocate_joined(struct cpu_program *program, struct cpu_step *step);
void gather_place(struct cpu_program *program, struct cpu_step *step);
void gather_release(struct cpu_step *step);
void gather_copy_conv(const struct cpu_program *program,
		      const struct cpu_step *step, float *own, float *flat,
		      int to_own);
void gather_decide(const struct cpu_program *program,
		   const struct cpu_step *step, int row, uint8_t *values);

/* Rows of a convolution, with the addition and the ReLU behind it. A gradient
 * would have to know both inputs of the addition. */
int gather_takes_conv(const struct graph *graph, int first,
		      const struct program_options *options, const char **why);

/* Before forward: copies the input of a conv that wants it. */
void gather_join(const struct gather_step *gather, int count);

/* Before forward, whose products are added to it where there is one: out is
 * what is added. */
void gather_bring_other(const struct gather_step *gather, int count);

/* The bias in a vector, or NULL. */
float *gather_bias(const struct cpu_program *program,
		   const struct gather_step *gather, float *vector);

/* Before anything else of backward: if the step has a ReLU, its gradient by out
 * becomes the one by what the ReLU takes. */
void gather_stop_gradient(const struct gather_step *gather, int count);

/* What a batch norm wants of a step's output, and who adds it; value is NULL
 * where none does. */
struct gather_moments {
	const struct plane_kernels *kernels;
	const struct cpu_value *value;
};

/* Before forward. */
struct gather_moments gather_begin_moments(const struct cpu_program *program,
					   const struct cpu_step *step,
					   const struct cpu_pass *pass);

/* Adds rows of struct gather_moments, out being the first one's. */
void gather_add_moments(void *moments, const float *out, int rows);

/* Slot work, of a step that does so many products for a sample of out, and of
 * dx. */
void gather_work(const struct cpu_program *program, const struct cpu_step *step,
		 double forward, double back, struct profile_part *parts);

#endif
