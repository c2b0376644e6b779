/* The stem of a program: its first rows, as kernels/stem.h has them. */
#ifndef BACKENDS_CPU_SOLVERS_STEM_H
#define BACKENDS_CPU_SOLVERS_STEM_H

#include "backends/cpu/program.h"

struct stem_step {
	struct cpu_step step;
	const struct stem_kernels *kernels;
	struct stem_shape shape;
	int group; /* samples of a call */
	int relu, pool, dropout; /* rows; CPU_NO_ROW */
	size_t first, first_bias; /* in the vectors */
	size_t weight, bias;	  /* likewise, of the second convolution */
	int *places; /* of each pixel of a pooled plane */
	/* What is put out and the gradient by it, as the kernels have them:
	 * those of the step, where what reads it takes them so, or own ones. */
	struct cpu_value planes;
	int is_copied; /* own ones */
	uint8_t *winners; /* [batch][planes.size] */
	float *points;	  /* transformed weights */
	struct stem_weights weights;
	size_t signs_size;
	uint8_t *signs; /* [groups of the batch][signs_size] */
	float *sums; /* of the gradient by the second one's weights */
	float *lane_sums; /* the same by the first one's, lane by lane */
	float *scratch;
};

/* [outputs] of a sample in training: 0, a dropped plane; NULL: none is. */
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
