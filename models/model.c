#include "models/model.h"

#include <stdio.h>

static const char *const kind_names[LAYER_KINDS] = {
	[LAYER_CONV] = "conv",
	[LAYER_RELU] = "relu",
	[LAYER_MAXPOOL] = "maxpool",
	[LAYER_AVGPOOL] = "avgpool",
	[LAYER_DROPOUT] = "dropout",
	[LAYER_DROPOUT2D] = "dropout2d",
	[LAYER_BATCHNORM] = "batchnorm",
	[LAYER_ADD] = "add",
	[LAYER_LINEAR] = "linear",
	[LAYER_LOSS] = "loss",
};

size_t shape_size(struct shape shape)
{
	return (size_t)shape.channels * (size_t)shape.height *
	       (size_t)shape.width;
}

int layer_has_parameters(const struct layer *layer)
{
	return layer->kind == LAYER_CONV || layer->kind == LAYER_LINEAR ||
	       layer->kind == LAYER_BATCHNORM;
}

int layer_drops(const struct layer *layer)
{
	return layer->kind == LAYER_DROPOUT || layer->kind == LAYER_DROPOUT2D;
}

int layer_stride(const struct layer *layer)
{
	if (layer->stride)
		return layer->stride;
	return layer->kind == LAYER_MAXPOOL ? layer->window : 1;
}

int layer_stride_within(const struct layer *layer, struct shape input)
{
	const int longest = input.height > input.width ? input.height :
							 input.width;
	const int side = longest + 2 * layer->pad;
	const int stride = layer_stride(layer);

	return stride < side ? stride : side;
}

/* Returns the places of a window along a side; 0 if it does not fit. */
static int places(const struct layer *layer, int side)
{
	const int room = side + 2 * layer->pad - layer->window;

	if (layer->window < 1 || layer_stride(layer) < 1 || room < 0)
		return 0;
	return room / layer_stride(layer) + 1;
}

struct shape layer_output(const struct layer *layer, struct shape in)
{
	const struct shape none = { 0, 0, 0 };
	struct shape out = in;

