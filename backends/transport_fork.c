/*
 * One process per core, as xmp.spawn with start_method='fork' has it.
 *
 * The launching process is no core: it waits for all of them, so that it hears
 * at once when one dies, whatever the others are doing. Each core has a pipe
 * home, which carries its outcome and closes when it dies.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backends/meeting.h"

#define POLL_MS 100	/* a signal is passed on so soon */
#define GRACE_POLLS 10	/* without news, before the last ones are killed */

/* Memory that all processes share; the context's bytes follow. */
struct shared {
	struct meeting meeting;
	_Alignas(max_align_t) char context[];
};

struct worker {
	pid_t pid;
	int home; /* reading end of its pipe; -1 when it has ended */
	int killed; /* by us */
};

struct crew {
	struct shared *shared;
	const struct group_job *job;
	pid_t launcher;
	int memory; /* for the vectors that are added; grows when needed */
	int size, running, idle_polls, passed_on;
	struct worker workers[GROUP_MAX_SIZE];
	struct outcome outcomes[GROUP_MAX_SIZE];
};

/* In the process of a core. */
struct core {
	struct member member; /* first: its group is what the body gets */
	int memory;
	float *mapped;
	size_t room; /* floats a rank */
};

static void release_vectors(struct core *core)
{
	const size_t ranks = (size_t)core->member.base.size;

	if (core->mapped)
		munmap(core->mapped, ranks * core->room * sizeof(float));
	core->mapped = NULL;
	core->room = 0;
}

/* Every rank asks for the same, so that all agree when it is too little. */
static int make_room(struct core *core, size_t count, struct error *err)
{
	const struct group *group = &core->member.base;
	const size_t bytes = (size_t)group->size * count * sizeof(float);
	int number = 0;

	if (count <= core->room)
		return 0;
	release_vectors(core);
	if (group->rank == 0)
		number = posix_fallocate(core->memory, 0, (off_t)bytes);
	if (number)
		return error_set(err, ERROR_FAILED, "out of shared memory for "
				 "the gradients: %zu bytes: %s", bytes,
				 strerror(number));
	if (meeting_barrier(&core->member, err))
		return -1;
	core->mapped = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
			    core->memory, 0);
	if (core->mapped == MAP_FAILED) {
		core->mapped = NULL;
		return error_memory(err, "the gradients of all cores");
	}
	core->room = count;
	return 0;
}

static int fork_sum(struct group *group, float *values, size_t count,
		    struct error *err)
{
	struct core *core = (struct core *)group;
	float *vectors[GROUP_MAX_SIZE];

	if (make_room(core, count, err))
		return -1;
	for (int r = 0; r < group->size; r++)
		vectors[r] = core->mapped + (size_t)r * core->room;
	return meeting_sum(&core->member, vectors, values, count, err);
}

/* The names that launchers of this field use. */
static int set_environment(const struct group *group, struct error *err)
{
	char rank[16], size[16];

	snprintf(rank, sizeof(rank), "%d", group->rank);
	snprintf(size, sizeof(size), "%d", group->size);
	if (setenv("RANK", rank, 1) || setenv("LOCAL_RANK", rank, 1) ||
	    setenv("WORLD_SIZE", size, 1))
		return error_memory(err, "RANK and WORLD_SIZE");
	return 0;
}

static void send_home(int home, const struct outcome *outcome)
{
	const char *bytes = (const char *)outcome;
	size_t sent = 0;

	while (sent < sizeof(*outcome)) {
		ssize_t count = write(home, bytes + sent,
				      sizeof(*outcome) - sent);

		if (count < 0 && errno != EINTR)
			return; /* nobody is there to hear it */
		sent += count > 0 ? (size_t)count : 0;
	}
}

