/* The numbers of the tables, from rows whose numbers are known. */
#include "bench/record/result_rows.h"

#include <limits.h>

#include "tests/unit/near.h"
#include "tests/unit/rows.h"

/* A campaign in memory only. */
struct fixture {
	struct campaign campaign;
	struct results results;
	struct made made;
	struct summary *rows;
	size_t count;
};

static struct fixture fixture;

static void add_made(int with_run)
{
	made_into(&fixture.campaign, &fixture.made, with_run);
}

static void add(const char *run_id, const char *target, long cores, double s)
{
	made_run(&fixture.made, run_id, target, cores, s);
	add_made(1);
}

static void build(int include_warmup)
{
	struct error err;

	if (results_build(&fixture.results, &fixture.campaign, RESULTS_ALL,
			  include_warmup, &err) ||
	    summary_build(&fixture.results, &fixture.rows, &fixture.count,
			  &err))
		fail_msg("%s", err.message);
}

static void clean(void)
{
	results_free(&fixture.results);
	campaign_release(&fixture.campaign);
	free(fixture.rows);
	fixture = (struct fixture){ 0 };
}

/* The row of a target and metric; NULL if there is none. */
static const struct summary *find(const char *target, const char *metric,
				  const char *run_id)
{
	size_t i;

	for (i = 0; i < fixture.count; i++)
		if (strcmp(fixture.rows[i].target, target) == 0 &&
		    strcmp(fixture.rows[i].metric, metric) == 0 &&
		    strcmp(fixture.rows[i].run_id, run_id) == 0)
			return &fixture.rows[i];
	return NULL;
}

static void mean_is(const char *target, const char *metric, double expected)
{
	const struct summary *row = find(target, metric, "");

	if (!row)
		fail_msg("%s has no %s", target, metric);
	near(row->mean, expected);
	assert_int_equal(row->n_runs, 1);
	assert_true(isnan(row->ci95_lo) && isnan(row->ci95_hi));
}

static void one_run(void **state)
{
	const struct summary *row;

	(void)state;
	add("r1", "cpu-1", 1, .1);
	fixture.campaign.runs[0].maxrss_bytes = 1000;
	fixture.campaign.runs[0].cpu_user_s = 2;
	fixture.campaign.runs[0].cpu_sys_s = .5;
	build(0);
	mean_is("cpu-1", "loop_s", 19);
	mean_is("cpu-1", "setup_s", .25);
	mean_is("cpu-1", "images_per_s", 120 / 6.);
	mean_is("cpu-1", "speedup", 1);
	mean_is("cpu-1", "efficiency", 1);
	mean_is("cpu-1", "final_accuracy_pct", 99.5);
	mean_is("cpu-1", "final_loss", .1 / 3);
	mean_is("cpu-1", "time_to_accuracy_s", 5 + 6);
	mean_is("cpu-1", "iter_p50_s", .25);
	assert_null(find("cpu-1", "iter_p99_s", ""));
	mean_is("cpu-1", "maxrss_bytes", 1000);
	mean_is("cpu-1", "cpu_s", 2.5);
	mean_is("cpu-1", "updates", 12);
	mean_is("cpu-1", "iter_s", .25);
	row = find("cpu-1", "iter_s", "");
	near(row->std, .1 * sqrt(1.25));
	near(row->median, .25);
	near(row->q1, .175);
	near(row->q3, .325);
	near(row->min, .1);
	near(row->max, .4);
	near(row->first_iter_s, 100);
	assert_int_equal(row->n_obs, 12);
	assert_int_equal(row->n_warmup_excluded, 2);
	assert_string_equal(row->spread, "iterations");
	clean();
}

/* As no run has them, but a file may: their sum is no number of samples. */
static void samples_that_overflow_are_unknown(void **state)
{
	(void)state;
	add("r1", "cpu-1", 1, .1);
	for (size_t i = 0; i < fixture.campaign.observation_count; i++)
		fixture.campaign.observations[i].samples = LONG_MAX / 4;
	build(0);
	assert_null(find("cpu-1", "images_per_s", ""));
	mean_is("cpu-1", "iter_s", .25);
	clean();
}

static void epochs_and_single_numbers(void **state)
{
	const struct summary *row;

	(void)state;
	add("r1", "cpu-1", 1, .1);
	build(0);
	mean_is("cpu-1", "epoch_s", 6);
	row = find("cpu-1", "epoch_s", "");
	near(row->std, sqrt(2. / 3));
	assert_string_equal(row->spread, "epochs");
	/* One number has no spread, not one of 0. */
	row = find("cpu-1", "loop_s", "");
	assert_true(isnan(row->std) && isnan(row->median) && isnan(row->max));
	assert_string_equal(row->spread, "");
	clean();
}

