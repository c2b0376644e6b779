/* Forward and backward over the steps, and what these have in common. */
#include <string.h>

#include "backends/cpu/cpu.h"

int cpu_row_of(const struct cpu_program *program, const struct cpu_step *step,
	       enum layer_kind kind)
{
	for (int row = step->first; row <= step->last; row++) {
		const struct layer *layer = cpu_node(program, row)->layer;

		if (layer->kind == kind ||
		    (kind == LAYER_DROPOUT && layer_drops(layer)))
			return row;
	}
	return CPU_NO_ROW;
}

int cpu_drops(const struct cpu_program *program, int row)
{
	return row != CPU_NO_ROW && program->host.base.options.dropout;
}

static void refresh(struct cpu_program *program, int training)
{
	if (!program->moved && !(training && program->moved_back))
		return;
	for (int s = 0; s < program->count; s++) {
		struct cpu_step *step = program->steps[s];

		if (step->solver->refresh)
			step->solver->refresh(program, step, training);
	}
	program->moved = 0;
	program->moved_back = program->moved_back && !training;
}

void cpu_forward(struct cpu_program *program, const struct cpu_pass *pass)
{
	struct program *base = &program->host.base;

	refresh(program, pass->training);
	program_end_part(base, CPU_PART_WEIGHTS);
	/* They are only read. */
	program->images.out = (float *)pass->batch->images +
			      (size_t)pass->first * program->images.size;
	if (program->wants_common)
		cpu_value_copy(&program->images, program->images.out,
			       pass->count, &program->common_images,
			       program->common_images.out);
	for (int s = 0; s < program->count; s++) {
		struct cpu_step *step = program->steps[s];

		step->solver->forward(program, step, pass);
		program_end_part(base, CPU_PART_FORWARD + s);
	}
}

void cpu_backward(struct cpu_program *program, const struct cpu_pass *pass)
{
	for (int s = program->count - 1; s >= 0; s--) {
		struct cpu_step *step = program->steps[s];

		if (!step->out->gradient)
			continue;
		step->solver->backward(program, step, pass);
		program_end_part(&program->host.base,
				 cpu_part_backward(s, CPU_BY_ALL));
	}
}
