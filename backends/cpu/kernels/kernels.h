/*
 * Kernels of one instruction set, as a table of families. Each build is
 * compiled separately, and backends/cpu/isa.c chooses one when the program
 * starts. Each family has a header of its own.
 */
#ifndef BACKENDS_CPU_KERNELS_KERNELS_H
#define BACKENDS_CPU_KERNELS_KERNELS_H

#include <stddef.h>
#include <stdint.h>

#include "backends/cpu/kernels/igemm/igemm.h"
#include "backends/cpu/kernels/linear/linear.h"
#include "backends/cpu/kernels/elementwise/elementwise.h"
#include "backends/cpu/kernels/stem/stem.h"
#include "backends/cpu/kernels/winograd/winograd_conv.h"
#include "backends/contract/peak.h"
#include "models/random.h"

#define CPU_LANES 16

/* Returns count rounded up to whole vectors of CPU_LANES. */
static inline size_t cpu_whole_lanes(int count)
{
	return ((size_t)count + CPU_LANES - 1) / CPU_LANES * CPU_LANES;
}

struct cpu_kernels {
	const char *name;
	int (*supported)(void);
	int has_tiles; /* 1 = all bf16 products use AMX tiles */
	dropout_chooser *choices; /* dropout_choices() of this build */
	const struct stem_kernels *stem;
	const struct linear_kernels *linear;
	const struct igemm_kernels *igemm;
	const struct igemm_kernels *igemm_bf16; /* NULL = no bf16: see isa.h */
	const struct elementwise_kernels *elementwise;
	const struct winograd_kernels *winograd;
	/* Returns peak loop number index: fp32, reading, then others; NULL
	 * after the last. amx returns only the loop that no other build has. */
	const struct peak *(*peak)(int index);
};

extern const struct cpu_kernels cpu_kernels_amx;
extern const struct cpu_kernels cpu_kernels_avx512;
extern const struct cpu_kernels cpu_kernels_avx2;
extern const struct cpu_kernels cpu_kernels_portable;

/*
 * Asks the system for permission to use AMX's bf16 tiles; it then keeps 8 KB
 * more for each thread that uses them. Returns 1 if the CPU has tiles and the
 * process may use them, else 0.
 */
int cpu_request_tiles(void);

/* Builds of this processor, best first, then NULL. Processors other than x86-64
 * have only the portable build. */
extern const struct cpu_kernels *const cpu_builds[];

/* Returns 0 for a build better than the one that BENCH_TEST_ISA names, else 1.
 * Tests use the variable to run what a lesser CPU would. */
int cpu_is_tested_with(const char *name);

#endif
