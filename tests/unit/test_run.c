/* What a row of runs.csv says of its run. */
#include "bench/record/run.h"

#include <limits.h>

#include "tests/cmocka.h"

/* On two CPUs; NAN: the system reports none, or there is no loop. */
static const struct {
	const char *what;
	double loop_s, total_s, steal_pct, foreign_pct, throttled_s;
	int disturbed;
} cases[] = {
	{ "nothing is known", 10, 11, NAN, NAN, NAN, 0 },
	{ "quiet", 10, 11, 1.9, 4.9, .09, 0 },
	{ "stolen", 10, 11, 2.1, 0, 0, 1 },
	{ "others", 10, 11, 0, 5.1, 0, 1 },
	{ "throttled", 10, 11, 0, 0, .11, 1 },
	/* A tick is 10 ms. */
	{ "two ticks of eight", .04, .05, 0, 25, 0, 0 },
	{ "a tick stolen of 40", .2, .21, 2.5, 0, 0, 0 },
	{ "six ticks of eight", .04, .05, 0, 75, 0, 1 },
	{ "quiet command", NAN, 1, 1, 4, .009, 0 },
	{ "command beside others", NAN, 1, 0, 6, 0, 1 },
	{ "throttled command", NAN, 1, 0, 0, .011, 1 },
	{ "two ticks of a command's eight", NAN, .04, 0, 25, 0, 0 },
};

static void who_is_disturbed(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct run run;

		row_clear(&run_rows, &run);
		run.logical_cpus = 2;
		run.loop_s = cases[i].loop_s;
		run.total_s = cases[i].total_s;
		run.steal_pct = cases[i].steal_pct;
		run.foreign_pct = cases[i].foreign_pct;
		run.throttled_s = cases[i].throttled_s;
		if (run_is_disturbed(&run) != cases[i].disturbed)
			fail_msg("%s", cases[i].what);
		/* Without the number of CPUs no ticks are counted. */
		run.logical_cpus = CELL_NO_INT;
		if (cases[i].disturbed && !run_is_disturbed(&run))
			fail_msg("%s, CPUs unknown", cases[i].what);
	}
}

/* Whoever takes CPUs from a run is named, the quota before others. */
static void who_slows_is_named(void **state)
{
	static const struct {
		double throttled_s, foreign_pct;
		long cpus;
		const char *why;
	} known[] = {
		{ 7.7, 0, 1,
		  "its CPU quota stopped it for 77 % of the time" },
		{ 7.7, 95, 1,
		  "its CPU quota stopped it for 77 % of the time, and others "
		  "used 1.90 of 2 CPUs" },
		{ 7.8, 0, 2,
		  "its CPU quota stopped it for 39 % of the time" },
		{ 77, 0, CELL_NO_INT,
		  "its CPU quota stopped it for 100 % of the time" },
		{ 0, 95, 1, "others used 1.90 of 2 CPUs" },
		{ NAN, 1, 1, "" },
	};
	char why[96];

	(void)state;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		struct run run;

		row_clear(&run_rows, &run);
		run.logical_cpus = 2;
		run.loop_s = 10;
		run.throttled_s = known[i].throttled_s;
		run.foreign_pct = known[i].foreign_pct;
		run.cpus = known[i].cpus;
		assert_int_equal(run_is_slowed(&run, why, sizeof(why)),
				 *known[i].why != '\0');
		assert_string_equal(why, known[i].why);
	}
}

static void a_quota_is_a_part_of_a_cpu(void **state)
{
	struct run run;

	(void)state;
	row_clear(&run_rows, &run);
	assert_true(isnan(run_cpus(&run)));
	run.cpus = 2;
	assert_true(run_cpus(&run) == 2);
	run.cpu_quota = 1.5;
	assert_true(run_cpus(&run) == 1.5);
	run.cpu_quota = 4;
	assert_true(run_cpus(&run) == 2);
	/* Ranks on one host share its quota; other hosts have others. */
	run.cpu_quota = .1;
	assert_true(run_cpus(&run) == .1);
	snprintf(run.hosts, sizeof(run.hosts), "a:2");
	assert_true(run_cpus(&run) == .1);
	snprintf(run.hosts, sizeof(run.hosts), "a:1,b:1");
	assert_true(run_cpus(&run) == 2);
}

/* By the column alone, whatever the target is called; by its name in rows of
 * older versions, which have no such column. */
static void who_is_on_devices(void **state)
{
	static const struct {
		const char *target;
		long offloads;
		int devices;
	} known[] = {
		{ "cpu-8", 0, 0 },
		{ "opencl:1", 1, 1 },
		{ "other", 1, 1 },
		{ "opencl-like", 0, 0 },
		{ "opencl", CELL_NO_INT, 1 },
		{ "cpu-1", CELL_NO_INT, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		struct run run;

		row_clear(&run_rows, &run);
		snprintf(run.target, sizeof(run.target), "%s", known[i].target);
		run.offloads = known[i].offloads;
		assert_int_equal(run_is_on_devices(&run), known[i].devices);
	}
}

/* Whatever it is called, as a program that is timed may be called job-1. */
static void who_is_one_core(void **state)
{
	struct run run;

	(void)state;
	row_clear(&run_rows, &run);
	snprintf(run.target, sizeof(run.target), "job-1");
	assert_false(run_is_one_core(&run));
	run.cores = 1;
	run.offloads = 0;
	assert_true(run_is_one_core(&run));
	run.offloads = 1;
	assert_false(run_is_one_core(&run));
	run.offloads = 0;
	run.inject_pct = 5;
	assert_false(run_is_one_core(&run));
	run.inject_pct = CELL_NO_REAL;
	run.cores = 8;
	assert_false(run_is_one_core(&run));
}

/* By its column; of older rows, which lack it, by what they were trained on. */
static void what_a_whole_epoch_is(void **state)
{
	struct run run;

	(void)state;
	row_clear(&run_rows, &run);
	assert_int_equal(run_whole_epoch(&run), CELL_NO_INT);
	run.train_samples = 60000;
	run.global_batch = 64;
	assert_int_equal(run_whole_epoch(&run), 938);
	run.epoch_iterations = 937;
	assert_int_equal(run_whole_epoch(&run), 937);
	run.steps = 937;
	assert_false(run_is_cut(&run));
}

/* A file may have them. */
static void numbers_of_no_run_do_no_harm(void **state)
{
	struct run run;

	(void)state;
	row_clear(&run_rows, &run);
	run.train_samples = LONG_MAX;
	run.global_batch = 2;
	assert_int_equal(run_whole_epoch(&run), LONG_MAX / 2 + 1);
	run.test_samples = 100;
	run.test_steps = 3;
	run.test_batch = 0;
	assert_int_equal(run_tested(&run), 100);
	run.test_batch = 7;
	assert_int_equal(run_tested(&run), 21);
	run.test_steps = LONG_MIN + 1;
	assert_int_equal(run_tested(&run), 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_is_disturbed),
		cmocka_unit_test(who_slows_is_named),
		cmocka_unit_test(a_quota_is_a_part_of_a_cpu),
		cmocka_unit_test(who_is_on_devices),
		cmocka_unit_test(who_is_one_core),
		cmocka_unit_test(what_a_whole_epoch_is),
		cmocka_unit_test(numbers_of_no_run_do_no_harm),
	};

	return cmocka_run_group_tests_name("run", tests, NULL, NULL);
}
