/* Where what lies between the steps of a program has its memory. */
#ifndef BACKENDS_CPU_MEMORY_H
#define BACKENDS_CPU_MEMORY_H

#include "backends/cpu/program.h"
#include "backends/host/lifetimes.h"

/* What the steps of the plan put out, in the common layout. */
void cpu_plan_values(struct cpu_program *program);
/* Of step s: what its output takes in floats, in front of what it takes in
 * bf16. */
size_t cpu_floats_bytes(const struct cpu_program *program, int s);
/* Room for batch samples of these. */
void cpu_plan_memory(struct lifetimes *lifetimes,
		     const struct cpu_program *program, int batch);

#endif
