/* Initial values of parameters and buffers: PyTorch's, from its stream of
 * random numbers. */
#include <math.h>

#include "models/model.h"
#include "models/random.h"

void model_init_buffers(const struct model *model, float *buffers)
{
	struct tensor tensors[MODEL_MAX_TENSORS];
	const int count = model_buffers(model, tensors);

	for (int t = 0; t < count; t++)
		for (size_t i = 0; i < tensors[t].count; i++)
			buffers[tensors[t].offset + i] = (float)(t % 2);
}

/* Draws as a layer's constructor does: uniform within 1 / sqrt(fan_in). */
static void draw_uniform(struct mt19937 *generator, const struct tensor *tensor,
			 float *values)
{
	const float bound = (float)(1 / sqrt(tensor->fan_in));

	mt19937_uniforms(generator, -bound, bound, tensor->count, values);
}

static int is_linear(const struct model *model, const struct tensor *tensor)
{
	return model->layers[tensor->layer].kind == LAYER_LINEAR;
}

/* Skips a constructor's numbers that are not kept: the tensor's count, or for a
 * replaced linear layer the first one's. */
static void pass_over(struct mt19937 *generator, const struct model *model,
		      const struct tensor *tensor)
{
	size_t count = tensor->count;

	if (is_linear(model, tensor) && model->replaced_outputs)
		count = count /
			(size_t)model->layers[tensor->layer].outputs *
			(size_t)model->replaced_outputs;
	mt19937_skip(generator, count);
}

/* Draws as Kaiming He and others (2015, arXiv 1502.01852), fan out: normal, of
 * variance 2 / (outputs window^2). */
static void draw_normal(struct mt19937 *generator, const struct layer *layer,
			size_t count, float *values)
{
	mt19937_normal(generator, count,
		       (float)sqrt(2. / ((double)layer->outputs *
					 layer->window * layer->window)),
		       values);
}

/* A layer's weight comes before its bias. */
static int is_weight(const struct tensor *tensors, int t)
{
	return !t || tensors[t - 1].layer != tensors[t].layer;
}

void model_init(const struct model *model, unsigned long long seed,
		float *parameters)
{
	struct tensor tensors[MODEL_MAX_TENSORS];
	const int count = model_tensors(model, tensors);
	const int kaiming = model->init == INIT_KAIMING_FAN_OUT;
	struct mt19937 generator;

	mt19937_seed(&generator, seed);
	for (int t = 0; t < count; t++) {
		const enum layer_kind kind =
			model->layers[tensors[t].layer].kind;
		const int drawn_later = kind == LAYER_CONV ?
				is_weight(tensors, t) : model->replaced_outputs;
		float *to = parameters + tensors[t].offset;

		for (size_t i = 0; kind == LAYER_BATCHNORM &&
				   i < tensors[t].count; i++)
			to[i] = (float)is_weight(tensors, t);
		if (kind == LAYER_BATCHNORM)
			continue;
		if (kaiming && drawn_later)
			pass_over(&generator, model, &tensors[t]);
		else
			draw_uniform(&generator, &tensors[t], to);
	}
	for (int t = 0; kaiming && t < count; t++)
		if (model->layers[tensors[t].layer].kind == LAYER_CONV &&
		    is_weight(tensors, t))
			draw_normal(&generator,
				    &model->layers[tensors[t].layer],
				    tensors[t].count,
				    parameters + tensors[t].offset);
	for (int t = 0; kaiming && model->replaced_outputs && t < count; t++)
		if (is_linear(model, &tensors[t]))
			draw_uniform(&generator, &tensors[t],
				     parameters + tensors[t].offset);
}
