/*
 * Steps that start with a convolution: conv_forward.cl, conv_backward.cl, and
 * conv_dense.cl for the way back by every position of the sums.
 */
#include "backends/opencl/solvers/cpu_class/cpu_class.h"

#include "backends/opencl/device/status.h"
#include "backends/opencl/program/memory.h"

/* Bytes of a core's nearest cache that a loop over channels may count on. */
#define NEAR_CACHE (40 * 1024)

/* Whether row is the last one of a chain that can write channels last. */
static int ends_chain(const struct graph *graph, int row,
		      const struct program_options *options)
{
	const char *why;
	int first = row;

	while (first > 0 && graph->nodes[first].layer->kind != LAYER_CONV)
		first--;
	return graph->nodes[row].readers == 1 &&
	       conv_solver.base.takes(graph, first, options, &why) ==
		       row - first + 1;
}

/* Of the images, or of what another chain makes for it alone. */
static int conv_takes(const struct graph *graph, int first,
		      const struct program_options *options, const char **why)
{
	const int source = graph->nodes[first].source;
	const int length = chain_of_conv(graph, first, why);

	if (length && source != MODEL_IMAGES &&
	    !ends_chain(graph, source, options))
		return plan_decline(why, "its input is not of such a chain, or "
					 "has other readers");
	return length;
}

static int reads_images(const struct opencl_program *program, int index)
{
	return step_source(program, index) == STEP_IMAGES;
}

/* Whether the next step reads y where conv_forward puts it. */
static int conv_is_channels_last(const struct opencl_program *program,
				 int index)
{
	const struct layout out = layout_output(program, index);
	const struct layout y =
		layout_channels_last(program, step_at(program, index)->out);

	return out.channel == y.channel && out.sample == y.sample;
}

int conv_is_plain(const struct opencl_program *program, int index)
{
	const struct chain chain = chain_at(program, index);

	return step_source(program, index) == STEP_IMAGES &&
	       chain.pool_window == 1 &&
	       conv_is_channels_last(program, index) &&
	       (chain.relu != STEP_NO_LAYER ||
		step_dropping(program, index) == DROP_NOTHING);
}

/*
 * Whether dz, the gradient of a convolution's sums, is laid out in full, a
 * sample of each group at a time. Of images without pooling, conv_weights goes
 * over every position anyway.
 */
static int conv_scatters_dz(const struct opencl_program *program, int index)
{
	return program_is_dense(program) && !conv_is_plain(program, index);
}

/* Whether the weight gradient is of all positions, sums[tap][input][output]. */
static int conv_is_dense(const struct opencl_program *program, int index)
{
	return conv_is_plain(program, index) ||
	       conv_scatters_dz(program, index);
}

/* Pooling windows of a tile: few tiles a row, and little beyond its end. */
static int tile_columns(int width, int most)
{
	int best = 1;

	for (int t = 1; t <= most && t <= width; t++) {
		int cost = parts_of(width, t) * (t + 1);
		int best_cost = parts_of(width, best) * (best + 1);

		if (cost <= best_cost)
			best = t;
	}
	return best;
}

struct conv_tiles {
	int outputs, columns, dense, inputs;
};

/*
 * Rows of pooling windows whose planes, of the input and perhaps its gradient,
 * stay in the nearest cache while all outputs go over them. As few bands of
 * rows as that allows, and as equal.
 */
static int band_rows(const struct opencl_program *program, int index,
		     int inputs, int planes)
{
	const struct chain chain = chain_at(program, index);
	const int floats = chain.in.width * inputs *
			   program_device(program)->width;
	const int row = planes * floats * (int)sizeof(float);
	const int rows = NEAR_CACHE / row - chain.window + 1;
	const int most = chain.out.height;
	const int band = rows / chain.pool_window;
	const int bands = band < 1 ? most : parts_of(most, band);

	return parts_of(most, bands);
}

