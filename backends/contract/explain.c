/* Functions of programs that need the plan's declarations. */
#include "backends/contract/backend.h"
#include "backends/contract/plan.h"

#include <stdio.h>
#include <string.h>

double backend_batch_bytes(const struct backend *backend,
			   const struct model *model,
			   const struct program_options *options)
{
	return options->batch * (backend->sample_bytes ?
					 backend->sample_bytes(model, options) :
					 plan_decision_bytes(model));
}

const char *program_solver(const struct program *program, int index,
			   int *steps)
{
	const struct plan *plan = program->plan;

	if (!plan || index >= plan->solver_count)
		return NULL;
	*steps = 0;
	for (int s = 0; s < plan->count; s++)
		*steps += plan->steps[s].solver == plan->solvers[index];
	return plan->solvers[index]->name;
}

void program_explain(const struct program *program, char *text, size_t size)
{
	struct graph graph;
	size_t used;

	if (program->plan) {
		plan_explain(program->plan, text, size);
	} else {
		graph_resolve(&graph, program->model);
		graph_explain(&graph, text, size);
	}
	used = strlen(text);
	if (program->activation_bytes)
		snprintf(text + used, size - used,
			 "activations and gradients of %d samples: %.1f MB, "
			 "%.1f MB without sharing memory\n",
			 program->options.batch,
			 (double)program->activation_bytes * 1e-6,
			 (double)program->unshared_bytes * 1e-6);
}
