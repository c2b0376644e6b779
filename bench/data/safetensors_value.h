/*
 * A value of safetensors as PyTorch converts it: the bytes are little endian,
 * safetensors_type_size() of them.
 */
#ifndef BENCH_DATA_SAFETENSORS_VALUE_H
#define BENCH_DATA_SAFETENSORS_VALUE_H

#include <stdint.h>

#include "bench/data/safetensors.h"

/* Rounded to the nearest; what is beyond a float is infinite. */
float safetensor_float(enum safetensors_type type, const uint8_t *bytes);

/* As an I64: a fraction is cut off; what is no number, or too large, is the
 * least I64, as PyTorch has it on x86-64. */
uint64_t safetensor_counter(enum safetensors_type type, const uint8_t *bytes);

#endif
