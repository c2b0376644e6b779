#include "models/model.h"

#include <math.h>
#include <stdio.h>

#include "models/random.h"

static const char *const kind_names[LAYER_KINDS] = {
	[LAYER_CONV] = "conv",	       [LAYER_RELU] = "relu",
	[LAYER_MAXPOOL] = "maxpool",   [LAYER_DROPOUT] = "dropout",
	[LAYER_DROPOUT2D] = "dropout2d", [LAYER_LINEAR] = "linear",
	[LAYER_LOSS] = "loss",
};

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

const char *layer_kind_name(enum layer_kind kind)
{
	return kind_names[kind];
}

void layer_describe(const struct model *model, int index, char *text,
		    size_t size)
{
	const struct layer *layer = &model->layers[index];
	const char *name = layer->name ? layer->name : "";

	snprintf(text, size, "layer %d (%s%s%s%s)", index,
		 layer_kind_name(layer->kind), *name ? " '" : "", name,
		 *name ? "'" : "");
}

/* What is wrong with a layer, whatever it stands behind; empty: nothing. */
static void layer_check(const struct layer *layer, struct shape in, char *why,
			size_t size)
{
	const int window = layer->window;
	const int has_window = layer->kind == LAYER_CONV ||
			       layer->kind == LAYER_MAXPOOL;

	why[0] = '\0';
	if (layer_has_parameters(layer) && !layer->name)
		snprintf(why, size, "its parameters need a name");
	else if (layer_has_parameters(layer) && layer->outputs < 1)
		snprintf(why, size, "%d outputs, where 1 is the fewest",
			 layer->outputs);
	else if (!(layer->drop >= 0 && layer->drop < 1))
		snprintf(why, size, "a probability to drop of %g, where it is "
			 "at least 0 and below 1", layer->drop);
	else if (layer->kind == LAYER_MAXPOOL && window > MODEL_MAX_WINDOW)
		snprintf(why, size, "a window of %dx%d, where %dx%d is the "
			 "largest of a pooling", window, window,
			 MODEL_MAX_WINDOW, MODEL_MAX_WINDOW);
	else if (has_window && window < 1)
		snprintf(why, size, "a window of %dx%d, where 1x1 is the "
			 "smallest", window, window);
	else if (!shape_size(layer_output(layer, in)))
		snprintf(why, size, "a window of %dx%d is larger than its "
			 "input of %dx%dx%d", window, window, in.channels,
			 in.height, in.width);
}

/* The same with its place, and with what the layers before it make. */
static void row_check(const struct model *model, int index, char *why,
		      size_t size)
{
	const struct layer *layer = &model->layers[index];
	const int last = model->layer_count - 1;

	layer_check(layer, model_layer_input(model, index), why, size);
	if (why[0])
		return;
	if (layer->kind == LAYER_LOSS && index < last)
		snprintf(why, size, "a loss has to be the last layer, which "
			 "is layer %d", last);
	else if (layer->kind != LAYER_LOSS && index == last)
		snprintf(why, size, "the last layer has to be a loss");
	else if (index == last && model_classes(model) > MODEL_MAX_CLASSES)
		snprintf(why, size, "%d classes, where labels are bytes and "
			 "tell %d apart", model_classes(model),
			 MODEL_MAX_CLASSES);
}

/* What is wrong with the model as a whole. */
static void whole_check(const struct model *model, char *why, size_t size)
{
	const struct shape in = model->input;
	int parameters = 0;

	why[0] = '\0';
	for (int i = 0; i < model->layer_count && i < MODEL_MAX_LAYERS; i++)
		parameters += layer_has_parameters(&model->layers[i]);
	if (in.channels < 1 || in.height < 1 || in.width < 1)
		snprintf(why, size, "an input of %dx%dx%d is empty",
			 in.channels, in.height, in.width);
	else if (model->layer_count < 1 ||
		 model->layer_count > MODEL_MAX_LAYERS)
		snprintf(why, size, "%d layers, where 1 to %d are possible",
			 model->layer_count, MODEL_MAX_LAYERS);
	else if (!parameters)
		snprintf(why, size, "none of %d layers has parameters to learn",
			 model->layer_count);
}

int model_check(const struct model *model, char *text, size_t size)
{
	char why[160], where[80];

	whole_check(model, why, sizeof(why));
	if (why[0]) {
		snprintf(text, size, "model '%s': %s", model->name, why);
		return -1;
	}
	for (int i = 0; i < model->layer_count; i++) {
		row_check(model, i, why, sizeof(why));
		if (!why[0])
			continue;
		layer_describe(model, i, where, sizeof(where));
		snprintf(text, size, "model '%s', %s: %s", model->name, where,
			 why);
		return -1;
	}
	return 0;
}

int recipe_check(const struct recipe *recipe, char *text, size_t size)
{
	const struct {
		const char *name;
		double value;
	} numbers[] = {
		{ "batch", recipe->batch },
		{ "epochs", recipe->epochs },
		{ "lr_step", recipe->lr_step },
		{ "lr_gamma", recipe->lr_gamma },
		{ "eps", recipe->eps },
	};

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		if (!(numbers[i].value > 0)) {
			snprintf(text, size, "%s is %g in its recipe, where it "
				 "is more than 0", numbers[i].name,
				 numbers[i].value);
			return -1;
		}
	return 0;
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
