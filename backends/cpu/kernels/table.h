/*
 * Functions of a kernel table that belong to no family: peak loops and dropout.
 */
#ifndef BACKENDS_CPU_KERNELS_TABLE_H
#define BACKENDS_CPU_KERNELS_TABLE_H

#include "backends/contract/peak.h"
#include "backends/cpu/kernels/simd/simd.h"
#include "models/random.h"

/*
 * Returns peak loop number index (backends/contract/peak.h), or NULL after the
 * last: fp32, reading, and bf16 if the CPU supports that. The build for AMX
 * returns only the bf16 tile product. peak.c and peak_amx.c define them.
 */
const struct peak *ISA_NAME(peak)(int index);

/* DROPOUT_CHOICES chooses dropout's elements, for kernels.h. */
#if defined(__AVX512F__) || defined(__AVX2__)
dropout_chooser VEC_NAME(dropout_choices);
#define DROPOUT_CHOICES VEC_NAME(dropout_choices)
#else
#define DROPOUT_CHOICES dropout_choices
#endif

#endif
