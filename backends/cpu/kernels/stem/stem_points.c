/*
 * U = G g G^T of the second convolution's windows, once a step; or, where it is
 * convolved directly (stem_direct_amx.h), its tiles.
 *
 *   weights: [outputs][3][3][middle]    points: [36][outputs][middle]
 *
 * A vector holds one element of as many windows of an output as it has lanes.
 */
#include "backends/cpu/kernels/stem_direct/stem_direct_data_amx.h"
#include "backends/cpu/kernels/stem_direct/stem_direct_forward_amx.h"
#include "backends/cpu/kernels/winograd/winograd.h"

#ifdef __AMX_BF16__
size_t ISA_NAME(stem_points_tiled)(const struct stem_shape *shape)
{
	return stem_is_direct(shape) ? ISA_NAME(stem_direct_tiled)(shape) : 0;
}
#endif

size_t ISA_NAME(stem_points_direct)(const struct stem_shape *shape)
{
	const size_t plain = stem_is_direct(shape) ? 0 :
						     stem_points_plain(shape);
	const size_t before = plain + ISA_NAME(stem_points_tiled)(shape);

	return (before + LANES - 1) / LANES * LANES;
}

/* G g G^T of one vector of windows; weights and points are so far apart. */
INLINE void windows_transform(const float *weights, size_t apart, int count,
			      float *points, size_t points_apart)
{
	vec half[WINOGRAD_WINDOW][WINOGRAD_DATA];

	UNROLL for (int s = 0; s < WINOGRAD_WINDOW; s++) {
		vec window[WINOGRAD_WINDOW];

		UNROLL for (int r = 0; r < WINOGRAD_WINDOW; r++)
			window[r] = vec_load_first(
				weights + (size_t)(r * WINOGRAD_WINDOW + s) *
						  apart, count);
		window_to_points(window, half[s]);
	}
	UNROLL for (int y = 0; y < WINOGRAD_DATA; y++) {
		const vec row[WINOGRAD_WINDOW] = { half[0][y], half[1][y],
						   half[2][y] };
		vec done[WINOGRAD_DATA];

		window_to_points(row, done);
		UNROLL for (int x = 0; x < WINOGRAD_DATA; x++)
			vec_store_first(points + (size_t)(y * WINOGRAD_DATA +
							  x) * points_apart,
					done[x], count);
	}
}

void ISA_NAME(stem_transform)(const struct stem_shape *shape,
			      const float *weights, float *points)
{
	const size_t middle = (size_t)shape->middle;
	const size_t apart = (size_t)shape->outputs * middle;

#ifdef __AMX_BF16__
	if (stem_is_direct(shape)) {
		ISA_NAME(stem_direct_tile)(shape, weights, points);
		ISA_NAME(stem_direct_data_transform)(
			shape, weights,
			points + ISA_NAME(stem_points_direct)(shape));
		return;
	}
#endif
	for (int o = 0; o < shape->outputs; o++) {
		const float *from = weights + (size_t)o * STEM_TAPS * middle;
		float *to = points + (size_t)o * middle;
		int i = 0;

		for (; i + LANES <= shape->middle; i += LANES)
			windows_transform(from + i, middle, LANES, to + i,
					  apart);
		if (i < shape->middle)
			windows_transform(from + i, middle, shape->middle - i,
					  to + i, apart);
	}
}
