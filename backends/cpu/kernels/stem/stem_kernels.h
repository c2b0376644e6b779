/*
 * The stem's functions of one instruction set, which stem_table.c puts into the
 * table of stem.h; their contracts are there. Each has its own scratch, in
 * floats.
 */
#ifndef BACKENDS_CPU_KERNELS_STEM_STEM_KERNELS_H
#define BACKENDS_CPU_KERNELS_STEM_STEM_KERNELS_H

#include "backends/cpu/kernels/stem/stem_lanes.h"

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

/*
 * Floats of U[STEM_POINTS][outputs][middle]; a direct convolution has tiles
 * instead.
 */
INLINE size_t stem_points_plain(const struct stem_shape *shape)
{
	return STEM_POINTS * (size_t)shape->outputs * (size_t)shape->middle;
}

#ifdef __AMX_BF16__
size_t ISA_NAME(stem_points_tiled)(const struct stem_shape *shape);
#else
INLINE size_t ISA_NAME(stem_points_tiled)(const struct stem_shape *shape)
{
	(void)shape;
	return 0;
}
#endif

/* Floats of both, in whole lines, followed by the tiles of the direct
 * convolution backward by data; and how many floats these are. */
size_t ISA_NAME(stem_points_direct)(const struct stem_shape *shape);
#ifdef __AMX_BF16__
size_t ISA_NAME(stem_direct_data_weights)(const struct stem_shape *shape);
#else
INLINE size_t ISA_NAME(stem_direct_data_weights)(const struct stem_shape *shape)
{
	(void)shape;
	return 0;
}
#endif

/*
 * Forward, in strips: vectors of a group that are done together. Floats from
 * point to point with this number of planes, padded lest all points compete for
 * one set of a cache.
 */
INLINE size_t stem_stride(int planes, int vectors)
{
	return (size_t)(planes * vectors * LANES) + LANES;
}

/*
 * V[point][middle][vectors][LANES] of the vectors in list, and their signs (of
 * the group, or NULL). patches is scratch.
 */
void VEC_NAME(stem_input)(const struct stem_shape *shape,
			  const struct stem_weights *weights,
			  const struct stem_batch *batch, const int *list,
			  int vectors, float *data, uint8_t *signs,
			  float *patches);

/* The products of some rows of U and some vectors of V at one point. */
struct stem_product {
	const float *points; /* U */
	const int *places;   /* of the rows in it, in floats */
	int rows, depth;     /* depth: floats of each, middle */
	int vectors;
	const float *data; /* V; floats from plane to plane below */
	size_t data_step;
	float *to; /* M; floats from row to row below */
	size_t to_step;
};

void VEC_NAME(stem_products)(const struct stem_product *product);

size_t ISA_NAME(stem_forward_scratch)(const struct stem_shape *shape);
void ISA_NAME(stem_forward)(const struct stem_shape *shape,
			    const struct stem_weights *weights,
			    const struct stem_batch *batch, float *out,
			    uint8_t *winners, uint8_t *signs, float *scratch);

void ISA_NAME(stem_unpack)(const struct stem_shape *shape, const uint8_t *signs,
			   int sample, uint8_t *values);

int ISA_NAME(stem_place)(const struct stem_shape *shape, int pixel);

size_t ISA_NAME(stem_drop_scratch)(const struct stem_shape *shape);
void ISA_NAME(stem_drop)(const struct stem_shape *shape, const uint8_t *keep,
			 const int *pixel_order, float scale, float *values,
			 float *scratch);
void ISA_NAME(stem_stop)(size_t count, const float *out, float scale,
			 float *dy);

size_t ISA_NAME(stem_backward_scratch)(const struct stem_shape *shape);
void ISA_NAME(stem_backward)(const struct stem_shape *shape,
			     const struct stem_weights *weights,
			     const struct stem_batch *batch,
			     const float *dy, const uint8_t *winners,
			     const uint8_t *signs, float *first,
			     float *first_bias, float *scratch);

/* The sum of a plane's dy. */
INLINE float stem_plane_sum(const float *dy, int count)
{
	vec sum = { 0 };
	int n = 0;

	for (; n + LANES <= count; n += LANES)
		sum += vec_load(dy + n);
	return vec_sum(sum + vec_load_first(dy + n, count - n));
}

size_t ISA_NAME(stem_sums)(const struct stem_shape *shape);
size_t ISA_NAME(stem_weight_gradient_scratch)(const struct stem_shape *shape);
void ISA_NAME(stem_weight_gradient)(const struct stem_shape *shape,
				    const struct stem_weights *weights,
				    const struct stem_batch *batch,
				    const float *dy, const uint8_t *winners,
				    float *sums, float *dw,
				    float *dbias, float *scratch);
void ISA_NAME(stem_weights_finish)(const struct stem_shape *shape,
				   const float *sums,
				   float *dw);

/* The same from lists of the dy that are not 0, which need no sums. */
size_t VEC_NAME(stem_lists_scratch)(const struct stem_shape *shape);
void VEC_NAME(stem_lists_add)(const struct stem_shape *shape,
			      const struct stem_weights *weights,
			      const struct stem_batch *batch,
			      const float *dy, const uint8_t *winners,
			      float *dw, float *dbias,
			      float *scratch);

#endif
