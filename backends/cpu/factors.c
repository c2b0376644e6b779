/* Cores that update the weights of linear layers together, from sufficient
 * factors: weight gradients are neither stored nor exchanged. */
#include "backends/cpu/factors.h"

#include <stdlib.h>
#include <string.h>

#include "backends/contract/allocator.h"
#include "backends/cpu/profile.h"

/* Beginning of a layer's part of a core. */
struct header {
	int count; /* samples of its last batch */
	int drops; /* 1 = some of their blocks are dropped */
};

static size_t whole_lines(size_t bytes)
{
	return (bytes + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
}

/* Lays out a layer at a place of a core's part; returns the place after it. */
static size_t lay_out_layer(const struct cpu_program *program, size_t at,
			    struct cpu_factors_layer *layer)
{
	const struct linear_shape *shape = &layer->linear->shape;
	const int count = program->host.base.options.batch;
	const size_t batch = (size_t)count;

	layer->head = at;
	layer->keep = at + whole_lines(sizeof(struct header));
	layer->dz = layer->keep + whole_lines(batch * (size_t)shape->blocks);
	layer->in = layer->dz +
		    whole_lines(program->kernels->linear->part_size(shape,
								    count));
	return layer->in +
	       whole_lines(batch * linear_inputs(shape) * sizeof(float));
}

/*
 * Returns 1 if exchanging factors moves fewer bytes than gradients, without
 * shared memory. Each core receives the parts of all others; else it would
 * receive its slice of all gradients, and then all other weights.
 */
static int pays_distributed(const struct cpu_program *program,
			    struct linear_step *linear)
{
	const int size = program->host.base.options.distributed_size;
	struct cpu_factors_layer layer = { .linear = linear };

	return size > 1 &&
	       (size_t)size * lay_out_layer(program, 0, &layer) <
		       2 * sizeof(float) * linear_weights(linear);
}

/* Returns 1 if another layer has these inputs, which are in one place. */
static int shares_inputs(const struct cpu_program *program,
			 const struct linear_step *linear)
{
	const struct cpu_factors_layer *layer =
		program->factors ? program->factors->layers : NULL;

	while (layer && layer->linear->step.in != linear->step.in)
		layer = layer->next;
	return layer != NULL;
}

/*
 * Returns 1 if cores can update the layer together. Its blocks are divided
 * among cores, and a step must compute its inputs: images stay where the caller
 * has them. A layer that is broken stores a wrong gradient. bf16 makes no
 * difference.
 */
static int fits(const struct cpu_program *program, struct linear_step *linear)
{
	const struct node *node = cpu_node(program, linear->step.first);
	const struct program_options *options = &program->host.base.options;

	return (options->memory || pays_distributed(program, linear)) &&
	       !options->infers && !options->whole_gradients &&
	       linear->shape.blocks > 1 &&
	       !shares_inputs(program, linear) &&
	       node->source != MODEL_IMAGES && !node->broken;
}

static int open_factors(struct cpu_program *program)
{
	const struct program_options *options = &program->host.base.options;
	struct cpu_factors *factors = calloc(1, sizeof(*factors));

	program->factors = factors;
	if (!factors)
		return -1;
	factors->distributed = !options->memory;
	factors->rank = factors->distributed ? options->distributed_rank :
					       options->memory->rank;
	factors->size = factors->distributed ? options->distributed_size :
					       options->memory->size;
	factors->parts = calloc((size_t)factors->size, sizeof(*factors->parts));
	return factors->parts ? 0 : -1;
}

int cpu_factors_add(struct cpu_program *program, struct linear_step *linear)
{
	struct cpu_factors_layer *layer, **end;

	if (!fits(program, linear))
		return 0;
	if (!program->factors && open_factors(program))
		return -1;
	layer = calloc(1, sizeof(*layer));
	if (!layer)
		return -1;
	layer->linear = linear;
	linear->factors = layer;
	program->factors->each =
		lay_out_layer(program, program->factors->each, layer);
	for (end = &program->factors->layers; *end; end = &(*end)->next)
		;
	*end = layer;
	return 0;
}

void cpu_factors_close(struct cpu_program *program)
{
	struct cpu_factors *factors = program->factors;

	if (!factors)
		return;
	while (factors->layers) {
		struct cpu_factors_layer *layer = factors->layers;

		factors->layers = layer->next;
		free(layer);
	}
	if (factors->distributed)
		free(factors->all);
	free(factors->parts);
	free(factors->scratch);
	free(factors);
}

size_t cpu_factors_place(struct cpu_program *program, size_t at)
{
	struct cpu_factors_layer *layer = program->factors->layers;

	for (; layer; layer = layer->next) {
		layer->linear->weight = at;
		at += linear_weights(layer->linear);
	}
	return at;
}

/* Allocates the largest scratch of a layer. */
static void *allocate_scratch(const struct cpu_program *program)
{
	const struct cpu_factors_layer *layer = program->factors->layers;
	size_t most = 0;

	for (; layer; layer = layer->next) {
		const size_t bytes = program->kernels->linear->update_scratch(
			&layer->linear->shape, program->factors->size,
			program->host.base.options.batch);

		if (bytes > most)
			most = bytes;
	}
	return host_allocate(most);
}

static void *allocate_parts(struct cpu_program *program, struct error *err)
{
	const struct cpu_factors *factors = program->factors;
	struct allocator *memory = program->host.base.options.memory;
	const size_t bytes = (size_t)factors->size * factors->each;
	void *parts;

	if (!factors->distributed)
		return memory->share(memory, bytes, err);
	parts = host_allocate(bytes);
	if (!parts) {
		error_memory(err, "the sufficient factors of all ranks");
		return NULL;
	}
	program->host.base.factors = parts;
	program->host.base.factors_each = factors->each / sizeof(float);
	return parts;
}

static char *part_of(const struct cpu_factors *factors, int rank)
{
	return factors->all + (size_t)rank * factors->each;
}

int cpu_factors_share(struct cpu_program *program, struct error *err)
{
	struct cpu_factors *factors = program->factors;

	factors->all = allocate_parts(program, err);
	if (!factors->all)
		return -1;
	for (struct cpu_factors_layer *l = factors->layers; l; l = l->next) {
		struct cpu_value *in = l->linear->step.in;

		in->out = (float *)(void *)(part_of(factors, factors->rank) +
					    l->in);
		in->out_is_lent = 1;
	}
	factors->scratch = allocate_scratch(program);
	return factors->scratch ? 0 :
				  error_memory(err, "the products of factors");
}

static struct header *header_of(const struct cpu_factors *factors,
				const struct cpu_factors_layer *layer, int rank)
{
	return (struct header *)(void *)(part_of(factors, rank) + layer->head);
}

void cpu_factors_backward(struct cpu_program *program,
			  const struct linear_step *linear,
			  const struct linear_batch *batch,
			  const struct linear_flow *flow)
{
	const struct cpu_factors *factors = program->factors;
	const struct cpu_factors_layer *layer = linear->factors;
	struct header *mine = header_of(factors, layer, factors->rank);
	char *part = part_of(factors, factors->rank);
	const struct linear_state state = linear_state(program, linear);

	mine->count = batch->count;
	mine->drops = batch->keep_in != NULL;
	if (mine->drops)
		memcpy(part + layer->keep, batch->keep_in,
		       (size_t)batch->count * (size_t)linear->shape.blocks);
	program->kernels->linear->backward_part(
		&linear->shape, &state.parameters, batch, flow,
		program->host.vectors[VECTOR_GRADIENT] + linear->bias,
		part + layer->dz, program->scratch);
}

/* Returns a core's part in the form that the layer's kernels take. */
static struct linear_part read_part(const struct cpu_factors *factors,
				    const struct cpu_factors_layer *layer,
				    int rank)
{
	const struct linear_shape *shape = &layer->linear->shape;
	const struct header *header = header_of(factors, layer, rank);
	char *part = part_of(factors, rank);

	return (struct linear_part){
		.batch = {
			.count = header->count,
			.in = (const float *)(void *)(part + layer->in),
			.sample = linear_inputs(shape),
			.block = (size_t)shape->block,
			.keep_in = header->drops ?
				(const uint8_t *)part + layer->keep : NULL,
		},
		.dz = part + layer->dz,
	};
}

void cpu_factors_begin(struct cpu_program *program)
{
	const struct cpu_factors *factors = program->factors;

	for (const struct cpu_factors_layer *l = factors->layers; l;
	     l = l->next)
		header_of(factors, l, factors->rank)->count = 0;
}

/* Makes the step of a layer's blocks: of this core's, or of all if cores share
 * no memory. */
static void update_layer(struct cpu_program *program,
			 struct cpu_factors_layer *layer,
			 const struct update *update)
{
	const struct cpu_factors *factors = program->factors;
	const struct linear_shape *shape = &layer->linear->shape;
	const struct linear_state state = linear_state(program, layer->linear);
	const int rank = factors->distributed ? 0 : factors->rank;
	const int size = factors->distributed ? 1 : factors->size;
	const int from = shape->blocks * rank / size;
	const int to = shape->blocks * (rank + 1) / size;

	for (int r = 0; r < factors->size; r++)
		factors->parts[r] = read_part(factors, layer, r);
	program->kernels->linear->update_parts(shape, &state, update,
					       factors->parts, factors->size,
					       from, to, factors->scratch);
	layer->updated = linear_weight_at(shape, 0, to - from, 0);
	program_end_part(&program->host.base,
			 CPU_PART_FACTORED + layer->linear->step.index);
}

void cpu_factors_update(struct cpu_program *program,
			const struct update *update)
{
	struct cpu_factors_layer *layer = program->factors->layers;

	for (; layer; layer = layer->next)
		update_layer(program, layer, update);
	program->stale_forward = program->stale_backward = 1;
}
