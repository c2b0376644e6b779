#include "backends/host/reference_base.h"

#include <stdlib.h>
#include <string.h>

#include "backends/host/points.h"

static int allocate_doubles(struct reference_base *reference, int in_double)
{
	const struct program *base = &reference->host.base;

	reference->buffers = host_allocate(base->buffers * sizeof(double));
	if (base->options.precision == PRECISION_FP16) {
		reference->rounded = host_allocate(base->parameters *
						   sizeof(double));
		if (!reference->rounded)
			return -1;
	}
	for (int v = 0; in_double && v < base->vectors; v++) {
		reference->vectors[v] =
			host_allocate(base->parameters * sizeof(double));
		if (!reference->vectors[v])
			return -1;
	}
	return reference->buffers ? 0 : -1;
}

int base_init(struct reference_base *reference, struct device *device,
	      const struct model *model,
	      const struct program_options *options, int in_double,
	      struct error *err)
{
	if (host_init(&reference->host, device, model, options, err))
		return -1;
	reference->host.base.regret = reference->regret;
	storage_resolve(&reference->storage, &reference->host.graph,
			options->precision);
	if (!allocate_doubles(reference, in_double))
		return 0;
	base_release(reference);
	return error_memory(err, "a replica");
}

void base_release(struct reference_base *reference)
{
	for (int v = 0; v < VECTOR_COUNT; v++)
		free(reference->vectors[v]);
	for (int i = 0; i < MODEL_MAX_LAYERS; i++)
		free(reference->imposed[i]);
	free(reference->buffers);
	free(reference->rounded);
	free(reference->points);
	for (int i = 0; i < 2; i++)
		free(reference->factors[i]);
	host_release(&reference->host);
}

static int is_in_double(const struct reference_base *reference)
{
	return reference->vectors[VECTOR_PARAMETERS] != NULL;
}

void base_begin(struct reference_base *reference, const struct batch *batch)
{
	struct program *base = &reference->host.base;

	host_choose(&reference->host, batch, dropout_choices);
	base->score = (struct score){ 0 };
	memset(reference->regret, 0, sizeof(reference->regret));
	if (is_in_double(reference))
		memset(reference->vectors[VECTOR_GRADIENT], 0,
		       base->parameters * sizeof(double));
	else
		memset(reference->host.vectors[VECTOR_GRADIENT], 0,
		       base->parameters * sizeof(float));
}

static void round_reals(const struct reference_base *reference,
			enum precision precision, void *values, size_t from,
			size_t count)
{
	if (is_in_double(reference))
		storage_round_double(precision, (double *)values + from, count);
	else
		storage_round(precision, (float *)values + from, count);
}

/* Rounds weights of layers that round their factors; biases are no factors. */
static void round_weights(struct reference_base *reference)
{
	const struct graph *graph = &reference->host.graph;
	struct tensor tensors[MODEL_MAX_TENSORS];
	const int count = model_tensors(graph->model, tensors);

	for (int t = 0; t < count; t++) {
		const struct tensor *tensor = &tensors[t];

		if (reference->rounds[tensor->layer] == ROUNDS_FACTORS &&
		    tensor->offset == graph->nodes[tensor->layer].weight)
			round_reals(reference, PRECISION_BF16_STORAGE,
				    reference->rounded, tensor->offset,
				    tensor->count);
	}
}

void base_round_parameters(struct reference_base *reference)
{
	const struct program *base = &reference->host.base;
	const enum precision precision = base->options.precision;
	const size_t count = base->parameters;

	if (!reference->rounded)
		return;
	if (is_in_double(reference))
		memcpy(reference->rounded,
		       reference->vectors[VECTOR_PARAMETERS],
		       count * sizeof(double));
	else
		memcpy(reference->rounded,
		       reference->host.vectors[VECTOR_PARAMETERS],
		       count * sizeof(float));
	if (precision_rounds(precision))
		round_reals(reference, precision, reference->rounded, 0, count);
	round_weights(reference);
}

