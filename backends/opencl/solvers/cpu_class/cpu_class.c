/* The cpu class: its solvers, the choices of dropouts, and a loss alone. */
#include "backends/opencl/solvers/cpu_class/cpu_class.h"

#include "backends/opencl/device/class.h"
#include "backends/opencl/device/status.h"
#include "backends/opencl/program/memory.h"
#include "backends/opencl/program/recipe.h"
#include "backends/opencl/solvers/generic.h"
#include "models/random.h"

int program_is_dense(const struct opencl_program *program)
{
	return program->base.options.algorithm == ALGORITHM_DENSE;
}

/* The same options for all models, so that it is compiled once. */
static int common_build(struct opencl_program *program, struct error *err)
{
	const struct define updated = {
		"UPDATED", program_class(program)->tiling.updated
	};
	struct defines defines = { .count = 0 };

	defines_add(&defines, &updated, 1);
	return source_build(program_device(program), SOURCE_RECIPE, &defines,
			    &program->common, err);
}

int dropout_allocate(struct opencl_program *program, struct pass *pass,
		     int index, struct error *err)
{
	const struct request request = {
		&pass->steps[index].keep,
		pass->training &&
			step_dropping(program, index) != DROP_NOTHING,
		(size_t)pass->most * (size_t)step_keep_sample(program, index)
	};

	return memory_make_all(&program->queue, &request, 1, err);
}

/* Words of a layer in a launch of dropout_choose. */
#define CHOICE_WORDS 3

/* Appends what chooses for all dropouts of a pass, two of them a launch. */
static int dropout_add(struct opencl_program *program, struct pass *pass,
		       struct error *err)
{
	const unsigned long long seed = program->base.options.seed;
	struct launch choose = { .name = "dropout_choose",
				 .items = { 0, 0, 1 },
				 .samples = 1,
				 .batch_arguments = 5,
				 .work = { .step = program->plan.count - 1 } };
	cl_uint words[2 + 2 * CHOICE_WORDS] = { (cl_uint)seed,
						(cl_uint)(seed >> 32) };
	cl_mem keeps[2] = { NULL };
	int found = 0;

	for (int i = 0; i <= program->plan.count; i++) {
		const int is_there = i < program->plan.count &&
				     pass->steps[i].keep;

		if (is_there) {
			const int layer = chain_at(program, i).dropout;
			cl_uint *own = words + 2 + CHOICE_WORDS * found;

			own[0] = (cl_uint)layer;
			own[1] = dropout_threshold(
				program->base.model->layers[layer].drop);
			own[2] = (cl_uint)step_keep_sample(program, i);
			keeps[found++] = pass->steps[i].keep;
		}
		if (found < 2 && (i < program->plan.count || !found))
			continue;
		choose.items[1] = found;
		if (pass_add_words(pass, &choose, program->common, keeps, 2,
				   words, COUNT(words), err))
			return -1;
		found = 0;
	}
	return 0;
}

static const struct solver *const solvers[] = {
	&winograd_solver.base,
	&conv_solver.base,
	&linear_solver.base,
	&winograd_nhwc.base,
	&loss_solver.base,
	&conv_nhwc.base,
	GENERIC_SOLVERS,
};

const struct device_class cpu_class = {
	.name = "cpu",
	.types = CL_DEVICE_TYPE_CPU,
	.tiling = { .items = 1, .updated = 1024, .groups = 64 },
	.solvers = solvers,
	.solver_count = COUNT(solvers),
	.build = common_build,
	.begin = dropout_add,
};
