#include "backends/parallel/fork_core.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "backends/contract/allocator.h"

/* One piece of the shared memory: a part per rank, in order. */
struct shared_piece {
	struct shared_piece *next;
	char *parts;
	size_t bytes; /* of a part */
};

struct fork_core {
	struct member member; /* first: its group is what the body gets */
	struct allocator allocator;
	int memory;
	size_t taken; /* bytes of the memory, by all ranks */
	struct shared_piece *blocks;
};

static void release_blocks(struct fork_core *core)
{
	const size_t ranks = (size_t)core->member.base.size;

	while (core->blocks) {
		struct shared_piece *block = core->blocks;

		core->blocks = block->next;
		munmap(block->parts, ranks * block->bytes);
		free(block);
	}
}

/* Allocated now, since a page missing later would raise SIGBUS. */
static int take_memory(const struct fork_core *core, size_t bytes,
		       struct error *err)
{
	int number;

	do
		number = posix_fallocate(core->memory, (off_t)core->taken,
					 (off_t)bytes);
	while (number == EINTR);
	if (!number)
		return 0;
	return error_set(err, ERROR_FAILED, "cannot allocate %zu bytes of "
			 "shared memory for the cores: %s", bytes,
			 strerror(number));
}

static int map_block(struct fork_core *core, struct shared_piece *block,
		     struct error *err)
{
	const struct group *group = &core->member.base;
	const size_t all = (size_t)group->size * block->bytes;

	if ((group->rank == 0 && take_memory(core, all, err)) ||
	    meeting_barrier(&core->member, err))
		return -1;
	block->parts = mmap(NULL, all, PROT_READ | PROT_WRITE, MAP_SHARED,
			    core->memory, (off_t)core->taken);
	if (block->parts == MAP_FAILED)
		return error_memory(err, "what the cores share");
	core->taken += all;
	return 0;
}

/* Adds a part of bytes, or more, for each rank. Every rank requests equal
 * sizes, so that all agree when memory is short. */
static const struct shared_piece *add_block(struct fork_core *core,
					    size_t bytes, struct error *err)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct shared_piece *block = malloc(sizeof(*block));

	if (!block) {
		error_memory(err, "what the cores share");
		return NULL;
	}
	block->bytes = (bytes + page - 1) / page * page;
	if (map_block(core, block, err)) {
		free(block);
		return NULL;
	}
	block->next = core->blocks;
	core->blocks = block;
	return block;
}

static struct fork_core *core_of(struct allocator *allocator)
{
	return (struct fork_core *)((char *)allocator -
				    offsetof(struct fork_core, allocator));
}

static void *core_allocate(struct allocator *allocator, size_t bytes,
			   struct error *err)
{
	const struct shared_piece *block =
		add_block(core_of(allocator), bytes, err);

	return block ? block->parts + (size_t)allocator->rank * block->bytes :
		       NULL;
}

/* Parts are contiguous: together they are one piece. */
static void *core_share(struct allocator *allocator, size_t bytes,
			struct error *err)
{
	const size_t size = (size_t)allocator->size;
	const struct shared_piece *block = add_block(
		core_of(allocator), (bytes + size - 1) / size, err);

	return block ? block->parts : NULL;
}

static const struct shared_piece *block_of(const struct fork_core *core,
					   const char *place, size_t bytes)
{
	const struct shared_piece *block = core->blocks;

	while (block) {
		const size_t rank = (size_t)core->member.base.rank;
		const char *part = block->parts + rank * block->bytes;

		if (place >= part && place + bytes <= part + block->bytes)
			break;
		block = block->next;
	}
	return block;
}

/* Other ranks' vectors lie at the same offset in their parts. */
int fork_core_offer(struct group *group, float *values, struct error *err)
{
	const size_t count = group->offered.count;
	struct fork_core *core = (struct fork_core *)group;
	const struct shared_piece *block = block_of(core, (const char *)values,
						    count * sizeof(*values));
	size_t place;

	if (!block)
		return error_set(err, ERROR_FAILED, "the buffer of core %d is "
				 "not in the cores' shared memory",
				 group->rank);
	place = (size_t)((const char *)values - block->parts) -
		(size_t)group->rank * block->bytes;
	for (int r = 0; r < group->size; r++)
		core->member.offered[r] =
			(float *)(block->parts + (size_t)r * block->bytes +
				  place);
	return meeting_offer(&core->member, place, count, NULL, err);
}

/* Sets the variables that launchers of this field use. */
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
			return; /* nobody is there to read it */
		sent += count > 0 ? (size_t)count : 0;
	}
}

void fork_core_live(const struct fork_work *work, const struct group *is,
		    int home)
{
	struct fork_core core = {
		.member.base = *is,
		.member.meeting = &work->shared->meeting,
		.allocator = { is->rank, is->size, 0, core_allocate,
			       core_share },
		.memory = work->memory,
	};
	struct group *group = &core.member.base;
	struct ending ending = { 0 };
	char name[16];

	group->memory = &core.allocator;
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
	release_blocks(&core);
	fflush(NULL);
	/* First the result, then its consequence for the other cores. */
	send_home(home, &ending);
	if (ending.result)
		meeting_fail(core.member.meeting);
	_exit(ending.result ? ERROR_FAILED : 0);
}
