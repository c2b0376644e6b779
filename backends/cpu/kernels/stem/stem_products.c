/*
 * Winograd's products forward, at one of the 36 points:
 *
 *   M[r][v] = sum over i of U[places[r]][i] V[i][v]
 *
 *   U: [outputs][middle], any rows of it    V: [middle][vectors][LANES]
 *                                           M: [rows][vectors][LANES]
 *
 * ROWS x COLUMNS vectors of sums are in registers, each element of U being
 * loaded into all lanes once for the vectors of a row; one vector alone has two
 * sums a row, else an FMA would wait for the one before. V of a point stays in
 * the first cache while rows of U stream by; with the points inside of the loop
 * over blocks of rows, V streams, and a tenth is lost.
 *
 * 32 planes i reach 88 % of the peak of a Xeon with two 512-bit FMA units with
 * 8 rows x 3 vectors, 86 % with 8 x 2 and 60 % with 8 x 1, bound by loads. 12 x
 * 2 needs more addresses than there are registers and is slower. AVX2: 93 %
 * with 6 x 2.
 */
#include "backends/cpu/kernels/stem/stem_kernels.h"

#if LANES == 16
#define ROWS 8
#define COLUMNS 3
#elif LANES == 8
#define ROWS 6
#define COLUMNS 2
#else
#define ROWS 4
#define COLUMNS 2
#endif

/* Planes i at once; with more of them, GCC runs out of registers. */
#define PLANES_AT_ONCE(vectors) ((vectors) > 2 ? 2 : 4)

/*
 * Adds count planes i, the first being the one at data. There are two sums, for
 * even and odd planes, of one vector.
 */
INLINE void planes_add(int rows, int vectors, int count, const float **row,
		       int i, const float *data, size_t step,
		       vec sums[ROWS][COLUMNS][2])
{
	UNROLL for (int k = 0; k < count; k++) {
		const int set = vectors == 1 ? k % 2 : 0;
		vec at[COLUMNS];

		UNROLL for (int v = 0; v < vectors; v++)
			at[v] = vec_load(data + v * LANES);
		data += step;
		UNROLL for (int r = 0; r < rows; r++) {
			const vec weight = vec_set(row[r][i + k]);

			UNROLL for (int v = 0; v < vectors; v++)
				sums[r][v][set] += weight * at[v];
		}
	}
}

/* rows x vectors, constants; places: of the rows. */
INLINE void tile_multiply(int rows, int vectors,
			  const struct stem_product *product,
			  const int *places, const float *data, float *to)
{
	const int depth = product->depth;
	const int at_once = PLANES_AT_ONCE(vectors);
	const size_t step = product->data_step;
	const float *row[ROWS];
	vec sums[ROWS][COLUMNS][2];
	int i = 0;

	UNROLL for (int r = 0; r < rows; r++) {
		row[r] = product->points + places[r];
		UNROLL for (int v = 0; v < vectors; v++)
			sums[r][v][0] = sums[r][v][1] = vec_set(0);
	}
	for (; i + at_once <= depth; i += at_once) {
		planes_add(rows, vectors, at_once, row, i, data, step, sums);
		data += (size_t)at_once * step;
	}
	for (; i < depth; i++) {
		planes_add(rows, vectors, 1, row, i, data, step, sums);
		data += step;
	}
	UNROLL for (int r = 0; r < rows; r++) {
		if (vectors == 1)
			sums[r][0][0] += sums[r][0][1];
		UNROLL for (int v = 0; v < vectors; v++)
			vec_store(to + v * LANES, sums[r][v][0]);
		to += product->to_step;
	}
}

/* All rows of some vectors (a constant), in tiles of nearly one size. */
INLINE void rows_multiply(int vectors, const struct stem_product *product,
			  const float *data, float *to)
{
	const struct stem_product *p = product;
	const int *at = product->places;
	int left = product->rows;

	while (left > 0) {
		const int tiles = (left + ROWS - 1) / ROWS;
		const int rows = (left + tiles - 1) / tiles;

		switch (rows) {
		case 1: tile_multiply(1, vectors, p, at, data, to); break;
		case 2: tile_multiply(2, vectors, p, at, data, to); break;
		case 3: tile_multiply(3, vectors, p, at, data, to); break;
		case 4: tile_multiply(4, vectors, p, at, data, to); break;
#if ROWS > 4
		case 5: tile_multiply(5, vectors, p, at, data, to); break;
		case 6: tile_multiply(6, vectors, p, at, data, to); break;
#endif
#if ROWS > 6
		case 7: tile_multiply(7, vectors, p, at, data, to); break;
		case 8: tile_multiply(8, vectors, p, at, data, to); break;
#endif
		}
		at += rows;
		to += (size_t)rows * product->to_step;
		left -= rows;
	}
}

void VEC_NAME(stem_products)(const struct stem_product *product)
{
	const float *data = product->data;
	float *to = product->to;
	int left = product->vectors;

	for (; left >= COLUMNS; left -= COLUMNS) {
		rows_multiply(COLUMNS, product, data, to);
		data += COLUMNS * LANES;
		to += COLUMNS * LANES;
	}
#if COLUMNS > 2
	if (left == 2)
		rows_multiply(2, product, data, to);
#endif
	if (left == 1)
		rows_multiply(1, product, data, to);
}
