#include "bench/verify/verify_passed.h"

#include <stdlib.h>
#include <string.h>

#include "backends/parallel/replica.h"

/* All in one piece, since cores that are processes share nothing else. */
struct passers {
	const struct passing *passing;
	int one_process;
};

struct passer {
	struct passers *all;
	struct group *group;
	struct device *device;
	struct program *program;
	struct share share; /* of a batch */
	float *outputs;	    /* likewise */
};

/* It follows the passers. */
static struct passed *passed_of(struct passers *all)
{
	return (struct passed *)(void *)(all + 1);
}

static size_t floats_of(const struct passing *passing)
{
	return (size_t)passing->task->measured_batch *
	       (size_t)model_classes(passing->model);
}

static int open_passer(struct passer *passer, struct error *err)
{
	const struct passing *passing = passer->all->passing;
	const struct verify_task *task = passing->task;
	const int size = passer->group->size, batch = task->measured_batch;
	const struct device_request request = {
		.choice = task->device,
		.threads = passer->all->one_process ? size : 1,
		.cpus = size > VERIFY_MOST_CORES ? size : VERIFY_MOST_CORES,
		.device_class = task->options->device_class,
		.checked = task->checked,
	};
	/* As those of bench infer. */
	const struct program_options options = {
		.batch = batch < 2 ? 2 : batch,
		.test_batch = batch,
		.seed = (unsigned long long)task->options->seed,
		.dropout = 1,
		.algorithm = task->algorithm,
		.precision = task->precision,
		.masks_only = 1,
		.infers = 1,
	};

	passer->outputs = calloc(floats_of(passing), sizeof(float));
	if (share_allocate(&passer->share, task, batch) || !passer->outputs)
		return error_memory(err, "a core's batch");
	return replica_open(passer->group, task->backend, &request,
			    &passer->device, err) ||
			       replica_compile(passer->group, passer->device,
					       passing->model, &options,
					       &passer->program, err) ||
			       replica_begin(passer->group, passer->program,
					     passing->parameters,
					     passing->buffers, err) ?
		       -1 : 0;
}

/* The outputs of all cores, one after the other, to those from first on. */
static int gather_outputs(struct passer *passer, int first, struct error *err)
{
	enum { EACH = GROUP_MAX_MESSAGE / sizeof(float) };
	const size_t floats = floats_of(passer->all->passing);
	const size_t classes = floats /
		(size_t)passer->all->passing->task->measured_batch;
	float *to = passed_of(passer->all)->outputs + (size_t)first * classes;
	float all[GROUP_MAX_SIZE * EACH];

	for (size_t at = 0; at < floats; at += EACH) {
		const size_t count = floats - at < EACH ? floats - at : EACH;

		if (group_gather(passer->group, passer->outputs + at,
				 count * sizeof(float), all, err))
			return -1;
		for (int r = 0; !passer->group->rank &&
				r < passer->group->size; r++)
			memcpy(to + (size_t)r * floats + at,
			       all + (size_t)r * count,
			       count * sizeof(float));
	}
	return 0;
}

/* This core's samples of those from first on. */
static int pass_batch(struct passer *passer, int first, struct score *score,
		      struct error *err)
{
	const struct passing *passing = passer->all->passing;
	const int count = passing->task->measured_batch;
	struct batch batch;

	verify_test_batch(passing->task, first + passer->group->rank * count,
			  count, &passer->share, &batch);
	batch.outputs = passer->outputs;
	/* What is not written is wrong. */
	memset(passer->outputs, 0xff, floats_of(passing) * sizeof(float));
	return program_evaluate(passer->program, &batch, score, err) ||
	       gather_outputs(passer, first, err) ? -1 : 0;
}

static int pass_all(struct passer *passer, struct error *err)
{
	const struct passing *passing = passer->all->passing;
	const int each = passing->task->measured_batch * passer->group->size;
	struct passed *passed = passed_of(passer->all);
	struct score own = { 0 }, all[GROUP_MAX_SIZE];

	for (int first = 0; first < passing->samples; first += each)
		if (pass_batch(passer, first, &own, err))
			return -1;
	if (group_gather(passer->group, &own, sizeof(own), all, err))
		return -1;
	if (passer->group->rank)
		return 0;
	for (int r = 0; r < passer->group->size; r++) {
		passed->score.loss += all[r].loss;
		passed->score.correct += all[r].correct;
		passed->score.count += all[r].count;
	}
	passed->has_rounds = passer->program->rounds != NULL;
	if (passed->has_rounds)
		memcpy(passed->rounds, passer->program->rounds,
		       sizeof(passed->rounds));
	return 0;
}

static int passer_body(struct group *group, void *context, struct error *err)
{
	struct passer passer = { .all = context, .group = group };
	const int failed = open_passer(&passer, err) ||
			   pass_all(&passer, err);

	program_free(passer.program);
	device_close(passer.device);
	share_release(&passer.share);
	free(passer.outputs);
	return failed ? -1 : 0;
}

size_t passed_size(size_t outputs)
{
	return sizeof(struct passed) + outputs * sizeof(float);
}

int passing_run(const struct passing *passing,
		const struct transport *transport, int cores,
		struct passed *passed, struct error *err)
{
	const size_t size = passed_size(
		(size_t)passing->samples *
		(size_t)model_classes(passing->model));
	struct passers *all = calloc(1, sizeof(*all) + size);
	const struct group_job job = { passer_body, all, sizeof(*all) + size,
				       NULL };
	int failed;

	if (!all)
		return error_memory(err, "what cores pass forward");
	all->passing = passing;
	all->one_process = transport->one_process;
	failed = group_launch(transport, cores, &job, err);
	memcpy(passed, passed_of(all), size);
	free(all);
	return failed;
}
