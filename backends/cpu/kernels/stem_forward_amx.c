/*
 * The stem forward in fp32 with AMX's tiles, in units of vectors of tiles of
 * the image:
 *
 *   V = B^T x B of the planes between (stem_input.c)
 *   M[o] = sum over i of U[o][i] V[i] at each point, of all planes o
 *   out[o][q] = scale * (bias[o] + max of a quadrant of A^T M[o] A), of those
 *   that are kept (stem_pool.h)
 *
 *   U: tiles A[point][outputs / 16][middle / 32][parts]
 *   V: [point][middle][vectors][LANES]
 *   M: [point][outputs][vectors][LANES], padded from point to point like V
 *
 * V of a point becomes tiles B[vectors][middle / 32][parts] just before it is
 * multiplied, row by row between the products of the point before.
 *
 * A vector of mnist takes 27,000 cycles of a Xeon here, 15,000 of them the
 * tiles' own; the rest is M's way to the second cache, since storing a tile
 * stops the tiles' products, and splitting V. While AMX is in use only one of
 * the two ports multiplies vectors, so that making the next V between the
 * products gains nothing, and it is left to a time of its own.
 */
#include "backends/cpu/kernels/stem_forward_amx.h"
#include "backends/cpu/kernels/stem_points_amx.h"

#define UNIT 3	/* most vectors */
#define ROWS 64 /* of U that are multiplied at once, in blocks of tiles */

/* Vectors that are done together, of those that are there. */
struct unit {
	int first, count;
};

/* One point's V on its way to tiles. */
struct packing {
	const float *from; /* of the next two planes */
	uint16_t *to;
	int row, rows; /* of tiles: made so far, and all of them */
	lanes_int held[UNIT][AMX_PARTS]; /* made, and to be stored */
};

/* The products of one point. */
struct products {
	const amx_tile *a, *b;
	size_t line; /* tiles from one row or column of tiles to the next */
	float *to;
};

/* Tiles of one point's V. */
static size_t tiles_of(const struct stem_shape *shape)
{
	return (size_t)(UNIT * shape->middle / AMX_DEPTH *
			AMX_PARTS);
}

static size_t patches_size(const struct stem_shape *shape)
{
	return (size_t)(shape->channels * STEM_PATCH * STEM_PATCH * LANES);
}

size_t ISA_NAME(stem_forward_tiled_scratch)(const struct stem_shape *shape)
{
	return patches_size(shape) +
	       2 * tiles_of(shape) * sizeof(amx_tile) / sizeof(float) +
	       STEM_POINTS * (stem_stride(shape->middle, UNIT) +
			      stem_stride(shape->outputs, UNIT));
}

/* The rows that were made, to their tiles, line tiles from vector to vector. */
INLINE void row_store(struct packing *packing, int vectors, size_t line)
{
	const size_t tile = AMX_ROWS * AMX_DEPTH;
	uint16_t *to = packing->to;

	UNROLL for (int v = 0; v < vectors; v++)
		UNROLL for (int p = 0; p < AMX_PARTS; p++)
			_mm512_store_si512(to + ((size_t)v * line +
						 (size_t)p) * tile,
					   (__m512i)packing->held[v][p]);
	packing->to += AMX_DEPTH;
	/* A tile is full: over those of its other parts. */
	if (packing->row % (AMX_DEPTH / 2) == 0)
		packing->to += (size_t)(AMX_PARTS - 1) * tile;
}

/*
 * A row of each vector's tile; vectors is a constant. It is stored a row later
 * than it is made: tiles that are loaded meanwhile, from lines that are the
 * same but for the page, would wait for what is to be stored.
 */
INLINE void row_pack(struct packing *packing, int vectors, size_t line)
{
	const float *from = packing->from;

	if (packing->row > 0 && packing->row <= packing->rows)
		row_store(packing, vectors, line);
	if (packing->row < packing->rows) {
		UNROLL for (int v = 0; v < vectors; v++)
			amx_make_pair(vec_load(from + v * LANES),
				      vec_load(from + (vectors + v) * LANES),
				      AMX_PARTS, packing->held[v]);
		packing->from += 2 * vectors * LANES;
	}
	packing->row++;
}

/* ROWS of one point and two vectors. */
INLINE void block_of_two(const struct products *p, const amx_tile *a,
			 float *to, int vectors, struct packing *packing)
{
	const size_t apart = (size_t)(vectors * LANES);

	for (int half = 0; half < 2; half++) {
		amx_zero();
		for (size_t d = 0; d < p->line; d += AMX_PARTS)
			UNROLL for (int i = 0; i < 6; i++) {
				amx_add_product(a + d, a + d + p->line,
						p->b + d, p->b + d + p->line,
						i);
				row_pack(packing, vectors, p->line);
				if (vectors == 2)
					row_pack(packing, vectors, p->line);
			}
		amx_store_square(to, to + AMX_ROWS * apart, LANES, apart);
		a += 2 * p->line;
		to += 2 * AMX_ROWS * apart;
	}
}

