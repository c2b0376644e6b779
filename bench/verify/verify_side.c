#include "bench/verify/verify_side.h"

#include <stdlib.h>

#include "backends/parallel/replica.h"

struct program_options side_options(const struct verify_task *task, int batch,
				    int test_batch)
{
	return (struct program_options){
		.batch = batch,
		.test_batch = test_batch,
		.seed = (unsigned long long)task->options->seed,
		.dropout = task->options->dropout,
		.algorithm = task->algorithm,
		.precision = task->precision,
	};
}

static int open_program(struct side *side, const struct verify_task *task,
			const struct backend *backend,
			const struct device_request *request,
			const struct program_options *options,
			const struct verify_core *core, struct error *err)
{
	if (core)
		return replica_open(core->group, backend, request,
				    &side->device, err) ||
		       replica_compile(core->group, side->device, task->model,
				       options, &side->program, err);
	return (!side->device &&
		device_open(backend, request, &side->device, err)) ||
	       program_compile(side->device, task->model, options,
			       &side->program, err);
}

int side_open(struct side *side, const struct verify_task *task,
	      const struct backend *backend,
	      const struct program_options *options,
	      const struct verify_core *core, struct error *err)
{
	const int cores = core ? core->group->size : 1;
	const struct device_request request = {
		.choice = backend == task->backend ? task->device : NULL,
		.threads = core ? core->threads : 1,
		.cpus = cores > VERIFY_MOST_CORES ? cores : VERIFY_MOST_CORES,
		.device_class = task->options->device_class,
		.checked = task->checked,
	};
	const size_t count = model_parameter_count(task->model);

	side->gradient = malloc(count * sizeof(float));
	side->parameters = malloc(count * sizeof(float));
	if (!side->gradient || !side->parameters)
		return error_memory(err, "the tensors to compare");
	return open_program(side, task, backend, &request, options, core,
			    err) ? -1 : 0;
}

int side_open_steps(struct side *side, const struct verify_task *task,
		    const struct backend *backend, enum precision precision,
		    struct error *err)
{
	struct program_options options =
		side_options(task, task->batch, task->test_batch);

	options.precision = precision;
	if (backend != task->backend)
		options.algorithm = ALGORITHM_DENSE;
	return side_open(side, task, backend, &options, NULL, err);
}

void side_close_program(struct side *side)
{
	program_free(side->program);
	free(side->gradient);
	free(side->parameters);
	*side = (struct side){ .device = side->device };
}

void side_close(struct side *side)
{
	side_close_program(side);
	device_close(side->device);
	side->device = NULL;
}

int side_follow(struct side *side, struct side *leader, uint8_t *decisions,
		struct error *err)
{
	const struct model *model = leader->program->model;

	for (int l = 0; l < model->layer_count; l++) {
		if (!layer_decisions(&model->layers[l],
				     model_layer_input(model, l)))
			continue;
		if (program_decisions(leader->program, l, decisions, err) ||
		    program_impose(side->program, l, decisions, err))
			return -1;
	}
	return 0;
}

int side_unfollow(struct side *side, struct error *err)
{
	const struct model *model = side->program->model;

	for (int l = 0; l < model->layer_count; l++)
		if (layer_decisions(&model->layers[l],
				    model_layer_input(model, l)) &&
		    program_impose(side->program, l, NULL, err))
			return -1;
	return 0;
}

int side_gradient(struct side *side, const struct batch *batch,
		  struct score *score, struct error *err)
{
	return program_gradient(side->program, batch, err) ||
			       program_finish(side->program, score, err) ||
			       program_load(side->program, VECTOR_GRADIENT,
					    side->gradient, err) ?
		       -1 : 0;
}

int side_update(struct side *side, const struct update *update,
		struct error *err)
{
	struct score ignored;

	return program_update(side->program, update, err) ||
			       program_finish(side->program, &ignored, err) ||
			       program_load(side->program, VECTOR_PARAMETERS,
					    side->parameters, err) ?
		       -1 : 0;
}
