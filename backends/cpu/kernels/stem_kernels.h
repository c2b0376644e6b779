/*
 * The stem's functions of one instruction set, which stem.c puts into the table
 * of backends/cpu/stem.h; their contracts are there. Each has its own scratch,
 * in floats.
 */
#ifndef BACKENDS_CPU_KERNELS_STEM_KERNELS_H
#define BACKENDS_CPU_KERNELS_STEM_KERNELS_H

#include "backends/cpu/kernels/stem_lanes.h"

/*
 * The patches of one of a group's vectors (stem_lanes.h), zero in lanes that
 * hold nothing: channels * STEM_PATCH * STEM_PATCH vectors.
 */
void ISA_NAME(stem_gather)(const struct stem_shape *shape,
			   const struct stem_batch *batch, int vector,
			   float *patches);

size_t ISA_NAME(stem_signs)(const struct stem_shape *shape);

void ISA_NAME(stem_transform)(const struct stem_shape *shape,
			      const float *weights, float *points);

size_t ISA_NAME(stem_forward_scratch)(const struct stem_shape *shape);
void ISA_NAME(stem_forward)(const struct stem_shape *shape,
			    const struct stem_weights *weights,
			    const struct stem_batch *batch, float *out,
			    uint8_t *winners, uint8_t *signs, float *scratch);

size_t ISA_NAME(stem_backward_scratch)(const struct stem_shape *shape);
void ISA_NAME(stem_backward)(const struct stem_shape *shape,
			     const struct stem_weights *weights,
			     const struct stem_batch *batch,
			     const float *slopes, const uint8_t *winners,
			     const uint8_t *signs, float *first,
			     float *first_bias, float *scratch);

size_t ISA_NAME(stem_weight_slopes_scratch)(const struct stem_shape *shape);
void ISA_NAME(stem_weight_slopes)(const struct stem_shape *shape,
				  const struct stem_weights *weights,
				  const struct stem_batch *batch,
				  const float *slopes, const uint8_t *winners,
				  float *slopes_by_weights,
				  float *slopes_by_bias, float *scratch);

#endif
