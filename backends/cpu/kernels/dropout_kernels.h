/* Dropout's choices by one instruction set, for backends/cpu/kernels.h. */
#ifndef BACKENDS_CPU_KERNELS_DROPOUT_KERNELS_H
#define BACKENDS_CPU_KERNELS_DROPOUT_KERNELS_H

#include "backends/cpu/kernels/simd.h"
#include "models/random.h"

#if defined(__AVX512F__) || defined(__AVX2__)
dropout_chooser ISA_NAME(dropout_choices);
#define DROPOUT_CHOICES ISA_NAME(dropout_choices)
#else
#define DROPOUT_CHOICES dropout_choices
#endif

#endif
