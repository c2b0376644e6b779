/* What the last gradient decided, read from what its steps have left. */
#ifndef BACKENDS_OPENCL_PROGRAM_DECISIONS_H
#define BACKENDS_OPENCL_PROGRAM_DECISIONS_H

#include "backends/contract/backend.h"

/* A slot of the backend. */
int opencl_decisions(struct program *program, int layer, uint8_t *values,
		     struct error *err);

#endif
