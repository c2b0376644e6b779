/* Winograd transforms of tiles and weights: see winograd_conv.h. A lane is a
 * channel. */
#include "backends/cpu/kernels/winograd/winograd_conv.h"

#include <assert.h>

#include "backends/cpu/kernels/igemm/igemm.h"
#include "backends/cpu/kernels/winograd/winograd.h"
#include "backends/cpu/kernels/winograd/winograd7.h"

#define MOST_SIDE WINOGRAD7_DATA
#define MOST_OUTPUT 5
#define MOST_WINDOW 5

/* One-dimensional transforms; side, output and window are constants. */
INLINE void make_points(int side, const vec *data, vec *points)
{
	if (side == WINOGRAD_DATA)
		data_to_points(data, points);
	else
		data_to_points7(data, points);
}

INLINE void make_output(int side, int output, const vec *points, vec *outputs)
{
	if (side == WINOGRAD_DATA)
		points_to_output(points, outputs);
	else
		points7_to_values(output, points, outputs);
}

INLINE void take_output(int side, int output, const vec *outputs, vec *points)
{
	if (side == WINOGRAD_DATA)
		output_to_points(outputs, points);
	else
		values_to_points7(output, outputs, points);
}

INLINE void take_window(int side, int window, const vec *weights, vec *points)
{
	if (side == WINOGRAD_DATA)
		window_to_points(weights, points);
	else
		window_to_points7(window, weights, points);
}

INLINE void make_window(int side, int window, const vec *points, vec *weights)
{
	if (side == WINOGRAD_DATA)
		points_to_window(points, weights);
	else
		points7_to_window(window, points, weights);
}

/* Sample of a tile, and pixel of its first output. */
struct tile_place {
	int sample, y, x;
};

INLINE struct tile_place place_of(const struct winograd_tiles *tiles, int t)
{
	const int each = tiles->rows * tiles->columns;
	const int in_sample = (tiles->first + t) % each;

	return (struct tile_place){
		.sample = (tiles->first + t) / each,
		.y = in_sample / tiles->columns * tiles->output,
		.x = in_sample % tiles->columns * tiles->output,
	};
}

/* The part of count places, from first on, that lies in the plane. */
struct clip {
	int from, to;
};

INLINE struct clip span_of(int first, int count, int length)
{
	return (struct clip){
		.from = first < 0 ? -first : 0,
		.to = first + count > length ? length - first : count,
	};
}

/* Destination of points of data: whole in fp32, or rounded in bf16 if not NULL.
 * Which of them is NULL is a constant. */
struct points {
	float *whole;
	uint16_t *rounded;
};

INLINE struct points behind(struct points points, size_t count)
{
	return points.rounded ?
		       (struct points){ NULL, points.rounded + count } :
		       (struct points){ points.whole + count, NULL };
}

#if defined(__x86_64__) && defined(__AVX512F__) && !defined(__AMX_BF16__)
#define HAS_ROUNDED

/* Stores a point. The instruction is not in the set that this file is compiled
 * for, so that functions without rounded points run on other CPUs as well. */
INLINE void store_point(struct points points, vec value)
{
	__m256i rounded;

	if (!points.rounded) {
		vec_store(points.whole, value);
		return;
	}
	__asm__("vcvtneps2bf16 %1, %0" : "=v"(rounded) : "v"((__m512)value));
	_mm256_storeu_si256((__m256i *)(void *)points.rounded, rounded);
}
#else
INLINE void store_point(struct points points, vec value)
{
	vec_store(points.whole, value);
}
#endif

/*
 * Computes the points of one vector of channels of a tile. Its first value is
 * at in[first]; only rows in down and columns in across lie in the plane.
 * whole, a constant: all of them do, and the right neighbour's data, ahead
 * pixels away, are prefetched.
 */
INLINE void window_points(int side, int whole, const float *in, ptrdiff_t first,
			  ptrdiff_t row, ptrdiff_t pixel, int ahead,
			  struct clip down, struct clip across,
			  struct points points, size_t point)
{
	vec made[MOST_SIDE][MOST_SIDE];

	for (int c = 0; c < side; c++) {
		const int has = whole || (c >= across.from && c < across.to);
		vec data[MOST_SIDE], column[MOST_SIDE];

		UNROLL
		for (int r = 0; r < side; r++) {
			const ptrdiff_t at = first + r * row + c * pixel;

			data[r] = whole ||
				  (has && r >= down.from && r < down.to) ?
					  vec_load(in + at) : vec_set(0);
			if (whole && c >= side - ahead)
				fetch(in, at + ahead * pixel);
		}
		make_points(side, data, column);
		UNROLL
		for (int r = 0; r < side; r++)
			made[r][c] = column[r];
	}
	for (int r = 0; r < side; r++) {
		vec all[MOST_SIDE];

		make_points(side, made[r], all);
		UNROLL
		for (int c = 0; c < side; c++, points = behind(points, point))
			store_point(points, all[c]);
	}
}

