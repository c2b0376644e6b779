/* Validation of a model's table: cycles and missing rows, shapes that do not
 * fit, numbers out of range. */
#include "models/model.h"

#include <limits.h>
#include <stdio.h>

/* Reports a row that cannot be read; field: "from" or "with". */
static void source_check(const char *field, int index, int distance, char *why,
			 size_t size)
{
	if (distance < 0 && index == 0)
		snprintf(why, size, "%s %d: the first row can read only 0, the "
			 "images", field, distance);
	else if (distance < 0)
		snprintf(why, size, "%s %d: a row can read only rows above it; "
			 "0 is layer %d", field, distance, index - 1);
	else if (distance > index)
		snprintf(why, size, "%s %d: the largest is %d, the images",
			 field, distance, index);
}

/* Reports wrong numbers of a row with a window. */
static void window_check(const struct layer *layer, struct shape in, char *why,
			 size_t size)
{
	const int window = layer->window, pad = layer->pad;

	if (window > MODEL_MAX_SIDE || layer->stride > MODEL_MAX_SIDE)
		snprintf(why, size, "a window of %d and a stride of %d, where "
			 "%d is the maximum", window, layer->stride,
			 MODEL_MAX_SIDE);
	else if (layer->kind == LAYER_MAXPOOL && window > MODEL_MAX_WINDOW)
		snprintf(why, size, "a window of %dx%d, where %dx%d is the "
			 "maximum for pooling", window, window,
			 MODEL_MAX_WINDOW, MODEL_MAX_WINDOW);
	else if (window < 1)
		snprintf(why, size, "a window of %dx%d, where 1x1 is the "
			 "minimum", window, window);
	else if (layer->stride < 0)
		snprintf(why, size, "a stride of %d, where 1 is the minimum",
			 layer->stride);
	else if (pad < 0 || pad > MODEL_MAX_SIDE)
		snprintf(why, size, "a padding of %d, where 0 is the minimum "
			 "and %d the maximum", pad, MODEL_MAX_SIDE);
	else if (layer->kind == LAYER_MAXPOOL && pad > window / 2)
		snprintf(why, size, "a padding of %d, where half the window "
			 "of %dx%d, %d, is the maximum for pooling", pad,
			 window, window, window / 2);
	else if (!shape_size(layer_output(layer, in)))
		snprintf(why, size, "a window of %dx%d is larger than its "
			 "input of %dx%dx%d%s", window, window, in.channels,
			 in.height + 2 * pad, in.width + 2 * pad,
			 pad ? ", padded" : "");
}

/* Reports a number that this kind of layer would ignore. */
static void fields_check(const struct layer *layer, char *why, size_t size)
{
	const unsigned conv = 1u << LAYER_CONV, add = 1u << LAYER_ADD;
	const unsigned pool = 1u << LAYER_MAXPOOL;
	const unsigned drop = 1u << LAYER_DROPOUT | 1u << LAYER_DROPOUT2D;
	const struct {
		const char *name;
		double value;
		unsigned kinds; /* that use it */
	} fields[] = {
		{ "outputs", layer->outputs,
		  conv | 1u << LAYER_LINEAR | 1u << LAYER_AVGPOOL },
		{ "window", layer->window, conv | pool },
		{ "stride", layer->stride, conv | pool },
		{ "pad", layer->pad, conv | pool },
		{ "no_bias", layer->no_bias, conv },
		{ "drop", layer->drop, drop },
		{ "with", layer->with, add },
		{ "loss", layer->loss, 1u << LAYER_LOSS },
	};

	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		if (fields[i].value != 0 &&
		    !(fields[i].kinds >> layer->kind & 1)) {
			snprintf(why, size, "%s %g: no %s has one",
				 fields[i].name, fields[i].value,
				 layer_kind_name(layer->kind));
			return;
		}
}

/* Kernels count a row's values per sample, and its weights, with int. */
static void size_check(const struct layer *layer, struct shape in, char *why,
		       size_t size)
{
	const struct shape out = layer_output(layer, in);
	const double values = (double)out.channels * out.height * out.width;
	double weights = 0;

	if (layer->kind == LAYER_CONV)
		weights = (double)layer->outputs * layer->window *
			  layer->window * in.channels;
	else if (layer->kind == LAYER_LINEAR)
		weights = (double)layer->outputs * (double)shape_size(in);
	if (values > INT_MAX)
		snprintf(why, size, "%.0f values of a sample, where %d is "
			 "the maximum", values, INT_MAX);
	else if (weights > INT_MAX)
		snprintf(why, size, "%.0f weights, where %d is the maximum",
			 weights, INT_MAX);
}

