/*
 * The reference backend: every layer by itself, in double. It is slow and easy
 * to verify. It follows another backend's decisions, so that gradients can be
 * compared although rounding may choose another winner.
 *
 * It computes one sample after the other; with batch norm, all samples of a
 * batch together.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "backends/host/reference_base.h"
#include "backends/reference/layers.h"

struct reference {
	struct reference_base base;
	int chunk; /* samples that are computed together */
	/* Outputs of the rows, [chunk] samples each, and their gradients;
	 * images are the inputs of the first row. */
	real *images, *values[MODEL_MAX_LAYERS];
	real *gradients[MODEL_MAX_LAYERS];
	struct norm *norms[MODEL_MAX_LAYERS]; /* of each channel */
};

extern const struct backend reference_backend;

static int reference_open(const struct device_request *request,
			  struct device **device, struct error *err)
{
	(void)request;
	return host_open(&reference_backend, device, err);
}

static void reference_describe(struct device *device, struct device_info *info)
{
	(void)device;
	host_describe_cpu(info);
}

static void reference_free(struct program *program)
{
	struct reference *reference = (struct reference *)program;

	for (int i = 0; i < MODEL_MAX_LAYERS; i++) {
		free(reference->norms[i]);
		free(reference->values[i]);
		free(reference->gradients[i]);
	}
	free(reference->images);
	base_release(&reference->base);
	free(reference);
}

/* Returns count zeros. */
static real *allocate_values(size_t count, int *failed)
{
	real *values = host_allocate(count * sizeof(*values));

	*failed = *failed || !values;
	return values;
}

static int allocate_all(struct reference *reference)
{
	const struct graph *graph = &reference->base.host.graph;
	const struct program *base = &reference->base.host.base;
	const size_t chunk = (size_t)reference->chunk;
	int failed = 0;

	reference->images = allocate_values(
		chunk * shape_size(base->model->input), &failed);
	for (int i = 0; i < graph->count; i++) {
		const struct node *node = &graph->nodes[i];
		const size_t size = chunk * shape_size(node->out);

		reference->values[i] = allocate_values(size, &failed);
		reference->gradients[i] = allocate_values(size, &failed);
		if (node->layer->kind != LAYER_BATCHNORM)
			continue;
		reference->norms[i] = host_allocate(
			(size_t)node->in.channels * sizeof(struct norm));
		failed = failed || !reference->norms[i];
	}
	return failed;
}

/* With batch norm, samples are computed together, else one at a time. */
static double reference_sample_bytes(const struct model *model,
				     const struct program_options *options)
{
	double doubles = (double)shape_size(model->input);
	struct shape inputs[MODEL_MAX_LAYERS];

	(void)options;
	if (!model_has_batchnorm(model))
		return plan_decision_bytes(model);
	model_inputs(model, inputs);
	for (int i = 0; i < model->layer_count; i++)
		doubles += 2 * (double)shape_size(
				       layer_output(&model->layers[i],
						    inputs[i]));
	return doubles * sizeof(double) + plan_decision_bytes(model);
}

static int reference_compile(struct device *device, const struct model *model,
			     const struct program_options *options,
			     struct program **out, struct error *err)
{
	struct reference *reference = calloc(1, sizeof(*reference));

	if (!reference)
		return error_memory(err, "a program");
	if (base_init(&reference->base, device, model, options,
		      sizeof(real) == sizeof(double), err)) {
		free(reference);
		return -1;
	}
	reference->chunk = model_has_batchnorm(model) ? options->batch : 1;
	if (allocate_all(reference)) {
		reference_free(&reference->base.host.base);
		return error_memory(err, "a batch's values");
	}
	*out = &reference->base.host.base;
	return 0;
}

/* Samples that are computed together. */
struct sample_range {
	int first, count; /* samples of the batch */
	int training;
};

/* Returns sample n of the range, of a row or the images. */
static const real *value_at(const struct reference *reference, int row, int n)
{
	const struct graph *graph = &reference->base.host.graph;

	if (row == MODEL_IMAGES)
		return reference->images +
		       (size_t)n * shape_size(graph->model->input);
	return reference->values[row] +
	       (size_t)n * shape_size(graph->nodes[row].out);
}

static real *gradient_at(const struct reference *reference, int row, int n)
{
	const struct node *node = &reference->base.host.graph.nodes[row];

	return reference->gradients[row] + (size_t)n * shape_size(node->out);
}

