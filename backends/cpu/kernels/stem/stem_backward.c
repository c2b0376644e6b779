/*
 * The stem backward: from dy, the gradient by pooled outputs, to that by the
 * first convolution's parameters, the exact adjoint of stem_forward.c. For a
 * tile:
 *
 *   dZ[4][4]  dy, each at the pixel that won its window
 *   dM[6][6]  = A dZ A^T                     for each plane o that is kept
 *   dV[6][6]  = sum over o of U[o][i] dM[o]  point by point (stem_multiply.c)
 *   dx[6][6]  = B dV B^T where ReLU let it   (stem_first.c)
 *   first[i] += dx * pixels
 *
 * Tiles overlap by two pixels in dx, and each has only its own share of the
 * gradient there; since the last line sums over all tiles, the shares need not
 * be added up before, and planes of dx never exist.
 *
 * A part (stem_part.h) is done at once. dM exists for six points at a time, a
 * row of A dZ, which a dy reaches by a factor that depends on its winner: a
 * table of four for each of two columns, looked up for all lanes at once.
 *
 *   dm[6][kept][vectors][LANES]     37 KB: 48 planes, 2 vectors of 16 lanes
 *   dv[vectors][middle][36][LANES]  147 KB, of 32 planes
 *
 * Measured on a Xeon with AVX-512 (48 KB and 2 MB of cache), in cycles for a
 * sample of 28x28 with 48 of 64 planes kept: dM 16 k and products 63 k for its
 * own vectors, 3.5 k and 13.7 k for its quarter of the tail, the rest 26 k. All
 * in the first cache, these would be 7 k, 57 k, 1 k, 13 k and 22 k: a line that
 * is written in the second cache costs four cycles, which nothing hides. On
 * Zen 5 it takes, with the tail, 13.6 k, 74 k (64.5 k of them FMAs) and 29 k.
 */
#include <string.h>

#include "backends/contract/allocator.h"
#include "backends/cpu/kernels/simd/simd_masks.h"
#include "backends/cpu/kernels/stem_direct/stem_direct_data_amx.h"
#include "backends/cpu/kernels/stem/stem_part.h"
#include "backends/cpu/kernels/winograd/winograd.h"

/* Most floats of a sample's dy that leave room for all else in the second
 * cache: 180 KB in all. */
#define FETCH_MOST (36 << 10) /* floats of dy */

#define DM_PAD 5 /* vectors after each point of dm */

/*
 * The part of a dy in row r of A dZ, by its winner (row * 2 + column), for each
 * column that the winner can be in, of upper and lower quadrants.
 */
struct tables {
	vec columns[2][2];
};

static void tables_fill(const float coefficients[STEM_TILE], float scale,
			struct tables *tables)
{
	for (int half = 0; half < 2; half++)
		for (int x = 0; x < 2; x++) {
			vec table = { 0 };

			for (int y = 0; y < 2; y++)
				table[y * 2 + x] =
					coefficients[half * 2 + y] * scale;
			tables->columns[half][x] = table;
		}
}

/* Row r of dM of one plane and vector, from quadrants from .. to - 1. */
INLINE void row_unpool(const float *dy, const uint8_t *winners,
		       int quadrant, const struct tables *tables, int from,
		       int to, vec row[WINOGRAD_DATA])
{
	vec half[STEM_TILE] = { { 0 } };

	UNROLL
	for (int q = from; q < to; q++) {
		const vec value = vec_load(dy + q * quadrant);
		const lanes_int won =
			bytes_load_first(winners + q * quadrant, LANES);
		const vec *columns = tables->columns[q / 2];

		UNROLL
		for (int x = 0; x < 2; x++)
			half[q % 2 * 2 + x] +=
				value * vec_lookup(columns[x], won);
	}
	output_to_points(half, row);
}

/*
 * Floats from one point of dm to the next: not a whole number of pages, or all
 * points of a plane would compete for one set of a cache.
 */
static int dm_point(const struct stem_part *part)
{
	return (part->kept * part->vectors + DM_PAD) * LANES;
}

/* Row r of dM of all kept planes. */
INLINE void planes_unpool(const struct stem_part *part,
			  const struct tables *tables, int from, int to,
			  float *dm)
{
	const int next = dm_point(part);

	for (int k = 0; k < part->kept; k++) {
		const int plane = part->planes[k] * part->plane;

		for (int v = 0; v < part->vectors; v++) {
			const int at = plane + v * LANES;
			vec row[WINOGRAD_DATA];

			row_unpool(part->dy + at, part->winners + at,
				   part->quadrant, tables, from, to, row);
			UNROLL
			for (int x = 0; x < WINOGRAD_DATA; x++)
				vec_store(dm + x * next, row[x]);
			dm += LANES;
		}
	}
}

