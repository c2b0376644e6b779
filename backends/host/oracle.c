#include "backends/host/oracle.h"

#include <stdlib.h>
#include <string.h>

#include "backends/host/points.h"

static int allocate_doubles(struct oracle *oracle, int in_double)
{
	const struct program *base = &oracle->host.base;

	oracle->buffers = host_allocate(base->buffers * sizeof(double));
	if (base->options.precision == PRECISION_FP16) {
		oracle->rounded = host_allocate(base->parameters *
						sizeof(double));
		if (!oracle->rounded)
			return -1;
	}
	for (int v = 0; in_double && v < base->vectors; v++) {
		oracle->vectors[v] =
			host_allocate(base->parameters * sizeof(double));
		if (!oracle->vectors[v])
			return -1;
	}
	return oracle->buffers ? 0 : -1;
}

int oracle_init(struct oracle *oracle, struct device *device,
		const struct model *model,
		const struct program_options *options, int in_double,
		struct error *err)
{
	if (host_init(&oracle->host, device, model, options, err))
		return -1;
	oracle->host.base.regret = oracle->regret;
	storage_resolve(&oracle->storage, &oracle->host.graph,
			options->precision);
	if (!allocate_doubles(oracle, in_double))
		return 0;
	oracle_release(oracle);
	return error_memory(err, "a replica");
}

void oracle_release(struct oracle *oracle)
{
	for (int v = 0; v < VECTOR_COUNT; v++)
		free(oracle->vectors[v]);
	for (int i = 0; i < MODEL_MAX_LAYERS; i++)
		free(oracle->imposed[i]);
	free(oracle->buffers);
	free(oracle->rounded);
	free(oracle->points);
	for (int i = 0; i < 2; i++)
		free(oracle->factors[i]);
	host_release(&oracle->host);
}

static int is_in_double(const struct oracle *oracle)
{
	return oracle->vectors[VECTOR_PARAMETERS] != NULL;
}

void oracle_begin(struct oracle *oracle, const struct batch *batch)
{
	struct program *base = &oracle->host.base;

	host_choose(&oracle->host, batch, dropout_choices);
	base->score = (struct score){ 0 };
	memset(oracle->regret, 0, sizeof(oracle->regret));
	if (is_in_double(oracle))
		memset(oracle->vectors[VECTOR_GRADIENT], 0,
		       base->parameters * sizeof(double));
	else
		memset(oracle->host.vectors[VECTOR_GRADIENT], 0,
		       base->parameters * sizeof(float));
}

static void round_reals(const struct oracle *oracle, enum precision precision,
			void *values, size_t from, size_t count)
{
	if (is_in_double(oracle))
		storage_round_double(precision, (double *)values + from, count);
	else
		storage_round(precision, (float *)values + from, count);
}

/* Rounds weights of layers that round their factors; biases are no factors. */
static void round_weights(struct oracle *oracle)
{
	const struct graph *graph = &oracle->host.graph;
	struct tensor tensors[MODEL_MAX_TENSORS];
	const int count = model_tensors(graph->model, tensors);

	for (int t = 0; t < count; t++) {
		const struct tensor *tensor = &tensors[t];

		if (oracle->rounds[tensor->layer] == ROUNDS_FACTORS &&
		    tensor->offset == graph->nodes[tensor->layer].weight)
			round_reals(oracle, PRECISION_BF16_STORAGE,
				    oracle->rounded, tensor->offset,
				    tensor->count);
	}
}

void oracle_round_parameters(struct oracle *oracle)
{
	const struct program *base = &oracle->host.base;
	const enum precision precision = base->options.precision;
	const size_t count = base->parameters;

	if (!oracle->rounded)
		return;
	if (is_in_double(oracle))
		memcpy(oracle->rounded, oracle->vectors[VECTOR_PARAMETERS],
		       count * sizeof(double));
	else
		memcpy(oracle->rounded, oracle->host.vectors[VECTOR_PARAMETERS],
		       count * sizeof(float));
	if (precision_rounds(precision))
		round_reals(oracle, precision, oracle->rounded, 0, count);
	round_weights(oracle);
}

const void *oracle_factors(const struct oracle *oracle, int row,
			   enum oracle_factor kind, const void *values,
			   size_t count)
{
	void *copy = oracle->factors[kind];

	if (oracle->rounds[row] != ROUNDS_FACTORS)
		return values;
	memcpy(copy, values,
	       count * (is_in_double(oracle) ? sizeof(double) : sizeof(float)));
	round_reals(oracle, PRECISION_BF16_STORAGE, copy, 0, count);
	return copy;
}

const void *oracle_parameters(const struct oracle *oracle,
			      const struct node *node)
{
	if (oracle->rounded &&
	    (oracle->rounds[node - oracle->host.graph.nodes] ||
	     storage_rounds_layer(oracle->storage.precision, node->layer)))
		return oracle->rounded;
	return is_in_double(oracle) ?
		       (const void *)oracle->vectors[VECTOR_PARAMETERS] :
		       oracle->host.vectors[VECTOR_PARAMETERS];
}

int oracle_points(const struct oracle *oracle, int row, const void *x, void *y)
{
	const struct node *node = &oracle->host.graph.nodes[row];
	const double *parameters = oracle->vectors[VECTOR_PARAMETERS];

	if (oracle->rounds[row] != ROUNDS_POINTS)
		return 0;
	points_forward(node->layer, node->in, x, parameters + node->weight,
		       node->has_bias ? parameters + node->bias : NULL,
		       oracle->points, y);
	return 1;
}

