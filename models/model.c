#include "models/model.h"

#include <math.h>
#include <stdio.h>

#include "models/random.h"

size_t shape_size(struct shape shape)
{
	return (size_t)shape.channels * (size_t)shape.height *
	       (size_t)shape.width;
}

int layer_has_parameters(const struct layer *layer)
{
	return layer->kind == LAYER_CONV || layer->kind == LAYER_LINEAR;
}

struct shape layer_output(const struct layer *layer, struct shape in)
{
	const struct shape none = { 0, 0, 0 };
	const int window = layer->window;

	switch (layer->kind) {
	case LAYER_CONV:
		if (window < 1 || window > in.height || window > in.width)
			return none;
		return (struct shape){ layer->outputs, in.height - window + 1,
				       in.width - window + 1 };
	case LAYER_MAXPOOL:
		if (window < 1 || window > in.height || window > in.width)
			return none;
		return (struct shape){ in.channels, in.height / window,
				       in.width / window };
	case LAYER_LINEAR:
		return (struct shape){ layer->outputs, 1, 1 };
	default:
		return in;
	}
}

size_t layer_decisions(const struct layer *layer, struct shape input)
{
	switch (layer->kind) {
	case LAYER_RELU:
	case LAYER_DROPOUT:
		return shape_size(input);
	case LAYER_MAXPOOL:
		return shape_size(layer_output(layer, input));
	case LAYER_DROPOUT2D:
		return (size_t)input.channels;
	default:
		return 0;
	}
}

struct shape model_layer_input(const struct model *model, int index)
{
	struct shape shape = model->input;

	for (int i = 0; i < index; i++)
		shape = layer_output(&model->layers[i], shape);
	return shape;
}

int model_classes(const struct model *model)
{
	struct shape last = model_layer_input(model, model->layer_count - 1);

	return (int)shape_size(last);
}

static int fan_in(const struct layer *layer, struct shape in)
{
	if (layer->kind == LAYER_CONV)
		return in.channels * layer->window * layer->window;
	return (int)shape_size(in);
}

int model_tensors(const struct model *model,
		  struct tensor tensors[MODEL_MAX_TENSORS])
{
	size_t offset = 0;
	int count = 0;

	for (int i = 0; i < model->layer_count; i++) {
		const struct layer *layer = &model->layers[i];
		int inputs = fan_in(layer, model_layer_input(model, i));

		if (!layer_has_parameters(layer))
			continue;
		for (int bias = 0; bias < 2; bias++) {
			struct tensor *tensor = &tensors[count++];

			snprintf(tensor->name, sizeof(tensor->name), "%s.%s",
				 layer->name, bias ? "bias" : "weight");
			tensor->offset = offset;
			tensor->count = (size_t)layer->outputs *
					(size_t)(bias ? 1 : inputs);
			tensor->layer = i;
			tensor->fan_in = inputs;
			offset += tensor->count;
		}
	}
	return count;
}

size_t model_parameter_count(const struct model *model)
{
	struct tensor tensors[MODEL_MAX_TENSORS];
	int count = model_tensors(model, tensors);

	return tensors[count - 1].offset + tensors[count - 1].count;
}

static const char *layer_check(const struct layer *layer, struct shape in)
{
	if (layer_has_parameters(layer) && (!layer->name || layer->outputs < 1))
		return "a layer with parameters needs a name and outputs";
	if (layer->drop < 0 || layer->drop >= 1)
		return "the probability to drop is not in [0, 1)";
	if (layer->kind == LAYER_MAXPOOL && layer->window > 16)
		return "a pooling window's winner must fit into a byte";
	if (!shape_size(layer_output(layer, in)))
		return "a window is larger than its input";
	return NULL;
}

const char *model_check(const struct model *model)
{
	int parameters = 0;

	if (model->layer_count < 1 || model->layer_count > MODEL_MAX_LAYERS)
		return "too few or too many layers";
	for (int i = 0; i < model->layer_count; i++) {
		const struct layer *layer = &model->layers[i];
		const char *wrong =
			layer_check(layer, model_layer_input(model, i));

		if (wrong)
			return wrong;
		if ((layer->kind == LAYER_LOSS) !=
		    (i == model->layer_count - 1))
			return "the loss is the last layer, and only that";
		parameters += layer_has_parameters(layer);
	}
	return parameters ? NULL : "nothing to learn";
}

struct model_work model_work(const struct model *model)
{
	struct model_work work = { 0, 0, 0 };
	int first = 1;

	for (int i = 0; i < model->layer_count; i++) {
		const struct layer *layer = &model->layers[i];
		struct shape in = model_layer_input(model, i);
		double macs = (double)shape_size(layer_output(layer, in)) *
			      fan_in(layer, in);

		if (!layer_has_parameters(layer))
			continue;
		work.forward += macs;
		work.backward_weights += macs;
		if (!first) /* nobody needs the gradient of the images */
			work.backward_data += macs;
		first = 0;
	}
	return work;
}

double recipe_rate(const struct recipe *recipe, int epoch)
{
	return recipe->lr * pow(recipe->lr_gamma, epoch / recipe->lr_step);
}

void model_init(const struct model *model, unsigned long long seed,
		float *parameters)
{
	struct tensor tensors[MODEL_MAX_TENSORS];
	int count = model_tensors(model, tensors);
	struct mt19937 generator;

	mt19937_seed(&generator, seed);
	for (int t = 0; t < count; t++) {
		float bound = (float)(1 / sqrt(tensors[t].fan_in));

		for (size_t i = 0; i < tensors[t].count; i++)
			parameters[tensors[t].offset + i] =
				mt19937_uniform(&generator, -bound, bound);
	}
}
