/* A step that is a convolution or linear layer with the parameters of an
 * indirect GEMM (kernels/igemm/igemm.h), for the solvers that compute one. */
#ifndef BACKENDS_CPU_SOLVERS_IGEMM_H
#define BACKENDS_CPU_SOLVERS_IGEMM_H

#include "backends/cpu/program.h"
#include "backends/cpu/solvers/igemm_conv.h"

struct igemm_step {
	struct cpu_step step;
	struct igemm_conv conv;
	const struct igemm_kernels *kernels; /* of its own products */
	/* offsets in the vectors; bias also if the layer has none */
	size_t weight, bias;
	int relu;	     /* row, or CPU_NO_ROW */
	struct cpu_value *other; /* addend of a convolution, or NULL */
	/* copies of the input, [batch], if the conv is joined or folded */
	float *joined;
	/* In inference with rounded factors: packed weights, and rounded copies
	 * of the input; joined then holds one sample. NULL = not rounded. */
	void *packed;
	uint16_t *rounded;
};

/* Lays out a convolution; dx: method for the input gradient, if it is needed.
 * Returns -1 without memory. */
int igemm_lay_out_conv(struct cpu_program *program, struct cpu_step *step,
		       enum igemm_dx dx);

/* Lays out the parameters for igemm_lay_out_conv(), once the step's conv is
 * open. */
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

/*
 * Returns the number of rows that a convolution takes, with the addition
 * (inference only) and the ReLU after it; 0 = none. In training, an addition's
 * two inputs would both need the gradient.
 */
int igemm_takes_conv(const struct graph *graph, int first,
		     const struct program_options *options, const char **why);

/* Copies the input of a joined or folded conv; call before forward. */
void igemm_join(const struct igemm_step *igemm, int count);

/* Copies the addend to out, where the products are added to it; call before
 * forward. */
void igemm_bring_other(const struct igemm_step *igemm, int count);

/* Returns the place of the bias in a vector, or NULL without a bias. */
float *igemm_bias(const struct cpu_program *program,
		  const struct igemm_step *igemm, float *vector);

/* Turns the gradient of out into the gradient of the ReLU's input, if the step
 * has a ReLU; call first in backward. */
void igemm_stop_gradient(const struct igemm_step *igemm, int count);

/* Moments of a step's output, for a batch norm, and the kernels that add them;
 * value is NULL if none are needed. */
struct igemm_moments {
	const struct elementwise_kernels *kernels;
	const struct cpu_value *value;
};

/* Clears the moments of a step's output; call before forward. */
struct igemm_moments igemm_begin_moments(const struct cpu_program *program,
					 const struct cpu_step *step,
					 const struct cpu_pass *pass);

/* Adds rows to moments, a struct igemm_moments; out is the first row. */
void igemm_add_moments(void *moments, const float *out, int rows);

/* Slot work of a step with forward products per sample of out, and back
 * products per sample of dx. */
void igemm_work(const struct cpu_program *program, const struct cpu_step *step,
		double forward, double back, struct profile_part *parts);

#endif
