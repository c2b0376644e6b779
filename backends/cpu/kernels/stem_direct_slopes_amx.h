/*
 * Slopes by the stem's second convolution in bf16, before the pooling: each
 * window passes its slope to the winner's pixel, and zeros to the other three.
 *
 * A vector holds 32 columns of a row, those of 16 windows: the halves of a lane
 * are the left and the right pixel of a window, so that a slope is put in its
 * place by a shift.
 */
#ifndef BACKENDS_CPU_KERNELS_STEM_DIRECT_SLOPES_AMX_H
#define BACKENDS_CPU_KERNELS_STEM_DIRECT_SLOPES_AMX_H

#include "backends/cpu/kernels/amx.h"
#include "backends/cpu/kernels/simd.h"

#ifdef __AMX_BF16__

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
