#include "backends/fork_core.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

struct fork_core {
	struct member member; /* first: its group is what the body gets */
	int memory;
	float *mapped;
	size_t room; /* floats a rank */
};

static void release_vectors(struct fork_core *core)
{
	const size_t ranks = (size_t)core->member.base.size;

	if (core->mapped)
		munmap(core->mapped, ranks * core->room * sizeof(float));
	core->mapped = NULL;
	core->room = 0;
}

/* Taken now, since a page that is missing later would be a SIGBUS. */
static int take_memory(int memory, size_t bytes, struct error *err)
{
	int number;

	do
		number = posix_fallocate(memory, 0, (off_t)bytes);
	while (number == EINTR);
	if (!number)
		return 0;
	return error_set(err, ERROR_FAILED, "%zu bytes of shared memory for "
			 "the gradients cannot be had: %s", bytes,
			 strerror(number));
}

/* Every rank asks for the same, so that all agree when it is too little. */
static int make_room(struct fork_core *core, size_t count, struct error *err)
{
	const struct group *group = &core->member.base;
	const size_t bytes = (size_t)group->size * count * sizeof(float);

	if (count <= core->room)
		return 0;
	release_vectors(core);
	if ((group->rank == 0 && take_memory(core->memory, bytes, err)) ||
	    meeting_barrier(&core->member, err))
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

int fork_core_sum(struct group *group, float *values, size_t count,
		  struct error *err)
{
	struct fork_core *core = (struct fork_core *)group;
	float *vectors[GROUP_MAX_SIZE];

	if (!count)
		return meeting_barrier(&core->member, err);
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

static void send_home(int home, const struct ending *ending)
{
	const char *bytes = (const char *)ending;
	size_t sent = 0;

	while (sent < sizeof(*ending)) {
		ssize_t count = write(home, bytes + sent,
				      sizeof(*ending) - sent);

		if (count < 0 && errno != EINTR)
			return; /* nobody is there to hear it */
		sent += count > 0 ? (size_t)count : 0;
	}
}

void fork_core_live(const struct fork_work *work, const struct group *is,
		    int home)
{
	struct fork_core core = {
		.member.base = *is,
		.member.meeting = &work->shared->meeting,
		.memory = work->memory,
	};
	struct group *group = &core.member.base;
	struct ending ending = { 0 };
	char name[16];

	/* For ps and top. */
	snprintf(name, sizeof(name), "bench core %d", is->rank);
	prctl(PR_SET_NAME, name);
	/* It ends with the launcher, which may have ended before this line. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != work->launcher)
		_exit(ERROR_FAILED);
	ending.result = set_environment(group, &ending.err) ||
			work->job->body(group, work->shared->context,
					&ending.err);
	release_vectors(&core);
	fflush(NULL);
	/* First what happened, then what the others do because of it. */
	send_home(home, &ending);
	if (ending.result)
		meeting_fail(core.member.meeting);
	_exit(ending.result ? ERROR_FAILED : 0);
}
