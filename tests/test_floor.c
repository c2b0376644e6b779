/* The file of noise floors: whose they are, and what takes whose place. */
#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/gate/floor.h"
#include "tests/rows.h"

static struct error err;

static struct run run_of(const char *host, const char *target,
			 const char *model, long batch)
{
	struct run run;

	row_clear(&run_rows, &run);
	snprintf(run.host_key, sizeof(run.host_key), "%s", host);
	snprintf(run.target, sizeof(run.target), "%s", target);
	snprintf(run.model, sizeof(run.model), "%s", model);
	snprintf(run.cpu_model, sizeof(run.cpu_model), "CPU of %s", host);
	run.global_batch = batch;
	return run;
}

static struct floor floor_of(const struct run *run, const char *metric,
			     double pct)
{
	struct floor floor;

	floor_describe(&floor, run);
	snprintf(floor.metric, sizeof(floor.metric), "%s", metric);
	floor.floor_pct = pct;
	floor.pairs = 40;
	return floor;
}

static void replace(const char *path, const struct floor *rows, size_t count)
{
	if (floors_replace(path, rows, count, &err))
		fail_msg("%s", err.message);
}

static struct floors read_floors(const char *path)
{
	struct floors floors;

	if (floors_read(&floors, path, &err))
		fail_msg("%s", err.message);
	return floors;
}

static double found(const struct floors *floors, const struct run *run,
		    const char *metric)
{
	const struct floor *floor = floors_find(floors, run, metric);

	return floor ? floor->floor_pct : -1;
}

static void whose(void **state)
{
	const struct run here = run_of("here", "cpu-1", "mnist", 128);
	const struct run there = run_of("there", "cpu-1", "mnist", 128);
	struct run other_device = here;
	const struct run others[] = {
		run_of("here", "cpu-8", "mnist", 128),
		run_of("here", "cpu-1", "tiny", 128),
		run_of("here", "cpu-1", "mnist", 64),
	};
	struct floor rows[] = { floor_of(&here, "iter_p50_s", 4.5),
				floor_of(&here, "setup_s", 20) };
	const struct floors floors = { rows, 2 };

	(void)state;
	assert_true(found(&floors, &here, "iter_p50_s") == 4.5);
	assert_true(found(&floors, &here, "setup_s") == 20);
	assert_true(found(&floors, &here, "loop_cpu_s") == -1);
	assert_true(found(&floors, &there, "iter_p50_s") == -1);
	assert_null(floors_find_elsewhere(&floors, &here));
	assert_string_equal(floors_find_elsewhere(&floors, &there)->cpu_model,
			    "CPU of here");
	snprintf(other_device.device_name, sizeof(other_device.device_name),
		 "another");
	assert_true(found(&floors, &other_device, "iter_p50_s") == -1);
	assert_non_null(floors_find_elsewhere(&floors, &other_device));
	for (int i = 0; i < 3; i++) {
		assert_true(found(&floors, &others[i], "iter_p50_s") == -1);
		assert_null(floors_find_elsewhere(&floors, &others[i]));
	}
}

static void takes_the_place(void **state)
{
	const struct run here = run_of("here", "cpu-1", "mnist", 128);
	const struct run there = run_of("there", "cpu-1", "mnist", 128);
	struct floor rows[2];
	struct floors floors;

	(void)state;
	rows[0] = floor_of(&here, "iter_p50_s", 4);
	rows[1] = floor_of(&there, "iter_p50_s", 5);
	replace(in_folder("floors.csv"), rows, 2);
	rows[0] = floor_of(&here, "setup_s", 20);
	rows[1] = floor_of(&here, "iter_p50_s", 6);
	replace(in_folder("floors.csv"), rows, 2);
	floors = read_floors(in_folder("floors.csv"));
	assert_int_equal(floors.count, 3);
	assert_true(found(&floors, &there, "iter_p50_s") == 5);
	assert_true(found(&floors, &here, "iter_p50_s") == 6);
	assert_true(found(&floors, &here, "setup_s") == 20);
	assert_int_equal(floors.rows[0].pairs, 40);
	floors_release(&floors);
}

