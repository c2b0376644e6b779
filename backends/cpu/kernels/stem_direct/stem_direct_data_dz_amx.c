/*
 * The gradient by the second convolution's outputs for stem_direct_data_amx.c,
 * in bf16, pixel by pixel with the outputs next to each other:
 *
 *   dz[pixel][output] = scale * dy of its window if the pixel won it, else 0
 *
 * 32 outputs of 16 windows are transposed at once: dy in pairs of bytes, the
 * winners in bytes. Each is then compared and stored for the four pixels of its
 * window.
 */
#include <string.h>

#include "backends/cpu/kernels/stem_direct/stem_direct_data_amx.h"

#define SIDE 16 /* windows, whose dy are transposed together */

void ISA_NAME(direct_dz_clear)(const struct direct_data *data, uint16_t *dz)
{
	const size_t pixel = (size_t)data->pitch * sizeof(*dz);
	uint16_t *row = dz + data->before * data->pitch;
	const int used = (data->rows - 2) * data->columns;

	memset(dz, 0, (size_t)data->before * pixel);
	for (int y = 0; y < data->rows - 2; y++) {
		row += data->columns * data->pitch;
		memset(row - 2 * data->pitch, 0, 2 * pixel);
	}
	memset(row, 0, (size_t)(data->blocks * PIXELS - used) * pixel);
}

/* 32 outputs, from the first one on, of up to SIDE windows. */
struct pool_windows {
	const float *dy;
	const uint8_t *winners;
	const int32_t *kept;
	float scale;
	size_t plane; /* to the next output */
	__mmask16 chosen; /* windows */
};

/* Returns the offset of an output; absent ones are the first one. */
INLINE size_t output_at(const struct pool_windows *windows, int output,
			int outputs)
{
	return output < outputs ? (size_t)output * windows->plane : 0;
}

/* A dy for each window, 0 if its plane is dropped. */
INLINE __m512 dy_load(const struct pool_windows *windows, int output,
		      int outputs)
{
	const vec value = vec_set(windows->scale) *
			  (vec)_mm512_maskz_loadu_ps(
				  windows->chosen,
				  windows->dy + output_at(windows, output,
							  outputs));

	return (__m512)((lanes_int)value & windows->kept[output]);
}

/*
 * Four outputs and the four 8 further on; to[0], for one, has windows 0 and 8
 * of the former and 0 and 8 of the latter, a quarter each.
 */
INLINE void quarter_load(const struct pool_windows *windows, int output,
			 int outputs, __m512i to[4])
{
	__m512i rows[4], low[2], high[2];

	UNROLL for (int i = 0; i < 4; i++)
		rows[i] = (__m512i)_mm512_cvtne2ps_pbh(
			dy_load(windows, output + 8 + i, outputs),
			dy_load(windows, output + i, outputs));
	UNROLL for (int i = 0; i < 2; i++) {
		low[i] = _mm512_unpacklo_epi16(rows[2 * i], rows[2 * i + 1]);
		high[i] = _mm512_unpackhi_epi16(rows[2 * i], rows[2 * i + 1]);
	}
	to[0] = _mm512_unpacklo_epi32(low[0], low[1]);
	to[1] = _mm512_unpackhi_epi32(low[0], low[1]);
	to[2] = _mm512_unpacklo_epi32(high[0], high[1]);
	to[3] = _mm512_unpackhi_epi32(high[0], high[1]);
}

/* 16 outputs: windows i and i + 8, two halves of eight outputs each. */
INLINE void half_transpose(const struct pool_windows *windows, int output,
			   int outputs, __m512i eights[8])
{
	__m512i quarters[2][4];

	quarter_load(windows, output, outputs, quarters[0]);
	quarter_load(windows, output + 4, outputs, quarters[1]);
	UNROLL for (int i = 0; i < 4; i++) {
		eights[2 * i] = _mm512_unpacklo_epi64(quarters[0][i],
						      quarters[1][i]);
		eights[2 * i + 1] = _mm512_unpackhi_epi64(quarters[0][i],
							  quarters[1][i]);
	}
}

/* Bytes of outputs output, output + 8, + 16 and + 24, a quarter each. */
INLINE __m512i winners_load(const struct pool_windows *windows, int output,
			    int outputs)
{
	__m128i rows[4];

	UNROLL for (int i = 0; i < 4; i++)
		rows[i] = _mm_maskz_loadu_epi8(
			windows->chosen,
			windows->winners + output_at(windows, output + 8 * i,
						     outputs));
	return _mm512_inserti64x4(
		_mm512_castsi256_si512(_mm256_set_m128i(rows[1], rows[0])),
		_mm256_set_m128i(rows[3], rows[2]), 1);
}

