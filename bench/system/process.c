#include "bench/system/process.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/system/clock.h"
#include "bench/system/interrupt.h"
#include "bench/system/kernel.h"

#define LOOK_S .01 /* between two looks at a process that is given a time */
/* A bench gives its children as much time as this process gives others. */
#define END_S (PROCESS_GRACE_S + 2)

static double seconds(struct timeval time)
{
	return (double)time.tv_sec + (double)time.tv_usec * 1e-6;
}

static struct usage usage_from(const struct rusage *raw)
{
	return (struct usage){
		.user_s = seconds(raw->ru_utime),
		.system_s = seconds(raw->ru_stime),
		.maxrss_bytes = raw->ru_maxrss * 1024,
		.voluntary_switches = raw->ru_nvcsw,
		.involuntary_switches = raw->ru_nivcsw,
	};
}

struct usage usage_read(enum usage_of whose)
{
	static const int whom[] = { RUSAGE_THREAD, RUSAGE_SELF,
				    RUSAGE_CHILDREN };
	struct rusage raw;

	if (getrusage(whom[whose], &raw))
		return (struct usage){ 0 };
	return usage_from(&raw);
}

/* Returns NUMBER of a line "NAME: NUMBER kB"; 0 if there is none. */
static long kilobytes(const char *text, const char *name)
{
	const char *line = small_file_line(text, name);

	return line ? strtol(line, NULL, 10) : 0;
}

long usage_own_memory(void)
{
	char text[2048];
	long sum;

	if (small_file_read("/proc/self", "smaps_rollup", text, sizeof(text)))
		return usage_read(USAGE_PROCESS).maxrss_bytes;
	sum = kilobytes(text, "Private_Clean:") +
	      kilobytes(text, "Private_Dirty:") +
	      kilobytes(text, "Pss_Shmem:");
	return sum * 1024;
}

static int is_program(const char *path)
{
	struct stat about;

	return !stat(path, &about) && S_ISREG(about.st_mode) &&
	       !access(path, X_OK);
}

int process_find_program(const char *name)
{
	const char *folder = getenv("PATH");
	char path[PATH_MAX];

	if (strchr(name, '/'))
		return is_program(name);
	while (folder) {
		int length = (int)strcspn(folder, ":");
		int written = snprintf(path, sizeof(path), "%.*s%s%s", length,
				       folder, length ? "/" : "", name);

		if (written > 0 && written < (int)sizeof(path) &&
		    is_program(path))
			return 1;
		folder = folder[length] ? folder + length + 1 : NULL;
	}
	return 0;
}

/* These return an error number, as the functions that they call do. */
static int set_output(posix_spawn_file_actions_t *files, int from, int to)
{
	if (to == PROCESS_NOWHERE)
		return posix_spawn_file_actions_addopen(files, from,
							"/dev/null", O_WRONLY,
							0);
	return to < 0 ? 0 : posix_spawn_file_actions_adddup2(files, to, from);
}

