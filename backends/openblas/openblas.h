/*
 * A program that computes one row after the other over the whole batch, in
 * floats or in doubles.
 */
#ifndef BACKENDS_OPENBLAS_OPENBLAS_H
#define BACKENDS_OPENBLAS_OPENBLAS_H

#include "backends/host/lifetimes.h"
#include "backends/host/oracle.h"

struct openblas;

/* Forward over at most options.batch samples, whose losses are added to score;
 * in training backward, too. */
typedef void openblas_pass(struct openblas *openblas,
			   const struct batch *batch, int training,
			   struct score *score);

struct openblas {
	struct oracle oracle;
	openblas_pass *pass;
	struct lifetimes lifetimes;
	char *memory; /* of lifetimes.bytes */
	/* Numbers of the pass's type. */
	const void *images; /* of the batch */
	void *converted;    /* room for them; NULL where floats will do */
	void *columns;	    /* im2col of one sample */
	void *ones; /* as many as the batch or a plane, to sum with */
	/* What batch norm normalises by, laid out as VECTOR_BUFFERS: means,
	 * then square roots of variance + eps. */
	double *norms;
};

void openblas_plan(struct lifetimes *lifetimes, const struct graph *graph,
		   const struct program_options *options);

openblas_pass openblas_pass_float, openblas_pass_double;

#endif