/* ROWS of one point and the last vector. */
INLINE void block_of_one(const struct products *p, const amx_tile *a,
			 float *to, int vectors, struct packing *packing)
{
	const amx_tile *b = p->b + (size_t)(vectors - 1) * p->line;

	amx_zero();
	for (size_t d = 0; d < p->line; d += AMX_PARTS)
		for (int i = 0; i < 6; i++) {
			amx_add_column(a + d + amx_products[i][0], p->line,
				       b + d + amx_products[i][1]);
			row_pack(packing, vectors, p->line);
			if (vectors == 1) {
				row_pack(packing, vectors, p->line);
				row_pack(packing, vectors, p->line);
			}
		}
	amx_store_column(to + (vectors - 1) * LANES, (size_t)(vectors * LANES));
}

/* All rows of one point, and the next point's tiles. */
INLINE void point_multiply(const struct products *p, int outputs, int vectors,
			   struct packing *packing)
{
	const amx_tile *a = p->a;
	float *to = p->to;

	for (int o = 0; o < outputs; o += ROWS) {
		if (vectors > 1)
			block_of_two(p, a, to, vectors, packing);
		if (vectors % 2)
			block_of_one(p, a, to, vectors, packing);
		a += ROWS / AMX_ROWS * p->line;
		to += ROWS * vectors * LANES;
	}
	while (packing->row <= packing->rows)
		row_pack(packing, vectors, p->line);
}

/* M of a unit; its count of vectors is a constant. */
INLINE void unit_multiply(const struct task *task, int vectors)
{
	const struct stem_shape *shape = task->shape;
	amx_tile *tiles = (amx_tile *)(void *)task->tiles;
	struct products products = {
		.a = stem_points_tiles(shape, task->weights->points),
		.line = (size_t)(shape->middle / AMX_DEPTH * AMX_PARTS),
		.to = task->products,
	};
	struct packing packing = { .rows = shape->middle / 2,
				   .from = task->data,
				   .to = tiles[0] };

	while (packing.row <= packing.rows)
		row_pack(&packing, vectors, products.line);
	for (int k = 0; k < STEM_POINTS; k++) {
		const int next = k + 1;

		packing.row = next < STEM_POINTS ? 0 : packing.rows + 1;
		packing.from = task->data + (size_t)next *
				       stem_stride(shape->middle, vectors);
		packing.to = tiles[next % 2 ? tiles_of(shape) : 0];
		products.b = (const amx_tile *)tiles +
			     (k % 2 ? tiles_of(shape) : 0);
		point_multiply(&products, shape->outputs, vectors, &packing);
		products.a += (size_t)(shape->outputs / AMX_ROWS) *
			      products.line;
		products.to += stem_stride(shape->outputs, vectors);
	}
}

static void unit_multiply_vectors(const struct task *task, int vectors)
{
	if (vectors == 3)
		unit_multiply(task, 3);
	else if (vectors == 2)
		unit_multiply(task, 2);
	else
		unit_multiply(task, 1);
}

/* V of a unit. */
static void unit_input(const struct task *task, const struct unit *unit)
{
	const struct stem_lanes *lanes = &task->lanes;
	int list[UNIT];

	for (int v = 0; v < unit->count; v++)
		list[v] = unit->first + v < task->batch->count * lanes->main ?
				  unit->first + v :
				  lanes->group * lanes->main;
	VEC_NAME(stem_input)(task->shape, task->weights, task->batch, list,
			     unit->count, task->data, task->signs,
			     task->patches);
}

/* Outputs of a unit. */
static void unit_leave(const struct task *task, const struct unit *unit)
{
	const int main = task->lanes.main;
	const size_t stride = stem_stride(task->shape->outputs, unit->count);
	const float *products = task->products;

	for (int o = 0; o < task->shape->outputs; o++)
		for (int v = 0; v < unit->count; v++) {
			const int vector = unit->first + v;
			const int is_tail =
				vector >= task->batch->count * main;
			const int sample = is_tail ? TAIL : vector / main;
			const int tile = is_tail ? main : vector % main;

			if (plane_is_wanted(task, sample, o))
				plane_leave(task, sample, tile * LANES, o,
					    products, stride);
			products += LANES;
		}
}

void ISA_NAME(stem_forward_tiled)(struct task *task, float *scratch)
{
	const struct stem_shape *shape = task->shape;
	const int vectors = task->batch->count * task->lanes.main +
			    (task->lanes.rest > 0);

	task->patches = scratch;
	task->tiles = task->patches + patches_size(shape);
	task->data = task->tiles + 2 * tiles_of(shape) * sizeof(amx_tile) /
					   sizeof(float);
	task->products = task->data +
			 STEM_POINTS * stem_stride(shape->middle, UNIT);
	amx_begin();
	for (struct unit unit = { 0 }; unit.first < vectors;
	     unit.first += unit.count) {
		const int left = vectors - unit.first;

		/* Pairs are fastest, and what is alone slowest. */
		unit.count = left > UNIT ? 2 : left;

		unit_input(task, &unit);
		unit_multiply_vectors(task, unit.count);
		unit_leave(task, &unit);
	}
	amx_end();
}
