/* Batch norm's kernels (norm.c), for the table in planes.c. */
#ifndef BACKENDS_CPU_KERNELS_ELEMENTWISE_PLANES_KERNELS_H
#define BACKENDS_CPU_KERNELS_ELEMENTWISE_PLANES_KERNELS_H

#include "backends/cpu/kernels/simd/simd.h"

struct norm_rows;
struct norm_moments;
struct norm_map;

void VEC_NAME(norm_add_moments)(const struct norm_rows *rows, const float *x,
				struct norm_moments *moments);
void VEC_NAME(norm_forward)(const struct norm_rows *rows,
			    const struct norm_map *map,
			    const float *x,
			    const float *other, int relu, float *y);
void VEC_NAME(norm_sums)(const struct norm_rows *rows,
			 const struct norm_map *map,
			 const float *x, int relu, const float *y, float *dy,
			 double *sum, double *product);
void VEC_NAME(norm_backward)(const struct norm_rows *rows,
			     const struct norm_map *map,
			     const float *x, int relu,
			     const float *dy, const float *sum,
			     const float *product, int adds, float *dx);

#endif
