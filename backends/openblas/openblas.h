/* A program that computes one row after the other over the whole batch, in
 * float or double. */
#ifndef BACKENDS_OPENBLAS_OPENBLAS_H
#define BACKENDS_OPENBLAS_OPENBLAS_H

#include "backends/host/lifetimes.h"
#include "backends/host/reference_base.h"

struct openblas;

/* Runs forward over at most options.batch samples and adds their losses to
 * score; with training, backward too. */
typedef void openblas_pass(struct openblas *openblas,
			   const struct batch *batch, int training,
			   struct score *score);

struct openblas {
	struct reference_base base;
	openblas_pass *pass;
	struct lifetimes lifetimes;
	char *memory; /* of lifetimes.bytes */
	/* Numbers of the pass's type. */
	const void *images; /* of the batch */
	/* space for converted images; NULL = floats are used directly */
	void *converted;
	void *columns;	    /* im2col of one sample */
	void *ones; /* [batch]: ones, to sum with */
	/* Batch norm's statistics, laid out as VECTOR_BUFFERS: means, then
	 * square roots of variance + eps. */
	double *norms;
};

void openblas_plan(struct lifetimes *lifetimes, const struct graph *graph,
		   const struct program_options *options);

openblas_pass openblas_pass_float, openblas_pass_double;

#endif