INLINE void data_of(int side, const struct winograd_planes *planes,
		    const struct winograd_tiles *tiles, int pad, int channels,
		    const float *in, struct points points)
{
	const ptrdiff_t pixel = planes->pixel, row = planes->width * pixel;

	for (int t = 0; t < tiles->count;
	     t++, points = behind(points, tiles->tile)) {
		const struct tile_place place = place_of(tiles, t);
		const int y = place.y - pad, x = place.x - pad;
		const struct clip down = span_of(y, side, planes->height);
		const struct clip across = span_of(x, side, planes->width);
		const float *from = in + (size_t)place.sample * planes->sample;
		const ptrdiff_t first = y * row + x * pixel;
		const int whole = !down.from && !across.from &&
				  down.to == side && across.to == side;

		if (whole)
			for (int c = 0; c < channels; c += LANES)
				window_points(side, 1, from + c, first, row,
					      pixel, tiles->output, down,
					      across,
					      behind(points, (size_t)c),
					      tiles->point);
		else
			for (int c = 0; c < channels; c += LANES)
				window_points(side, 0, from + c, first, row,
					      pixel, tiles->output, down,
					      across,
					      behind(points, (size_t)c),
					      tiles->point);
	}
}

/* Computes the outputs of one vector of channels. */
INLINE void make_outputs(int side, int output, const float *points,
			 size_t point,
			 vec outputs[MOST_OUTPUT][MOST_OUTPUT])
{
	vec made[MOST_OUTPUT][MOST_SIDE];

	for (int c = 0; c < side; c++) {
		vec column[MOST_SIDE], sums[MOST_OUTPUT];

		UNROLL
		for (int r = 0; r < side; r++)
			column[r] = vec_load(points +
					     (size_t)(r * side + c) * point);
		make_output(side, output, column, sums);
		UNROLL
		for (int r = 0; r < output; r++)
			made[r][c] = sums[r];
	}
	for (int r = 0; r < output; r++)
		make_output(side, output, made[r], outputs[r]);
}

INLINE vec end_of(const struct winograd_end *end, int first, int lanes,
		  const float *out, vec value)
{
	if (end->bias)
		value += vec_load(end->bias + first);
	if (end->adds)
		value += lanes < LANES ? vec_load_first(out, lanes) :
					 vec_load(out);
	/* A NaN fails the comparison and passes. */
	if (end->relu)
		value = (vec)((lanes_int)value & ~(value <= vec_set(0)));
	return value;
}

/* Rounds floats to bf16, to the nearest, ties to even; a NaN remains one. */
INLINE void store_rounded(uint16_t *to, vec value, int lanes)
{
	typedef uint32_t lanes_bits
		__attribute__((vector_size(LANES * 4), may_alias));
	typedef uint16_t lanes_half
		__attribute__((vector_size(LANES * 2), may_alias, aligned(2)));
	const lanes_bits bits = (lanes_bits)value;
	const lanes_bits is_nan = (lanes_bits)(value != value);
	const lanes_bits nearest = bits + 0x7fff + (bits >> 16 & 1);
	const lanes_bits chosen = (nearest & ~is_nan) |
				  ((bits | 0x400000) & is_nan);
	const lanes_half halves =
		__builtin_convertvector(chosen >> 16, lanes_half);

	if (lanes >= LANES)
		*(lanes_half *)(void *)to = halves;
	else
		memcpy(to, &halves, (size_t)lanes * sizeof(*to));
}

/* Stores to out, or to the same place of end->rounded, and prefetches the next
 * tile's place. */
INLINE void end_store(const struct winograd_end *end, float *out,
		      ptrdiff_t place, ptrdiff_t next, vec value, int lanes)
{
	if (end->rounded) {
		fetch_to_write((const float *)(const void *)end->rounded,
			       (place + next) / 2);
		store_rounded(end->rounded + place, value, lanes);
		return;
	}
	fetch_to_write(out, next);
	if (lanes < LANES)
		vec_store_first(out, value, lanes);
	else
		vec_store(out, value);
}

