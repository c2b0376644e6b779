/*
 * What most people would write: one layer after the other over the whole
 * batch, convolutions as im2col and a matrix product of OpenBLAS a sample.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/blas.h"
#include "backends/host.h"

struct openblas {
	struct host_program host;
	float *values[MODEL_MAX_LAYERS + 1]; /* inputs of layer i, the batch */
	float *slopes[MODEL_MAX_LAYERS + 1]; /* of the loss by them */
	float *columns; /* im2col of one sample */
	float *ones;	/* as many as the batch or a plane, to sum with */
};

extern const struct backend openblas_backend;

/* Layers that work in place share their input's memory. */
static int in_place(enum layer_kind kind)
{
	return kind == LAYER_RELU || kind == LAYER_DROPOUT ||
	       kind == LAYER_DROPOUT2D;
}

static int openblas_open(const struct device_request *request,
			 struct device **device, struct error *err)
{
	if (blas_prepare(request->threads, err))
		return -1;
	return host_open(&openblas_backend, device, err);
}

static void openblas_describe(struct device *device, struct device_info *info)
{
	(void)device;
	host_describe_cpu(info);
	blas_describe(info->driver, sizeof(info->driver));
}

static void openblas_free(struct program *program)
{
	struct openblas *openblas = (struct openblas *)program;
	const struct model *model = program->model;

	for (int l = 0; l <= model->layer_count; l++) {
		if (l && in_place(model->layers[l - 1].kind))
			continue;
		free(openblas->values[l]);
		free(openblas->slopes[l]);
	}
	free(openblas->columns);
	free(openblas->ones);
	host_release(&openblas->host);
	free(openblas);
}

static size_t columns_size(const struct step *step)
{
	size_t pixels = (size_t)step->main_out.height *
			(size_t)step->main_out.width;

	return pixels * (size_t)step->in.channels * (size_t)step->window *
	       (size_t)step->window;
}

static int allocate_all(struct openblas *openblas)
{
	const struct program *base = &openblas->host.base;
	const struct model *model = base->model;
	const size_t batch = (size_t)base->options.batch;
	const size_t most = base->options.test_batch > base->options.batch ?
				    (size_t)base->options.test_batch : batch;
	size_t columns = 0, ones = batch;

	for (int l = 0; l < model->layer_count; l++) {
		const struct step *step = &openblas->host.plan.steps[l];
		size_t each = shape_size(step->in) * sizeof(float);

		if (model->layers[l].kind == LAYER_CONV &&
		    columns_size(step) > columns)
			columns = columns_size(step);
		if (shape_size(step->out) > ones)
			ones = shape_size(step->out);
		if (l && in_place(model->layers[l - 1].kind)) {
			openblas->values[l] = openblas->values[l - 1];
			openblas->slopes[l] = openblas->slopes[l - 1];
			continue;
		}
		openblas->values[l] = host_allocate(most * each);
		openblas->slopes[l] = host_allocate(batch * each);
		if (!openblas->values[l] || !openblas->slopes[l])
			return -1;
	}
	openblas->columns = host_allocate(columns * sizeof(float));
	openblas->ones = host_allocate(ones * sizeof(float));
	if (!openblas->columns || !openblas->ones)
		return -1;
	for (size_t i = 0; i < ones; i++)
		openblas->ones[i] = 1;
	return 0;
}

static double openblas_sample_bytes(const struct model *model,
				    const struct program_options *options)
{
	double floats = 0;

	(void)options;
	for (int l = 0; l < model->layer_count; l++)
		if (!l || !in_place(model->layers[l - 1].kind))
			floats += (double)shape_size(
				model_layer_input(model, l));
	return 2 * sizeof(float) * floats + plan_decision_bytes(model);
}

static int openblas_compile(struct device *device, const struct model *model,
			    const struct program_options *options,
			    struct program **out, struct error *err)
{
	struct openblas *openblas = calloc(1, sizeof(*openblas));

	if (!openblas)
		return error_memory(err, "a program");
	if (host_plan(&openblas->host, device, model, options, fusions_alone,
		      LAYER_KINDS, err) ||
	    host_allocate_all(&openblas->host,
			      openblas->host.base.parameters, err)) {
		free(openblas);
		return -1;
	}
	if (allocate_all(openblas)) {
		openblas_free(&openblas->host.base);
		return error_memory(err, "the activations of a batch");
	}
	*out = &openblas->host.base;
	return 0;
}