/* The default cases, here and backward, are dropout. */
_Static_assert(LAYER_KINDS == 10, "a kind of layer without its computation");

/* Computes a layer with decisions: imposed ones, or noted new ones. */
static void forward_choice(struct reference *reference, int l, int n,
			   const struct sample_range *part)
{
	const struct node *node = &reference->base.host.graph.nodes[l];
	const real *x = value_at(reference, node->source, n);
	real *y = (real *)value_at(reference, l, n);
	double none = 0;
	/* Decisions of an evaluation are not kept. */
	const int sample = part->training ? part->first + n : 0;
	uint8_t *noted = host_decisions_at(&reference->base.host, l, sample);
	const uint8_t *imposed =
		part->training ?
			base_imposed(&reference->base, l, sample) : NULL;
	double *regret = part->training ? &reference->base.regret[l] : &none;

	if (node->layer->kind == LAYER_RELU)
		relu_forward(x, node->decisions, imposed, noted, y, regret);
	else if (node->layer->kind == LAYER_MAXPOOL)
		maxpool_forward(node->layer, x, node->in, imposed, noted, y,
				regret);
	else if (part->training && reference->base.host.base.options.dropout)
		dropout_forward(x, node->decisions,
				shape_size(node->in) / node->decisions,
				imposed ? imposed : noted, node->layer->drop,
				y);
	else
		memcpy(y, x, shape_size(node->in) * sizeof(*y));
}

static void forward_sample(struct reference *reference, int l, int n,
			   const struct sample_range *part)
{
	const struct node *node = &reference->base.host.graph.nodes[l];
	const real *w = base_parameters(&reference->base, node);
	const real *x = base_factors(&reference->base, l, BASE_INPUTS,
				     value_at(reference, node->source, n),
				     shape_size(node->in));
	real *y = (real *)value_at(reference, l, n);
	const real *other;

	switch (node->layer->kind) {
	case LAYER_CONV:
		if (!base_points(&reference->base, l, x, y))
			conv_forward(node->layer, x, node->in,
				     w + node->weight,
				     node->has_bias ? w + node->bias : NULL,
				     y);
		break;
	case LAYER_LINEAR:
		linear_forward(x, shape_size(node->in), w + node->weight,
			       w + node->bias, node->layer->outputs, y);
		break;
	case LAYER_AVGPOOL:
		avgpool_forward(node->layer, x, node->in, y);
		break;
	case LAYER_ADD:
		other = value_at(reference, node->other, n);
		for (size_t i = 0; i < shape_size(node->out); i++)
			y[i] = x[i] + other[i];
		break;
	default:
		forward_choice(reference, l, n, part);
	}
}

/* Returns the statistics of the range, or running ones, and the parameters. */
static struct norm channel_norm(struct reference *reference, int l, int c,
				const struct sample_range *part)
{
	const struct node *node = &reference->base.host.graph.nodes[l];
	const real *w = base_parameters(&reference->base, node);
	const size_t plane = (size_t)(node->in.height * node->in.width);
	const double all = (double)part->count * (double)plane;
	double *means = reference->base.buffers + node->buffers;
	double *variances = means + node->in.channels;
	double mean = means[c], variance = variances[c];

	if (part->training) {
		moments(value_at(reference, node->source, 0) +
				(size_t)c * plane,
			part->count, shape_size(node->in), plane, &mean,
			&variance);
		means[c] += BATCHNORM_MOMENTUM * (mean - means[c]);
		variances[c] += BATCHNORM_MOMENTUM *
				(variance * all / (all - 1) - variances[c]);
	}
	return (struct norm){ mean, sqrt(variance + BATCHNORM_EPS),
			      w[node->weight + (size_t)c],
			      w[node->bias + (size_t)c] };
}

static void batchnorm_forward(struct reference *reference, int l,
			      const struct sample_range *part)
{
	const struct node *node = &reference->base.host.graph.nodes[l];
	const size_t plane = (size_t)(node->in.height * node->in.width);
	struct norm *norms = reference->norms[l];

	for (int c = 0; c < node->in.channels; c++) {
		norms[c] = channel_norm(reference, l, c, part);
		norm_forward(&norms[c],
			     value_at(reference, node->source, 0) +
				     (size_t)c * plane,
			     part->count, shape_size(node->in), plane,
			     reference->values[l] + (size_t)c * plane);
	}
}

