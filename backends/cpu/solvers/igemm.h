/* A convolution or linear layer whose parameters are those of a gathered
 * product (kernels/igemm.h), for the solvers that compute one. */
#ifndef BACKENDS_CPU_SOLVERS_IGEMM_H
#define BACKENDS_CPU_SOLVERS_IGEMM_H

#include "backends/cpu/program.h"
#include "backends/cpu/solvers/igemm_conv.h"

struct igemm_step {
	struct cpu_step step;
	struct igemm_conv conv;
	const struct igemm_kernels *kernels; /* of its own products */
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
int igemm_lay_out_conv(struct cpu_program *program, struct cpu_step *step,
		       enum igemm_dx dx);

/* Of igemm_lay_out_conv(), what follows once the step's conv is open. */
void igemm_lay_out_parameters(struct cpu_program *program,
			      struct igemm_step *igemm);

/* Slots of struct cpu_solver. */
int igemm_allocate_joined(struct cpu_program *program, struct cpu_step *step);
void igemm_place(struct cpu_program *program, struct cpu_step *step);
void igemm_release(struct cpu_step *step);
void igemm_copy_conv(const struct cpu_program *program,
		     const struct cpu_step *step, float *own, float *flat,
		     int to_own);
void igemm_decide(const struct cpu_program *program,
		  const struct cpu_step *step, int row, uint8_t *values);

/* Rows of a convolution, with the addition and the ReLU behind it. A gradient
 * would have to know both inputs of the addition. */
int igemm_takes_conv(const struct graph *graph, int first,
		     const struct program_options *options, const char **why);

/* Before forward: copies the input of a conv that wants it. */
void igemm_join(const struct igemm_step *igemm, int count);

/* Before forward, whose products are added to it where there is one: out is
 * what is added. */
void igemm_bring_other(const struct igemm_step *igemm, int count);

/* The bias in a vector, or NULL. */
float *igemm_bias(const struct cpu_program *program,
		  const struct igemm_step *igemm, float *vector);

/* Before anything else of backward: if the step has a ReLU, its gradient by out
 * becomes the one by what the ReLU takes. */
void igemm_stop_gradient(const struct igemm_step *igemm, int count);

/* What a batch norm wants of a step's output, and who adds it; value is NULL
 * where none does. */
struct igemm_moments {
	const struct plane_kernels *kernels;
	const struct cpu_value *value;
};

/* Before forward. */
struct igemm_moments igemm_begin_moments(const struct cpu_program *program,
					 const struct cpu_step *step,
					 const struct cpu_pass *pass);

/* Adds rows of struct igemm_moments, out being the first one's. */
void igemm_add_moments(void *moments, const float *out, int rows);

/* Slot work, of a step that does so many products for a sample of out, and of
 * dx. */
void igemm_work(const struct cpu_program *program, const struct cpu_step *step,
		double forward, double back, struct profile_part *parts);

#endif
