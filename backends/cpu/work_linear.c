/* The work of linear layers: what is not dropped, and of gradients not 0. */
#include <math.h>

#include "backends/cpu/joint.h"
#include "backends/cpu/work.h"

/* What a linear step multiplies by, summed over samples of the batch. */
struct linear_work {
	double inputs, outputs; /* that are not dropped */
	double nonzero;		/* of these inputs; NAN: not counted */
	double gradient;	/* by the outputs before ReLU: what is not 0 */
	double forward;		/* outputs that are kept, times inputs */
	double backward;	/* that, times inputs */
};

static double count_kept(const uint8_t *keep, int count)
{
	double kept = 0;

	for (int i = 0; keep && i < count; i++)
		kept += keep[i] != 0;
	return keep ? kept : count;
}

/* Inputs of a sample that are not 0, in blocks that are not dropped. */
static double count_inputs(const struct linear_step *linear, int sample,
			   const uint8_t *keep)
{
	const struct linear_shape *shape = &linear->shape;
	const struct cpu_value *value = linear->step.in;
	const float *in = value->out + (size_t)sample * value->size;
	double count = 0;

	if (!value->gradient)
		return NAN;
	for (int b = 0; b < shape->blocks; b++, in += shape->block)
		for (int i = 0; (!keep || keep[b]) && i < shape->block; i++)
			count += in[i] != 0;
	return count;
}

/* What dropout let through is above 0, or a NaN, exactly where ReLU let it. */
static double count_gradient(const struct linear_step *linear, int sample,
			     const uint8_t *keep)
{
	const struct cpu_value *out = linear->step.out;
	const size_t at = (size_t)sample * out->size;
	double count = 0;

	for (size_t o = 0; o < out->size; o++)
		count += out->gradient[at + o] != 0 && (!keep || keep[o]) &&
			 (!linear->shape.relu || !(out->out[at + o] <= 0));
	return count;
}

static const uint8_t *choices_at(const struct cpu_program *program, int row,
				 int sample)
{
	return cpu_drops(program, row) ?
		       host_decisions_at(&program->host, row, sample) : NULL;
}

static struct linear_work count_work(const struct cpu_program *program,
				     const struct linear_step *linear)
{
	const struct linear_shape *shape = &linear->shape;
	struct linear_work work = { 0 };

	for (int i = 0; i < program->host.batch_count; i++) {
		const uint8_t *keep_in =
			choices_at(program, linear->step.in->dropped_by, i);
		const uint8_t *keep_out =
			choices_at(program, linear->dropout, i);
		/* Without the padding of planes. */
		const double inputs = count_kept(keep_in, shape->blocks) /
				      shape->blocks *
				      (double)shape_size(
					      linear->step.in->shape);
		const double outputs = count_kept(keep_out, shape->outputs);
		const double gradient = count_gradient(linear, i, keep_out);

		work.inputs += inputs;
		work.outputs += outputs;
		work.nonzero += count_inputs(linear, i, keep_in);
		work.gradient += gradient;
		work.forward += inputs * outputs;
		work.backward += inputs * gradient;
	}
	return work;
}

/* Multiply-adds of forward that are done. */
static double forward_done(const struct cpu_program *program,
			   const struct linear_step *linear,
			   const struct linear_work *work)
{
	const struct linear_shape *shape = &linear->shape;
	const int drops = cpu_drops(program, linear->dropout) ||
			  cpu_drops(program, linear->step.in->dropped_by);

	return program->kernels->linear->forward_is_dense(
		       shape, program->host.batch_count, drops) ?
		       work->inputs * shape->outputs : work->forward;
}

/* The gradient by its weights and their update, which cores make together: each
 * does as much as those of its own samples would be. No gradient moves. */
static void fill_joint(const struct cpu_program *program,
		       const struct profile_part *backward,
		       const struct linear_work *work,
		       struct profile_part *part)
{
	*part = *backward;
	part->bytes = WORK_FLOAT *
		      (work->inputs + (WORK_UPDATE - 1) *
					      (double)program->joint->updated);
	work_name(program, &program->joint->linear->step, "weights+update",
		  part);
}

void linear_work(const struct cpu_program *program, const struct cpu_step *step,
		 struct profile_part *parts)
{
	const struct linear_step *linear = (const struct linear_step *)step;
	const struct node *node = cpu_node(program, step->first);
	const struct linear_work work = count_work(program, linear);
	const double weights = work_parameters(node);
	const double count = work_samples(program);
	const int at_once = program->leaves == CPU_LEAVES_UPDATE;
	const int joint = program->leaves == CPU_LEAVES_PARTS &&
			  cpu_is_joint(program, step);
	/* By weights, and by the input. */
	const int ways = node->wants_dx && !joint ? 2 : 1;
	struct profile_part part = {
		.dense = count * work_of_node(node),
		.done = forward_done(program, linear, &work),
		.bytes = WORK_FLOAT * (work.inputs + work.outputs + weights),
		.nonzero = work_share(work.nonzero,
				      count * (double)shape_size(node->in)),
	};

	work_name(program, step, "forward", &part);
	parts[CPU_PART_FORWARD + step->index] = part;
	part.dense *= ways;
	part.done = ways * work.backward;
	/* The gradient is stored, or all that an update needs moves. */
	part.bytes += WORK_FLOAT *
		      ((node->wants_dx ? work.inputs : 0) +
		       (joint ? 0 : at_once ? WORK_UPDATE - 2 : 1) * weights);
	part.nonzero = work_share(work.gradient,
				  count * (double)step->out->size);
	work_name(program, step, at_once ? "backward+update" : "backward",
		  &part);
	parts[cpu_part_backward(step->index, CPU_BY_ALL)] = part;
	if (joint)
		fill_joint(program, &part, &work, &parts[CPU_PART_JOINT]);
}
