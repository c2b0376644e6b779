/* What the steps of the gpu class share. */
#include "backends/opencl/solvers/gpu_class/gpu_class.h"

#include "backends/opencl/device/status.h"
#include "backends/opencl/program/recipe.h"
#include "backends/opencl/program/steps.h"
#include "backends/opencl/solvers/generic.h"
#include "models/random.h"

#define FEWEST_ROWS 16 /* every item of a tile has a sum */

const struct tiling *gpu_tiling(const struct opencl_program *program)
{
	return &program_device(program)->class->tiling;
}

int gpu_rows(const struct opencl_program *program, int columns, int most)
{
	const struct tiling *tiling = gpu_tiling(program);
	int rows = tiling->rows * tiling->columns / columns;

	while (rows / 2 >= most && rows > FEWEST_ROWS)
		rows /= 2;
	return rows;
}

size_t gpu_outputs(const struct opencl_program *program, int index)
{
	return shape_size(step_at(program, index)->out);
}

struct launch gpu_launch(const struct opencl_program *program, const char *name,
			 int index, int groups)
{
	return (struct launch){ .name = name,
				.items = { groups, 1, 1 },
				.group_items = gpu_tiling(program)->items,
				.batch_arguments = 1,
				.work = { .step = index } };
}

int gpu_build(struct opencl_program *program, enum source source, int index,
	      struct defines *defines, struct error *err)
{
	const struct chain chain = chain_at(program, index);
	const int dropping = step_dropping(program, index);
	/* Choices of a layer that drops; anything where none does. */
	const int layer = dropping == DROP_NOTHING ? 0 : chain.dropout;
	const double drop = program->base.model->layers[layer].drop;
	const struct define all[] = {
		{ "DROPOUT", dropping },
		{ "DROP_LAYER", layer },
		{ "DROP_THRESHOLD", dropout_threshold(drop) },
		{ "GROWTH_BITS", step_growth_bits(program, index) },
		{ "ITEMS", gpu_tiling(program)->items },
		{ "LOCAL_FLOATS", LOCAL_BYTES / sizeof(cl_float) },
		{ "RELU", chain.relu != STEP_NO_LAYER },
		{ "WEIGHT", chain.weight },
		{ "BIAS", chain.bias },
		{ "BROKEN", chain.broken },
	};

	defines_add(defines, all, COUNT(all));
	return source_build(program_device(program), source, defines,
			    &program->built[index], err);
}

int gpu_add_seeded(struct opencl_program *program, struct pass *pass,
		   const struct launch *launch, const cl_mem *memories,
		   int count, struct error *err)
{
	const unsigned long long seed = program->base.options.seed;
	const cl_uint words[] = { (cl_uint)seed, (cl_uint)(seed >> 32) };

	return pass_add_words(pass, launch, program->built[launch->work.step],
			      memories, count, words, COUNT(words), err);
}

static const struct solver *const solvers[] = {
	&gpu_conv_solver.base,
	&gpu_linear_solver.base,
	&loss_solver.base,
	&generic_conv.base,
	GENERIC_SOLVERS,
};

/*
 * 64 sums an item hide the latency of multiply-adds, and 128 items of them
 * leave a multiprocessor room for several work-groups; an H200 has 132
 * multiprocessors. Nine taps of four channels are 36 factors.
 */
const struct device_class gpu_class = {
	.name = "gpu",
	.types = CL_DEVICE_TYPE_GPU | CL_DEVICE_TYPE_ACCELERATOR,
	.tiling = { .items = 128,
		    .updated = 512,
		    .groups = 256,
		    .rows = 64,
		    .columns = 128,
		    .deep = 36,
		    .linear_deep = 32,
		    .factor_columns = 72,
		    .span = 32,
		    .splits = 128,
		    .chunk = 144,
		    .head_split = 8,
		    .reduced = 32,
		    .least_depth = 256 },
	.solvers = solvers,
	.solver_count = COUNT(solvers),
	.build = gpu_sums_build,
	.begin = gpu_sums_begin,
	.ends_with_score = 1,
	.end = gpu_sums_end,
	.gradient = gpu_sums_gradient,
	.train = gpu_sums_train,
};
