/*
 * The oracle: every layer by itself, everything in double. Slow, and easy to
 * believe. It alone can follow another backend's decisions, so that gradients
 * can be compared where rounding would choose another winner.
 *
 * It computes one sample after the other; all of a batch together where batch
 * norm looks at them all.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "backends/host.h"
#include "backends/reference/layers.h"

struct reference {
	struct host_program host; /* lends its vectors of floats */
	double *vectors[VECTOR_COUNT], *buffers;
	int chunk; /* samples that are computed together */
	/* Outputs of the rows, [chunk] samples of each, and the gradients of
	 * the loss by them; the images come first. */
	double *images, *values[MODEL_MAX_LAYERS];
	double *gradients[MODEL_MAX_LAYERS];
	struct norm *norms[MODEL_MAX_LAYERS]; /* of each channel */
	uint8_t *imposed[MODEL_MAX_LAYERS];
	double regret[MODEL_MAX_LAYERS];
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

	for (int v = 0; v < VECTOR_COUNT; v++)
		free(reference->vectors[v]);
	for (int i = 0; i < MODEL_MAX_LAYERS; i++) {
		free(reference->imposed[i]);
		free(reference->norms[i]);
		free(reference->values[i]);
		free(reference->gradients[i]);
	}
	free(reference->images);
	free(reference->buffers);
	host_release(&reference->host);
	free(reference);
}

/* count doubles, of 0. */
static double *allocate_doubles(size_t count, int *failed)
{
	double *doubles = host_allocate(count * sizeof(*doubles));

	*failed = *failed || !doubles;
	return doubles;
}

static int allocate_all(struct reference *reference)
{
	const struct graph *graph = &reference->host.graph;
	const struct program *base = &reference->host.base;
	const size_t chunk = (size_t)reference->chunk;
	int failed = 0;

	for (int v = 0; v < VECTOR_COUNT; v++)
		reference->vectors[v] = allocate_doubles(base->parameters,
							 &failed);
	reference->buffers = allocate_doubles(base->buffers, &failed);
	reference->images = allocate_doubles(
		chunk * shape_size(base->model->input), &failed);
	for (int i = 0; i < graph->count; i++) {
		const struct node *node = &graph->nodes[i];
		const size_t size = chunk * shape_size(node->out);

		reference->values[i] = allocate_doubles(size, &failed);
		reference->gradients[i] = allocate_doubles(size, &failed);
		if (node->layer->kind != LAYER_BATCHNORM)
			continue;
		reference->norms[i] = host_allocate(
			(size_t)node->in.channels * sizeof(struct norm));
		failed = failed || !reference->norms[i];
	}
	return failed;
}

static int reference_compile(struct device *device, const struct model *model,
			     const struct program_options *options,
			     struct program **out, struct error *err)
{
	struct reference *reference = calloc(1, sizeof(*reference));

	if (!reference)
		return error_memory(err, "a program");
	if (host_init(&reference->host, device, model, options, err)) {
		free(reference);
		return -1;
	}
	reference->chunk = model_has_batchnorm(model) ? options->batch : 1;
	if (allocate_all(reference)) {
		reference_free(&reference->host.base);
		return error_memory(err, "a replica in double");
	}
	*out = &reference->host.base;
	return 0;
}

static double *vector_of(struct program *program, enum vector which,
			 size_t *count)
{
	struct reference *reference = (struct reference *)program;

	*count = which == VECTOR_BUFFERS ? program->buffers :
					   program->parameters;
	return which == VECTOR_BUFFERS ? reference->buffers :
					 reference->vectors[which];
}

static int reference_store(struct program *program, enum vector which,
			   const float *values, struct error *err)
{
	size_t count;
	double *to = vector_of(program, which, &count);

	(void)err;
	for (size_t i = 0; i < count; i++)
		to[i] = values[i];
	return 0;
}

