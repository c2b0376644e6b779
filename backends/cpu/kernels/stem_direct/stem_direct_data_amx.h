/*
 * Shared by the parts of the stem's backward pass by data in bf16
 * (stem_direct_data_amx.c).
 *
 * Pixels of the planes between are counted row by row: pixel y * columns + x.
 * The gradient by the second convolution's outputs is in the same places,
 *   uint16_t dz[pixel][pitch]
 * with zeros in the two columns and rows that the outputs lack, and before all
 * of them, so that pixel p takes the dz of tap (r, s) from p - r * columns - s,
 * whichever row that is in.
 *
 * pitch is outputs in whole tiles.
 */
#ifndef BACKENDS_CPU_KERNELS_STEM_DIRECT_STEM_DIRECT_DATA_AMX_H
#define BACKENDS_CPU_KERNELS_STEM_DIRECT_STEM_DIRECT_DATA_AMX_H

#include "backends/cpu/kernels/stem_direct/stem_direct_amx.h"

#ifdef __AMX_BF16__

#define PIXELS 64 /* whose products are done together */
#define DEEP (PIXELS / AMX_DEPTH) /* tiles of them along k */

struct direct_data {
	const struct stem_shape *shape;
	int rows, columns; /* of the planes between */
	int blocks;	   /* of PIXELS */
	int groups;	   /* of 16 planes between */
	int pitch;
	int before; /* pixels of zeros */
	int taps;   /* tiles of rows of taps; the last row is the bias */
};

INLINE struct direct_data direct_data_of(const struct stem_shape *shape)
{
	const int columns = shape->width - 2, rows = shape->height - 2;

	return (struct direct_data){
		.shape = shape,
		.rows = rows,
		.columns = columns,
		.blocks = (rows * columns + PIXELS - 1) / PIXELS,
		.groups = (shape->middle + AMX_COLUMNS - 1) / AMX_COLUMNS,
		.pitch = (shape->outputs + AMX_DEPTH - 1) / AMX_DEPTH *
			 AMX_DEPTH,
		.before = 2 * columns + 2,
		.taps = (shape->channels * STEM_TAPS + AMX_ROWS) / AMX_ROWS,
	};
}

/* uint16_t of the dz of a sample, those before the first pixel included. */
INLINE size_t direct_dz_size(const struct direct_data *data)
{
	return (size_t)(data->before + data->blocks * PIXELS) *
	       (size_t)data->pitch;
}

/* Products of the taps of a row of windows: steps of AMX_DEPTH. */
INLINE int direct_steps(const struct direct_data *data)
{
	return 3 * data->pitch / AMX_DEPTH;
}

/* The weights: tiles of B [group][row of taps][step]. */
INLINE size_t direct_weights_size(const struct direct_data *data)
{
	return (size_t)(data->groups * 3 * direct_steps(data));
}

/* Zeros where no gradient will ever be. */
void ISA_NAME(direct_dz_clear)(const struct direct_data *data, uint16_t *dz);

/* The sources of a sample's dz. */
struct direct_source {
	const float *dy;	/* [outputs][stem_plane()] */
	const uint8_t *winners; /* [windows] of each output */
	const int32_t *kept;	/* [pitch]: all bits, or 0 */
	float scale;
};

/* Makes dz of a sample, after zeros that are there already. */
void ISA_NAME(direct_dz_fill)(const struct direct_data *data,
			      const struct direct_source *source, uint16_t *dz);

/*
 * The pixels of an image under each tap, and a one for the bias: tiles of A
 * [taps][blocks][DEEP]. rows is scratch of direct_rows_size() uint16_t.
 */
INLINE size_t direct_rows_size(const struct direct_data *data)
{
	return (size_t)(data->blocks * PIXELS + 2 * data->columns + AMX_DEPTH);
}

void ISA_NAME(direct_patches)(const struct direct_data *data,
			      const float *image, amx_tile *patches,
			      uint16_t *rows);

/* Adds sums[groups][taps][16][16], the first convolution's gradient. */
void ISA_NAME(direct_first_add)(const struct direct_data *data,
				const float *sums, float *first,
				float *first_bias);

/* B of weights[outputs][3][3][middle] to what transform leaves. */
void ISA_NAME(stem_direct_data_transform)(const struct stem_shape *shape,
					  const float *weights, void *tiles);

size_t ISA_NAME(stem_direct_backward_scratch)(const struct stem_shape *shape);
void ISA_NAME(stem_direct_backward)(const struct stem_shape *shape,
				    const void *tiles,
				    const struct stem_batch *batch,
				    const float *dy,
				    const uint8_t *winners,
				    const uint8_t *signs, float *first,
				    float *first_bias, float *scratch);

#endif
#endif