static struct conv_tiles conv_tiles(const struct opencl_program *program,
				    int index, int pool, int width)
{
	const struct chain chain = chain_at(program, index);
	const int taps = chain.window * chain.window;
	const int most = program_device(program)->registers;
	const int outs = vector_count(program, chain.main_out.channels);
	const int ins = vector_count(program, chain.in.channels);
	const int outputs = largest_divisor(outs, 2);
	const int inputs = largest_divisor(ins, most / taps);

	return (struct conv_tiles){
		.outputs = outputs,
		.columns = tile_columns(width, most / (outputs * pool * pool)),
		.dense = largest_divisor(outs, most / taps),
		.inputs = inputs,
	};
}

struct input_tile {
	int vectors, columns;
};

/* Of the input gradient: sums that stay in registers. */
static struct input_tile input_tile(const struct opencl_program *program,
				    int index)
{
	const struct shape in = step_at(program, index)->in;
	const int ins = vector_count(program, in.channels);
	const int vectors = largest_divisor(ins, 2);
	const int most = program_device(program)->registers / vectors;
	const int tiles = parts_of(in.width, most);

	return (struct input_tile){
		.vectors = vectors,
		.columns = parts_of(in.width, tiles),
	};
}

/* They start as zeros. */
static size_t conv_dz_bytes(const struct opencl_program *program, int index)
{
	const struct chain chain = chain_at(program, index);
	const int edge = chain.window - 1;
	const int columns =
		round_up(chain.in.width, input_tile(program, index).columns);
	const int width = program_device(program)->width;

	return GROUPS * (size_t)(chain.main_out.height + 2 * edge) *
	       (size_t)(columns + edge) *
	       (size_t)round_up(chain.main_out.channels, width) * sizeof(float);
}

static void conv_define_dense(const struct opencl_program *program, int index,
			      struct defines *defines)
{
	const struct chain chain = chain_at(program, index);
	const struct input_tile tile = input_tile(program, index);
	const struct define all[] = {
		{ "SUM_HEIGHT", chain.main_out.height },
		{ "SUM_WIDTH", chain.main_out.width },
		{ "INPUT_VECTORS", tile.vectors },
		{ "INPUT_COLUMNS", tile.columns },
	};

	if (conv_scatters_dz(program, index))
		defines_add(defines, all, COUNT(all));
}

void conv_define(const struct opencl_program *program, int index, int planes,
		 struct defines *defines)
{
	const struct chain chain = chain_at(program, index);
	const struct layout in = layout_input(program, index);
	const struct layout out = layout_output(program, index);
	const int pool = chain.pool_window;
	const struct shape shape = chain.out;
	const struct conv_tiles tiles =
		conv_tiles(program, index, pool, shape.width);
	const struct define all[] = {
		{ "IN_CHANNELS", chain.in.channels },
		{ "IN_HEIGHT", chain.in.height },
		{ "IN_WIDTH", chain.in.width },
		{ "IN_SAMPLE", in.sample },
		{ "IN_CHANNEL", in.channel },
		{ "IN_ROW", in.row },
		{ "IN_COLUMN", in.column },
		{ "OUT_CHANNELS", shape.channels },
		{ "OUT_HEIGHT", shape.height },
		{ "OUT_WIDTH", shape.width },
		{ "OUT_SAMPLE", out.sample },
		{ "OUT_CHANNEL", out.channel },
		{ "OUT_PIXEL", out.column },
		{ "WINDOW", chain.window },
		{ "POOL", pool },
		{ "RELU", chain.relu != STEP_NO_LAYER },
		{ "DROPOUT", step_dropping(program, index) },
		{ "KEEP_SAMPLE", step_keep_sample(program, index) },
		{ "GROWTH_BITS", step_growth_bits(program, index) },
		{ "WEIGHT", chain.weight },
		{ "BIAS", chain.bias },
		{ "TILE_OUTPUTS", tiles.outputs },
		{ "TILE_COLUMNS", tiles.columns },
		{ "TILE_DENSE", tiles.dense },
		{ "TILE_INPUTS", tiles.inputs },
		{ "BAND", band_rows(program, index, tiles.inputs, planes) },
		{ "GROUPS", GROUPS },
		{ "NEEDS_DX", step_needs_dx(program, index) },
		{ "DENSE", conv_is_dense(program, index) },
		{ "BROKEN", chain.broken },
	};

