/*
 * Indirect GEMM (igemm.h) in bf16 on AMX's tiles (simd/amx.h), two by two.
 * Factors are rounded to the nearest, ties to even; sums are fp32.
 *
 * Factors are packed into tiles: all weights first, rows just before use.
 *
 * Ceiling: four products of tiles take 64 cycles, in which the second level of
 * the cache delivers 2 KB of weights. Rows stay in the first level for all
 * outputs.
 */
#include "backends/cpu/kernels/igemm/igemm_amx.h"

/* values of a row that are packed at a time, all taps counted */
#define DEPTH 512
#define OUTPUTS 512 /* outputs by which they are multiplied at a time */
#define STEPS (DEPTH / AMX_DEPTH)

struct product_scratch {
	amx_tile rows[MOST_CHUNK / AMX_ROWS][STEPS];
	float sums[SQUARE][SQUARE];
	/* before it becomes tiles */
	_Alignas(64) uint16_t row[DEPTH + AMX_DEPTH];
	_Alignas(64) amx_tile weights[]; /* [part][output / 16][step] */
};

_Static_assert(sizeof(struct product_scratch) <= IGEMM_SCRATCH,
	       "too much is packed at once");

/*
 * count values of a chunk's rows, from value number from on, all taps counted.
 */
struct amx_part {
	const struct igemm *igemm;
	const struct chunk *chunk;
	const struct igemm_end *end;
	int from, count, steps;
	amx_tile *weights; /* of this part: [output / 16][steps] */
	struct product_scratch *scratch;
};

/* Packs 32 values of a row at a time; requires taps of whole steps. */
static void pack_steps(const struct amx_part *part)
{
	const struct igemm *igemm = part->igemm;
	const struct chunk *chunk = part->chunk;

	for (int done = 0; done < part->count;) {
		const int tap = (part->from + done) / igemm->depth;
		const int k = (part->from + done) % igemm->depth;
		const int left = igemm->depth - k;
		const int here = left < part->count - done ?
					 left : part->count - done;

		for (int r = 0; r < chunk->count; r++) {
			const float *in = row_in(igemm, chunk, tap, r) + k;
			amx_tile *tile = part->scratch->rows[r / AMX_ROWS] +
					 done / AMX_DEPTH;
			const int at = r % AMX_ROWS * AMX_DEPTH;

			for (int i = 0; i < here; i += AMX_DEPTH, tile++)
				_mm512_store_si512(
					*tile + at,
					amx_round(vec_load(in + i),
						  vec_load(in + i + LANES)));
		}
		done += here;
	}
}

/* Packs the values of a row, of all taps, one after the other, then zeros. */
static void pack_row(const struct amx_part *part, int r)
{
	const struct igemm *igemm = part->igemm;
	uint16_t *row = part->scratch->row;
	amx_tile *tile = part->scratch->rows[r / AMX_ROWS];

	for (int done = 0; done < part->count;) {
		const int tap = (part->from + done) / igemm->depth;
		const int k = (part->from + done) % igemm->depth;
		const float *in = row_in(igemm, part->chunk, tap, r) + k;
		const int left = igemm->depth - k;
		const int here = left < part->count - done ?
					 left : part->count - done;

		for (int i = 0; i < here; i += LANES)
			_mm256_storeu_si256(
				(__m256i *)(row + done + i),
				(__m256i)_mm512_cvtneps_pbh(
					(__m512)load_lanes(in + i, here - i)));
		done += here;
	}
	for (int i = 0; i < AMX_DEPTH; i += LANES)
		_mm256_storeu_si256((__m256i *)(row + part->count + i),
				    _mm256_setzero_si256());
	for (int i = 0; i < part->count; i += AMX_DEPTH, tile++)
		_mm512_store_si512(*tile + r % AMX_ROWS * AMX_DEPTH,
				   _mm512_loadu_si512(row + i));
}

static void pack_rows(const struct amx_part *part)
{
	if (part->igemm->depth % AMX_DEPTH == 0) {
		pack_steps(part);
		return;
	}
	for (int r = 0; r < part->chunk->count; r++)
		pack_row(part, r);
}

