/* Tiles, weights and their points: see backends/cpu/kernels/points.h. A lane is
 * a channel. */
#include "backends/cpu/kernels/points.h"

#include "backends/cpu/kernels/winograd.h"

_Static_assert(POINTS_DATA == WINOGRAD_DATA, "the same transformation");

/* Of F(4,3) or F(2,5), in one dimension; output and window are constants. */
INLINE void sum_up(int output, const vec *points, vec *outputs)
{
	if (output == WINOGRAD_PAIR)
		points_to_pair(points, outputs);
	else
		points_to_output(points, outputs);
}

INLINE void spread(int output, const vec *outputs, vec *points)
{
	if (output == WINOGRAD_PAIR)
		pair_to_points(outputs, points);
	else
		output_to_points(outputs, points);
}

INLINE void spread_window(int window, const vec *weights, vec *points)
{
	if (window == WINOGRAD_WIDE)
		wide_to_points(weights, points);
	else
		window_to_points(weights, points);
}

INLINE void sum_up_window(int window, const vec *points, vec *weights)
{
	if (window == WINOGRAD_WIDE)
		points_to_wide(points, weights);
	else
		points_to_window(points, weights);
}

/* Where a tile is: its first output's pixel, and its sample. */
struct place {
	int sample, y, x;
};

INLINE struct place place_of(const struct points_tiles *tiles, int t)
{
	const int each = tiles->rows * tiles->columns;
	const int in_sample = (tiles->first + t) % each;

	return (struct place){
		.sample = (tiles->first + t) / each,
		.y = in_sample / tiles->columns * tiles->output,
		.x = in_sample % tiles->columns * tiles->output,
	};
}

/* A side's places from first on that are not beside the plane, of count. */
struct span {
	int from, to;
};

INLINE struct span span_of(int first, int count, int length)
{
	return (struct span){
		.from = first < 0 ? -first : 0,
		.to = first + count > length ? length - first : count,
	};
}

/* Of one vector of channels: the whole window is in the plane. */
INLINE void data_inside(const float *in, size_t row, size_t pixel,
			float *points, size_t point)
{
	vec made[POINTS_DATA][POINTS_DATA];

	for (int c = 0; c < POINTS_DATA; c++) {
		vec data[POINTS_DATA], column[POINTS_DATA];

		UNROLL
		for (int r = 0; r < POINTS_DATA; r++)
			data[r] = vec_load(in + (size_t)r * row +
					   (size_t)c * pixel);
		data_to_points(data, column);
		UNROLL
		for (int r = 0; r < POINTS_DATA; r++)
			made[r][c] = column[r];
	}
	for (int r = 0; r < POINTS_DATA; r++) {
		vec all[POINTS_DATA];

		data_to_points(made[r], all);
		UNROLL
		for (int c = 0; c < POINTS_DATA; c++, points += point)
			vec_store(points, all[c]);
	}
}

/* A window at the edge, with zeros beside it. */
INLINE void copy_window(const float *in, size_t row, size_t pixel,
			struct span down, struct span across,
			float window[POINTS][LANES])
{
	memset(window, 0, POINTS * sizeof(window[0]));
	for (int r = down.from; r < down.to; r++)
		for (int c = across.from; c < across.to; c++)
			memcpy(window[r * POINTS_DATA + c],
			       in + (ptrdiff_t)r * (ptrdiff_t)row +
				       (ptrdiff_t)c * (ptrdiff_t)pixel,
			       sizeof(window[0]));
}

static void from_data(const struct points_planes *planes,
		      const struct points_tiles *tiles, int pad, int channels,
		      const float *in, float *points)
{
	const size_t pixel = (size_t)planes->pixel;
	const size_t row = (size_t)planes->width * pixel;

	for (int t = 0; t < tiles->count; t++, points += tiles->tile) {
		const struct place place = place_of(tiles, t);
		const int y = place.y - pad, x = place.x - pad;
		const struct span down = span_of(y, POINTS_DATA,
						 planes->height);
		const struct span across = span_of(x, POINTS_DATA,
						   planes->width);
		const float *from = in +
			(size_t)place.sample * planes->sample +
			(ptrdiff_t)y * (ptrdiff_t)row +
			(ptrdiff_t)x * (ptrdiff_t)pixel;
		const int inside = !down.from && !across.from &&
				   down.to == POINTS_DATA &&
				   across.to == POINTS_DATA;

		for (int c = 0; c < channels; c += LANES) {
			float window[POINTS][LANES];

			if (inside) {
				data_inside(from + c, row, pixel, points + c,
					    tiles->point);
				continue;
			}
			copy_window(from + c, row, pixel, down, across,
				    window);
			data_inside(window[0], POINTS_DATA * LANES, LANES,
				    points + c, tiles->point);
		}
	}
}

