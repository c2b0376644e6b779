/*
 * Slopes by the stem's second convolution in bf16, before the pooling: each
 * window passes its slope to the winner's pixel, and zeros to the other three.
 *
 *   uint16_t plane[height - 4][pitch]
 *
 * A vector holds 32 columns of a row, two halves of a lane being the left and
 * the right pixels of a window, so that a slope is put in its place by a shift.
 */
#ifndef BACKENDS_CPU_KERNELS_STEM_DIRECT_SLOPES_AMX_H
#define BACKENDS_CPU_KERNELS_STEM_DIRECT_SLOPES_AMX_H

#include "backends/cpu/kernels/amx.h"
#include "backends/cpu/stem.h"

#ifdef __AMX_BF16__

#define STEM_SPREAD_TILES 8 /* of STEM_TILE columns: a vector of bf16 */

/* The pitch of planes whose rows are whole vectors. */
INLINE int stem_slopes_pitch(const struct stem_shape *shape)
{
	const int vector = STEM_SPREAD_TILES * STEM_TILE;

	return (shape->width - 4 + vector - 1) / vector * vector;
}

/* Those of quadrants q and q + 1 of count tiles: slopes by turns, */
INLINE vec stem_slopes_join(const float *slopes, int tiles, int count)
{
	static const lanes_int join = {
		0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23,
	};

	return __builtin_shuffle(vec_load_first(slopes, count),
				 vec_load_first(slopes + tiles, count), join);
}

/* and winners. */
INLINE lanes_int stem_winners_join(const uint8_t *winners, int tiles, int count)
{
	const __mmask16 chosen = (__mmask16)((1u << count) - 1);

	return (lanes_int)_mm512_cvtepu8_epi32(_mm_unpacklo_epi8(
		_mm_maskz_loadu_epi8(chosen, winners),
		_mm_maskz_loadu_epi8(chosen, winners + tiles)));
}

/* The upper and the lower row of pixels of windows beside each other. */
INLINE void stem_slopes_place(vec slope, lanes_int winner, lanes_int rows[2])
{
	const __mmask16 lower = _mm512_test_epi32_mask((__m512i)winner,
						       _mm512_set1_epi32(2));
	const __m512i rounded = _mm512_cvtepu16_epi32(
		(__m256i)_mm512_cvtneps_pbh((__m512)slope));
	const __m512i right = (__m512i)(winner << 4 & 16);

	rows[0] = (lanes_int)_mm512_maskz_sllv_epi32((__mmask16)~lower,
						     rounded, right);
	rows[1] = (lanes_int)_mm512_maskz_sllv_epi32(lower, rounded, right);
}

/*
 * The two rows of pixels under a row of windows: those of count <=
 * STEM_SPREAD_TILES tiles beside each other, of which slopes and winners are
 * the first one's upper or lower left quadrant; tiles of a plane are behind
 * each other. Columns behind those of the tiles are 0.
 */
INLINE void stem_slopes_spread_rows(const float *slopes, const uint8_t *winners,
				    int tiles, int count, float scale,
				    lanes_int rows[2])
{
	stem_slopes_place(vec_set(scale) *
				  stem_slopes_join(slopes, tiles, count),
			  stem_winners_join(winners, tiles, count), rows);
}

/*
 * A plane of a sample, times scale; pitch is stem_slopes_pitch(). A plane that
 * is dropped is for the caller to leave out or to fill with zeros.
 */
INLINE void stem_slopes_spread(const struct stem_shape *shape,
			       const float *slopes, const uint8_t *winners,
			       float scale, uint16_t *plane)
{
	const int tiles = stem_tiles(shape);
	const int columns = (shape->width - 4) / STEM_TILE;
	const int pitch = stem_slopes_pitch(shape);

	for (int row = 0; row < (shape->height - 4) / 2; row++) {
		const int at = row % 2 * 2 * tiles + row / 2 * columns;

		for (int t = 0; t < columns; t += STEM_SPREAD_TILES) {
			const int rest = columns - t;
			lanes_int rows[2];

			stem_slopes_spread_rows(slopes + at + t,
						winners + at + t, tiles,
						rest < STEM_SPREAD_TILES ?
							rest :
							STEM_SPREAD_TILES,
						scale, rows);
			memcpy(plane + t * STEM_TILE, rows, sizeof(*rows));
			memcpy(plane + pitch + t * STEM_TILE, rows + 1,
			       sizeof(*rows));
		}
		plane += 2 * pitch;
	}
}

#endif
#endif