static void warmup_included(void **state)
{
	const struct summary *row;

	(void)state;
	add("r1", "cpu-1", 1, .1);
	build(1);
	row = find("cpu-1", "iter_s", "");
	near(row->mean, (3 + 200) / 14.);
	near(row->max, 100);
	assert_int_equal(row->n_obs, 14);
	assert_int_equal(row->n_warmup_excluded, 0);
	/* Nothing else changes. */
	mean_is("cpu-1", "images_per_s", 120 / 6.);
	mean_is("cpu-1", "epoch_s", 6);
	clean();
}

static void speedup_is_over_one_core(void **state)
{
	(void)state;
	add("r1", "opencl", 1, .2);
	add("r2", "cpu-8", 8, .1);
	add("r3", "openblas-1", 1, .05);
	add("r4", "cpu-1", 1, .3);
	add("r5", "opencl-2", 2, .3);
	build(0);
	mean_is("opencl-2", "speedup", 2);
	assert_null(find("opencl-2", "efficiency", ""));
	mean_is("cpu-8", "speedup", (960 / 6.) / (120 / 12.));
	mean_is("cpu-8", "efficiency", 16 / 8.);
	mean_is("opencl", "speedup", 12 / 9.);
	mean_is("cpu-1", "speedup", 1);
	assert_string_equal(fixture.results.targets[0], "opencl");
	assert_int_equal(fixture.results.line_count, 1);
	clean();
	/* Without cpu-1 another one core will do, */
	add("r2", "cpu-8", 8, .1);
	add("r3", "openblas-1", 1, .1);
	build(0);
	mean_is("openblas-1", "speedup", 1);
	mean_is("cpu-8", "speedup", 8);
	clean();
	/* but neither sixteen nor a device. */
	add("r1", "opencl", 1, .2);
	add("r2", "cpu-8", 8, .1);
	add("r4", "cpu-16", 16, .1);
	build(0);
	assert_null(find("cpu-8", "speedup", ""));
	assert_null(find("opencl", "speedup", ""));
	assert_null(find("cpu-16", "efficiency", ""));
	clean();
}

/* Three rounds, each beginning with another target. */
static void repeats_are_pooled(void **state)
{
	const double half = 4.302653 * sqrt(32 / 3.) / sqrt(2);
	const struct summary *row;

	(void)state;
	add("r1", "cpu-1", 1, .1);
	add("r2", "cpu-8", 8, .1);
	add("r3", "cpu-8", 8, .1);
	add("r4", "cpu-1", 1, .2);
	add("r5", "cpu-1", 1, .3);
	add("r6", "cpu-8", 8, .1);
	build(0);
	assert_int_equal(fixture.results.line_count, 4);
	row = find("cpu-1", "iter_s", "r4");
	near(row->mean, .5);
	assert_int_equal(row->n_runs, 1);
	assert_string_equal(row->spread, "iterations");
	row = find("cpu-1", "iter_s", "");
	near(row->mean, .5); /* of .25, .5 and .75 */
	near(row->std, .25 * sqrt(2 / 3.));
	assert_int_equal(row->n_runs, 3);
	assert_int_equal(row->n_obs, 36);
	assert_int_equal(row->n_warmup_excluded, 6);
	assert_string_equal(row->spread, "runs");
	assert_true(isnan(row->first_iter_s));
	/* Against cpu-1 of the same round: 8, 12 and 16. */
	near(find("cpu-8", "speedup", "r3")->mean, 12);
	row = find("cpu-8", "speedup", "");
	near(row->mean, 12);
	near(row->std, sqrt(32 / 3.));
	assert_true(fabs(row->ci95_lo - (12 - half)) < 1e-5);
	assert_true(fabs(row->ci95_hi - (12 + half)) < 1e-5);
	clean();
}

/* Cut short in its second epoch: has what was finished, and nothing else. */
static void partial_run(void **state)
{
	struct made *made = &fixture.made;
	struct observation *row;
	size_t i, kept;

	(void)state;
	made_run(made, "r1", "cpu-1", 1, .1);
	for (i = kept = 0; i < made->count; i++) {
		row = &made->rows[i];
		if (row->epoch > 2 ||
		    (row->epoch == 2 && strcmp(row->phase, "test") == 0))
			continue;
		if (strcmp(row->phase, "loop") == 0 ||
		    (row->epoch == 2 && strcmp(row->phase, "step") != 0))
			snprintf(row->status, sizeof(row->status), "partial");
		made->rows[kept++] = *row;
	}
	made->count = kept;
	add_made(1);
	made_status(&fixture.campaign, "partial", "interrupted");
	fixture.campaign.runs[0].loop_s = 3;
	fixture.campaign.runs[0].final_loss = 1;
	build(0);
	mean_is("cpu-1", "iter_s", .25);
	mean_is("cpu-1", "epoch_s", 5);
	mean_is("cpu-1", "updates", 8);
	assert_null(find("cpu-1", "loop_s", ""));
	assert_null(find("cpu-1", "final_accuracy_pct", ""));
	assert_null(find("cpu-1", "final_loss", ""));
	assert_null(find("cpu-1", "time_to_accuracy_s", ""));
	assert_null(find("cpu-1", "speedup", ""));
	clean();
}

