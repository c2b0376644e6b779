/* Other programs: started, fed, waited for, and their ends distinguished. */
#include "bench/system/process.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/system/clock.h"
#include "bench/system/interrupt.h"
#include "tests/kernels/skipping.h"

static const struct process_setting plain = { .stdout_fd = -1,
					      .stderr_fd = -1 };

/* Runs a line of shell and returns what it wrote, at most 255 characters. */
static struct process_status run(const char *line,
				 const char *const *environment, char *text)
{
	const char *const argv[] = { "sh", "-c", line, NULL };
	struct process_status status = { .code = -2, .signal = -2 };
	struct error err = { .message = "" };
	size_t length = 0;
	ssize_t count;
	struct process_setting setting = plain;
	int ends[2];
	pid_t pid;

	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	setting.stdout_fd = ends[1];
	setting.environment = environment;
	if (process_start(argv, &setting, &pid, &err))
		fail_msg("%s", err.message);
	close(ends[1]);
	while ((count = read(ends[0], text + length, 255 - length)) > 0)
		length += (size_t)count;
	text[length] = '\0';
	close(ends[0]);
	assert_int_equal(process_wait(pid, &status, &err), 0);
	return status;
}

static void ends_are_told_apart(void **state)
{
	struct process_status status;
	char text[256];

	(void)state;
	status = run("echo hello", NULL, text);
	assert_int_equal(status.code, 0);
	assert_int_equal(status.signal, 0);
	assert_string_equal(text, "hello\n");
	status = run("exit 7", NULL, text);
	assert_int_equal(status.code, 7);
	assert_int_equal(status.signal, 0);
	status = run("kill -TERM $$", NULL, text);
	assert_int_equal(status.code, -1);
	assert_int_equal(status.signal, SIGTERM);
}

/* Input is empty; what we block or ignore does not reach the child. */
static void child_starts_clean(void **state)
{
	struct process_status status;
	sigset_t blocked, before;
	char text[256];
	int ours[2];

	(void)state;
	assert_int_equal(pipe(ours), 0);
	assert_int_equal(write(ours[1], "input", 5), 5);
	close(ours[1]);
	assert_int_equal(dup2(ours[0], STDIN_FILENO), STDIN_FILENO);
	close(ours[0]);
	status = run("wc -c | tr -d ' '", NULL, text);
	assert_int_equal(status.code, 0);
	assert_string_equal(text, "0\n");

	sigemptyset(&blocked);
	sigaddset(&blocked, SIGTERM);
	sigprocmask(SIG_BLOCK, &blocked, &before);
	signal(SIGPIPE, SIG_IGN);
	status = run("kill -TERM $$; echo blocked", NULL, text);
	assert_int_equal(status.signal, SIGTERM);
	status = run("kill -PIPE $$; echo ignored", NULL, text);
	assert_int_equal(status.signal, SIGPIPE);
	assert_string_equal(text, "");
	signal(SIGPIPE, SIG_DFL);
	sigprocmask(SIG_SETMASK, &before, NULL);
}

static void environment_is_passed(void **state)
{
	const char *const environment[] = { "COLOUR=red", NULL };
	char text[256];

	(void)state;
	setenv("COLOUR", "blue", 1);
	run("echo $COLOUR", NULL, text);
	assert_string_equal(text, "blue\n");
	run("echo $COLOUR", environment, text);
	assert_string_equal(text, "red\n");
}

static void arguments_are_not_read_by_a_shell(void **state)
{
	const char *const argv[] = { "test", "$(exit 1) `x` *", "=",
				     "$(exit 1) `x` *", NULL };
	struct process_status status;
	struct error err;
	pid_t pid;

	(void)state;
	assert_int_equal(process_start(argv, &plain, &pid, &err), 0);
	assert_int_equal(process_wait(pid, &status, &err), 0);
	assert_int_equal(status.code, 0);
}

static void programs_are_found(void **state)
{
	const char *const argv[] = { "no-such-program-here", NULL };
	const char *path = getenv("PATH");
	char *kept = strdup(path ? path : "/usr/bin:/bin");
	struct process_status status;
	struct error err;
	pid_t pid;

	(void)state;
	assert_non_null(kept);
	assert_true(process_find_program("sh"));
	assert_true(process_find_program("/bin/sh"));
	assert_false(process_find_program("no-such-program-here"));
	assert_false(process_find_program("/bin"));
	assert_int_equal(process_start(argv, &plain, &pid, &err), -1);
	assert_int_equal(err.kind, ERROR_MISSING);
	assert_non_null(strstr(err.message, argv[0]));
	assert_int_equal(process_wait(getpid(), &status, &err), -1);
	assert_int_equal(err.kind, ERROR_FAILED);
	setenv("PATH", "/no/such/folder", 1);
	assert_false(process_find_program("sh"));
	setenv("PATH", "/no/such/folder:/bin", 1);
	assert_true(process_find_program("sh"));
	setenv("PATH", kept, 1);
	free(kept);
}

