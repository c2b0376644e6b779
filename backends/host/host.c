#include "backends/host/host.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "backends/contract/allocator.h"
#include "backends/host/storage.h"

void host_prefer_huge_pages(void *memory, size_t size)
{
	const uintptr_t from = (uintptr_t)memory, to = from + size;
	const uintptr_t page = HOST_HUGE_PAGE;
	const uintptr_t first = (from + page - 1) / page * page;
	const uintptr_t last = to / page * page;

	if (first < last)
		(void)madvise((void *)first, last - first, MADV_HUGEPAGE);
}

/* Memory that may have huge pages begins with one. */
void *host_allocate(size_t size)
{
	const size_t unit = size < HOST_HUGE_PAGE ? CACHE_LINE : HOST_HUGE_PAGE;
	const size_t whole = (size + unit - 1) / unit * unit;
	void *memory = aligned_alloc(unit, whole ? whole : unit);

	if (memory) {
		host_prefer_huge_pages(memory, whole);
		memset(memory, 0, whole);
	}
	return memory;
}

/* Allocates the gradient by itself, and the other vectors, which programs may
 * share, one after the other. Each begins a cache line. */
static int allocate_vectors(struct host_program *program, struct error *err)
{
	struct allocator *memory = program->base.options.memory;
	float **vectors = program->vectors;
	const size_t lines = (program->base.length + UPDATE_LINE - 1) /
			     UPDATE_LINE;
	const size_t each = lines * UPDATE_LINE;
	const size_t bytes = each * sizeof(float);
	float *others = NULL;

	const int trains = program->base.vectors > VECTOR_GRADIENT;
	const size_t count = (size_t)(program->base.vectors - trains);

	if (!memory) {
		if (trains)
			vectors[VECTOR_GRADIENT] = host_allocate(bytes);
		others = host_allocate(count * bytes);
	} else {
		if (trains)
			vectors[VECTOR_GRADIENT] =
				memory->allocate(memory, bytes, err);
		if (vectors[VECTOR_GRADIENT] || !trains)
			others = (program->base.shared ? memory->share :
							 memory->allocate)(
				memory, count * bytes, err);
	}
	vectors[VECTOR_PARAMETERS] = others;
	if ((trains && !vectors[VECTOR_GRADIENT]) || !others)
		return memory ? -1 : error_memory(err, "a replica");
	for (int v = VECTOR_STATE_0; v < program->base.vectors; v++)
		vectors[v] = others + (size_t)(v - VECTOR_GRADIENT) * each;
	return 0;
}

static int allocate_decisions(struct host_program *program, struct error *err)
{
	const struct model *model = program->base.model;
	const size_t batch = (size_t)program->base.options.batch;

	for (int i = 0; i < model->layer_count; i++) {
		size_t each = program->graph.nodes[i].decisions;

		if (!each || (program->masks_only &&
			      (program->base.options.infers ||
			       !layer_drops(&model->layers[i]))))
			continue;
		program->decisions[i] = host_allocate(batch * each);
		if (!program->decisions[i])
			return error_memory(err, "a replica");
	}
	return 0;
}

static void prepare(struct host_program *program, struct device *device,
		    const struct model *model,
		    const struct program_options *options)
{
	memset(program->vectors, 0, sizeof(program->vectors));
	memset(program->decisions, 0, sizeof(program->decisions));
	program_begin(&program->base, device, model, options);
	program->buffers = NULL;
	program->masks_only = 0;
	graph_resolve(&program->graph, model);
}

int host_plan(struct host_program *program, struct device *device,
	      const struct model *model, const struct program_options *options,
	      const struct solver *const *solvers, int count,
	      struct error *err)
{
	prepare(program, device, model, options);
	program->base.plan = &program->plan;
	return plan_resolve(&program->plan, &program->graph, options, solvers,
			    count, err);
}

