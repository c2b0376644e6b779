/* Two campaigns side by side: samples, ratios, intervals, what differs. */
#include "bench/report/compare.h"

#include "tests/unit/near.h"
#include "tests/unit/rows.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

struct side {
	struct campaign campaign;
	struct results results;
};

static struct side first, second;
static struct comparison comparison;
static struct made made;

static struct run *add(struct side *side, const char *target, double s)
{
	char id[32];

	snprintf(id, sizeof(id), "r%zu", side->campaign.run_count);
	made_run(&made, id, target, 1, s);
	made_into(&side->campaign, &made, 1);
	return &side->campaign.runs[side->campaign.run_count - 1];
}

static int compare(struct error *err)
{
	if (results_build(&first.results, &first.campaign, RESULTS_ALL, 0,
			  err) ||
	    results_build(&second.results, &second.campaign, RESULTS_ALL, 0,
			  err))
		fail_msg("%s", err->message);
	return compare_build(&comparison, &first.results, "one",
			     &second.results, "two", err);
}

static void compare_well(void)
{
	struct error err;

	if (compare(&err))
		fail_msg("%s", err.message);
}

static void clean(void)
{
	compare_free(&comparison);
	results_free(&first.results);
	results_free(&second.results);
	campaign_release(&first.campaign);
	campaign_release(&second.campaign);
}

static const struct compare_row *find(const char *target, const char *metric)
{
	size_t i;

	for (i = 0; i < comparison.row_count; i++)
		if (!strcmp(comparison.rows[i].target, target) &&
		    !strcmp(comparison.rows[i].metric, metric))
			return &comparison.rows[i];
	fail_msg("no %s of %s", metric, target);
	return NULL;
}

/* s/iter is 2.5 s; the ratios of all pairs are 2 to 16 but for the order. */
static void ratios_and_intervals(void **state)
{
	const struct compare_row *row;
	int i;

	(void)state;
	for (i = 0; i < 4; i++) {
		add(&first, "cpu-1", .1 * (i + 1));
		add(&second, "cpu-1", .8 * (i + 1));
	}
	compare_well();
	row = find("cpu-1", "iter_s");
	assert_int_equal(row->n_first, 4);
	assert_int_equal(row->n_second, 4);
	near(row->median_first, .625);
	near(row->median_second, 5);
	near(row->ratio, 8);
	/* The smallest and the largest of the sixteen, k being 1. */
	near(row->ratio_lo, 2);
	near(row->ratio_hi, 32);
	assert_string_equal(row->reason, "");
	assert_string_equal(row->first, "one");
	assert_string_equal(row->second, "two");
	assert_string_equal(row->unit, "s");
	near(find("cpu-1", "loop_s")->median_first, 30 * .25 + 16);
	near(find("cpu-1", "final_accuracy_pct")->ratio, 1);
	assert_int_equal(comparison.difference_count, 0);
	clean();
}

static void few_runs_have_no_interval(void **state)
{
	const struct compare_row *row;

	(void)state;
	add(&first, "cpu-1", .1);
	add(&second, "cpu-1", .2);
	compare_well();
	row = find("cpu-1", "iter_s");
	near(row->ratio, 2);
	assert_true(isnan(row->ratio_lo) && isnan(row->ratio_hi));
	assert_non_null(strstr(row->reason, "too few"));
	clean();
}

/* Failed runs and other targets are no part of it; a straggler is another
 * target by its name. */
static void only_finished_runs_of_both(void **state)
{
	struct error err;

	(void)state;
	add(&first, "cpu-1", .1);
	add(&first, "cpu-1", .9);
	made_status(&first.campaign, "partial", "interrupted");
	add(&first, "cpu-2+straggler=1:5", .1);
	add(&second, "cpu-1", .3);
	add(&second, "cpu-2", .1);
	add(&second, "opencl", .1);
	compare_well();
	assert_int_equal(comparison.target_count, 1);
	assert_int_equal(find("cpu-1", "iter_s")->n_first, 1);
	near(find("cpu-1", "iter_s")->ratio, 3);
	clean();
	add(&first, "cpu-4", .1);
	add(&second, "cpu-2", .1);
	assert_int_equal(compare(&err), -1);
	assert_int_equal(err.kind, ERROR_INPUT);
	assert_non_null(strstr(err.message, "cpu-4"));
	assert_non_null(strstr(err.message, "cpu-2"));
	clean();
}

