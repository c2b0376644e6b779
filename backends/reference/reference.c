/*
 * The oracle: every layer by itself, one sample after the other, everything in
 * double. Slow, and easy to believe. It alone can follow another backend's
 * decisions, so that gradients can be compared where rounding would choose
 * another winner.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "backends/host.h"
#include "backends/reference/layers.h"

struct reference {
	struct host_program host; /* lends its vectors of floats */
	double *vectors[VECTOR_COUNT];
	/* Inputs of layer i, one sample, and the loss's slopes by them. */
	double *values[MODEL_MAX_LAYERS + 1];
	double *slopes[MODEL_MAX_LAYERS + 1];
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
	for (int i = 0; i < MODEL_MAX_LAYERS; i++)
		free(reference->imposed[i]);
	for (int i = 0; i <= MODEL_MAX_LAYERS; i++) {
		free(reference->values[i]);
		free(reference->slopes[i]);
	}
	host_release(&reference->host);
	free(reference);
}

static int allocate_doubles(struct reference *reference)
{
	const struct model *model = reference->host.base.model;

	for (int v = 0; v < VECTOR_COUNT; v++) {
		reference->vectors[v] = host_allocate(
			reference->host.base.parameters * sizeof(double));
		if (!reference->vectors[v])
			return -1;
	}
	for (int i = 0; i <= model->layer_count; i++) {
		size_t size = shape_size(model_layer_input(model, i));

		reference->values[i] = host_allocate(size * sizeof(double));
		reference->slopes[i] = host_allocate(size * sizeof(double));
		if (!reference->values[i] || !reference->slopes[i])
			return -1;
	}
	return 0;
}

static int reference_compile(struct device *device, const struct model *model,
			     const struct program_options *options,
			     struct program **out, struct error *err)
{
	struct reference *reference = calloc(1, sizeof(*reference));

	if (!reference)
		return error_memory(err, "a program");
	if (host_init(&reference->host, device, model, options, fusions_alone,
		      LAYER_KINDS, err)) {
		free(reference);
		return -1;
	}
	if (allocate_doubles(reference)) {
		reference_free(&reference->host.base);
		return error_memory(err, "a replica in double");
	}
	*out = &reference->host.base;
	return 0;
}

static int reference_store(struct program *program, enum vector which,
			   const float *values, struct error *err)
{
	double *to = ((struct reference *)program)->vectors[which];

	(void)err;
	for (size_t i = 0; i < program->parameters; i++)
		to[i] = values[i];
	return 0;
}