/* y[outputs][pixels] = w[outputs][inputs] columns[inputs][pixels] + bias */
static void conv_forward(struct openblas *openblas, const struct step *step,
			 const float *x, int count, float *y)
{
	const float *p = openblas->host.vectors[VECTOR_PARAMETERS];
	const int pixels = step->main_out.height * step->main_out.width;
	const int inputs = step->in.channels * step->window * step->window;
	const int outputs = step->main_out.channels;

	for (int i = 0; i < count; i++) {
		host_im2col(x + (size_t)i * shape_size(step->in), step->in,
			    step->window, openblas->columns);
		for (int o = 0; o < outputs; o++)
			for (int j = 0; j < pixels; j++)
				y[o * pixels + j] = p[step->bias + (size_t)o];
		blas_gemm(BLAS_AS_IS, BLAS_AS_IS, outputs, pixels, inputs,
			  p + step->weight, openblas->columns, 1, y);
		y += outputs * pixels;
	}
}

static void conv_backward(struct openblas *openblas, const struct step *step,
			  const float *x, const float *dy, int count, float *dx)
{
	const float *p = openblas->host.vectors[VECTOR_PARAMETERS];
	float *g = openblas->host.vectors[VECTOR_GRADIENT];
	const int pixels = step->main_out.height * step->main_out.width;
	const int inputs = step->in.channels * step->window * step->window;
	const int outputs = step->main_out.channels;

	for (int i = 0; i < count - step->broken; i++) {
		const float *slopes = dy + (size_t)i * (size_t)outputs *
						   (size_t)pixels;

		host_im2col(x + (size_t)i * shape_size(step->in), step->in,
			    step->window, openblas->columns);
		blas_gemm(BLAS_AS_IS, BLAS_TRANSPOSED, outputs, inputs, pixels,
			  slopes, openblas->columns, 1, g + step->weight);
		blas_gemm(BLAS_AS_IS, BLAS_AS_IS, outputs, 1, pixels, slopes,
			  openblas->ones, 1, g + step->bias);
	}
	for (int i = 0; dx && i < count; i++) {
		blas_gemm(BLAS_TRANSPOSED, BLAS_AS_IS, inputs, pixels, outputs,
			  p + step->weight, dy, 0, openblas->columns);
		memset(dx, 0, shape_size(step->in) * sizeof(float));
		host_col2im(openblas->columns, step->in, step->window, dx);
		dx += shape_size(step->in);
		dy += outputs * pixels;
	}
}

/* y[count][outputs] = x[count][inputs] w[outputs][inputs]' + bias */
static void linear_forward(struct openblas *openblas, const struct step *step,
			   const float *x, int count, float *y)
{
	const float *p = openblas->host.vectors[VECTOR_PARAMETERS];
	const int outputs = step->out.channels;

	for (int i = 0; i < count; i++)
		memcpy(y + i * outputs, p + step->bias,
		       (size_t)outputs * sizeof(float));
	blas_gemm(BLAS_AS_IS, BLAS_TRANSPOSED, count, outputs,
		  (int)shape_size(step->in), x, p + step->weight, 1, y);
}

static void linear_backward(struct openblas *openblas, const struct step *step,
			    const float *x, const float *dy, int count,
			    float *dx)
{
	const float *p = openblas->host.vectors[VECTOR_PARAMETERS];
	float *g = openblas->host.vectors[VECTOR_GRADIENT];
	const int inputs = (int)shape_size(step->in);
	const int outputs = step->out.channels;

	blas_gemm(BLAS_TRANSPOSED, BLAS_AS_IS, outputs, inputs,
		  count - step->broken, dy, x, 0, g + step->weight);
	blas_gemm(BLAS_TRANSPOSED, BLAS_AS_IS, outputs, 1, count, dy,
		  openblas->ones, 0, g + step->bias);
	if (dx)
		blas_gemm(BLAS_AS_IS, BLAS_AS_IS, count, inputs, outputs, dy,
			  p + step->weight, 0, dx);
}

static void choice_forward(struct openblas *openblas, int l, const float *x,
			   int i, int training, float *y)
{
	const struct layer *layer = &openblas->host.base.model->layers[l];
	const struct shape in = openblas->host.plan.steps[l].in;
	const size_t choices = layer_decisions(layer, in);
	/* An evaluation's decisions are nobody's business. */
	uint8_t *taken = host_decisions_at(&openblas->host, l,
					   training ? i : 0);

	if (layer->kind == LAYER_RELU)
		host_relu(y, choices, taken);
	else if (layer->kind == LAYER_MAXPOOL)
		host_maxpool(x, in, layer->window, y, taken);
	else if (training && openblas->host.base.options.dropout)
		host_dropout(y, choices, shape_size(in) / choices, taken,
			     layer->drop);
}

