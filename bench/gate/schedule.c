#include "bench/gate/schedule.h"

#include <stdlib.h>

#include "models/random.h"

#define MOST_PAD 4096 /* a page: beyond it the layout repeats */

/* Below count; the low bits of this generator are as good as the high ones. */
static int draw(struct mt19937 *generator, int count)
{
	return (int)(mt19937_next(generator) % (uint32_t)count);
}

/* Half of the entries 0 and half 1, in any order (Fisher and Yates). */
static void draw_halves(struct mt19937 *generator, unsigned char *halves,
			int count)
{
	for (int i = 0; i < count; i++)
		halves[i] = (unsigned char)(i % 2);
	for (int i = count - 1; i > 0; i--) {
		const int other = draw(generator, i + 1);
		const unsigned char kept = halves[i];

		halves[i] = halves[other];
		halves[other] = kept;
	}
}

/* The base and the head, in this order or the other, and the control between
 * or around them. */
static void order_arms(struct mt19937 *generator, unsigned char *order,
		       int head_first, int arms)
{
	const int alone = arms > 2 ? draw(generator, arms) : arms;
	int next = head_first ? ARM_HEAD : ARM_BASE;

	for (int place = 0; place < arms; place++) {
		if (place == alone) {
			order[place] = ARM_CONTROL;
			continue;
		}
		order[place] = (unsigned char)next;
		next = ARM_BASE + ARM_HEAD - next;
	}
}

static size_t place_of(const struct schedule *schedule, int block, int target,
		       int place)
{
	return ((size_t)block * (size_t)schedule->targets + (size_t)target) *
		       (size_t)schedule->arms + (size_t)place;
}

int schedule_make(struct schedule *schedule, int blocks, int targets, int arms,
		  uint32_t seed, struct error *err)
{
	const size_t count = (size_t)blocks * (size_t)targets * (size_t)arms;
	unsigned char *first = malloc((size_t)blocks);
	struct mt19937 generator;

	*schedule = (struct schedule){
		.blocks = blocks,
		.targets = targets,
		.arms = arms,
		.orders = malloc(count),
		.pads = malloc(count * sizeof(int)),
	};
	if (!first || !schedule->orders || !schedule->pads) {
		free(first);
		schedule_free(schedule);
		return error_memory(err, "the order of the blocks");
	}
	mt19937_seed(&generator, seed);
	for (int target = 0; target < targets; target++) {
		draw_halves(&generator, first, blocks);
		for (int block = 0; block < blocks; block++)
			order_arms(&generator, schedule->orders +
				   place_of(schedule, block, target, 0),
				   first[block], arms);
	}
	for (size_t i = 0; i < count; i++)
		schedule->pads[i] = draw(&generator, MOST_PAD);
	free(first);
	return 0;
}

void schedule_free(struct schedule *schedule)
{
	free(schedule->orders);
	free(schedule->pads);
	*schedule = (struct schedule){ 0 };
}

int schedule_target(const struct schedule *schedule, int block, int place)
{
	return (block + place) % schedule->targets;
}

int schedule_arm(const struct schedule *schedule, int block, int target,
		 int place, int *pad)
{
	const size_t at = place_of(schedule, block, target, place);

	*pad = schedule->pads[at];
	return schedule->orders[at];
}
