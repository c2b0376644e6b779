/*
 * The gradient by the stem's second convolution's parameters, from the one
 * pixel that each window of the pooling passes its gradient to:
 *
 *   dw[o][r][s][i] += sum over windows n of g[o][n] a[p[o][n] + (r, s)][i]
 *   db[o]          += sum over windows n of g[o][n]
 *
 * where g is scale * dy, p the winner's pixel and a[y][x][i] the planes
 * between, ReLU(first convolution), computed here once more.
 *
 * Layout: a is channels-last and not padded, so the three taps of a row are
 * 3 * middle floats in one piece, of a and of dw alike.
 *
 * Blocking: a strip of tile rows at a time, whose part of a stays in the first
 * cache (26 x 26 x 32 floats, 86 KB, do not). For each kept plane the strip's
 * non-zero g become a list of places in a and values; then all 3 x 3 x 32
 * sums are in registers (18 of 512 bits) and each non-zero costs one broadcast
 * and 18 multiply-adds that load their operand.
 *
 * Ceiling: 9 cycles per non-zero where two multiply-adds of 512 bits and two
 * loads are done in each. On the Xeon that this was measured on (AMX, 3.5 GHz),
 * 18 multiply-adds take 9 cycles from registers, but 13 to 14 when each loads
 * from the first cache, and this takes 16; with all around it 20 to 22, and
 * 30 where two thirds of dy are zero.
 * In an iteration of mnist, 128 samples, it takes 5.2 ms, on Zen 5 3.05. There
 * these gained nothing: 16 planes i at a time, so that the first cache holds a
 * whole sample's; lists of a place and its g in one word; filling the next list
 * before adding this one.
 */
#include "backends/cpu/kernels/simd/scratch.h"
#include "backends/cpu/kernels/simd/simd_masks.h"
#include "backends/cpu/kernels/stem/stem_kernels.h"
#include "backends/cpu/kernels/stem/stem_planes.h"

#define SIDE 3 /* of a window */

/* Registers of sums: SIDE x COLUMNS, and some are left for broadcasts. */
#if defined(__AVX512F__) || defined(__aarch64__)
#define COLUMNS 6
#else
#define COLUMNS 4
#endif

#define AHEAD 4 /* of its use a place is loaded, in non-zeros */

/* Floats of the planes between that the first cache holds with the rest. */
#define STRIP_FLOATS 9216

/* Sizes, and what is in the scratch. */
struct space {
	int row;	/* floats of a row of the planes between */
	int columns;	/* pixels of it */
	int tiles, tile_rows, tile_columns;
	int strip;	/* tile rows */
	float *planes;	/* of a strip: [4 * strip + 2][columns][middle] */
	float *transposed;	/* see stem_planes.h */
	int32_t *corners;     /* see corners_place() */
	int32_t *list_places; /* of the winners in the planes */
	float *list_g;
};

/* Sample's place in the batch, its first row of tiles and how many. */
struct tile_strip {
	int sample;
	int tile_row, tile_rows;
};

/* Gradients that a plane's strip passes back: count non-zero g and their
 * places. */
struct list {
	int count;
	int32_t *places;
	float *g;
};

/* Takes count floats or int32_t, and a vector more that may be touched. */
static void *array_take(float *scratch, size_t *used, int count)
{
	return scratch_take(scratch, used,
			    (size_t)(count + LANES) * sizeof(*scratch));
}

/* As many tile rows as STRIP_FLOATS hold, in strips of about the same size. */
static int strip_rows(const struct space *space)
{
	const int fit = (STRIP_FLOATS / space->row - 2) / STEM_TILE;
	const int most = fit > 1 ? fit : 1;
	const int strips = (space->tile_rows + most - 1) / most;

	return (space->tile_rows + strips - 1) / strips;
}

/* Cuts scratch; returns the bytes that this takes. */
static size_t space_cut(struct space *space, const struct stem_shape *shape,
			float *scratch)
{
	size_t used = 0;
	int windows;

	space->columns = shape->width - 2;
	space->tiles = stem_tiles(shape);
	space->tile_rows = (shape->height - 4) / STEM_TILE;
	space->tile_columns = (shape->width - 4) / STEM_TILE;
	space->row = space->columns * shape->middle;
	space->strip = strip_rows(space);
	windows = STEM_QUADRANTS * space->strip * space->tile_columns;
	space->planes = array_take(
		scratch, &used, (STEM_TILE * space->strip + 2) * space->row);
	space->transposed =
		array_take(scratch, &used, stem_planes_transposed(shape));
	space->corners = array_take(scratch, &used, windows);
	space->list_places = array_take(scratch, &used, windows);
	space->list_g = array_take(scratch, &used, windows);
	return used;
}

