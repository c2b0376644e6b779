/*
 * Pooled outputs of a strip, from their rows to planes in the order of
 * Winograd's tiles (backends/cpu/stem.h): each line of a plane comes from some
 * lines of rows, by permutations. Storing pieces of each line of rows instead
 * took 0.6 ms more for a batch of 128 of mnist.
 */
#include "backends/cpu/kernels/stem_direct_forward_amx.h"

#ifdef __AMX_BF16__

/* Which of the strip's outputs is at a place of a plane; -1: none. */
static int output_at(const struct stem_strip *strip, int place)
{
	const struct stem_shape *shape = strip->shape;
	const int tiles = stem_tiles(shape), columns = (shape->width - 4) / 4;
	const int q = place / tiles, tile = place % tiles;
	const int row = tile / columns * 2 + q / 2;
	const int column = tile % columns * 2 + q % 2 - strip->first;

	if (q >= STEM_QUADRANTS || column < 0 || column >= strip->columns)
		return -1;
	return row * strip->columns + column;
}

/* Sets the lane's order, of lines of LANES floats or of STEM_CODES bytes. */
static void lane_set(struct stem_move *move, int lanes, int lane, int from)
{
	const int32_t place = from;

	if (lanes == LANES)
		memcpy(move->order + (size_t)lane * sizeof(place), &place,
		       sizeof(place));
	else
		move->order[lane] = (uint8_t)from;
	move->lanes |= (uint64_t)1 << lane;
}

/* The moves to one line of so many lanes; behind the last one. */
static struct stem_move *line_find(const struct stem_strip *strip, int line,
				   int lanes, struct stem_move *moves)
{
	struct stem_move *end = moves;

	for (int lane = 0; lane < lanes; lane++) {
		const int n = output_at(strip, line * lanes + lane);
		struct stem_move *move = moves;

		if (n < 0)
			continue;
		while (move < end && move->from != n / lanes * lanes)
			move++;
		if (move == end) {
			memset(move, 0, sizeof(*move));
			move->from = n / lanes * lanes;
			move->to = line * lanes;
			end++;
		}
		lane_set(move, lanes, lane, n % lanes);
	}
	for (const struct stem_move *move = moves; move < end; move++)
		end[-1].all |= move->lanes;
	return end;
}

/* Their count. */
static int moves_find(const struct stem_strip *strip, int lanes,
		      struct stem_move *moves)
{
	struct stem_move *end = moves;

	for (int i = 0; i * lanes < stem_plane(strip->shape); i++)
		end = line_find(strip, i, lanes, end);
	return (int)(end - moves);
}

void ISA_NAME(stem_direct_moves)(const struct stem_strip *strip,
				 struct stem_moves *moves)
{
	moves->count = moves_find(strip, LANES, moves->moves);
	moves->code_count =
		moves_find(strip, STEM_CODES,
			   moves->moves + stem_moves_most(strip->shape));
}

void ISA_NAME(stem_direct_move)(const struct stem_moves *moves,
				const float *from, float *to)
{
	const struct stem_move *move = moves->moves, *end = move + moves->count;
	__m512 line = _mm512_setzero_ps();

	for (; move < end; move++) {
		line = _mm512_mask_permutexvar_ps(
			line, (__mmask16)move->lanes,
			_mm512_load_si512(move->order),
			(__m512)vec_load(from + move->from));
		if (!move->all)
			continue;
		_mm512_mask_storeu_ps(to + move->to, (__mmask16)move->all,
				      line);
		line = _mm512_setzero_ps();
	}
}

void ISA_NAME(stem_direct_move_codes)(const struct stem_moves *moves, int most,
				      const uint8_t *from, uint8_t *to)
{
	const struct stem_move *move = moves->moves + most;
	const struct stem_move *end = move + moves->code_count;
	__m512i line = _mm512_setzero_si512();

	for (; move < end; move++) {
		line = _mm512_mask_permutexvar_epi8(
			line, move->lanes, _mm512_load_si512(move->order),
			_mm512_loadu_si512(from + move->from));
		if (!move->all)
			continue;
		_mm512_mask_storeu_epi8(to + move->to, move->all, line);
		line = _mm512_setzero_si512();
	}
}

#endif