static int reference_load(struct program *program, enum vector which,
			  float *values, struct error *err)
{
	const double *from = ((struct reference *)program)->vectors[which];

	(void)err;
	for (size_t i = 0; i < program->parameters; i++)
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

/* Decisions of one sample at layer l: imposed ones, and where to note them. */
static void forward_choice(struct reference *reference, int l, int sample,
			   int training)
{
	const struct model *model = reference->host.base.model;
	const struct layer *layer = &model->layers[l];
	const struct shape in = model_layer_input(model, l);
	const double *x = reference->values[l];
	double *y = reference->values[l + 1], none = 0;
	const size_t choices = layer_decisions(layer, in);
	/* An evaluation's decisions are nobody's business. */
	uint8_t *noted = host_decisions_at(&reference->host, l,
					   training ? sample : 0);
	const uint8_t *imposed =
		training && reference->imposed[l] ?
			reference->imposed[l] + (size_t)sample * choices : NULL;
	double *regret = training ? &reference->regret[l] : &none;

	if (layer->kind == LAYER_RELU)
		relu_forward(x, choices, imposed, noted, y, regret);
	else if (layer->kind == LAYER_MAXPOOL)
		maxpool_forward(x, in, layer->window, imposed, noted, y,
				regret);
	else if (training && reference->host.base.options.dropout)
		dropout_apply(x, choices, shape_size(in) / choices,
			      imposed ? imposed : noted, layer->drop, y);
	else
		memcpy(y, x, shape_size(in) * sizeof(*y));
}

/* Forward up to the loss. values[0] is the sample. */
static void forward(struct reference *reference, int sample, int training)
{
	const struct model *model = reference->host.base.model;
	const double *parameters = reference->vectors[VECTOR_PARAMETERS];

	for (int l = 0; l < model->layer_count - 1; l++) {
		const struct layer *layer = &model->layers[l];
		const struct step *step = &reference->host.plan.steps[l];
		const double *x = reference->values[l];
		double *y = reference->values[l + 1];

		if (layer->kind == LAYER_CONV)
			conv_forward(x, step->in, parameters + step->weight,
				     parameters + step->bias, layer->outputs,
				     layer->window, y);
		else if (layer->kind == LAYER_LINEAR)
			linear_forward(x, shape_size(step->in),
				       parameters + step->weight,
				       parameters + step->bias, layer->outputs,
				       y);
		else
			forward_choice(reference, l, sample, training);
	}
}

static void backward_choice(struct reference *reference, int l, int sample)
{
	const struct model *model = reference->host.base.model;
	const struct layer *layer = &model->layers[l];
	const struct shape in = model_layer_input(model, l);
	const size_t choices = layer_decisions(layer, in);
	const uint8_t *taken =
		layer->kind >= LAYER_DROPOUT && reference->imposed[l] ?
			reference->imposed[l] + (size_t)sample * choices :
			host_decisions_at(&reference->host, l, sample);
	const double *dy = reference->slopes[l + 1];
	double *dx = reference->slopes[l];

	if (layer->kind == LAYER_RELU)
		relu_backward(dy, choices, taken, dx);
	else if (layer->kind == LAYER_MAXPOOL)
		maxpool_backward(dy, in, layer->window, taken, dx);
	else if (reference->host.base.options.dropout)
		dropout_apply(dy, choices, shape_size(in) / choices, taken,
			      layer->drop, dx);
	else
		memcpy(dx, dy, shape_size(in) * sizeof(*dx));
}

static void backward(struct reference *reference, int sample)
{
	const struct model *model = reference->host.base.model;
	const double *w = reference->vectors[VECTOR_PARAMETERS];
	double *dw = reference->vectors[VECTOR_GRADIENT];

	for (int l = model->layer_count - 2; l >= 0; l--) {
		const struct layer *layer = &model->layers[l];
		const struct step *step = &reference->host.plan.steps[l];
		const double *x = reference->values[l];
		const double *dy = reference->slopes[l + 1];
		double *dx = l ? reference->slopes[l] : NULL;

		if (layer->kind == LAYER_CONV)
			conv_backward(x, step->in, w + step->weight,
				      layer->outputs, layer->window, dy,
				      dw + step->weight, dw + step->bias, dx);
		else if (layer->kind == LAYER_LINEAR)
			linear_backward(x, shape_size(step->in),
					w + step->weight, layer->outputs, dy,
					dw + step->weight, dw + step->bias, dx);
		else
			backward_choice(reference, l, sample);
	}
}

static void run_sample(struct reference *reference, const struct batch *batch,
		       int sample, int training, struct score *score)
{
	const struct model *model = reference->host.base.model;
	const size_t size = shape_size(model->input);
	const int last = model->layer_count - 1;

	for (size_t p = 0; p < size; p++)
		reference->values[0][p] =
			batch->images[(size_t)sample * size + p];
	forward(reference, sample, training);
	loss_forward(reference->values[last], model_classes(model),
		     batch->labels[sample], batch->global_count, score,
		     training ? reference->slopes[last] : NULL);
	if (training)
		backward(reference, sample);
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
	for (int i = 0; i < batch->count; i++)
		run_sample(reference, batch, i, 1, &program->score);
	return 0;
}

static int reference_evaluate(struct program *program,
			      const struct batch *batch, struct score *score,
			      struct error *err)
{
	(void)err;
	for (int i = 0; i < batch->count; i++)
		run_sample((struct reference *)program, batch, i, 0, score);
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
	const struct model *model = program->model;
	size_t bytes = (size_t)program->options.batch *
		       layer_decisions(&model->layers[layer],
				       model_layer_input(model, layer));

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