const void *base_factors(const struct reference_base *reference, int row,
			 enum base_factor kind, const void *values,
			 size_t count)
{
	void *copy = reference->factors[kind];

	if (reference->rounds[row] != ROUNDS_FACTORS)
		return values;
	memcpy(copy, values,
	       count * (is_in_double(reference) ? sizeof(double) :
						  sizeof(float)));
	round_reals(reference, PRECISION_BF16_STORAGE, copy, 0, count);
	return copy;
}

const void *base_parameters(const struct reference_base *reference,
			    const struct node *node)
{
	if (reference->rounded &&
	    (reference->rounds[node - reference->host.graph.nodes] ||
	     storage_rounds_layer(reference->storage.precision, node->layer)))
		return reference->rounded;
	return is_in_double(reference) ?
		       (const void *)reference->vectors[VECTOR_PARAMETERS] :
		       reference->host.vectors[VECTOR_PARAMETERS];
}

int base_points(const struct reference_base *reference, int row, const void *x,
		void *y)
{
	const struct node *node = &reference->host.graph.nodes[row];
	const double *parameters = reference->vectors[VECTOR_PARAMETERS];

	if (reference->rounds[row] != ROUNDS_POINTS)
		return 0;
	points_forward(node->layer, node->in, x, parameters + node->weight,
		       node->has_bias ? parameters + node->bias : NULL,
		       reference->points, y);
	return 1;
}

void base_round_row(const struct reference_base *reference, int row,
		    void *values, int count)
{
	const struct graph *graph = &reference->host.graph;
	const size_t size = (size_t)count *
			    shape_size(row == MODEL_IMAGES ?
					       graph->model->input :
					       graph->nodes[row].out);

	if (storage_rounds(&reference->storage, row))
		round_reals(reference, reference->storage.precision, values, 0,
			    size);
}

/* Ends count numbers of the gradient, from number from on. */
static void end_gradient(struct reference_base *reference, size_t from,
			 size_t count, int rounds, double scale)
{
	const enum precision precision = reference->storage.precision;
	double *doubles = reference->vectors[VECTOR_GRADIENT];
	float *floats = reference->host.vectors[VECTOR_GRADIENT];

	if (rounds && doubles)
		storage_round_double(precision, doubles + from, count);
	else if (rounds)
		storage_round(precision, floats + from, count);
	for (size_t i = from; scale != 1 && i < from + count; i++)
		if (doubles)
			doubles[i] /= scale;
		else
			floats[i] = (float)(floats[i] / scale);
}

void base_end(struct reference_base *reference, const struct batch *batch)
{
	const enum precision precision = reference->storage.precision;
	const struct model *model = reference->host.graph.model;
	const double scale = storage_loss_scale(batch);
	struct tensor tensors[MODEL_MAX_TENSORS];
	int count;

	if (!precision_rounds(precision))
		return;
	count = model_tensors(model, tensors);
	for (int t = 0; t < count; t++)
		end_gradient(reference, tensors[t].offset, tensors[t].count,
			     storage_rounds_layer(
				     precision,
				     &model->layers[tensors[t].layer]),
			     scale);
	if (storage_rounds_vectors(precision))
		storage_round_double(precision, reference->buffers,
				     reference->host.base.buffers);
}

const uint8_t *base_imposed(const struct reference_base *reference, int layer,
			    int i)
{
	if (!reference->imposed[layer])
		return NULL;
	return reference->imposed[layer] +
	       (size_t)i * reference->host.graph.nodes[layer].decisions;
}

/* Returns the doubles of a vector and sets count; NULL if it is stored in
 * floats. */
static double *doubles_of(struct program *program, enum vector which,
			  size_t *count)
{
	struct reference_base *reference = (struct reference_base *)program;

	*count = which == VECTOR_BUFFERS ? program->buffers :
					   program->parameters;
	return which == VECTOR_BUFFERS ? reference->buffers :
					 reference->vectors[which];
}