INLINE void outputs_of(int side, int output,
		       const struct winograd_planes *planes,
		       const struct winograd_tiles *tiles,
		       const struct winograd_end *end, const float *points,
		       float *out)
{
	const size_t pixel = (size_t)planes->pixel;
	const size_t row = (size_t)planes->width * pixel;

	for (int t = 0; t < tiles->count; t++, points += tiles->tile) {
		const struct tile_place place = place_of(tiles, t);
		const int down = span_of(place.y, output,
					 planes->height).to;
		const int across = span_of(place.x, output,
					   planes->width).to;
		float *to = out + (size_t)place.sample * planes->sample +
			    (size_t)place.y * row + (size_t)place.x * pixel;

		for (int o = 0; o < end->outputs; o += LANES) {
			vec outputs[MOST_OUTPUT][MOST_OUTPUT];
			const int lanes = end->outputs - o;

			make_outputs(side, output, points + o, tiles->point,
				     outputs);
			for (int r = 0; r < down; r++)
				for (int c = 0; c < across; c++) {
					float *at = to + (size_t)r * row +
						    (size_t)c * pixel + o;
					const vec value = end_of(
						end, o, lanes, at,
						outputs[r][c]);

					end_store(end, at, at - out,
						  output * planes->pixel, value,
						  lanes);
				}
		}
	}
}

/* Computes the points of one vector of channels of a tile with down x across
 * outputs; returns the sum of dy. */
INLINE vec outputs_inside(int side, int output, const float *dy, size_t row,
			  size_t pixel, int down, int across, float *points,
			  size_t point)
{
	vec made[MOST_SIDE][MOST_OUTPUT], sum = vec_set(0);

	for (int c = 0; c < output; c++) {
		vec outputs[MOST_OUTPUT], column[MOST_SIDE];

		UNROLL
		for (int r = 0; r < output; r++) {
			const size_t at = (size_t)r * row + (size_t)c * pixel;

			outputs[r] = r < down && c < across ?
				vec_load(dy + at) : vec_set(0);
			sum += outputs[r];
			/* For the next tile. */
			fetch(dy, (ptrdiff_t)(at + (size_t)output * pixel));
		}
		take_output(side, output, outputs, column);
		UNROLL
		for (int r = 0; r < side; r++)
			made[r][c] = column[r];
	}
	for (int r = 0; r < side; r++) {
		vec all[MOST_SIDE];

		take_output(side, output, made[r], all);
		UNROLL
		for (int c = 0; c < side; c++, points += point)
			vec_store(points, all[c]);
	}
	return sum;
}

/* Sums dy over these tiles first and adds that to dbias: a float that sums all
 * tiles of a batch one by one loses the small ones. */
INLINE void points_of(int side, int output,
		      const struct winograd_planes *planes,
		      const struct winograd_tiles *tiles, int channels,
		      const float *dy, float *points, float *dbias)
{
	const size_t pixel = (size_t)planes->pixel;
	const size_t row = (size_t)planes->width * pixel;
	vec sums[IGEMM_BLOCK / LANES] = { { 0 } };

	for (int t = 0; t < tiles->count; t++, points += tiles->tile) {
		const struct tile_place place = place_of(tiles, t);
		const int down = span_of(place.y, output,
					 planes->height).to;
		const int across = span_of(place.x, output,
					   planes->width).to;
		const float *from = dy +
			(size_t)place.sample * planes->sample +
			(size_t)place.y * row + (size_t)place.x * pixel;

		for (int c = 0; c < channels; c += LANES)
			sums[c / LANES] += outputs_inside(
				side, output, from + c, row, pixel, down,
				across, points + c, tiles->point);
	}
	for (int c = 0; dbias && c < channels; c += LANES)
		vec_store(dbias + c, vec_load(dbias + c) + sums[c / LANES]);
}

INLINE void weights_to_points(int side, int window, const float *weights,
			      size_t count, float *points, size_t point)
{
	for (size_t i = 0; i < count; i += LANES) {
		vec made[MOST_SIDE][MOST_WINDOW];

		for (int c = 0; c < window; c++) {
			vec taps[MOST_WINDOW], column[MOST_SIDE];

			for (int r = 0; r < window; r++)
				taps[r] = vec_load(weights + i + count *
						   (size_t)(r * window + c));
			take_window(side, window, taps, column);
			for (int r = 0; r < side; r++)
				made[r][c] = column[r];
		}
		for (int r = 0; r < side; r++) {
			vec all[MOST_SIDE];

			take_window(side, window, made[r], all);
			for (int c = 0; c < side; c++)
				vec_store(points + i + point *
					  (size_t)(r * side + c), all[c]);
		}
	}
}

