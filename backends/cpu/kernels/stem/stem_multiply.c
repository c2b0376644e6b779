/*
 * The product of the stem's backward kernel, one point of Winograd's at a time:
 *
 *   dV[i][v] = sum over k of U[planes[k]][i] dM[k][v]
 *
 * with i the planes between the convolutions, k the planes of the second one
 * that are kept and v the vectors of tiles. Rows of U are floats that are
 * broadcast; a block of rows x 2 vectors of dV is in registers, or more rows of
 * the last vector of an odd number. Blocks are as even as middle allows: 11, 11
 * and 10 rows of 32.
 *
 * Measured with AVX-512, 48 planes k and 32 planes i: pairs of vectors reach
 * 88 % of the FMA peak (97 % in the first cache), single ones 67 %, since they
 * load as much as they multiply. With AVX2 80 and 65 %.
 */
#include "backends/cpu/kernels/stem/stem_part.h"

/* Rows of a block of two vectors, or of one. */
#if LANES == 16
#define PAIR_ROWS 12
#define SINGLE_ROWS 16
#else
#define PAIR_ROWS 6
#define SINGLE_ROWS 12
#endif

#define MOST_ROWS 16

/* From a plane of dv to the next, in floats. */
#define DV_PLANE (STEM_POINTS * LANES)

/* Shared by all blocks of one point and one or two vectors. */
struct point_product {
	const int *planes;
	int kept;
	int middle;
	int stride; /* floats from one plane of dm to the next */
};

/* rows planes i of columns vectors, both constants; dv has middle planes. */
INLINE void block_multiply(const struct point_product *product, const float *u,
			   const float *dm, int rows, int columns, float *dv)
{
	const size_t middle = (size_t)product->middle;
	vec sums[MOST_ROWS][2] = { { { 0 } } };

	/* Cases of ROWS() that the instruction set does not need. */
	if (rows > (columns == 2 ? PAIR_ROWS : SINGLE_ROWS))
		return;
	for (int k = 0; k < product->kept; k++) {
		const float *row = u + (size_t)product->planes[k] * middle;
		vec values[2];

		UNROLL
		for (int v = 0; v < columns; v++)
			values[v] = vec_load(dm + v * LANES);
		UNROLL
		for (int i = 0; i < rows; i++) {
			const vec weight = vec_set(row[i]);

			UNROLL
			for (int v = 0; v < columns; v++)
				sums[i][v] += weight * values[v];
		}
		dm += product->stride;
	}
	UNROLL
	for (int v = 0; v < columns; v++) {
		UNROLL
		for (int i = 0; i < rows; i++)
			vec_store(dv + i * DV_PLANE, sums[i][v]);
		dv += middle * DV_PLANE;
	}
}

#define ROWS(count) \
	case count: \
		block_multiply(product, u, dm, count, columns, dv); \
		break

/* A block whose number of rows is a constant in each case. */
INLINE void rows_multiply(const struct point_product *product, const float *u,
			  const float *dm, int rows, int columns, float *dv)
{
	switch (rows) {
	ROWS(1); ROWS(2); ROWS(3); ROWS(4);
	ROWS(5); ROWS(6); ROWS(7); ROWS(8);
	ROWS(9); ROWS(10); ROWS(11); ROWS(12);
	ROWS(13); ROWS(14); ROWS(15); ROWS(16);
	}
}

/*
 * Not inlined, nor the next one: else the compiler keeps an address of its own
 * for each row.
 */
static __attribute__((noinline)) void
pair_multiply(const struct point_product *product, const float *u,
	      const float *dm, int rows, float *dv)
{
	rows_multiply(product, u, dm, rows, 2, dv);
}

static __attribute__((noinline)) void
single_multiply(const struct point_product *product, const float *u,
		const float *dm, int rows, float *dv)
{
	rows_multiply(product, u, dm, rows, 1, dv);
}

/* All planes i of one or two vectors, in blocks as even as they can be. */
static void columns_multiply(const struct point_product *product,
			     const float *u, const float *dm, int columns,
			     float *dv)
{
	const int most = columns == 2 ? PAIR_ROWS : SINGLE_ROWS;
	int blocks = (product->middle + most - 1) / most;

	for (int left = product->middle; left > 0; blocks--) {
		const int rows = (left + blocks - 1) / blocks;

		if (columns == 2)
			pair_multiply(product, u, dm, rows, dv);
		else
			single_multiply(product, u, dm, rows, dv);
		u += rows;
		dv += rows * DV_PLANE;
		left -= rows;
	}
}

void VEC_NAME(part_multiply)(const struct stem_part *part, int point,
			     const float *u, const float *dm, float *dv)
{
	const struct point_product product = {
		.planes = part->planes,
		.kept = part->kept,
		.middle = part->shape->middle,
		.stride = part->vectors * LANES,
	};
	const int next = product.middle * DV_PLANE;
	int v = 0;

	dv += point * LANES;
	for (; v + 2 <= part->vectors; v += 2)
		columns_multiply(&product, u, dm + v * LANES, 2,
				 dv + v * next);
	if (v < part->vectors)
		columns_multiply(&product, u, dm + v * LANES, 1,
				 dv + v * next);
}
