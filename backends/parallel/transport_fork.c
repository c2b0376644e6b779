/*
 * Transport of one process per core, as xmp.spawn with start_method='fork'.
 *
 * The launching process is no core. It waits for all cores, so that it notices
 * at once when one dies. Each core has a pipe to it, which carries the core's
 * result and closes when the core ends.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backends/parallel/fork_core.h"

#define POLL_MS 100 /* delay, at most, until a signal is passed on */
#define SHORT_S 1   /* after a failure, for cores that have not noticed it */
#define LONG_S 5    /* for cores that have, and clean up */

struct worker {
	pid_t pid;
	int home;     /* reading end of its pipe; -1 = it has ended */
	int reported; /* 1 = its result has arrived */
};

/* Time that the others have once one core has failed. */
enum patience { UNLIMITED, SHORT, LONG };

struct launcher {
	struct fork_work work; /* data for each core */
	int timer;
	enum patience patience;
	int size, running, passed_on;
	struct worker workers[GROUP_MAX_SIZE];
	struct ending endings[GROUP_MAX_SIZE];
};

/* Starts a core; returns 0, or an error number if no process can be started. */
static int start(struct launcher *launcher, const struct transport *transport,
		 int rank)
{
	const struct group group = { .transport = transport,
				     .rank = rank,
				     .size = launcher->size };
	struct worker *worker = &launcher->workers[rank];
	int ends[2], number;

	if (pipe2(ends, O_CLOEXEC))
		return errno;
	worker->pid = fork();
	number = errno;
	if (worker->pid == 0) {
		/* Else a pipe would outlive its core. */
		for (int r = 0; r < rank; r++)
			close(launcher->workers[r].home);
		close(ends[0]);
		fork_core_live(&launcher->work, &group, ends[1]);
	}
	close(ends[1]);
	if (worker->pid < 0) {
		close(ends[0]);
		return number;
	}
	worker->home = ends[0];
	launcher->running++;
	return 0;
}

static void describe_death(const struct worker *worker, pid_t waited,
			   int status, struct ending *ending)
{
	ending->result = -1;
	if (waited < 0)
		error_set(&ending->err, ERROR_FAILED,
			  "process %ld ended before its work was done",
			  (long)worker->pid);
	else if (WIFSIGNALED(status))
		error_set(&ending->err, ERROR_FAILED,
			  "process %ld was ended by signal %d (%s)%s",
			  (long)worker->pid, WTERMSIG(status),
			  strsignal(WTERMSIG(status)),
			  WTERMSIG(status) == SIGKILL ?
				  ", possibly by the kernel's out-of-memory "
				  "killer" :
				  "");
	else
		error_set(&ending->err, ERROR_FAILED,
			  "process %ld ended with exit code %d before its work "
			  "was done", (long)worker->pid, WEXITSTATUS(status));
}

/* Waits for a core that has died or has ended. */
static void bury(struct launcher *launcher, int rank)
{
	struct worker *worker = &launcher->workers[rank];
	int status = 0;
	pid_t waited;

	do
		waited = waitpid(worker->pid, &status, 0);
	while (waited < 0 && errno == EINTR);
	if (!worker->reported)
		describe_death(worker, waited, status,
			       &launcher->endings[rank]);
	close(worker->home);
	worker->home = -1;
	launcher->running--;
}

/* Reads a result, or the end of the pipe. */
static void hear(struct launcher *launcher, int rank)
{
	struct worker *worker = &launcher->workers[rank];
	struct ending ending;
	ssize_t count;

	/* A pipe delivers so small a message in one piece. */
	do
		count = read(worker->home, &ending, sizeof(ending));
	while (count < 0 && errno == EINTR);
	if (count == (ssize_t)sizeof(ending)) {
		launcher->endings[rank] = ending;
		worker->reported = 1;
	} else {
		bury(launcher, rank);
	}
	if (launcher->endings[rank].result)
		meeting_fail(&launcher->work.shared->meeting);
}

static void send_signal(struct launcher *launcher, int rank, int number)
{
	struct worker *worker = &launcher->workers[rank];

	if (worker->home < 0)
		return;
	kill(worker->pid, number);
}

static void set_patience(struct launcher *launcher, enum patience patience)
{
	const struct itimerspec end = {
		.it_value.tv_sec = patience == SHORT ? SHORT_S : LONG_S,
	};

	launcher->patience = patience;
	timerfd_settime(launcher->timer, 0, &end, NULL);
}

/* Cores that all stop on request may write their results first. */
static enum patience patience_after(const struct launcher *launcher)
{
	enum patience found = UNLIMITED;