	switch (layer->kind) {
	case LAYER_CONV:
	case LAYER_MAXPOOL:
		out.height = places(layer, in.height);
		out.width = places(layer, in.width);
		if (layer->kind == LAYER_CONV)
			out.channels = layer->outputs;
		return out.height && out.width ? out : none;
	case LAYER_AVGPOOL:
		out.height = out.width = layer->outputs;
		return out;
	case LAYER_LINEAR:
		return (struct shape){ layer->outputs, 1, 1 };
	default:
		return out;
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

int model_source(const struct model *model, int index)
{
	return index - 1 - model->layers[index].from;
}

int model_other_source(const struct model *model, int index)
{
	return index - 1 - model->layers[index].with;
}

void model_inputs(const struct model *model, struct shape *inputs)
{
	for (int i = 0; i < model->layer_count; i++) {
		const int source = model_source(model, i);

		inputs[i] = source == MODEL_IMAGES ?
				    model->input :
				    layer_output(&model->layers[source],
						 inputs[source]);
	}
}

float model_pixel(const struct model *model, int channel, int byte)
{
	const struct pixel_scale *scale = &model->scale;
	const int c = channel % MODEL_PIXEL_CHANNELS;
	const float value = (float)byte / 255;

	return scale->std[c] > 0 ? (value - scale->mean[c]) / scale->std[c] :
				   value;
}

/* Sources are above their rows, so the path leads up to the images. */
struct shape model_layer_input(const struct model *model, int index)
{
	int path[MODEL_MAX_LAYERS], length = 0;
	struct shape shape = model->input;

	for (int i = model_source(model, index); i != MODEL_IMAGES;
	     i = model_source(model, i))
		path[length++] = i;
	while (length > 0)
		shape = layer_output(&model->layers[path[--length]], shape);
	return shape;
}

int model_has_batchnorm(const struct model *model)
{
	for (int i = 0; i < model->layer_count; i++)
		if (model->layers[i].kind == LAYER_BATCHNORM)
			return 1;
	return 0;
}

int model_lone_norm(const struct model *model)
{
	for (int i = 0; i < model->layer_count; i++) {
		const struct shape in = model_layer_input(model, i);

		if (model->layers[i].kind == LAYER_BATCHNORM &&
		    in.height * in.width == 1)
			return i;
	}
	return -1;
}

enum loss model_loss(const struct model *model)
{
	return model->layers[model->layer_count - 1].loss;
}

int model_has_classes(const struct model *model)
{
	return model_loss(model) == LOSS_NLL;
}

int model_classes(const struct model *model)
{
	struct shape last = model_layer_input(model, model->layer_count - 1);

	return (int)shape_size(last);
}

static int fan_in(const struct layer *layer, struct shape in)
{
	switch (layer->kind) {
	case LAYER_CONV:
		return in.channels * layer->window * layer->window;
	case LAYER_LINEAR:
		return (int)shape_size(in);
	default:
		return 1;
	}
}

/* Requires a layer with parameters. */
static size_t weight_count(const struct layer *layer, struct shape in)
{
	if (layer->kind == LAYER_BATCHNORM)
		return (size_t)in.channels;
	return (size_t)layer->outputs * (size_t)fan_in(layer, in);
}

/* Appends a tensor called "name.what". */
static void tensor_add(struct tensor *tensors, int *count, size_t *offset,
		       const char *name, const struct tensor *tensor,
		       const char *what)
{
	struct tensor *added = &tensors[(*count)++];

	*added = *tensor;
	added->offset = *offset;
	*offset += tensor->count;
	snprintf(added->name, sizeof(added->name), "%s.%s", name, what);
}

/* Lists all layers' tensors: parameters, or buffers. */
static int list_tensors(const struct model *model, int buffers,
			struct tensor *tensors)
{
	struct shape inputs[MODEL_MAX_LAYERS];
	size_t offset = 0;
	int count = 0;

	model_inputs(model, inputs);
	for (int i = 0; i < model->layer_count; i++) {
		const struct layer *layer = &model->layers[i];
		struct tensor tensor = { .layer = i };

		if (buffers ? layer->kind != LAYER_BATCHNORM :
			      !layer_has_parameters(layer))
			continue;
		tensor.fan_in = fan_in(layer, inputs[i]);
		tensor.count = weight_count(layer, inputs[i]);
		tensor_add(tensors, &count, &offset, layer->name, &tensor,
			   buffers ? "running_mean" : "weight");
		if (layer->no_bias)
			continue;
		tensor.count = (size_t)layer_output(layer, inputs[i]).channels;
		tensor_add(tensors, &count, &offset, layer->name, &tensor,
			   buffers ? "running_var" : "bias");
	}
	return count;
}

int model_tensors(const struct model *model,
		  struct tensor tensors[MODEL_MAX_TENSORS])
{
	return list_tensors(model, 0, tensors);
}

int model_buffers(const struct model *model,
		  struct tensor buffers[MODEL_MAX_TENSORS])
{
	return list_tensors(model, 1, buffers);
}

static size_t tensors_size(const struct tensor *tensors, int count)
{
	return count ? tensors[count - 1].offset + tensors[count - 1].count : 0;
}

size_t model_buffer_count(const struct model *model)
{
	struct tensor buffers[MODEL_MAX_TENSORS];

	return tensors_size(buffers, model_buffers(model, buffers));
}

int model_answers(const struct model *model)
{
	switch (model_loss(model)) {
	case LOSS_BCE:
		return model_classes(model);
	case LOSS_MSE:
		return 0;
	default:
		return 1;
	}
}

size_t model_parameter_count(const struct model *model)
{
	struct tensor tensors[MODEL_MAX_TENSORS];

	return tensors_size(tensors, model_tensors(model, tensors));
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

void model_learnt(const struct model *model, unsigned char *learnt)
{
	for (int i = 0; i < model->layer_count; i++) {
		const struct layer *layer = &model->layers[i];
		const int source = model_source(model, i);
		const int other = layer->kind == LAYER_ADD ?
					  model_other_source(model, i) : source;

		learnt[i] = layer_has_parameters(layer) ||
			    (source != MODEL_IMAGES && learnt[source]) ||
			    (other != MODEL_IMAGES && learnt[other]);
	}
}

struct model_work model_work(const struct model *model)
{
	struct model_work work = { 0, 0, 0 };
	struct shape inputs[MODEL_MAX_LAYERS];
	unsigned char learnt[MODEL_MAX_LAYERS];

	model_inputs(model, inputs);
	model_learnt(model, learnt);
	for (int i = 0; i < model->layer_count; i++) {
		const struct layer *layer = &model->layers[i];
		const double macs = (double)shape_size(layer_output(
					    layer, inputs[i])) *
				    fan_in(layer, inputs[i]);
		const int source = model_source(model, i);

		if (layer->kind != LAYER_CONV && layer->kind != LAYER_LINEAR)
			continue;
		work.forward += macs;
		work.backward_weights += macs;
		/* The gradient of the images is never needed. */
		if (source != MODEL_IMAGES && learnt[source])
			work.backward_data += macs;
	}
	return work;
}
