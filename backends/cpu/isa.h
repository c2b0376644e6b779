/* Which build of the kernels a CPU runs, and what it may do there. */
#ifndef BACKENDS_CPU_ISA_H
#define BACKENDS_CPU_ISA_H

#include "backends/contract/backend.h"
#include "backends/cpu/kernels/kernels.h"

/* The best build that this CPU has, or BENCH_ISA's. NULL: an error. */
const struct cpu_kernels *cpu_choose_kernels(struct error *err);
/* Whether these kernels have the precision that is wanted. */
int cpu_check_precision(const struct cpu_kernels *kernels,
			const struct program_options *options,
			struct error *err);
/* Products whose factors are rounded to bf16; NULL: these kernels have none, or
 * this CPU. */
const struct igemm_kernels *cpu_bf16_products(
	const struct cpu_kernels *kernels);
/* Slot of struct backend; BENCH_ISA does not matter here. */
const struct peak *cpu_peak(int index);

#endif
