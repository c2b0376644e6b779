/* Convolutions of the gpu class: gpu_conv_forward.cl, gpu_conv_backward.cl. */
#include "backends/opencl/gpu.h"

#include <stdio.h>

#define MOST_PATCH 4	    /* side of what a window reads of a lead */
#define MOST_LEAD_FACTORS 32
#define LEAD_OPTIONS 512

/* Whether making the step before again is little work, and whole channels of it
 * fill the slices of factors, positions and columns. */
int gpu_conv_leads(const struct opencl_program *program, int index)
{
	const struct tiling *tiling = gpu_tiling(program);
	const struct chain chain = chain_at(program, index);
	struct chain lead;
	const int taps = chain.window * chain.window;
	const int places = chain.pool_window * chain.pool_window;
	const int source = step_source(program, index);

	if (solver_of(program, index) != &gpu_conv_solver ||
	    source == STEP_IMAGES ||
	    solver_of(program, source) != &gpu_conv_solver ||
	    step_source(program, source) != STEP_IMAGES ||
	    step_reader(program, source) != index)
		return 0;
	lead = chain_at(program, source);
	return lead.pool_window == 1 &&
	       step_dropping(program, source) == DROP_NOTHING &&
	       lead.window * lead.window * lead.in.channels <=
		       MOST_LEAD_FACTORS &&
	       chain.window + chain.pool_window - 1 <= MOST_PATCH &&
	       tiling->deep % taps == 0 && tiling->factor_columns % taps == 0 &&
	       tiling->span % places == 0 && tiling->columns % places == 0;
}

int gpu_conv_led(const struct opencl_program *program, int index)
{
	const int reader = step_reader(program, index);

	return reader != STEP_NONE && gpu_conv_leads(program, reader);
}

int gpu_split_samples(const struct opencl_program *program)
{
	return parts_of(batch_most(program), gpu_tiling(program)->splits);
}

/* Enough for the places of a whole pooling window. */
int gpu_conv_columns(const struct opencl_program *program, int index)
{
	const int places = chain_at(program, index).pool_window *
			   chain_at(program, index).pool_window;
	const int columns = gpu_tiling(program)->columns;

	return places > columns ? 2 * columns : columns;
}

static int out_rows(const struct opencl_program *program, int index)
{
	return gpu_rows(program, gpu_conv_columns(program, index),
			chain_at(program, index).main_out.channels);
}

/* Of the slopes of a lead a whole tile is in local memory, not only factors. */
static int in_rows(const struct opencl_program *program, int index)
{
	const int channels = step_at(program, index)->in.channels;
	const int most = gpu_tiling(program)->rows / 2;

	return gpu_rows(program, gpu_conv_columns(program, index),
			gpu_conv_leads(program, index) && channels > most ?
				most : channels);
}

static void lead_options(const struct opencl_program *program, int index,
			 char *text, size_t size)
{
	struct chain lead;

	snprintf(text, size, "-D LEAD=0 -D LEAD_SUMS_AT=0");
	if (!gpu_conv_leads(program, index))
		return;
	lead = chain_at(program, step_source(program, index));
	snprintf(text, size,
			 "-D LEAD=1 -D LEAD_SUMS_AT=%zu -D LEAD_CHANNELS=%d "
			 "-D LEAD_HEIGHT=%d -D LEAD_WIDTH=%d -D LEAD_WINDOW=%d "
			 "-D LEAD_RELU=%d -D LEAD_WEIGHT=%zu -D LEAD_BROKEN=%d",
			 gpu_parts_at(program, step_source(program, index)),
			 lead.in.channels,
			 lead.in.height, lead.in.width, lead.window,
			 lead.relu != STEP_NO_LAYER, lead.weight,
			 lead.broken);
}

static int conv_build_step(struct opencl_program *program, int index,
			   struct error *err)
{
	const struct tiling *tiling = gpu_tiling(program);
	const struct chain chain = chain_at(program, index);
	const int columns = gpu_conv_columns(program, index);
	char lead[LEAD_OPTIONS];

	if (gpu_conv_led(program, index))
		return 0;
	lead_options(program, index, lead, sizeof(lead));
	return gpu_build(
		program, SOURCE_GPU_CONV, index, err,
		"%s -D IN_CHANNELS=%d -D IN_HEIGHT=%d -D IN_WIDTH=%d "
		"-D OUT_CHANNELS=%d -D OUT_HEIGHT=%d -D OUT_WIDTH=%d "
		"-D WINDOW=%d -D POOL=%d -D OUT_ROWS=%d -D IN_ROWS=%d "
		"-D COLUMNS=%d -D DEEP=%d -D FACTOR_COLUMNS=%d -D SPAN=%d "
		"-D SPLITS=%d -D SPLIT_SAMPLES=%d -D SLOPES=%d -D SUMS_AT=%zu "
		"-D MOST_ACROSS=16",
		lead, chain.in.channels, chain.in.height, chain.in.width,
		chain.main_out.channels, chain.out.height, chain.out.width,
		chain.window, chain.pool_window, out_rows(program, index),
		in_rows(program, index), columns,
		columns > tiling->columns ? 16 : tiling->deep,
		tiling->factor_columns, tiling->span,
		parts_of(batch_most(program), gpu_split_samples(program)),
		gpu_split_samples(program),
		step_wants_dx(program, index),
		gpu_parts_at(program, index));
}