/* The outermost points have a part in the outermost rows of outputs alone. */
static void part_unpool(const struct stem_part *part,
			const float coefficients[STEM_TILE], float scale,
			float *dm)
{
	const int upper = coefficients[0] != 0 || coefficients[1] != 0;
	const int lower = coefficients[2] != 0 || coefficients[3] != 0;
	struct tables tables;

	tables_fill(coefficients, scale, &tables);
	if (!lower)
		planes_unpool(part, &tables, 0, 2, dm);
	else if (!upper)
		planes_unpool(part, &tables, 2, 4, dm);
	else
		planes_unpool(part, &tables, 0, 4, dm);
}

/* The last rest tiles of a plane, to its sample's lanes of the tail. */
INLINE void rest_copy(const float *dy, const uint8_t *winners, int tiles,
		      int rest, float *tail, uint8_t *tail_winners)
{
	for (int q = 0; q < STEM_QUADRANTS; q++) {
		const int from = (q + 1) * tiles - rest;

		memcpy(tail + q * LANES, dy + from,
		       (size_t)rest * sizeof(*tail));
		memcpy(tail_winners + q * LANES, winners + from, (size_t)rest);
	}
}

/* Plane o of the tail, 0 where there is nothing; whether any sample keeps it */
static int tail_gather(const struct stem_shape *shape,
		       const struct stem_batch *batch, const float *dy,
		       const uint8_t *winners, int o, float *tail,
		       uint8_t *tail_winners)
{
	const int tiles = stem_tiles(shape), rest = tiles % LANES;
	int kept = 0;

	memset(tail, 0, STEM_QUADRANTS * LANES * sizeof(*tail));
	memset(tail_winners, 0, STEM_QUADRANTS * LANES);
	for (int s = 0; s < batch->count; s++) {
		const size_t at = (size_t)(s * shape->outputs + o);
		const size_t plane = at * (size_t)stem_plane(shape);

		if (batch->keep && !batch->keep[at])
			continue;
		kept = 1;
		/* With a constant, copying is no call. */
		if (rest == 4)
			rest_copy(dy + plane, winners + plane, tiles, 4,
				  tail + s * 4, tail_winners + s * 4);
		else
			rest_copy(dy + plane, winners + plane, tiles, rest,
				  tail + s * rest, tail_winners + s * rest);
	}
	return kept;
}

/* dy of the tail, and its winners after it. */
static size_t tail_count(const struct stem_shape *shape)
{
	return (size_t)(shape->outputs * STEM_QUADRANTS * LANES);
}

/* The same in floats. */
static size_t tail_size(const struct stem_shape *shape)
{
	return tail_count(shape) + tail_count(shape) / sizeof(float);
}

static void part_of_tail(struct stem_part *part, const struct stem_batch *batch,
			 const float *dy, const uint8_t *winners, float *tail)
{
	const struct stem_shape *shape = part->shape;
	const struct stem_lanes lanes = stem_lanes_of(shape);
	uint8_t *tail_winners = (uint8_t *)(void *)(tail + tail_count(shape));

	part->vector = lanes.group * lanes.main;
	part->vectors = 1;
	part->dy = tail;
	part->winners = tail_winners;
	part->quadrant = LANES;
	part->plane = STEM_QUADRANTS * LANES;
	part->kept = 0;
	for (int o = 0; o < shape->outputs; o++)
		if (tail_gather(shape, batch, dy, winners, o,
				tail + o * part->plane,
				tail_winners + o * part->plane))
			part->planes[part->kept++] = o;
}

static void part_of_sample(struct stem_part *part,
			   const struct stem_batch *batch, int sample,
			   const float *dy, const uint8_t *winners)
{
	const struct stem_shape *shape = part->shape;
	const struct stem_lanes lanes = stem_lanes_of(shape);
	const size_t at = (size_t)(sample * shape->outputs);

	part->vector = sample * lanes.main;
	part->vectors = lanes.main;
	part->quadrant = lanes.tiles;
	part->plane = stem_plane(shape);
	part->dy = dy + at * (size_t)part->plane;
	part->winners = winners + at * (size_t)part->plane;
	part->kept = 0;
	for (int o = 0; o < shape->outputs; o++)
		if (!batch->keep || batch->keep[at + (size_t)o])
			part->planes[part->kept++] = o;
}

