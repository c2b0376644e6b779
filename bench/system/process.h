/* Finds, starts and waits for other programs, without a shell. Reads the
 * resources that processes have used. */
#ifndef BENCH_SYSTEM_PROCESS_H
#define BENCH_SYSTEM_PROCESS_H

#include <sys/types.h>

#include "backends/contract/error.h"

#define PROCESS_GRACE_S 5 /* from SIGTERM to SIGKILL */

/* Owner of a usage. */
enum usage_of {
	USAGE_THREAD,	/* the calling thread */
	USAGE_PROCESS,	/* all threads of this process */
	USAGE_CHILDREN, /* children that have ended and were waited for */
};

struct usage {
	double user_s, system_s; /* CPU time */
	long maxrss_bytes; /* peak memory; of children: the largest one's */
	long voluntary_switches, involuntary_switches; /* context switches */
};

struct usage usage_read(enum usage_of whose);

/*
 * Returns the memory that this process alone uses now, plus its share of memory
 * that processes map together, in bytes. These add up over the cores of a run;
 * the peak of the process that they were forked from has the rest. Returns the
 * peak if the kernel reports no share.
 */
long usage_own_memory(void);

/* The end of a process. */
struct process_status {
	int code;   /* exit code; -1 if a signal ended it */
	int signal; /* that signal, or 0 */
	/* Usage of the process and of its children that it waited for. The peak
	 * memory is the largest one's, but at least ours at its start: the
	 * kernel counts it from there. */
	struct usage usage;
};

/* Returns 1 if a program of this name can be started from $PATH. */
int process_find_program(const char *name);

#define PROCESS_NOWHERE -2 /* output is discarded */

/* Settings for a new program. */
struct process_setting {
	const char *folder;	  /* working folder; NULL = ours */
	/* Standard files; -1 = ours; or PROCESS_NOWHERE. */
	int stdout_fd, stderr_fd;
	/* NAME=VALUE, ends with NULL; NULL = ours */
	const char *const *environment;
	/* 1: it gets a process group of its own. SIGINT and SIGTERM are then
	 * not ignored in it, and this process has to send them. */
	int own_group;
};

/*
 * Starts argv[0], found in $PATH unless it has a slash, with the arguments
 * argv, which ends with NULL. Its standard input is empty. No signal is blocked
 * in it, and SIGPIPE and SIGXFSZ have their default action; other signals that
 * we ignore stay ignored.
 *
 * Fails with ERROR_MISSING if the program does not exist. After a success the
 * caller must wait for *pid.
 */
int process_start(const char *const *argv,
		  const struct process_setting *setting, pid_t *pid,
		  struct error *err);

/* Restarts this program in this process with one more variable, NAME=VALUE, and
 * its name in the list BENCH_SET. Returns only if that fails. */
int process_restart(char *const *argv, const char *variable,
		    struct error *err);

/* Waits for the end of a process. Signals that we handle do not interrupt
 * it. */
int process_wait(pid_t pid, struct process_status *status, struct error *err);

/* Writes "ended by signal 9 (Killed)" or "ended with exit code 1". */
void process_describe(const struct process_status *status, char *text,
		      size_t size);

/* Returns 1 and the status if the process has ended, 0 if it has not, -1 on
 * error. Does not wait. */
int process_ended(pid_t pid, struct process_status *status, struct error *err);

/*
 * Returns a descriptor that poll() finds readable once our child has ended. The
 * caller closes it. Returns -1 if the system supports none; then poll
 * process_ended().
 */
int process_watch(pid_t pid);

/* Makes the system end this process by SIGKILL when its parent ends. */
void process_end_with_parent(void);

/*
 * Limits the size of files that the process writes from now on. Exceeding it
 * ends the process by SIGXFSZ, without a core file, or fails if it ignores that
 * signal.
 */
void process_limit_files(pid_t pid, unsigned long bytes);

/*
 * Ends a process, or a group by -pid. Call it until it has ended: it sends
 * SIGTERM and, grace_s later, SIGKILL; then it returns 1. *kill_at, the time of
 * SIGKILL, must start with 0.
 */
int process_end(pid_t whom, double grace_s, double *kill_at);

/* Sets a variable for programs that are started later. */
int process_set(const char *variable, const char *value, struct error *err);

/* Removes a variable for programs that are started later. */
void process_unset(const char *variable);

/*
 * Runs a program and waits for it, at most this many seconds (INFINITY = no
 * limit). It always gets a process group of its own. The group is ended after
 * that time (ERROR_FAILED) or after a signal to this process (ERROR_STOPPED).
 * It gets SIGTERM and, a little more than PROCESS_GRACE_S later, SIGKILL.
 */
int process_run(const char *const *argv, const struct process_setting *setting,
		double seconds, struct process_status *status,
		struct error *err);

/*
 * Runs a program and reads its standard output into text, as much as fits,
 * without the last line end. If is_strict, an exit code other than 0 is
 * ERROR_FAILED with its standard error in one line. Otherwise the exit code is
 * ignored, and text also has its standard error. Output beyond the size of a
 * pipe is lost.
 */
int process_read(const char *const *argv, double seconds, int is_strict,
		 char *text, size_t size, struct error *err);

#endif
