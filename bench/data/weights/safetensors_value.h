/* Converts a value of safetensors as PyTorch does. bytes are little endian,
 * safetensors_type_size() of them. */
#ifndef BENCH_DATA_WEIGHTS_SAFETENSORS_VALUE_H
#define BENCH_DATA_WEIGHTS_SAFETENSORS_VALUE_H

#include <stdint.h>

#include "bench/data/weights/safetensors.h"

/* Returns the nearest float; infinite if the value is beyond a float. */
float safetensor_float(enum safetensors_type type, const uint8_t *bytes);

/* Returns the value as an I64: fractions are cut off. NAN and values beyond I64
 * become the least I64, as in PyTorch on x86-64. */
uint64_t safetensor_counter(enum safetensors_type type, const uint8_t *bytes);

#endif
