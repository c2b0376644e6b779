/* A backend that computes nothing, to measure the harness's own cost. It is
 * also the smallest complete backend, to copy for a new one. */
#include <stdio.h>
#include <stdlib.h>

#include "backends/host/host.h"

extern const struct backend null_backend;

static int null_open(const struct device_request *request,
		     struct device **device, struct error *err)
{
	(void)request;
	return host_open(&null_backend, device, err);
}

static void null_describe(struct device *device, struct device_info *info)
{
	(void)device;
	snprintf(info->name, sizeof(info->name), "nothing");
	snprintf(info->type, sizeof(info->type), "none");
}

static int null_compile(struct device *device, const struct model *model,
			const struct program_options *options,
			struct program **out, struct error *err)
{
	struct host_program *program = malloc(sizeof(*program));

	if (!program)
		return error_memory(err, "a program");
	if (host_init(program, device, model, options, err)) {
		free(program);
		return -1;
	}
	*out = &program->base;
	return 0;
}

static void null_free(struct program *program)
{
	host_release((struct host_program *)program);
	free(program);
}

static int null_gradient(struct program *program, const struct batch *batch,
			 const struct update *update, struct error *err)
{
	(void)update;
	(void)err;
	program->score = (struct score){ .count = batch->count };
	return 0;
}

static int null_update(struct program *program, const struct update *update,
		       size_t from, size_t to, struct error *err)
{
	(void)program;
	(void)update;
	(void)from;
	(void)to;
	(void)err;
	return 0;
}

static int null_evaluate(struct program *program, const struct batch *batch,
			 struct score *score, struct error *err)
{
	(void)program;
	(void)err;
	score->count += batch->count;
	return 0;
}

const struct backend null_backend = {
	.version = BACKEND_VERSION,
	.name = "null",
	.summary = "computes nothing: what the harness itself costs",
	.algorithms = 1u << ALGORITHM_FAST | 1u << ALGORITHM_DENSE,
	.precisions = 1u << PRECISION_FP32 | 1u << PRECISION_BF16,
	.open = null_open,
	.close = host_close,
	.describe = null_describe,
	.compile = null_compile,
	.free = null_free,
	.store = host_store,
	.load = host_load,
	.map = host_map,
	.unmap = host_unmap,
	.gradient = null_gradient,
	.update = null_update,
	.evaluate = null_evaluate,
};
