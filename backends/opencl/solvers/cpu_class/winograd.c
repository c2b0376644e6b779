/*
 * Steps that start with a convolution by tiles: winograd.cl,
 * winograd_forward.cl and winograd_backward.cl.
 */
#include "backends/opencl/solvers/cpu_class/cpu_class.h"

#include "backends/opencl/device/status.h"
#include "backends/opencl/program/memory.h"

#define TILE 4 /* side; a tile has 2x2 quadrants */
#define POINTS 36

/* Of a chain's rows, the side of its pooling windows; 1 without one. */
static int pooling_of(const struct graph *graph, int first, int length)
{
	for (int i = first; i < first + length; i++)
		if (graph->nodes[i].layer->kind == LAYER_MAXPOOL)
			return graph->nodes[i].layer->window;
	return 1;
}

/* Whether rows up to last are read by a convolution, channels last. */
static int is_read_by_conv(const struct graph *graph, int last)
{
	const int reader = chain_reader(graph, last);
	const char *why;

	return reader != STEP_NO_LAYER && chain_of_conv(graph, reader, &why);
}

/* Not of images, whose channels are not side by side, and into planes. */
static int winograd_takes(const struct graph *graph, int first,
			  const struct program_options *options,
			  const char **why)
{
	const int width = ((const struct opencl_options *)options)->width;
	const struct node *conv = &graph->nodes[first];
	const int length = conv_solver.base.takes(graph, first, options, why);
	const int last = first + length - 1;
	const struct shape in = conv->in, main = conv->out;
	struct shape out;

	if (!length)
		return 0;
	if (options->algorithm == ALGORITHM_DENSE)
		return plan_decline(why, "--algorithm is dense");
	if (conv->source == MODEL_IMAGES)
		return plan_decline(why, "it is the first layer");
	if (conv->layer->window != 3 || pooling_of(graph, first, length) != 2)
		return plan_decline(why, "window and pooling are not 3 and 2");
	if (is_read_by_conv(graph, last))
		return plan_decline(why, "a convolution reads its output");
	out = graph->nodes[last].out;
	if (main.height % TILE || main.width % TILE || in.channels % width ||
	    main.channels % width || out.height * out.width % width)
		return plan_decline(why, "tiles or vectors do not fit");
	return length;
}

static int winograd_leads(const struct opencl_program *program, int index)
{
	const int source = step_source(program, index);

	return conv_is_plain(program, source) &&
	       step_dropping(program, source) == DROP_NOTHING;
}

/* What a step by tiles reads: the one that it leads with, if it does. */
static const struct step_memory *
source_memory(const struct opencl_program *program, const struct pass *pass,
	      int index)
{
	return &pass->steps[step_source(program, index)];
}

static int tile_count(const struct chain *chain)
{
	return chain->main_out.height / TILE * (chain->main_out.width / TILE);
}

/* Tiles and vectors of channels whose sums stay in registers. */
static void tiles_define(const struct opencl_program *program, int index,
			 struct defines *defines)
{
	const struct opencl_device *device = program_device(program);
	const struct chain chain = chain_at(program, index);
	const int tiles = tile_count(&chain);
	const int outs = vector_count(program, chain.main_out.channels);
	const int ins = vector_count(program, chain.in.channels);
	const int outputs = largest_divisor(outs, device->registers / 6);
	const int inputs = largest_divisor(ins, 2);
	const int forward = largest_divisor(tiles, device->registers / outputs);
	const int lanes = device->registers / inputs < device->width ?
				  device->registers / inputs : device->width;
	const struct define all[] = {
		{ "FORWARD_BLOCK",
		  forward * largest_divisor(tiles / forward, 2) },
		{ "FORWARD_TILES", forward },
		{ "FORWARD_OUTPUTS", outputs },
		{ "BACKWARD_TILES", largest_divisor(tiles, lanes) },
		{ "BACKWARD_INPUTS", inputs },
		{ "LEAD", step_leads(program, index) },
	};

	defines_add(defines, all, COUNT(all));
}

/* Of the step that is led. */
static void lead_define(const struct opencl_program *program, int index,
			struct defines *defines)
{
	const int registers = program_device(program)->registers;
	const int source = step_source(program, index);
	const struct chain lead = chain_at(program, source);
	const struct layout image = layout_input(program, source);
	const int outs = vector_count(program, lead.main_out.channels);
	const int taps = lead.window * lead.window;
	const int tile = largest_divisor(outs, registers / taps);
	const struct define all[] = {
		{ "LEAD_SAMPLE", image.sample },
		{ "LEAD_CHANNEL", image.channel },
		{ "LEAD_ROW", image.row },
		{ "LEAD_COLUMN", image.column },
		{ "LEAD_CHANNELS", lead.in.channels },
		{ "LEAD_WINDOW", lead.window },
		{ "LEAD_RELU", lead.relu != STEP_NO_LAYER },
		{ "LEAD_COLUMNS", largest_divisor(lead.main_out.width,
						  registers / tile) },
		{ "LEAD_TILE", tile },
		{ "LEAD_BROKEN", lead.broken },
		{ "LEAD_WEIGHT", lead.weight },
		{ "LEAD_BIAS_AT", lead.bias },
	};

	defines_add(defines, all, COUNT(all));
}

static cl_mem winograd_input(const struct opencl_program *program,
		      const struct pass *pass, int index)
{
	return step_leads(program, index) ? pass->images :
						step_input(program, pass,
							   index);
}

static int winograd_build(struct opencl_program *program, int index,
			  struct error *err)
{
	struct defines defines = { .count = 0 };

	/* The input alone. */
	conv_define(program, index, 1, &defines);
	tiles_define(program, index, &defines);
	if (step_leads(program, index))
		lead_define(program, index, &defines);
	return source_build(program_device(program), SOURCE_WINOGRAD, &defines,
			    &program->built[index], err);
}