INLINE void points_to_weights(int side, int window, const float *points,
			      size_t point, size_t count, float *dw)
{
	for (size_t i = 0; i < count; i += LANES) {
		vec made[MOST_WINDOW][MOST_SIDE];

		for (int c = 0; c < side; c++) {
			vec column[MOST_SIDE], taps[MOST_WINDOW];

			for (int r = 0; r < side; r++)
				column[r] = vec_load(points + i + point *
						     (size_t)(r * side + c));
			make_window(side, window, column, taps);
			for (int r = 0; r < window; r++)
				made[r][c] = taps[r];
		}
		for (int r = 0; r < window; r++) {
			vec all[MOST_WINDOW];

			make_window(side, window, made[r], all);
			for (int c = 0; c < window; c++) {
				float *to = dw + i + count *
					    (size_t)(r * window + c);

				vec_store(to, vec_load(to) + all[c]);
			}
		}
	}
}

/* In each call below, the sides of tiles and windows are constants. */

static int is_form(int window, int output)
{
	return (window == 3 && output == 4) ||
	       (window >= 3 && window <= 5 && window + output == 8);
}

static void from_data(const struct winograd_planes *planes,
		      const struct winograd_tiles *tiles, int pad, int channels,
		      const float *in, float *points)
{
	assert(is_form(tiles->window, tiles->output) &&
	       channels % LANES == 0 && channels <= planes->pixel);
	if (winograd_side(tiles->window, tiles->output) == 6)
		data_of(6, planes, tiles, pad, channels, in,
			(struct points){ .whole = points });
	else
		data_of(7, planes, tiles, pad, channels, in,
			(struct points){ .whole = points });
}

#ifdef HAS_ROUNDED
static void from_data_rounded(const struct winograd_planes *planes,
			      const struct winograd_tiles *tiles, int pad,
			      int channels, const float *in, uint16_t *points)
{
	assert(tiles->window == 3 && tiles->output == 4 &&
	       channels % LANES == 0 && channels <= planes->pixel);
	data_of(6, planes, tiles, pad, channels, in,
		(struct points){ .rounded = points });
}
#endif

static void to_outputs(const struct winograd_planes *planes,
		       const struct winograd_tiles *tiles,
		       const struct winograd_end *end, const float *points,
		       float *out)
{
	assert(is_form(tiles->window, tiles->output) &&
	       end->outputs <= planes->pixel);
	if (tiles->output == 3)
		outputs_of(7, 3, planes, tiles, end, points, out);
	else if (tiles->output == 4 && tiles->window == 3)
		outputs_of(6, 4, planes, tiles, end, points, out);
	else if (tiles->output == 4)
		outputs_of(7, 4, planes, tiles, end, points, out);
	else
		outputs_of(7, 5, planes, tiles, end, points, out);
}

static void from_outputs(const struct winograd_planes *planes,
			 const struct winograd_tiles *tiles, int channels,
			 const float *dy, float *points, float *dbias)
{
	assert(is_form(tiles->window, tiles->output) &&
	       channels % LANES == 0 && channels <= planes->pixel &&
	       channels <= IGEMM_BLOCK);
	if (tiles->output == 3)
		points_of(7, 3, planes, tiles, channels, dy, points, dbias);
	else if (tiles->output == 4 && tiles->window == 3)
		points_of(6, 4, planes, tiles, channels, dy, points, dbias);
	else if (tiles->output == 4)
		points_of(7, 4, planes, tiles, channels, dy, points, dbias);
	else
		points_of(7, 5, planes, tiles, channels, dy, points, dbias);
}

static void from_weights(int window, int output, const float *weights,
			 size_t count, float *points, size_t point)
{
	assert(is_form(window, output) && count % LANES == 0);
	if (window == 5)
		weights_to_points(7, 5, weights, count, points, point);
	else if (window == 4)
		weights_to_points(7, 4, weights, count, points, point);
	else if (output == 5)
		weights_to_points(7, 3, weights, count, points, point);
	else
		weights_to_points(6, 3, weights, count, points, point);
}

static void to_weights(int window, int output, const float *points,
		       size_t point, size_t count, float *dw)
{
	assert(is_form(window, output) && count % LANES == 0);
	if (window == 5)
		points_to_weights(7, 5, points, point, count, dw);
	else if (window == 4)
		points_to_weights(7, 4, points, point, count, dw);
	else if (output == 5)
		points_to_weights(7, 3, points, point, count, dw);
	else
		points_to_weights(6, 3, points, point, count, dw);
}

const struct winograd_kernels ISA_NAME(winograd_kernels) = {
	.from_data = from_data,
#ifdef HAS_ROUNDED
	.from_data_rounded = from_data_rounded,
#endif
	.to_outputs = to_outputs,
	.from_outputs = from_outputs,
	.from_weights = from_weights,
	.to_weights = to_weights,
};
