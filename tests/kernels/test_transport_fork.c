/* Cores that are processes: what they receive, how they die, and that nothing
 * is left of them. */
#include "backends/parallel/transport.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/system/clock.h"
#include "tests/kernels/patience.h"
#include "tests/kernels/skipping.h"

#define CORES 4
#define SOON_S 15 /* where nothing waits for a core that does not come back */

/* Memory that the test and all its cores see. */
struct scene {
	pid_t pids[CORES];
	int victim;	    /* the rank to which it happens */
	int number;	    /* a signal; 0: it exits instead */
	atomic_int arrived; /* cores that are where the scene has them */
	atomic_int signals; /* that came to cores */
};

static struct scene *scene;

static int make_scene(void **state)
{
	(void)state;
	scene = mmap(NULL, sizeof(*scene), PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	return scene == MAP_FAILED;
}

static void set_scene(int victim, int number)
{
	memset(scene, 0, sizeof(*scene));
	scene->victim = victim;
	scene->number = number;
}

static int launch(group_body *body, int (*caught)(void), struct error *err)
{
	const struct group_job job = { body, NULL, 0, caught };

	return group_launch(transport_find("fork"), CORES, &job, err);
}

static void nap(long ms)
{
	clock_sleep((double)ms * 1e-3);
}

/* No child of ours is left, dead or alive. */
static void assert_no_children(void)
{
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
}

static int variable_is(const char *name, int value)
{
	const char *text = getenv(name);

	return text && strtol(text, NULL, 10) == value;
}

static int look_around(struct group *group, void *context, struct error *err)
{
	(void)context;
	scene->pids[group->rank] = getpid();
	if (!variable_is("RANK", group->rank) ||
	    !variable_is("LOCAL_RANK", group->rank) ||
	    !variable_is("WORLD_SIZE", group->size))
		return error_set(err, ERROR_FAILED, "RANK %s of %s",
				 getenv("RANK"), getenv("WORLD_SIZE"));
	return 0;
}

static void cores_are_processes_with_their_rank(void **state)
{
	struct error err;

	(void)state;
	set_scene(-1, 0);
	unsetenv("RANK");
	if (launch(look_around, NULL, &err))
		fail_msg("%s", err.message);
	for (int r = 0; r < CORES; r++) {
		const pid_t pid = scene->pids[r];

		assert_int_not_equal(pid, getpid());
		for (int other = 0; other < r; other++)
			assert_int_not_equal(pid, scene->pids[other]);
	}
	assert_null(getenv("RANK"));
	assert_no_children();
}

/* Barriers until it happens. */
static int die_at_work(struct group *group, void *context, struct error *err)
{
	(void)context;
	scene->pids[group->rank] = getpid();
	for (int i = 0;; i++) {
		if (group_gather(group, NULL, 0, NULL, err))
			return -1;
		if (i < 20 || group->rank != scene->victim)
			continue;
		if (!scene->number)
			_exit(7);
		signal(scene->number, SIG_DFL); /* cmocka has its own */
		kill(getpid(), scene->number);
	}
}

static void a_death_is_named(void **state)
{
	static const int numbers[] = { SIGKILL, SIGTERM, SIGSEGV, SIGABRT, 0 };
	struct error err;
	char text[80];

	(void)state;
	for (int n = 0; n < 5; n++)
		for (int victim = 0; victim < CORES; victim += CORES - 1) {
			const double began = patience_now();

			set_scene(victim, numbers[n]);
			assert_int_equal(launch(die_at_work, NULL, &err), -1);
			assert_true(patience_now() - began < SOON_S);
			assert_int_equal(err.kind, ERROR_FAILED);
			snprintf(text, sizeof(text), numbers[n] ?
				 "core %d of %d: process %ld was ended by "
				 "signal %d" :
				 "core %d of %d: process %ld ended with exit "
				 "code 7", victim, CORES,
				 (long)scene->pids[victim], numbers[n]);
			if (strncmp(err.message, text, strlen(text)))
				fail_msg("'%s' is not '%s'", err.message,
					 text);
			assert_no_children();
		}
}

/* Deaf to everybody but the kernel. */
static int hang(struct group *group, void *context, struct error *err)
{
	(void)context;
	scene->pids[group->rank] = getpid();
	signal(SIGTERM, SIG_IGN);
	atomic_fetch_add(&scene->arrived, 1);
	while (group->rank == scene->victim) {
		if (scene->arrived == group->size)
			return error_set(err, ERROR_FAILED, "had enough");
		nap(1);
	}
	for (;;)
		nap(1000);
}

static void who_does_not_leave_is_killed(void **state)
{
	const double began = patience_now();
	struct error err;

	(void)state;
	set_scene(2, 0);
	assert_int_equal(launch(hang, NULL, &err), -1);
	assert_true(patience_now() - began < SOON_S);
	assert_string_equal(err.message, "core 2 of 4: had enough");
	assert_no_children();
}

/* Cores that notice one after the other, each in its own long step. */
static int die_while_others_work(struct group *group, void *context,
				 struct error *err)
{
	(void)context;
	scene->pids[group->rank] = getpid();
	if (group->rank == 0) {
		nap(100);
		kill(getpid(), SIGKILL);
	}
	/* The last ones do not come back in time. */
	nap(group->rank < 2 ? 900 : 2000 * SOON_S);
	return group_gather(group, NULL, 0, NULL, err);
}

static void a_death_is_reported_soon(void **state)
{
	const double began = patience_now();
	struct error err;

	(void)state;
	set_scene(0, SIGKILL);
	assert_int_equal(launch(die_while_others_work, NULL, &err), -1);
	assert_true(patience_now() - began < SOON_S);
	assert_non_null(strstr(err.message, "core 0 of 4: process"));
	assert_no_children();
}

/* All stop because they were asked to; the first has to write for a while. */
static int stop_and_write(struct group *group, void *context, struct error *err)
{
	(void)context;
	if (group_gather(group, NULL, 0, NULL, err))
		return -1;
	if (group->rank == 0) {
		nap(2000);
		atomic_fetch_add(&scene->arrived, 1);
	}
	return error_set(err, ERROR_STOPPED, "interrupted");
}

static void who_stops_in_order_may_write(void **state)
{
	struct error err;

	(void)state;
	set_scene(-1, 0);
	assert_int_equal(launch(stop_and_write, NULL, &err), -1);
	assert_int_equal(err.kind, ERROR_STOPPED);
	assert_string_equal(err.message, "interrupted");
	assert_int_equal(scene->arrived, 1);
	assert_no_children();
}

/* A zombie that is waited for by somebody else is no more, either. */
static int is_gone(pid_t pid)
{
	char path[64], line[256] = "";
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%ld/stat", (long)pid);
	file = fopen(path, "r");
	if (!file)
		return 1;
	if (!fgets(line, sizeof(line), file))
		line[0] = '\0';
	fclose(file);
	return strstr(line, ") Z ") || strstr(line, ") X ");
}

static void cores_end_with_their_launcher(void **state)
{
	struct error err;
	pid_t launcher;

	(void)state;
	set_scene(-1, 0);
	launcher = fork();
	assert_true(launcher >= 0);
	if (!launcher)
		_exit(launch(hang, NULL, &err) ? 1 : 0);
	while (scene->arrived < CORES)
		nap(1);
	kill(launcher, SIGKILL);
	waitpid(launcher, NULL, 0);
	for (int r = 0; r < CORES; r++)
		while (!is_gone(scene->pids[r]))
			nap(10);
}

static void count_signal(int number)
{
	(void)number;
	atomic_fetch_add(&scene->signals, 1);
}

/* The signal that the launcher is taken to have caught. */
static int caught_when_ready(void)
{
	return scene->arrived == CORES ? SIGTERM : 0;
}

static int wait_for_signal(struct group *group, void *context,
			   struct error *err)
{
	const struct sigaction action = { .sa_handler = count_signal };

	(void)context;
	(void)err;
	sigaction(SIGTERM, &action, NULL);
	atomic_fetch_add(&scene->arrived, 1);
	while (scene->signals < group->size)
		nap(1);
	nap(300); /* for a second one to come */
	return 0;
}

static void a_signal_is_passed_on_once(void **state)
{
	struct error err;

	(void)state;
	set_scene(-1, 0);
	if (launch(wait_for_signal, caught_when_ready, &err))
		fail_msg("%s", err.message);
	assert_int_equal(scene->signals, CORES);
	assert_no_children();
}

/* This process may have few others from now on, unless that cannot be had. */
static int allow_few(void)
{
	const struct rlimit few = { 3, 3 };

	return (!getuid() && setuid(65534)) || setrlimit(RLIMIT_NPROC, &few);
}

static int have_limit(void)
{
	int status = -1;
	const pid_t pid = fork();

	if (!pid)
		_exit(allow_few());
	waitpid(pid, &status, 0);
	return !status;
}

/* In a process of its own. */
static int launch_with_few(void)
{
	struct error err = { .message = "" };

	if (allow_few())
		return 1;
	launch(die_at_work, NULL, &err);
	return !(err.kind == ERROR_FAILED &&
		 strstr(err.message, " of 4 processes could be started"));
}

static void too_few_processes_are_an_error(void **state)
{
	int status = -1;
	pid_t pid;

	(void)state;
	set_scene(-1, 0);
	pid = fork();
	if (!pid)
		_exit(launch_with_few());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

static long count_open_files(void)
{
	DIR *folder = opendir("/proc/self/fd");
	long count = 0;

	assert_non_null(folder);
	while (readdir(folder))
		count++;
	closedir(folder);
	return count;
}

static void nothing_is_left_open(void **state)
{
	const long before = count_open_files();
	struct error err;

	(void)state;
	for (int i = 0; i < 3; i++) {
		set_scene(1, SIGKILL);
		assert_int_equal(launch(die_at_work, NULL, &err), -1);
		assert_int_equal(launch(look_around, NULL, &err), 0);
	}
	assert_int_equal(count_open_files(), before);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cores_are_processes_with_their_rank),
		cmocka_unit_test(a_death_is_named),
		cmocka_unit_test(who_does_not_leave_is_killed),
		cmocka_unit_test(a_death_is_reported_soon),
		cmocka_unit_test(who_stops_in_order_may_write),
		cmocka_unit_test(cores_end_with_their_launcher),
		cmocka_unit_test(a_signal_is_passed_on_once),
		unit_test_if(have_limit(), too_few_processes_are_an_error),
		cmocka_unit_test(nothing_is_left_open),
	};

	return cmocka_run_group_tests_name("transport fork", tests, make_scene,
					   NULL);
}
