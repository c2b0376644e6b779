/*
 * Slopes by the stem's second convolution in bf16, before the pooling: each
 * window passes its slope to the winner's pixel, and zeros to the other three.
 *
 * A vector holds 32 columns of a row, those of 16 windows: the halves of a lane
 * are the left and the right pixel of a window, so that a slope is put in its
 * place by a shift. Windows come in the order of tiles (backends/cpu/stem.h),
 * where those of every second column are tiles floats apart.
 */
#ifndef BACKENDS_CPU_KERNELS_STEM_DIRECT_SLOPES_AMX_H
#define BACKENDS_CPU_KERNELS_STEM_DIRECT_SLOPES_AMX_H

#include "backends/cpu/kernels/amx.h"
#include "backends/cpu/stem.h"

#ifdef __AMX_BF16__

#define STEM_SPREAD_TILES 8 /* of STEM_TILE columns: a vector of bf16 */

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

#endif
#endif
