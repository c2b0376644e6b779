#include "bench/verify/verify_network.h"

#include <math.h>

#include "models/random.h"

/* The convolution or linear layer whose channels a row still has, or -1. */
static int product_before(const struct model *model, int row)
{
	for (row = model_source(model, row); row >= 0;
	     row = model_source(model, row))
		switch (model->layers[row].kind) {
		case LAYER_CONV:
		case LAYER_LINEAR:
			return row;
		case LAYER_ADD:
		case LAYER_BATCHNORM:
			return -1;
		default:
			break;
		}
	return -1;
}

static const struct tensor *weight_of(const struct tensor *tensors, int count,
				      int row)
{
	for (int t = 0; t < count; t++)
		if (tensors[t].layer == row)
			return &tensors[t];
	return NULL;
}

/* The mean square of what channel c of a norm's input is. */
static double mean_square(const struct model *model,
			  const struct tensor *tensors, int count, int norm,
			  int channels, int c, const float *parameters)
{
	const int row = product_before(model, norm);
	const struct tensor *weight =
		row < 0 ? NULL : weight_of(tensors, count, row);
	const int outputs = row < 0 ? 1 : model->layers[row].outputs;
	double sum = 0;

	if (!weight || channels != outputs)
		return 1;
	for (size_t i = 0; i < weight->count / (size_t)outputs; i++) {
		const size_t at = weight->offset + i +
				  (size_t)c * (weight->count / (size_t)outputs);

		sum += (double)parameters[at] * parameters[at];
	}
	return sum;
}

/* Range of a tensor's values. */
struct draw_range {
	float middle, half;
};

static struct draw_range range_of(const struct model *model,
				  const struct tensor *tensor, int is_bias)
{
	if (model->layers[tensor->layer].kind == LAYER_BATCHNORM)
		return is_bias ? (struct draw_range){ 0, .5f } :
				 (struct draw_range){ 1, .5f };
	/* A mean square of 2 over the inputs; ReLU halves it. */
	return (struct draw_range){ 0, (float)sqrt((is_bias ? 1. : 6.) /
					      tensor->fan_in) };
}

void verify_draw_parameters(const struct model *model, long seed,
			    float *parameters)
{
	struct tensor tensors[MODEL_MAX_TENSORS];
	const int count = model_tensors(model, tensors);
	struct mt19937 generator;

	mt19937_seed(&generator, (unsigned long long)seed);
	for (int t = 0; t < count; t++) {
		const struct tensor *tensor = &tensors[t];
		const int is_bias = t && tensors[t - 1].layer == tensor->layer;
		const struct draw_range range = range_of(model, tensor,
							 is_bias);

		for (size_t i = 0; i < tensor->count; i++)
			parameters[tensor->offset + i] = mt19937_uniform(
				&generator, range.middle - range.half,
				range.middle + range.half);
	}
}

void verify_draw_statistics(const struct model *model, long seed,
			    const float *parameters, float *buffers)
{
	struct tensor tensors[MODEL_MAX_TENSORS], own[MODEL_MAX_TENSORS];
	const int count = model_tensors(model, tensors);
	const int own_count = model_buffers(model, own);
	struct mt19937 generator;

	mt19937_seed(&generator, (unsigned long long)seed);
	for (int t = 0; t + 1 < own_count; t += 2) {
		const int channels = (int)own[t].count;
		float *means = buffers + own[t].offset;
		float *variances = buffers + own[t + 1].offset;

		for (int c = 0; c < channels; c++) {
			const double square = mean_square(
				model, tensors, count, own[t].layer, channels,
				c, parameters);

			means[c] = (float)sqrt(square) *
				   mt19937_uniform(&generator, -.5f, .5f);
			variances[c] = (float)square *
				       mt19937_uniform(&generator, .5f, 2);
		}
	}
}
