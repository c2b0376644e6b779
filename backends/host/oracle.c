#include "backends/host/oracle.h"

#include <stdlib.h>
#include <string.h>

static int allocate_doubles(struct oracle *oracle, int in_double)
{
	const struct program *base = &oracle->host.base;

	oracle->buffers = host_allocate(base->buffers * sizeof(double));
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

const uint8_t *oracle_imposed(const struct oracle *oracle, int layer, int i)
{
	if (!oracle->imposed[layer])
		return NULL;
	return oracle->imposed[layer] +
	       (size_t)i * oracle->host.graph.nodes[layer].decisions;
}

/* Those doubles that stand for a vector, count of them; NULL: floats do. */
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
	double *const *vectors = ((struct oracle *)program)->vectors;
	double *state[2] = { vectors[VECTOR_STATE_0], vectors[VECTOR_STATE_1] };

	if (!is_in_double((struct oracle *)program))
		return host_update(program, update, from, to, err);
	for (int s = 0; s < 2; s++)
		if (state[s])
			state[s] += from;
	host_optimize_double(update, to - from,
			     vectors[VECTOR_PARAMETERS] + from,
			     vectors[VECTOR_GRADIENT] + from, state[0],
			     state[1]);
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