/* Eight windows of all outputs, from pairs of each eight of them. */
INLINE void winners_transpose(const __m512i pairs[4], uint8_t (*to)[AMX_DEPTH])
{
	const __m512i order = _mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7);
	__m512i fours[4];

	UNROLL for (int i = 0; i < 4; i += 2) {
		fours[i] = _mm512_unpacklo_epi16(pairs[i], pairs[i + 1]);
		fours[i + 1] = _mm512_unpackhi_epi16(pairs[i], pairs[i + 1]);
	}
	UNROLL for (int i = 0; i < 2; i++) {
		const __m512i low = _mm512_unpacklo_epi32(fours[i],
							  fours[i + 2]);
		const __m512i high = _mm512_unpackhi_epi32(fours[i],
							   fours[i + 2]);

		_mm512_store_si512(to[4 * i],
				   _mm512_permutexvar_epi64(order, low));
		_mm512_store_si512(to[4 * i + 2],
				   _mm512_permutexvar_epi64(order, high));
	}
}

/* outputs is a constant where there are all. */
INLINE void windows_transpose(const struct pool_windows *windows, int outputs,
			      uint16_t (*dz)[AMX_DEPTH],
			      uint8_t (*winners)[AMX_DEPTH])
{
	__m512i eights[2][8], pairs[2][4];

	half_transpose(windows, 0, outputs, eights[0]);
	half_transpose(windows, 16, outputs, eights[1]);
	UNROLL for (int i = 0; i < 8; i++) {
		_mm512_store_si512(dz[i],
				   _mm512_shuffle_i32x4(eights[0][i],
							eights[1][i], 0x88));
		_mm512_store_si512(dz[i + 8],
				   _mm512_shuffle_i32x4(eights[0][i],
							eights[1][i], 0xdd));
	}
	UNROLL for (int i = 0; i < 4; i++) {
		const __m512i even = winners_load(windows, 2 * i, outputs);
		const __m512i odd = winners_load(windows, 2 * i + 1, outputs);

		pairs[0][i] = _mm512_unpacklo_epi8(even, odd);
		pairs[1][i] = _mm512_unpackhi_epi8(even, odd);
	}
	winners_transpose(pairs[0], winners);
	winners_transpose(pairs[1], winners + SIDE / 2);
}

/* 32 outputs of a window: zeros but for the pixel that won. */
INLINE void window_store(const uint16_t *dz, const uint8_t *winners,
			 uint16_t *to, size_t pitch, size_t below)
{
	const __m512i values = _mm512_load_si512(dz);
	const __m256i won = _mm256_load_si256((const void *)winners);
	uint16_t *pixels[STEM_QUADRANTS] = { to, to + pitch, to + below,
					     to + below + pitch };

	UNROLL for (int i = 0; i < STEM_QUADRANTS; i++)
		_mm512_store_si512(
			pixels[i],
			_mm512_maskz_mov_epi16(
				_mm256_cmpeq_epi8_mask(
					won, _mm256_set1_epi8((char)i)),
				values));
}

/* The pixels of 32 outputs, by windows. */
struct window_cursor {
	uint16_t *to; /* the upper left one of the next window */
	int left;     /* windows of its row, with it */
};

INLINE void cursor_move(struct window_cursor *cursor,
			const struct direct_data *data)
{
	cursor->to += 2 * data->pitch;
	if (--cursor->left)
		return;
	/* Two columns that are no output's, and the row below. */
	cursor->to += (data->columns + 2) * data->pitch;
	cursor->left = (data->columns - 2) / 2;
}

/* 32 outputs of up to SIDE windows. */
static void windows_unpool(const struct direct_data *data,
			   const struct pool_windows *windows, int count,
			   int outputs, struct window_cursor *cursor)
{
	const size_t pitch = (size_t)data->pitch;
	const size_t below = (size_t)data->columns * pitch;
	uint16_t dz[SIDE][AMX_DEPTH] __attribute__((aligned(64)));
	uint8_t winners[SIDE][AMX_DEPTH] __attribute__((aligned(64)));

	if (outputs >= AMX_DEPTH)
		windows_transpose(windows, AMX_DEPTH, dz, winners);
	else
		windows_transpose(windows, outputs, dz, winners);
	for (int i = 0; i < count; i++) {
		window_store(dz[i], winners[i], cursor->to, pitch, below);
		cursor_move(cursor, data);
	}
}

void ISA_NAME(direct_dz_fill)(const struct direct_data *data,
			      const struct direct_source *source, uint16_t *dz)
{
	const int plane = stem_plane(data->shape);

	dz += data->before * data->pitch;
	for (int o = 0; o < data->pitch; o += AMX_DEPTH) {
		struct window_cursor cursor = { dz + o,
						(data->columns - 2) / 2 };

		for (int p = 0; p < plane; p += SIDE) {
			const int count = plane - p < SIDE ? plane - p : SIDE;
			const struct pool_windows windows = {
				.dy = source->dy + o * plane + p,
				.winners = source->winners + o * plane + p,
				.kept = source->kept + o,
				.scale = source->scale,
				.plane = (size_t)plane,
				.chosen = (__mmask16)((1u << count) - 1),
			};

			windows_unpool(data, &windows, count,
				       data->shape->outputs - o, &cursor);
		}
	}
}
