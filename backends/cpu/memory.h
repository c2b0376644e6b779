/* Memory of the values between the steps of a program. */
#ifndef BACKENDS_CPU_MEMORY_H
#define BACKENDS_CPU_MEMORY_H

#include "backends/cpu/program.h"
#include "backends/host/lifetimes.h"

/* Sets the layout of each step's output to the common one. */
void cpu_plan_values(struct cpu_program *program);
/* Returns the bytes of step s's output in fp32, which precede its bf16 copy. */
size_t cpu_floats_bytes(const struct cpu_program *program, int s);
/* Plans the memory of the values for batch samples. */
void cpu_plan_memory(struct lifetimes *lifetimes,
		     const struct cpu_program *program, int batch);

#endif