static int set_files(posix_spawn_file_actions_t *files,
		     const struct process_setting *setting)
{
	/* Before standard input is opened, in case stdout_fd is 0. */
	int number = set_output(files, STDOUT_FILENO, setting->stdout_fd);

	if (!number)
		number = set_output(files, STDERR_FILENO, setting->stderr_fd);
	if (!number)
		number = posix_spawn_file_actions_addopen(
			files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	if (!number && setting->folder)
		number = posix_spawn_file_actions_addchdir_np(files,
							      setting->folder);
	return number;
}

static int set_signals(posix_spawnattr_t *attributes, int own_group)
{
	const short group = own_group ? POSIX_SPAWN_SETPGROUP : 0;
	sigset_t mask, defaults;
	int number;

	sigemptyset(&mask);
	sigemptyset(&defaults);
	sigaddset(&defaults, SIGPIPE);
	sigaddset(&defaults, SIGXFSZ);
	/* Only this process sends them then, and they must end it. */
	if (own_group) {
		sigaddset(&defaults, SIGINT);
		sigaddset(&defaults, SIGTERM);
	}
	number = posix_spawnattr_setsigmask(attributes, &mask);
	if (!number)
		number = posix_spawnattr_setsigdefault(attributes, &defaults);
	if (!number)
		number = posix_spawnattr_setflags(
			attributes, (short)(POSIX_SPAWN_SETSIGMASK |
					    POSIX_SPAWN_SETSIGDEF | group));
	return number;
}

int process_start(const char *const *argv,
		  const struct process_setting *setting, pid_t *pid,
		  struct error *err)
{
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attributes;
	char *const *variables = environ;
	int number;

	/* posix_spawn promises not to change the strings. */
	if (setting->environment)
		variables = (char *const *)setting->environment;
	number = posix_spawn_file_actions_init(&files);
	if (number)
		return error_memory(err, argv[0]);
	number = posix_spawnattr_init(&attributes);
	if (number) {
		posix_spawn_file_actions_destroy(&files);
		return error_memory(err, argv[0]);
	}
	number = set_files(&files, setting);
	if (!number)
		number = set_signals(&attributes, setting->own_group);
	if (!number)
		number = posix_spawnp(pid, argv[0], &files, &attributes,
				      (char *const *)argv, variables);
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&files);
	if (!number)
		return 0;
	return error_set(err, number == ENOENT ? ERROR_MISSING : ERROR_FAILED,
			 "%s cannot be started: %s", argv[0],
			 strerror(number));
}

int process_restart(char *const *argv, const char *variable, struct error *err)
{
	const char *value = strchr(variable, '=') + 1, *before;
	char name[64], names[256];

	snprintf(name, sizeof(name), "%.*s", (int)(value - 1 - variable),
		 variable);
	before = getenv("BENCH_SET");
	snprintf(names, sizeof(names), "%s%s%s", before ? before : "",
		 before ? "," : "", name);
	/* BENCH_SET distinguishes it from a variable that the user set. */
	if (!setenv(name, value, 1) && !setenv("BENCH_SET", names, 1))
		execv("/proc/self/exe", argv);
	return error_set(err, ERROR_FAILED,
			 "bench cannot restart itself with %s: %s",
			 variable, strerror(errno));
}

static struct process_status status_of(int raw, const struct rusage *used)
{
	return (struct process_status){
		.usage = usage_from(used),
		.code = WIFEXITED(raw) ? WEXITSTATUS(raw) : -1,
		.signal = WIFSIGNALED(raw) ? WTERMSIG(raw) : 0,
	};
}

static int wait_error(pid_t pid, struct error *err)
{
	return error_set(err, ERROR_FAILED, "cannot wait for process %ld: "
			 "%s", (long)pid, strerror(errno));
}

int process_wait(pid_t pid, struct process_status *status, struct error *err)
{
	struct rusage used;
	int raw = 0;
	pid_t ended;

	do
		ended = wait4(pid, &raw, 0, &used);
	while (ended < 0 && errno == EINTR);
	if (ended < 0)
		return wait_error(pid, err);
	*status = status_of(raw, &used);
	return 0;
}

int process_ended(pid_t pid, struct process_status *status, struct error *err)
{
	struct rusage used;
	int raw = 0;
	const pid_t ended = wait4(pid, &raw, WNOHANG, &used);

	if (ended < 0)
		return wait_error(pid, err);
	if (ended > 0)
		*status = status_of(raw, &used);
	return ended > 0;
}

void process_describe(const struct process_status *status, char *text,
		      size_t size)
{
	if (status->signal)
		snprintf(text, size, "ended by signal %d (%s)", status->signal,
			 strsignal(status->signal));
	else
		snprintf(text, size, "ended with exit code %d", status->code);
}

int process_watch(pid_t pid)
{
	/* Since Linux 5.3; closed at an exec. */
	return (int)syscall(SYS_pidfd_open, pid, 0);
}

void process_end_with_parent(void)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
}

