/* Choice of the kernels' build for this CPU and for a precision. */
#ifndef BACKENDS_CPU_ISA_H
#define BACKENDS_CPU_ISA_H

#include "backends/contract/backend.h"
#include "backends/cpu/kernels/kernels.h"

/* Returns the best build that this CPU supports, or the build named by
 * BENCH_ISA. Returns NULL with err if that is not available. */
const struct cpu_kernels *cpu_choose_kernels(struct error *err);
/* Returns 0 if the kernels support options->precision, else -1 with err. */
int cpu_check_precision(const struct cpu_kernels *kernels,
			const struct program_options *options,
			struct error *err);
/* Returns kernels that round factors to bf16, or NULL if the build or the CPU
 * has none. */
const struct igemm_kernels *cpu_bf16_products(
	const struct cpu_kernels *kernels);
/* Slot of struct backend; BENCH_ISA has no effect. */
const struct peak *cpu_peak(int index);

#endif
