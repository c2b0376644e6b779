/* Invented reports of three cores, and the rows that come of them. */
#include "bench/train/recorder.h"

#include "bench/record/csv.h"
#include "tests/cmocka.h"

#define CORES 3
#define MOST_ROWS 64

struct rows {
	struct observation rows[MOST_ROWS];
	int count;
};

static int take_row(const void *row, void *context, struct error *err)
{
	struct rows *rows = context;

	(void)err;
	if (rows->count < MOST_ROWS)
		rows->rows[rows->count++] = *(const struct observation *)row;
	return 0;
}

/* In each phase another core is the slowest one. */
static const struct step_report steps[CORES] = {
	{ .requested_at = 9, .ready_at = 10, .began_at = 11, .ended_at = 20,
	  .phases_s = { 4, 3, 1, 1 }, .phases_cpu_s = { 2, .5, .75, .25 },
	  .counts = { 4, 50, 600 },
	  .score = { .loss = 6, .correct = 1, .count = 2 } },
	{ .requested_at = 9, .ready_at = 10.5, .began_at = 11.5, .ended_at = 21,
	  .phases_s = { 5, 2, 1, 1.5 }, .phases_cpu_s = { 3, .25, .5, .5 },
	  .score = { .loss = 4, .correct = 2, .count = 2 } },
	{ .requested_at = 9, .ready_at = 10.25, .began_at = 11,
	  .ended_at = 20.5,
	  .phases_s = { 3, 5, .5, 1 }, .phases_cpu_s = { 1, 4, .25, 1 },
	  .delay_s = 2.5, .counts = { 1, 20, 300 },
	  .score = { .loss = 2, .correct = 1, .count = 1 } },
};

static const struct epoch_report epochs[CORES] = {
	{ .elapsed_s = 30, .test_s = 5, .cpu_s = 8, .test_cpu_s = 3,
	  .loader_cpu_s = 1, .process_cpu_s = 10, .voluntary_switches = 1,
	  .involuntary_switches = 2,
	  .test = { .loss = 4, .correct = 3, .count = 4 } },
	{ .elapsed_s = 31, .test_s = 6, .cpu_s = 9, .test_cpu_s = 2.5,
	  .loader_cpu_s = 2, .process_cpu_s = 20, .voluntary_switches = 3,
	  .involuntary_switches = 4,
	  .test = { .loss = 2, .correct = 2, .count = 4 } },
	{ .elapsed_s = 32, .test_s = 4, .cpu_s = 7, .test_cpu_s = 4,
	  .loader_cpu_s = .25, .process_cpu_s = 40, .voluntary_switches = 5,
	  .involuntary_switches = 6,
	  .test = { .loss = 2, .correct = 1, .count = 2 } },
};

/* One epoch of two like iterations. */
static void record(struct rows *rows)
{
	struct progress silent = { .out = NULL };
	char *text = NULL;
	size_t size = 0;
	struct recorder recorder;
	struct run run;
	FILE *out = open_memstream(&text, &size);
	struct csv_reader *reader;
	struct error err;

	assert_non_null(out);
	row_clear(&run_rows, &run);
	snprintf(run.target, sizeof(run.target), "t");
	snprintf(run.run_id, sizeof(run.run_id), "r");
	run.cores = CORES;
	run.setup_s = 3;
	run.loop_s = 40;
	run.loop_cpu_s = 70;
	recorder_start(&recorder, &run, 1, out, &silent);
	csv_write_header(out, &observation_rows);
	recorder_begin_epoch(&recorder, 8);
	recorder_step(&recorder, 1, 1, steps);
	recorder_step(&recorder, 1, 2, steps);
	recorder_epoch(&recorder, 1, 33, epochs);
	recorder_loop(&recorder, &run, 0);
	assert_int_equal(run.launches, 2 * 5);
	assert_int_equal(run.reduced_bytes, 2 * 70);
	assert_int_equal(run.allocations, 2 * 900);
	assert_int_equal(run.updates, 2);
	assert_true(run.total_s == 3 + 40);
	assert_true(fabs(run.iterations_s + run.loader_s + run.test_s +
			 run.unaccounted_s - 40) < 1e-9);
	fclose(out);
	rows->count = 0;
	reader = csv_reader_open(&observation_rows, "rows", take_row, rows,
				 &err);
	assert_non_null(reader);
	assert_int_equal(csv_reader_feed(reader, text, size, &err), 0);
	csv_reader_close(reader);
	free(text);
}

