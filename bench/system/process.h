/*
 * Other programs: found, started and waited for, without a shell; and what
 * processes have used.
 */
#ifndef BENCH_SYSTEM_PROCESS_H
#define BENCH_SYSTEM_PROCESS_H

#include <sys/types.h>

#include "backends/contract/error.h"

#define PROCESS_GRACE_S 5 /* from a polite end to a rude one */

/* What the system has counted so far. */
enum usage_of {
	USAGE_THREAD,	/* the calling one */
	USAGE_PROCESS,	/* all its threads */
	USAGE_CHILDREN, /* those that have ended and were waited for */
};

struct usage {
	double user_s, system_s; /* CPU time */
	long maxrss_bytes;	 /* peak memory; of children: the largest's */
	long voluntary_switches, involuntary_switches; /* of context */
};

struct usage usage_read(enum usage_of whose);

/*
 * Memory that this process has for itself now, with its share of what
 * processes have mapped together: bytes that add up over the cores of a run
 * and the process that they were forked from, whose peak has the rest. Its
 * peak where the kernel does not tell.
 */
long usage_own_memory(void);

/* How a process ended. */
struct process_status {
	int code;   /* exit code, or -1 when a signal ended it */
	int signal; /* that signal, or 0 */
	/* Of it and of all that it waited for. The peak memory is that of the
	 * largest, but at least ours when it was started, which the kernel
	 * takes for the beginning of its own. */
	struct usage usage;
};

/* Whether a program of this name can be started from $PATH. */
int process_find_program(const char *name);

#define PROCESS_NOWHERE -2 /* what is written there is lost */

/* What a program is started with. */
struct process_setting {
	const char *folder;	  /* that it works in; NULL: ours */
	/* Its standard files; -1: ours; or PROCESS_NOWHERE. */
	int stdout_fd, stderr_fd;
	/* NAME=VALUE up to a NULL; NULL: ours. */
	const char *const *environment;
	/* A process group of its own, in which SIGINT and SIGTERM, which are
	 * then ours to send, are not ignored either. */
	int own_group;
};

/*
 * Starts argv[0], looked up in $PATH unless it has a slash, with the arguments
 * argv up to a NULL. Its standard input is empty. No signal is blocked in it,
 * and SIGPIPE and SIGXFSZ have their default action; others that we ignore it
 * ignores.
 *
 * A program that is not there is ERROR_MISSING. On success the caller waits
 * for *pid.
 */
int process_start(const char *const *argv,
		  const struct process_setting *setting, pid_t *pid,
		  struct error *err);

/*
 * Starts this program anew in this process with one more variable, NAME=VALUE,
 * and its name added to the list BENCH_SET. Returns only when that fails.
 */
int process_restart(char *const *argv, const char *variable,
		    struct error *err);

/* Waits for the end of a process, through any signal that we handle. */
int process_wait(pid_t pid, struct process_status *status, struct error *err);

/* "ended by signal 9 (Killed)", or "ended with exit code 1". */
void process_describe(const struct process_status *status, char *text,
		      size_t size);

/* Has it ended? 1 and its status, without waiting; 0; or -1. */
int process_ended(pid_t pid, struct process_status *status, struct error *err);

/*
 * A descriptor that poll() finds readable once our child has ended, for the
 * caller to close; -1 if the system has none, and process_ended has to be asked
 * often.
 */
int process_watch(pid_t pid);

/* The system ends this process by SIGKILL when the process that started it has
 * ended. */
void process_end_with_parent(void);

/*
 * From now on the process makes no file longer than that: what it writes beyond
 * ends it by SIGXFSZ, without a core, or fails if it ignores that.
 */
void process_limit_files(pid_t pid, unsigned long bytes);

/*
 * Ends a process, or a group by -pid, when it is called until it has ended: by
 * SIGTERM, and, where that does not do, by SIGKILL grace_s later; then it
 * returns 1. *kill_at, when that is, begins with 0.
 */
int process_end(pid_t whom, double grace_s, double *kill_at);

/* What is started from now on has the variable. */
int process_set(const char *variable, const char *value, struct error *err);

/* ... or does not have it. */
void process_unset(const char *variable);

/*
 * Runs a program and waits for it, so many seconds at most; INFINITY: as long
 * as it takes. It is in a process group of its own, whatever the setting says,
 * which is ended when they have passed (ERROR_FAILED), or when we are
 * interrupted (ERROR_STOPPED): by SIGTERM, and, where that does not do, by
 * SIGKILL a little more than PROCESS_GRACE_S later.
 */
int process_run(const char *const *argv, const struct process_setting *setting,
		double seconds, struct process_status *status,
		struct error *err);

/*
 * The same of a program that prints little: text gets as much of its standard
 * output as fits, without the last line end. If is_strict, a program that does
 * not end with 0 is ERROR_FAILED with its standard error in one line. Else its
 * exit code is ignored, and text has its standard error, too. A program that
 * prints more than a pipe holds cannot write the rest.
 */
int process_read(const char *const *argv, double seconds, int is_strict,
		 char *text, size_t size, struct error *err);

#endif
