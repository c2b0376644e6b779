/* The dense way back through a convolution: conv_dense.cl. */
#include "backends/opencl/cpu_class/cpu_class.h"

#include "backends/opencl/device/status.h"

struct input_tile {
	int vectors, columns;
};

int conv_is_channels_last(const struct opencl_program *program, int index)
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

int conv_scatters_dz(const struct opencl_program *program, int index)
{
	return program_is_dense(program) && !conv_is_plain(program, index);
}

int conv_is_dense(const struct opencl_program *program, int index)
{
	return conv_is_plain(program, index) ||
	       conv_scatters_dz(program, index);
}

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

size_t conv_dz_bytes(const struct opencl_program *program, int index)
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

void conv_define_dense(const struct opencl_program *program, int index,
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

int conv_add_dense(struct opencl_program *program, struct pass *pass, int index,
		   struct error *err)
{
	const struct chain chain = chain_at(program, index);
	const struct step_memory *memory = &pass->steps[index];
	/* The weight gradient, and the input gradient. */
	const int ways = 1 + step_wants_dx(program, index);
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
