#include "backends/cpu/memory.h"

/* Returns the last row of a step. */
static int last_of(const struct plan *plan, int s)
{
	return plan->steps[s].first + plan->steps[s].length - 1;
}

void cpu_plan_values(struct cpu_program *program)
{
	const struct plan *plan = &program->host.plan;

	for (int s = 0; s < plan->count - 1; s++) /* not the loss */
		program->values[last_of(plan, s)] =
			cpu_value_common(plan->steps[s].out);
}

static int work_reads_values(const struct plan *plan, int s)
{
	const struct cpu_solver *solver =
		(const struct cpu_solver *)plan->steps[s].solver;

	return solver->work_reads_values;
}

/* Returns 1 if no other value may use the memory: gaps between pixels are 0
 * from the beginning, and values that work() reads must persist. */
static int is_apart(const struct cpu_program *program, int s)
{
	const struct plan *plan = &program->host.plan;
	const int last = last_of(plan, s);
	const struct cpu_value *value = &program->values[last];
	int apart = value->size != shape_size(value->shape) ||
		    work_reads_values(plan, s);

	for (int i = s + 1; i < plan->count - 1; i++)
		apart |= work_reads_values(plan, i) &&
			 cpu_node(program, plan->steps[i].first)->source ==
				 last;
	return apart;
}

size_t cpu_floats_bytes(const struct cpu_program *program, int s)
{
	const struct step *step = &program->host.plan.steps[s];
	const struct cpu_value *value = &program->values[
		last_of(&program->host.plan, s)];
	int adds = 0;

	for (int row = step->first; row < step->first + step->length; row++)
		adds |= cpu_node(program, row)->layer->kind == LAYER_ADD;
	return value->is_rounded && !adds ? 0 :
	       (size_t)program->host.base.options.batch * value->size *
		       sizeof(float);
}

void cpu_plan_memory(struct lifetimes *lifetimes,
		     const struct cpu_program *program, int batch)
{
	const struct plan *plan = &program->host.plan;
	const int count = plan->count - 1;
	struct lifetime_step steps[MODEL_MAX_LAYERS];

	for (int s = 0; s < count; s++) {
		const int last = last_of(plan, s);
		const struct cpu_value *value = &program->values[last];
		const size_t bytes = (size_t)batch * value->size *
				     sizeof(float);

		steps[s] = (struct lifetime_step){
			.first = plan->steps[s].first,
			.last = last,
			.output = value->out_is_lent ? 0 :
				  cpu_floats_bytes(program, s) +
				  (value->is_rounded ? bytes / 2 : 0),
			.gradient = bytes,
			.apart = is_apart(program, s),
		};
	}
	lifetimes_plan(lifetimes, &program->host.graph, steps, count,
		       program->host.base.options.infers ?
			       LIFETIMES_FORWARD : LIFETIMES_RELU_SEES);
}