static int reference_load(struct program *program, enum vector which,
			  float *values, struct error *err)
{
	size_t count;
	const double *from = vector_of(program, which, &count);

	(void)err;
	for (size_t i = 0; i < count; i++)
		values[i] = (float)from[i];
	return 0;
}

/* Cores exchange floats, as those of every other backend do. */
static float *reference_map(struct program *program, enum vector which,
			    struct error *err)
{
	float *lent = host_map(program, which, err);

	reference_load(program, which, lent, err);
	return lent;
}

static int reference_unmap(struct program *program, enum vector which,
			   struct error *err)
{
	return reference_store(program, which, host_map(program, which, err),
			       err);
}

/* What is computed at once. */
struct part {
	int first, count; /* samples of the batch */
	int training;
};

/* Sample n of the part, of a row or the images. */
static const double *value_at(const struct reference *reference, int row, int n)
{
	const struct graph *graph = &reference->host.graph;

	if (row == MODEL_IMAGES)
		return reference->images +
		       (size_t)n * shape_size(graph->model->input);
	return reference->values[row] +
	       (size_t)n * shape_size(graph->nodes[row].out);
}

static double *gradient_at(const struct reference *reference, int row, int n)
{
	const struct node *node = &reference->host.graph.nodes[row];

	return reference->gradients[row] + (size_t)n * shape_size(node->out);
}

/* Decisions of a sample of the batch that somebody else took, or NULL. */
static const uint8_t *imposed_at(const struct reference *reference, int l,
				 int sample)
{
	if (!reference->imposed[l])
		return NULL;
	return reference->imposed[l] +
	       (size_t)sample * reference->host.graph.nodes[l].decisions;
}

static int drops(const struct layer *layer)
{
	return layer->kind == LAYER_DROPOUT || layer->kind == LAYER_DROPOUT2D;
}

/* Those of sample n: imposed ones, and where to note them. */
static void forward_choice(struct reference *reference, int l, int n,
			   const struct part *part)
{
	const struct node *node = &reference->host.graph.nodes[l];
	const double *x = value_at(reference, node->source, n);
	double *y = (double *)value_at(reference, l, n), none = 0;
	/* An evaluation's decisions are not kept. */
	const int sample = part->training ? part->first + n : 0;
	uint8_t *noted = host_decisions_at(&reference->host, l, sample);
	const uint8_t *imposed =
		part->training ? imposed_at(reference, l, sample) : NULL;
	double *regret = part->training ? &reference->regret[l] : &none;

	if (node->layer->kind == LAYER_RELU)
		relu_forward(x, node->decisions, imposed, noted, y, regret);
	else if (node->layer->kind == LAYER_MAXPOOL)
		maxpool_forward(node->layer, x, node->in, imposed, noted, y,
				regret);
	else if (part->training && reference->host.base.options.dropout)
		dropout_forward(x, node->decisions,
				shape_size(node->in) / node->decisions,
				imposed ? imposed : noted, node->layer->drop,
				y);
	else
		memcpy(y, x, shape_size(node->in) * sizeof(*y));
}

