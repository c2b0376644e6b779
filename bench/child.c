#include "bench/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bench/clock.h"
#include "bench/csv.h"
#include "bench/forward.h"
#include "bench/interrupt.h"
#include "bench/process.h"

#define POLL_MS 100 /* between two pauses, at most */
#define GRACE_S 5 /* from a polite end to a rude one */
#define NOTHING_YET (-2)

/* How the header of rows begins: the output of any other command does not. */
static const char rows_begin[] = "schema,";

enum output { OUTPUT_UNKNOWN, OUTPUT_ROWS, OUTPUT_OTHER };

struct listener {
	pid_t pid;
	int pipe;
	double began_at;
	double deadline; /* 0: none */
	int forwarded;	 /* the signal of ours that was passed on */
	int timed_out;
	const struct child_request *request;
	const struct child_ear *ear;
	enum output output;
	char begin[sizeof(rows_begin)]; /* while output is unknown */
	size_t begun;
};

/* A command's rows have names of their own. */
static int take_row(const void *given, void *context, struct error *err)
{
	const struct listener *listener = context;
	const struct child_request *request = listener->request;
	struct observation row = *(const struct observation *)given;

	if (request->words) {
		snprintf(row.run_id, sizeof(row.run_id), "%s",
			 request->run_id);
		snprintf(row.target, sizeof(row.target), "%s",
			 request->target);
	}
	return listener->ear->row(&row, listener->ear->context, err);
}

/* The first bytes say whether a command prints rows. */
static int take_bytes(struct listener *listener, struct csv_reader *reader,
		      const char *bytes, size_t count, struct error *err)
{
	const size_t needed = strlen(rows_begin);

	while (listener->output == OUTPUT_UNKNOWN && count) {
		listener->begin[listener->begun++] = *bytes++;
		count--;
		if (listener->begun < needed)
			continue;
		listener->output =
			memcmp(listener->begin, rows_begin, needed) ?
				OUTPUT_OTHER : OUTPUT_ROWS;
		if (listener->output == OUTPUT_ROWS &&
		    csv_reader_feed(reader, rows_begin, needed, err))
			return -1;
	}
	if (listener->output != OUTPUT_ROWS)
		return 0;
	return csv_reader_feed(reader, bytes, count, err);
}

/* Signals go on to the child, once; past the deadline it is ended. */
static void attend(struct listener *listener)
{
	const int signal = interrupt_signal();
	const double now = clock_now();

	if (signal && !listener->forwarded) {
		kill(listener->pid, signal);
		listener->forwarded = signal;
	}
	if (!listener->deadline || now < listener->deadline)
		return;
	kill(listener->pid, listener->timed_out ? SIGKILL : SIGTERM);
	listener->timed_out = 1;
	listener->deadline = now + GRACE_S;
}

/* Whatever is wrong with what a child hands over, no file of the user's is. */
static int blame_child(const char *words, struct error *err)
{
	const struct error cause = *err;

	if (cause.memory)
		return -1;
	return error_set(err, ERROR_FAILED, "%s: %.800s", words, cause.message);
}

/* Waits a while. Bytes, 0 at the end, -1 and errno, or NOTHING_YET. */
static ssize_t hear(int pipe, char *bytes, size_t size)
{
	struct pollfd ready = { .fd = pipe, .events = POLLIN };
	ssize_t count = poll(&ready, 1, POLL_MS);

	if (count == 0)
		return NOTHING_YET;
	if (count > 0)
		count = read(pipe, bytes, size);
	return count < 0 && errno == EINTR ? NOTHING_YET : count;
}

/* A child whose rows cannot be taken is told to end and heard out, so that it
 * can clean up behind itself. */
static int listen_to(struct listener *listener, struct csv_reader *reader,
		     struct error *err)
{
	char bytes[16384];
	ssize_t count;
	int failed = 0;

	for (;;) {
		attend(listener);
		listener->ear->pause(listener->ear->context);
		count = hear(listener->pipe, bytes, sizeof(bytes));
		if (count == NOTHING_YET)
			continue;
		if (count < 0 && !failed)
			failed = error_set(err, ERROR_FAILED, "its rows could "
					   "not be heard: %s", strerror(errno));
		if (count < 0) /* it might wait for us to hear more */
			kill(listener->pid, SIGKILL);
		if (count <= 0)
			return failed;
		if (failed || !take_bytes(listener, reader, bytes,
					  (size_t)count, err))
			continue;
		failed = err->kind != ERROR_INPUT ? -1 :
			blame_child("it printed what is no row", err);
		listener->deadline = clock_now();
	}
}

