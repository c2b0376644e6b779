#include "models/fold_norms.h"

#include <math.h>
#include <string.h>

static int readers_of(const struct model *model, int row)
{
	int readers = 0;

	for (int i = row + 1; i < model->layer_count; i++) {
		readers += model_source(model, i) == row;
		readers += model->layers[i].kind == LAYER_ADD &&
			   model_other_source(model, i) == row;
	}
	return readers;
}

/* Returns the layer into which a norm is folded, or -1. */
static int layer_before(const struct model *model, int row)
{
	const int source = model_source(model, row);
	enum layer_kind kind;

	if (model->layers[row].kind != LAYER_BATCHNORM || source < 0)
		return -1;
	kind = model->layers[source].kind;
	if ((kind != LAYER_CONV && kind != LAYER_LINEAR) ||
	    readers_of(model, source) > 1)
		return -1;
	return source;
}

/* Returns from or with for row count of the folded table, to read the
 * original's row source. */
static int relative(int count, int source, const int *place)
{
	return count - 1 - (source < 0 ? source : place[source]);
}

void fold_norms(struct folded_model *folded, const struct model *model)
{
	int place[MODEL_MAX_LAYERS]; /* of the original's rows, in folded */
	int count = 0;

	folded->model = *model;
	for (int row = 0; row < model->layer_count; row++) {
		struct layer layer = model->layers[row];
		const int before = layer_before(model, row);

		if (before >= 0) {
			place[row] = place[before];
			folded->norms[place[before]] = row;
			folded->layers[place[before]].no_bias = 0;
			continue;
		}
		place[row] = count;
		layer.from = relative(count, model_source(model, row), place);
		if (layer.kind == LAYER_ADD)
			layer.with = relative(count,
					      model_other_source(model, row),
					      place);
		folded->rows[count] = row;
		folded->norms[count] = -1;
		folded->layers[count++] = layer;
	}
	folded->model.layers = folded->layers;
	folded->model.layer_count = count;
}

/* Returns the first of a row's one or two tensors, or NULL. */
static const struct tensor *find_row(const struct tensor *tensors, int count,
				     int row)
{
	for (int i = 0; i < count; i++)
		if (tensors[i].layer == row)
			return &tensors[i];
	return NULL;
}

/* The tensors of a model. */
struct tensors {
	const struct model *model;
	struct tensor parameters[MODEL_MAX_TENSORS], buffers[MODEL_MAX_TENSORS];
	int parameter_count, buffer_count;
};

static void list_tensors(struct tensors *tensors, const struct model *model)
{
	tensors->model = model;
	tensors->parameter_count = model_tensors(model, tensors->parameters);
	tensors->buffer_count = model_buffers(model, tensors->buffers);
}

/* A norm's values of all channels. */
struct folded_norm {
	const float *weight, *bias, *mean, *variance;
};

static struct folded_norm norm_of(const struct tensors *from, int row,
				  const float *parameters, const float *buffers)
{
	const struct tensor *weight = find_row(from->parameters,
					       from->parameter_count, row);
	const struct tensor *mean = find_row(from->buffers, from->buffer_count,
					     row);

	return (struct folded_norm){
		.weight = parameters + weight->offset,
		.bias = parameters + weight->offset + weight->count,
		.mean = buffers + mean->offset,
		.variance = buffers + mean->offset + mean->count,
	};
}

/* Computes a layer's weight and bias with the norm that follows it. */
static void fold_row(const struct tensors *from, int row,
		     const struct folded_norm *norm, const float *parameters,
		     float *weight)
{
	const struct layer *layer = &from->model->layers[row];
	const struct tensor *tensor = find_row(from->parameters,
					       from->parameter_count, row);
	const size_t channels = (size_t)layer->outputs;
	const size_t inputs = tensor->count / channels;
	const float *old = parameters + tensor->offset;
	const float *bias = layer->kind == LAYER_CONV && layer->no_bias ?
				    NULL : old + tensor->count;

	for (size_t c = 0; c < channels; c++) {
		const double scale = norm->weight[c] /
				     sqrt(norm->variance[c] + BATCHNORM_EPS);
		const double shift = (bias ? bias[c] : 0.) - norm->mean[c];

		for (size_t i = 0; i < inputs; i++)
			weight[c * inputs + i] =
				(float)(scale * old[c * inputs + i]);
		weight[tensor->count + c] =
			(float)(norm->bias[c] + scale * shift);
	}
}

/* Copies a row's tensors, which are adjacent. */
static void copy_row(const struct tensor *from, int from_count, int from_row,
		     const float *values, const struct tensor *to, int to_count,
		     int to_row, float *copy)
{
	for (int i = 0, k = 0; i < to_count; i++) {
		const struct tensor *tensor;

		if (to[i].layer != to_row)
			continue;
		tensor = find_row(from, from_count, from_row) + k++;
		memcpy(copy + to[i].offset, values + tensor->offset,
		       to[i].count * sizeof(*copy));
	}
}

void fold_norms_vectors(const struct folded_model *folded,
			const struct model *model, const float *parameters,
			const float *buffers, float *folded_parameters,
			float *folded_buffers)
{
	struct tensors from, to;

	list_tensors(&from, model);
	list_tensors(&to, &folded->model);
	for (int row = 0; row < folded->model.layer_count; row++) {
		const struct tensor *tensor = find_row(
			to.parameters, to.parameter_count, row);

		if (folded->norms[row] >= 0) {
			const struct folded_norm norm = norm_of(
				&from, folded->norms[row], parameters, buffers);

			fold_row(&from, folded->rows[row], &norm, parameters,
				 folded_parameters + tensor->offset);
			continue;
		}
		copy_row(from.parameters, from.parameter_count,
			 folded->rows[row], parameters, to.parameters,
			 to.parameter_count, row, folded_parameters);
		copy_row(from.buffers, from.buffer_count, folded->rows[row],
			 buffers, to.buffers, to.buffer_count, row,
			 folded_buffers);
	}
}
