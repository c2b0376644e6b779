/* Steps that start with a convolution: conv_forward.cl, conv_backward.cl. */
#include "backends/opencl/conv_dense.h"

/* Bytes of a core's nearest cache that a loop over channels may count on. */
#define NEAR_CACHE (40 * 1024)

/* Whether row is the last one of a chain that can write channels last. */
static int ends_chain(const struct graph *graph, int row,
		      const struct program_options *options)
{
	int first = row;

	while (first > 0 && graph->nodes[first].layer->kind != LAYER_CONV)
		first--;
	return graph->nodes[row].readers == 1 &&
	       conv_solver.base.takes(graph, first, options) ==
		       row - first + 1;
}

/* Of the images, or of what another chain makes for it alone. */
static int conv_takes(const struct graph *graph, int first,
		      const struct program_options *options)
{
	const int source = graph->nodes[first].source;
	const int length = chain_of_conv(graph, first);

	return source == MODEL_IMAGES ||
			       (length && ends_chain(graph, source, options)) ?
		       length : 0;
}

static int reads_images(const struct opencl_program *program, int index)
{
	return step_source(program, index) == STEP_IMAGES;
}

static int has_relu(const struct opencl_program *program, int index)
{
	return chain_at(program, index).relu != STEP_NO_LAYER;
}

/* Pooling windows of a tile: few tiles a row, and little beyond its end. */
static int tile_columns(int width, int most)
{
	int best = 1;

	for (int t = 1; t <= most && t <= width; t++) {
		int cost = round_up(width, t) / t * (t + 1);
		int best_cost = round_up(width, best) / best * (best + 1);

		if (cost <= best_cost)
			best = t;
	}
	return best;
}

struct conv_tiles {
	int outputs, columns, dense, inputs, band;
};

/*
 * Rows of pooling windows whose input, and its slope where that is made from
 * them too, stay in the nearest cache while all outputs go over them. As few
 * bands of rows as that allows, and as equal.
 */
static int band_rows(const struct opencl_program *program, int index,
		     int inputs)
{
	const struct chain chain = chain_at(program, index);
	const int floats = chain.in.width * inputs *
			   program_device(program)->width;
	const int row = (winograd_fits(program, index) ? 1 : 2) * floats *
			(int)sizeof(float);
	const int rows = NEAR_CACHE / row - chain.window + 1;
	const int most = chain.out.height;
	const int band = rows / chain.pool_window;
	const int bands = band < 1 ? most : round_up(most, band) / band;

	return round_up(most, bands) / bands;
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
		.band = band_rows(program, index, inputs),
	};
}

int conv_build(struct opencl_program *program, int index, int pooling,
	       cl_program *built, struct error *err)
{
	const struct chain chain = chain_at(program, index);
	const struct layout in = layout_input(program, index);
	const struct layout out = layout_output(program, index);
	const int pool = pooling ? chain.pool_window : 1;
	const struct shape shape = pooling ? chain.out : chain.main_out;
	const struct conv_tiles tiles =
		conv_tiles(program, index, pool, shape.width);
	char by_tiles[WINOGRAD_OPTIONS], scattered[SCATTERED_OPTIONS];

	winograd_options(program, index, by_tiles, sizeof(by_tiles));
	scattered_options(program, index, scattered, sizeof(scattered));
	return source_build(
		program_device(program),
		by_tiles[0] ? SOURCE_WINOGRAD : SOURCE_CONV, built, err,
		"-D IN_CHANNELS=%d -D IN_HEIGHT=%d -D IN_WIDTH=%d "
		"-D IN_SAMPLE=%d -D IN_CHANNEL=%d -D IN_ROW=%d "
		"-D IN_COLUMN=%d -D OUT_CHANNELS=%d -D OUT_HEIGHT=%d "
		"-D OUT_WIDTH=%d -D OUT_SAMPLE=%d -D OUT_CHANNEL=%d "
		"-D OUT_PIXEL=%d -D WINDOW=%d -D POOL=%d -D RELU=%d "
		"-D DROPOUT=%d -D KEEP_SAMPLE=%d -D GROWTH_BITS=%u "
		"-D WEIGHT=%zu -D BIAS=%zu -D TILE_OUTPUTS=%d "
		"-D TILE_COLUMNS=%d -D TILE_DENSE=%d -D TILE_INPUTS=%d "
		"-D BAND=%d -D GROUPS=%d -D SLOPES=%d -D DENSE=%d "
		"-D BROKEN=%d%s%s",
		chain.in.channels, chain.in.height, chain.in.width, in.sample,
		in.channel, in.row, in.column, shape.channels, shape.height,
		shape.width, out.sample, out.channel, out.column, chain.window,
		pool, has_relu(program, index), step_dropping(program, index),
		step_keep_sample(program, index),
		step_growth_bits(program, index), chain.weight, chain.bias,
		tiles.outputs, tiles.columns, tiles.dense, tiles.inputs,
		tiles.band, GROUPS, step_wants_dx(program, index),
		conv_is_dense(program, index),
		chain.broken, by_tiles, scattered);
}

