/* Kernels of pooling.c and norm.c, for the table in elementwise.c. */
#ifndef BACKENDS_CPU_KERNELS_ELEMENTWISE_ELEMENTWISE_KERNELS_H
#define BACKENDS_CPU_KERNELS_ELEMENTWISE_ELEMENTWISE_KERNELS_H

#include "backends/cpu/kernels/simd/simd.h"

struct pool_shape;
struct norm_rows;
struct norm_moments;
struct norm_map;

void VEC_NAME(pooling_maxpool)(const struct pool_shape *shape, const float *in,
			       float *out, uint8_t *winners);
void VEC_NAME(pooling_maxpool_backward)(const struct pool_shape *shape,
					const float *dy,
					const uint8_t *winners, float *dx);
void VEC_NAME(pooling_avgpool)(const struct pool_shape *shape,
			       const float *in, float *out);
void VEC_NAME(pooling_avgpool_backward)(const struct pool_shape *shape,
					const float *dy, float *dx);

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