static const struct observation *find(const struct rows *rows,
				      const char *clock, const char *phase,
				      long core, long iter)
{
	const struct observation *found = NULL;

	for (int i = 0; i < rows->count; i++) {
		const struct observation *row = &rows->rows[i];

		if (strcmp(row->clock, clock) || strcmp(row->phase, phase) ||
		    row->core != core || row->iter != iter)
			continue;
		assert_null(found);
		found = row;
	}
	if (!found)
		fail_msg("no %s %s of core %ld", clock, phase, core);
	return found;
}

static void expect(const struct rows *rows, const char *clock,
		   const char *phase, long core, double elapsed_s)
{
	const struct observation *row =
		find(rows, clock, phase, core, CELL_NO_INT);

	if (fabs(row->elapsed_s - elapsed_s) > 1e-9)
		fail_msg("%s %s of core %ld: %g s, not %g", clock, phase, core,
			 row->elapsed_s, elapsed_s);
}

static void an_iteration_is_the_critical_path(void **state)
{
	const struct observation *row;
	struct rows rows;

	(void)state;
	record(&rows);
	row = find(&rows, "wall", "step", CELL_NO_INT, 1);
	assert_true(fabs(row->elapsed_s - 10) < 1e-9); /* 11 to 21 */
	assert_true(fabs(row->cpu_s - (3.5 + 4.25 + 6.25)) < 1e-9);
	assert_int_equal(row->samples, 5);
	assert_true(fabs(row->loss - 12. / 5) < 1e-8);
	row = find(&rows, "wall", "step", 1, 1);
	assert_true(fabs(row->elapsed_s - 9.5) < 1e-9);
	/* The largest of compute (with the delay), reduce and update. */
	row = find(&rows, "model", "step", CELL_NO_INT, 2);
	assert_true(fabs(row->elapsed_s - (3.5 + .75 + 1)) < 1e-9);
}

static void phases_are_the_slowest_cores(void **state)
{
	static const char *const names[] = { "compute", "wait", "reduce",
					     "update" };
	static const double wall[] = { 10, 10, 2, 3 };
	static const double model[] = { 7, 0, 1.5, 2 };
	struct rows rows;

	(void)state;
	record(&rows);
	for (int p = 0; p < 4; p++) {
		expect(&rows, "wall", names[p], CELL_NO_INT, wall[p]);
		expect(&rows, "model", names[p], CELL_NO_INT, model[p]);
		for (int r = 0; r < CORES; r++)
			expect(&rows, "wall", names[p], r,
			       2 * steps[r].phases_s[p]);
	}
	/* From the end before, 8 and 21, to the last batch at 10.5. */
	expect(&rows, "wall", "loader", CELL_NO_INT, 2.5);
	expect(&rows, "wall", "loader", 1, 3);
}

static void an_epoch_has_all_in_it(void **state)
{
	const struct observation *row;
	struct rows rows;

	(void)state;
	record(&rows);
	expect(&rows, "wall", "test", CELL_NO_INT, 6);
	expect(&rows, "wall", "epoch", CELL_NO_INT, 33);
	row = find(&rows, "wall", "epoch", CELL_NO_INT, CELL_NO_INT);
	assert_true(fabs(row->cpu_s - 70) < 1e-9);
	assert_int_equal(row->samples, 10);
	assert_int_equal(row->voluntary_switches, 9);
	assert_int_equal(row->involuntary_switches, 12);
	row = find(&rows, "wall", "test", CELL_NO_INT, CELL_NO_INT);
	assert_int_equal(row->samples, 10);
	assert_true(fabs(row->accuracy_pct - 60) < 1e-9);
	row = find(&rows, "wall", "epoch", 2, CELL_NO_INT);
	assert_true(fabs(row->elapsed_s - 32) < 1e-9);
	assert_true(fabs(row->cpu_s - 7) < 1e-9);
	/* Core 1 takes longest for test and loader together: 4.5. */
	expect(&rows, "model", "test", CELL_NO_INT, 2.5);
	expect(&rows, "model", "loader", CELL_NO_INT, 2);
	expect(&rows, "model", "epoch", CELL_NO_INT, 10.5 + 4.5);
	expect(&rows, "model", "loop", CELL_NO_INT, 15);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_iteration_is_the_critical_path),
		cmocka_unit_test(phases_are_the_slowest_cores),
		cmocka_unit_test(an_epoch_has_all_in_it),
	};

	return cmocka_run_group_tests_name("recorder", tests, NULL, NULL);
}
