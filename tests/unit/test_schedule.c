/* Orders of arms: balanced, drawn from the seed, and nothing else. */
#include "bench/gate/schedule.h"
#include "tests/cmocka.h"

static struct error err;

/* Blocks of a target in which the head comes before the base. */
static int heads_first(const struct schedule *schedule, int target)
{
	int count = 0, pad;

	for (int b = 0; b < schedule->blocks; b++)
		for (int place = 0; place < schedule->arms; place++) {
			const int arm = schedule_arm(schedule, b, target,
						     place, &pad);

			if (arm == ARM_CONTROL)
				continue;
			count += arm == ARM_HEAD;
			break;
		}
	return count;
}

static void each_arm_once(const struct schedule *schedule)
{
	for (int b = 0; b < schedule->blocks; b++)
		for (int t = 0; t < schedule->targets; t++) {
			unsigned seen = 0;
			int pad;

			for (int place = 0; place < schedule->arms; place++) {
				seen |= 1u << schedule_arm(schedule, b, t,
							   place, &pad);
				assert_in_range(pad, 0, 4095);
			}
			assert_int_equal(seen, (1u << schedule->arms) - 1);
		}
}

static void half_begin_with_the_base(void **state)
{
	struct schedule schedule;

	(void)state;
	for (uint32_t seed = 0; seed < 50; seed++)
		for (int arms = 2; arms <= ARM_COUNT; arms++) {
			assert_int_equal(schedule_make(&schedule, 20, 3, arms,
						       seed, &err), 0);
			each_arm_once(&schedule);
			for (int t = 0; t < 3; t++)
				assert_int_equal(heads_first(&schedule, t), 10);
			schedule_free(&schedule);
		}
	assert_int_equal(schedule_make(&schedule, 7, 1, 2, 1, &err), 0);
	assert_in_range(heads_first(&schedule, 0), 3, 4);
	schedule_free(&schedule);
}

/* The control arm is as often in each place, within four deviations. */
static void control_comes_anywhere(void **state)
{
	int places[ARM_COUNT] = { 0 }, pad;
	struct schedule schedule;

	(void)state;
	assert_int_equal(schedule_make(&schedule, 900, 1, ARM_COUNT, 3, &err),
			 0);
	for (int b = 0; b < 900; b++)
		for (int place = 0; place < ARM_COUNT; place++)
			places[place] += schedule_arm(&schedule, b, 0, place,
						      &pad) == ARM_CONTROL;
	for (int place = 0; place < ARM_COUNT; place++)
		assert_in_range(places[place], 300 - 57, 300 + 57);
	schedule_free(&schedule);
}

static void the_seed_decides(void **state)
{
	struct schedule first, again, other;

	(void)state;
	assert_int_equal(schedule_make(&first, 20, 2, 2, 5, &err), 0);
	assert_int_equal(schedule_make(&again, 20, 2, 2, 5, &err), 0);
	assert_int_equal(schedule_make(&other, 20, 2, 2, 6, &err), 0);
	assert_memory_equal(first.orders, again.orders, 80);
	assert_memory_equal(first.pads, again.pads, 80 * sizeof(int));
	assert_memory_not_equal(first.orders, other.orders, 80);
	schedule_free(&first);
	schedule_free(&again);
	schedule_free(&other);
}

static void targets_take_turns(void **state)
{
	struct schedule schedule;

	(void)state;
	assert_int_equal(schedule_make(&schedule, 6, 3, 2, 1, &err), 0);
	for (int b = 0; b < 6; b++) {
		unsigned seen = 0;

		assert_int_equal(schedule_target(&schedule, b, 0), b % 3);
		for (int place = 0; place < 3; place++)
			seen |= 1u << schedule_target(&schedule, b, place);
		assert_int_equal(seen, 7);
	}
	schedule_free(&schedule);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(half_begin_with_the_base),
		cmocka_unit_test(control_comes_anywhere),
		cmocka_unit_test(the_seed_decides),
		cmocka_unit_test(targets_take_turns),
	};

	return cmocka_run_group_tests_name("schedule", tests, NULL, NULL);
}
