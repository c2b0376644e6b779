#include "backends/host/lifetimes.h"

#include "backends/host/arena.h"

/* The blocks of memory that a batch needs, with the times at which each is
 * used, before the arena places them. */
struct batch_lifetimes {
	const struct graph *graph;
	const struct lifetime_step *steps;
	int count;
	unsigned how;
	struct arena_block blocks[2 * MODEL_MAX_LAYERS];
	int step_of[MODEL_MAX_LAYERS];   /* by the last row of each */
	int last_read[MODEL_MAX_LAYERS]; /* of a step's output */
	/* The blocks of outputs and gradients, by steps. */
	int output[MODEL_MAX_LAYERS], gradient[MODEL_MAX_LAYERS];
};

/* Forward, step s runs at time s, and the loss after all steps. */
static int backward_time(const struct batch_lifetimes *schedule, int s)
{
	return 2 * schedule->count - s;
}

static const struct node *node_of(const struct batch_lifetimes *schedule, int s)
{
	return &schedule->graph->nodes[schedule->steps[s].first];
}

/* Returns the step's addition, or else a node without another input. */
static const struct node *addition_of(const struct batch_lifetimes *schedule,
				      int s)
{
	const struct lifetime_step *step = &schedule->steps[s];

	for (int row = step->first; row < step->last; row++)
		if (schedule->graph->nodes[row].layer->kind == LAYER_ADD)
			return &schedule->graph->nodes[row];
	return &schedule->graph->nodes[step->last];
}

static int reads_input_backward(const struct batch_lifetimes *schedule, int s)
{
	const enum layer_kind kind = node_of(schedule, s)->layer->kind;

	return !(schedule->how & LIFETIMES_FORWARD) &&
	       (kind == LAYER_CONV || kind == LAYER_LINEAR ||
		kind == LAYER_BATCHNORM);
}

static int reads_output_backward(const struct batch_lifetimes *schedule, int s)
{
	const struct lifetime_step *step = &schedule->steps[s];

	if (schedule->how != LIFETIMES_RELU_SEES)
		return 0;
	for (int row = step->first; row <= step->last; row++)
		if (schedule->graph->nodes[row].layer->kind == LAYER_RELU)
			return 1;
	return 0;
}

static int is_in_place_forward(const struct batch_lifetimes *schedule, int s)
{
	const struct lifetime_step *step = &schedule->steps[s];
	const struct layer *layer = node_of(schedule, s)->layer;

	return step->first == step->last && !step->apart &&
	       (layer->kind == LAYER_RELU || layer->kind == LAYER_ADD ||
		layer_drops(layer));
}

/* Returns 1 if the step may add its products to the addend, in its place. */
static int adds_in_place(const struct batch_lifetimes *schedule, int s)
{
	const struct node *addition = addition_of(schedule, s);

	return node_of(schedule, s)->layer->kind == LAYER_CONV &&
	       addition->layer->kind == LAYER_ADD &&
	       addition->other != node_of(schedule, s)->source &&
	       !schedule->steps[s].apart;
}

static int is_in_place_backward(const struct batch_lifetimes *schedule, int s)
{
	return is_in_place_forward(schedule, s) ||
	       (node_of(schedule, s)->layer->kind == LAYER_BATCHNORM &&
		!schedule->steps[s].apart);
}

static void extend_read(struct batch_lifetimes *schedule, int row, int time)
{
	int *last;

	if (row == MODEL_IMAGES)
		return;
	last = &schedule->last_read[schedule->step_of[row]];
	if (*last < time)
		*last = time;
}

static void find_last_reads(struct batch_lifetimes *schedule)
{
	const struct graph *graph = schedule->graph;

	for (int s = 0; s < schedule->count; s++) {
		const struct node *node = node_of(schedule, s);
		const int back = backward_time(schedule, s);

		schedule->step_of[schedule->steps[s].last] = s;
		schedule->last_read[s] =
			reads_output_backward(schedule, s) ? back : s;
		extend_read(schedule, node->source,
			    reads_input_backward(schedule, s) ? back : s);
		extend_read(schedule, addition_of(schedule, s)->other, s);
	}
	extend_read(schedule, graph->nodes[graph->count - 1].source,
		    schedule->count);
}

/* Extends a block's lifetime to time, which is after its first. */
static void extend(struct batch_lifetimes *schedule, int block, int time)
{
	if (schedule->blocks[block].last < time)
		schedule->blocks[block].last = time;
}

