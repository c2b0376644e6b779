/*
 * Messages about a measuring child that misbehaves. This program is its own
 * child: the target chooses what it does.
 */
#include "bench/launch/child.h"

#include <errno.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bench/system/clock.h"
#include "bench/system/kernel.h"
#include "tests/cmocka.h"
#include "tests/unit/folder.h"

/* Not static, since the system's header may have read() inline. */
int reads_fail;

/* In place of the C library's. */
ssize_t read(int fd, void *bytes, size_t count)
{
	if (reads_fail) {
		errno = EIO;
		return -1;
	}
	return syscall(SYS_read, fd, bytes, count);
}

static int ignore_row(const void *row, void *context, struct error *err)
{
	(void)row, (void)context, (void)err;
	return 0;
}

static void ignore_pause(void *context)
{
	(void)context;
}

/* A line of a shell, or for NULL the target; 0: without a timeout. */
static int run(const char *target, const char *line, long timeout,
	       struct child_result *result, struct error *err)
{
	const struct options options = { .timeout = timeout ? timeout :
							      OPTION_UNSET };
	const char *const words[] = { "sh", "-c", line, NULL };
	const struct child_request request = {
		.options = &options,
		.target = target,
		.words = line ? words : NULL,
		.run_id = "r",
		.campaign_id = "c",
	};
	const struct row_sink sink = { ignore_row, ignore_pause, NULL };

	return child_measure(result, &request, &sink, err);
}

static int measure(const char *target, struct child_result *result,
		   struct error *err)
{
	return run(target, NULL, 0, result, err);
}

/* These are no files of the user's, and nothing is missing. */
static void what_cannot_be_read(void **state)
{
	struct child_result result;
	struct error err;

	(void)state;
	assert_int_equal(measure("talks", &result, &err), -1);
	assert_int_equal(err.kind, ERROR_FAILED);
	assert_non_null(strstr(err.message, "talks:1:"));
	assert_int_equal(measure("silent", &result, &err), -1);
	assert_int_equal(err.kind, ERROR_FAILED);
	assert_non_null(strstr(err.message, "exited with code 0, but"));
}

/* That is not the end of what the child has to say. */
static void what_cannot_be_heard(void **state)
{
	struct child_result result;
	struct error err;
	int rc;

	(void)state;
	reads_fail = 1;
	rc = measure("fails", &result, &err);
	reads_fail = 0;
	assert_int_equal(rc, -1);
	assert_int_equal(err.kind, ERROR_FAILED);
	assert_non_null(strstr(err.message, strerror(EIO)));
}

static void what_ends_badly(void **state)
{
	struct child_result result;
	struct error err;

	(void)state;
	assert_int_equal(measure("fails", &result, &err), 0);
	assert_int_equal(result.exit_code, 3);
	assert_string_equal(result.run.reason, "ended with exit code 3");
}

/* Others may hold its pipe for longer: none of its time. */
static void a_command_ends_with_its_process(void **state)
{
	const char *path = in_folder("left"), *late = in_folder("late");
	struct child_result result;
	struct error err;
	char line[2 * PATH_MAX + 64];
	long left = 0;
	FILE *file;

	(void)state;
	/* Ended, the shell ends its sleep. */
	snprintf(line, sizeof(line), "(trap 'kill $!' TERM; sleep 20 & "
		 "wait $! && echo >%s) & echo $! >%s", late, path);
	assert_int_equal(run("command", line, 0, &result, &err), 0);
	assert_string_equal(result.run.status, "ok");
	file = fopen(path, "r");
	assert_non_null(file);
	assert_int_equal(fscanf(file, "%ld", &left), 1);
	fclose(file);
	assert_int_equal(kill((pid_t)left, SIGTERM), 0);
	assert_int_equal(access(late, F_OK), -1);
}