/* Vectors of a part; the tail has one. */
static size_t most_vectors(const struct stem_shape *shape)
{
	const int main = stem_lanes_of(shape).main;

	return (size_t)(main ? main : 1);
}

static size_t dm_size(const struct stem_shape *shape)
{
	return (most_vectors(shape) * (size_t)shape->outputs + DM_PAD) *
	       WINOGRAD_DATA * LANES;
}

static size_t dv_size(const struct stem_shape *shape)
{
	return most_vectors(shape) *
	       (size_t)(shape->middle * STEM_POINTS * LANES);
}

static size_t finish_size(const struct stem_shape *shape)
{
	return VEC_NAME(part_finish_scratch)(shape, (int)most_vectors(shape));
}

size_t ISA_NAME(stem_backward_scratch)(const struct stem_shape *shape)
{
#ifdef __AMX_BF16__
	if (stem_is_direct(shape))
		return ISA_NAME(stem_direct_backward_scratch)(shape);
#endif
	return dm_size(shape) + dv_size(shape) + tail_size(shape) +
	       finish_size(shape) + (size_t)shape->outputs;
}

/*
 * Fetches one of STEM_POINTS shares of dy and winners of the sample after a
 * part's, of dropped planes too, into the second cache: a batch's do not stay
 * there from forward to backward.
 */
INLINE void next_fetch(const struct stem_part *part, int share)
{
	const size_t size = (size_t)(part->shape->outputs * part->plane);
	const size_t from = size + (size_t)share * size / STEM_POINTS;
	const size_t end = size + (size_t)(share + 1) * size / STEM_POINTS;

	if (size > FETCH_MOST)
		return;
	for (size_t i = from; i < end; i += CACHE_LINE / sizeof(float))
		fetch_early(part->dy, (ptrdiff_t)i);
	for (size_t i = from; i < end; i += CACHE_LINE)
		fetch_byte_early(part->winners, i);
}

/* dv of one part. */
static void part_backward(const struct stem_part *part, int is_tail,
			  const float *points, float scale, float *dm,
			  float *dv)
{
	const struct stem_shape *shape = part->shape;
	const size_t next = (size_t)dm_point(part);
	const size_t weights = (size_t)(shape->outputs * shape->middle);
	float coefficients[WINOGRAD_DATA][STEM_TILE];

	output_coefficients(coefficients);
	for (int p = 0; p < STEM_POINTS; p++) {
		const int r = p / WINOGRAD_DATA, x = p % WINOGRAD_DATA;

		if (x == 0)
			part_unpool(part, coefficients[r], scale, dm);
		if (!is_tail)
			next_fetch(part, p);
		VEC_NAME(part_multiply)(part, p, points + (size_t)p * weights,
					dm + (size_t)x * next, dv);
	}
}

void ISA_NAME(stem_backward)(const struct stem_shape *shape,
			     const struct stem_weights *weights,
			     const struct stem_batch *batch,
			     const float *dy, const uint8_t *winners,
			     const uint8_t *signs, float *first,
			     float *first_bias, float *scratch)
{
	const struct stem_lanes lanes = stem_lanes_of(shape);
	const int samples = lanes.main ? batch->count : 0;
	const int parts = samples + (lanes.rest > 0);
	float *dm = scratch, *dv = dm + dm_size(shape);
	float *tail = dv + dv_size(shape);
	float *finish = tail + tail_size(shape);
	float *planes = finish + finish_size(shape);
	struct stem_part part = { .shape = shape, .planes = (void *)planes };

#ifdef __AMX_BF16__
	if (stem_is_direct(shape)) {
		ISA_NAME(stem_direct_backward)(
			shape,
			weights->points + ISA_NAME(stem_points_direct)(shape),
			batch, dy, winners, signs, first, first_bias,
			scratch);
		return;
	}
#endif
	for (int n = 0; n < parts; n++) {
		if (n < samples)
			part_of_sample(&part, batch, n, dy, winners);
		else
			part_of_tail(&part, batch, dy, winners, tail);
		part_backward(&part, n == samples, weights->points,
			      batch->scale, dm, dv);
		VEC_NAME(part_finish)(&part, batch, dv, signs, first,
				      first_bias, finish);
	}
}
