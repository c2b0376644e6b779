/* Many runs in one process: no descriptor, thread or memory is left. */
#include <dirent.h>
#include <malloc.h>
#include <unistd.h>

#include "tests/unit/runs.h"

#define RUNS 20
#define LIGHT_RUNS 7
#define SETTLED 5 /* by then all is there that is made once, caches too */
#define SMALLEST 32 /* bytes that the smallest allocation takes */

struct holding {
	int descriptors, threads;
	size_t bytes;
};

static int count_entries(const char *path)
{
	DIR *dir = opendir(path);
	int count = 0;

	assert_non_null(dir);
	while (readdir(dir))
		count++;
	closedir(dir);
	return count;
}

/* A thread that was joined may be listed for a moment more. */
static struct holding look(int threads)
{
	struct holding now = {
		.descriptors = count_entries("/proc/self/fd"),
		.threads = count_entries("/proc/self/task"),
		.bytes = mallinfo2().uordblks,
	};

	for (int i = 0; i < 200 && now.threads > threads; i++) {
		usleep(10000);
		now.threads = count_entries("/proc/self/task");
	}
	return now;
}

/* slack: bytes that a run may keep, for what a driver collects. */
static void repeat(const char *target, size_t slack)
{
	/* A sanitizer has an allocator of its own, and finds what is lost. */
	const int runs = tests_are_light() ? LIGHT_RUNS : RUNS;
	struct holding settled = { 0 }, now;
	struct outcome outcome;

	for (int i = 1; i <= runs; i++) {
		measure(&outcome, target);
		release(&outcome);
		must(outcome.failed, &outcome.err);
		now = look(i <= SETTLED ? INT_MAX : settled.threads);
		if (i <= SETTLED)
			settled = now;
		assert_int_equal(now.descriptors, settled.descriptors);
		assert_int_equal(now.threads, settled.threads);
	}
	if (now.bytes >= settled.bytes + slack * (size_t)(runs - SETTLED))
		fail_msg("%s: %zu bytes after %d runs, %zu after %d", target,
			 settled.bytes, SETTLED, now.bytes, runs);
}

static void one_core(void **state)
{
	(void)state;
	repeat("null-1", SMALLEST);
	repeat("reference-1", SMALLEST);
	repeat("cpu-1", SMALLEST);
	repeat("openblas-1", SMALLEST);
}

static void several_threads(void **state)
{
	(void)state;
	repeat("null-2@threads", SMALLEST);
	repeat("reference-2@threads", SMALLEST);
	repeat("cpu-3@threads", SMALLEST);
	repeat("openblas-2@threads", SMALLEST);
}

/* The driver itself keeps some kilobytes a run. */
static void opencl_device(void **state)
{
	(void)state;
	repeat("opencl", 16 * 1024);
}

static int run_all(void)
{
	const struct device_request request = { .threads = 1, .cpus = 1 };
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_core),
		cmocka_unit_test(several_threads),
		unit_test_if(have_device("opencl", &request), opencl_device),
	};

	return cmocka_run_group_tests(tests, folder_make, folder_remove);
}

int main(int argc, char **argv)
{
	/* Freed memory that a thread keeps at hand counts as taken: begin anew
	 * with nothing kept. */
	if (argc == 1 &&
	    !setenv("GLIBC_TUNABLES", "glibc.malloc.tcache_count=0", 1))
		execl("/proc/self/exe", argv[0], "again", NULL);
	return run_all();
}
