#include "backends/host/arena.h"

#define NONE (-1)    /* ends the list of blocks that have a place */
#define UNPLACED (-2)

static size_t rounded(size_t size)
{
	return (size + ARENA_LINE - 1) / ARENA_LINE * ARENA_LINE;
}

static int are_together(const struct arena_block *a,
			const struct arena_block *b)
{
	return a->first <= b->last && b->first <= a->last;
}

/* Returns the first of the largest blocks without a place, or NONE. */
static int find_largest(const struct arena_block *blocks, int count)
{
	int largest = NONE;

	for (int i = 0; i < count; i++)
		if (blocks[i].next == UNPLACED &&
		    (largest == NONE || blocks[i].size > blocks[largest].size))
			largest = i;
	return largest;
}

/* Returns the offset of the tightest gap for block. list is in order of
 * offsets; after the last block there is unlimited space. */
static size_t find_gap(const struct arena_block *blocks, int list,
		       const struct arena_block *block)
{
	const size_t size = rounded(block->size);
	size_t end = 0, best = 0, room = 0;

	for (int i = list; i != NONE; i = blocks[i].next) {
		const struct arena_block *other = &blocks[i];
		const size_t behind = other->offset + rounded(other->size);

		if (!are_together(block, other))
			continue;
		if (other->offset >= end + size &&
		    (!room || other->offset - end < room)) {
			best = end;
			room = other->offset - end;
		}
		end = behind > end ? behind : end;
	}
	return room ? best : end;
}

static void insert(struct arena_block *blocks, int *list, int added)
{
	int *at = list;

	while (*at != NONE && blocks[*at].offset <= blocks[added].offset)
		at = &blocks[*at].next;
	blocks[added].next = *at;
	*at = added;
}

size_t arena_plan(struct arena_block *blocks, int count)
{
	int list = NONE, i;
	size_t all = 0;

	for (i = 0; i < count; i++)
		blocks[i].next = UNPLACED;
	while ((i = find_largest(blocks, count)) != NONE) {
		struct arena_block *block = &blocks[i];

		block->offset = find_gap(blocks, list, block);
		insert(blocks, &list, i);
		if (block->offset + rounded(block->size) > all)
			all = block->offset + rounded(block->size);
	}
	return all;
}