static void choice_backward(struct openblas *openblas, int l, const float *dy,
			    int i, float *dx)
{
	const struct layer *layer = &openblas->host.base.model->layers[l];
	const struct shape in = openblas->host.plan.steps[l].in;
	const size_t choices = layer_decisions(layer, in);
	const uint8_t *taken = host_decisions_at(&openblas->host, l, i);

	if (layer->kind == LAYER_RELU)
		host_relu_backward(dx, choices, taken);
	else if (layer->kind == LAYER_MAXPOOL)
		host_maxpool_backward(dy, in, layer->window, taken, dx);
	else if (openblas->host.base.options.dropout)
		host_dropout(dx, choices, shape_size(in) / choices, taken,
			     layer->drop);
}

static void forward(struct openblas *openblas, const struct batch *batch,
		    int training)
{
	const struct model *model = openblas->host.base.model;
	const size_t image = shape_size(model->input);

	memcpy(openblas->values[0], batch->images,
	       (size_t)batch->count * image * sizeof(float));
	for (int l = 0; l < model->layer_count - 1; l++) {
		const struct step *step = &openblas->host.plan.steps[l];
		const float *x = openblas->values[l];
		float *y = openblas->values[l + 1];

		if (model->layers[l].kind == LAYER_CONV)
			conv_forward(openblas, step, x, batch->count, y);
		else if (model->layers[l].kind == LAYER_LINEAR)
			linear_forward(openblas, step, x, batch->count, y);
		else
			for (int i = 0; i < batch->count; i++)
				choice_forward(
					openblas, l,
					x + (size_t)i * shape_size(step->in),
					i, training,
					y + (size_t)i * shape_size(step->out));
	}
}

static void backward(struct openblas *openblas, const struct batch *batch)
{
	const struct model *model = openblas->host.base.model;

	for (int l = model->layer_count - 2; l >= 0; l--) {
		const struct step *step = &openblas->host.plan.steps[l];
		const float *x = openblas->values[l];
		const float *dy = openblas->slopes[l + 1];
		float *dx = l ? openblas->slopes[l] : NULL;

		if (model->layers[l].kind == LAYER_CONV)
			conv_backward(openblas, step, x, dy, batch->count, dx);
		else if (model->layers[l].kind == LAYER_LINEAR)
			linear_backward(openblas, step, x, dy, batch->count,
					dx);
		else
			for (int i = 0; dx && i < batch->count; i++)
				choice_backward(
					openblas, l,
					dy + (size_t)i * shape_size(step->out),
					i,
					dx + (size_t)i * shape_size(step->in));
	}
}

/* Loss of the batch; its slopes by the logits when training. */
static void losses(struct openblas *openblas, const struct batch *batch,
		   int training, struct score *score)
{
	const struct model *model = openblas->host.base.model;
	const int last = model->layer_count - 1;
	const int classes = model_classes(model);

	for (int i = 0; i < batch->count; i++)
		host_loss(openblas->values[last] + i * classes, classes,
			  batch->labels[i], batch->global_count, score,
			  training ? openblas->slopes[last] + i * classes :
				     NULL);
}

static int openblas_gradient(struct program *program, const struct batch *batch,
			     struct error *err)
{
	struct openblas *openblas = (struct openblas *)program;

	(void)err;
	memset(openblas->host.vectors[VECTOR_GRADIENT], 0,
	       program->parameters * sizeof(float));
	program->score = (struct score){ 0 };
	host_choose(&openblas->host, batch, dropout_choices);
	if (!batch->count)
		return 0;
	forward(openblas, batch, 1);
	losses(openblas, batch, 1, &program->score);
	backward(openblas, batch);
	return 0;
}

static int openblas_evaluate(struct program *program, const struct batch *batch,
			     struct score *score, struct error *err)
{
	(void)err;
	forward((struct openblas *)program, batch, 0);
	losses((struct openblas *)program, batch, 0, score);
	return 0;
}

const struct backend openblas_backend = {
	.name = "openblas",
	.summary = "layer by layer, im2col and OpenBLAS's sgemm",
	.algorithms = 1u << ALGORITHM_DENSE,
	.precisions = 1u << PRECISION_FP32,
	.variable = blas_variable,
	.sample_bytes = openblas_sample_bytes,
	.open = openblas_open,
	.close = host_close,
	.describe = openblas_describe,
	.check = blas_check,
	.compile = openblas_compile,
	.free = openblas_free,
	.store = host_store,
	.load = host_load,
	.map = host_map,
	.unmap = host_unmap,
	.gradient = openblas_gradient,
	.update = host_update,
	.evaluate = openblas_evaluate,
	.decisions = host_decisions,
	.explain = host_explain,
};