/* What a core does from its birth to its end. */
static void live(struct crew *crew, const struct transport *transport, int rank,
		 int home)
{
	struct core core = {
		.member.base = { transport, rank, crew->size },
		.member.meeting = &crew->shared->meeting,
		.memory = crew->memory,
	};
	struct group *group = &core.member.base;
	struct outcome outcome = { 0 };

	/* It ends with the launcher, which may have ended before this line. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != crew->launcher)
		_exit(ERROR_FAILED);
	outcome.result = set_environment(group, &outcome.err) ||
			 crew->job->body(group, crew->shared->context,
					 &outcome.err);
	if (outcome.result)
		meeting_fail(core.member.meeting);
	release_vectors(&core);
	fflush(NULL);
	send_home(home, &outcome);
	_exit(outcome.result ? ERROR_FAILED : 0);
}

/* Returns 0, or an error number when no process can be had. */
static int start(struct crew *crew, const struct transport *transport, int rank)
{
	struct worker *worker = &crew->workers[rank];
	int ends[2], number;

	if (pipe2(ends, O_CLOEXEC))
		return errno;
	worker->pid = fork();
	number = errno;
	if (worker->pid == 0) {
		/* Else a pipe would outlive its core. */
		for (int r = 0; r < rank; r++)
			close(crew->workers[r].home);
		close(ends[0]);
		live(crew, transport, rank, ends[1]);
	}
	close(ends[1]);
	if (worker->pid < 0) {
		close(ends[0]);
		return number;
	}
	worker->home = ends[0];
	crew->running++;
	return 0;
}

static void describe_death(const struct worker *worker, int status,
			   struct outcome *outcome)
{
	outcome->result = -1;
	if (worker->killed)
		outcome_left_alone(&outcome->err);
	else if (WIFSIGNALED(status))
		error_set(&outcome->err, ERROR_FAILED,
			  "process %ld was ended by signal %d (%s)%s",
			  (long)worker->pid, WTERMSIG(status),
			  strsignal(WTERMSIG(status)),
			  WTERMSIG(status) == SIGKILL ?
				  ", as the kernel does when memory is short" :
				  "");
	else
		error_set(&outcome->err, ERROR_FAILED,
			  "process %ld ended with exit code %d before its work "
			  "was done", (long)worker->pid, WEXITSTATUS(status));
}

/* A core has ended, or is about to: its outcome is there. */
static void hear(struct crew *crew, int rank)
{
	struct worker *worker = &crew->workers[rank];
	struct outcome *outcome = &crew->outcomes[rank];
	ssize_t count;
	int status = 0;

	/* A pipe hands over so few bytes at once. */
	do
		count = read(worker->home, outcome, sizeof(*outcome));
	while (count < 0 && errno == EINTR);
	while (waitpid(worker->pid, &status, 0) < 0 && errno == EINTR)
		;
	if (count != (ssize_t)sizeof(*outcome))
		describe_death(worker, status, outcome);
	if (outcome->result)
		meeting_fail(&crew->shared->meeting);
	close(worker->home);
	worker->home = -1;
	crew->running--;
}

static void send_signal(struct crew *crew, int number)
{
	for (int r = 0; r < crew->size; r++)
		if (crew->workers[r].home >= 0) {
			crew->workers[r].killed |= number == SIGKILL;
			kill(crew->workers[r].pid, number);
		}
}

/* Who has not left some time after a failure never will. */
static void attend(struct crew *crew, int news)
{
	const int caught = crew->job->caught ? crew->job->caught() : 0;

	if (caught && !crew->passed_on) {
		send_signal(crew, caught);
		crew->passed_on = 1;
	}
	if (news || !atomic_load(&crew->shared->meeting.failed))
		crew->idle_polls = 0;
	else if (++crew->idle_polls == GRACE_POLLS)
		send_signal(crew, SIGKILL);
}

static void wait_for_all(struct crew *crew)
{
	struct pollfd homes[GROUP_MAX_SIZE];

	while (crew->running) {
		int news;

		for (int r = 0; r < crew->size; r++)
			homes[r] = (struct pollfd){ crew->workers[r].home,
						    POLLIN, 0 };
		news = poll(homes, (nfds_t)crew->size, POLL_MS);
		for (int r = 0; news > 0 && r < crew->size; r++)
			if (homes[r].revents)
				hear(crew, r);
		attend(crew, news > 0);
	}
}

static int run_all(struct crew *crew, const struct transport *transport,
		   struct error *err)
{
	int started = 0, failed = 0;

	for (int r = 0; r < crew->size; r++)
		crew->workers[r].home = -1;
	/* Else each core would print what waits to be printed. */
	fflush(NULL);
	while (started < crew->size && !failed) {
		failed = start(crew, transport, started);
		started += !failed;
	}
	if (failed)
		meeting_fail(&crew->shared->meeting);
	wait_for_all(crew);
	if (failed)
		return error_set(err, ERROR_FAILED,
				 "%d processes wanted, %d could be started: %s",
				 crew->size, started, strerror(failed));
	return outcome_collect(crew->outcomes, crew->size, err);
}

static int fork_launch(const struct transport *transport, int size,
		       const struct group_job *job, struct error *err)
{
	const size_t bytes = sizeof(struct shared) + job->context_size;
	struct crew crew = { .job = job, .size = size, .launcher = getpid() };
	int result = -1;

	crew.shared = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (crew.shared == MAP_FAILED)
		return error_memory(err, "what the cores share");
	/* It has no name, so that nothing is left of it in any case. */
	crew.memory = memfd_create("bench-gradients", MFD_CLOEXEC);
	if (crew.memory < 0) {
		error_set(err, ERROR_FAILED, "no shared memory: %s",
			  strerror(errno));
		goto out;
	}
	if (job->context_size)
		memcpy(crew.shared->context, job->context, job->context_size);
	if (meeting_open(&crew.shared->meeting, size, 1, err))
		goto out;
	result = run_all(&crew, transport, err);
	meeting_close(&crew.shared->meeting);
	if (job->context_size)
		memcpy(job->context, crew.shared->context, job->context_size);
out:
	if (crew.memory >= 0)
		close(crew.memory);
	munmap(crew.shared, bytes);
	return result;
}

const struct transport fork_transport = {
	.name = "fork",
	.summary = "one process per core, in shared memory",
	.max_size = GROUP_MAX_SIZE,
	.launch = fork_launch,
	.gather = meeting_gather,
	.sum = fork_sum,
};