void oracle_round_row(const struct oracle *oracle, int row, void *values,
		      int count)
{
	const struct graph *graph = &oracle->host.graph;
	const size_t size = (size_t)count *
			    shape_size(row == MODEL_IMAGES ?
					       graph->model->input :
					       graph->nodes[row].out);

	if (storage_rounds(&oracle->storage, row))
		round_reals(oracle, oracle->storage.precision, values, 0, size);
}

/* Ends count numbers of the gradient, from number from on. */
static void end_gradient(struct oracle *oracle, size_t from, size_t count,
			 int rounds, double scale)
{
	const enum precision precision = oracle->storage.precision;
	double *doubles = oracle->vectors[VECTOR_GRADIENT];
	float *floats = oracle->host.vectors[VECTOR_GRADIENT];

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

void oracle_end(struct oracle *oracle, const struct batch *batch)
{
	const enum precision precision = oracle->storage.precision;
	const struct model *model = oracle->host.graph.model;
	const double scale = storage_loss_scale(batch);
	struct tensor tensors[MODEL_MAX_TENSORS];
	int count;

	if (!precision_rounds(precision))
		return;
	count = model_tensors(model, tensors);
	for (int t = 0; t < count; t++)
		end_gradient(oracle, tensors[t].offset, tensors[t].count,
			     storage_rounds_layer(
				     precision,
				     &model->layers[tensors[t].layer]),
			     scale);
	if (storage_rounds_vectors(precision))
		storage_round_double(precision, oracle->buffers,
				     oracle->host.base.buffers);
}

const uint8_t *oracle_imposed(const struct oracle *oracle, int layer, int i)
{
	if (!oracle->imposed[layer])
		return NULL;
	return oracle->imposed[layer] +
	       (size_t)i * oracle->host.graph.nodes[layer].decisions;
}

/* Returns the doubles of a vector and sets count; NULL if it is stored in
 * floats. */
static double *doubles_of(struct program *program, enum vector which,
			  size_t *count)
{
	struct oracle *oracle = (struct oracle *)program;

	*count = which == VECTOR_BUFFERS ? program->buffers :
					   program->parameters;
	return which == VECTOR_BUFFERS ? oracle->buffers :
					 oracle->vectors[which];
}

int oracle_store(struct program *program, enum vector which,
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

int oracle_load(struct program *program, enum vector which, float *values,
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
float *oracle_map(struct program *program, enum vector which,
		  struct error *err)
{
	float *lent = host_map(program, which, err);

	if (is_in_double((struct oracle *)program))
		oracle_load(program, which, lent, err);
	return lent;
}

int oracle_unmap(struct program *program, enum vector which, struct error *err)
{
	const float *lent = host_map(program, which, err);

	return is_in_double((struct oracle *)program) ?
		       oracle_store(program, which, lent, err) : 0;
}

int oracle_update(struct program *program, const struct update *update,
		  size_t from, size_t to, struct error *err)
{
	struct oracle *oracle = (struct oracle *)program;

	if (!is_in_double(oracle))
		return host_update(program, update, from, to, err);
	host_update_vectors_double(update, program->options.precision,
				   oracle->vectors, from, to);
	return 0;
}

int oracle_impose(struct program *program, int layer, const uint8_t *values,
		  struct error *err)
{
	struct oracle *oracle = (struct oracle *)program;
	const size_t bytes = (size_t)program->options.batch *
			     oracle->host.graph.nodes[layer].decisions;

	free(oracle->imposed[layer]);
	oracle->imposed[layer] = NULL;
	if (!values)
		return 0;
	oracle->imposed[layer] = host_allocate(bytes);
	if (!oracle->imposed[layer])
		return error_memory(err, "imposed decisions");
	memcpy(oracle->imposed[layer], values, bytes);
	return 0;
}

/* Space, in doubles, for layers that round. */
struct rounding_room {
	size_t factors[2], points;
};

static struct rounding_room room_of(const struct oracle *oracle)
{
	const struct graph *graph = &oracle->host.graph;
	const struct program_options *options = &oracle->host.base.options;
	const size_t most = (size_t)(options->batch > options->test_batch ?
					     options->batch :
					     options->test_batch);
	struct rounding_room room = { { 0 }, 0 };

	for (int l = 0; l < graph->count; l++) {
		const struct node *node = &graph->nodes[l];
		const size_t in = most * shape_size(node->in);
		const size_t out = most * shape_size(node->out);
		const size_t points = oracle->rounds[l] == ROUNDS_POINTS ?
			points_scratch(node->layer, node->in) : 0;

		if (oracle->rounds[l] == ROUNDS_FACTORS &&
		    in > room.factors[ORACLE_INPUTS])
			room.factors[ORACLE_INPUTS] = in;
		if (oracle->rounds[l] == ROUNDS_FACTORS &&
		    out > room.factors[ORACLE_GRADIENTS])
			room.factors[ORACLE_GRADIENTS] = out;
		if (points > room.points)
			room.points = points;
	}
	return room;
}

int oracle_round_factors(struct program *program, const unsigned char *rounds,
			 struct error *err)
{
	struct oracle *oracle = (struct oracle *)program;
	struct rounding_room room;

	memcpy(oracle->rounds, rounds, sizeof(oracle->rounds));
	room = room_of(oracle);
	free(oracle->rounded);
	free(oracle->points);
	oracle->rounded = host_allocate(program->parameters * sizeof(double));
	oracle->points = host_allocate(room.points * sizeof(double));
	for (int i = 0; i < 2; i++) {
		free(oracle->factors[i]);
		oracle->factors[i] = host_allocate(room.factors[i] *
						   sizeof(double));
		if (!oracle->factors[i] || !oracle->rounded || !oracle->points)
			return error_memory(err, "rounded factors");
	}
	return 0;
}
