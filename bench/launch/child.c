#include "bench/launch/child.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bench/launch/command_usage.h"
#include "bench/launch/launcher_log.h"
#include "bench/record/csv.h"
#include "bench/system/clock.h"
#include "bench/system/interrupt.h"
#include "bench/system/process.h"
#include "bench/system/text.h"

#define POLL_MS 100 /* between two pauses, at most */
#define LOOK_MS 1 /* without notice of a command's end */
#define NOTHING_YET (-2)
#define PIPE_BYTES 65536 /* in a pipe at once */
#define STDERR_AT_ONCE 4096 /* bytes */
#define AGAIN_S 0.5 /* from a signal for ranks to the next: none may be there */
#define ASK_S 5	    /* in which ranks may report whom they wait for */
/* Times for an interrupted child to end its iteration, or its start-up. */
#define CHILD_GRACE_S 60
#define CHILD_LONGER 3 /* times as long */
#define CHILD_START_S 300
#define RANKS_MEET_S 60 /* in which cores of several hosts must meet */

/* A child while its output is read, until its end. */
enum output { OUTPUT_UNKNOWN, OUTPUT_ROWS, OUTPUT_OTHER };

struct listener {
	pid_t pid;
	int pipe; /* -1: its other end is closed */
	int is_launcher;
	int launcher_stderr;	 /* -1: its other end is closed */
	struct launcher_log log; /* parsed from launcher_stderr */
	double passed_at; /* time of the last signal through the launcher */
	int watch; /* readable once it has ended; -1: it has, or no notice */
	struct process_status status; /* at the end */
	char started_utc[24];	      /* as in struct run */
	double began_at, ended_at;    /* ended_at: 0 before */
	struct command_usage usage;   /* of a command */
	double deadline; /* 0: none */
	int forwarded;	 /* signal of ours that was passed on; 0 = none */
	double forwarded_at; /* time of forwarded */
	double longest_s;    /* of the steps so far; 0: none */
	double kill_at;	 /* for process_end(); 0: it was not asked to end */
	int timed_out;
	int failed; /* 1: its output is no longer used */
	struct csv_reader *reader;
	const struct child_request *request;
	const struct row_sink *sink;
	enum output output;
	char begin[sizeof("schema,")]; /* while output is unknown */
	size_t begun;
};

/* Start of the header of rows. Other output does not start like this. */
static const char rows_begin[] = "schema,";

/* A command's rows have names of their own. */
static int pass_row(const void *given, void *context, struct error *err)
{
	struct listener *listener = context;
	const struct child_request *request = listener->request;
	struct observation row = *(const struct observation *)given;

	if (!strcmp(row.phase, "step") && row.elapsed_s > listener->longest_s)
		listener->longest_s = row.elapsed_s;
	if (request->words) {
		snprintf(row.run_id, sizeof(row.run_id), "%s",
			 request->run_id);
		snprintf(row.target, sizeof(row.target), "%s",
			 request->target);
	}
	return listener->sink->row(&row, listener->sink->context, err);
}

/* Prepares reading a child's output. Release listener after success. */
static int listener_open(struct listener *listener,
			 const struct child_request *request,
			 const struct row_sink *sink, struct error *err)
{
	*listener = (struct listener){
		.pid = -1,
		.pipe = -1,
		.launcher_stderr = -1,
		.watch = -1,
		.request = request,
		.sink = sink,
		.output = request->words ? OUTPUT_UNKNOWN : OUTPUT_ROWS,
	};
	listener->reader = csv_reader_open(&observation_rows, request->target,
					   pass_row, listener, err);
	return listener->reader ? 0 : -1;
}

static void listener_release(struct listener *listener)
{
	csv_reader_close(listener->reader);
	if (listener->watch >= 0)
		close(listener->watch);
}