/* Computes all rows up to the loss. */
static void forward(struct reference *reference,
		    const struct sample_range *part)
{
	const struct graph *graph = &reference->base.host.graph;

	for (int l = 0; l < graph->count - 1; l++) {
		if (graph->nodes[l].layer->kind == LAYER_BATCHNORM)
			batchnorm_forward(reference, l, part);
		else
			for (int n = 0; n < part->count; n++)
				forward_sample(reference, l, n, part);
		base_round_row(&reference->base, l, reference->values[l],
			       part->count);
	}
}

static void backward_choice(struct reference *reference, int l, int n,
			    const struct sample_range *part, real *dx)
{
	const struct node *node = &reference->base.host.graph.nodes[l];
	const int sample = part->first + n;
	const uint8_t *imposed =
		layer_drops(node->layer) ?
			base_imposed(&reference->base, l, sample) : NULL;
	const uint8_t *taken =
		imposed ? imposed :
			  host_decisions_at(&reference->base.host, l, sample);
	const real *dy = gradient_at(reference, l, n);

	if (node->layer->kind == LAYER_RELU)
		relu_backward(dy, node->decisions, taken, dx);
	else if (node->layer->kind == LAYER_MAXPOOL)
		maxpool_backward(node->layer, dy, node->in, taken, dx);
	else if (reference->base.host.base.options.dropout)
		dropout_backward(dy, node->decisions,
				 shape_size(node->in) / node->decisions, taken,
				 node->layer->drop, dx);
	else
		for (size_t i = 0; i < shape_size(node->in); i++)
			dx[i] += dy[i];
}

/* Backward of a convolution or a linear layer. The bias is no factor of a
 * product; its gradient uses dy unrounded. */
static void backward_product(struct reference *reference, int l, int n)
{
	struct reference_base *base = &reference->base;
	const struct node *node = &base->host.graph.nodes[l];
	const real *w = base_parameters(base, node);
	real *dw = real_vector(base, VECTOR_GRADIENT);
	const real *x = base_factors(base, l, BASE_INPUTS,
				     value_at(reference, node->source, n),
				     shape_size(node->in));
	const real *dy = gradient_at(reference, l, n);
	const real *factors = base_factors(base, l, BASE_GRADIENTS, dy,
					   shape_size(node->out));
	real *dx = node->needs_dx ? gradient_at(reference, node->source, n) :
				      NULL;

	if (node->has_bias)
		bias_backward(node->out, dy, dw + node->bias);
	if (node->layer->kind == LAYER_CONV)
		conv_backward(node->layer, x, node->in, w + node->weight,
			      factors, dw + node->weight, NULL, dx);
	else
		linear_backward(x, shape_size(node->in), w + node->weight,
				node->layer->outputs, factors,
				dw + node->weight, NULL, dx);
}

static void backward_sample(struct reference *reference, int l, int n,
			    const struct sample_range *part)
{
	const struct node *node = &reference->base.host.graph.nodes[l];
	const real *dy = gradient_at(reference, l, n);
	real *dx = node->needs_dx ? gradient_at(reference, node->source, n) :
				      NULL;

	switch (node->layer->kind) {
	case LAYER_CONV:
	case LAYER_LINEAR:
		backward_product(reference, l, n);
		break;
	case LAYER_AVGPOOL:
		if (dx)
			avgpool_backward(node->layer, dy, node->in, dx);
		break;
	case LAYER_ADD:
		for (size_t i = 0; dx && i < shape_size(node->out); i++)
			dx[i] += dy[i];
		dx = node->needs_other_dx ?
			     gradient_at(reference, node->other, n) : NULL;
		for (size_t i = 0; dx && i < shape_size(node->out); i++)
			dx[i] += dy[i];
		break;
	default:
		if (dx)
			backward_choice(reference, l, n, part, dx);
	}
}

static void batchnorm_backward(struct reference *reference, int l,
			       const struct sample_range *part)
{
	const struct node *node = &reference->base.host.graph.nodes[l];
	const size_t plane = (size_t)(node->in.height * node->in.width);
	real *dw = real_vector(&reference->base, VECTOR_GRADIENT);

	for (int c = 0; c < node->in.channels; c++) {
		const size_t at = (size_t)c * plane;

		norm_backward(&reference->norms[l][c],
			      value_at(reference, node->source, 0) + at,
			      reference->gradients[l] + at, part->count,
			      shape_size(node->in), plane,
			      dw + node->weight + c, dw + node->bias + c,
			      node->needs_dx ?
				      reference->gradients[node->source] + at :
				      NULL);
	}
}

