/* U as AMX's tiles (stem_points_amx.h), each float split into parts. */
#include "backends/cpu/kernels/stem_points_amx.h"
#include "backends/cpu/kernels/stem_direct_forward_amx.h"

size_t ISA_NAME(stem_points_tiled)(const struct stem_shape *shape)
{
	if (stem_is_direct(shape))
		return ISA_NAME(stem_direct_tiled)(shape);
	if (!stem_forward_fits_tiles(shape))
		return 0;
	return stem_points_tile_count(shape) * sizeof(amx_tile) /
	       sizeof(float);
}

/* A[o][i] of one point. */
static void point_tile(const struct stem_shape *shape, const float *points,
		       amx_tile *tiles)
{
	const int deep = shape->middle / AMX_DEPTH;

	for (int o = 0; o < shape->outputs; o++) {
		amx_tile *at = tiles + o / AMX_ROWS * deep * AMX_PARTS;

		for (int d = 0; d < deep; d++) {
			amx_store_row(at, o % AMX_ROWS, vec_load(points),
				      vec_load(points + LANES), AMX_PARTS);
			points += AMX_DEPTH;
			at += AMX_PARTS;
		}
	}
}

void ISA_NAME(stem_points_tile)(const struct stem_shape *shape, float *points)
{
	const size_t plain = (size_t)(shape->outputs * shape->middle);
	const size_t each = stem_points_tile_count(shape) / STEM_POINTS;
	amx_tile *tiles = (amx_tile *)(void *)
		(points + stem_points_plain(shape));

	if (!stem_forward_fits_tiles(shape))
		return;
	for (int k = 0; k < STEM_POINTS; k++) {
		point_tile(shape, points, tiles);
		points += plain;
		tiles += each;
	}
}