/* Passes bytes on. The first ones show whether a command prints rows. */
static int feed_rows(struct listener *listener, const char *bytes,
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

/* The child, or a command and all that it started, as kill() has them. */
static pid_t whom(const struct listener *listener)
{
	return listener->request->words ? -listener->pid : listener->pid;
}

/* Ranks hear what a launcher passes on; itself it would end at once. */
static void signal_ranks(struct listener *listener, double now)
{
	if (now - listener->passed_at < AGAIN_S)
		return;
	kill(listener->pid, SIGUSR2);
	listener->passed_at = now;
}

/* Sets a deadline: an interrupted child or rank may hang, and its host may be
 * lost. */
static void limit_child(struct listener *listener, double now)
{
	const double grace = !listener->longest_s ? CHILD_START_S :
			     fmax(CHILD_GRACE_S,
				  CHILD_LONGER * listener->longest_s);

	if (!listener->deadline || listener->deadline > now + grace)
		listener->deadline = now + grace;
	/* Ranks may report whom they wait for. */
	else if (listener->is_launcher && listener->deadline < now + ASK_S)
		listener->deadline = now + ASK_S;
}

/* Signals go on to the child, once. */
static void pass_signals(struct listener *listener, double now)
{
	const int signal = interrupt_signal();

	if (signal && listener->is_launcher)
		signal_ranks(listener, now);
	if (!signal || listener->forwarded)
		return;
	if (!listener->is_launcher)
		kill(whom(listener), signal);
	listener->forwarded = signal;
	listener->forwarded_at = now;
	if (!listener->request->words)
		limit_child(listener, now);
	/* A command may ignore the signal. */
	else if (!listener->kill_at)
		listener->kill_at = now + PROCESS_GRACE_S;
}

/* Past the deadline it is ended. */
static void keep_deadline(struct listener *listener, double now)
{
	if (!listener->kill_at) {
		if (!listener->deadline || now < listener->deadline)
			return;
		/* The deadline of an interrupted one is limit_child()'s. */
		if (!listener->forwarded) {
			const int asks = listener->is_launcher &&
					 !listener->timed_out;

			listener->timed_out = 1;
			if (asks) {
				signal_ranks(listener, now);
				listener->deadline = now + ASK_S;
				return;
			}
		}
	}
	process_end(whom(listener), PROCESS_GRACE_S, &listener->kill_at);
}

static int has_stderr(const struct listener *listener)
{
	struct pollfd pipe = { listener->launcher_stderr, POLLIN, 0 };

	return poll(&pipe, 1, 0) > 0;
}

/* Open MPI may never report a host that is lost during start-up. */
static void end_unmet(struct listener *listener, double now)
{
	struct launcher_log *log = &listener->log;

	/* The first core prints rows only after the cores have met. */
	if (!listener->is_launcher || !log->hosts || log->met ||
	    listener->kill_at || listener->output == OUTPUT_ROWS ||
	    now < listener->began_at + RANKS_MEET_S ||
	    has_stderr(listener))
		return;
	if (!listener->forwarded)
		launcher_log_unmet(log, RANKS_MEET_S);
	process_end(whom(listener), PROCESS_GRACE_S, &listener->kill_at);
}

/* Checks the process: its pipe may close earlier, or others may hold it. */
static int check_ended(struct listener *listener, struct error *err)
{
	int ended;

	if (listener->ended_at > 0)
		return 0;
	ended = process_ended(listener->pid, &listener->status, err);
	if (ended <= 0)
		return ended;
	listener->ended_at = clock_now();
	if (listener->watch >= 0)
		close(listener->watch);
	listener->watch = -1;
	if (!listener->request->words)
		return 0;
	command_usage_end(&listener->usage);
	/* A shell's background jobs ignore SIGINT. */
	if (listener->forwarded == SIGINT)
		kill(whom(listener), SIGTERM);
	return 0;
}

/* A command that was asked to end has when all that it started has, too. */
static int is_over(const struct listener *listener)
{
	return listener->ended_at > 0 &&
	       (!listener->request->words || !listener->kill_at ||
		kill(-listener->pid, 0));
}

/* Errors in a child's output are not errors of the user's files. */
static int blame_child(const char *words, struct error *err)
{
	const struct error cause = *err;

	if (cause.memory)
		return -1;
	return error_set(err, ERROR_FAILED, "%s: %.800s", words, cause.message);
}

static void read_stderr(struct listener *listener)
{
	char bytes[STDERR_AT_ONCE];
	const ssize_t count =
		read(listener->launcher_stderr, bytes, sizeof(bytes));

	if (count > 0)
		launcher_log_feed(&listener->log, bytes, (size_t)count,
				  STDERR_FILENO);
	else if (!count || errno != EINTR)
		listener->launcher_stderr = -1;
}

/* Waits a while. Bytes, 0 at the end, -1 and errno, or NOTHING_YET. */
static ssize_t poll_output(struct listener *listener, int wait_ms, char *bytes,
			   size_t size)
{
	struct pollfd ready[] = {
		{ .fd = listener->pipe, .events = POLLIN },
		{ .fd = listener->watch, .events = POLLIN },
		{ .fd = listener->launcher_stderr, .events = POLLIN },
	};
	ssize_t count = poll(ready, 3, wait_ms);

	if (count > 0 && ready[2].revents)
		read_stderr(listener);
	if (count == 0 || (count > 0 && !ready[0].revents))
		return NOTHING_YET;
	if (count > 0)
		count = read(listener->pipe, bytes, size);
	return count < 0 && errno == EINTR ? NOTHING_YET : count;
}

/* Reads once. A child whose rows cannot be passed on is asked to end; its
 * remaining output is read, so that it can clean up. Returns the number of
 * bytes. */
static size_t read_some(struct listener *listener, int wait_ms,
			struct error *err)
{
	char bytes[16384];
	const ssize_t count =
		poll_output(listener, wait_ms, bytes, sizeof(bytes));

	if (count == NOTHING_YET)
		return 0;
	if (count < 0 && !listener->failed)
		listener->failed = error_set(err, ERROR_FAILED, "its rows "
					     "could not be read: %s",
					     strerror(errno));
	if (count < 0) /* it might wait until we read more */
		kill(whom(listener), SIGKILL);
	if (count <= 0) {
		listener->pipe = -1;
		return 0;
	}
	if (listener->failed ||
	    !feed_rows(listener, bytes, (size_t)count, err))
		return (size_t)count;
	/* A launcher reports lost ranks after their rows. */
	if (listener->is_launcher && err->kind == ERROR_INPUT) {
		listener->output = OUTPUT_OTHER;
		return (size_t)count;
	}
	listener->failed = err->kind != ERROR_INPUT ? -1 :
		blame_child("it printed something that is not a row", err);
	listener->deadline = clock_now();
	return (size_t)count;
}

/*
 * Reads the output of the child listener->pid until its end or
 * listener->deadline: see child_measure(). Fails if its rows cannot be passed
 * on; the child has ended then, too.
 */
static int read_to_end(struct listener *listener, struct error *err)
{
	size_t count = 1;
	int wait_ms;

	listener->watch = process_watch(listener->pid);
	wait_ms = listener->watch < 0 ? LOOK_MS : POLL_MS;
	for (;;) {
		if (check_ended(listener, err))
			return -1;
		if (is_over(listener))
			break;
		pass_signals(listener, clock_now());
		keep_deadline(listener, clock_now());
		listener->sink->pause(listener->sink->context);
		/* The ranks may have met while this process was stopped. */
		if (!read_some(listener, wait_ms, err))
			end_unmet(listener, clock_now());
	}
	/* Others may go on writing: reads no more than a pipe holds. */
	for (size_t got = 0; count && got < PIPE_BYTES; got += count)
		count = read_some(listener, 0, err);
	for (int i = 0; i < PIPE_BYTES / STDERR_AT_ONCE && has_stderr(listener);
	     i++)
		read_stderr(listener);
	if (listener->is_launcher)
		launcher_log_end(&listener->log, STDERR_FILENO);
	return listener->failed;
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
	row_clear(&run_rows, run);
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
static void make_run(struct run *run, const struct listener *listener)
{
	begin_run(run, listener->request->target, listener->request->run_id);
	snprintf(run->started_utc, sizeof(run->started_utc), "%s",
		 listener->started_utc);
	process_describe(&listener->status, run->reason, sizeof(run->reason));
}

/* Makes the run of a command, which has no row of its own. */
static void make_command_run(struct run *run, const struct listener *listener)
{
	const struct process_status *status = &listener->status;

	make_run(run, listener);
	if (!status->signal && !status->code) {
		snprintf(run->status, sizeof(run->status), "ok");
		run->reason[0] = '\0';
	}
	run->total_s = listener->ended_at - listener->began_at;
	command_usage_describe(run, &listener->usage, status);
}

/* Ranks that end with their launcher report nothing, and a rank that was asked
 * to stop got another signal than this process. */
static void blame_ranks(struct child_result *result,
			const struct listener *listener)
{
	const struct launcher_log *log = &listener->log;
	const char *why = log->lost;
	struct run *run = &result->run;

	/* Rank 0 left no row, or one of a run that went well. */
	if (!*why && (!run->backend[0] || !run->reason[0]))
		why = log->reset[0] && !log->is_ranks ? log->reset : log->said;
	if (*why)
		snprintf(run->reason, sizeof(run->reason), "%s", why);
	else if (!run->backend[0] && *log->other)
		text_append(run->reason, sizeof(run->reason), ": %s",
			    log->other);
	/* Whose words are more than that it was mute. */
	if (*why || *log->other)
		result->is_mute = 0;
	if (!run->exit_code)
		snprintf(run->status, sizeof(run->status), "error");
	if (*log->lost || why == log->reset)
		result->exit_code = ERROR_FAILED;
	if (listener->forwarded)
		result->exit_code = 128 + listener->forwarded;
}

static void describe_timeout(struct child_result *result,
			     const struct listener *listener)
{
	const struct launcher_log *log = &listener->log;
	struct run *run = &result->run;

	/* The timeout sent the signal. */
	result->exit_code = run->exit_code = ERROR_FAILED;
	snprintf(run->status, sizeof(run->status), "partial");
	snprintf(run->reason, sizeof(run->reason),
		 "ended after --timeout %lds%s%s",
		 listener->request->options->timeout, log->waits[0] ? "; " : "",
		 log->waits);
}

/* An interrupted child may fail for another reason, such as a compilation. */
static void describe_interrupt(struct run *run, const struct listener *listener)
{
	const struct launcher_log *log = &listener->log;

	snprintf(run->status, sizeof(run->status), "partial");
	if (listener->kill_at && !listener->request->words && !log->lost[0])
		snprintf(run->reason, sizeof(run->reason),
			 "interrupted, and ended %.0f s later%s%s",
			 listener->ended_at - listener->forwarded_at,
			 log->waits[0] ? "; " : "", log->waits);
}

/* Fails if the row of a child that succeeded cannot be read. */
static int finish(struct child_result *result, const struct listener *listener,
		  const char *run_file, struct error *err)
{
	const struct child_request *request = listener->request;
	const struct process_status *status = &listener->status;
	struct run *run = &result->run;

	result->exit_code = status->signal ? 128 + status->signal :
					     status->code;
	if (request->words) {
		make_command_run(run, listener);
	} else if (read_run(run_file, run, err)) {
		result->is_mute = !status->signal && !err->memory;
		if (err->memory)
			return -1;
		if (!result->exit_code)
			return error_set(err, ERROR_FAILED, "exited with code "
					 "0, but left no row about its run");
		make_run(run, listener);
	}
	if (listener->is_launcher && result->exit_code)
		blame_ranks(result, listener);
	else if (listener->is_launcher && listener->output == OUTPUT_OTHER)
		return error_set(err, ERROR_FAILED, "it printed something that "
				 "is not a row");
	run->exit_code = result->exit_code;
	if (listener->timed_out)
		describe_timeout(result, listener);
	else if (listener->forwarded && result->exit_code)
		describe_interrupt(run, listener);
	return 0;
}

/* Starts the child and reads its output to the end. */
static int start_and_read(struct listener *listener, const char *run_file,
			  int to_us, int stderr_to_us, struct error *err)
{
	const struct child_request *request = listener->request;

	if (request->words)
		command_usage_begin(&listener->usage);
	clock_stamp(listener->started_utc, sizeof(listener->started_utc));
	listener->began_at = clock_now();
	if (request->options->timeout != OPTION_UNSET)
		listener->deadline = listener->began_at +
				     (double)request->options->timeout;
	listener->pid = child_start(request, run_file, to_us, stderr_to_us,
				    err);
	close(to_us);
	if (stderr_to_us >= 0)
		close(stderr_to_us);
	if (listener->pid < 0)
		return -1;
	return read_to_end(listener, err);
}

static int run_child(struct child_result *result,
		     const struct child_request *request,
		     const struct row_sink *sink, const char *run_file,
		     struct error *err)
{
	struct listener listener;
	struct target target;
	int pipes[2], errors[2] = { -1, -1 }, failed;

	if (listener_open(&listener, request, sink, err))
		return -1;
	listener.is_launcher = child_is_launched(request, &target);
	if (listener.is_launcher)
		listener.output = OUTPUT_UNKNOWN;
	failed = pipe2(pipes, O_CLOEXEC);
	if (!failed && listener.is_launcher && pipe2(errors, O_CLOEXEC)) {
		close(pipes[0]);
		close(pipes[1]);
		failed = -1;
	}
	if (failed) {
		listener_release(&listener);
		return error_set(err, ERROR_FAILED, "no pipe: %s",
				 strerror(errno));
	}
	listener.pipe = pipes[0];
	listener.launcher_stderr = errors[0];
	listener.log.hosts = request->options->hosts;
	listener.log.cores = listener.is_launcher ? target.cores : 0;
	failed = start_and_read(&listener, run_file, pipes[1], errors[1],
				err) ||
		 finish(result, &listener, run_file, err);
	listener_release(&listener);
	close(pipes[0]);
	if (errors[0] >= 0)
		close(errors[0]);
	return failed ? -1 : 0;
}

int child_measure(struct child_result *result,
		  const struct child_request *request,
		  const struct row_sink *sink, struct error *err)
{
	char run_file[64];
	/* In memory and inherited by the child: nothing remains if this process
	 * is killed. */
	int descriptor = memfd_create("bench-run", 0), failed;

	*result = (struct child_result){ 0 };
	if (descriptor < 0)
		return error_set(err, ERROR_FAILED, "no memory file: %s",
				 strerror(errno));
	snprintf(run_file, sizeof(run_file), "/proc/%ld/fd/%d", (long)getpid(),
		 descriptor);
	failed = run_child(result, request, sink, run_file, err);
	close(descriptor);
	return failed;
}
