/*
 * A part of a group, which stem_backward.c does at once: the vectors of one
 * sample, without the planes o that it dropped, or the tail (stem_lanes.h),
 * with the planes that any of its samples keeps.
 */
#ifndef BACKENDS_CPU_KERNELS_STEM_STEM_PART_H
#define BACKENDS_CPU_KERNELS_STEM_STEM_PART_H

#include "backends/cpu/kernels/stem/stem_kernels.h"
#include "backends/cpu/kernels/winograd/winograd.h"

struct stem_part {
	const struct stem_shape *shape;
	int vector;  /* of the group: the first one */
	int vectors; /* from there on */

	/*
	 * Plane o's quadrant q is at o * plane + q * quadrant of dy and of
	 * winners, a float or a byte for each lane of the vectors.
	 */
	const float *dy;
	const uint8_t *winners;
	int plane, quadrant;

	int kept;    /* planes */
	int *planes; /* [kept]: which o */
};

/*
 * One point of dv[vectors][middle][STEM_POINTS][LANES]: dV[i] = sum over k of
 * U[planes[k]][i] dM[k], with u = U[outputs][middle] and dm = dM[kept][vectors]
 * [LANES] of this point.
 */
void VEC_NAME(part_multiply)(const struct stem_part *part, int point,
			     const float *u, const float *dm, float *dv);

/* Adds the gradients that follow from dv to first[middle][channels][9][LANES]
 * and first_bias[middle][LANES]. scratch has part_finish_scratch() floats. */
size_t VEC_NAME(part_finish_scratch)(const struct stem_shape *shape,
				     int vectors);
void VEC_NAME(part_finish)(const struct stem_part *part,
			   const struct stem_batch *batch, const float *dv,
			   const uint8_t *signs, float *first,
			   float *first_bias, float *scratch);

#endif