/* So may what another bench has started, after the timeout, too. */
static void a_bench_ends_with_its_process(void **state)
{
	const char *path = in_folder("other"), *pid_path = in_folder("pid");
	const struct options options = { .timeout = 10 };
	const struct child_request request = {
		.options = &options,
		.program = path,
		.target = "other",
		.run_id = "r",
		.campaign_id = "c",
	};
	const struct row_sink sink = { ignore_row, ignore_pause, NULL };
	struct child_result result;
	struct error err;
	long left = 0;
	FILE *file = fopen(path, "w");

	(void)state;
	assert_non_null(file);
	fprintf(file, "#!/bin/sh\nsleep 60 & echo $! >%s\nexit 3\n", pid_path);
	assert_int_equal(fclose(file), 0);
	assert_int_equal(chmod(path, 0700), 0);
	assert_int_equal(child_measure(&result, &request, &sink, &err), 0);
	assert_int_equal(result.exit_code, 3);
	assert_string_equal(result.run.reason, "ended with exit code 3");
	file = fopen(pid_path, "r");
	assert_non_null(file);
	assert_int_equal(fscanf(file, "%ld", &left), 1);
	fclose(file);
	assert_int_equal(kill((pid_t)left, SIGTERM), 0);
}

/* Its row says when it was started, not when it ended. */
static void a_command_has_begun_before_it_ends(void **state)
{
	struct child_result result;
	struct error err;
	char before[24], after[24];

	(void)state;
	clock_stamp(before, sizeof(before));
	assert_int_equal(run("command", "sleep 2", 0, &result, &err), 0);
	clock_stamp(after, sizeof(after));
	assert_true(strcmp(result.run.started_utc, before) >= 0);
	assert_true(strcmp(result.run.started_utc, after) < 0);
}

/* Its output may end long before. */
static void a_silent_command_is_ended(void **state)
{
	struct child_result result;
	struct error err;

	(void)state;
	assert_int_equal(run("command", "exec >&-; sleep 20; exit 0", 1,
			     &result, &err), 0);
	assert_string_equal(result.run.reason, "ended after --timeout 1s");
	assert_int_equal(run("command", "exec >&-; exit 3", 20, &result, &err),
			 0);
	assert_string_equal(result.run.reason, "ended with exit code 3");
}

/* Of each its own: the largest of all that have ended is another's. */
static void what_a_command_used(void **state)
{
	static const char large[] = "dd if=/dev/zero of=/dev/null bs=64M "
				    "count=1 2>/dev/null";
	struct child_result result;
	const struct run *row = &result.run;
	struct disturbance_counters counters;
	struct error err;

	(void)state;
	disturbance_read(&counters, "");
	assert_int_equal(run("command", large, 0, &result, &err), 0);
	assert_true(row->maxrss_bytes > 60L << 20);
	assert_true(row->cpu_user_s + row->cpu_sys_s > 0);
	assert_true(row->loop_cpu_s == row->cpu_user_s + row->cpu_sys_s);
	assert_true(row->involuntary_switches >= 0);
	assert_true(row->logical_cpus > 0);
	assert_int_equal(strlen(row->host_key), 16);
	/* They are bench's, which measured nothing. */
	assert_string_equal(row->version, "");
	assert_string_equal(row->variables, "");
	/* Long enough for some ticks of the machine. */
	assert_int_equal(run("command", "sleep 0.3; exit 3", 0, &result,
			     &err), 0);
	assert_true(isnan(counters.all_s) || row->foreign_pct >= 0);
	assert_true(isnan(counters.stolen_s) || row->steal_pct >= 0);
	assert_true(isnan(counters.throttled_s) || row->throttled_s >= 0);
	assert_true(isnan(counters.pressure_s) || row->pressure_pct >= 0);
	/* What has no more than we have is not known. */
	assert_true(row->maxrss_bytes == CELL_NO_INT ||
		    row->maxrss_bytes < 60L << 20);
}

static int be_child(const char *target)
{
	if (strcmp(target, "talks") == 0)
		puts("a driver's words, on standard output\nand more");
	return strcmp(target, "fails") == 0 ? 3 : 0;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_cannot_be_read),
		cmocka_unit_test(what_cannot_be_heard),
		cmocka_unit_test(what_ends_badly),
		cmocka_unit_test(a_bench_ends_with_its_process),
		cmocka_unit_test(a_command_has_begun_before_it_ends),
		cmocka_unit_test(a_command_ends_with_its_process),
		cmocka_unit_test(a_silent_command_is_ended),
		cmocka_unit_test(what_a_command_used),
	};

	if (argc > 2 && strcmp(argv[1], "measure") == 0)
		return be_child(argv[2]);
	return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