/*
 * Returns the block of the row that step s reads, if s may overwrite it, or -1.
 */
static int find_free(const struct batch_lifetimes *schedule, int row, int s)
{
	const int from = row == MODEL_IMAGES ? -1 : schedule->step_of[row];

	return from >= 0 && schedule->last_read[from] == s &&
			       !schedule->steps[from].apart ?
		       schedule->output[from] : -1;
}

static void place_outputs(struct batch_lifetimes *schedule)
{
	for (int s = 0; s < schedule->count; s++) {
		const struct node *node = node_of(schedule, s);
		int *block = &schedule->output[s];

		*block = -1;
		if (is_in_place_forward(schedule, s))
			*block = find_free(schedule, node->source, s);
		if (*block < 0 && (is_in_place_forward(schedule, s) ||
				   adds_in_place(schedule, s)))
			*block = find_free(schedule, addition_of(schedule, s)
							     ->other, s);
		if (*block < 0) {
			*block = s;
			schedule->blocks[s].first = s;
		}
		extend(schedule, *block, schedule->last_read[s]);
	}
}

/*
 * Places the gradient of a row's output, first written at time; taken is the
 * block of another gradient that may become it, or -1. Returns 1 if it was
 * used.
 */
static int place_gradient(struct batch_lifetimes *schedule, int row, int time,
			  int taken)
{
	const int s = schedule->step_of[row];
	int *block = &schedule->gradient[s];

	*block = schedule->steps[s].apart ? -1 : taken;
	if (*block < 0) {
		*block = MODEL_MAX_LAYERS + s;
		schedule->blocks[*block].first = time;
	}
	extend(schedule, *block, backward_time(schedule, s));
	return *block == taken;
}

static void place_gradients(struct batch_lifetimes *schedule)
{
	const struct graph *graph = schedule->graph;

	for (int s = 0; s < schedule->count; s++)
		schedule->gradient[s] = -1;
	if (schedule->how & LIFETIMES_FORWARD)
		return;
	place_gradient(schedule, graph->nodes[graph->count - 1].source,
		       schedule->count, -1);
	for (int s = schedule->count - 1; s >= 0; s--) {
		const struct node *node = node_of(schedule, s);
		const struct node *addition = addition_of(schedule, s);
		const int time = backward_time(schedule, s);
		int left = is_in_place_backward(schedule, s) ?
				   schedule->gradient[s] : -1;

		/* The addend gets dy unchanged, and first. */
		if (addition->needs_other_dx && !addition->adds_other_dx &&
		    place_gradient(schedule, addition->other, time, left))
			left = -1;
		if (node->needs_dx && !node->adds_dx)
			place_gradient(schedule, node->source, time, left);
	}
}

static void set_block(struct batch_lifetimes *schedule, int block, size_t bytes,
		      int apart, struct lifetimes *lifetimes)
{
	struct arena_block *is = &schedule->blocks[block];

	/* Steps that work in place may be larger, or smaller. */
	if (is->size < bytes)
		is->size = bytes;
	if (apart) {
		is->first = 0;
		is->last = backward_time(schedule, 0);
	}
	lifetimes->unshared += bytes;
}

void lifetimes_plan(struct lifetimes *lifetimes, const struct graph *graph,
		    const struct lifetime_step *steps, int count,
		    unsigned how)
{
	struct batch_lifetimes is = { .graph = graph, .steps = steps,
				      .count = count,
			       .how = how };

	*lifetimes = (struct lifetimes){ 0 };
	find_last_reads(&is);
	place_outputs(&is);
	place_gradients(&is);
	for (int s = 0; s < count; s++) {
		set_block(&is, is.output[s], steps[s].output, steps[s].apart,
			  lifetimes);
		if (is.gradient[s] >= 0)
			set_block(&is, is.gradient[s], steps[s].gradient,
				  steps[s].apart, lifetimes);
	}
	lifetimes->bytes = arena_plan(is.blocks, 2 * MODEL_MAX_LAYERS);
	for (int s = 0; s < count; s++) {
		lifetimes->outputs[steps[s].last] =
			is.blocks[is.output[s]].offset;
		lifetimes->gradients[steps[s].last] = is.gradient[s] < 0 ?
			LIFETIMES_NONE : is.blocks[is.gradient[s]].offset;
	}
}
