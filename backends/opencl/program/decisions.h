/* Reads the decisions of the last gradient from the memory of its steps. */
#ifndef BACKENDS_OPENCL_PROGRAM_DECISIONS_H
#define BACKENDS_OPENCL_PROGRAM_DECISIONS_H

#include "backends/contract/backend.h"

/* A slot of the backend. */
int opencl_decisions(struct program *program, int layer, uint8_t *values,
		     struct error *err);

#endif
