/*
 * The planes between of the stem's direct convolutions, with fp32's products:
 *
 *   x[i] = ReLU(bias[i] + sum over c, r, s of
 *               image[c][y + r][x + s] weights[i][c][r][s])
 *
 * of two planes at a time, in two vectors of columns, x even and odd:
 *
 *   pixels[channels][height][4][16]: column 2 n + k of a row, k = 0 .. 3
 *
 * so that 36 products have 12 vectors of pixels, which one channel keeps in
 * registers for all planes of a row. Two bf16 of each plane's are then a row of
 * B, and stored in stem_direct_forward_amx.h's layout.
 */
#include "backends/cpu/kernels/stem_direct/stem_direct_forward_amx.h"

#define SHIFTS 4
#define WINDOW 3

/* Row y of an image's pixels, count of them in the strip. */
INLINE void row_input(const float *pixels, int count, float *to)
{
	static const int32_t even[LANES] = { 0,	 2,  4,	 6,  8,	 10, 12, 14,
					     16, 18, 20, 22, 24, 26, 28, 30 };
	const int rest = count > LANES ? count - LANES : 0;
	const __m512 first = (__m512)vec_load_first(pixels, count - rest);
	const __m512 second = (__m512)vec_load_first(pixels + LANES, rest);

	UNROLL for (int k = 0; k < SHIFTS; k++) {
		/* The last column of k > 1 is no output's: of none beyond. */
		const __m512i order = _mm512_min_epi32(
			_mm512_add_epi32(_mm512_loadu_si512(even),
					 _mm512_set1_epi32(k)),
			_mm512_set1_epi32(2 * LANES - 1));

		_mm512_storeu_ps(to + k * LANES,
				 _mm512_permutex2var_ps(first, order, second));
	}
}

static void pixels_input(const struct stem_strip *strip, float *to)
{
	const struct stem_shape *shape = strip->shape;
	const float *pixels = strip->image;

	for (int y = 0; y < shape->channels * shape->height; y++) {
		row_input(pixels, 2 * strip->columns + STRIP_SIDE, to);
		pixels += shape->width;
		to += SHIFTS * LANES;
	}
}

/* 32 planes of a row that is being computed: the next pair of them. */
struct row {
	const float *weights, *bias; /* [2][channels][9] and [2] */
	uint32_t *to;
	size_t pitch, side; /* of planes: to the next pair, and the next s */
	__mmask16 first;    /* a bit for each pooled column */
	uint32_t columns;   /* a bit for each that the strip has */
	int column;	    /* of the strip's first one */
	int words;
	int left;	/* planes that have signs */
	uint8_t *signs; /* or NULL */
	size_t signs_step;
};

/* A row's signs of a plane, among the signs of neighbouring strips. */
static void words_put(const struct row *row, uint8_t *to, uint64_t bits)
{
	if (!row->column)
		memset(to, 0, (size_t)row->words * sizeof(uint32_t));
	bits <<= row->column % STEM_WORD_BITS;
	for (int w = row->column / STEM_WORD_BITS; bits; w++) {
		const uint32_t word = stem_direct_word(to, (size_t)w) |
				      (uint32_t)bits;

		memcpy(to + (size_t)w * sizeof(word), &word, sizeof(word));
		bits >>= STEM_WORD_BITS;
	}
}

/* Stores the signs: the values of a plane that are not 0, by columns. */
INLINE void signs_leave(struct row *row, __m512i values)
{
	const uint32_t bits = _mm512_test_epi16_mask(
				      values, _mm512_set1_epi16(0x7fff)) &
			      row->columns;

	if (row->left-- <= 0)
		return;
	if (row->words == 1)
		memcpy(row->signs, &bits, sizeof(bits));
	else
		words_put(row, row->signs, bits);
	row->signs += row->signs_step;
}

/* The pixels under a row of one channel. */
INLINE void window_load(const float *pixels, vec window[WINDOW][SHIFTS])
{
	UNROLL for (int r = 0; r < WINDOW; r++)
		UNROLL for (int k = 0; k < SHIFTS; k++)
			window[r][k] = vec_load(pixels +
						(r * SHIFTS + k) * LANES);
}

/* Adds a channel's products to both x % 2 of a plane. */
INLINE void window_add(vec window[WINDOW][SHIFTS], const float *weights,
		       vec sums[2])
{
	UNROLL for (int r = 0; r < WINDOW; r++)
		UNROLL for (int s = 0; s < WINDOW; s++) {
			const vec weight = vec_set(weights[r * WINDOW + s]);

			sums[0] += window[r][s] * weight;
			sums[1] += window[r][s + 1] * weight;
		}
}