/* A run that was cut short is not pooled with complete ones. */
static void partial_runs_are_not_pooled(void **state)
{
	(void)state;
	add("r1", "cpu-1", 1, .1);
	add("r2", "cpu-1", 1, .2);
	add("r3", "cpu-1", 1, .9);
	made_status(&fixture.campaign, "partial", "interrupted");
	build(0);
	near(find("cpu-1", "iter_s", "r3")->mean, 2.25);
	near(find("cpu-1", "iter_s", "")->mean, .375);
	assert_int_equal(find("cpu-1", "iter_s", "")->n_runs, 2);
	clean();
}

/* Twelve iterations as ever, but one of 10 s, and more of .1 s. */
static void add_iterations(int count)
{
	made_run(&fixture.made, "r1", "cpu-1", 1, .1);
	for (size_t i = 0; i < fixture.made.count; i++)
		if (fixture.made.rows[i].epoch == 2 &&
		    fixture.made.rows[i].iter == 3)
			fixture.made.rows[i].elapsed_s = 10;
	for (int i = 12; i < count; i++)
		made_add(&fixture.made, "step", 3, .1);
	add_made(1);
	build(0);
}

static void percentile(void **state)
{
	(void)state;
	add_iterations(99);
	/* Of 99 it would be almost the slowest. */
	assert_null(find("cpu-1", "iter_p99_s", ""));
	clean();
	add_iterations(100);
	/* Rank .99 * 99 of a hundred; the last two are .4 and 10. */
	mean_is("cpu-1", "iter_p99_s", .4 + .01 * 9.6);
	clean();
}

static void failed_runs_have_no_numbers(void **state)
{
	const struct summary *row;

	(void)state;
	add("r1", "cpu-1", 1, .1);
	add("r2", "cpu-8", 8, .1);
	made_status(&fixture.campaign, "error", "killed");
	made_run(&fixture.made, "r3", "opencl", 1, .1);
	fixture.made.count = 0;
	add_made(1);
	made_status(&fixture.campaign, "skipped", "no device");
	add("r4", "cpu-8", 8, .2);
	add("r5", "cpu-1", 1, .2);
	build(0);
	assert_null(find("cpu-8", "iter_s", "r2"));
	assert_null(find("opencl", "iter_s", ""));
	assert_null(find("opencl", "speedup", ""));
	/* The mean is of the one that was finished, and says so. */
	row = find("cpu-8", "iter_s", "");
	near(row->mean, .5);
	assert_int_equal(row->n_runs, 1);
	assert_true(isnan(row->std) && isnan(row->ci95_lo));
	near(find("cpu-1", "iter_s", "")->mean, .375);
	clean();
}

/* Saved with `bench measure TARGET > FILE`: no line about the process. */
static void rows_without_runs(void **state)
{
	(void)state;
	made_run(&fixture.made, "r1", "cpu-1", 1, .1);
	add_made(0);
	made_run(&fixture.made, "r2", "cpu-8", 8, .1);
	fixture.made.count -= 3; /* was killed */
	add_made(0);
	build(0);
	assert_int_equal(fixture.results.line_count, 1);
	mean_is("cpu-1", "loop_s", 19);
	mean_is("cpu-1", "speedup", 1);
	assert_null(find("cpu-8", "loop_s", ""));
	mean_is("cpu-8", "iter_s", .25);
	assert_int_equal(fixture.results.lines[0].cells[1].outcome,
			 OUTCOME_PARTIAL);
	clean();
}

static void never_reached(void **state)
{
	size_t i;

	(void)state;
	made_run(&fixture.made, "r1", "cpu-1", 1, .1);
	for (i = 0; i < fixture.made.count; i++)
		fixture.made.rows[i].accuracy_pct -= 1;
	add_made(1);
	build(0);
	assert_null(find("cpu-1", "time_to_accuracy_s", ""));
	mean_is("cpu-1", "final_accuracy_pct", 98.5);
	clean();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_run),
		cmocka_unit_test(samples_that_overflow_are_unknown),
		cmocka_unit_test(epochs_and_single_numbers),
		cmocka_unit_test(warmup_included),
		cmocka_unit_test(speedup_is_over_one_core),
		cmocka_unit_test(repeats_are_pooled),
		cmocka_unit_test(partial_run),
		cmocka_unit_test(partial_runs_are_not_pooled),
		cmocka_unit_test(percentile),
		cmocka_unit_test(failed_runs_have_no_numbers),
		cmocka_unit_test(rows_without_runs),
		cmocka_unit_test(never_reached),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