size_t VEC_NAME(stem_lists_scratch)(const struct stem_shape *shape)
{
	struct space space;

	return space_cut(&space, shape, NULL) / sizeof(float);
}

/* Finds the offsets of the quadrants of a strip's tiles in its planes:
 * [4][tiles]. */
static void corners_place(const struct stem_shape *shape,
			  const struct space *space)
{
	const int tiles = space->strip * space->tile_columns;

	for (int q = 0; q < STEM_QUADRANTS; q++)
		for (int t = 0; t < tiles; t++) {
			const int y = t / space->tile_columns * STEM_TILE +
				      q / 2 * 2;
			const int x = t % space->tile_columns * STEM_TILE +
				      q % 2 * 2;

			space->corners[q * tiles + t] =
				y * space->row + x * shape->middle;
		}
}

/* The planes between under a strip; two rows may be the last strip's. */
static void strip_compute(const struct stem_shape *shape,
			  const struct space *space,
			  const struct tile_strip *strip, const float *image)
{
	const int done = strip->tile_row ? 2 : 0; /* rows of the strip before */
	float *planes = space->planes;

	if (done)
		memcpy(planes, planes + STEM_TILE * space->strip * space->row,
		       (size_t)(2 * space->row) * sizeof(*planes));
	VEC_NAME(stem_planes)(shape, space->transposed, image,
			      STEM_TILE * strip->tile_row + done,
			      STEM_TILE * strip->tile_rows + 2 - done,
			      planes + done * space->row);
}

/*
 * The list of tiles consecutive tiles of a plane, from dy and winners of the
 * first one on.
 */
static void list_fill(const struct stem_shape *shape,
		      const struct space *space, const float *dy,
		      const uint8_t *winners, float scale, int tiles,
		      struct list *list)
{
	const lanes_int right = (lanes_int){ 0 } + shape->middle;
	const lanes_int below = (lanes_int){ 0 } + space->row;
	const int each = space->strip * space->tile_columns;
	const int32_t *corners = space->corners;
	int found = 0;

	for (int q = 0; q < STEM_QUADRANTS; q++)
		for (int t = 0; t < tiles; t += LANES) {
			const int at = q * space->tiles + t;
			const int count = tiles - t < LANES ? tiles - t : LANES;
			const vec g = vec_set(scale) *
				      vec_load_first(dy + at, count);
			const lanes_int winner =
				bytes_load_first(winners + at, count);
			const mask chosen = mask_differ(g, (vec){ 0 });
			lanes_int place;

			memcpy(&place, corners + q * each + t, sizeof(place));
			place += ((winner & 1) != 0) & right;
			place += ((winner & 2) != 0) & below;
			vec_store_chosen(list->g + found, chosen, g);
			vec_store_chosen((float *)list->places + found, chosen,
					 (vec)place);
			found += __builtin_popcount(mask_bits(chosen));
		}
	list->count = found;
}

/* One non-zero: SIDE x columns (a constant) vectors of the planes under it. */
INLINE void patch_add(vec sums[SIDE][COLUMNS], const int columns,
		      const float *planes, ptrdiff_t row, float g)
{
	const vec factor = vec_set(g);

	UNROLL for (int r = 0; r < SIDE; r++) {
		planes = address_hold(planes);
		UNROLL for (int c = 0; c < columns; c++)
			sums[r][c] += factor * vec_load(planes + c * LANES);
		planes += row;
	}
}

/*
 * Adds a list's sums to a piece of dw[SIDE][3 * middle], columns (a
 * constant) vectors wide, the last of them of count floats. A processor that
 * serves its oldest load first would ask for a place only after the patches
 * before have been loaded, and then wait for it; so it is asked for AHEAD of
 * them, which takes Zen 5 from 12.4 cycles a non-zero to 10.3; 20 loads are 10.
 */
