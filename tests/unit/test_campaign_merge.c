/* Several processes in one results folder, at the same time. */
#include "bench/record/campaign.h"

#include "bench/report/export.h"
#include "tests/unit/campaigns.h"
#include "tests/unit/faults.h"

static int summary_has(const char *dir, const char *target)
{
	return strstr(read_whole(beside(dir, "summary.csv")), target) != NULL;
}

/* As many rows in the file as in memory, but not the same ones. */
static void runs_that_only_one_has(void **state)
{
	static struct made made;
	const char *dir = in_folder("merged");
	struct campaign first, second;
	struct error err;

	(void)state;
	create(&first, dir, "first");
	create(&second, dir, "second");
	assert_string_not_equal(first.id, second.id);
	made_run(&made, "r1", "cpu-1", 1, .1);
	inject(WRITE, 0, ENOSPC);
	add_all(&first, &made);
	assert_int_equal(campaign_end_run(&first, &made.run, &err), -1);
	inject(NONE, 0, 0);
	made_run(&made, "r2", "cpu-8", 8, .2);
	append(&second, &made);
	assert_int_equal(campaign_finish(&first, 0, &err), 0);
	assert_true(summary_has(dir, ",cpu-1,1,loop_s,"));
	assert_true(summary_has(dir, ",cpu-8,8,loop_s,"));
	campaign_release(&first);
	campaign_release(&second);
}

static void runs_that_still_go_on(void **state)
{
	static struct made made;
	const char *dir = in_folder("living");
	struct campaign first, second, third;
	struct error err;

	(void)state;
	create(&first, dir, "first");
	create(&second, dir, "second");
	made_run(&made, "r1", "cpu-1", 1, .1);
	append(&first, &made);
	made_run(&made, "r2", "cpu-8", 8, .2);
	add_all(&second, &made);
	assert_int_equal(campaign_save(&second, &err), 0);
	create(&third, dir, "third");
	assert_int_equal(third.run_count, 1);
	assert_string_equal(third.observations[third.observation_count - 1]
			    .run_id, "r1");
	campaign_release(&third);
	assert_int_equal(campaign_finish(&first, 0, &err), 0);
	campaign_release(&first);
	assert_true(summary_has(dir, ",cpu-1,1,loop_s,"));
	assert_false(summary_has(dir, ",cpu-8,8,"));
	/* As if it had been killed: now it is known to have ended. */
	campaign_release(&second);
	create(&third, dir, "third");
	assert_string_equal(third.observations[third.observation_count - 1]
			    .run_id, "r2");
	assert_int_equal(campaign_finish(&third, 0, &err), 0);
	assert_true(summary_has(dir, ",cpu-8,"));
	campaign_release(&third);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(runs_that_only_one_has),
		cmocka_unit_test(runs_that_still_go_on),
	};

	return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
