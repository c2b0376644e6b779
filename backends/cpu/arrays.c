/*
 * The arrays of a compiled program, the host's vectors aside: how many floats
 * each step wants for the largest batch. Nothing is allocated after this.
 */
#include <stdlib.h>

#include "backends/cpu/cpu.h"

static int allocate_stem(struct cpu_program *program)
{
	struct cpu_step *bound = &program->steps[0];
	const size_t batch = (size_t)program->host.base.options.batch;

	bound->winners = host_allocate(batch * bound->out_size);
	return !bound->winners ||
			       cpu_stem_allocate(&program->stem, (int)batch) ?
		       -1 : 0;
}

static int allocate_conv(struct cpu_program *program, struct cpu_step *bound)
{
	const struct conv_shape *conv = &bound->conv;
	const size_t batch = (size_t)program->host.base.options.batch;
	const size_t weights = (size_t)conv->window * (size_t)conv->window *
			       (size_t)conv->in_channels *
			       (size_t)conv->out_stride;

	bound->forward_weights = host_allocate(weights * sizeof(float));
	if (conv->pool > 1)
		bound->winners = host_allocate(batch * bound->out_size);
	if (program->host.base.options.algorithm == ALGORITHM_DENSE &&
	    cpu_dense_allocate(bound))
		return -1;
	if (bound->gathered)
		program->patches =
			host_allocate(bound->in_size * sizeof(float));
	return bound->forward_weights &&
			       (bound->winners || conv->pool == 1) &&
			       (program->patches || !bound->gathered) ?
		       0 : -1;
}

/* Floats of the unpooled rows under one row of windows. */
static size_t window_rows(const struct conv_shape *conv)
{
	return (size_t)conv->pool * (size_t)conv_columns(conv) *
	       (size_t)conv->out_stride;
}

static size_t linear_scratch(const struct cpu_program *program, int batch)
{
	size_t most = 0;

	for (int s = program->first_linear; s < program->host.plan.count - 1;
	     s++) {
		const size_t size = program->kernels->linear->scratch(
			&program->steps[s].linear, batch);

		most = size > most ? size : most;
	}
	return most;
}

int cpu_allocate_arrays(struct cpu_program *program)
{
	const size_t batch = (size_t)program->host.base.options.batch;
	size_t rows = 0;

	if (program->stem.step && allocate_stem(program))
		return -1;
	for (int s = 0; s < program->host.plan.count - 1; s++) {
		struct cpu_step *bound = &program->steps[s];
		const size_t bytes = batch * bound->out_size * sizeof(float);

		bound->out_is_lent = s + 1 == program->first_linear &&
				     cpu_joint_in(program);
		bound->out = bound->out_is_lent ? cpu_joint_in(program) :
						  host_allocate(bytes);
		bound->out_slopes = host_allocate(bytes);
		if (!bound->out || !bound->out_slopes ||
		    (bound->conv.window && allocate_conv(program, bound)))
			return -1;
		if (bound->conv.window && window_rows(&bound->conv) > rows)
			rows = window_rows(&bound->conv);
	}
	program->scratch = host_allocate(linear_scratch(program, (int)batch));
	program->ones = host_allocate(batch * sizeof(float));
	program->rows = host_allocate(rows * sizeof(float));
	if (!program->scratch || !program->ones || !program->rows ||
	    cpu_map_parameters(program))
		return -1;
	for (size_t i = 0; i < batch; i++)
		program->ones[i] = 1;
	return 0;
}

void cpu_release_arrays(struct cpu_program *program)
{
	for (int s = 0; s < PLAN_MAX_STEPS; s++) {
		if (!program->steps[s].out_is_lent)
			free(program->steps[s].out);
		free(program->steps[s].out_slopes);
		free(program->steps[s].winners);
		free(program->steps[s].forward_weights);
		cpu_dense_release(&program->steps[s]);
	}
	cpu_stem_release(&program->stem);
	free(program->where);
	free(program->patches);
	free(program->rows);
	free(program->ones);
	free(program->scratch);
}
