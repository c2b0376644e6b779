/* Runs batches: training steps, and evaluations slice by slice. */
#ifndef BACKENDS_OPENCL_PROGRAM_BATCH_H
#define BACKENDS_OPENCL_PROGRAM_BATCH_H

#include "backends/opencl/program/program.h"

/* Uploads or gathers a batch of at least one sample and runs all launches of
 * the pass on it. */
int batch_run(struct opencl_program *program, struct pass *pass,
	      const struct batch *batch, struct error *err);

/* These are slots of the backend. */
int opencl_gradient(struct program *program, const struct batch *batch,
		    const struct update *update, struct error *err);
int opencl_update(struct program *program, const struct update *update,
		  size_t from, size_t to, struct error *err);
int opencl_evaluate(struct program *program, const struct batch *batch,
		    struct score *score, struct error *err);

#endif
