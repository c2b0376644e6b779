/* The loops of backends/contract/peak.h of one instruction set; peak.c has
 * them, and peak_amx.c that of AMX. */
#ifndef BACKENDS_CPU_KERNELS_PEAK_KERNELS_H
#define BACKENDS_CPU_KERNELS_PEAK_KERNELS_H

#include "backends/cpu/kernels/simd.h"
#include "backends/contract/peak.h"

/* That of fp32, reading, and what else this CPU has, but of AMX a product of
 * tiles of bf16 alone; NULL behind the last. */
const struct peak *ISA_NAME(peak)(int index);

#endif