	defines_add(defines, all, COUNT(all));
}

static int conv_build(struct opencl_program *program, int index,
		      struct error *err)
{
	struct defines defines = { .count = 0 };

	/* The input, and its gradient. */
	conv_define(program, index, 2, &defines);
	conv_define_dense(program, index, &defines);
	return source_build(program_device(program), SOURCE_CONV, &defines,
			    &program->built[index], err);
}

/* Kernels of a step that is led are built when one makes it again. */
static int conv_build_step(struct opencl_program *program, int index,
			   struct error *err)
{
	return step_is_led(program, index) ? 0 :
					     conv_build(program, index, err);
}

/* Whether y has to be moved, or thinned out, before the next step reads it. */
static int is_arranged(const struct opencl_program *program,
		       const struct pass *pass, int index)
{
	return !conv_is_channels_last(program, index) ||
	       (pass->training &&
		step_dropping(program, index) != DROP_NOTHING);
}

/* Floats of a group's sums: SUM_SIZE of conv_backward.cl. */
size_t conv_sum_size(const struct opencl_program *program, int index)
{
	const struct chain chain = chain_at(program, index);
	const int width = program_device(program)->width;
	const int taps = chain.window * chain.window;
	const int outs = chain.main_out.channels, ins = chain.in.channels;
	const int padded = round_up(outs, width);
	const int weights = conv_is_dense(program, index) ?
				    taps * ins * padded :
				    outs * taps * round_up(ins, width);

	return (size_t)(weights + padded);
}

/* What only training needs. */
static int training_allocate(struct opencl_program *program, struct pass *pass,
			     int index, struct error *err)
{
	const struct chain chain = chain_at(program, index);
	struct step_memory *memory = &pass->steps[index];
	const int taps = chain.window * chain.window;
	const int ins = round_up(chain.in.channels,
				 program_device(program)->width);
	const size_t most = (size_t)pass->most;
	const size_t y = most * (size_t)layout_channels_last(program, chain.out)
					.sample;
	const size_t out = most * (size_t)layout_output(program, index).sample;
	const size_t in = most * (size_t)layout_channels_last(program, chain.in)
					 .sample;
	const int codes = chain.pool_window > 1;
	const struct request requests[] = {
		{ &memory->codes, codes, y },
		{ &memory->routes, codes && memory->output, out },
		{ &memory->gradient, !step_is_led(program, index),
		  out * sizeof(float) },
		{ &memory->transposed, step_needs_dx(program, index),
		  (size_t)chain.main_out.channels * (size_t)(taps * ins) *
			  sizeof(float) },
		{ &memory->interleaved,
		  reads_images(program, index) &&
			  !conv_is_dense(program, index),
		  in * sizeof(float) },
		{ &memory->dz, conv_scatters_dz(program, index),
		  conv_dz_bytes(program, index) },
		{ &memory->sums, 1,
		  GROUPS * conv_sum_size(program, index) * sizeof(float) },
	};

	return memory_make_all(&program->queue, requests, COUNT(requests), err);
}

static int conv_allocate(struct opencl_program *program, struct pass *pass,
			 int index, struct error *err)
{
	const struct chain chain = chain_at(program, index);
	struct step_memory *memory = &pass->steps[index];
	const int rows = chain.window * chain.window * chain.in.channels + 1;
	const int outs = round_up(chain.main_out.channels,
				  program_device(program)->width);
	const size_t most = (size_t)pass->most * sizeof(float);
	const struct request requests[] = {
		{ &memory->y, !step_is_led(program, index),
		  most * (size_t)layout_channels_last(program, chain.out)
				 .sample },
		{ &memory->output, is_arranged(program, pass, index),
		  most * (size_t)layout_output(program, index).sample },
		{ &memory->packed, 1,
		  (size_t)rows * (size_t)outs * sizeof(float) },
	};

	if (memory_make_all(&program->queue, requests, COUNT(requests), err) ||
	    (pass->training && training_allocate(program, pass, index, err)))
		return -1;
	if (!memory->output)
		memory->output = memory->y;
	if (!memory->routes)
		memory->routes = memory->codes;
	return dropout_allocate(program, pass, index, err);
}