/* The outputs of one vector of channels. */
INLINE void make_outputs(int output, const float *points, size_t point,
			 vec outputs[WINOGRAD_OUTPUT][WINOGRAD_OUTPUT])
{
	vec made[WINOGRAD_OUTPUT][POINTS_DATA];

	for (int c = 0; c < POINTS_DATA; c++) {
		vec column[POINTS_DATA], sums[WINOGRAD_OUTPUT];

		UNROLL
		for (int r = 0; r < POINTS_DATA; r++)
			column[r] = vec_load(points +
					     (size_t)(r * POINTS_DATA + c) *
						     point);
		sum_up(output, column, sums);
		UNROLL
		for (int r = 0; r < output; r++)
			made[r][c] = sums[r];
	}
	for (int r = 0; r < output; r++)
		sum_up(output, made[r], outputs[r]);
}

INLINE vec end_of(const struct points_end *end, int first, int lanes,
		  const float *out, vec value)
{
	if (end->bias)
		value += vec_load(end->bias + first);
	if (end->adds)
		value += lanes < LANES ? vec_load_first(out, lanes) :
					 vec_load(out);
	/* A NaN is not at most 0. */
	if (end->relu)
		value = (vec)((lanes_int)value & ~(value <= vec_set(0)));
	return value;
}

INLINE void to_outputs(int output, const struct points_planes *planes,
		       const struct points_tiles *tiles,
		       const struct points_end *end, const float *points,
		       float *out)
{
	const size_t pixel = (size_t)planes->pixel;
	const size_t row = (size_t)planes->width * pixel;

	for (int t = 0; t < tiles->count; t++, points += tiles->tile) {
		const struct place place = place_of(tiles, t);
		const int down = span_of(place.y, output,
					 planes->height).to;
		const int across = span_of(place.x, output,
					   planes->width).to;
		float *to = out + (size_t)place.sample * planes->sample +
			    (size_t)place.y * row + (size_t)place.x * pixel;

		for (int o = 0; o < end->outputs; o += LANES) {
			vec outputs[WINOGRAD_OUTPUT][WINOGRAD_OUTPUT];
			const int lanes = end->outputs - o;

			make_outputs(output, points + o, tiles->point, outputs);
			for (int r = 0; r < down; r++)
				for (int c = 0; c < across; c++) {
					float *at = to + (size_t)r * row +
						    (size_t)c * pixel + o;
					const vec value = end_of(
						end, o, lanes, at,
						outputs[r][c]);

					if (lanes < LANES)
						vec_store_first(at, value,
								lanes);
					else
						vec_store(at, value);
				}
		}
	}
}

/* Of one vector of channels of a tile, which has down x across outputs;
 * returns their sum. */
INLINE vec outputs_inside(int output, const float *dy, size_t row,
			  size_t pixel, int down, int across, float *points,
			  size_t point)
{
	vec made[POINTS_DATA][WINOGRAD_OUTPUT], sum = vec_set(0);

	for (int c = 0; c < output; c++) {
		vec outputs[WINOGRAD_OUTPUT], column[POINTS_DATA];

		UNROLL
		for (int r = 0; r < output; r++) {
			outputs[r] = r < down && c < across ?
				vec_load(dy + (size_t)r * row +
					 (size_t)c * pixel) : vec_set(0);
			sum += outputs[r];
		}
		spread(output, outputs, column);
		UNROLL
		for (int r = 0; r < POINTS_DATA; r++)
			made[r][c] = column[r];
	}
	for (int r = 0; r < POINTS_DATA; r++) {
		vec all[POINTS_DATA];

		spread(output, made[r], all);
		UNROLL
		for (int c = 0; c < POINTS_DATA; c++, points += point)
			vec_store(points, all[c]);
	}
	return sum;
}

