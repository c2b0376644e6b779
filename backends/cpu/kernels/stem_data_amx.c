/*
 * V = B^T x B for the products of stem_weights_amx.c, from images:
 *
 *   x[y][x][i]   planes between, channels-last, six rows of them at a time
 *   V[p]: [step][i / 16][pair: 16][i % 16][2 tiles], tiles of B
 *
 * With planes i in the lanes, two tiles beside each other are what a row of B
 * is made of, and nothing is to be turned. Two such tiles share two of ten
 * columns, and tiles below each other share rows of x.
 */
#include <string.h>

#include "backends/cpu/kernels/stem_weights_amx.h"

#ifdef __AMX_BF16__
#include "backends/cpu/kernels/stem_planes.h"
#include "backends/cpu/kernels/winograd.h"

#define PAIR_COLUMNS (STEM_TILE + WINOGRAD_DATA)

struct planes {
	int row;	/* floats */
	size_t turned;	/* floats of the turned weights, which come first */
	size_t point;	/* bytes from point to point of V */
};

static struct planes planes_of(const struct stem_shape *shape, int steps)
{
	return (struct planes){
		.row = (shape->width - 2) * shape->middle,
		.turned = (size_t)(stem_planes_turned(shape) + LANES - 1) /
			  LANES * LANES,
		.point = stem_data_point(shape, steps),
	};
}

size_t ISA_NAME(stem_data_scratch)(const struct stem_shape *shape)
{
	const struct planes planes = planes_of(shape, 0);

	return planes.turned + (size_t)(WINOGRAD_DATA * planes.row);
}

/* 16 planes of two tiles, to a row of the tiles of all points. */
INLINE void pair_enter(const float *values, int row, int middle,
		       uint8_t *data, size_t point, int at)
{
	vec half[PAIR_COLUMNS][WINOGRAD_DATA];

	for (int x = 0; x < PAIR_COLUMNS; x++) {
		vec column[WINOGRAD_DATA];

		UNROLL for (int y = 0; y < WINOGRAD_DATA; y++)
			column[y] = vec_load(values + y * row);
		data_to_points(column, half[x]);
		values += middle;
	}
	for (int y = 0; y < WINOGRAD_DATA; y++) {
		vec line[PAIR_COLUMNS];
		vec even[WINOGRAD_DATA], odd[WINOGRAD_DATA];

		UNROLL for (int x = 0; x < PAIR_COLUMNS; x++)
			line[x] = half[x][y];
		data_to_points(line, even);
		data_to_points(line + STEM_TILE, odd);
		UNROLL for (int x = 0; x < WINOGRAD_DATA; x++) {
			amx_store_pair((amx_tile *)(void *)data, at, even[x],
				       odd[x], 1);
			data += point;
		}
	}
}

/* A row of a sample's tiles, whose six rows of planes are there. */
static void row_enter(const struct stem_shape *shape,
		      const struct planes *planes,
		      const struct stem_steps *steps, int sample, int tile_row,
		      const float *values, uint8_t *data)
{
	const int middle = shape->middle;
	const int across = (shape->width - 4) / STEM_TILE / 2; /* pairs */
	const int blocks = middle / LANES;

	for (int x = 0; x < across; x++) {
		int row;
		const int step = stem_step_of(steps, sample,
					      tile_row * across + x, &row);
		uint8_t *to = data + (size_t)(step * blocks) * sizeof(amx_tile);

		for (int b = 0; b < blocks; b++) {
			pair_enter(values + b * LANES, planes->row, middle, to,
				   planes->point, row);
			to += sizeof(amx_tile);
		}
		values += 2 * STEM_TILE * middle;
	}
}

/* Rows of the last step that no pair is in. */
static void rest_clear(const struct stem_shape *shape,
		       const struct stem_steps *steps, size_t point,
		       uint8_t *data)
{
	const int used = steps->count * steps->rest % STEM_STEP;
	const int tiles = shape->middle / LANES;

	if (!used)
		return;
	data += (size_t)((steps->all - 1) * tiles) * sizeof(amx_tile);
	for (int p = 0; p < STEM_POINTS; p++) {
		for (int t = 0; t < tiles; t++)
			memset(data + (size_t)t * sizeof(amx_tile) +
				       used * AMX_ROW, 0,
			       (size_t)((STEM_STEP - used) * AMX_ROW));
		data += point;
	}
}

void ISA_NAME(stem_data)(const struct stem_shape *shape,
			 const struct stem_weights *weights,
			 const struct stem_batch *batch, uint8_t *data,
			 float *scratch)
{
	const struct stem_steps steps = stem_steps_of(shape, batch->count);
	const struct planes planes = planes_of(shape, steps.all);
	const int rows = (shape->height - 4) / STEM_TILE;
	const int image = shape->channels * shape->height * shape->width;
	float *values = scratch + planes.turned;

	ISA_NAME(stem_planes_turn)(shape, weights, scratch);
	for (int s = 0; s < batch->count; s++)
		for (int y = 0; y < rows; y++) {
			const int done = y ? 2 : 0; /* rows of those before */

			if (done)
				memcpy(values, values + STEM_TILE * planes.row,
				       (size_t)(2 * planes.row) *
					       sizeof(*values));
			ISA_NAME(stem_planes)(shape, scratch,
					      batch->images + s * image,
					      STEM_TILE * y + done,
					      WINOGRAD_DATA - done,
					      values + done * planes.row);
			row_enter(shape, &planes, &steps, s, y, values, data);
		}
	rest_clear(shape, &steps, planes.point, data);
}
#endif
