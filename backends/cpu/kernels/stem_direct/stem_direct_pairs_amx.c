/*
 * The planes between the stem's convolutions as operands of tiles, for the
 * second one's weight gradient (stem_direct_pairs_amx.h):
 *
 *   a[i][y][x] = ReLU(bias[i] + sum over c, r, s of
 *                     image[c][y + r][x + s] weights[i][c][r][s])
 *
 * in fp32, then rounded to bf16.
 *
 * A vector holds the columns x and x + 1, next to each other, of 8 planes: two
 * vectors, rounded, are a line of B. The odd pairs of columns are made of two
 * even ones. Some pairs, and with one channel the weights of all taps, are in
 * registers.
 */
#include "backends/cpu/kernels/stem_direct/stem_direct_pairs_amx.h"

#define HALVES 2 /* of a block's planes: a vector each */
#define PAIRS 4	 /* in registers */

/* Bias and weights of a block, each twice: [1 + taps][HALVES][8][2] */
static void block_transpose(const struct stem_shape *shape,
			    const struct stem_weights *weights, int block,
			    float *transposed)
{
	const int taps = shape->channels * STEM_TAPS;

	for (int l = 0; l < STEM_PAIRS_TAP; l++) {
		const int i = block * AMX_COLUMNS + l / 2;
		const int real = i < shape->middle;

		transposed[l] = real ? weights->first_bias[i] : 0;
		for (int t = 0; t < taps; t++)
			transposed[(1 + t) * STEM_PAIRS_TAP + l] =
				real ? weights->first[i * taps + t] : 0;
	}
}

/* Two floats, again and again. */
INLINE vec vec_set_pair(const float *from)
{
	double pair;

	memcpy(&pair, from, sizeof(pair));
	return (vec)_mm512_set1_pd(pair);
}

/* A channel's weights, in registers: loads would often have the lower 12 bits
 * of an earlier store's address, and wait for it. */
INLINE void taps_load(const float *transposed, int channel,
		      vec taps[STEM_TAPS][HALVES])
{
	const float *from = transposed +
			    (1 + channel * STEM_TAPS) * STEM_PAIRS_TAP;

	UNROLL for (int t = 0; t < STEM_TAPS; t++)
		UNROLL for (int h = 0; h < HALVES; h++) {
			taps[t][h] = vec_hold(vec_load(from));
			from += LANES;
		}
}

/*
 * Pairs (a constant) of a row, from a pixel on: lines of B. The weights of one
 * channel are in taps.
 */
INLINE void pairs_compute(const struct stem_shape *shape, int channels,
			  const float *transposed, vec taps[STEM_TAPS][HALVES],
			  const float *image, const int pairs,
			  __m512i lines[PAIRS])
{
	vec sums[PAIRS][HALVES];

	UNROLL for (int p = 0; p < pairs; p++)
		UNROLL for (int h = 0; h < HALVES; h++)
			sums[p][h] = vec_load(transposed + h * LANES);
	for (int c = 0; c < channels; c++) {
		if (channels > 1)
			taps_load(transposed, c, taps);
		UNROLL for (int t = 0; t < STEM_TAPS; t++) {
			const float *from = image +
					    (c * shape->height + t / 3) *
						    shape->width + t % 3;

			UNROLL for (int p = 0; p < pairs; p++)
				UNROLL for (int h = 0; h < HALVES; h++)
					sums[p][h] +=
						vec_set_pair(from + 2 * p) *
						taps[t][h];
		}
	}
	UNROLL for (int p = 0; p < pairs; p++)
		lines[p] = amx_round(vec_max((vec){ 0 }, sums[p][0]),
				     vec_max((vec){ 0 }, sums[p][1]));
}

/* Lines n to n + pairs - 1 of a row, n > 0, after the line before: to as the
 * taps s = 0, and as the taps s = 1 and 2, one line later. */
INLINE __m512i lines_store(const __m512i lines[PAIRS], const int pairs,
			   __m512i before, uint8_t *to, size_t tap)
{
	UNROLL for (int p = 0; p < pairs; p++) {
		_mm512_store_si512(to, lines[p]);
		_mm512_store_si512(to + tap - AMX_ROW,
				   _mm512_shrdi_epi32(before, lines[p], 16));
		_mm512_store_si512(to + 2 * tap - AMX_ROW, lines[p]);
		before = lines[p];
		to += AMX_ROW;
	}
	return before;
}

/* A row of a sample; to is its line of tap s = 0, tap bytes before the next
 * row's line. The line after it, the next sample's, is written too. */
INLINE void row_compute(const struct stem_shape *shape, int channels,
			const float *transposed, const float *image,
			uint8_t *to, size_t tap)
{
	const int last = (shape->width - 4) / 2;
	__m512i lines[PAIRS], before;
	vec taps[STEM_TAPS][HALVES];
	int n = 1;

	if (channels == 1)
		taps_load(transposed, 0, taps);
	pairs_compute(shape, channels, transposed, taps, image, 1, lines);
	before = lines[0];
	_mm512_store_si512(to, before);
	for (; n + PAIRS <= last + 1; n += PAIRS) {
		pairs_compute(shape, channels, transposed, taps, image + 2 * n,
			      PAIRS, lines);
		before = lines_store(lines, PAIRS, before, to + n * AMX_ROW,
				     tap);
	}
	for (; n <= last; n += 2) {
		pairs_compute(shape, channels, transposed, taps, image + 2 * n,
			      2, lines);
		before = lines_store(lines, 2, before, to + n * AMX_ROW, tap);
	}
}

/* Positions after the samples' must not be a NaN. */
static void row_end(const struct stem_pairs *pairs, int count, uint8_t *row)
{
	const size_t used = (size_t)(count * pairs->width / 2) * AMX_ROW;

	for (int s = 0; s < STEM_SIDE; s++) {
		memset(row + used, 0, pairs->planes - used);
		row += pairs->tap;
	}
}

/* All rows of a block; channels is a constant where there is but one. */
INLINE void block_fill(const struct stem_shape *shape, int channels,
		       const struct stem_batch *batch, const float *transposed,
		       uint8_t *to)
{
	const struct stem_pairs pairs = stem_pairs_of(shape, batch->count);
	const int image = channels * shape->height * shape->width;
	const int ends = batch->count * pairs.width % AMX_DEPTH;

	for (int y = 0; y < pairs.height + 2; y++) {
		for (int n = 0; n < batch->count; n++)
			row_compute(shape, channels, transposed,
				    batch->images + n * image +
					    y * shape->width,
				    to + (size_t)(n * pairs.width / 2) *
						    AMX_ROW,
				    pairs.tap);
		if (ends)
			row_end(&pairs, batch->count, to);
		to += pairs.planes;
	}
}

void ISA_NAME(stem_pairs_fill)(const struct stem_shape *shape,
			       const struct stem_weights *weights,
			       const struct stem_batch *batch,
			       float *transposed, uint8_t *planes)
{
	const struct stem_pairs pairs = stem_pairs_of(shape, batch->count);

	for (int i = 0; i < pairs.middle; i++) {
		block_transpose(shape, weights, i, transposed);
		if (shape->channels == 1)
			block_fill(shape, 1, batch, transposed, planes);
		else
			block_fill(shape, shape->channels, batch, transposed,
				   planes);
		planes += STEM_SIDE * pairs.tap;
	}
}