static int conv_allocate_step(struct opencl_program *program, struct pass *pass,
			      int index, struct error *err)
{
	struct step_memory *memory = &pass->steps[index];
	const size_t out = (size_t)pass->most * gpu_outputs(program, index);
	const int leads = gpu_conv_led(program, index);
	const struct request requests[] = {
		{ &memory->output, !leads, out * sizeof(cl_float) },
		{ &memory->routes, !leads && pass->training,
		  out * sizeof(cl_ushort) },
		{ &memory->gradient, !leads && pass->training,
		  out * sizeof(cl_float) },
		{ &memory->packed, leads && pass->training,
		  (size_t)step_parameters(program, index) * sizeof(cl_float) },
	};

	return memory_make_all(program, requests,
			       sizeof(requests) / sizeof(requests[0]), err);
}

/* What step index reads: the images, if it makes its input of them. */
static cl_mem conv_input(const struct opencl_program *program,
			 const struct pass *pass, int index)
{
	return gpu_conv_leads(program, index) ? pass->images :
						step_input(program, pass,
							   index);
}

static double lead_products(const struct opencl_program *program, int index)
{
	return gpu_conv_leads(program, index) ?
		       step_products(program, step_source(program, index)) : 0;
}

static int conv_forward_step(struct opencl_program *program, struct pass *pass,
			     int index, struct error *err)
{
	const struct chain chain = chain_at(program, index);
	const struct step_memory *memory = &pass->steps[index];
	const int columns = gpu_conv_columns(program, index);
	const int windows = columns / (chain.pool_window * chain.pool_window);
	const int all = pass->most * chain.out.height * chain.out.width;
	const double products = step_products(program, index) +
				lead_products(program, index);
	struct launch forward = gpu_how(program, "conv_forward", index,
					parts_of(all, windows));
	const cl_mem memories[] = {
		conv_input(program, pass, index),
		program->vectors[VECTOR_PARAMETERS], memory->output,
		memory->routes,
		gpu_conv_leads(program, index) ?
			pass->steps[step_source(program, index)].packed : NULL
	};

	if (gpu_conv_led(program, index))
		return 0;
	forward.items[1] = parts_of(chain.main_out.channels,
				     out_rows(program, index));
	forward.batch_arguments = 5;
	forward.work.dense = forward.work.done = products;
	forward.work.beside = -gpu_conv_leads(program, index);
	forward.work.moved = step_inputs(program, index) +
			     step_outputs(program, index);
	forward.work.moved_once = step_parameters(program, index);
	return gpu_add_seeded(program, pass, &forward, memories, 5, err);
}

static int conv_backward_step(struct opencl_program *program, struct pass *pass,
			      int index, struct error *err)
{
	const struct chain chain = chain_at(program, index);
	const struct step_memory *memory = &pass->steps[index];
	const int columns = gpu_conv_columns(program, index);
	const int wants_dx = step_wants_dx(program, index);
	const int taps = chain.window * chain.window;
	const int splits = parts_of(pass->most, gpu_split_samples(program));
	const int weight_tiles =
		parts_of(chain.in.channels * taps,
			  gpu_tiling(program)->factor_columns) *
		parts_of(chain.main_out.channels, out_rows(program, index));
	const int input_tiles =
		parts_of(pass->most * chain.in.height * chain.in.width,
			  columns) *
		parts_of(chain.in.channels, in_rows(program, index));
	const double products =
		(1 + wants_dx) * step_products(program, index) +
		lead_products(program, index);
	struct launch backward =
		gpu_how(program, "conv_backward", index,
			splits * weight_tiles + wants_dx * input_tiles);
	const cl_mem memories[] = {
		conv_input(program, pass, index),
		program->vectors[VECTOR_PARAMETERS], memory->routes,
		memory->gradient, program->parts,
		step_dx(program, pass, index)
	};

	if (gpu_conv_led(program, index))
		return 0;
	backward.work.dense = backward.work.done = products;
	backward.work.beside = -gpu_conv_leads(program, index);
	backward.work.moved = 2 * step_inputs(program, index) +
			      3 * step_outputs(program, index);
	backward.work.moved_once = splits * step_parameters(program, index);
	return pass_add(pass, &backward, program->built[index], memories, 6,
			err);
}

static int conv_takes(const struct graph *graph, int first,
		      const struct program_options *options)
{
	(void)options;
	return chain_of_conv(graph, first);
}

const struct opencl_solver gpu_conv_solver = {
	.base = { .name = "conv", .takes = conv_takes },
	.build = conv_build_step,
	.allocate = conv_allocate_step,
	.forward = conv_forward_step,
	.backward = conv_backward_step,
	.decisions = gpu_decisions,
};