/* In its folder, its output with the messages; what it started ends, too. */
static void a_program_is_given_a_time(void **state)
{
	const char *const good[] = { "sh", "-c", "test $PWD = /proc", NULL };
	const char *const slow[] = { "sh", "-c", "sleep 60 & wait", NULL };
	struct process_setting in = { "/proc", STDERR_FILENO, -1, NULL, 0 };
	struct process_status status;
	struct error err;

	(void)state;
	assert_int_equal(process_run(good, &in, 60, &status, &err), 0);
	assert_int_equal(status.code, 0);
	in.folder = "/";
	assert_int_equal(process_run(good, &in, INFINITY, &status, &err), 0);
	assert_int_equal(status.code, 1);
	assert_int_equal(process_run(slow, &in, .1, &status, &err), -1);
	in.folder = "/none";
	assert_int_equal(process_run(good, &in, 60, &status, &err), -1);
	in.folder = "/";
	assert_int_equal(process_run(slow, &in, .1, &status, &err), -1);
	assert_int_equal(err.kind, ERROR_FAILED);
	assert_non_null(strstr(err.message, "longer than 0.1 s"));
	assert_int_equal(status.signal, SIGTERM);
}

/* A process that the program started and left gets time to clean up. */
static void an_end_is_polite(void **state)
{
	static const char leaves[] =
		"(trap 'sleep .2; echo away; exit' TERM; kill -INT $PPID;"
		" sleep 60 & wait) & wait";
	const char *const argv[] = { "sh", "-c", leaves, NULL };
	struct process_setting in = { NULL, -1, -1, NULL, 0 };
	struct process_status status;
	struct error err;
	char text[64] = "";
	int ends[2];

	(void)state;
	interrupt_install(1);
	assert_int_equal(pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
	in.stdout_fd = ends[1];
	assert_int_equal(process_run(argv, &in, INFINITY, &status, &err), -1);
	assert_int_equal(err.kind, ERROR_STOPPED);
	assert_int_equal(status.signal, SIGTERM);
	close(ends[1]);
	assert_true(read(ends[0], text, sizeof(text) - 1) >= 0);
	assert_string_equal(text, "away\n");
	close(ends[0]);
}

/* Both outputs are open, and lead to /dev/null. */
static void output_goes_nowhere(void **state)
{
	const struct process_setting nowhere = { .stdout_fd = PROCESS_NOWHERE,
						 .stderr_fd = PROCESS_NOWHERE };
	const char *const argv[] = {
		"sh", "-c", "echo lost && echo lost >&2 && "
		"test /dev/fd/1 -ef /dev/null && "
		"test /dev/fd/2 -ef /dev/null", NULL
	};
	struct process_status status;
	struct error err;

	(void)state;
	assert_int_equal(process_run(argv, &nowhere, 60, &status, &err), 0);
	assert_int_equal(status.code, 0);
}

/* What it is given, and who sends it signals, decides what it ignores. */
static void ignored_signals(void **state)
{
	const char *const words[] = { "sh", "-c",
		"kill -HUP $$; kill -INT $$; kill -TERM $$", NULL };
	const struct process_setting in = { NULL, -1, -1, NULL, 0 };
	struct process_status status;
	struct error err;
	pid_t pid;

	(void)state;
	signal(SIGHUP, SIG_IGN);
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	assert_int_equal(process_start(words, &plain, &pid, &err), 0);
	assert_int_equal(process_wait(pid, &status, &err), 0);
	assert_int_equal(status.code, 0);
	assert_int_equal(process_run(words, &in, 60, &status, &err), 0);
	assert_int_equal(status.signal, SIGINT);
	signal(SIGHUP, SIG_DFL);
	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
}

static void wait_for_ever(void)
{
	for (;;)
		pause();
}

static void compute(void)
{
	while (clock_process_cpu() < .7)
		;
}

/* Returns the status of a process that runs body within a second, while `count`
 * others use its CPU. */
static int status_within_1_s(void (*body)(void), int count)
{
	pid_t processes[3];
	cpu_set_t one;
	int status = 0;

	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	for (int i = 0; i <= count; i++) {
		processes[i] = fork();
		if (processes[i])
			continue;
		sched_setaffinity(0, sizeof(one), &one);
		while (i < count)
			(void)clock_now();
		interrupt_after(1);
		body();
		_exit(0);
	}
	waitpid(processes[count], &status, 0);
	for (int i = 0; i < count; i++) {
		kill(processes[i], SIGKILL);
		waitpid(processes[i], NULL, 0);
	}
	return status;
}

/* The others leave it a third of a second in each one. */
static void a_limit_is_without_waits_for_a_cpu(void **state)
{
	int status = status_within_1_s(wait_for_ever, 0);

	(void)state;
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGALRM);
	assert_int_equal(status_within_1_s(compute, 2), 0);
}

static int kernel_tells_waits(void)
{
	return access("/proc/self/schedstat", R_OK) == 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ends_are_told_apart),
		cmocka_unit_test(child_starts_clean),
		cmocka_unit_test(environment_is_passed),
		cmocka_unit_test(arguments_are_not_read_by_a_shell),
		cmocka_unit_test(programs_are_found),
		cmocka_unit_test(a_program_is_given_a_time),
		cmocka_unit_test(output_goes_nowhere),
		cmocka_unit_test(ignored_signals),
		cmocka_unit_test(an_end_is_polite),
		unit_test_if(kernel_tells_waits(),
			     a_limit_is_without_waits_for_a_cpu),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
