/* Other programs: found, started and waited for. No shell is involved. */
#ifndef BENCH_SYSTEM_PROCESS_H
#define BENCH_SYSTEM_PROCESS_H

#include <sys/types.h>

#include "backends/contract/error.h"
#include "bench/system/usage.h"

#define PROCESS_GRACE_S 5 /* from a polite end to a rude one */

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

/*
 * Starts argv[0], looked up in $PATH unless it has a slash, with the arguments
 * argv up to a NULL. Its standard output becomes stdout_fd, or stays ours for
 * -1; standard error stays ours; standard input is empty. environment is a
 * list of NAME=VALUE up to a NULL, or NULL for ours. No signal is blocked in
 * it, and SIGPIPE has its default action; others that we ignore it ignores.
 *
 * A program that is not there is ERROR_MISSING. On success the caller waits
 * for *pid.
 */
int process_start(const char *const *argv, int stdout_fd,
		  const char *const *environment, pid_t *pid,
		  struct error *err);

/* The same in another folder, and with standard error in a file, too. */
struct process_setting {
	const char *folder;	   /* NULL: ours */
	int stdout_fd, stderr_fd; /* -1: ours */
	const char *const *environment;
	/* A process group of its own, in which SIGINT and SIGTERM, which are
	 * then ours to send, are not ignored either. */
	int own_group;
};
int process_start_in(const char *const *argv,
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

/* Has it ended? 1 and its status, without waiting; 0; or -1. */
int process_ended(pid_t pid, struct process_status *status, struct error *err);

/*
 * A descriptor that poll() finds readable once our child has ended, for the
 * caller to close; -1 if the system has none, and process_ended has to be asked
 * often.
 */
int process_watch(pid_t pid);

/*
 * From now on the process makes no file longer than that: what it writes beyond
 * ends it by SIGXFSZ, without a core, or fails if it ignores that.
 */
void process_limit_files(pid_t pid, unsigned long bytes);

/* What is started from now on does not have the variable. */
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

#endif
