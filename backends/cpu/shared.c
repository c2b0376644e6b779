/*
 * Cores that share the weights of the first linear layer: the slopes by them
 * are never stored, and never exchanged. See struct cpu_shared.
 */
#include <stdlib.h>
#include <string.h>

#include "backends/cpu/cpu.h"

#define LINE 64 /* bytes */

/* What begins a core's part. */
struct header {
	int count; /* samples of its last batch */
	int drops; /* some of their blocks are dropped */
};

static size_t whole_lines(size_t bytes)
{
	return (bytes + LINE - 1) / LINE * LINE;
}

/* It is the second step, behind a stem. */
int cpu_can_share(const struct cpu_program *program)
{
	const struct program_options *options = &program->host.base.options;
	const struct plan *plan = &program->host.plan;

	for (int s = 0; s < plan->count; s++)
		if (plan->steps[s].broken)
			return 0;
	return options->memory && options->algorithm == ALGORITHM_FAST &&
	       options->precision == PRECISION_FP32 &&
	       plan->steps[0].lead.layer != STEP_NO_LAYER;
}

static struct header *part_of(const struct cpu_shared *shared, int rank)
{
	return (struct header *)(shared->all + (size_t)rank * shared->each);
}

static const struct linear_shape *shape_of(const struct cpu_program *program)
{
	return &program->steps[program->first_linear].linear;
}

static void lay_out(struct cpu_program *program)
{
	struct cpu_shared *shared = &program->shared;
	const struct program_options *options = &program->host.base.options;
	const struct linear_shape *shape = shape_of(program);
	const size_t batch = (size_t)options->batch;

	shared->rank = options->memory->rank;
	shared->size = options->memory->size;
	shared->keep = LINE;
	shared->slopes =
		shared->keep + whole_lines(batch * (size_t)shape->blocks);
	shared->in = shared->slopes +
		     whole_lines(program->kernels->linear->part_size(
			     shape, options->batch));
	shared->each = shared->in + whole_lines(batch * linear_inputs(shape) *
						sizeof(float));
}

int cpu_shared_allocate(struct cpu_program *program, struct error *err)
{
	struct cpu_shared *shared = &program->shared;
	struct program *base = &program->host.base;

	if (base->summed == base->length)
		return 0;
	lay_out(program);
	shared->parts = calloc((size_t)shared->size, sizeof(*shared->parts));
	shared->scratch = host_allocate(
		program->kernels->linear->update_scratch(
			shape_of(program), base->options.batch));
	if (!shared->parts || !shared->scratch)
		return error_memory(err, "what a core makes for others");
	shared->all = base->options.memory->share(
		base->options.memory, (size_t)shared->size * shared->each, err);
	return shared->all ? 0 : -1;
}

void cpu_shared_release(struct cpu_program *program)
{
	free(program->shared.parts);
	free(program->shared.scratch);
}

float *cpu_shared_in(const struct cpu_program *program)
{
	const struct cpu_shared *shared = &program->shared;

	if (!shared->all)
		return NULL;
	return (float *)((char *)part_of(shared, shared->rank) + shared->in);
}

void cpu_shared_backward(struct cpu_program *program,
			 const struct linear_batch *batch,
			 const struct linear_slopes *slopes)
{
	const struct cpu_shared *shared = &program->shared;
	struct header *mine = part_of(shared, shared->rank);
	const struct linear_shape *shape = shape_of(program);
	const int s = program->first_linear;
	const struct linear_state state = cpu_linear_state(program, s);
	float *gradient = program->host.vectors[VECTOR_GRADIENT];

	mine->count = batch->count;
	mine->drops = batch->keep_in != NULL;
	if (mine->drops)
		memcpy((char *)mine + shared->keep, batch->keep_in,
		       (size_t)batch->count * (size_t)shape->blocks);
	program->kernels->linear->backward_part(
		shape, &state.parameters, batch, slopes,
		gradient + program->steps[s].bias,
		(char *)mine + shared->slopes, program->scratch);
}

/* What a core has left, as the layer's kernels take it. */
static struct linear_part read_part(const struct cpu_program *program, int rank)
{
	const struct cpu_shared *shared = &program->shared;
	const struct linear_shape *shape = shape_of(program);
	struct header *header = part_of(shared, rank);
	char *part = (char *)header;

	return (struct linear_part){
		.batch = {
			.count = header->count,
			.in = (const float *)(part + shared->in),
			.sample = linear_inputs(shape),
			.block = (size_t)shape->block,
			.keep_in = header->drops ?
				(const uint8_t *)part + shared->keep : NULL,
		},
		.slopes = part + shared->slopes,
	};
}

int cpu_gradient_shared(struct program *program, const struct batch *batch,
			struct error *err)
{
	struct cpu_program *cpu = (struct cpu_program *)program;

	(void)err;
	/* A batch without samples leaves nothing. */
	part_of(&cpu->shared, cpu->shared.rank)->count = 0;
	cpu_differentiate(cpu, batch, 1);
	return 0;
}

int cpu_update_shared(struct program *program, const struct update *update,
		      struct error *err)
{
	struct cpu_program *cpu = (struct cpu_program *)program;
	const struct cpu_shared *shared = &cpu->shared;
	const struct linear_shape *shape = shape_of(cpu);
	const struct linear_state state =
		cpu_linear_state(cpu, cpu->first_linear);
	const int from = shape->blocks * shared->rank / shared->size;
	const int to = shape->blocks * (shared->rank + 1) / shared->size;

	(void)err;
	for (int r = 0; r < shared->size; r++)
		shared->parts[r] = read_part(cpu, r);
	cpu->kernels->linear->update_parts(shape, &state, update,
					   shared->parts, shared->size, from,
					   to, shared->scratch);
	cpu->weights_moved = 1;
	cpu->updated += linear_weight_at(shape, 0, to - from, 0);
	program_end_part(program, CPU_PART_UPDATE);
	return 0;
}
