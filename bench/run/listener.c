#include "bench/run/listener.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "bench/system/clock.h"
#include "bench/system/interrupt.h"

#define POLL_MS 100 /* between two pauses, at most */
#define LOOK_MS 1 /* if nobody tells us that a command has ended */
#define NOTHING_YET (-2)
#define PIPE_BYTES 65536 /* in a pipe at once */

/* How the header of rows begins: the output of any other command does not. */
static const char rows_begin[] = LISTENER_ROWS_BEGIN;

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

int listener_open(struct listener *listener,
		  const struct child_request *request,
		  const struct child_ear *ear, struct error *err)
{
	*listener = (struct listener){
		.pid = -1,
		.pipe = -1,
		.watch = -1,
		.request = request,
		.ear = ear,
		.output = request->words ? OUTPUT_UNKNOWN : OUTPUT_ROWS,
	};
	listener->reader = csv_reader_open(&observation_rows, request->target,
					   take_row, listener, err);
	return listener->reader ? 0 : -1;
}

void listener_release(struct listener *listener)
{
	csv_reader_close(listener->reader);
	if (listener->watch >= 0)
		close(listener->watch);
}

/* The first bytes say whether a command prints rows. */
static int take_bytes(struct listener *listener, const char *bytes,
		      size_t count, struct error *err)
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
		    csv_reader_feed(listener->reader, rows_begin, needed,
				    err))
			return -1;
	}
	if (listener->output != OUTPUT_ROWS)
		return 0;
	return csv_reader_feed(listener->reader, bytes, count, err);
}

/* To the child, or to a command and all that it started. */
static void tell(const struct listener *listener, int signal)
{
	kill(listener->request->words ? -listener->pid : listener->pid, signal);
}

/* Signals go on to the child, once; past the deadline it is ended. */
static void attend(struct listener *listener)
{
	const int signal = interrupt_signal();
	const double now = clock_now();

	if (signal && !listener->forwarded) {
		tell(listener, signal);
		listener->forwarded = signal;
		/* A command may not know what that means. */
		if (listener->request->words && !listener->asked) {
			listener->asked = 1;
			listener->deadline = now + PROCESS_GRACE_S;
		}
	}
	if (!listener->deadline || now < listener->deadline)
		return;
	tell(listener, listener->asked ? SIGKILL : SIGTERM);
	listener->timed_out |= !listener->asked;
	listener->asked = 1;
	listener->deadline = now + PROCESS_GRACE_S;
}

/* Others may hold a command's pipe, or itself let go of it: it has ended when
 * its process has. */
static int look_after(struct listener *listener, struct error *err)
{
	int ended;

	if (!listener->request->words || listener->ended_at > 0)
		return 0;
	ended = process_ended(listener->pid, &listener->status, err);
	if (ended <= 0)
		return ended;
	listener->ended_at = clock_now();
	command_usage_end(&listener->usage);
	if (listener->watch >= 0)
		close(listener->watch);
	listener->watch = -1;
	/* What a shell starts with & is deaf to it. */
	if (listener->forwarded == SIGINT)
		tell(listener, SIGTERM);
	return 0;
}

/* A command that was asked to end has when all that it started has, too. */
static int is_over(const struct listener *listener)
{
	if (!listener->request->words)
		return listener->pipe < 0;
	return listener->ended_at > 0 &&
	       (!listener->asked || kill(-listener->pid, 0));
}

int listener_blame(const char *words, struct error *err)
{
	const struct error cause = *err;

	if (cause.memory)
		return -1;
	return error_set(err, ERROR_FAILED, "%s: %.800s", words, cause.message);
}

/* Waits a while. Bytes, 0 at the end, -1 and errno, or NOTHING_YET. */
static ssize_t hear(const struct listener *listener, int wait_ms, char *bytes,
		    size_t size)
{
	struct pollfd ready[] = {
		{ .fd = listener->pipe, .events = POLLIN },
		{ .fd = listener->watch, .events = POLLIN },
	};
	ssize_t count = poll(ready, 2, wait_ms);

	if (count == 0 || (count > 0 && !ready[0].revents))
		return NOTHING_YET;
	if (count > 0)
		count = read(listener->pipe, bytes, size);
	return count < 0 && errno == EINTR ? NOTHING_YET : count;
}

/* A child whose rows cannot be taken is told to end and heard out, so that it
 * can clean up behind itself. Returns how much it said. */
static size_t hear_some(struct listener *listener, int wait_ms,
			struct error *err)
{
	char bytes[16384];
	const ssize_t count = hear(listener, wait_ms, bytes, sizeof(bytes));

	if (count == NOTHING_YET)
		return 0;
	if (count < 0 && !listener->failed)
		listener->failed = error_set(err, ERROR_FAILED, "its rows "
					     "could not be heard: %s",
					     strerror(errno));
	if (count < 0) /* it might wait for us to hear more */
		tell(listener, SIGKILL);
	if (count <= 0) {
		listener->pipe = -1;
		return 0;
	}
	if (listener->failed ||
	    !take_bytes(listener, bytes, (size_t)count, err))
		return (size_t)count;
	listener->failed = err->kind != ERROR_INPUT ? -1 :
		listener_blame("it printed what is no row", err);
	listener->deadline = clock_now();
	return (size_t)count;
}

int listener_hear_out(struct listener *listener, struct error *err)
{
	const int is_command = listener->request->words != NULL;
	size_t count = 1;
	int wait_ms = POLL_MS;

	if (is_command) {
		listener->watch = process_watch(listener->pid);
		wait_ms = listener->watch < 0 ? LOOK_MS : POLL_MS;
	}
	for (;;) {
		if (look_after(listener, err))
			return -1;
		if (is_over(listener))
			break;
		attend(listener);
		listener->ear->pause(listener->ear->context);
		hear_some(listener, wait_ms, err);
	}
	/* What a command wrote before its end, no more: others may go on. */
	for (size_t heard = 0; count && heard < PIPE_BYTES; heard += count)
		count = hear_some(listener, 0, err);
	if (!is_command &&
	    process_wait(listener->pid, &listener->status, err))
		return -1;
	return listener->failed;
}
