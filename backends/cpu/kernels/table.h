/* What the table of an instruction set's kernels has besides its families. */
#ifndef BACKENDS_CPU_KERNELS_TABLE_H
#define BACKENDS_CPU_KERNELS_TABLE_H

#include "backends/contract/peak.h"
#include "backends/cpu/kernels/simd/simd.h"
#include "models/random.h"

/* The loops of backends/contract/peak.h: that of fp32, reading, and what else
 * this CPU has, but of AMX a product of tiles of bf16 alone; NULL behind the
 * last. peak.c has them, and peak_amx.c that of AMX. */
const struct peak *ISA_NAME(peak)(int index);

/* Dropout's choices, for backends/cpu/kernels/kernels.h. */
#if defined(__AVX512F__) || defined(__AVX2__)
dropout_chooser VEC_NAME(dropout_choices);
#define DROPOUT_CHOICES VEC_NAME(dropout_choices)
#else
#define DROPOUT_CHOICES dropout_choices
#endif

#endif
