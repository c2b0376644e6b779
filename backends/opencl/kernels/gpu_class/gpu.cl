/*
 * Definitions of the chains of the gpu class. Work-groups of ITEMS items fill
 * tiles in local memory together, and sum their products in registers.
 *
 * Activations are planar, [sample][channel][row][column] without gaps. Each
 * output of a step has a route for its gradient: the winner's place in its
 * pooling window, 0 without pooling. The bits STOPPED (by a ReLU) and DROPPED
 * say that the gradient ends there.
 *
 * Sums are split if that occupies the device. Parts are added up in one order
 * on every device: nothing here is atomic.
 */
#define ONE_ITEM __attribute__((reqd_work_group_size(1, 1, 1)))
#define GROUP __attribute__((reqd_work_group_size(ITEMS, 1, 1)))

/* Values of DROPOUT. */
#define ELEMENTS 1
#define PLANES 2

#define STOPPED 256
#define DROPPED 512

/* What a dropout keeps grows by this. */
#define GROWTH as_float((uint)GROWTH_BITS)

#define MOST(a, b) ((a) > (b) ? (a) : (b))
#define PARTS_OF(n, size) (((n) + (size) - 1) / (size))

/* Whoever reads what others of the group have written waits here. */
#define MEET() barrier(CLK_LOCAL_MEM_FENCE)

/*
 * One choice of the step's dropout, as models/random.h defines it: whether
 * word choice % 4 of the Philox counter (choice / 4, sample, step, DROP_LAYER)
 * is at least DROP_THRESHOLD.
 */
static inline int is_kept(uint choice, uint sample, uint step, uint low,
			  uint high)
{
	uint c[4] = { choice / 4, sample, step, DROP_LAYER };
	uint word;

	philox(c, low, high);
	/* No index that is unknown: c is in registers. */
	if (choice & 2)
		word = choice & 1 ? c[3] : c[2];
	else
		word = choice & 1 ? c[1] : c[0];
	return word >= (uint)DROP_THRESHOLD;
}

/*
 * A tile to[k][i] of a matrix, DEEP rows of `tile` and one float, which keeps
 * rows off one another's banks: from[i * by_i + k * by_k], and 0 where i or k
 * is beyond the matrix. Neighbours in memory are neighbouring items' part.
 */
static inline void tile_load(local float *to, int tile,
			     global const float *from, int by_i, int by_k,
			     int most_i, int most_k)
{
	for (int e = get_local_id(0); e < tile * DEEP; e += ITEMS) {
		const int i = by_k == 1 ? e / DEEP : e % tile;
		const int k = by_k == 1 ? e % DEEP : e / tile;

		to[k * (tile + 1) + i] =
			i < most_i && k < most_k ?
				from[(size_t)i * by_i + (size_t)k * by_k] :
				0;
	}
}

/*
 * sum[i][j] += sum over k < depth of a[k][row of i] b[k][column of j]
 *
 * Items stand in rows of `lanes`. Each takes rows and columns of the tile at a
 * fixed distance, so that neighbours read neighbours. Once this is inlined, the
 * loops have constant lengths; else sums would not be in registers.
 */
static inline __attribute__((always_inline)) void
tile_add(float *sum, int rows, int columns, int lanes, local const float *a,
	 int a_row, local const float *b, int b_row, int depth)
{
	const int down = ITEMS / lanes;

	a += get_local_id(0) / lanes;
	b += get_local_id(0) % lanes;
	for (int k = 0; k < depth; k++) {
		float across[MOST_ACROSS];

#pragma unroll
		for (int j = 0; j < columns; j++)
			across[j] = b[k * b_row + j * lanes];
#pragma unroll
		for (int i = 0; i < rows; i++) {
			const float factor = a[k * a_row + i * down];

#pragma unroll
			for (int j = 0; j < columns; j++)
				sum[i * columns + j] =
					fma(factor, across[j],
					    sum[i * columns + j]);
		}
	}
}

/* The sum of `depth` floats, one in each row of `apart` floats: what a slice
 * adds to a bias. */
static inline float column_sum(local const float *from, int apart, int depth)
{
	float sum = 0;

	for (int k = 0; k < depth; k++)
		sum += from[k * apart];
	return sum;
}

/* Where in its tile the item's sum (i, j) is. */
static inline int tile_row(int i, int lanes)
{
	return i * (ITEMS / lanes) + get_local_id(0) / lanes;
}

static inline int tile_column(int j, int lanes)
{
	return j * lanes + get_local_id(0) % lanes;
}