static void no_ratio_where_there_is_none(void **state)
{
	struct run *run;

	(void)state;
	/* Of two runs one did not reach its accuracy. */
	add(&first, "cpu-1", .1)->target_accuracy_pct = 99;
	add(&first, "cpu-1", .1)->target_accuracy_pct = 99.9;
	run = add(&second, "cpu-1", .1);
	run->target_accuracy_pct = 99;
	run->cpu_user_s = 1;
	compare_well();
	assert_true(isnan(find("cpu-1", "time_to_accuracy_s")->ratio));
	assert_non_null(strstr(find("cpu-1", "time_to_accuracy_s")->reason,
			       "not every run"));
	clean();
	/* Nor did one that failed; one without its device never tried. */
	add(&first, "cpu-1", .1)->target_accuracy_pct = 99;
	add(&second, "cpu-1", .1)->target_accuracy_pct = 99;
	add(&second, "cpu-1", .1)->exit_code = ERROR_MISSING;
	made_status(&second.campaign, "error", "no device");
	compare_well();
	near(find("cpu-1", "time_to_accuracy_s")->ratio, 1);
	clean();
	add(&first, "cpu-1", .1)->target_accuracy_pct = 99;
	add(&second, "cpu-1", .1)->target_accuracy_pct = 99;
	add(&second, "cpu-1", .1)->target_accuracy_pct = 99;
	made_status(&second.campaign, "error", "killed");
	compare_well();
	assert_int_equal(find("cpu-1", "time_to_accuracy_s")->n_second, 1);
	assert_true(isnan(find("cpu-1", "time_to_accuracy_s")->ratio));
	assert_non_null(strstr(find("cpu-1", "time_to_accuracy_s")->reason,
			       "not every run"));
	near(find("cpu-1", "iter_s")->ratio, 1);
	clean();
	add(&first, "cpu-1", .1)->target_accuracy_pct = 99;
	add(&second, "cpu-1", .1)->target_accuracy_pct = 97;
	compare_well();
	assert_non_null(strstr(find("cpu-1", "time_to_accuracy_s")->reason,
			       "same accuracy"));
	clean();
	add(&first, "cpu-1", .1)->maxrss_bytes = 7;
	add(&second, "cpu-1", .1);
	compare_well();
	assert_int_equal(find("cpu-1", "maxrss_bytes")->n_second, 0);
	assert_true(isnan(find("cpu-1", "maxrss_bytes")->median_second));
	assert_non_null(strstr(find("cpu-1", "maxrss_bytes")->reason,
			       "only one"));
	clean();
	add(&first, "cpu-1", .1)->maxrss_bytes = 0;
	add(&second, "cpu-1", .1)->maxrss_bytes = 5;
	compare_well();
	assert_true(isnan(find("cpu-1", "maxrss_bytes")->ratio));
	assert_string_equal(find("cpu-1", "maxrss_bytes")->reason,
			    "not positive");
	clean();
}

/* An epoch's mean has what its iterations were waited for to have. */
static void means_beside_single_iterations(void **state)
{
	const struct compare_row *row;

	(void)state;
	add(&first, "opencl", .1);
	snprintf(add(&second, "opencl", .2)->sync, 8, "epoch");
	compare_well();
	row = find("opencl", "iter_s");
	assert_true(isnan(row->ratio));
	near(row->median_first, .25);
	near(row->median_second, .5);
	assert_string_equal(row->reason, "an epoch's mean (--sync epoch) "
			    "against single iterations");
	assert_true(find("opencl", "loop_s")->ratio > 1);
	clean();
	/* Two values within one side differ as well. */
	snprintf(add(&first, "opencl", .1)->sync, 8, "epoch");
	add(&first, "opencl", .1);
	snprintf(add(&second, "opencl", .2)->sync, 8, "epoch");
	compare_well();
	assert_true(isnan(find("opencl", "iter_s")->ratio));
	assert_string_equal(find("opencl", "iter_s")->label, "iteration");
	clean();
	snprintf(add(&first, "opencl", .1)->sync, 8, "epoch");
	snprintf(add(&second, "opencl", .2)->sync, 8, "epoch");
	add(&first, "cpu-1", .1);
	add(&second, "cpu-1", .2);
	compare_well();
	near(find("opencl", "iter_s")->ratio, 2);
	assert_string_equal(find("opencl", "iter_s")->label,
			    "iteration, epoch's mean");
	assert_string_equal(find("cpu-1", "iter_s")->label, "iteration");
	clean();
}

static const struct difference *difference(const char *column)
{
	size_t i;

	for (i = 0; i < comparison.difference_count; i++)
		if (!strcmp(comparison.differences[i].column, column))
			return &comparison.differences[i];
	return NULL;
}

