#include "backends/contract/plan.h"

#include <assert.h>
#include <stdio.h>

static int is_of_kind(const struct layer *layer, enum layer_kind kind)
{
	return layer->kind == kind ||
	       (kind == LAYER_DROPOUT && layer_drops(layer));
}

int plan_chain(const struct graph *graph, int first,
	       const enum layer_kind *kinds, int count)
{
	int length = 1;

	if (!is_of_kind(graph->nodes[first].layer, kinds[0]))
		return 0;
	for (int k = 1; k < count && first + length < graph->count; k++) {
		const struct node *next = &graph->nodes[first + length];

		if (next->source != first + length - 1 ||
		    graph->nodes[first + length - 1].readers != 1)
			break;
		length += is_of_kind(next->layer, kinds[k]);
	}
	return length;
}

static int count_taken(const struct solver *solver, const struct graph *graph,
		       int first, const struct program_options *options,
		       const char **why)
{
	return solver->takes ? solver->takes(graph, first, options, why) :
			       is_of_kind(graph->nodes[first].layer,
					  solver->kind);
}

int plan_resolve(struct plan *plan, const struct graph *graph,
		 const struct program_options *options,
		 const struct solver *const *solvers, int count,
		 struct error *err)
{
	*plan = (struct plan){ .model = graph->model,
			       .solvers = solvers,
			       .solver_count = count };
	assert(count <= PLAN_MOST_SOLVERS);
	for (int at = 0; at < graph->count;) {
		struct step *step = &plan->steps[plan->count];
		int taken = 0, s = 0;

		while (s < count &&
		       !(taken = count_taken(solvers[s], graph, at, options,
					     &step->declined[s])))
			s++;
		if (s == count) {
			char where[80];

			layer_describe(graph->model, at, where, sizeof(where));
			return error_set(err, ERROR_MISSING, "model '%s', %s: "
					 "not supported by this backend",
					 graph->model->name, where);
		}
		step->solver = solvers[s];
		step->first = at;
		step->length = taken;
		step->in = graph->nodes[at].in;
		step->out = graph->nodes[at + taken - 1].out;
		plan->count++;
		at += taken;
	}
	return 0;
}

double plan_sample_floats(const struct plan *plan)
{
	double floats = 0;

	for (int s = 0; s < plan->count; s++)
		floats += (double)shape_size(plan->steps[s].out);
	return floats;
}

double plan_decision_bytes(const struct model *model)
{
	double bytes = 0;

	for (int l = 0; l < model->layer_count; l++)
		bytes += (double)layer_decisions(&model->layers[l],
						 model_layer_input(model, l));
	return bytes;
}

/* Names the kinds of a step's rows: "conv+relu+maxpool". */
static void name_rows(const struct plan *plan, const struct step *step,
		      char *text, size_t size)
{
	size_t used = 0;

	for (int i = 0; i < step->length && used < size; i++)
		used += (size_t)snprintf(
			text + used, size - used, "%s%s", i ? "+" : "",
			layer_kind_name(plan->model->layers[step->first + i]
						.kind));
}

void plan_explain(const struct plan *plan, char *text, size_t size)
{
	size_t used = 0;

	for (int i = 0; i < plan->count && used < size; i++) {
		const struct step *step = &plan->steps[i];
		char rows[64];

		name_rows(plan, step, rows, sizeof(rows));
		used += (size_t)snprintf(
			text + used, size - used,
			"%2d  %-28s %dx%dx%d -> %dx%dx%d, %s\n", i, rows,
			step->in.channels, step->in.height, step->in.width,
			step->out.channels, step->out.height, step->out.width,
			step->solver->name);
		for (int s = 0; s < plan->solver_count && used < size; s++)
			if (step->declined[s])
				used += (size_t)snprintf(
					text + used, size - used,
					"    not %s: %s\n",
					plan->solvers[s]->name,
					step->declined[s]);
	}
}
