/* The times to an accuracy of runs and of whole setups, from their rows. */
#include "bench/record/result.h"

#include "tests/cmocka.h"
#include "tests/unit/rows.h"

struct fixture {
	struct campaign campaign;
	struct results results;
	struct made made;
};

static struct fixture fixture;

static struct run *add(const char *run_id, const char *target, double s)
{
	made_run(&fixture.made, run_id, target, 1, s);
	made_into(&fixture.campaign, &fixture.made, 1);
	return &fixture.campaign.runs[fixture.campaign.run_count - 1];
}

static void build(void)
{
	struct error err;

	if (results_build(&fixture.results, &fixture.campaign, RESULTS_ALL, 0,
			  &err))
		fail_msg("%s", err.message);
}

static void clean(void)
{
	results_free(&fixture.results);
	campaign_release(&fixture.campaign);
}

/* The line of the whole setup is its last. */
static const struct result *cell(int target)
{
	return &fixture.results.lines[fixture.results.line_count - 1]
			.cells[target];
}

static void is(int target, enum metric metric, double expected)
{
	const double mean = cell(target)->values[metric].mean;

	if (!(fabs(mean - expected) <= 1e-9))
		fail_msg("%s: %.12g, expected %.12g",
			 metric_kinds[metric].name, mean, expected);
}

static void is_missing(int target, enum metric metric)
{
	assert_int_equal(cell(target)->values[metric].count, 0);
	assert_true(isnan(cell(target)->values[metric].mean));
}

/* Without a target of its own 99 % is, with the data set in the time. */
static void one_run(void **state)
{
	struct run *run;

	(void)state;
	run = add("r1", "cpu-1", .1);
	run->data_s = .125;
	run->setup_s = .25;
	build();
	is(0, METRIC_TIME_TO_ACCURACY, .125 + 5 + 6);
	is(0, METRIC_EPOCHS_TO_ACCURACY, 2);
	is_missing(0, METRIC_SCORE);
	is_missing(0, METRIC_REACHED);
	assert_int_equal(cell(0)->score.runs, 0);
	clean();
	add("r1", "cpu-1", .1)->target_accuracy_pct = 97;
	build();
	is(0, METRIC_TIME_TO_ACCURACY, 5);
	is(0, METRIC_EPOCHS_TO_ACCURACY, 1);
	is(0, METRIC_REACHED, 1);
	is(0, METRIC_SCORE, 5);
	clean();
	/* What the run itself says is exact. */
	run = add("r1", "cpu-1", .1);
	run->target_accuracy_pct = 99;
	run->time_to_accuracy_s = 11.5;
	build();
	is(0, METRIC_TIME_TO_ACCURACY, 11.5);
	clean();
}

/* Neither a miss nor a failure is left out; what was interrupted, or lacked
 * its device, did not try. */
static void misses_count(void **state)
{
	static const char *const ids[] = { "r1", "r2", "r3", "r4",
					   "r5", "r6", "r7" };
	struct run *runs;
	int i;

	(void)state;
	for (i = 0; i < 7; i++)
		add(ids[i], "cpu-1", .1 * (1 + i));
	runs = fixture.campaign.runs;
	for (i = 0; i < 7; i++)
		runs[i].target_accuracy_pct = 99;
	snprintf(runs[3].status, sizeof(runs[3].status), "error");
	runs[3].target_accuracy_pct = NAN;
	snprintf(runs[5].status, sizeof(runs[5].status), "partial");
	snprintf(runs[6].status, sizeof(runs[6].status), "error");
	runs[6].exit_code = ERROR_MISSING;
	build();
	/* 11, 13, 15, 19 and a failure: it and the fastest are left out. */
	is(0, METRIC_SCORE, (13 + 15 + 19) / 3.);
	is(0, METRIC_REACHED, 4);
	/* A failure is as slow in the score: without it, the mean (14.5) would
	 * be the survivors'. */
	is_missing(0, METRIC_TIME_TO_ACCURACY);
	is_missing(0, METRIC_EPOCHS_TO_ACCURACY);
	assert_int_equal(cell(0)->score.runs, 5);
	clean();
}

/* The mean of those alone that reached it would be too good. */
static void survivors_have_no_mean(void **state)
{
	(void)state;
	add("r1", "cpu-1", .1)->target_accuracy_pct = 99;
	add("r2", "cpu-1", .1)->target_accuracy_pct = 99.9;
	build();
	is_missing(0, METRIC_TIME_TO_ACCURACY);
	is_missing(0, METRIC_EPOCHS_TO_ACCURACY);
	is_missing(0, METRIC_SCORE);
	is(0, METRIC_REACHED, 1);
	assert_int_equal(cell(0)->score.runs, 2);
	clean();
}

/* Failures count without a target, too; runs that did not try do not. */
static void failures_without_a_target(void **state)
{
	(void)state;
	add("r1", "cpu-1", .1);
	add("r2", "cpu-1", .1);
	made_status(&fixture.campaign, "partial", "interrupted");
	build();
	is(0, METRIC_TIME_TO_ACCURACY, 11);
	clean();
	add("r1", "cpu-1", .1);
	add("r2", "cpu-1", .1);
	made_status(&fixture.campaign, "error", "killed");
	build();
	is_missing(0, METRIC_TIME_TO_ACCURACY);
	assert_int_equal(cell(0)->score.runs, 0);
	clean();
}

/* A target with nothing but a failure. */
static void all_failed(void **state)
{
	struct run *run;

	(void)state;
	add("r1", "cpu-1", .1)->target_accuracy_pct = 99;
	fixture.made.count = 0;
	run = add("r2", "cpu-8", .1);
	snprintf(run->status, sizeof(run->status), "error");
	build();
	is(0, METRIC_SCORE, 11);
	is_missing(1, METRIC_SCORE);
	is(1, METRIC_REACHED, 0);
	assert_true(line_target_accuracy(fixture.results.lines) == 99);
	clean();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_run),
		cmocka_unit_test(misses_count),
		cmocka_unit_test(survivors_have_no_mean),
		cmocka_unit_test(failures_without_a_target),
		cmocka_unit_test(all_failed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