static void forward_sample(struct reference *reference, int l, int n,
			   const struct part *part)
{
	const struct node *node = &reference->host.graph.nodes[l];
	const double *w = reference->vectors[VECTOR_PARAMETERS];
	const double *x = value_at(reference, node->source, n);
	double *y = (double *)value_at(reference, l, n);
	const double *other;

	switch (node->layer->kind) {
	case LAYER_CONV:
		conv_forward(node->layer, x, node->in, w + node->weight,
			     node->has_bias ? w + node->bias : NULL, y);
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

/* The statistics of the part, or those that earlier batches left. */
static struct norm channel_norm(struct reference *reference, int l, int c,
				const struct part *part)
{
	const struct node *node = &reference->host.graph.nodes[l];
	const double *w = reference->vectors[VECTOR_PARAMETERS];
	const size_t plane = (size_t)(node->in.height * node->in.width);
	const double all = (double)part->count * (double)plane;
	double *means = reference->buffers + node->buffers;
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
			      const struct part *part)
{
	const struct node *node = &reference->host.graph.nodes[l];
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

/* Up to the loss. */
static void forward(struct reference *reference, const struct part *part)
{
	const struct graph *graph = &reference->host.graph;

	for (int l = 0; l < graph->count - 1; l++)
		if (graph->nodes[l].layer->kind == LAYER_BATCHNORM)
			batchnorm_forward(reference, l, part);
		else
			for (int n = 0; n < part->count; n++)
				forward_sample(reference, l, n, part);
}

static void backward_choice(struct reference *reference, int l, int n,
			    const struct part *part, double *dx)
{
	const struct node *node = &reference->host.graph.nodes[l];
	const int sample = part->first + n;
	const uint8_t *imposed =
		drops(node->layer) ? imposed_at(reference, l, sample) : NULL;
	const uint8_t *taken =
		imposed ? imposed :
			  host_decisions_at(&reference->host, l, sample);
	const double *dy = gradient_at(reference, l, n);

	if (node->layer->kind == LAYER_RELU)
		relu_backward(dy, node->decisions, taken, dx);
	else if (node->layer->kind == LAYER_MAXPOOL)
		maxpool_backward(node->layer, dy, node->in, taken, dx);
	else if (reference->host.base.options.dropout)
		dropout_backward(dy, node->decisions,
				 shape_size(node->in) / node->decisions, taken,
				 node->layer->drop, dx);
	else
		for (size_t i = 0; i < shape_size(node->in); i++)
			dx[i] += dy[i];
}

static void backward_sample(struct reference *reference, int l, int n,
			    const struct part *part)
{
	const struct node *node = &reference->host.graph.nodes[l];
	const double *w = reference->vectors[VECTOR_PARAMETERS];
	double *dw = reference->vectors[VECTOR_GRADIENT];
	const double *x = value_at(reference, node->source, n);
	const double *dy = gradient_at(reference, l, n);
	double *dx = node->wants_dx ? gradient_at(reference, node->source, n) :
				      NULL;

	switch (node->layer->kind) {
	case LAYER_CONV:
		conv_backward(node->layer, x, node->in, w + node->weight, dy,
			      dw + node->weight,
			      node->has_bias ? dw + node->bias : NULL, dx);
		break;
	case LAYER_LINEAR:
		linear_backward(x, shape_size(node->in), w + node->weight,
				node->layer->outputs, dy, dw + node->weight,
				dw + node->bias, dx);
		break;
	case LAYER_AVGPOOL:
		if (dx)
			avgpool_backward(node->layer, dy, node->in, dx);
		break;
	case LAYER_ADD:
		for (size_t i = 0; dx && i < shape_size(node->out); i++)
			dx[i] += dy[i];
		dx = node->wants_other_dx ?
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
			       const struct part *part)
{
	const struct node *node = &reference->host.graph.nodes[l];
	const size_t plane = (size_t)(node->in.height * node->in.width);
	double *dw = reference->vectors[VECTOR_GRADIENT];

	for (int c = 0; c < node->in.channels; c++) {
		const size_t at = (size_t)c * plane;

		norm_backward(&reference->norms[l][c],
			      value_at(reference, node->source, 0) + at,
			      reference->gradients[l] + at, part->count,
			      shape_size(node->in), plane,
			      dw + node->weight + c, dw + node->bias + c,
			      node->wants_dx ?
				      reference->gradients[node->source] + at :
				      NULL);
	}
}

static void backward(struct reference *reference, const struct part *part)
{
	const struct graph *graph = &reference->host.graph;

	for (int l = graph->count - 2; l >= 0; l--)
		if (graph->nodes[l].layer->kind == LAYER_BATCHNORM)
			batchnorm_backward(reference, l, part);
		else
			for (int n = 0; n < part->count; n++)
				backward_sample(reference, l, n, part);
}

static void run_part(struct reference *reference, const struct batch *batch,
		     const struct part *part, struct score *score)
{
	const struct graph *graph = &reference->host.graph;
	const size_t size = shape_size(graph->model->input);
	const int last = graph->nodes[graph->count - 1].source;

	for (size_t p = 0; p < (size_t)part->count * size; p++)
		reference->images[p] =
			batch->images[(size_t)part->first * size + p];
	forward(reference, part);
	for (int i = 0; part->training && i < graph->count; i++)
		memset(reference->gradients[i], 0,
		       (size_t)part->count * shape_size(graph->nodes[i].out) *
			       sizeof(double));
	for (int n = 0; n < part->count; n++)
		loss_forward(value_at(reference, last, n),
			     model_classes(graph->model),
			     batch->labels[part->first + n],
			     batch->global_count, score,
			     part->training ? gradient_at(reference, last, n) :
					      NULL);
	if (part->training)
		backward(reference, part);
}

static void run_all(struct reference *reference, const struct batch *batch,
		    int training, struct score *score)
{
	struct part part = { .training = training };

	for (; part.first < batch->count; part.first += part.count) {
		part.count = batch->count - part.first;
		if (part.count > reference->chunk)
			part.count = reference->chunk;
		run_part(reference, batch, &part, score);
	}
}

static int reference_gradient(struct program *program,
			      const struct batch *batch, struct error *err)
{
	struct reference *reference = (struct reference *)program;

	(void)err;
	host_choose(&reference->host, batch, dropout_choices);
	program->score = (struct score){ 0 };
	memset(reference->regret, 0, sizeof(reference->regret));
	memset(reference->vectors[VECTOR_GRADIENT], 0,
	       program->parameters * sizeof(double));
	run_all(reference, batch, 1, &program->score);
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

static int reference_update(struct program *program,
			    const struct update *update, size_t from, size_t to,
			    struct error *err)
{
	double *const *vectors = ((struct reference *)program)->vectors;

	(void)err;
	for (size_t i = from; i < to; i++) {
		double g = vectors[VECTOR_GRADIENT][i];
		double *v = &vectors[VECTOR_SQUARE_AVG][i];
		double *u = &vectors[VECTOR_ACC_DELTA][i];
		double delta;

		*v = update->rho * *v + (1 - update->rho) * g * g;
		delta = sqrt(*u + update->eps) / sqrt(*v + update->eps) * g;
		*u = update->rho * *u + (1 - update->rho) * delta * delta;
		vectors[VECTOR_PARAMETERS][i] -= update->lr * delta;
	}
	return 0;
}

static int reference_impose(struct program *program, int layer,
			    const uint8_t *values, struct error *err)
{
	struct reference *reference = (struct reference *)program;
	size_t bytes = (size_t)program->options.batch *
		       reference->host.graph.nodes[layer].decisions;

	free(reference->imposed[layer]);
	reference->imposed[layer] = NULL;
	if (!values)
		return 0;
	reference->imposed[layer] = host_allocate(bytes);
	if (!reference->imposed[layer])
		return error_memory(err, "imposed decisions");
	memcpy(reference->imposed[layer], values, bytes);
	return 0;
}

static double reference_regret(struct program *program, int layer)
{
	return ((struct reference *)program)->regret[layer];
}

const struct backend reference_backend = {
	.name = "reference",
	.summary = "plain loops in double: the oracle",
	.algorithms = 1u << ALGORITHM_DENSE,
	.precisions = 1u << PRECISION_FP32,
	.open = reference_open,
	.close = host_close,
	.describe = reference_describe,
	.compile = reference_compile,
	.free = reference_free,
	.store = reference_store,
	.load = reference_load,
	.map = reference_map,
	.unmap = reference_unmap,
	.gradient = reference_gradient,
	.update = reference_update,
	.evaluate = reference_evaluate,
	.decisions = host_decisions,
	.impose = reference_impose,
	.regret = reference_regret,
	.explain = host_explain,
};
