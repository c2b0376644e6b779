/*
 * Runs a test file for tests/run, and ends all that the file has started.
 *
 *   supervise FOLDER LIMIT SUITE COMMAND [ARGUMENT ...]
 *
 * The exit status is what COMMAND returned, or 124 if COMMAND neither ended nor
 * wrote anything for LIMIT seconds of its clock.
 *
 * The clock stands still while COMMAND waits for a CPU or a disk. It counts the
 * time in which all processes sleep and, while any of them could run, the CPU
 * time that they get. A disk may be slow as well: PoCL waits for it after every
 * file that it caches. FOLDER/clock has the milliseconds, for tests that wait
 * (within, in tests/command/command.sh).
 *
 * Processes that COMMAND leaves are named on standard output and ended. The
 * kernel gives every orphan to this process, so none is missed.
 *
 * FOLDER/usage has, in one line: the CPU time of COMMAND, the CPU time that
 * processes outside of SUITE took from the CPUs of SUITE meanwhile, the time
 * that passed, all in milliseconds, and the number of processes that were left.
 * SUITE is the process of tests/run.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PAUSE_MS 100    /* between two looks at all processes */
#define GRACE_MS 3000   /* of the clock, for processes that are about to end */
#define STAGE_MS 120000 /* for them, where the clock stands still */
#define MOST_KILLS 2    /* then what cannot be killed is left */
#define MOST_LISTED 256
#define LATE 124 /* exit status where the limit was reached */

/* A process and its descendants. */
struct family {
	long ticks;   /* CPU time, ended descendants included */
	int runnable; /* threads that have or need a CPU or a disk */
	int count;    /* descendants that have not ended */
	pid_t list[MOST_LISTED]; /* the first of them */
};

static struct {
	pid_t command;
	int ended, status; /* of command; status as of waitpid() */
	int signal;	   /* that ends this process, or 0 */
	sigset_t heard;	   /* signals that wake it */
	int file;	   /* FOLDER/clock */
	long clock_ms;
	long seen_ms, seen_ticks; /* at the last look: time, CPU time */
} watched;

static void fail(const char *what)
{
	fprintf(stderr, "supervise: %s: %s\n", what, strerror(errno));
	exit(125);
}

