/* The stem forward of shapes that fill AMX's tiles (stem_points_amx.h). */
#ifndef BACKENDS_CPU_KERNELS_STEM_FORWARD_AMX_H
#define BACKENDS_CPU_KERNELS_STEM_FORWARD_AMX_H

#include "backends/cpu/kernels/stem_pool.h"

#ifdef __AMX_BF16__

size_t ISA_NAME(stem_forward_tiled_scratch)(const struct stem_shape *shape);

/* task has all but what is scratch. */
void ISA_NAME(stem_forward_tiled)(struct task *task, float *scratch);

#endif
#endif
