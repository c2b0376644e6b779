/* The stem of a program: its first rows, computed by kernels/stem/stem.h. */
#ifndef BACKENDS_CPU_SOLVERS_STEM_H
#define BACKENDS_CPU_SOLVERS_STEM_H

#include "backends/cpu/program.h"

struct stem_step {
	struct cpu_step step;
	const struct stem_kernels *kernels;
	struct stem_shape shape;
	int group; /* samples of a call */
	int relu, pool, dropout; /* rows; CPU_NO_ROW */
	size_t first, first_bias; /* offsets in the vectors */
	size_t weight, bias;	  /* offsets of the second convolution's */
	int *pixel_order; /* of each pixel of a pooled plane */
	/* Output and its gradient in the kernels' layout: the step's own, if
	 * the next step takes that layout, else copies. */
	struct cpu_value planes;
	int is_copied; /* copies */
	uint8_t *winners; /* [batch][planes.size] */
	float *points;	  /* transformed weights */
	struct stem_weights weights;
	size_t signs_size;
	uint8_t *signs; /* [groups of the batch][signs_size] */
	float *sums; /* sums of the gradient of the second weights */
	/* sums of the gradient of the first weights, lane by lane */
	float *lane_sums;
	float *scratch;
};

/* Returns [outputs] of a sample in training, 0 = a dropped plane; NULL = none
 * is dropped. */
static inline const uint8_t *stem_keep(const struct cpu_program *program,
				       const struct stem_step *stem,
				       int sample)
{
	return stem->planes.dropped_by == CPU_NO_ROW ? NULL :
		host_decisions_at(&program->host, stem->planes.dropped_by,
				  sample);
}

/* Slots of struct cpu_solver, in stem_report.c. */
void stem_decide(const struct cpu_program *program, const struct cpu_step *step,
		 int row, uint8_t *values);
void stem_work(const struct cpu_program *program, const struct cpu_step *step,
	       struct profile_part *parts);

#endif
