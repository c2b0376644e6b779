#include "backends/plan.h"

#include <stdio.h>

#include "backends/backend.h"

const struct fusion fusions_alone[LAYER_KINDS] = {
	{ "conv", 1, { LAYER_CONV } },
	{ "relu", 1, { LAYER_RELU } },
	{ "maxpool", 1, { LAYER_MAXPOOL } },
	{ "avgpool", 1, { LAYER_AVGPOOL } },
	{ "dropout", 1, { LAYER_DROPOUT } },
	{ "dropout2d", 1, { LAYER_DROPOUT2D } },
	{ "batchnorm", 1, { LAYER_BATCHNORM } },
	{ "add", 1, { LAYER_ADD } },
	{ "linear", 1, { LAYER_LINEAR } },
	{ "loss", 1, { LAYER_LOSS } },
};

/* What steps know so far: a row of a chain, without strides, padding and
 * statistics. */
static int is_known(const struct layer *layer)
{
	switch (layer->kind) {
	case LAYER_CONV:
		return !layer->from && !layer->pad && !layer->no_bias &&
		       layer_stride(layer) == 1;
	case LAYER_MAXPOOL:
		return !layer->from && !layer->pad &&
		       layer_stride(layer) == layer->window;
	case LAYER_AVGPOOL:
	case LAYER_BATCHNORM:
	case LAYER_ADD:
		return 0;
	default:
		return !layer->from;
	}
}

static int fits(const struct fusion *fusion, const struct model *model,
		int first)
{
	if (first + fusion->length > model->layer_count)
		return 0;
	for (int i = 0; i < fusion->length; i++)
		if (model->layers[first + i].kind != fusion->kinds[i] ||
		    !is_known(&model->layers[first + i]))
			return 0;
	return 1;
}

static void note_parameters(struct step *step, const struct model *model)
{
	struct tensor tensors[MODEL_MAX_TENSORS];
	int count = model_tensors(model, tensors);

	for (int t = 0; t + 1 < count; t++)
		if (tensors[t].layer == step->main) {
			step->weight = tensors[t].offset;
			step->bias = tensors[t + 1].offset;
			break;
		}
}

/* What was the main layer so far comes before another one. */
static void note_lead(struct step *step)
{
	step->lead = (struct step_lead){ .layer = step->main,
					 .relu = step->relu,
					 .window = step->window,
					 .out = step->main_out,
					 .weight = step->weight,
					 .bias = step->bias,
					 .broken = step->broken };
	step->relu = STEP_NO_LAYER;
}

static void note_layer(struct step *step, const struct model *model, int index)
{
	const struct layer *layer = &model->layers[index];

	switch (layer->kind) {
	case LAYER_CONV:
	case LAYER_LINEAR:
		if (step->main != STEP_NO_LAYER)
			note_lead(step);
		step->main = index;
		step->window = layer->window;
		step->main_out = layer_output(layer,
					      model_layer_input(model, index));
		step->broken = backend_layer_is_broken(layer);
		note_parameters(step, model);
		break;
	case LAYER_RELU:
		step->relu = index;
		break;
	case LAYER_MAXPOOL:
		step->pool = index;
		step->pool_window = layer->window;
		break;
	case LAYER_DROPOUT:
	case LAYER_DROPOUT2D:
		step->dropout = index;
		break;
	default:
		break;
	}
}

static struct step make_step(const struct model *model, int fusion, int first,
			     int length)
{
	struct step step = { .fusion = fusion,
			     .first = first,
			     .length = length,
			     .main = STEP_NO_LAYER,
			     .lead = { .layer = STEP_NO_LAYER },
			     .relu = STEP_NO_LAYER,
			     .pool = STEP_NO_LAYER,
			     .dropout = STEP_NO_LAYER,
			     .pool_window = 1 };

	for (int i = first; i < first + length; i++)
		note_layer(&step, model, i);
	step.in = model_layer_input(model, first);
	step.out = layer_output(&model->layers[first + length - 1],
				model_layer_input(model, first + length - 1));
	return step;
}

int plan_build(struct plan *plan, const struct model *model,
	       const struct fusion *fusions, int fusion_count,
	       struct error *err)
{
	*plan = (struct plan){ .model = model, .fusions = fusions };
	for (int at = 0; at < model->layer_count;) {
		const struct layer *layer = &model->layers[at];
		int f = 0;

		while (f < fusion_count && !fits(&fusions[f], model, at))
			f++;
		if (f == fusion_count)
			return error_set(err, ERROR_MISSING,
					 "no kernel starts with layer %d (%s) "
					 "of model '%s'", at,
					 layer_kind_name(layer->kind),
					 model->name);
		if (plan->count == PLAN_MAX_STEPS)
			return error_set(err, ERROR_MISSING,
					 "%d steps are the most, and layer %d "
					 "(%s) of model '%s' is behind them",
					 PLAN_MAX_STEPS, at,
					 layer_kind_name(layer->kind),
					 model->name);
		plan->steps[plan->count++] =
			make_step(model, f, at, fusions[f].length);
		at += fusions[f].length;
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

void plan_explain(const struct plan *plan, char *text, size_t size)
{
	size_t used = 0;

	for (int i = 0; i < plan->count && used < size; i++) {
		const struct step *step = &plan->steps[i];

		used += (size_t)snprintf(
			text + used, size - used,
			"%2d  %-28s %dx%dx%d -> %dx%dx%d\n", i,
			plan->fusions[step->fusion].name, step->in.channels,
			step->in.height, step->in.width, step->out.channels,
			step->out.height, step->out.width);
	}
}
