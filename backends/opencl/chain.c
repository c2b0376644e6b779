/* Which rows the kernels made for chains of layers take, and what these are. */
#include "backends/opencl/opencl.h"

int chain_reader(const struct graph *graph, int row)
{
	int reader = row + 1;

	if (graph->nodes[row].readers != 1)
		return STEP_NO_LAYER;
	while (graph->nodes[reader].source != row &&
	       graph->nodes[reader].other != row)
		reader++;
	return reader;
}

/* A place in a pooling window that says something, and is of one window. */
static int has_plain_windows(const struct layer *pool)
{
	return !pool->pad && layer_stride(pool) == pool->window &&
	       pool->window > 1;
}

int chain_of_conv(const struct graph *graph, int first)
{
	static const enum layer_kind kinds[] = { LAYER_CONV, LAYER_RELU,
						 LAYER_MAXPOOL,
						 LAYER_DROPOUT };
	const struct node *conv = &graph->nodes[first];
	const int most = plan_chain(graph, first, kinds,
				    sizeof(kinds) / sizeof(kinds[0]));

	if (!most || layer_stride(conv->layer) != 1 || conv->layer->pad ||
	    conv->layer->no_bias || conv->adds_dx)
		return 0;
	for (int i = 1; i < most; i++) {
		const struct layer *layer = graph->nodes[first + i].layer;

		if (layer->kind == LAYER_MAXPOOL && !has_plain_windows(layer))
			return i;
	}
	return most;
}

int chain_of_linear(const struct graph *graph, int first)
{
	static const enum layer_kind kinds[] = { LAYER_LINEAR, LAYER_RELU,
						 LAYER_DROPOUT };

	return graph->nodes[first].adds_dx ?
		       0 :
		       plan_chain(graph, first, kinds,
				  sizeof(kinds) / sizeof(kinds[0]));
}

static void note_row(struct chain *chain, const struct graph *graph, int row)
{
	const struct node *node = &graph->nodes[row];

	switch (node->layer->kind) {
	case LAYER_CONV:
	case LAYER_LINEAR:
		chain->main = row;
		chain->window = node->layer->window;
		chain->main_out = node->out;
		chain->weight = node->weight;
		chain->bias = node->bias;
		chain->broken = node->broken;
		break;
	case LAYER_RELU:
		chain->relu = row;
		break;
	case LAYER_MAXPOOL:
		chain->pool = row;
		chain->pool_window = node->layer->window;
		break;
	case LAYER_DROPOUT:
	case LAYER_DROPOUT2D:
		chain->dropout = row;
		break;
	default:
		break;
	}
}

struct chain chain_at(const struct opencl_program *program, int index)
{
	const struct step *step = step_at(program, index);
	struct chain chain = { .main = STEP_NO_LAYER,
			       .relu = STEP_NO_LAYER,
			       .pool = STEP_NO_LAYER,
			       .dropout = STEP_NO_LAYER,
			       .pool_window = 1,
			       .in = step->in,
			       .out = step->out };

	for (int i = 0; i < step->length; i++)
		note_row(&chain, &program->graph, step->first + i);
	return chain;
}