static int steps_of(int count)
{
	return (count + AMX_DEPTH - 1) / AMX_DEPTH;
}

/* Packs a block of weights, [count][width], into one tile per step for each 16
 * columns. */
static void pack_block(const float *weights, int width, int count,
		       amx_tile *tiles)
{
	const int steps = steps_of(count);

	for (int k = 0; k < steps * AMX_DEPTH; k += 2) {
		const float *row = weights + (size_t)k * (size_t)width;
		amx_tile *tile = tiles + k / AMX_DEPTH;
		const int at = k % AMX_DEPTH * AMX_COLUMNS;

		for (int o = 0; o < width; o += AMX_COLUMNS, tile += steps)
			_mm512_store_si512(
				*tile + at,
				amx_round_pair(vec_load(k < count ? row + o :
								    nothing),
					       vec_load(k + 1 < count ?
							row + width + o :
							nothing)));
	}
}

/* Packs all weights, part by part. */
static void pack_weights(const struct igemm *igemm, const float *weights,
			 amx_tile *tiles)
{
	const int each = igemm->taps * igemm->depth;
	const int padded = igemm_padded(igemm);

	for (int k = 0; k < each; k += DEPTH) {
		const int count = each - k < DEPTH ? each - k : DEPTH;

		for (int o = 0; o < padded; o += IGEMM_BLOCK) {
			const int width = igemm_width(igemm, o);

			pack_block(weights + (size_t)each * (size_t)o +
					   (size_t)k * (size_t)width,
				   width, count, tiles);
			tiles += width / AMX_COLUMNS * steps_of(count);
		}
	}
	amx_hold_memory();
}

/* Returns the floats from each of SQUARE rows to the next; 0 = they differ. */
static size_t find_apart(float *const *out)
{
	const ptrdiff_t apart = out[1] - out[0];
	int differ = apart < 0;

	for (int r = 2; r < SQUARE; r++)
		differ |= out[r] - out[r - 1] != apart;
	return differ ? 0 : (size_t)apart;
}

static int ends_in_relu(const struct amx_part *part)
{
	return part->end->relu &&
	       part->from + part->count ==
		       part->igemm->taps * part->igemm->depth;
}

/* Returns 1 if tiles can load the initial sums and the sums are stored
 * unchanged. */
static int is_plain(const struct amx_part *part)
{
	const struct igemm_end *end = part->end;

	return !ends_in_relu(part) &&
	       !(end->bias && end->adds && !part->from);
}

/* Stores the sums in scratch as rows r on and outputs first on. */
static void store_sums(const struct amx_part *part, int r, int first,
		       int columns)
{
	const struct chunk *chunk = part->chunk;
	const struct igemm_end *end = part->end;
	const int left = chunk->count - r;
	const int rows = left < SQUARE ? left : SQUARE;
	const int adds = part->from || end->adds;
	const int rectifies = ends_in_relu(part);
	const float *bias = part->from ? NULL : end->bias;

	for (int v = 0; v < columns; v++) {
		const int o = first + v * LANES;
		const int lanes = part->igemm->outputs - o;

		for (int i = 0; i < rows; i++) {
			vec sum = vec_load(part->scratch->sums[i] + v * LANES);

			if (bias)
				sum += vec_load(bias + o);
			end_sum(chunk->out[r + i] + o, sum, adds, rectifies,
				lanes);
		}
	}
}

/* Computes SQUARE rows by SQUARE outputs at to, without scratch sums. */
static void multiply_in_place(const struct amx_part *part, int r, int o,
			      float *to, size_t apart)
{
	struct product_scratch *scratch = part->scratch;
	const int steps = part->steps, row = r / AMX_ROWS;
	amx_tile *weights = part->weights + o / AMX_COLUMNS * steps;

	if (part->from || part->end->adds)
		load_square(to, apart);
	else if (part->end->bias)
		load_square(part->end->bias + o, 0);
	else
		amx_zero();
	add_steps(scratch->rows[row], scratch->rows[row + 1], weights,
		  weights + steps, steps, 2, 2);
	amx_store_square(to, to + AMX_ROWS * apart, AMX_COLUMNS, apart);
	amx_hold_memory();
}

