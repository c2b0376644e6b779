/*
 * Cores that make the update of a linear layer's weights together: the weight
 * gradient is never stored, and never exchanged.
 */
#include "backends/cpu/solvers/joint.h"

#include <stdlib.h>
#include <string.h>

#include "backends/contract/allocator.h"
#include "backends/cpu/profile.h"

/* What begins a core's part. */
struct header {
	int count; /* samples of its last batch */
	int drops; /* some of their blocks are dropped */
};

static size_t whole_lines(size_t bytes)
{
	return (bytes + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
}

/* Of a core with so many samples. */
static void lay_out_part(const struct cpu_program *program,
			 const struct linear_shape *shape,
			 struct cpu_joint *joint)
{
	const int count = program->host.base.options.batch;
	const size_t batch = (size_t)count;

	joint->keep = CACHE_LINE;
	joint->dz =
		joint->keep + whole_lines(batch * (size_t)shape->blocks);
	joint->in = joint->dz +
		    whole_lines(program->kernels->linear->part_size(shape,
								    count));
	joint->each = joint->in + whole_lines(batch * linear_inputs(shape) *
					      sizeof(float));
}

/* Cores that have no memory in common get the parts of all others; else they
 * would get their slices of all gradients, and then all other weights. */
static int pays_apart(const struct cpu_program *program,
		      const struct linear_step *linear)
{
	const int size = program->host.base.options.apart_size;
	struct cpu_joint joint;

	if (size < 2)
		return 0;
	lay_out_part(program, &linear->shape, &joint);
	return (size_t)size * joint.each <
	       2 * sizeof(float) * linear_weights(linear);
}

/*
 * The first one that has blocks to divide among cores, and inputs that a step
 * computes: images are where the caller has them. A layer that is broken stores
 * a gradient that is wrong. With bf16 they are as with fp32.
 */
int cpu_joint_fits(const struct cpu_program *program,
		   const struct linear_step *linear)
{
	return (program->host.base.options.memory ||
		pays_apart(program, linear)) &&
	       !program->host.base.options.infers && linear->shape.blocks > 1 &&
	       !program->joint &&
	       cpu_node(program, linear->step.first)->source != MODEL_IMAGES &&
	       !cpu_node(program, linear->step.first)->broken;
}

int cpu_joint_open(struct cpu_program *program, struct linear_step *linear)
{
	const struct program_options *options = &program->host.base.options;
	struct cpu_joint *joint = calloc(1, sizeof(*joint));

	program->joint = joint;
	if (!joint)
		return -1;
	joint->linear = linear;
	joint->apart = !options->memory;
	joint->rank = joint->apart ? options->apart_rank :
				     options->memory->rank;
	joint->size = joint->apart ? options->apart_size :
				     options->memory->size;
	lay_out_part(program, &linear->shape, joint);
	joint->parts = calloc((size_t)joint->size, sizeof(*joint->parts));
	joint->scratch = host_allocate(program->kernels->linear->update_scratch(
		&linear->shape, program->host.base.options.batch));
	return joint->parts && joint->scratch ? 0 : -1;
}

void cpu_joint_close(struct cpu_program *program)
{
	if (!program->joint)
		return;
	if (program->joint->apart)
		free(program->joint->all);
	free(program->joint->parts);
	free(program->joint->scratch);
	free(program->joint);
}

int cpu_is_joint(const struct cpu_program *program, const struct cpu_step *step)
{
	return program->joint && &program->joint->linear->step == step;
}

size_t cpu_joint_place(struct cpu_program *program, size_t at)
{
	struct linear_step *linear = program->joint->linear;

	linear->weight = at;
	return at + linear_weights(linear);
}

static struct header *part_of(const struct cpu_joint *joint, int rank)
{
	return (struct header *)(joint->all + (size_t)rank * joint->each);
}

int cpu_joint_share(struct cpu_program *program, struct error *err)
{
	const struct program_options *options = &program->host.base.options;
	struct cpu_joint *joint = program->joint;
	struct cpu_value *in = joint->linear->step.in;
	const size_t bytes = (size_t)joint->size * joint->each;

	joint->all = joint->apart ?
			     host_allocate(bytes) :
			     options->memory->share(options->memory, bytes,
						    err);
	if (!joint->all)
		return joint->apart ? error_memory(err, "factors") : -1;
	if (joint->apart) {
		memset(joint->all, 0, bytes);
		program->host.base.factors = (float *)(void *)joint->all;
		program->host.base.factors_each = joint->each / sizeof(float);
	}
	in->out = (float *)((char *)part_of(joint, joint->rank) + joint->in);
	in->out_is_lent = 1;
	return 0;
}

void cpu_joint_backward(struct cpu_program *program,
			const struct linear_batch *batch,
			const struct linear_flow *flow)
{
	const struct cpu_joint *joint = program->joint;
	const struct linear_step *linear = joint->linear;
	struct header *mine = part_of(joint, joint->rank);
	const struct linear_state state = linear_state(program, linear);

	mine->count = batch->count;
	mine->drops = batch->keep_in != NULL;
	if (mine->drops)
		memcpy((char *)mine + joint->keep, batch->keep_in,
		       (size_t)batch->count * (size_t)linear->shape.blocks);
	program->kernels->linear->backward_part(
		&linear->shape, &state.parameters, batch, flow,
		program->host.vectors[VECTOR_GRADIENT] + linear->bias,
		(char *)mine + joint->dz, program->scratch);
}

/* What a core has left, as the layer's kernels take it. */
static struct linear_part read_part(const struct cpu_joint *joint, int rank)
{
	const struct linear_shape *shape = &joint->linear->shape;
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
		.dz = part + joint->dz,
	};
}

void cpu_joint_begin(struct cpu_program *program)
{
	part_of(program->joint, program->joint->rank)->count = 0;
}

void cpu_joint_update(struct cpu_program *program, const struct update *update)
{
	struct cpu_joint *joint = program->joint;
	const struct linear_shape *shape = &joint->linear->shape;
	const struct linear_state state = linear_state(program, joint->linear);
	const int all = joint->apart; /* else the own ones */
	const int from = all ? 0 : shape->blocks * joint->rank / joint->size;
	const int to = all ? shape->blocks :
			     shape->blocks * (joint->rank + 1) / joint->size;

	for (int r = 0; r < joint->size; r++)
		joint->parts[r] = read_part(joint, r);
	program->kernels->linear->update_parts(shape, &state, update,
					       joint->parts, joint->size, from,
					       to, joint->scratch);
	program->moved = program->moved_back = 1;
	joint->updated = linear_weight_at(shape, 0, to - from, 0);
	program_end_part(&program->host.base, CPU_PART_JOINT);
}
