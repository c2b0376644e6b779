/* Blocks that share memory when they are never needed together. */
#include "tests/kernels/subject.h"

#include "backends/host/arena.h"

#define BLOCKS 120
#define STEPS 40

/* The most bytes that are needed in one step: less is impossible. */
static size_t most_at_once(const struct arena_block *blocks, int count)
{
	size_t most = 0;

	for (int step = 0; step < STEPS; step++) {
		size_t sum = 0;

		for (int i = 0; i < count; i++)
			if (blocks[i].first <= step && step <= blocks[i].last)
				sum += (blocks[i].size + ARENA_LINE - 1) /
				       ARENA_LINE * ARENA_LINE;
		most = sum > most ? sum : most;
	}
	return most;
}

static int overlap(const struct arena_block *a, const struct arena_block *b)
{
	return a->first <= b->last && b->first <= a->last &&
	       a->offset < b->offset + b->size &&
	       b->offset < a->offset + a->size;
}

static void assert_apart(const struct arena_block *blocks, int count,
			 size_t all)
{
	for (int i = 0; i < count; i++) {
		assert_int_equal(blocks[i].offset % ARENA_LINE, 0);
		assert_true(blocks[i].offset + blocks[i].size <= all);
		for (int j = 0; j < i; j++)
			if (overlap(&blocks[i], &blocks[j]))
				fail_msg("blocks %d and %d overlap", i, j);
	}
}

static int random_below(struct mt19937 *generator, int below)
{
	return (int)(mt19937_next(generator) % (uint32_t)below);
}

/* Never less than the bound, and on average near to it. */
static void random_blocks_do_not_overlap(void **state)
{
	struct mt19937 generator;
	struct arena_block blocks[BLOCKS];
	double taken = 0, needed = 0;

	(void)state;
	mt19937_seed(&generator, 5);
	for (int round = 0; round < 300; round++) {
		const int count = 1 + random_below(&generator, BLOCKS);
		size_t all;

		for (int i = 0; i < count; i++) {
			const int first = random_below(&generator, STEPS);

			blocks[i] = (struct arena_block){
				.size = (size_t)random_below(&generator, 5000),
				.first = first,
				.last = first + random_below(&generator,
							     STEPS - first),
			};
		}
		all = arena_plan(blocks, count);
		assert_apart(blocks, count, all);
		assert_true(all >= most_at_once(blocks, count));
		taken += (double)all;
		needed += (double)most_at_once(blocks, count);
	}
	if (!(taken <= 1.1 * needed))
		fail_msg("%.2f times as much as is needed at once",
			 taken / needed);
}

/* Each step needs two neighbours: two places do, whoever is the larger. */
static void neighbours_take_turns(void **state)
{
	struct arena_block blocks[6];

	(void)state;
	for (int i = 0; i < 6; i++)
		blocks[i] = (struct arena_block){ .size = 640,
						  .first = i,
						  .last = i + 1 };
	assert_int_equal(arena_plan(blocks, 6), 2 * 640);
	assert_apart(blocks, 6, 2 * 640);
	for (int i = 0; i < 6; i++)
		assert_int_equal(blocks[i].offset, i % 2 ? 640 : 0);
}

/* Once the second and the fourth are no longer needed, the hole that the fourth
 * leaves is the smaller one. */
static void the_tightest_gap_is_taken(void **state)
{
	struct arena_block blocks[] = {
		{ .size = 4096, .first = 0, .last = 9 },
		{ .size = 2048, .first = 0, .last = 3 },
		{ .size = 1536, .first = 0, .last = 9 },
		{ .size = 1024, .first = 0, .last = 3 },
		{ .size = 960, .first = 0, .last = 9 },
		{ .size = 512, .first = 5, .last = 9 },
		{ .size = 0, .first = 0, .last = 9 },
	};

	(void)state;
	assert_int_equal(arena_plan(blocks, 7),
			 4096 + 2048 + 1536 + 1024 + 960);
	assert_int_equal(blocks[5].offset, blocks[3].offset);
	assert_int_equal(arena_plan(blocks, 0), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_blocks_do_not_overlap),
		cmocka_unit_test(neighbours_take_turns),
		cmocka_unit_test(the_tightest_gap_is_taken),
	};

	return cmocka_run_group_tests_name("arena", tests, NULL, NULL);
}
