/* One thread per core. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "backends/meeting.h"

struct thread_crew {
	struct meeting meeting;
	const struct group_job *job;
	float *vectors[GROUP_MAX_SIZE]; /* of each rank, while they are added */
	struct ending endings[GROUP_MAX_SIZE];
};

struct thread_core {
	struct member member; /* first: its group is what the body gets */
	struct thread_crew *crew;
	pthread_t thread;
};

static int threads_sum(struct group *group, float *values, size_t count,
		       struct error *err)
{
	struct thread_core *core = (struct thread_core *)group;

	core->crew->vectors[group->rank] = values;
	return meeting_sum(&core->member, core->crew->vectors, values, count,
			   err);
}

static void *core_main(void *argument)
{
	struct thread_core *core = argument;
	struct thread_crew *crew = core->crew;
	struct group *group = &core->member.base;
	struct ending *ending = &crew->endings[group->rank];

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
				 "%d threads wanted, %d could be created: %s",
				 size, started, strerror(failed));
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
		cores[r].member.base = (struct group){
			.transport = transport, .rank = r, .size = size };
		cores[r].member.meeting = &crew->meeting;
	}
	result = run_all(cores, crew, size, err);
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
	.sum = threads_sum,
};