	for (int r = 0; r < launcher->size; r++) {
		const struct ending *ending = &launcher->endings[r];

		if (ending->result && ending->err.kind != ERROR_STOPPED)
			return SHORT;
		if (ending->result)
			found = LONG;
	}
	return found;
}

/* Kills cores that have not ended in time after a failure. */
static void lose_patience(struct launcher *launcher)
{
	atomic_int *leaving = launcher->work.shared->meeting.leaving;

	for (int r = 0; r < launcher->size; r++) {
		if (launcher->patience == SHORT && atomic_load(&leaving[r]))
			continue;
		/* A killed core is not to blame, unless it has reported a
		 * failure before, however long it takes to end. */
		if (launcher->workers[r].home >= 0 &&
		    !launcher->workers[r].reported)
			atomic_store(&leaving[r], 1);
		send_signal(launcher, r, SIGKILL);
	}
	set_patience(launcher, LONG);
}

static void attend(struct launcher *launcher, int time_is_over)
{
	const struct group_job *job = launcher->work.job;
	const int caught = job->caught ? job->caught() : 0;

	for (int r = 0; caught && !launcher->passed_on && r < launcher->size;
	     r++)
		send_signal(launcher, r, caught);
	launcher->passed_on |= caught;
	if (launcher->patience != UNLIMITED && time_is_over)
		lose_patience(launcher);
	else if (launcher->patience == UNLIMITED &&
		 patience_after(launcher) != UNLIMITED)
		set_patience(launcher, patience_after(launcher));
}

static void wait_for_all(struct launcher *launcher)
{
	struct pollfd files[GROUP_MAX_SIZE + 1];

	while (launcher->running) {
		const nfds_t count = (nfds_t)launcher->size + 1;
		int news, over;

		for (int r = 0; r < launcher->size; r++)
			files[r] = (struct pollfd){ launcher->workers[r].home,
						    POLLIN, 0 };
		files[launcher->size] =
			(struct pollfd){ launcher->timer, POLLIN, 0 };
		news = poll(files, count, POLL_MS);
		for (int r = 0; news > 0 && r < launcher->size; r++)
			if (files[r].revents)
				hear(launcher, r);
		over = news > 0 && files[launcher->size].revents;
		attend(launcher, over);
	}
}

static int run_all(struct launcher *launcher, const struct transport *transport,
		   struct error *err)
{
	int started = 0, failed = 0;

	for (int r = 0; r < launcher->size; r++)
		launcher->workers[r].home = -1;
	/* Else each core would print what is still buffered. */
	fflush(NULL);
	while (started < launcher->size && !failed) {
		failed = start(launcher, transport, started);
		started += !failed;
	}
	if (failed) {
		meeting_fail(&launcher->work.shared->meeting);
		set_patience(launcher, SHORT);
	}
	wait_for_all(launcher);
	if (failed)
		return error_set(err, ERROR_FAILED,
				 "only %d of %d processes could be started: %s",
				 started, launcher->size, strerror(failed));
	return meeting_blame(&launcher->work.shared->meeting,
			     launcher->endings, err);
}

static int fork_launch(const struct transport *transport, int size,
		       const struct group_job *job, struct error *err)
{
	const size_t bytes = sizeof(struct fork_shared) + job->context_size;
	struct launcher launcher = {
		.work = { .job = job, .launcher = getpid() },
		.size = size,
	};
	int result = -1;

	launcher.work.shared = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (launcher.work.shared == MAP_FAILED)
		return error_memory(err, "what the cores share");
	/* It has no name, so that it disappears in any case. */
	launcher.work.memory = memfd_create("bench-cores", MFD_CLOEXEC);
	launcher.timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
	if (launcher.work.memory < 0 || launcher.timer < 0) {
		error_set(err, ERROR_FAILED, "no shared memory or no timer for "
			  "the cores: %s", strerror(errno));
		goto out;
	}
	if (job->context_size)
		memcpy(launcher.work.shared->context, job->context,
		       job->context_size);
	if (meeting_open(&launcher.work.shared->meeting, size, 1, err))
		goto out;
	result = run_all(&launcher, transport, err);
	meeting_close(&launcher.work.shared->meeting);
	if (job->context_size)
		memcpy(job->context, launcher.work.shared->context,
		       job->context_size);
out:
	if (launcher.work.memory >= 0)
		close(launcher.work.memory);
	if (launcher.timer >= 0)
		close(launcher.timer);
	munmap(launcher.work.shared, bytes);
	return result;
}

const struct transport fork_transport = {
	.name = "fork",
	.summary = "one process per core, in shared memory",
	.max_size = GROUP_MAX_SIZE,
	.launch = fork_launch,
	.gather = meeting_gather,
	.offer = fork_core_offer,
	.reduce_scatter = meeting_reduce_scatter,
	.all_gather = meeting_all_gather,
};
