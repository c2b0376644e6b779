/*
 * How a backend runs a model: the layers grouped into steps, each of which the
 * backend has one kernel for.
 *
 * A backend lists the groups it can do (fusions), longest first; the plan
 * covers the model from front to back with the first that fits at each place.
 */
#ifndef BACKENDS_PLAN_H
#define BACKENDS_PLAN_H

#include <stdint.h>

#include "backends/error.h"
#include "models/model.h"

#define FUSION_MAX_LAYERS 6
#define PLAN_MAX_STEPS 16

struct fusion {
	const char *name;
	int length;
	enum layer_kind kinds[FUSION_MAX_LAYERS];
};

/* One fusion a kind of layer: nothing is fused. LAYER_KINDS of them. */
extern const struct fusion fusions_alone[LAYER_KINDS];

#define STEP_NO_LAYER (-1)

/* The convolution, with or without ReLU, before the main one of a step. */
struct step_lead {
	int layer, relu;
	int window;
	struct shape out;
	size_t weight, bias;
	int broken;
};

/* One step. Layers are indices into the model's table, or STEP_NO_LAYER. */
struct step {
	int fusion; /* index in the backend's list */
	int first, length;
	int main; /* the convolution or linear layer; of two, the last one */
	struct step_lead lead; /* the other one of two */
	int relu, pool, dropout;
	int window;	       /* of the convolution */
	int pool_window;       /* 1 without pooling */
	struct shape in, out;  /* of the whole step */
	struct shape main_out; /* of the main layer, before relu and pooling */
	size_t weight, bias;   /* offsets in the flat vector */
	int broken;	       /* see backend_layer_is_broken() */
};

struct plan {
	const struct model *model;
	const struct fusion *fusions;
	int count;
	struct step steps[PLAN_MAX_STEPS];
};

/* A layer that no fusion starts with is an error that names the layer. */
int plan_build(struct plan *plan, const struct model *model,
	       const struct fusion *fusions, int fusion_count,
	       struct error *err);

/* Floats that the steps make of a sample, and bytes of all decisions. */
double plan_sample_floats(const struct plan *plan);
double plan_decision_bytes(const struct model *model);

/* One line a step: what is fused, shapes in and out. */
void plan_explain(const struct plan *plan, char *text, size_t size);

#endif