INLINE void block_add(const struct list *list, const float *planes,
		      ptrdiff_t row, const int columns, int count,
		      float *dw, int next_row)
{
	const int32_t *places = list->places;
	vec sums[SIDE][COLUMNS] = { { { 0 } } };
	int32_t next[AHEAD];

	UNROLL for (int n = 0; n < AHEAD; n++)
		next[n] = places[n];
	for (int n = 0; n < list->count; n++) {
		const float *from = planes + next[0];

		UNROLL for (int i = 0; i + 1 < AHEAD; i++)
			next[i] = next[i + 1];
		next[AHEAD - 1] = places[n + AHEAD];
		patch_add(sums, columns, from, row, list->g[n]);
	}
	UNROLL for (int r = 0; r < SIDE; r++)
		UNROLL for (int c = 0; c < columns; c++) {
			float *to = dw + r * next_row + c * LANES;

			if (count == LANES || c + 1 < columns)
				vec_store(to, vec_load(to) + sums[r][c]);
			else
				vec_store_first(to, vec_load_first(to, count) +
						sums[r][c], count);
		}
}

/* Adds a list to the dw[3][3][middle] of its plane's weights. */
static void list_add(const struct list *list, const float *planes, int row,
		     int middle, float *dw)
{
	const int floats = SIDE * middle;
	int i = 0;

	for (; i + COLUMNS * LANES <= floats; i += COLUMNS * LANES)
		block_add(list, planes + i, row, COLUMNS, LANES, dw + i,
			  floats);
	for (; i + LANES <= floats; i += LANES)
		block_add(list, planes + i, row, 1, LANES, dw + i, floats);
	if (i < floats)
		block_add(list, planes + i, row, 1, floats - i, dw + i,
			  floats);
}

/* A strip of all kept planes, whose planes between are in the scratch. */
static void strip_add(const struct stem_shape *shape,
		      const struct space *space, const struct stem_batch *batch,
		      const struct tile_strip *strip, const float *dy,
		      const uint8_t *winners, float *dw,
		      float *dbias)
{
	const int plane = stem_plane(shape);
	const int from = strip->tile_row * space->tile_columns;
	struct list list = {
		.places = space->list_places,
		.g = space->list_g,
	};

	for (int o = 0; o < shape->outputs; o++) {
		const int at = strip->sample * shape->outputs + o;
		const float *plane_dy = dy + (size_t)(at * plane);
		const uint8_t *plane_winners = winners + (size_t)(at * plane);

		if (batch->keep && !batch->keep[at])
			continue;
		if (strip->tile_row == 0)
			dbias[o] +=
				batch->scale *
				stem_plane_sum(plane_dy, plane);
		list_fill(shape, space, plane_dy + from,
			  plane_winners + from, batch->scale,
			  strip->tile_rows * space->tile_columns, &list);
		list_add(&list, space->planes, space->row, shape->middle,
			 dw + o * STEM_TAPS * shape->middle);
	}
}

/* A sample, strip by strip. */
static void sample_add(const struct stem_shape *shape,
		       const struct space *space,
		       const struct stem_batch *batch, int sample,
		       const float *dy, const uint8_t *winners,
		       float *dw, float *dbias)
{
	const float *image = batch->images + sample * shape->channels *
						     shape->height *
						     shape->width;

	for (int y = 0; y < space->tile_rows; y += space->strip) {
		const int left = space->tile_rows - y;
		const struct tile_strip strip = {
			.sample = sample, .tile_row = y,
			.tile_rows = left < space->strip ? left : space->strip
		};

		strip_compute(shape, space, &strip, image);
		strip_add(shape, space, batch, &strip, dy, winners,
			  dw, dbias);
	}
}

void VEC_NAME(stem_lists_add)(const struct stem_shape *shape,
			      const struct stem_weights *weights,
			      const struct stem_batch *batch,
			      const float *dy, const uint8_t *winners,
			      float *dw, float *dbias,
			      float *scratch)
{
	struct space space;

	space_cut(&space, shape, scratch);
	VEC_NAME(stem_planes_transpose)(shape, weights, space.transposed);
	corners_place(shape, &space);
	for (int b = 0; b < batch->count; b++)
		sample_add(shape, &space, batch, b, dy, winners,
			   dw, dbias);
}