int host_allocate_all(struct host_program *program, size_t length,
		      struct error *err)
{
	program->base.length = length;
	program->buffers = host_allocate(program->base.buffers *
					 sizeof(float));
	if (!program->buffers) {
		error_memory(err, "running statistics");
	} else if (!allocate_vectors(program, err) &&
		   !allocate_decisions(program, err)) {
		return 0;
	}
	host_release(program);
	return -1;
}

int host_init(struct host_program *program, struct device *device,
	      const struct model *model, const struct program_options *options,
	      struct error *err)
{
	prepare(program, device, model, options);
	return host_allocate_all(program, program->base.parameters, err);
}

void host_release(struct host_program *program)
{
	if (!program->base.options.memory) {
		free(program->vectors[VECTOR_PARAMETERS]);
		free(program->vectors[VECTOR_GRADIENT]);
	}
	free(program->buffers);
	for (int i = 0; i < MODEL_MAX_LAYERS; i++)
		free(program->decisions[i]);
}

uint8_t *host_decisions_at(const struct host_program *program, int layer, int i)
{
	return program->decisions[layer] +
	       (size_t)i * program->graph.nodes[layer].decisions;
}

void host_choose(struct host_program *program, const struct batch *batch,
		 dropout_chooser *choose)
{
	const struct model *model = program->base.model;
	const struct program_options *options = &program->base.options;

	program->batch_count = batch->count;
	for (int l = 0; l < model->layer_count; l++) {
		const struct layer *layer = &model->layers[l];
		size_t each = program->graph.nodes[l].decisions;

		if (!layer_drops(layer))
			continue;
		for (int i = 0; i < batch->count; i++) {
			uint8_t *keep = host_decisions_at(program, l, i);

			if (options->dropout)
				choose(options->seed, batch->step,
				       (uint32_t)(batch->place +
						  batch->stride * i),
				       (uint32_t)l, layer->drop, (int)each,
				       keep);
			else
				memset(keep, 1, each);
		}
	}
}

int host_open(const struct backend *backend, struct device **device,
	      struct error *err)
{
	*device = malloc(sizeof(**device));
	if (!*device)
		return error_memory(err, "a device");
	(*device)->backend = backend;
	return 0;
}

void host_close(struct device *device)
{
	free(device);
}

void host_describe_cpu(struct device_info *info)
{
	snprintf(info->name, sizeof(info->name), "this CPU");
	snprintf(info->type, sizeof(info->type), "CPU");
	info->units = 1;
}

static float *values_of(struct program *program, enum vector which,
			size_t *count)
{
	struct host_program *host = (struct host_program *)program;

	*count = which == VECTOR_BUFFERS ? program->buffers :
					   program->parameters;
	return which == VECTOR_BUFFERS ? host->buffers : host->vectors[which];
}

int host_store(struct program *program, enum vector which, const float *values,
	       struct error *err)
{
	size_t count;
	float *to = values_of(program, which, &count);

	(void)err;
	memcpy(to, values, count * sizeof(float));
	if (storage_rounds_vectors(program->options.precision))
		storage_round(program->options.precision, to, count);
	return 0;
}

int host_load(struct program *program, enum vector which, float *values,
	      struct error *err)
{
	size_t count;
	const float *from = values_of(program, which, &count);

	(void)err;
	memcpy(values, from, count * sizeof(float));
	return 0;
}

float *host_map(struct program *program, enum vector which, struct error *err)
{
	(void)err;
	return ((struct host_program *)program)->vectors[which];
}

int host_unmap(struct program *program, enum vector which, struct error *err)
{
	(void)program;
	(void)which;
	(void)err;
	return 0;
}

int host_update(struct program *program, const struct update *update,
		size_t from, size_t to, struct error *err)
{
	(void)err;
	host_update_vectors(update, program->options.precision,
			    ((struct host_program *)program)->vectors, from,
			    to);
	return 0;
}

int host_decisions(struct program *program, int layer, uint8_t *values,
		   struct error *err)
{
	struct host_program *host = (struct host_program *)program;

	(void)err;
	if (host->decisions[layer])
		memcpy(values, host->decisions[layer],
		       (size_t)host->batch_count *
			       host->graph.nodes[layer].decisions);
	return 0;
}
