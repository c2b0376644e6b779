/*
 * How a backend runs a model: the rows grouped into steps, each of which one of
 * the backend's solvers computes.
 *
 * A solver looks at the graph and says how many rows, from one on, it takes, or
 * why it declines. A backend lists its solvers, the most special first, and
 * after them one for every kind of layer alone. The plan covers the rows from
 * front to back with the first solver that takes some at each place.
 */
#ifndef BACKENDS_CONTRACT_PLAN_H
#define BACKENDS_CONTRACT_PLAN_H

#include "backends/contract/program.h"
#include "backends/contract/graph.h"

/* First member of a backend's own solvers. */
struct solver {
	const char *name; /* "conv+relu" */
	/* How many rows from first on it computes together; 0: it declines,
	 * and sets *why by plan_decline() if the layer is of a kind that it
	 * computes. NULL: any row of its kind alone, and of LAYER_DROPOUT
	 * either one. */
	int (*takes)(const struct graph *graph, int first,
		     const struct program_options *options, const char **why);
	enum layer_kind kind;
};

#define PLAN_MOST_SOLVERS 24

struct step {
	const struct solver *solver;
	/* Why each solver before it in the plan's list declined; NULL = it
	 * computes layers of other kinds. */
	const char *declined[PLAN_MOST_SOLVERS];
	int first, length;    /* rows, by their index in the model's table */
	struct shape in, out; /* of the first row, and of the last */
};

struct plan {
	const struct model *model;
	const struct solver *const *solvers; /* to choose from, borrowed */
	int solver_count; /* at most PLAN_MOST_SOLVERS */
	int count;
	struct step steps[MODEL_MAX_LAYERS];
};

/* For solvers: declines with this reason, a literal; returns 0. */
static inline int plan_decline(const char **why, const char *reason)
{
	*why = reason;
	return 0;
}

/* count solvers; a row that none of them takes is an error that names it. */
int plan_resolve(struct plan *plan, const struct graph *graph,
		 const struct program_options *options,
		 const struct solver *const *solvers, int count,
		 struct error *err);

/*
 * For solvers of a chain: how many rows from first on there are of which each
 * but the last is read by the next one alone, which has the next of these kinds
 * that is there; kinds may be missing, but for the first. LAYER_DROPOUT is
 * either dropout.
 */
int plan_chain(const struct graph *graph, int first,
	       const enum layer_kind *kinds, int count);

/* Floats that the steps make of a sample, and bytes of all decisions. */
double plan_sample_floats(const struct plan *plan);
double plan_decision_bytes(const struct model *model);

/* One line a step: its layers, their shapes in and out, and its solver; after
 * it one line for each solver that declined. */
void plan_explain(const struct plan *plan, char *text, size_t size);

#endif