/* Computes rows by columns tiles at row r and output o, through scratch. */
static void multiply_square(const struct amx_part *part, int r, int rows, int o,
			    int columns)
{
	struct product_scratch *scratch = part->scratch;
	const int steps = part->steps, row = r / AMX_ROWS;
	amx_tile *weights = part->weights + o / AMX_COLUMNS * steps;

	amx_zero();
	add_square(scratch->rows[row], scratch->rows[row + rows - 1], weights,
		   weights + (columns - 1) * steps, steps, rows, columns);
	amx_store_square(scratch->sums[0], scratch->sums[AMX_ROWS],
			 AMX_COLUMNS, SQUARE);
	amx_hold_memory();
	store_sums(part, r, o, columns);
}

/* Computes outputs first .. past - 1 of all rows of the chunk. */
static void multiply_columns(const struct amx_part *part, int first, int past)
{
	const struct chunk *chunk = part->chunk;
	const int plain = is_plain(part);
	const int outputs = part->igemm->outputs;

	for (int r = 0; r < chunk->count; r += SQUARE) {
		const int left = chunk->count - r;
		const size_t apart = plain && left >= SQUARE ?
			find_apart(chunk->out + r) : 0;

		for (int o = first; o < past; o += SQUARE)
			if (apart && outputs - o >= SQUARE)
				multiply_in_place(part, r, o,
						  chunk->out[r] + o, apart);
			else
				multiply_square(part, r,
						left > AMX_ROWS ? 2 : 1, o,
						past - o > AMX_COLUMNS ? 2 : 1);
	}
}

/* Returns the rows per chunk, such that all chunks are equally large. */
static size_t rows_of_chunk(size_t rows)
{
	const size_t chunks = (rows + MOST_CHUNK - 1) / MOST_CHUNK;
	const size_t each = (rows + chunks - 1) / chunks;

	return (each + SQUARE - 1) / SQUARE * SQUARE;
}

/* Multiplies all parts of a chunk's rows by their weights. */
static void multiply_chunk(struct amx_part *part, amx_tile *weights)
{
	const struct igemm *igemm = part->igemm;
	const int each = igemm->taps * igemm->depth;
	const int padded = igemm_padded(igemm);

	part->from = 0;
	part->weights = weights;
	/* Once even without taps: the sums are then the biases. */
	do {
		part->count = each - part->from < DEPTH ? each - part->from :
							  DEPTH;
		part->steps = steps_of(part->count);
		pack_rows(part);
		amx_hold_memory();
		for (int o = 0; o < padded; o += OUTPUTS)
			multiply_columns(part, o, padded - o < OUTPUTS ?
							  padded : o + OUTPUTS);
		part->weights += padded / AMX_COLUMNS * part->steps;
		part->from += part->count;
	} while (part->from < each);
}

static void multiply(const struct igemm *igemm,
		     const struct igemm_batch *batch, const float *weights,
		     const struct igemm_end *end, float *out, void *scratch)
{
	const size_t rows = (size_t)batch->count * (size_t)igemm->pixels;
	struct product_scratch *packed = scratch;
	struct chunk chunk;
	struct amx_part part = { .igemm = igemm, .chunk = &chunk, .end = end,
				 .scratch = packed };

	if (!rows)
		return;
	amx_begin();
	pack_weights(igemm, weights, packed->weights);
	for (size_t first = 0; first < rows; first += (size_t)chunk.count) {
		VEC_NAME(igemm_fill_chunk)(igemm, batch, out, first,
					    (int)rows_of_chunk(rows), &chunk);
		multiply_chunk(&part, packed->weights);
		igemm_report(end, chunk.out[0], chunk.count);
	}
	amx_end();
}

const struct igemm_kernels ISA_NAME(igemm_bf16) = {
	.multiply = multiply,
	.differentiate = ISA_NAME(igemm_differentiate_tiles),
	.transpose = VEC_NAME(igemm_transpose),
};
