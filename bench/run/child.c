#include "bench/run/child.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bench/run/listener.h"
#include "bench/options/forward.h"
#include "bench/record/csv.h"
#include "bench/system/clock.h"
#include "bench/system/process.h"

/* A terminal's Ctrl-C does not reach a group of its own: we pass it on. */
static int start_command(const struct child_request *request, int pipe,
			 pid_t *pid, struct error *err)
{
	const struct process_setting setting = {
		.stdout_fd = pipe,
		.stderr_fd = -1,
		.environment = request->environment,
		.own_group = 1,
	};

	return process_start(request->words, &setting, pid, err);
}

static pid_t start(const struct child_request *request, const char *run_file,
		   int pipe, struct error *err)
{
	struct options options = *request->options;
	char words[3][600], **argv;
	const char *const extra[] = { words[0], words[1], words[2], NULL };
	const struct process_setting setting = {
		.stdout_fd = pipe,
		.stderr_fd = -1,
		.environment = request->environment,
	};
	pid_t pid = -1;

	/* It is we who know how far the rows have come. */
	options.progress = "never";
	snprintf(words[0], sizeof(words[0]), "--run-file=%s", run_file);
	snprintf(words[1], sizeof(words[1]), "--run-id=%s", request->run_id);
	snprintf(words[2], sizeof(words[2]), "--campaign-id=%s",
		 request->campaign_id);
	if (request->words)
		return start_command(request, pipe, &pid, err) ? -1 : pid;
	argv = forward_options(&options, request->program, VERB_MEASURE,
			       request->target, extra, err);
	if (!argv)
		return -1;
	if (process_start((const char *const *)argv, &setting, &pid, err))
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
static void make_command_run(struct run *run, const struct listener *listener)
{
	const struct process_status *status = &listener->status;

	make_run(run, listener->request, status);
	if (!status->signal && !status->code) {
		snprintf(run->status, sizeof(run->status), "ok");
		run->reason[0] = '\0';
	}
	run->total_s = listener->ended_at - listener->began_at;
	command_usage_describe(run, &listener->usage, status);
}

/* Fails if what a child that went well says of itself cannot be read. */
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
		if (!result->exit_code || err->memory)
			return listener_blame("ended well, but what it says of "
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

/* From the start of the child to its end. */
static int attend_child(struct listener *listener, const char *run_file,
			int to_us, struct error *err)
{
	const struct child_request *request = listener->request;

	if (request->words)
		command_usage_begin(&listener->usage);
	listener->began_at = clock_now();
	if (request->options->timeout != OPTION_UNSET)
		listener->deadline = listener->began_at +
				     (double)request->options->timeout;
	listener->pid = start(request, run_file, to_us, err);
	close(to_us);
	if (listener->pid < 0)
		return -1;
	return listener_hear_out(listener, err);
}

static int run_child(struct child_result *result,
		     const struct child_request *request,
		     const struct child_ear *ear, const char *run_file,
		     struct error *err)
{
	struct listener listener;
	int pipes[2], failed;

	if (listener_open(&listener, request, ear, err))
		return -1;
	if (pipe2(pipes, O_CLOEXEC)) {
		listener_release(&listener);
		return error_set(err, ERROR_FAILED, "no pipe: %s",
				 strerror(errno));
	}
	listener.pipe = pipes[0];
	failed = attend_child(&listener, run_file, pipes[1], err) ||
		 finish(result, &listener, run_file, err);
	listener_release(&listener);
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
