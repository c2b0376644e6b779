/* The work of linear layers: what is not dropped, and slopes that are not 0. */
#include <math.h>

#include "backends/cpu/work.h"

/* What a linear step multiplies by, summed over samples of the batch. */
struct linear_work {
	double inputs, outputs; /* that are not dropped */
	double nonzero;		/* of these inputs; NAN: not counted */
	double slopes;		/* by the outputs before ReLU, that are not 0 */
	double forward;		/* outputs that are kept, times inputs */
	double backward;	/* slopes that are not 0, times inputs */
};

static double count_kept(const uint8_t *keep, int count)
{
	double kept = 0;

	for (int i = 0; keep && i < count; i++)
		kept += keep[i] != 0;
	return keep ? kept : count;
}

/* Inputs of a sample that are not 0, in blocks that are not dropped. */
static double count_inputs(const struct cpu_program *program, int s, int sample,
			   const uint8_t *keep)
{
	const struct linear_shape *shape = &program->steps[s].linear;
	const float *in;
	double count = 0;

	if (!s)
		return NAN;
	in = program->steps[s - 1].out +
	     (size_t)sample * program->steps[s].in_size;
	for (int b = 0; b < shape->blocks; b++, in += shape->block)
		for (int i = 0; (!keep || keep[b]) && i < shape->block; i++)
			count += in[i] != 0;
	return count;
}

/* What dropout let through is above 0, or a NaN, exactly where ReLU let it. */
static double count_slopes(const struct cpu_step *bound, int sample,
			   const uint8_t *keep)
{
	const size_t at = (size_t)sample * bound->out_size;
	double count = 0;

	for (size_t o = 0; o < bound->out_size; o++)
		count += bound->out_slopes[at + o] != 0 &&
			 (!keep || keep[o]) &&
			 (!bound->linear.relu || !(bound->out[at + o] <= 0));
	return count;
}

static struct linear_work linear_work(const struct cpu_program *program, int s)
{
	const struct cpu_step *bound = &program->steps[s];
	const struct linear_shape *shape = &bound->linear;
	const struct step *step = bound->step;
	struct linear_work work = { 0 };

	for (int i = 0; i < program->host.batch_count; i++) {
		const uint8_t *keep_in = shape->blocks > 1 ?
			cpu_stem_keep(program, i) : NULL;
		const uint8_t *keep_out = cpu_drops(program, step) ?
			host_decisions_at(&program->host, step->dropout, i) :
			NULL;
		/* Without the padding of planes. */
		const double inputs = count_kept(keep_in, shape->blocks) /
				      shape->blocks *
				      (double)shape_size(step->in);
		const double outputs = count_kept(keep_out, shape->outputs);
		const double slopes = count_slopes(bound, i, keep_out);

		work.inputs += inputs;
		work.outputs += outputs;
		work.nonzero += count_inputs(program, s, i, keep_in);
		work.slopes += slopes;
		work.forward += inputs * outputs;
		work.backward += inputs * slopes;
	}
	return work;
}

/* Multiply-adds that are done, of either way backward. */
struct linear_done {
	double forward, backward;
};

static struct linear_done linear_done(const struct cpu_program *program, int s,
				      const struct linear_work *work)
{
	const struct cpu_step *bound = &program->steps[s];
	const struct linear_shape *shape = &bound->linear;
	const struct linear_kernels *kernels = program->kernels->linear;
	const int count = program->host.batch_count;
	const int drops = cpu_drops(program, bound->step) ||
			  (shape->blocks > 1 && cpu_stem_keep(program, 0));
	const double kept_in = work->inputs * shape->outputs;
	const double all = count * work_of_main(bound->step);

	if (program->host.base.options.algorithm == ALGORITHM_DENSE)
		return (struct linear_done){ all, all };
	return (struct linear_done){
		kernels->forward_is_dense(shape, count, drops) ? kept_in :
								 work->forward,
		work->backward,
	};
}

/* The slopes by its weights and their update, which cores make together: each
 * does as much as those of its own samples would be. No gradient moves. */
static void fill_joint(const struct cpu_program *program, int s,
		       const struct profile_part *backward,
		       const struct linear_work *work,
		       struct profile_part *part)
{
	*part = *backward;
	part->bytes = WORK_FLOAT *
		      (work->inputs + (WORK_UPDATE - 1) *
					      (double)program->joint.updated);
	work_name(program, s, "weights+update", part);
}

void work_fill_linear(const struct cpu_program *program, int s,
		      struct profile_part *parts)
{
	const struct cpu_step *bound = &program->steps[s];
	const struct linear_work work = linear_work(program, s);
	const struct linear_done done = linear_done(program, s, &work);
	const double weights = work_parameters(bound->step);
	const double count = work_samples(program);
	const int at_once = program->leaves == CPU_LEAVES_UPDATE;
	const int joint = program->leaves == CPU_LEAVES_PARTS &&
			  s == program->first_linear;
	/* By weights, and by the input. */
	const int ways = s && !joint ? 2 : 1;
	struct profile_part part = {
		.dense = count * work_of_main(bound->step),
		.done = done.forward,
		.bytes = WORK_FLOAT * (work.inputs + work.outputs + weights),
		.nonzero = work_share(work.nonzero,
				      count * (double)shape_size(
						      bound->step->in)),
	};

	work_name(program, s, "forward", &part);
	parts[CPU_PART_FORWARD + s] = part;
	part.dense *= ways;
	part.done = ways * done.backward;
	/* The gradient is stored, or all that an update needs moves. */
	part.bytes += WORK_FLOAT *
		      ((s ? work.inputs : 0) +
		       (joint ? 0 : at_once ? WORK_UPDATE - 2 : 1) * weights);
	part.nonzero = work_share(work.slopes, count * (double)bound->out_size);
	work_name(program, s, at_once ? "backward+update" : "backward", &part);
	parts[cpu_part_backward(s, CPU_SLOPES)] = part;
	if (joint)
		fill_joint(program, s, &part, &work, &parts[CPU_PART_JOINT]);
}