INLINE void from_outputs(int output, const struct points_planes *planes,
			 const struct points_tiles *tiles, int channels,
			 const float *dy, float *points, float *dbias)
{
	const size_t pixel = (size_t)planes->pixel;
	const size_t row = (size_t)planes->width * pixel;

	for (int t = 0; t < tiles->count; t++, points += tiles->tile) {
		const struct place place = place_of(tiles, t);
		const int down = span_of(place.y, output,
					 planes->height).to;
		const int across = span_of(place.x, output,
					   planes->width).to;
		const float *from = dy +
			(size_t)place.sample * planes->sample +
			(size_t)place.y * row + (size_t)place.x * pixel;

		for (int c = 0; c < channels; c += LANES) {
			const vec sum = outputs_inside(output, from + c, row,
						       pixel, down, across,
						       points + c,
						       tiles->point);

			if (dbias)
				vec_store(dbias + c, vec_load(dbias + c) + sum);
		}
	}
}

INLINE void from_weights(int window, const float *weights, size_t count,
			 float *points, size_t point)
{
	for (size_t i = 0; i < count; i += LANES) {
		vec made[POINTS_DATA][WINOGRAD_WIDE];

		for (int c = 0; c < window; c++) {
			vec taps[WINOGRAD_WIDE], column[POINTS_DATA];

			for (int r = 0; r < window; r++)
				taps[r] = vec_load(weights + i + count *
						   (size_t)(r * window + c));
			spread_window(window, taps, column);
			for (int r = 0; r < POINTS_DATA; r++)
				made[r][c] = column[r];
		}
		for (int r = 0; r < POINTS_DATA; r++) {
			vec all[POINTS_DATA];

			spread_window(window, made[r], all);
			for (int c = 0; c < POINTS_DATA; c++)
				vec_store(points + i + point *
					  (size_t)(r * POINTS_DATA + c),
					  all[c]);
		}
	}
}

INLINE void to_weights(int window, const float *points, size_t point,
		       size_t count, float *dw)
{
	for (size_t i = 0; i < count; i += LANES) {
		vec made[WINOGRAD_WIDE][POINTS_DATA];

		for (int c = 0; c < POINTS_DATA; c++) {
			vec column[POINTS_DATA], taps[WINOGRAD_WIDE];

			for (int r = 0; r < POINTS_DATA; r++)
				column[r] = vec_load(
					points + i + point *
					(size_t)(r * POINTS_DATA + c));
			sum_up_window(window, column, taps);
			for (int r = 0; r < window; r++)
				made[r][c] = taps[r];
		}
		for (int r = 0; r < window; r++) {
			vec all[WINOGRAD_WIDE];

			sum_up_window(window, made[r], all);
			for (int c = 0; c < window; c++) {
				float *to = dw + i + count *
					    (size_t)(r * window + c);

				vec_store(to, vec_load(to) + all[c]);
			}
		}
	}
}

/* A form's functions, of constants. */
#define FORM(name, window, output)                                             \
	static void to_outputs_##name(const struct points_planes *planes,      \
				      const struct points_tiles *tiles,        \
				      const struct points_end *end,            \
				      const float *points, float *out)         \
	{                                                                      \
		to_outputs(output, planes, tiles, end, points, out);           \
	}                                                                      \
	static void from_outputs_##name(const struct points_planes *planes,    \
					const struct points_tiles *tiles,      \
					int channels, const float *dy,         \
					float *points, float *dbias)           \
	{                                                                      \
		from_outputs(output, planes, tiles, channels, dy, points,      \
			     dbias);                                           \
	}                                                                      \
	static void from_weights_##name(const float *weights, size_t count,    \
					float *points, size_t point)           \
	{                                                                      \
		from_weights(window, weights, count, points, point);           \
	}                                                                      \
	static void to_weights_##name(const float *points, size_t point,       \
				      size_t count, float *dw)                 \
	{                                                                      \
		to_weights(window, points, point, count, dw);                  \
	}

#define FORM_OF(name, window, output)                                          \
	{ window, output, to_outputs_##name, from_outputs_##name,              \
	  from_weights_##name, to_weights_##name }

FORM(square3, WINOGRAD_WINDOW, WINOGRAD_OUTPUT)
FORM(square5, WINOGRAD_WIDE, WINOGRAD_PAIR)

const struct points_kernels ISA_NAME(points_kernels) = {
	.square3 = FORM_OF(square3, WINOGRAD_WINDOW, WINOGRAD_OUTPUT),
	.square5 = FORM_OF(square5, WINOGRAD_WIDE, WINOGRAD_PAIR),
	.from_data = from_data,
};
