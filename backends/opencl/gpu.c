/* What the steps of the gpu class share. */
#include "backends/opencl/gpu.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>

#include "backends/opencl/generic.h"
#include "models/random.h"

#define OPTIONS_SIZE 1536
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

struct launch gpu_how(const struct opencl_program *program, const char *name,
		      int index, int groups)
{
	return (struct launch){ .name = name,
				.items = { groups, 1, 1 },
				.group_items = gpu_tiling(program)->items,
				.batch_arguments = 1,
				.work = { .step = index } };
}

/* Choices of a layer that drops; anything where none does. */
static void dropout_options(const struct opencl_program *program, int index,
			    char *text, size_t size)
{
	const struct chain chain = chain_at(program, index);
	const int dropping = step_dropping(program, index);
	const int layer = dropping == DROP_NOTHING ? 0 : chain.dropout;
	const double drop = program->base.model->layers[layer].drop;

	snprintf(text, size,
		 "-D DROPOUT=%d -D DROP_LAYER=%d -D DROP_THRESHOLD=%uu "
		 "-D GROWTH_BITS=%u", dropping, layer,
		 (unsigned)dropout_threshold(drop),
		 step_growth_bits(program, index));
}

int gpu_build(struct opencl_program *program, enum source source, int index,
	      struct error *err, const char *format, ...)
{
	const struct chain chain = chain_at(program, index);
	char own[OPTIONS_SIZE], dropout[160];
	va_list arguments;
	int length;

	va_start(arguments, format);
	length = vsnprintf(own, sizeof(own), format, arguments);
	va_end(arguments);
	if (length < 0)
		return error_memory(err, "the options of a compiler");
	assert(length < OPTIONS_SIZE);
	dropout_options(program, index, dropout, sizeof(dropout));
	return source_build(program_device(program), source,
			    &program->built[index], err,
			    "%s %s -D ITEMS=%d -D LOCAL_FLOATS=%zu -D RELU=%d "
			    "-D WEIGHT=%zu -D BIAS=%zu -D BROKEN=%d", own,
			    dropout, gpu_tiling(program)->items,
			    LOCAL_BYTES / sizeof(cl_float),
			    chain.relu != STEP_NO_LAYER, chain.weight,
			    chain.bias, chain.broken);
}

int gpu_add_seeded(struct opencl_program *program, struct pass *pass,
		   const struct launch *how, const cl_mem *memories, int count,
		   struct error *err)
{
	const unsigned long long seed = program->base.options.seed;
	const cl_uint words[] = { (cl_uint)seed, (cl_uint)(seed >> 32) };

	if (pass_add(pass, how, program->built[how->work.step], memories,
		     count, err))
		return -1;
	return launch_words(&pass->launches[pass->launch_count - 1],
			    how->batch_arguments + count, words, 2, err);
}

static const struct solver *const solvers[] = {
	&gpu_conv_solver.base,
	&gpu_linear_solver.base,
	&gpu_loss_solver.base,
	GENERIC_SOLVERS,
};

/*
 * 64 sums an item hide the latency of multiply-adds, and 128 items of them
 * leave a multiprocessor room for several work-groups. Nine taps of four
 * channels are 36 factors.
 */
const struct device_class gpu_class = {
	.name = "gpu",
	.types = CL_DEVICE_TYPE_GPU | CL_DEVICE_TYPE_ACCELERATOR,
	.tiling = { .items = 128,
		    .updated = 512,
		    .rows = 64,
		    .columns = 128,
		    .deep = 36,
		    .linear_deep = 32,
		    .factor_columns = 72,
		    .span = 32,
		    .splits = 128,
		    .chunk = 144,
		    .head_split = 8,
		    .reduced = 32 },
	.solvers = solvers,
	.solver_count = sizeof(solvers) / sizeof(solvers[0]),
	.build = gpu_sums_build,
	.begin = gpu_sums_begin,
	.ends_with_score = 1,
	.end = gpu_sums_end,
	.gradient = gpu_sums_gradient,
	.train = gpu_sums_train,
};
