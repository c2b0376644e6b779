#include "backends/openblas/lifetimes.h"

#include "backends/host/arena.h"

/* The blocks of memory that a batch needs; the steps that use each are noted in
 * it before the arena places them. */
struct schedule {
	const struct graph *graph;
	struct arena_block blocks[2 * MODEL_MAX_LAYERS];
	int last_read[MODEL_MAX_LAYERS]; /* the last step that reads it */
	/* The blocks of outputs and gradients. */
	int output[MODEL_MAX_LAYERS], gradient[MODEL_MAX_LAYERS];
};

/* Forward, row i is done in step i. */
static int backward_step(const struct schedule *schedule, int row)
{
	return 2 * schedule->graph->count - 2 - row;
}

static int is_read_backward(enum layer_kind kind)
{
	return kind == LAYER_CONV || kind == LAYER_LINEAR ||
	       kind == LAYER_BATCHNORM;
}

static int is_in_place_forward(const struct layer *layer)
{
	return layer->kind == LAYER_RELU || layer->kind == LAYER_ADD ||
	       layer_drops(layer);
}

static int is_in_place_backward(const struct layer *layer)
{
	return is_in_place_forward(layer) || layer->kind == LAYER_BATCHNORM;
}

static void extend_read(struct schedule *schedule, int row, int step)
{
	if (row != MODEL_IMAGES && schedule->last_read[row] < step)
		schedule->last_read[row] = step;
}

static void find_last_reads(struct schedule *schedule)
{
	const struct graph *graph = schedule->graph;

	for (int i = 0; i < graph->count; i++) {
		const struct node *node = &graph->nodes[i];

		schedule->last_read[i] = i;
		extend_read(schedule, node->source,
			    is_read_backward(node->layer->kind) ?
				    backward_step(schedule, i) : i);
		extend_read(schedule, node->other, i);
	}
}

/* A block is needed in this step, too; its first one has come before. */
static void extend(struct schedule *schedule, int block, int step)
{
	if (schedule->blocks[block].last < step)
		schedule->blocks[block].last = step;
}

static int is_free_after(const struct schedule *schedule, int row, int step)
{
	return row != MODEL_IMAGES && schedule->last_read[row] == step;
}

static void place_outputs(struct schedule *schedule)
{
	const struct graph *graph = schedule->graph;

	for (int i = 0; i < graph->count - 1; i++) {
		const struct node *node = &graph->nodes[i];
		const int in_place = is_in_place_forward(node->layer);
		int *block = &schedule->output[i];

		*block = i;
		if (in_place && is_free_after(schedule, node->source, i))
			*block = schedule->output[node->source];
		else if (in_place && is_free_after(schedule, node->other, i))
			*block = schedule->output[node->other];
		else
			schedule->blocks[i].first = i;
		extend(schedule, *block, schedule->last_read[i]);
	}
}

/* Of row's output, written first in this step; taken is the block of another
 * gradient that becomes it, or -1. */
static void place_gradient(struct schedule *schedule, int row, int step,
			   int taken)
{
	int *block = &schedule->gradient[row];

	*block = taken;
	if (taken < 0) {
		*block = MODEL_MAX_LAYERS + row;
		schedule->blocks[*block].first = step;
	}
	extend(schedule, *block, backward_step(schedule, row));
}

static void place_gradients(struct schedule *schedule)
{
	const struct graph *graph = schedule->graph;
	const int loss = graph->count - 1;

	place_gradient(schedule, graph->nodes[loss].source, loss, -1);
	for (int i = loss - 1; i >= 0; i--) {
		const struct node *node = &graph->nodes[i];
		const int step = backward_step(schedule, i);
		int left = is_in_place_backward(node->layer) ?
				   schedule->gradient[i] : -1;

		if (node->wants_dx && !node->adds_dx) {
			place_gradient(schedule, node->source, step, left);
			left = -1;
		}
		if (node->wants_other_dx && !node->adds_other_dx)
			place_gradient(schedule, node->other, step, left);
	}
}

static int is_wanted(const struct schedule *schedule, int row)
{
	return schedule->gradient[row] >= 0;
}

void lifetimes_plan(struct lifetimes *lifetimes, const struct graph *graph,
		    int count, size_t size)
{
	struct schedule schedule = { .graph = graph };

	*lifetimes = (struct lifetimes){ 0 };
	for (int i = 0; i < graph->count; i++)
		schedule.gradient[i] = -1;
	find_last_reads(&schedule);
	place_outputs(&schedule);
	place_gradients(&schedule);
	for (int i = 0; i < graph->count - 1; i++) {
		const size_t bytes = (size_t)count * size *
				     shape_size(graph->nodes[i].out);

		schedule.blocks[schedule.output[i]].size = bytes;
		if (is_wanted(&schedule, i))
			schedule.blocks[schedule.gradient[i]].size = bytes;
		lifetimes->unshared += bytes + is_wanted(&schedule, i) * bytes;
	}
	lifetimes->bytes = arena_plan(schedule.blocks, 2 * MODEL_MAX_LAYERS);
	for (int i = 0; i < graph->count - 1; i++) {
		lifetimes->outputs[i] =
			schedule.blocks[schedule.output[i]].offset;
		if (is_wanted(&schedule, i))
			lifetimes->gradients[i] =
				schedule.blocks[schedule.gradient[i]].offset;
	}
}
