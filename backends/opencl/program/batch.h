/* Runs batches: training steps, and evaluations slice by slice. */
#ifndef BACKENDS_OPENCL_PROGRAM_BATCH_H
#define BACKENDS_OPENCL_PROGRAM_BATCH_H

#include "backends/opencl/program/program.h"

/* Uploads or gathers a batch of at least one sample and runs all launches of
 * the pass on it. */
int batch_run(struct opencl_program *program, struct pass *pass,
	      const struct batch *batch, struct error *err);

#endif
