/* Transport of one thread per core. */
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "backends/contract/allocator.h"
#include "backends/host/host.h"
#include "backends/parallel/meeting.h"

/* Memory of a core; it outlives the core, since others may read it. */
struct allocation {
	struct allocation *next;
	_Alignas(CACHE_LINE) char bytes[];
};

struct thread_crew {
	struct meeting meeting;
	const struct group_job *job;
	struct ending endings[GROUP_MAX_SIZE];
};

struct thread_core {
	struct member member; /* first: its group is what the body gets */
	struct allocator memory;
	struct allocation *blocks;
	struct thread_crew *crew;
	pthread_t thread;
};

static struct thread_core *core_of(struct allocator *allocator)
{
	return (struct thread_core *)((char *)allocator -
				      offsetof(struct thread_core, memory));
}

static void *core_allocate(struct allocator *allocator, size_t bytes,
			   struct error *err)
{
	struct thread_core *core = core_of(allocator);
	const size_t whole = (bytes + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
	struct allocation *block = aligned_alloc(CACHE_LINE,
						 sizeof(*block) + whole);

	if (!block) {
		error_memory(err, "what the cores share");
		return NULL;
	}
	host_prefer_huge_pages(block, sizeof(*block) + whole);
	memset(block->bytes, 0, whole);
	block->next = core->blocks;
	core->blocks = block;
	return block->bytes;
}

/* Rank 0 allocates it and sends its address. */
static void *core_share(struct allocator *allocator, size_t bytes,
			struct error *err)
{
	struct group *group = &core_of(allocator)->member.base;
	void *all[GROUP_MAX_SIZE];
	void *mine = NULL;

	if (allocator->rank == 0)
		mine = core_allocate(allocator, bytes, err);
	if (meeting_gather(group, &mine, sizeof(mine), all, err))
		return NULL;
	if (!all[0] && allocator->rank)
		error_memory(err, "what the cores share");
	return all[0];
}

static void release_blocks(struct thread_core *core)
{
	while (core->blocks) {
		struct allocation *block = core->blocks;

		core->blocks = block->next;
		free(block);
	}
}

/* Any memory will do: threads share all of it. */
static int threads_offer(struct group *group, float *values, struct error *err)
{
	struct member *self = (struct member *)group;
	size_t places[GROUP_MAX_SIZE];

	if (meeting_offer(self, (size_t)values, group->offered.count, places,
			  err))
		return -1;
	for (int r = 0; r < group->size; r++)
		self->offered[r] = (float *)places[r];
	return 0;
}

static void *core_main(void *argument)
{
	struct thread_core *core = argument;
	struct thread_crew *crew = core->crew;
	struct group *group = &core->member.base;
	struct ending *ending = &crew->endings[group->rank];

	/* A body starts threads of its own. If a limit allows too few, the
	 * barrier makes the error independent of the cores' speed. */
	ending->result = meeting_barrier(&core->member, &ending->err);
	if (!ending->result)
		ending->result = crew->job->body(group, crew->job->context,
						 &ending->err);
	if (ending->result)
		meeting_fail(&crew->meeting);
	return NULL;
}

static int run_all(struct thread_core *cores, struct thread_crew *crew,
		   int size, struct error *err)
{
	int started = 1, failed = 0;

	for (; started < size && !failed; started++)
		failed = pthread_create(&cores[started].thread, NULL, core_main,
					&cores[started]);
	if (failed) {
		started--;
		meeting_fail(&crew->meeting);
	} else {
		core_main(&cores[0]);
	}
	for (int r = 1; r < started; r++)
		pthread_join(cores[r].thread, NULL);
	if (failed)
		return error_set(err, ERROR_FAILED,
				 "only %d of %d threads could be created: %s",
				 started, size, strerror(failed));
	return meeting_blame(&crew->meeting, crew->endings, err);
}

static int threads_launch(const struct transport *transport, int size,
			  const struct group_job *job, struct error *err)
{
	struct thread_crew *crew = calloc(1, sizeof(*crew));
	struct thread_core *cores = calloc((size_t)size, sizeof(*cores));
	int result = -1;

	if (!crew || !cores) {
		error_memory(err, "the cores");
		goto out;
	}
	if (meeting_open(&crew->meeting, size, 0, err))
		goto out;
	crew->job = job;
	for (int r = 0; r < size; r++) {
		cores[r].crew = crew;
		cores[r].memory = (struct allocator){ r, size, 0,
						      core_allocate,
						      core_share };
		cores[r].member.base = (struct group){
			.transport = transport,
			.rank = r,
			.size = size,
			.memory = &cores[r].memory };
		cores[r].member.meeting = &crew->meeting;
	}
	result = run_all(cores, crew, size, err);
	for (int r = 0; r < size; r++)
		release_blocks(&cores[r]);
	meeting_close(&crew->meeting);
out:
	free(crew);
	free(cores);
	return result;
}

const struct transport threads_transport = {
	.name = "threads",
	.summary = "one thread per core in this process",
	.max_size = GROUP_MAX_SIZE,
	.one_process = 1,
	.launch = threads_launch,
	.gather = meeting_gather,
	.offer = threads_offer,
	.reduce_scatter = meeting_reduce_scatter,
	.all_gather = meeting_all_gather,
};