int base_store(struct program *program, enum vector which,
	       const float *values, struct error *err)
{
	size_t count;
	double *to = doubles_of(program, which, &count);

	if (!to)
		return host_store(program, which, values, err);
	for (size_t i = 0; i < count; i++)
		to[i] = values[i];
	if (storage_rounds_vectors(program->options.precision))
		storage_round_double(program->options.precision, to, count);
	return 0;
}

int base_load(struct program *program, enum vector which, float *values,
	      struct error *err)
{
	size_t count;
	const double *from = doubles_of(program, which, &count);

	if (!from)
		return host_load(program, which, values, err);
	for (size_t i = 0; i < count; i++)
		values[i] = (float)from[i];
	return 0;
}

/* Cores exchange floats, whatever each computes in. */
float *base_map(struct program *program, enum vector which,
		struct error *err)
{
	float *lent = host_map(program, which, err);

	if (is_in_double((struct reference_base *)program))
		base_load(program, which, lent, err);
	return lent;
}

int base_unmap(struct program *program, enum vector which, struct error *err)
{
	const float *lent = host_map(program, which, err);

	return is_in_double((struct reference_base *)program) ?
		       base_store(program, which, lent, err) : 0;
}

int base_update(struct program *program, const struct update *update,
		size_t from, size_t to, struct error *err)
{
	struct reference_base *reference = (struct reference_base *)program;

	if (!is_in_double(reference))
		return host_update(program, update, from, to, err);
	host_update_vectors_double(update, program->options.precision,
				   reference->vectors, from, to);
	return 0;
}

int base_impose(struct program *program, int layer, const uint8_t *values,
		struct error *err)
{
	struct reference_base *reference = (struct reference_base *)program;
	const size_t bytes = (size_t)program->options.batch *
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

/* Space, in doubles, for layers that round. */
struct rounding_room {
	size_t factors[2], points;
};

static struct rounding_room room_of(const struct reference_base *reference)
{
	const struct graph *graph = &reference->host.graph;
	const struct program_options *options = &reference->host.base.options;
	const size_t most = (size_t)(options->batch > options->test_batch ?
					     options->batch :
					     options->test_batch);
	struct rounding_room room = { { 0 }, 0 };

	for (int l = 0; l < graph->count; l++) {
		const struct node *node = &graph->nodes[l];
		const size_t in = most * shape_size(node->in);
		const size_t out = most * shape_size(node->out);
		const size_t points = reference->rounds[l] == ROUNDS_POINTS ?
			points_scratch(node->layer, node->in) : 0;

		if (reference->rounds[l] == ROUNDS_FACTORS &&
		    in > room.factors[BASE_INPUTS])
			room.factors[BASE_INPUTS] = in;
		if (reference->rounds[l] == ROUNDS_FACTORS &&
		    out > room.factors[BASE_GRADIENTS])
			room.factors[BASE_GRADIENTS] = out;
		if (points > room.points)
			room.points = points;
	}
	return room;
}

int base_round_factors(struct program *program, const unsigned char *rounds,
		       struct error *err)
{
	struct reference_base *reference = (struct reference_base *)program;
	struct rounding_room room;

	memcpy(reference->rounds, rounds, sizeof(reference->rounds));
	room = room_of(reference);
	free(reference->rounded);
	free(reference->points);
	reference->rounded = host_allocate(program->parameters *
					   sizeof(double));
	reference->points = host_allocate(room.points * sizeof(double));
	for (int i = 0; i < 2; i++) {
		free(reference->factors[i]);
		reference->factors[i] = host_allocate(room.factors[i] *
						      sizeof(double));
		if (!reference->factors[i] || !reference->rounded ||
		    !reference->points)
			return error_memory(err, "rounded factors");
	}
	return 0;
}
