/*
 * All kernels, compiled once for each instruction set and chosen when the
 * program starts: each family of them has a header of its own.
 */
#ifndef BACKENDS_CPU_KERNELS_KERNELS_H
#define BACKENDS_CPU_KERNELS_KERNELS_H

#include <stddef.h>
#include <stdint.h>

#include "backends/cpu/kernels/igemm/igemm.h"
#include "backends/cpu/kernels/linear/linear.h"
#include "backends/cpu/kernels/elementwise/planes.h"
#include "backends/cpu/kernels/stem/stem.h"
#include "backends/cpu/kernels/winograd/winograd_conv.h"
#include "backends/contract/peak.h"
#include "models/random.h"

#define CPU_LANES 16

/* As many, or more to fill the last vector. */
static inline size_t cpu_whole_lanes(int count)
{
	return ((size_t)count + CPU_LANES - 1) / CPU_LANES * CPU_LANES;
}

struct cpu_kernels {
	const char *name;
	int (*supported)(void);
	int has_tiles; /* AMX's: all products of bf16 are by them */
	dropout_chooser *choices; /* those of dropout_choices() */
	const struct stem_kernels *stem;
	const struct linear_kernels *linear;
	const struct igemm_kernels *igemm;
	const struct igemm_kernels *igemm_bf16; /* or NULL: see isa.h */
	const struct plane_kernels *planes;
	const struct winograd_kernels *winograd;
	/* Its loops: fp32, reading, others; or, as of amx, only what no other
	 * build has. NULL behind the last. */
	const struct peak *(*peak)(int index);
};

extern const struct cpu_kernels cpu_kernels_amx;
extern const struct cpu_kernels cpu_kernels_avx512;
extern const struct cpu_kernels cpu_kernels_avx2;
extern const struct cpu_kernels cpu_kernels_portable;

/*
 * Asks the system for AMX's tiles for bf16, for which it keeps 8 KB more for
 * each thread that uses them: whether the CPU has them, and this process may.
 */
int cpu_request_tiles(void);

/* Best first, and a NULL at the end. Other processors than x86-64 have the
 * portable build alone. */
extern const struct cpu_kernels *const cpu_builds[];

/* 0 for a build that is better than the one BENCH_TEST_ISA names: for tests of
 * what a lesser CPU does, it takes such builds away. */
int cpu_is_tested_with(const char *name);

#endif