static void what_differs(void **state)
{
	static const char *const targets[] = { "cpu-1", "cpu-8", "cpu-1" };
	struct run *run;
	int i;

	(void)state;
	for (i = 0; i < 3; i++) {
		run = add(&first, targets[i], .1);
		snprintf(run->kernel, sizeof(run->kernel), "6.1");
		run->global_batch = 128;
		run->seed = i / 2;
		run = add(&second, targets[i], .2);
		snprintf(run->kernel, sizeof(run->kernel), "6.2");
		run->global_batch = i == 1 ? 1024 : 128;
		run->seed = i / 2;
		run->lr = .5;
	}
	compare_well();
	assert_int_equal(comparison.difference_count, 3);
	assert_null(difference("kernel")->target);
	assert_string_equal(difference("kernel")->group, "machine");
	assert_string_equal(difference("kernel")->first, "6.1");
	assert_string_equal(difference("kernel")->second, "6.2");
	assert_string_equal(difference("global_batch")->target, "cpu-8");
	assert_string_equal(difference("global_batch")->second, "1024");
	assert_string_equal(difference("lr")->first, "none");
	assert_string_equal(difference("lr")->second, "0.5");
	assert_null(difference("seed"));
	clean();
	/* A value that only some runs have is one of several. */
	add(&first, "cpu-1", .1)->warmup = 10;
	add(&first, "cpu-1", .1)->warmup = 10;
	add(&first, "cpu-1", .1)->warmup = 5;
	add(&second, "cpu-1", .1)->warmup = 10;
	compare_well();
	assert_string_equal(difference("warmup")->first, "10, 5");
	assert_string_equal(difference("warmup")->second, "10");
	clean();
}

/* What a run is called, came to, or was part of; in no list of differences. */
static const char *const results_alone[] = {
	"schema", "run_id", "campaign_id", "label", "started_utc", "status",
	"reason", "exit_code", "target", "backend", "cores", "parameters",
	"setup_s", "warmup_s", "loop_s", "iterations_s", "loader_s", "test_s",
	"unaccounted_s", "total_s", "cpu_user_s", "cpu_sys_s", "loop_cpu_s",
	"maxrss_bytes", "involuntary_switches", "steal_pct", "updates",
	"final_loss", "final_accuracy_pct", "parameters_hash", "buffers_hash",
	"arm", "stage", "block", "attempt", "order_in_block", "env_pad_bytes",
	"launches", "reduced_bytes", "allocations", "throttled_s",
	"pressure_pct", "foreign_pct", "data_s", "compile_s",
	"time_to_accuracy_s", "epochs_to_accuracy", "host_key",
	"not_resident_reason", "kernels", "offloads", "loss_scale",
	"skipped_steps", "epoch_iterations", "overlapped_s",
};

static int is_result_alone(const char *name)
{
	for (size_t i = 0; i < COUNT(results_alone); i++)
		if (!strcmp(results_alone[i], name))
			return 1;
	return 0;
}

static void set_cell(const struct column *column, struct run *run, int value)
{
	char *cell = (char *)run + column->offset;
	const long number = value;
	const double real = value;

	if (column->kind == CELL_TEXT)
		snprintf(cell, column->size, "%d", value);
	else if (column->kind == CELL_INT)
		memcpy(cell, &number, sizeof(number));
	else
		memcpy(cell, &real, sizeof(real));
}

/* A column that an option fills, or the machine, is compared. */
static void every_column_is_a_result_or_a_difference(void **state)
{
	size_t alone = 0;

	(void)state;
	for (int c = 0; c < run_rows.column_count; c++) {
		const struct column *column = &run_rows.columns[c];

		if (is_result_alone(column->name)) {
			alone++;
			continue;
		}
		/* Something is left to compare where work differs. */
		add(&first, "cpu-8", .1);
		add(&second, "cpu-8", .1);
		set_cell(column, add(&first, "cpu-1", .1), 1);
		set_cell(column, add(&second, "cpu-1", .1), 2);
		compare_well();
		if (!difference(column->name))
			fail_msg("%s differs, and is not listed",
				 column->name);
		clean();
	}
	assert_int_equal(alone, COUNT(results_alone));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ratios_and_intervals),
		cmocka_unit_test(few_runs_have_no_interval),
		cmocka_unit_test(only_finished_runs_of_both),
		cmocka_unit_test(no_ratio_where_there_is_none),
		cmocka_unit_test(means_beside_single_iterations),
		cmocka_unit_test(what_differs),
		cmocka_unit_test(every_column_is_a_result_or_a_difference),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