/* In the file of an older bench, which called it s_iter. */
static void of_an_older_name(void **state)
{
	const struct run here = run_of("here", "cpu-1", "mnist", 128);
	struct floor row = floor_of(&here, "s_iter", 4);
	struct floors floors;

	(void)state;
	replace(in_folder("older.csv"), &row, 1);
	floors = read_floors(in_folder("older.csv"));
	assert_true(found(&floors, &here, "iter_p50_s") == 4);
	floors_release(&floors);
	row = floor_of(&here, "iter_p50_s", 5);
	replace(in_folder("older.csv"), &row, 1);
	floors = read_floors(in_folder("older.csv"));
	assert_int_equal(floors.count, 1);
	assert_true(found(&floors, &here, "iter_p50_s") == 5);
	floors_release(&floors);
}

static void write_text(const char *path, const char *text)
{
	FILE *file = fopen(path, "wb");

	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static void what_is_wrong(void **state)
{
	const struct run here = run_of("here", "cpu-1", "mnist", 128);
	struct floor row = floor_of(&here, "iter_p50_s", -1);
	struct floors floors;
	char before[4000];

	(void)state;
	assert_int_equal(floors_read(&floors, in_folder("none"), &err), -1);
	assert_int_equal(err.kind, ERROR_MISSING);
	/* The usual file need not be there. */
	assert_int_equal(floors_read(&floors, NULL, &err), 0);
	assert_int_equal(floors.count, 0);
	replace(in_folder("below"), &row, 1);
	assert_int_equal(floors_read(&floors, in_folder("below"), &err), -1);
	assert_int_equal(err.kind, ERROR_INPUT);
	assert_non_null(strstr(err.message, "below"));
	assert_non_null(strstr(err.message, "floor_pct"));
	row.floor_pct = NAN;
	write_text(in_folder("other"), "schema,a\nbench/1,b\n");
	assert_int_equal(floors_replace(in_folder("other"), &row, 1, &err), -1);
	assert_int_equal(err.kind, ERROR_INPUT);
	snprintf(before, sizeof(before), "%s", read_whole(in_folder("other")));
	assert_string_equal(before, "schema,a\nbench/1,b\n");
}

static useconds_t pause_before_rename;

int renameat(int from, const char *old, int to, const char *new)
{
	usleep(pause_before_rename);
	return (int)syscall(SYS_renameat2, from, old, to, new, 0);
}

/* Each has read the file long before it replaces it. */
static void several_at_once(void **state)
{
	enum { PROCESSES = 6 };
	const char *path = in_folder("several.csv");
	struct floors floors;
	char target[16];
	struct run run;
	struct floor row;
	pid_t pids[PROCESSES];
	int i, status;

	(void)state;
	for (i = 0; i < PROCESSES; i++) {
		pids[i] = fork();
		if (pids[i])
			continue;
		pause_before_rename = 20000;
		snprintf(target, sizeof(target), "cpu-%d", i + 1);
		run = run_of("here", target, "mnist", 128);
		row = floor_of(&run, "s_iter", i);
		_exit(floors_replace(path, &row, 1, &err) != 0);
	}
	for (i = 0; i < PROCESSES; i++) {
		assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
		assert_int_equal(status, 0);
	}
	floors = read_floors(path);
	assert_int_equal(floors.count, PROCESSES);
	floors_release(&floors);
	assert_int_equal(access(in_folder(".several.csv.lock"), F_OK), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whose),
		cmocka_unit_test(takes_the_place),
		cmocka_unit_test(of_an_older_name),
		cmocka_unit_test(what_is_wrong),
		cmocka_unit_test(several_at_once),
	};

	return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