static struct launch conv_launch(const struct opencl_program *program,
				 int index)
{
	const struct chain chain = chain_at(program, index);
	const int outputs = conv_tiles(program, index, chain.pool_window,
				       chain.out.width).outputs;

	return (struct launch){
		.name = "conv_forward",
		.items = { vector_count(program, chain.out.channels) / outputs,
			   chain.out.height },
		.samples = 1,
		.batch_arguments = 1,
		.work = { index, step_products(program, index),
			  step_products(program, index),
			  step_inputs(program, index) +
				  step_outputs(program, index),
			  step_parameters(program, index), 0 },
	};
}

static int conv_forward(struct opencl_program *program, struct pass *pass,
			int index, struct error *err)
{
	const struct chain chain = chain_at(program, index);
	const struct step_memory *memory = &pass->steps[index];
	const double outs = step_outputs(program, index);
	const struct launch pack = {
		.name = "conv_pack",
		.items = { chain.window * chain.window + 1, 1, 1 },
		.batch_arguments = 1,
		.work = { .step = index,
			  .moved_once = 2 * step_parameters(program, index) },
	};
	const struct launch forward = conv_launch(program, index);
	const struct launch arrange = { .name = "conv_arrange",
					.items = { chain.out.channels, 0, 1 },
					.samples = 1,
					.batch_arguments = 1,
					.work = { .step = index,
						  .moved = 2 * outs } };
	const cl_mem weights[] = { program->vectors[VECTOR_PARAMETERS],
				   memory->packed, memory->transposed };
	const cl_mem sums[] = { step_input(program, pass, index),
				memory->packed, memory->y, memory->codes };
	const cl_mem moved[] = { memory->y, memory->codes, memory->keep,
				 memory->output, memory->routes };
	const cl_program built = program->built[index];

	if (step_is_led(program, index))
		return 0;
	if (pass_add(pass, &pack, built, weights, 3, err) ||
	    pass_add(pass, &forward, built, sums, 4, err))
		return -1;
	return memory->output != memory->y ?
		       pass_add(pass, &arrange, built, moved, 5, err) : 0;
}

static int conv_remake(struct opencl_program *program, int index, cl_mem y,
		       struct launch *launch, struct error *err)
{
	const struct launch forward = conv_launch(program, index);
	const cl_mem memories[] = { program->train.images,
				    program->train.steps[index].packed, y,
				    NULL };

	if (!program->built[index] && conv_build(program, index, err))
		return -1;
	return launch_make(launch, &forward, program->built[index], memories,
			   COUNT(memories), err);
}

static int conv_add_dense(struct opencl_program *program, struct pass *pass,
			  int index, struct error *err)
{
	const struct chain chain = chain_at(program, index);
	const struct step_memory *memory = &pass->steps[index];
	/* The weight gradient, and the input gradient. */
	const int ways = 1 + step_needs_dx(program, index);
	const double products = ways * step_products(program, index);
	const struct launch dense = {
		.name = "conv_dense",
		.items = { GROUPS, 1, 1 },
		.batch_arguments = 1,
		.work = { index, products, products,
			  ways * step_inputs(program, index) +
				  2 * step_outputs(program, index) +
				  (ways + 1) *
					  (double)shape_size(chain.main_out),
			  ways * step_parameters(program, index), 0 },
	};
	const cl_mem memories[] = {
		step_input(program, pass, index), memory->output,
		memory->gradient, memory->routes, memory->keep,
		memory->transposed, memory->sums,
		step_dx(program, pass, index), memory->dz
	};

	return pass_add(pass, &dense, program->built[index], memories,
			COUNT(memories), err);
}

