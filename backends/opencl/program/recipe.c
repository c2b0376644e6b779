#include "backends/opencl/program/recipe.h"

#include <math.h>
#include <string.h>

#include "backends/opencl/device/class.h"
#include "backends/opencl/device/status.h"
#include "backends/opencl/program/steps.h"

size_t target_bytes(const struct opencl_program *program)
{
	const struct model *model = program->base.model;

	return model_has_classes(model) ?
		       sizeof(cl_ushort) :
		       (size_t)model_classes(model) * sizeof(cl_float);
}

/* Forward and backward in one, with an item per sample. The input gradient may
 * be NULL. */
static int loss_forward(struct opencl_program *program, struct pass *pass,
			int index, struct error *err)
{
	const struct model *model = program->base.model;
	const int has_classes = model_has_classes(model);
	const int items = program_class(program)->tiling.items;
	const struct launch loss = {
		.name = has_classes ? "loss" : "vector_loss",
		.items = { 0, 1, 1 },
		.group_items = items,
		.samples = items,
		.batch_arguments = 2,
		.work = { .step = index },
	};
	const cl_mem memories[] = { step_input(program, pass, index),
				    pass->labels, pass->outcomes,
				    step_dx(program, pass, index) };
	const cl_uint sizes[] = { (cl_uint)model_classes(model),
				  (cl_uint)layout_input(program, index).sample,
				  model_loss(model) == LOSS_BCE };

	if (step_has_loss(program, step_source(program, index)))
		return 0;
	return pass_add_words(pass, &loss, program->common, memories,
			      COUNT(memories), sizes, has_classes ? 2 : 3, err);
}

const struct opencl_solver loss_solver = {
	.base = { .name = "loss", .kind = LAYER_LOSS },
	.forward = loss_forward,
};

/* Returns how many. */
static int update_settings(const struct update *update,
			   cl_float settings[UPDATE_WORDS])
{
	const struct adam_terms terms = update_adam_terms(update);

	switch (update->optimizer) {
	case OPTIMIZER_ADAM:
		settings[0] = (cl_float)terms.rate;
		settings[1] = (cl_float)terms.grown;
		settings[2] = (cl_float)update->beta1;
		settings[3] = (cl_float)(1 - update->beta1);
		settings[4] = (cl_float)update->beta2;
		settings[5] = (cl_float)(1 - update->beta2);
		settings[6] = (cl_float)update->eps;
		return 7;
	case OPTIMIZER_SGD:
		settings[0] = (cl_float)update->lr;
		settings[1] = (cl_float)update->momentum;
		settings[2] = (cl_float)update->weight_decay;
		return 3;
	default:
		settings[0] = (cl_float)update->lr;
		settings[1] = (cl_float)update->rho;
		settings[2] = (cl_float)(1 - update->rho);
		settings[3] = (cl_float)update->eps;
		return 4;
	}
}

int update_words(const struct update *update, cl_uint words[UPDATE_WORDS])
{
	cl_float settings[UPDATE_WORDS] = { 0 };
	const int count = update_settings(update, settings);

	memcpy(words, settings, sizeof(settings));
	return count;
}

int update_make(struct opencl_program *program, struct error *err)
{
	const struct tiling *tiling = &program_device(program)->class->tiling;
	const enum optimizer optimizer = program->base.model->recipe.optimizer;
	const struct update any = { .optimizer = optimizer };
	cl_uint ignored[UPDATE_WORDS];
	const struct launch update = {
		.name = optimizer_name(optimizer),
		.items = { 0, 1, 1 },
		.group_items = tiling->items,
		.samples = tiling->updated,
		.batch_arguments = update_words(&any, ignored) + 2,
	};

	if (launch_make(&program->update, &update, program->common,
			program->vectors, VECTOR_COUNT, err))
		return -1;
	program->update.part = PART_UPDATE;
	return 0;
}