static long now_ms(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

static long to_ms(long ticks)
{
	return ticks * 1000 / sysconf(_SC_CLK_TCK);
}

static FILE *open_task(pid_t pid, pid_t task, const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task/%d/%s", pid, task, name);
	return fopen(path, "r");
}

/* Returns the state in a stat file, or '\0' if its process or thread has ended.
 * Sets the CPU time in it, ended children included. Closes the file. */
static char read_stat(FILE *file, long *ticks)
{
	char line[1024] = "", state = '\0', *end;
	long own[4];

	if (!file)
		return '\0';
	if (fgets(line, sizeof(line), file) && (end = strrchr(line, ')')) &&
	    sscanf(end, ") %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u "
		   "%ld %ld %ld %ld", &state, &own[0], &own[1], &own[2],
		   &own[3]) == 5)
		*ticks = own[0] + own[1] + own[2] + own[3];
	fclose(file);
	return state;
}

/* Adds a process and all below it. A name in /proc/PID/task is a thread. */
static void explore(struct family *family, pid_t pid)
{
	char path[64];
	DIR *tasks;
	const struct dirent *entry;
	long ticks = 0, of_thread;
	int alive = 0;

	/* CPU time of all threads, including ended ones. */
	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	read_stat(fopen(path, "r"), &ticks);
	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	tasks = opendir(path);
	while (tasks && (entry = readdir(tasks))) {
		const pid_t task = (pid_t)strtol(entry->d_name, NULL, 10);
		FILE *children = task ? open_task(pid, task, "children") : NULL;
		char state = task ? read_stat(open_task(pid, task, "stat"),
					      &of_thread) : '\0';
		int child;

		if (pid != getpid())
			family->runnable += state == 'R' || state == 'D';
		alive |= state && state != 'Z' && state != 'X';
		while (children && fscanf(children, "%d", &child) == 1)
			explore(family, (pid_t)child);
		if (children)
			fclose(children);
	}
	if (tasks)
		closedir(tasks);
	family->ticks += ticks;
	if (alive && pid != getpid() && family->count++ < MOST_LISTED)
		family->list[family->count - 1] = pid;
}

/* Moves the clock on, and finds who is there. */
static void look(struct family *family)
{
	long passed, used;
	char text[32];

	*family = (struct family){ 0 };
	explore(family, getpid());
	passed = now_ms() - watched.seen_ms;
	used = to_ms(family->ticks - watched.seen_ticks);
	if (used < 0)
		used = 0;
	watched.clock_ms += family->runnable && used < passed ? used : passed;
	watched.seen_ms += passed;
	watched.seen_ticks = family->ticks;
	snprintf(text, sizeof(text), "%013ld\n", watched.clock_ms);
	if (pwrite(watched.file, text, strlen(text), 0) < 0)
		fail("clock");
}

/* Sleeps until it is time to look again, or a child has ended. */
static void rest(void)
{
	const long left = watched.seen_ms + PAUSE_MS - now_ms();
	const struct timespec time = {
		.tv_nsec = left > 0 ? left * 1000000 : 0,
	};
	const int signal = sigtimedwait(&watched.heard, NULL, &time);
	int status;
	pid_t pid;

	if (signal > 0 && signal != SIGCHLD)
		watched.signal = signal;
	while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
		if (pid == watched.command) {
			watched.ended = 1;
			watched.status = status;
		}
}

/* Returns when the command has ended, has been silent for the limit, or a
 * signal asks for the end. */
static void watch(long limit_ms)
{
	struct family family;
	struct stat log = { 0 };
	off_t written = 0;
	long heard_ms = 0;

	while (!watched.ended && !watched.signal &&
	       watched.clock_ms - heard_ms < limit_ms) {
		rest();
		look(&family);
		if (!fstat(STDOUT_FILENO, &log) && log.st_size != written) {
			written = log.st_size;
			heard_ms = watched.clock_ms;
		}
	}
}

static void name_processes(const struct family *family, const char *fate)
{
	for (int i = 0; i < family->count && i < MOST_LISTED; i++) {
		const pid_t pid = family->list[i];
		FILE *file = open_task(pid, pid, "cmdline");
		char text[256] = "";
		size_t size = file ? fread(text, 1, sizeof(text) - 1, file) : 0;

		for (size_t c = 0; c + 1 < size; c++)
			if (!text[c])
				text[c] = ' ';
		printf("supervise: %s process %d: %s\n", fate, pid, text);
		if (file)
			fclose(file);
	}
	fflush(stdout);
}

/* Waits until all have ended, or their time is over. */
static void await_ends(struct family *family)
{
	const long until_ms = watched.clock_ms + GRACE_MS;
	const long late_ms = now_ms() + STAGE_MS;

	do {
		rest();
		look(family);
	} while (family->count && watched.clock_ms < until_ms &&
		 now_ms() < late_ms);
}

/* Ends what the command has left, or everything where it has not ended. Returns
 * how many processes the command has left. Names processes that cannot be
 * killed: another user's, or such as wait for a broken disk. */
static int end_all(void)
{
	/* What ends by itself in that time was not left. */
	static const int signals[] = { 0, SIGTERM, SIGKILL };
	struct family family;
	int left = 0, kills = 0;

	look(&family);
	for (size_t s = watched.ended ? 0 : 1; s < 3 && family.count; s++) {
		if (signals[s] == SIGTERM) {
			name_processes(&family, "ends");
			left = watched.ended ? family.count : 0;
		}
		for (int i = 0; i < family.count && i < MOST_LISTED; i++)
			kill(family.list[i], signals[s]);
		await_ends(&family);
		/* Whoever was started meanwhile. */
		s -= signals[s] == SIGKILL && ++kills < MOST_KILLS;
	}
	name_processes(&family, "cannot end");
	return left;
}

/* Ticks that all processes took from the CPUs that pid may use. */
static long taken_ticks(pid_t pid)
{
	FILE *file = fopen("/proc/stat", "r");
	char line[512];
	cpu_set_t cpus;
	long taken = 0, part[8];
	int cpu;

	if (sched_getaffinity(pid, sizeof(cpus), &cpus))
		fail("SUITE");
	while (file && fgets(line, sizeof(line), file))
		/* idle and iowait are nobody's */
		if (sscanf(line, "cpu%d %ld %ld %ld %ld %ld %ld %ld %ld", &cpu,
			   &part[0], &part[1], &part[2], &part[3], &part[4],
			   &part[5], &part[6], &part[7]) == 9 &&
		    CPU_ISSET(cpu, &cpus))
			taken += part[0] + part[1] + part[2] + part[5] +
				 part[6] + part[7];
	if (file)
		fclose(file);
	return taken;
}

/* Ticks that others took from the CPUs of a family, since it began. */
static long foreign_ticks(pid_t pid)
{
	struct family family = { 0 };
	const long taken = taken_ticks(pid);

	explore(&family, pid);
	return taken - family.ticks;
}

/* The signals are as a terminal's shell leaves them. In what a script starts in
 * the background, SIGINT is ignored, and tests send it. */
static pid_t start(char **words)
{
	static const int signals[] = { SIGHUP, SIGINT, SIGQUIT, SIGPIPE };
	const pid_t pid = fork();

	if (pid < 0)
		fail("fork");
	if (pid)
		return pid;
	for (size_t s = 0; s < sizeof(signals) / sizeof(signals[0]); s++)
		signal(signals[s], SIG_DFL);
	sigprocmask(SIG_UNBLOCK, &watched.heard, NULL);
	execvp(words[0], words);
	fail(words[0]);
	return -1;
}

static void begin(const char *folder)
{
	static const int signals[] = { SIGCHLD, SIGHUP, SIGINT, SIGTERM };
	char path[PATH_MAX];

	sigemptyset(&watched.heard);
	for (size_t s = 0; s < sizeof(signals) / sizeof(signals[0]); s++)
		sigaddset(&watched.heard, signals[s]);
	sigprocmask(SIG_BLOCK, &watched.heard, NULL);
	snprintf(path, sizeof(path), "%s/clock", folder);
	watched.file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	if (watched.file < 0 || setenv("TEST_CLOCK", path, 1) ||
	    prctl(PR_SET_CHILD_SUBREAPER, 1))
		fail(path);
}

static long cpu_ms(void)
{
	struct rusage usage;

	getrusage(RUSAGE_CHILDREN, &usage);
	return (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000 +
	       (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1000;
}

int main(int argc, char **argv)
{
	const char *folder = argc < 5 ? "" : argv[1];
	const pid_t suite = argc < 5 ? 0 : (pid_t)strtol(argv[3], NULL, 10);
	const long began_ms = now_ms();
	struct family family;
	char path[PATH_MAX];
	long foreign;
	FILE *file;
	int left, status;

	if (argc < 5)
		return 125;
	begin(folder);
	foreign = foreign_ticks(suite);
	watched.seen_ms = began_ms;
	look(&family); /* for who asks at once */
	watched.command = start(argv + 4);
	watch(strtol(argv[2], NULL, 10) * 1000);
	foreign = foreign_ticks(suite) - foreign;
	status = !watched.ended	     ? LATE :
		 WIFEXITED(watched.status) ? WEXITSTATUS(watched.status) :
					     128 + WTERMSIG(watched.status);
	left = end_all();
	snprintf(path, sizeof(path), "%s/usage", folder);
	file = fopen(path, "w");
	if (!file || fprintf(file, "%ld %ld %ld %d\n", cpu_ms(),
			     foreign > 0 ? to_ms(foreign) : 0,
			     now_ms() - began_ms, left) < 0 || fclose(file))
		fail(path);
	return status;
}