static size_t transformed(const struct opencl_program *program, int index)
{
	const struct chain chain = chain_at(program, index);

	return (size_t)(POINTS * chain.in.channels * chain.main_out.channels) *
	       sizeof(float);
}

static int winograd_allocate(struct opencl_program *program, struct pass *pass,
			     int index, struct error *err)
{
	struct step_memory *memory = &pass->steps[index];
	const size_t out = (size_t)pass->most *
			   (size_t)layout_output(program, index).sample;
	const size_t weights = transformed(program, index);
	const size_t biases =
		(size_t)chain_at(program, index).main_out.channels *
		sizeof(float);
	const int training = pass->training;
	const struct request requests[] = {
		{ &memory->output, 1, out * sizeof(float) },
		{ &memory->packed, 1, weights + biases },
		{ &memory->routes, training, out },
		{ &memory->gradient, training, out * sizeof(float) },
		{ &memory->transposed, training, weights },
		{ &memory->sums, training,
		  GROUPS * conv_sum_size(program, index) * sizeof(float) },
	};

	if (memory_make_all(&program->queue, requests, COUNT(requests), err))
		return -1;
	return dropout_allocate(program, pass, index, err);
}

static double lead_products(const struct opencl_program *program, int index)
{
	return step_leads(program, index) ?
		       step_products(program, step_source(program, index)) : 0;
}

/* Multiply-adds of a sample one way, by the points of its tiles. */
static double products_by_points(const struct opencl_program *program,
				 int index)
{
	const struct chain chain = chain_at(program, index);

	return (double)tile_count(&chain) * POINTS * chain.in.channels *
	       chain.main_out.channels;
}

static struct launch winograd_launch(const struct opencl_program *program,
				     int index)
{
	const double lead = lead_products(program, index);

	return (struct launch){
		.name = "winograd_forward",
		.items = { 0, 1, 1 },
		.samples = 1,
		.batch_arguments = 1,
		.work = { index, step_products(program, index) + lead,
			  products_by_points(program, index) + lead,
			  step_inputs(program, index) +
				  step_outputs(program, index),
			  4 * step_parameters(program, index), 0,
			  -step_leads(program, index) },
	};
}

static int winograd_add_weights(struct opencl_program *program,
				struct pass *pass, int index, struct error *err)
{
	const struct chain chain = chain_at(program, index);
	const struct step_memory *memory = &pass->steps[index];
	const int leads = step_leads(program, index);
	const struct launch weights = {
		.name = "winograd_weights",
		.items = { chain.in.channels + chain.main_out.channels + leads,
			   1, 1 },
		.batch_arguments = 1,
		.work = { .step = index,
			  .moved_once = 9 * step_parameters(program, index),
			  .beside = -leads },
	};
	const cl_mem made[] = { program->vectors[VECTOR_PARAMETERS],
				memory->packed, memory->transposed,
				leads ? source_memory(program, pass, index)
						->packed : NULL };

	return pass_add(pass, &weights, program->built[index], made, 4, err);
}

static int winograd_forward(struct opencl_program *program, struct pass *pass,
			    int index, struct error *err)
{
	const struct step_memory *memory = &pass->steps[index];
	const struct launch forward = winograd_launch(program, index);
	const cl_mem made[] = { winograd_input(program, pass, index),
				memory->packed, memory->output,
				memory->routes, memory->keep,
				source_memory(program, pass, index)->packed };

	if (winograd_add_weights(program, pass, index, err))
		return -1;
	return pass_add(pass, &forward, program->built[index], made,
			COUNT(made), err);
}

static int winograd_add_reduce(struct opencl_program *program,
			       struct pass *pass, int index, struct error *err)
{
	struct launch reduce = conv_reduce_launch(program, index);
	const cl_mem memories[] = { pass->steps[index].sums,
				    source_memory(program, pass, index)->sums,
				    program->vectors[VECTOR_GRADIENT] };

	if (!step_leads(program, index))
		return conv_add_reduce(program, pass, index, err);
	reduce.name = "winograd_reduce";
	reduce.items[0]++;
	reduce.work.beside = -1;
	return pass_add(pass, &reduce, program->built[index], memories, 3, err);
}

static int winograd_backward(struct opencl_program *program, struct pass *pass,
			     int index, struct error *err)
{
	const struct step_memory *memory = &pass->steps[index];
	const struct step_memory *source = source_memory(program, pass, index);
	const double products = step_products(program, index);
	const int leads = step_leads(program, index);
	const double lead = lead_products(program, index);
	const struct launch backward = {
		.name = "winograd_backward",
		.items = { GROUPS, 1, 1 },
		.batch_arguments = 1,
		.work = { index, 2 * products + lead,
			  products / 4 + products_by_points(program, index) +
				  2 * lead,
			  2 * step_inputs(program, index) +
				  2 * step_outputs(program, index),
			  5 * step_parameters(program, index), 1, -leads },
	};
	const cl_mem memories[] = {
		winograd_input(program, pass, index), memory->output,
		memory->gradient, memory->routes, memory->keep,
		memory->transposed, memory->sums, source->gradient,
		source->packed,
		leads ? source->sums : NULL,
	};

	if (pass_add(pass, &backward, program->built[index], memories, 10, err))
		return -1;
	return winograd_add_reduce(program, pass, index, err);
}

const struct opencl_solver winograd_solver = {
	.base = { .name = "conv by tiles", .takes = winograd_takes },
	.channels_last = 1,
	.leads = winograd_leads,
	.build = winograd_build,
	.allocate = winograd_allocate,
	.forward = winograd_forward,
	.backward = winograd_backward,
};