static int conv_step_build(struct opencl_program *program, int index,
			   struct error *err)
{
	return conv_build(program, index, 1, &program->built[index], err);
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
		{ &memory->gradient, !winograd_led(program, index),
		  out * sizeof(float) },
		{ &memory->turned, step_wants_dx(program, index),
		  (size_t)chain.main_out.channels * (size_t)(taps * ins) *
			  sizeof(float) },
		{ &memory->spread,
		  reads_images(program, index) &&
			  !conv_is_dense(program, index),
		  in * sizeof(float) },
		{ &memory->scattered, slopes_are_scattered(program, index),
		  scattered_bytes(program, index) },
		{ &memory->sums, 1,
		  GROUPS * conv_sum_size(program, index) * sizeof(float) },
	};

	return memory_make_all(program, requests,
			       sizeof(requests) / sizeof(requests[0]), err);
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
		{ &memory->y, !winograd_led(program, index),
		  most * (size_t)layout_channels_last(program, chain.out)
				 .sample },
		{ &memory->output, is_arranged(program, pass, index),
		  most * (size_t)layout_output(program, index).sample },
		{ &memory->packed, 1,
		  (size_t)rows * (size_t)outs * sizeof(float) },
	};

	if (memory_make_all(program, requests,
			    sizeof(requests) / sizeof(requests[0]), err) ||
	    (pass->training && training_allocate(program, pass, index, err)))
		return -1;
	if (!memory->output)
		memory->output = memory->y;
	if (!memory->routes)
		memory->routes = memory->codes;
	return dropout_allocate(program, pass, index, err);
}

struct launch conv_how(const struct opencl_program *program, int index,
		       int pooling)
{
	const struct chain chain = chain_at(program, index);
	const struct shape shape = pooling ? chain.out : chain.main_out;
	const int outputs =
		conv_tiles(program, index, pooling ? chain.pool_window : 1,
			   shape.width).outputs;

	if (winograd_fits(program, index))
		return winograd_how(program, index);
	return (struct launch){
		.name = "conv_forward",
		.items = { vector_count(program, shape.channels) / outputs,
			   shape.height },
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
	const struct launch forward = conv_how(program, index, 1);
	const struct launch arrange = { .name = "conv_arrange",
					.items = { chain.out.channels, 0, 1 },
					.samples = 1,
					.batch_arguments = 1,
					.work = { .step = index,
						  .moved = 2 * outs } };
	const cl_mem weights[] = { program->vectors[VECTOR_PARAMETERS],
				   memory->packed, memory->turned };
	const cl_mem sums[] = { step_input(program, pass, index),
				memory->packed, memory->y, memory->codes };
	const cl_mem moved[] = { memory->y, memory->codes, memory->keep,
				 memory->output, memory->routes };
	const cl_program built = program->built[index];

	if (winograd_led(program, index))
		return 0;
	if (pass_add(pass, &pack, built, weights, 3, err) ||
	    pass_add(pass, &forward, built, sums, 4, err))
		return -1;
	return memory->output != memory->y ?
		       pass_add(pass, &arrange, built, moved, 5, err) : 0;
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

	if (slopes_are_scattered(program, index))
		return scattered_add(program, pass, index, err);
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
	/* By weights, and by the input. */
	const int ways = 1 + step_wants_dx(program, index);
	const struct launch spread = { .name = "conv_spread",
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
	const cl_mem images[] = { pass->images, memory->spread };
	const cl_mem memories[] = {
		memory->spread ? memory->spread :
				 step_input(program, pass, index),
		memory->output, memory->gradient, memory->routes, memory->keep,
		memory->turned, memory->sums,
		step_dx(program, pass, index),
	};
	const cl_program built = program->built[index];

	if (memory->spread &&
	    pass_add(pass, &spread, built, images, 2, err))
		return -1;
	return pass_add(pass, &backward, built, memories, 8, err);
}

struct launch conv_reduce_how(const struct opencl_program *program, int index)
{
	const int block = 16 * program_device(program)->width; /* REDUCED */
	const int size = (int)conv_sum_size(program, index);

	return (struct launch){
		.name = "conv_reduce",
		.items = { round_up(size, block) / block, 1, 1 },
		.batch_arguments = 1,
		.work = { .step = index, .moved_once = GROUPS * size },
	};
}

int conv_add_reduce(struct opencl_program *program, struct pass *pass,
		    int index, struct error *err)
{
	const struct launch reduce = conv_reduce_how(program, index);
	const cl_mem memories[] = { pass->steps[index].sums,
				    program->vectors[VECTOR_GRADIENT] };

	return pass_add(pass, &reduce, program->built[index], memories, 2,
			err);
}

static int conv_backward(struct opencl_program *program, struct pass *pass,
			 int index, struct error *err)
{
	if (winograd_led(program, index))
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
	.build = conv_step_build,
	.allocate = conv_allocate,
	.forward = conv_forward,
	.backward = conv_backward,
	.decisions = chain_decisions,
};
