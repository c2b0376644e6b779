/*
 * The openblas backend, a plain implementation: one layer after the other over
 * the whole batch, convolutions as im2col and one matrix product of OpenBLAS
 * per sample. It computes any graph, in float or double. In double it follows
 * other backends' decisions like the reference, and is much faster.
 */
#include "backends/openblas/openblas.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/host/blas.h"

extern const struct backend openblas_backend;

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

	free(openblas->memory);
	free(openblas->converted);
	free(openblas->columns);
	free(openblas->ones);
	free(openblas->norms);
	base_release(&openblas->base);
	free(openblas);
}

static size_t size_of(const struct program_options *options)
{
	return options->precision == PRECISION_FP64 ? sizeof(double) :
						      sizeof(float);
}

/* Returns 1 if images are converted: to double, or if the precision may round
 * them. */
static int converts(const struct program_options *options)
{
	return options->precision != PRECISION_FP32;
}

void openblas_plan(struct lifetimes *lifetimes, const struct graph *graph,
		   const struct program_options *options)
{
	const size_t batch = options->batch > 0 ? (size_t)options->batch : 1;
	struct lifetime_step steps[MODEL_MAX_LAYERS];
	const int count = graph->count - 1;

	for (int i = 0; i < count; i++) {
		const size_t bytes = batch * size_of(options) *
				     shape_size(graph->nodes[i].out);

		steps[i] = (struct lifetime_step){ .first = i, .last = i,
						   .output = bytes,
						   .gradient = bytes };
	}
	lifetimes_plan(lifetimes, graph, steps, count,
		       options->infers ? LIFETIMES_FORWARD : 0);
}

/* Counts numbers of scratch: a sample's im2col, and a one per sample, with
 * which linear layers sum. */
static void count_scratch(const struct graph *graph, int batch,
			  size_t *columns, size_t *ones)
{
	*columns = 0;
	*ones = (size_t)batch;
	for (int i = 0; i < graph->count; i++) {
		const struct node *node = &graph->nodes[i];
		const size_t pixels = (size_t)node->out.height *
				      (size_t)node->out.width;
		const size_t each = pixels * (size_t)node->in.channels *
				    (size_t)node->layer->window *
				    (size_t)node->layer->window;

		if (node->layer->kind != LAYER_CONV)
			continue;
		*columns = each > *columns ? each : *columns;
	}
}

static int allocate_all(struct openblas *openblas)
{
	const struct program *base = &openblas->base.host.base;
	const struct graph *graph = &openblas->base.host.graph;
	const int batch = base->options.batch;
	const size_t size = size_of(&base->options);
	const int is_double = size == sizeof(double);
	size_t columns, ones;

	openblas_plan(&openblas->lifetimes, graph, &base->options);
	count_scratch(graph, batch, &columns, &ones);
	openblas->memory = host_allocate(openblas->lifetimes.bytes);
	openblas->columns = host_allocate(columns * size);
	openblas->ones = host_allocate(ones * size);
	openblas->norms = host_allocate(base->buffers * sizeof(double));
	if (converts(&base->options))
		openblas->converted = host_allocate(
			(size_t)batch * shape_size(base->model->input) * size);
	if (!openblas->memory || !openblas->columns || !openblas->ones ||
	    !openblas->norms ||
	    (converts(&base->options) && !openblas->converted))
		return -1;
	for (size_t i = 0; i < ones; i++)
		if (is_double)
			((double *)openblas->ones)[i] = 1;
		else
			((float *)openblas->ones)[i] = 1;
	return 0;
}

static double openblas_sample_bytes(const struct model *model,
				    const struct program_options *options)
{
	const int batch = options->batch > 0 ? options->batch : 1;
	const size_t size = size_of(options);
	struct lifetimes lifetimes;
	struct graph graph;
	size_t columns, ones, images;

	graph_resolve(&graph, model);
	openblas_plan(&lifetimes, &graph, options);
	count_scratch(&graph, batch, &columns, &ones);
	images = converts(options) ? shape_size(model->input) * size : 0;
	return plan_decision_bytes(model) + (double)images +
	       (double)(lifetimes.bytes + (columns + ones) * size) / batch;
}

static int openblas_compile(struct device *device, const struct model *model,
			    const struct program_options *options,
			    struct program **out, struct error *err)
{
	struct openblas *openblas = calloc(1, sizeof(*openblas));
	const int is_double = options->precision == PRECISION_FP64;

	if (!openblas)
		return error_memory(err, "a program");
	openblas->pass = is_double ? openblas_pass_double : openblas_pass_float;
	if (base_init(&openblas->base, device, model, options, is_double,
		      err)) {
		free(openblas);
		return -1;
	}
	if (allocate_all(openblas)) {
		openblas_free(&openblas->base.host.base);
		return error_memory(err, "the activations of a batch");
	}
	*out = &openblas->base.host.base;
	(*out)->activation_bytes = openblas->lifetimes.bytes;
	(*out)->unshared_bytes = openblas->lifetimes.unshared;
	return 0;
}

static int openblas_gradient(struct program *program, const struct batch *batch,
			     const struct update *update, struct error *err)
{
	struct openblas *openblas = (struct openblas *)program;

	(void)update;
	(void)err;
	base_begin(&openblas->base, batch);
	if (batch->count)
		openblas->pass(openblas, batch, 1, &program->score);
	base_end(&openblas->base, batch);
	return 0;
}

/* In slices, so that it needs no more memory than a gradient. */
static int openblas_evaluate(struct program *program, const struct batch *batch,
			     struct score *score, struct error *err)
{
	struct openblas *openblas = (struct openblas *)program;
	const size_t size = shape_size(program->model->input);
	const size_t outputs = (size_t)model_classes(program->model);
	struct batch slice = *batch;

	(void)err;
	for (int i = 0; i < batch->count; i += slice.count) {
		slice.images = batch->images + (size_t)i * size;
		if (model_has_classes(program->model))
			slice.labels = batch->labels + i;
		else
			slice.targets = batch->targets + (size_t)i * outputs;
		if (batch->outputs)
			slice.outputs = batch->outputs + (size_t)i * outputs;
		slice.count = batch->count - i;
		if (slice.count > program->options.batch)
			slice.count = program->options.batch;
		openblas->pass(openblas, &slice, 0, score);
	}
	return 0;
}

const struct backend openblas_backend = {
	.version = BACKEND_VERSION,
	.name = "openblas",
	.summary = "layer by layer, im2col and OpenBLAS's sgemm",
	.algorithms = 1u << ALGORITHM_DENSE,
	.precisions = 1u << PRECISION_FP32 | 1u << PRECISION_FP64 |
		      1u << PRECISION_FP16 | 1u << PRECISION_BF16_STORAGE,
	.library = &blas_library,
	.sample_bytes = openblas_sample_bytes,
	.open = openblas_open,
	.close = host_close,
	.describe = openblas_describe,
	.compile = openblas_compile,
	.free = openblas_free,
	.store = base_store,
	.load = base_load,
	.map = base_map,
	.unmap = base_unmap,
	.gradient = openblas_gradient,
	.update = base_update,
	.evaluate = openblas_evaluate,
	.decisions = host_decisions,
	.impose = base_impose,
	.round_factors = base_round_factors,
};