/* Reports an error of a layer, wherever it is; an empty text = none. */
static void layer_check(const struct layer *layer, struct shape in, char *why,
			size_t size)
{
	const int has_window = layer->kind == LAYER_CONV ||
			       layer->kind == LAYER_MAXPOOL;
	const int has_outputs = layer->kind == LAYER_CONV ||
				layer->kind == LAYER_LINEAR ||
				layer->kind == LAYER_AVGPOOL;

	if (layer_has_parameters(layer) && !layer->name)
		snprintf(why, size, "its parameters need a name");
	else if (has_outputs && layer->outputs < 1)
		snprintf(why, size, "%d outputs, where 1 is the minimum",
			 layer->outputs);
	else if (!(layer->drop >= 0 && layer->drop < 1))
		snprintf(why, size, "a probability to drop of %g, where it is "
			 "at least 0 and below 1", layer->drop);
	else
		fields_check(layer, why, size);
	if (!why[0] && has_window)
		window_check(layer, in, why, size);
	if (!why[0])
		size_check(layer, in, why, size);
}

static void add_check(const struct model *model, int index, char *why,
		      size_t size)
{
	const int other = model_other_source(model, index);
	const struct shape a = model_layer_input(model, index);
	const struct shape b = other == MODEL_IMAGES ?
			model->input :
			layer_output(&model->layers[other],
				     model_layer_input(model, other));

	if (a.channels != b.channels || a.height != b.height ||
	    a.width != b.width)
		snprintf(why, size, "adds different shapes, %dx%dx%d and "
				    "%dx%dx%d",
			 a.channels, a.height, a.width, b.channels, b.height,
			 b.width);
}

static void init_check(const struct model *model, int index, char *why,
		       size_t size)
{
	const struct layer *layer = &model->layers[index];
	int weights;

	if (layer->kind != LAYER_CONV)
		return;
	weights = layer->outputs * layer->window * layer->window *
		  model_layer_input(model, index).channels;
	if (model->init == INIT_KAIMING_FAN_OUT && weights < 16)
		snprintf(why, size, "%d weights: normal initialisation draws "
			 "16 at a time", weights);
}

static int is_read(const struct model *model, int index)
{
	for (int i = index + 1; i < model->layer_count; i++)
		if (model_source(model, i) == index ||
		    (model->layers[i].kind == LAYER_ADD &&
		     model_other_source(model, i) == index))
			return 1;
	return 0;
}

/* Reports an error of a row, in its place and with its inputs. */
static void row_check(const struct model *model, int index, char *why,
		      size_t size)
{
	const struct layer *layer = &model->layers[index];
	const int last = model->layer_count - 1;

	why[0] = '\0';
	source_check("from", index, layer->from, why, size);
	if (!why[0] && layer->kind == LAYER_ADD)
		source_check("with", index, layer->with, why, size);
	if (!why[0])
		layer_check(layer, model_layer_input(model, index), why, size);
	if (!why[0] && layer->kind == LAYER_ADD)
		add_check(model, index, why, size);
	if (!why[0])
		init_check(model, index, why, size);
	if (why[0])
		return;
	if (layer->kind == LAYER_LOSS && index < last)
		snprintf(why, size, "a loss must be the last layer, which is "
			 "layer %d", last);
	else if (layer->kind != LAYER_LOSS && index == last)
		snprintf(why, size, "the last layer must be a loss");
	else if (index == last && model_has_classes(model) &&
		 model_classes(model) > MODEL_MAX_CLASSES)
		snprintf(why, size, "%d classes, where %d is the maximum: "
			 "labels have 16 bits", model_classes(model),
			 MODEL_MAX_CLASSES);
}

/* Reports an error of the model as a whole. */
static void whole_check(const struct model *model, char *why, size_t size)
{
	const struct shape in = model->input;
	int parameters = 0;

	why[0] = '\0';
	for (int i = 0; i < model->layer_count && i < MODEL_MAX_LAYERS; i++)
		parameters += layer_has_parameters(&model->layers[i]);
	if (in.channels > MODEL_MAX_SIDE || in.height > MODEL_MAX_SIDE ||
	    in.width > MODEL_MAX_SIDE)
		snprintf(why, size, "an input of %dx%dx%d, where %d is the "
			 "maximum of each", in.channels, in.height, in.width,
			 MODEL_MAX_SIDE);
	else if (in.channels < 1 || in.height < 1 || in.width < 1)
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

/* Returns a row that nothing depends on, which would never learn; or -1. */
static int find_unread(const struct model *model)
{
	for (int i = 0; i < model->layer_count - 1; i++)
		if (!is_read(model, i))
			return i;
	return -1;
}

int model_check(const struct model *model, char *text, size_t size)
{
	char why[160], where[80];
	int unread;

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
	/* Kernels count these with int, too. */
	if (model_parameter_count(model) > INT_MAX) {
		snprintf(text, size, "model '%s': %zu parameters, where %d is "
			 "the maximum", model->name,
			 model_parameter_count(model), INT_MAX);
		return -1;
	}
	unread = find_unread(model);
	if (unread < 0)
		return 0;
	layer_describe(model, unread, where, sizeof(where));
	snprintf(text, size, "model '%s', %s: no row reads its output",
		 model->name, where);
	return -1;
}