/* Two planes of a row, to where the four s have them. */
INLINE void pair_leave(struct row *row, vec low[2], vec high[2])
{
	uint32_t *to = row->to;
	__m512i lines[2];

	UNROLL for (int x = 0; x < 2; x++) {
		lines[x] = amx_round_pair(vec_max((vec){ 0 }, low[x]),
					  vec_max((vec){ 0 }, high[x]));
		_mm512_mask_storeu_epi32(to + (size_t)x * row->side,
					 row->first, lines[x]);
		/* From the second one on. */
		_mm512_mask_storeu_epi32(
			(void *)((uintptr_t)(to + (size_t)(2 + x) * row->side) -
				 sizeof(*to)),
			(__mmask16)(row->first << 1), lines[x]);
	}
	if (row->signs) {
		signs_leave(row, _mm512_mask_blend_epi16(
					 0xaaaaaaaa, lines[0],
					 _mm512_slli_epi32(lines[1], 16)));
		signs_leave(row, _mm512_mask_blend_epi16(
					 0xaaaaaaaa,
					 _mm512_srli_epi32(lines[0], 16),
					 lines[1]));
	}
	row->to += row->pitch;
}

/* Multiplies planes planes of one pair; stores 0 for absent ones, for the
 * products. */
INLINE void pair_multiply(const struct row *row, int channels, int planes,
			  const float *pixels, size_t apart,
			  vec window[WINDOW][SHIFTS], vec low[2], vec high[2])
{
	const float *weights = row->weights;

	low[0] = low[1] = vec_set(planes > 0 ? row->bias[0] : 0);
	high[0] = high[1] = vec_set(planes > 1 ? row->bias[1] : 0);
	for (int c = 0; c < channels; c++) {
		if (channels > 1)
			window_load(pixels + (size_t)c * apart, window);
		if (planes > 0)
			window_add(window, weights + c * STEM_TAPS, low);
		if (planes > 1)
			window_add(window,
				   weights + (channels + c) * STEM_TAPS, high);
	}
}

/* All pairs of a row, from these pixels on; channels is a constant if 1. */
INLINE void row_leave(struct row own, int channels, const float *pixels,
		      size_t apart)
{
	vec window[WINDOW][SHIFTS], low[2], high[2];
	struct row *row = &own;
	int planes = row->left;

	window_load(pixels, window);
	for (int p = 0; p < STRIP_PAIRS; p++, planes -= 2) {
		if (planes > 1)
			pair_multiply(row, channels, 2, pixels, apart, window,
				      low, high);
		else if (planes > 0)
			pair_multiply(row, channels, 1, pixels, apart, window,
				      low, high);
		else
			pair_multiply(row, channels, 0, pixels, apart, window,
				      low, high);
		pair_leave(row, low, high);
		row->weights += 2 * channels * STEM_TAPS;
		row->bias += 2;
	}
}

/* Planes i .. i + 31 of row y. */
static struct row row_of(const struct stem_strip *strip,
			 const struct stem_weights *weights, int y, int i)
{
	const struct stem_shape *shape = strip->shape;
	const size_t pitch = (size_t)strip->pitch;
	struct row row = {
		.weights = weights->first + i * shape->channels * STEM_TAPS,
		.bias = weights->first_bias + i,
		.to = strip->planes +
		      (size_t)(i * STRIP_SIDE + y % 2 * STRIP_PAIRS) * pitch +
		      (size_t)(y / 2 * strip->columns),
		.pitch = pitch,
		.side = 2 * STRIP_PAIRS * pitch,
		.first = (__mmask16)((1u << strip->columns) - 1),
		.columns = (1u << (2 * strip->columns + 2)) - 1,
		.column = 2 * strip->first,
		.words = stem_direct_words(shape),
		.left = shape->middle - i,
		.signs = strip->signs,
		.signs_step = stem_direct_signs_at(shape, 0, 1, 0) *
			      sizeof(uint32_t),
	};

	if (row.signs)
		row.signs += stem_direct_signs_at(shape, 0, i, y) *
			     sizeof(uint32_t);
	return row;
}

void ISA_NAME(stem_direct_input)(const struct stem_strip *strip,
				 const struct stem_weights *weights,
				 float *pixels)
{
	const struct stem_shape *shape = strip->shape;
	const size_t apart = (size_t)(shape->height * SHIFTS * LANES);

	pixels_input(strip, pixels);
	for (int y = 0; y < shape->height - 2; y++) {
		for (int i = 0; i < shape->middle; i += AMX_DEPTH) {
			const struct row row = row_of(strip, weights, y, i);

			if (shape->channels == 1)
				row_leave(row, 1, pixels, apart);
			else
				row_leave(row, shape->channels, pixels, apart);
		}
		pixels += SHIFTS * LANES;
	}
}