static void backward(struct reference *reference,
		     const struct sample_range *part)
{
	const struct node *nodes = reference->base.host.graph.nodes;

	for (int l = reference->base.host.graph.count - 2; l >= 0; l--) {
		if (nodes[l].layer->kind == LAYER_BATCHNORM)
			batchnorm_backward(reference, l, part);
		else
			for (int n = 0; n < part->count; n++)
				backward_sample(reference, l, n, part);
		if (nodes[l].needs_dx)
			base_round_row(&reference->base, nodes[l].source,
				       reference->gradients[nodes[l].source],
				       part->count);
		if (nodes[l].needs_other_dx)
			base_round_row(&reference->base, nodes[l].other,
				       reference->gradients[nodes[l].other],
				       part->count);
	}
}

static void run_part(struct reference *reference, const struct batch *batch,
		     const struct sample_range *part, struct score *score)
{
	const struct graph *graph = &reference->base.host.graph;
	const size_t size = shape_size(graph->model->input);
	const int last = graph->nodes[graph->count - 1].source;
	const enum loss loss = graph->nodes[graph->count - 1].layer->loss;

	for (size_t p = 0; p < (size_t)part->count * size; p++)
		reference->images[p] =
			batch->images[(size_t)part->first * size + p];
	base_round_row(&reference->base, MODEL_IMAGES, reference->images,
		       part->count);
	forward(reference, part);
	for (int i = 0; part->training && i < graph->count; i++)
		memset(reference->gradients[i], 0,
		       (size_t)part->count * shape_size(graph->nodes[i].out) *
			       sizeof(real));
	for (int n = 0; n < part->count; n++)
		loss_forward(loss, value_at(reference, last, n),
			     model_classes(graph->model), batch,
			     part->first + n, score,
			     part->training ? gradient_at(reference, last, n) :
					      NULL);
	if (!part->training)
		return;
	base_round_row(&reference->base, last, reference->gradients[last],
		       part->count);
	backward(reference, part);
}

static void run_all(struct reference *reference, const struct batch *batch,
		    int training, struct score *score)
{
	struct sample_range part = { .training = training };

	base_round_parameters(&reference->base);
	for (; part.first < batch->count; part.first += part.count) {
		part.count = batch->count - part.first;
		if (part.count > reference->chunk)
			part.count = reference->chunk;
		run_part(reference, batch, &part, score);
	}
}

static int reference_gradient(struct program *program,
			      const struct batch *batch,
			      const struct update *update, struct error *err)
{
	struct reference *reference = (struct reference *)program;

	(void)update;
	(void)err;
	base_begin(&reference->base, batch);
	run_all(reference, batch, 1, &program->score);
	base_end(&reference->base, batch);
	return 0;
}

static int reference_evaluate(struct program *program,
			      const struct batch *batch, struct score *score,
			      struct error *err)
{
	(void)err;
	run_all((struct reference *)program, batch, 0, score);
	return 0;
}

const struct backend reference_backend = {
	.version = BACKEND_VERSION,
#ifdef REAL_FLOAT
	.name = "single",
	.summary = "plain loops in float",
	.precisions = 1u << PRECISION_FP32,
#else
	.name = "reference",
	.summary = "plain loops in double: the standard",
	.precisions = 1u << PRECISION_FP32 | 1u << PRECISION_FP64 |
		      1u << PRECISION_FP16 | 1u << PRECISION_BF16_STORAGE,
	.is_reference = 1,
#endif
	.algorithms = 1u << ALGORITHM_DENSE,
	.sample_bytes = reference_sample_bytes,
	.open = reference_open,
	.close = host_close,
	.describe = reference_describe,
	.compile = reference_compile,
	.free = reference_free,
	.store = base_store,
	.load = base_load,
	.map = base_map,
	.unmap = base_unmap,
	.gradient = reference_gradient,
	.update = base_update,
	.evaluate = reference_evaluate,
	.decisions = host_decisions,
	.impose = base_impose,
	.round_factors = base_round_factors,
};
