/* Convolutions of the gpu class: gpu_conv_forward.cl, gpu_conv_backward.cl. */
#include "backends/opencl/solvers/gpu_class/gpu_class.h"

#include "backends/opencl/device/status.h"
#include "backends/opencl/program/memory.h"
#include "backends/opencl/program/steps.h"

#define MOST_PATCH 4	    /* side of what a window reads of a lead */
#define MOST_LEAD_FACTORS 32

/* Whether making the step before again is little work, and whole channels of it
 * fill the slices of factors, positions and columns. */
static int conv_leads(const struct opencl_program *program, int index)
{
	const struct tiling *tiling = gpu_tiling(program);
	const struct chain chain = chain_at(program, index);
	struct chain lead;
	const int taps = chain.window * chain.window;
	const int places = chain.pool_window * chain.pool_window;
	const int source = step_source(program, index);

	if (source == STEP_IMAGES ||
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

/* A whole tile of a lead's gradient is in local memory, not only factors. */
static int in_rows(const struct opencl_program *program, int index)
{
	const int channels = step_at(program, index)->in.channels;
	const int most = gpu_tiling(program)->rows / 2;

	return gpu_rows(program, gpu_conv_columns(program, index),
			step_leads(program, index) && channels > most ?
				most : channels);
}

/* Of the step that is led. */
static void lead_define(const struct opencl_program *program, int index,
			struct defines *defines)
{
	const int source = step_source(program, index);
	const struct chain lead = chain_at(program, source);
	const struct define all[] = {
		{ "LEAD_CHANNELS", lead.in.channels },
		{ "LEAD_HEIGHT", lead.in.height },
		{ "LEAD_WIDTH", lead.in.width },
		{ "LEAD_WINDOW", lead.window },
		{ "LEAD_RELU", lead.relu != STEP_NO_LAYER },
		{ "LEAD_WEIGHT", lead.weight },
		{ "LEAD_BROKEN", lead.broken },
	};

	defines_add(defines, all, COUNT(all));
}

static int conv_build_step(struct opencl_program *program, int index,
			   struct error *err)
{
	const struct tiling *tiling = gpu_tiling(program);
	const struct chain chain = chain_at(program, index);
	const int columns = gpu_conv_columns(program, index);
	const int leads = step_leads(program, index);
	const int source = step_source(program, index);
	const struct define all[] = {
		{ "IN_CHANNELS", chain.in.channels },
		{ "IN_HEIGHT", chain.in.height },
		{ "IN_WIDTH", chain.in.width },
		{ "OUT_CHANNELS", chain.main_out.channels },
		{ "OUT_HEIGHT", chain.out.height },
		{ "OUT_WIDTH", chain.out.width },
		{ "WINDOW", chain.window },
		{ "POOL", chain.pool_window },
		{ "OUT_ROWS", out_rows(program, index) },
		{ "IN_ROWS", in_rows(program, index) },
		{ "COLUMNS", columns },
		{ "DEEP", columns > tiling->columns ? 16 : tiling->deep },
		{ "FACTOR_COLUMNS", tiling->factor_columns },
		{ "SPAN", tiling->span },
		{ "SPLITS", parts_of(batch_most(program),
				     gpu_split_samples(program)) },
		{ "SPLIT_SAMPLES", gpu_split_samples(program) },
		{ "NEEDS_DX", step_needs_dx(program, index) },
		{ "SUMS_AT", gpu_parts_at(program, index) },
		{ "MOST_ACROSS", 16 },
		{ "LEAD", leads },
		{ "LEAD_SUMS_AT",
		  leads ? gpu_parts_at(program, source) : 0 },
	};
	struct defines defines = { .count = 0 };

	if (step_is_led(program, index))
		return 0;
	defines_add(&defines, all, COUNT(all));
	if (leads)
		lead_define(program, index, &defines);
	return gpu_build(program, SOURCE_GPU_CONV, index, &defines, err);
}

static int conv_allocate_step(struct opencl_program *program, struct pass *pass,
			      int index, struct error *err)
{
	struct step_memory *memory = &pass->steps[index];
	const size_t out = (size_t)pass->most * gpu_outputs(program, index);
	const int leads = step_is_led(program, index);
	const struct request requests[] = {
		{ &memory->output, !leads, out * sizeof(cl_float) },
		{ &memory->routes, !leads && pass->training,
		  out * sizeof(cl_ushort) },
		{ &memory->gradient, !leads && pass->training,
		  out * sizeof(cl_float) },
		{ &memory->packed, leads && pass->training,
		  (size_t)step_parameters(program, index) * sizeof(cl_float) },
	};

	return memory_make_all(&program->queue, requests, COUNT(requests), err);
}

/* What step index reads: the images, if it makes its input of them. */
static cl_mem conv_input(const struct opencl_program *program,
			 const struct pass *pass, int index)
{
	return step_leads(program, index) ? pass->images :
						step_input(program, pass,
							   index);
}

static double lead_products(const struct opencl_program *program, int index)
{
	return step_leads(program, index) ?
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
	struct launch forward = gpu_launch(program, "conv_forward", index,
					parts_of(all, windows));
	const cl_mem memories[] = {
		conv_input(program, pass, index),
		program->vectors[VECTOR_PARAMETERS], memory->output,
		memory->routes,
		step_leads(program, index) ?
			pass->steps[step_source(program, index)].packed : NULL
	};

	if (step_is_led(program, index))
		return 0;
	forward.items[1] = parts_of(chain.main_out.channels,
				    out_rows(program, index));
	forward.batch_arguments = 5;
	forward.work.dense = forward.work.done = products;
	forward.work.beside = -step_leads(program, index);
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
	const int needs_dx = step_needs_dx(program, index);
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
		(1 + needs_dx) * step_products(program, index) +
		lead_products(program, index);
	struct launch backward =
		gpu_launch(program, "conv_backward", index,
			splits * weight_tiles + needs_dx * input_tiles);
	const cl_mem memories[] = {
		conv_input(program, pass, index),
		program->vectors[VECTOR_PARAMETERS], memory->routes,
		memory->gradient, program->parts,
		step_dx(program, pass, index)
	};

	if (step_is_led(program, index))
		return 0;
	backward.work.dense = backward.work.done = products;
	backward.work.beside = -step_leads(program, index);
	backward.work.moved = 2 * step_inputs(program, index) +
			      3 * step_outputs(program, index);
	backward.work.moved_once = splits * step_parameters(program, index);
	return pass_add(pass, &backward, program->built[index], memories, 6,
			err);
}

static int conv_remake(struct opencl_program *program, int index, cl_mem y,
		       struct launch *launch, struct error *err)
{
	const int size = program->count * (int)gpu_outputs(program, index);
	const struct launch remake =
		gpu_launch(program, "lead_remake", index,
			   parts_of(size, gpu_tiling(program)->items));
	const cl_mem memories[] = { program->train.images,
				    program->train.steps[index].packed, y };

	return launch_make(launch, &remake,
			   program->built[step_reader(program, index)],
			   memories, COUNT(memories), err);
}

static int conv_takes(const struct graph *graph, int first,
		      const struct program_options *options, const char **why)
{
	(void)options;
	return chain_of_conv(graph, first, why);
}

const struct opencl_solver gpu_conv_solver = {
	.base = { .name = "conv", .takes = conv_takes },
	.leads = conv_leads,
	.build = conv_build_step,
	.allocate = conv_allocate_step,
	.forward = conv_forward_step,
	.backward = conv_backward_step,
	.remake = conv_remake,
};
