/*
 * The gradient by the parameters of the first convolution, for
 * stem_direct_data_amx.c:
 *
 *   first[i][tap] = sum over pixels of dx[i][pixel] image[pixel + tap]
 *
 * with A the image's pixels under each tap; the taps of a window's column are
 * one row of pixels that starts elsewhere.
 */
#include <string.h>

#include "backends/cpu/kernels/stem_direct/stem_direct_data_amx.h"

#define ONE 0x3f80 /* of bf16 */

/* Column s of the windows of one channel: rows[y][x] = image[y][x + s], and
 * zeros after the last one. */
static void rows_make(const struct direct_data *data, const float *image,
		      int s, uint16_t *rows)
{
	const int width = data->shape->width, height = data->shape->height;
	uint16_t *end = rows + direct_rows_size(data);

	for (int y = 0; y < height; y++) {
		for (int x = 0; x < data->columns; x += LANES) {
			const int rest = data->columns - x;
			const int count = rest < LANES ? rest : LANES;
			const vec pixels = vec_load_first(image + x + s, count);

			_mm256_mask_storeu_epi16(
				rows + x, (__mmask16)((1u << count) - 1),
				(__m256i)_mm512_cvtneps_pbh((__m512)pixels));
		}
		image += width;
		rows += data->columns;
	}
	memset(rows, 0, (size_t)(end - rows) * sizeof(*rows));
}

/* A row of the tiles of all blocks. */
static void tap_fill(const struct direct_data *data, const uint16_t *from,
		     int tap, amx_tile *patches)
{
	const int tiles = data->blocks * DEEP;

	patches += tap / AMX_ROWS * tiles;
	for (int k = 0; k < tiles; k++)
		memcpy(patches[k] + tap % AMX_ROWS * AMX_DEPTH,
		       from + k * AMX_DEPTH, AMX_ROW);
}

void ISA_NAME(direct_patches)(const struct direct_data *data,
			      const float *image, amx_tile *patches,
			      uint16_t *rows)
{
	const struct stem_shape *shape = data->shape;
	const int bias = shape->channels * STEM_TAPS;

	for (int c = 0; c < shape->channels; c++) {
		for (int s = 0; s < 3; s++) {
			rows_make(data, image, s, rows);
			for (int r = 0; r < 3; r++)
				tap_fill(data, rows + r * data->columns,
					 c * STEM_TAPS + r * 3 + s, patches);
		}
		image += shape->height * shape->width;
	}
	patches += bias / AMX_ROWS * data->blocks * DEEP;
	for (int k = 0; k < data->blocks * DEEP; k++)
		for (int i = 0; i < AMX_DEPTH; i++)
			patches[k][bias % AMX_ROWS * AMX_DEPTH + i] = ONE;
}

void ISA_NAME(direct_first_add)(const struct direct_data *data,
				const float *sums, float *first,
				float *first_bias)
{
	const struct stem_shape *shape = data->shape;
	const int taps = shape->channels * STEM_TAPS;

	for (int i = 0; i < shape->middle; i++)
		for (int t = 0; t <= taps; t++) {
			const int tile = i / AMX_COLUMNS * data->taps +
					 t / AMX_ROWS;
			float *to = t == taps ? first_bias + i * LANES :
						first + (i * taps + t) * LANES;

			*to += sums[(tile * AMX_ROWS + t % AMX_ROWS) *
					    AMX_COLUMNS + i % AMX_COLUMNS];
		}
}