static pid_t start(const struct child_request *request, const char *run_file,
		   int pipe, struct error *err)
{
	struct options options = *request->options;
	char words[3][600], **argv;
	const char *const extra[] = { words[0], words[1], words[2], NULL };
	pid_t pid = -1;

	/* It is we who know how far the rows have come. */
	options.progress = "never";
	snprintf(words[0], sizeof(words[0]), "--run-file=%s", run_file);
	snprintf(words[1], sizeof(words[1]), "--run-id=%s", request->run_id);
	snprintf(words[2], sizeof(words[2]), "--campaign-id=%s",
		 request->campaign_id);
	if (request->words)
		return process_start(request->words, pipe,
				     request->environment, &pid, err) ?
			       -1 : pid;
	argv = forward_options(&options, request->program, request->target,
			       extra, err);
	if (!argv)
		return -1;
	if (process_start((const char *const *)argv, pipe,
			  request->environment, &pid, err))
		pid = -1;
	free(argv);
	return pid;
}

/* The child's own line about itself, if it could write one. */
static int read_run(const char *path, struct run *run, struct error *err)
{
	size_t count;
	void *rows;

	if (csv_read(path, &run_rows, &rows, &count, err))
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
static void make_run(struct run *run, const struct child_request *request,
		     const struct process_status *status)
{
	begin_run(run, request->target, request->run_id);
	if (status->signal)
		snprintf(run->reason, sizeof(run->reason),
			 "ended by signal %d (%s)", status->signal,
			 strsignal(status->signal));
	else
		snprintf(run->reason, sizeof(run->reason),
			 "ended with exit code %d", status->code);
}

/* A command says nothing about itself. */
static void make_command_run(struct run *run,
			     const struct child_request *request,
			     const struct process_status *status,
			     double total_s)
{
	make_run(run, request, status);
	if (!status->signal && !status->code) {
		snprintf(run->status, sizeof(run->status), "ok");
		run->reason[0] = '\0';
	}
	run->total_s = total_s;
}

/* Fails if what a child that went well says of itself cannot be read. */
static int finish(struct child_result *result, const struct listener *listener,
		  const struct process_status *status,
		  const struct child_request *request, const char *run_file,
		  struct error *err)
{
	struct run *run = &result->run;

	result->exit_code = status->signal ? 128 + status->signal :
					     status->code;
	if (request->words) {
		make_command_run(run, request, status,
				 clock_now() - listener->began_at);
	} else if (read_run(run_file, run, err)) {
		if (!result->exit_code || err->memory)
			return blame_child("ended well, but what it says of "
					   "itself cannot be read", err);
		make_run(run, request, status);
	}
	run->exit_code = result->exit_code;
	if (listener->timed_out) {
		result->exit_code = ERROR_FAILED;
		snprintf(run->status, sizeof(run->status), "partial");
		snprintf(run->reason, sizeof(run->reason),
			 "ended after --timeout");
	} else if (listener->forwarded && result->exit_code) {
		/* Whatever it was in the midst of, a compilation say, may end
		 * in an error. */
		snprintf(run->status, sizeof(run->status), "partial");
	}
	return 0;
}

static int run_child(struct child_result *result,
		     const struct child_request *request,
		     const struct child_ear *ear, const char *run_file,
		     struct error *err)
{
	struct listener listener = {
		.pid = -1,
		.began_at = clock_now(),
		.request = request,
		.ear = ear,
		.output = request->words ? OUTPUT_UNKNOWN : OUTPUT_ROWS,
	};
	struct process_status status;
	struct csv_reader *reader;
	int pipes[2], failed;

	if (pipe2(pipes, O_CLOEXEC))
		return error_set(err, ERROR_FAILED, "no pipe: %s",
				 strerror(errno));
	listener.pipe = pipes[0];
	reader = csv_reader_open(&observation_rows, request->target, take_row,
				 &listener, err);
	if (reader)
		listener.pid = start(request, run_file, pipes[1], err);
	close(pipes[1]);
	failed = listener.pid < 0;
	if (request->options->timeout != OPTION_UNSET)
		listener.deadline = listener.began_at +
				    (double)request->options->timeout;
	if (!failed) {
		failed = listen_to(&listener, reader, err);
		failed |= process_wait(listener.pid, &status, err);
	}
	if (!failed)
		failed = finish(result, &listener, &status, request, run_file,
				err);
	csv_reader_close(reader);
	close(pipes[0]);
	return failed ? -1 : 0;
}

int child_measure(struct child_result *result,
		  const struct child_request *request,
		  const struct child_ear *ear, struct error *err)
{
	char run_file[64];
	/* In memory, and handed down to the child, so that nothing is left
	 * behind if we are killed. */
	int descriptor = memfd_create("bench-run", 0), failed;

	*result = (struct child_result){ 0 };
	if (descriptor < 0)
		return error_set(err, ERROR_FAILED, "no memory file: %s",
				 strerror(errno));
	snprintf(run_file, sizeof(run_file), "/proc/self/fd/%d", descriptor);
	failed = run_child(result, request, ear, run_file, err);
	close(descriptor);
	return failed;
}
