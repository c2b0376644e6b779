/*
 * A plan: how a backend runs a model. Rows are grouped into steps, and one of
 * the backend's solvers computes each step.
 *
 * A solver returns how many rows of the graph, from a given one on, it takes,
 * or why it declines. A backend lists its solvers, the most special first, then
 * one for every kind of layer alone. The plan covers the rows from front to
 * back, each time with the first solver that takes some.
 */
#ifndef BACKENDS_CONTRACT_PLAN_H
#define BACKENDS_CONTRACT_PLAN_H

#include "backends/contract/program.h"
#include "backends/contract/graph.h"

/* First member of a backend's own solvers. */
struct solver {
	const char *name; /* "conv+relu" */
	/*
	 * Returns how many rows from first on it computes together. Returns 0
	 * if it declines, and sets *why by plan_decline() if it computes that
	 * kind of layer. NULL = it takes any single row of its kind;
	 * LAYER_DROPOUT takes either dropout.
	 */
	int (*takes)(const struct graph *graph, int first,
		     const struct program_options *options, const char **why);
	enum layer_kind kind;
};

#define PLAN_MOST_SOLVERS 24

struct step {
	const struct solver *solver;
	/* Reasons of the solvers before it in the plan's list; NULL = they
	 * compute other kinds of layers. */
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

/* Plans graph with count solvers. Returns 0, or -1 with err, which names a row
 * that no solver takes. */
int plan_resolve(struct plan *plan, const struct graph *graph,
		 const struct program_options *options,
		 const struct solver *const *solvers, int count,
		 struct error *err);

/*
 * For solvers of a chain: returns the number of rows from first on that match
 * kinds. Each row but the last must be read by the next row alone. Kinds may be
 * missing, except the first. LAYER_DROPOUT matches either dropout.
 */
int plan_chain(const struct graph *graph, int first,
	       const enum layer_kind *kinds, int count);

/* Return the floats per sample of the steps' outputs, and the bytes per sample
 * of all decisions. */
double plan_sample_floats(const struct plan *plan);
double plan_decision_bytes(const struct model *model);

/* Writes one line per step: its layers, their shapes in and out, and its
 * solver; then one line for each solver that declined. */
void plan_explain(const struct plan *plan, char *text, size_t size);

#endif
