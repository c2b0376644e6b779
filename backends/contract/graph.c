#include "backends/contract/graph.h"

#include <stdio.h>

#include "backends/contract/backend.h"

static struct node node_make(const struct model *model, int index,
			     const struct shape *inputs,
			     const unsigned char *learnt)
{
	const struct layer *layer = &model->layers[index];
	struct node node = {
		.layer = layer,
		.source = model_source(model, index),
		.other = MODEL_IMAGES,
		.in = inputs[index],
		.out = layer_output(layer, inputs[index]),
		.decisions = layer_decisions(layer, inputs[index]),
		.broken = layer_has_parameters(layer) &&
			  backend_layer_is_broken(layer),
	};

	if (layer->kind == LAYER_ADD)
		node.other = model_other_source(model, index);
	node.needs_dx = node.source != MODEL_IMAGES && learnt[node.source];
	node.needs_other_dx = node.other != MODEL_IMAGES && learnt[node.other];
	return node;
}

/* A layer's weight comes before its bias, and mean before variance. */
static void set_places(struct graph *graph)
{
	struct tensor tensors[MODEL_MAX_TENSORS];
	int count = model_tensors(graph->model, tensors);

	for (int t = 0; t < count; t++) {
		struct node *node = &graph->nodes[tensors[t].layer];

		if (t && tensors[t - 1].layer == tensors[t].layer) {
			node->bias = tensors[t].offset;
			node->has_bias = 1;
		} else {
			node->weight = tensors[t].offset;
		}
	}
	count = model_buffers(graph->model, tensors);
	for (int t = 0; t < count; t += 2)
		graph->nodes[tensors[t].layer].buffers = tensors[t].offset;
}

/* Returns 1 if the gradient of row's output is already stored, and marks it as
 * stored, if it is needed. */
static int mark_written(unsigned char *written, int wanted, int row)
{
	const int was = wanted && written[row];

	if (wanted)
		written[row] = 1;
	return was;
}

static void count_readers(struct graph *graph)
{
	unsigned char written[MODEL_MAX_LAYERS] = { 0 };

	for (int i = graph->count - 1; i >= 0; i--) {
		struct node *node = &graph->nodes[i];

		node->adds_dx = mark_written(written, node->needs_dx,
					     node->source);
		node->adds_other_dx = mark_written(
			written, node->needs_other_dx, node->other);
		if (node->source != MODEL_IMAGES)
			graph->nodes[node->source].readers++;
		if (node->other != MODEL_IMAGES)
			graph->nodes[node->other].readers++;
	}
}

void graph_resolve(struct graph *graph, const struct model *model)
{
	struct shape inputs[MODEL_MAX_LAYERS];
	unsigned char learnt[MODEL_MAX_LAYERS];

	model_inputs(model, inputs);
	model_learnt(model, learnt);
	graph->model = model;
	graph->count = model->layer_count;
	for (int i = 0; i < graph->count; i++)
		graph->nodes[i] = node_make(model, i, inputs, learnt);
	set_places(graph);
	count_readers(graph);
}

void graph_explain(const struct graph *graph, char *text, size_t size)
{
	size_t used = 0;

	for (int i = 0; i < graph->count && used < size; i++) {
		const struct node *node = &graph->nodes[i];
		char from[32] = "";

		if (node->layer->kind == LAYER_ADD)
			snprintf(from, sizeof(from), " of %d and %d",
				 node->source, node->other);
		else if (node->layer->from)
			snprintf(from, sizeof(from), " of %d", node->source);
		used += (size_t)snprintf(
			text + used, size - used,
			"%2d  %-9s%-19s %dx%dx%d -> %dx%dx%d\n", i,
			layer_kind_name(node->layer->kind), from,
			node->in.channels, node->in.height, node->in.width,
			node->out.channels, node->out.height,
			node->out.width);
	}
}