static int dense_backward(struct opencl_program *program, struct pass *pass,
			  int index, struct error *err)
{
	const struct chain chain = chain_at(program, index);
	const struct step_memory *memory = &pass->steps[index];
	const int tiles = vector_count(program, chain.main_out.channels) /
			  conv_tiles(program, index, 1, chain.out.width).dense;
	const struct launch weights = {
		.name = "conv_weights",
		.items = { tiles, chain.in.channels, GROUPS },
		.batch_arguments = 1,
		.work = { index, step_products(program, index),
			  step_products(program, index),
			  step_inputs(program, index) +
				  2 * step_outputs(program, index),
			  step_parameters(program, index), 0 },
	};
	const cl_mem memories[] = { pass->images, memory->output,
				    memory->gradient, memory->sums };

	if (conv_scatters_dz(program, index))
		return conv_add_dense(program, pass, index, err);
	return pass_add(pass, &weights, program->built[index], memories, 4,
			err);
}

static int listed_backward(struct opencl_program *program, struct pass *pass,
			   int index, struct error *err)
{
	const struct chain chain = chain_at(program, index);
	const struct step_memory *memory = &pass->steps[index];
	const int tiles = vector_count(program, chain.in.channels) /
			  conv_tiles(program, index, chain.pool_window,
				     chain.out.width).inputs;
	/* The weight gradient, and the input gradient. */
	const int ways = 1 + step_needs_dx(program, index);
	const struct launch interleave = { .name = "conv_interleave",
				       .items = { chain.in.height, 0, 1 },
				       .samples = 1,
				       .batch_arguments = 1,
				       .work = { .step = index } };
	const struct launch backward = {
		.name = "conv_backward",
		.items = { tiles, GROUPS, 1 },
		.batch_arguments = 1,
		.work = { index, ways * step_products(program, index),
			  ways * step_products(program, index) /
				  (chain.pool_window * chain.pool_window),
			  ways * step_inputs(program, index) +
				  2 * step_outputs(program, index),
			  2 * step_parameters(program, index), 1 },
	};
	const cl_mem images[] = { pass->images, memory->interleaved };
	const cl_mem memories[] = {
		memory->interleaved ? memory->interleaved :
				 step_input(program, pass, index),
		memory->output, memory->gradient, memory->routes, memory->keep,
		memory->transposed, memory->sums,
		step_dx(program, pass, index),
	};
	const cl_program built = program->built[index];

	if (memory->interleaved &&
	    pass_add(pass, &interleave, built, images, 2, err))
		return -1;
	return pass_add(pass, &backward, built, memories, 8, err);
}

struct launch conv_reduce_launch(const struct opencl_program *program,
				 int index)
{
	const int block = 16 * program_device(program)->width; /* REDUCED */
	const int size = (int)conv_sum_size(program, index);

	return (struct launch){
		.name = "conv_reduce",
		.items = { parts_of(size, block), 1, 1 },
		.batch_arguments = 1,
		.work = { .step = index, .moved_once = GROUPS * size },
	};
}

int conv_add_reduce(struct opencl_program *program, struct pass *pass,
		    int index, struct error *err)
{
	const struct launch reduce = conv_reduce_launch(program, index);
	const cl_mem memories[] = { pass->steps[index].sums,
				    program->vectors[VECTOR_GRADIENT] };

	return pass_add(pass, &reduce, program->built[index], memories, 2,
			err);
}

static int conv_backward(struct opencl_program *program, struct pass *pass,
			 int index, struct error *err)
{
	if (step_is_led(program, index))
		return 0;
	if (conv_is_dense(program, index) ?
		    dense_backward(program, pass, index, err) :
		    listed_backward(program, pass, index, err))
		return -1;
	return conv_add_reduce(program, pass, index, err);
}

const struct opencl_solver conv_solver = {
	.base = { .name = "conv", .takes = conv_takes },
	.channels_last = 1,
	.build = conv_build_step,
	.allocate = conv_allocate,
	.forward = conv_forward,
	.backward = conv_backward,
	.remake = conv_remake,
};
