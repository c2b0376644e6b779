#include "bench/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/clock.h"
#include "bench/csv.h"
#include "bench/forward.h"
#include "bench/interrupt.h"
#include "bench/process.h"

#define POLL_MS 100
#define RUN_FILE "/bench-run-XXXXXX"
#define GRACE_S 5 /* from a polite end to a rude one */

struct listener {
	pid_t pid;
	int pipe;
	double deadline; /* 0: none */
	int forwarded;	 /* a signal of ours has been passed on */
	int timed_out;
};

static int take_row(const void *row, void *context, struct error *err)
{
	struct child_result *result = context;
	struct observation *rows = result->rows;

	if (result->count == result->room) {
		size_t room = result->room ? 2 * result->room : 1024;

		rows = realloc(rows, room * sizeof(*rows));
		if (!rows)
			return error_memory(err, "the rows of a run");
		result->rows = rows;
		result->room = room;
	}
	rows[result->count++] = *(const struct observation *)row;
	return 0;
}

/* Signals go on to the child, once; past the deadline it is ended. */
static void attend(struct listener *listener)
{
	const int signal = interrupt_signal();
	const double now = clock_now();

	if (signal && !listener->forwarded) {
		kill(listener->pid, signal);
		listener->forwarded = 1;
	}
	if (!listener->deadline || now < listener->deadline)
		return;
	kill(listener->pid, listener->timed_out ? SIGKILL : SIGTERM);
	listener->timed_out = 1;
	listener->deadline = now + GRACE_S;
}

static int listen_to(struct listener *listener, struct csv_reader *reader,
		     struct error *err)
{
	struct pollfd ready = { .fd = listener->pipe, .events = POLLIN };
	char bytes[16384];
	ssize_t count;

	for (;;) {
		attend(listener);
		if (poll(&ready, 1, POLL_MS) <= 0)
			continue;
		count = read(listener->pipe, bytes, sizeof(bytes));
		if (count < 0 && errno == EINTR)
			continue;
		if (count <= 0)
			return 0;
		if (csv_reader_feed(reader, bytes, (size_t)count, err))
			return -1;
	}
}

static pid_t start(const struct options *options, const char *target,
		   const char *const *extra, int pipe, struct error *err)
{
	char **argv = forward_options(options, target, extra, err);
	pid_t pid = -1;

	if (!argv)
		return -1;
	if (process_start((const char *const *)argv, pipe, NULL, &pid, err))
		pid = -1;
	free(argv);
	return pid;
}

/* The child's own line about itself, if it could write one. */
static int read_run(const char *path, struct run *run)
{
	struct error ignored;
	size_t count;
	void *rows;

	if (csv_read(path, &run_rows, &rows, &count, &ignored))
		return -1;
	*run = *(struct run *)rows;
	free(rows);
	return 0;
}

static void begin_run(struct run *run, const char *target, const char *run_id)
{
	run_rows.clear(run);
	snprintf(run->run_id, sizeof(run->run_id), "%s", run_id);
	snprintf(run->target, sizeof(run->target), "%s", target);
	snprintf(run->status, sizeof(run->status), "error");
	clock_stamp(run->started_utc, sizeof(run->started_utc));
}

void child_blame(struct child_result *result, const char *target,
		 const char *run_id, const struct error *err)
{
	begin_run(&result->run, target, run_id);
	snprintf(result->run.reason, sizeof(result->run.reason), "%s",
		 err->message);
	result->run.exit_code = result->exit_code;
}

/* A line for a child that was ended before it could write its own. */
static void make_run(struct run *run, const char *target, const char *run_id,
		     const struct process_status *status, int timed_out)
{
	begin_run(run, target, run_id);
	if (timed_out)
		snprintf(run->reason, sizeof(run->reason),
			 "ended after --timeout");
	else if (status->signal)
		snprintf(run->reason, sizeof(run->reason),
			 "ended by signal %d (%s)", status->signal,
			 strsignal(status->signal));
	else
		snprintf(run->reason, sizeof(run->reason),
			 "ended with exit code %d", status->code);
}

static void finish(struct child_result *result, const struct listener *listener,
		   const struct process_status *status, const char *target,
		   const char *run_id, const char *run_file)
{
	result->exit_code = status->signal ? 128 + status->signal :
					     status->code;
	if (read_run(run_file, &result->run))
		make_run(&result->run, target, run_id, status,
			 listener->timed_out);
	result->run.exit_code = result->exit_code;
	if (listener->timed_out) {
		result->exit_code = ERROR_FAILED;
		snprintf(result->run.status, sizeof(result->run.status),
			 "partial");
		snprintf(result->run.reason, sizeof(result->run.reason),
			 "ended after --timeout");
	}
}

static int run_child(struct child_result *result, const struct options *options,
		     const char *target, const char *run_id,
		     const char *const *extra, const char *run_file,
		     struct error *err)
{
	struct listener listener = { .pid = -1 };
	struct process_status status;
	struct csv_reader *reader;
	int pipes[2], failed;

	if (pipe2(pipes, O_CLOEXEC))
		return error_set(err, ERROR_FAILED, "no pipe: %s",
				 strerror(errno));
	listener.pipe = pipes[0];
	reader = csv_reader_open(&observation_rows, target, take_row, result,
				 err);
	if (reader)
		listener.pid = start(options, target, extra, pipes[1], err);
	close(pipes[1]);
	failed = listener.pid < 0;
	if (options->timeout != OPTION_UNSET)
		listener.deadline = clock_now() + (double)options->timeout;
	if (!failed) {
		failed = listen_to(&listener, reader, err);
		if (failed) /* what it says cannot be understood */
			kill(listener.pid, SIGKILL);
		failed |= process_wait(listener.pid, &status, err);
	}
	if (!failed)
		finish(result, &listener, &status, target, run_id, run_file);
	csv_reader_close(reader);
	close(pipes[0]);
	return failed ? -1 : 0;
}

/* An empty file that only we can read: in $TMPDIR, or where there is room. */
static int make_run_file(char *path, size_t size, struct error *err)
{
	const char *const folders[] = { getenv("TMPDIR"), "/tmp", "/var/tmp",
					"." };
	int descriptor = -1;

	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]) &&
			   descriptor < 0; i++) {
		if (!folders[i] || !*folders[i] ||
		    strlen(folders[i]) > size - sizeof(RUN_FILE))
			continue;
		snprintf(path, size, "%s" RUN_FILE, folders[i]);
		descriptor = mkstemp(path);
	}
	if (descriptor < 0)
		return error_set(err, ERROR_OUTPUT,
				 "a file for the run's row can be made neither "
				 "in $TMPDIR, /tmp and /var/tmp nor here: %s",
				 strerror(errno));
	close(descriptor);
	return 0;
}

int child_measure(struct child_result *result, const struct options *options,
		  const char *target, const char *run_id,
		  const char *campaign_id, struct error *err)
{
	char run_file[512], words[3][600];
	const char *const extra[] = { words[0], words[1], words[2], NULL };
	int failed;

	*result = (struct child_result){ 0 };
	if (make_run_file(run_file, sizeof(run_file), err))
		return -1;
	snprintf(words[0], sizeof(words[0]), "--run-file=%s", run_file);
	snprintf(words[1], sizeof(words[1]), "--run-id=%s", run_id);
	snprintf(words[2], sizeof(words[2]), "--campaign-id=%s", campaign_id);
	failed = run_child(result, options, target, run_id, extra, run_file,
			   err);
	unlink(run_file);
	return failed;
}

void child_release(struct child_result *result)
{
	free(result->rows);
	*result = (struct child_result){ 0 };
}
