/*
 * Cores that make the update of the first linear layer's weights together: the
 * slopes by them are never stored, and never exchanged. See struct cpu_joint.
 */
#include <stdlib.h>
#include <string.h>

#include "backends/allocator.h"
#include "backends/cpu/cpu.h"

/* What begins a core's part. */
struct header {
	int count; /* samples of its last batch */
	int drops; /* some of their blocks are dropped */
};

static size_t whole_lines(size_t bytes)
{
	return (bytes + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
}

/*
 * It is the second step, behind a stem: only there has it blocks to divide
 * among cores. The dense algorithm has other kernels, and a layer that is
 * broken stores slopes that are wrong. With bf16 they are as with fp32.
 */
int cpu_can_join(const struct cpu_program *program)
{
	const struct program_options *options = &program->host.base.options;
	const struct step *steps = program->host.plan.steps;

	return options->memory && options->algorithm == ALGORITHM_FAST &&
	       steps[0].lead.layer != STEP_NO_LAYER && !steps[1].broken;
}

static struct header *part_of(const struct cpu_joint *joint, int rank)
{
	return (struct header *)(joint->all + (size_t)rank * joint->each);
}

static const struct linear_shape *shape_of(const struct cpu_program *program)
{
	return &program->steps[program->first_linear].linear;
}

static void lay_out(struct cpu_program *program)
{
	struct cpu_joint *joint = &program->joint;
	const struct program_options *options = &program->host.base.options;
	const struct linear_shape *shape = shape_of(program);
	const size_t batch = (size_t)options->batch;

	joint->rank = options->memory->rank;
	joint->size = options->memory->size;
	joint->keep = CACHE_LINE;
	joint->slopes =
		joint->keep + whole_lines(batch * (size_t)shape->blocks);
	joint->in = joint->slopes +
		    whole_lines(program->kernels->linear->part_size(
			    shape, options->batch));
	joint->each = joint->in + whole_lines(batch * linear_inputs(shape) *
					      sizeof(float));
}

int cpu_joint_allocate(struct cpu_program *program, struct error *err)
{
	struct cpu_joint *joint = &program->joint;
	struct program *base = &program->host.base;

	if (base->summed == base->length)
		return 0;
	lay_out(program);
	joint->parts = calloc((size_t)joint->size, sizeof(*joint->parts));
	joint->scratch = host_allocate(
		program->kernels->linear->update_scratch(
			shape_of(program), base->options.batch));
	if (!joint->parts || !joint->scratch)
		return error_memory(err, "what a core makes for others");
	joint->all = base->options.memory->share(
		base->options.memory, (size_t)joint->size * joint->each, err);
	return joint->all ? 0 : -1;
}

void cpu_joint_release(struct cpu_program *program)
{
	free(program->joint.parts);
	free(program->joint.scratch);
}

float *cpu_joint_in(const struct cpu_program *program)
{
	const struct cpu_joint *joint = &program->joint;

	if (!joint->all)
		return NULL;
	return (float *)((char *)part_of(joint, joint->rank) + joint->in);
}

void cpu_joint_backward(struct cpu_program *program,
			const struct linear_batch *batch,
			const struct linear_slopes *slopes)
{
	const struct cpu_joint *joint = &program->joint;
	struct header *mine = part_of(joint, joint->rank);
	const struct linear_shape *shape = shape_of(program);
	const int s = program->first_linear;
	const struct linear_state state = cpu_linear_state(program, s);
	float *gradient = program->host.vectors[VECTOR_GRADIENT];

	mine->count = batch->count;
	mine->drops = batch->keep_in != NULL;
	if (mine->drops)
		memcpy((char *)mine + joint->keep, batch->keep_in,
		       (size_t)batch->count * (size_t)shape->blocks);
	program->kernels->linear->backward_part(
		shape, &state.parameters, batch, slopes,
		gradient + program->steps[s].bias,
		(char *)mine + joint->slopes, program->scratch);
}

/* What a core has left, as the layer's kernels take it. */
static struct linear_part read_part(const struct cpu_program *program, int rank)
{
	const struct cpu_joint *joint = &program->joint;
	const struct linear_shape *shape = shape_of(program);
	struct header *header = part_of(joint, rank);
	char *part = (char *)header;

	return (struct linear_part){
		.batch = {
			.count = header->count,
			.in = (const float *)(part + joint->in),
			.sample = linear_inputs(shape),
			.block = (size_t)shape->block,
			.keep_in = header->drops ?
				(const uint8_t *)part + joint->keep : NULL,
		},
		.slopes = part + joint->slopes,
	};
}

int cpu_gradient_joint(struct program *program, const struct batch *batch,
		       struct error *err)
{
	struct cpu_program *cpu = (struct cpu_program *)program;

	(void)err;
	/* A batch without samples leaves nothing. */
	part_of(&cpu->joint, cpu->joint.rank)->count = 0;
	cpu_differentiate(cpu, batch, CPU_LEAVES_PARTS, NULL);
	return 0;
}

int cpu_update_joint(struct program *program, const struct update *update,
		     struct error *err)
{
	struct cpu_program *cpu = (struct cpu_program *)program;
	struct cpu_joint *joint = &cpu->joint;
	const struct linear_shape *shape = shape_of(cpu);
	const struct linear_state state =
		cpu_linear_state(cpu, cpu->first_linear);
	const int from = shape->blocks * joint->rank / joint->size;
	const int to = shape->blocks * (joint->rank + 1) / joint->size;

	(void)err;
	for (int r = 0; r < joint->size; r++)
		joint->parts[r] = read_part(cpu, r);
	cpu->kernels->linear->update_parts(shape, &state, update,
					   joint->parts, joint->size, from,
					   to, joint->scratch);
	cpu->weights_moved = 1;
	joint->updated = linear_weight_at(shape, 0, to - from, 0);
	program_end_part(program, CPU_PART_JOINT);
	return 0;
}