void process_limit_files(pid_t pid, unsigned long bytes)
{
	const struct rlimit files = { bytes, bytes }, cores = { 0, 0 };

	/* A process that has ended needs none. */
	prlimit(pid, RLIMIT_CORE, &cores, NULL);
	prlimit(pid, RLIMIT_FSIZE, &files, NULL);
}

int process_set(const char *variable, const char *value, struct error *err)
{
	return setenv(variable, value, 1) ? error_memory(err, variable) : 0;
}

void process_unset(const char *variable)
{
	unsetenv(variable);
}

int process_end(pid_t whom, double grace_s, double *kill_at)
{
	const double now = clock_now();
	const int is_first = !*kill_at;

	if (now < *kill_at)
		return 0;
	kill(whom, is_first ? SIGTERM : SIGKILL);
	*kill_at = now + grace_s;
	return !is_first;
}

/* Ends the process and its children, which may survive it. */
static int end_group(pid_t pid, struct process_status *status,
		     struct error *err)
{
	double kill_at = 0;
	int ended = 0;

	while (!process_end(-pid, END_S, &kill_at)) {
		if (!ended)
			ended = process_ended(pid, status, err);
		if (ended < 0)
			return -1;
		if (ended && kill(-pid, 0))
			return 0; /* the group is empty */
		clock_sleep(LOOK_S);
	}
	return ended ? 0 : process_wait(pid, status, err);
}

int process_run(const char *const *argv, const struct process_setting *setting,
		double seconds, struct process_status *status,
		struct error *err)
{
	struct process_setting own = *setting;
	const double deadline = clock_now() + seconds;
	pid_t pid;
	int ended;

	own.own_group = 1;
	if (process_start(argv, &own, &pid, err))
		return -1;
	while (!(ended = process_ended(pid, status, err)) &&
	       clock_now() < deadline && !interrupt_signal())
		clock_sleep(LOOK_S);
	if (ended)
		return ended < 0 ? -1 : 0;
	if (end_group(pid, status, err))
		return -1;
	if (interrupt_signal())
		return error_set(err, ERROR_STOPPED, "interrupted");
	return error_set(err, ERROR_FAILED, "%s took longer than %g s and was "
			 "ended", argv[0], seconds);
}

/* Reads once from a pipe, and removes the last line end. */
static void read_pipe(int pipe, char *text, size_t size)
{
	ssize_t count = read(pipe, text, size - 1);

	count -= count > 0 && text[count - 1] == '\n';
	text[count > 0 ? count : 0] = '\0';
}

static const char *one_line(char *text)
{
	for (char *at = text; (at = strpbrk(at, "\n\t"));)
		*at = ' ';
	return text;
}

int process_read(const char *const *argv, double seconds, int is_strict,
		 char *text, size_t size, struct error *err)
{
	struct process_setting setting = { 0 };
	struct process_status status;
	int out[2], errors[2], failed;
	char said[600];

	if (pipe2(out, O_CLOEXEC | O_NONBLOCK))
		return error_set(err, ERROR_FAILED, "no pipe: %s",
				 strerror(errno));
	if (pipe2(errors, O_CLOEXEC | O_NONBLOCK)) {
		close(out[0]);
		close(out[1]);
		return error_set(err, ERROR_FAILED, "no pipe: %s",
				 strerror(errno));
	}
	setting.stdout_fd = out[1];
	setting.stderr_fd = is_strict ? errors[1] : out[1];
	failed = process_run(argv, &setting, seconds, &status, err);
	read_pipe(out[0], text, size);
	read_pipe(errors[0], said, sizeof(said));
	for (int end = 0; end < 2; end++) {
		close(out[end]);
		close(errors[end]);
	}
	if (failed || !is_strict || !status.code)
		return failed;
	return said[0] ? error_set(err, ERROR_FAILED, "%s", one_line(said)) :
			 error_set(err, ERROR_FAILED, "%s failed", argv[0]);
}
