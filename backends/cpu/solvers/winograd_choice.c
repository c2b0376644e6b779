#include "backends/cpu/solvers/winograd_choice.h"

/* Cost of the transforms, in multiplications: per tile as a share of its
 * products, and per weight, whose points are stored. */
#define TILE_COST .25
#define WEIGHT_COST 4 /* per point */

int winograd_points(int window, int output)
{
	const int side = winograd_side(window, output);

	return side * side;
}

int winograd_tiles_of(int length, int output)
{
	return (length + output - 1) / output;
}

/* Returns the cost from one channel to another, in multiplications. */
static double cost_of(struct shape out, int window, int output, int samples)
{
	const double points = winograd_points(window, output);
	const double tiles = (double)samples *
			     winograd_tiles_of(out.height, output) *
			     winograd_tiles_of(out.width, output);

	return points * (tiles * (1 + TILE_COST) + WEIGHT_COST);
}

int winograd_output(struct shape out, int window, int samples)
{
	if (window > 3)
		return 8 - window;
	return cost_of(out, window, 5, samples) <
			       cost_of(out, window, 4, samples) ? 5 : 4;
}

int winograd_folds(const struct node *node)
{
	return layer_stride_within(node->layer, node->in) > 1;
}

int winograd_window(const struct node *node)
{
	return winograd_folds(node) ?
		       igemm_folded_window(node->layer, node->in) :
		       node->layer->window;
}

static int channels_of(const struct node *node)
{
	const int stride = layer_stride_within(node->layer, node->in);

	return node->in.channels * stride * stride;
}

/* Returns 1 if it needs fewer multiplications than the definition. */
static int is_cheaper(const struct node *node, int samples)
{
	const struct shape out = node->out;
	const int window = winograd_window(node);
	const double channels = (double)cpu_whole_lanes(channels_of(node));
	const int output = winograd_output(out, window, samples);
	const double cost = cost_of(out, window, output, samples);

	return channels * cost < (double)samples * out.height * out.width *
					 node->in.channels *
					 node->layer->window *
					 node->layer->window;
}

/* Returns 1 if the definition is faster in bf16 with weights packed in advance:
 * few channels and many outputs have more to transform than to multiply. */
static int is_faster_rounded(const struct node *node,
			     const struct program_options *options)
{
	return options->infers && options->precision == PRECISION_BF16 &&
	       winograd_folds(node) && channels_of(node) < CPU_LANES &&
	       node->layer->outputs >= IGEMM_BLOCK;
}

/*
 * Declines what the kernels cannot do, and layers too small to be worth their
 * points: few channels leave vectors empty, and in an image of one pixel all
 * but one place of the window is padding.
 */
int winograd_takes(const struct graph *graph, int first,
		   const struct program_options *options, const char **why)
{
	const struct node *node = &graph->nodes[first];
	const struct layer *layer = node->layer;

	if (layer->kind != LAYER_CONV)
		return 0;
	if (options->algorithm != ALGORITHM_FAST)
		return plan_decline(why, "--algorithm is dense");
	if (precision_rounds(options->precision))
		return plan_decline(why, "--precision rounds what is stored");
	if (layer->pad >= layer->window)
		return plan_decline(why, "padding is as wide as the window");
	if (layer->outputs < CPU_LANES)
		return plan_decline(why, "too few outputs fill a vector");
	if (node->in.height * node->in.width == 1)
		return plan_decline(why, "the image is one pixel");
	if (is_faster_rounded(node, options))
		return plan_decline(why, "few channels, faster in bf16");
	if (winograd_folds(node) && node->needs_dx)
		return plan_decline(why, "a stride, and not the first layer");
	if (!winograd_folds(node) && node->in.channels < CPU_LANES)
		return plan_decline(why, "too few channels fill a vector");
	if (winograd_window(node) < 3 || winograd_window(node) > 5)
		return plan_decline(why, "the window is not 3x3 to 5x5");
	if (!is_cheaper(node, options->batch))
		return plan_decline(why, "no fewer multiplications");
	return igemm_takes_conv(graph, first, options, why);
}
