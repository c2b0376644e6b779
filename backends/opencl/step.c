/* Masks, loss and update: step.cl. */
#include "backends/opencl/class.h"

#include <math.h>

#include "models/random.h"

/* The same options for all models, so that it is compiled once. */
int common_build(struct opencl_program *program, struct error *err)
{
	return source_build(program_device(program), SOURCE_STEP,
			    &program->common, err, "-D UPDATED=%d",
			    program_device(program)->class->tiling.updated);
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

	return memory_make_all(program, &request, 1, err);
}

/* Words of a layer in a launch of dropout_choose. */
#define CHOICE_WORDS 3

int dropout_add(struct opencl_program *program, struct pass *pass,
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
		if (pass_add(pass, &choose, program->common, keeps, 2, err) ||
		    launch_words(&pass->launches[pass->launch_count - 1], 7,
				 words, 2 + 2 * CHOICE_WORDS, err))
			return -1;
		found = 0;
	}
	return 0;
}

int loss_add(struct opencl_program *program, struct pass *pass,
	     struct launch *loss, const cl_mem memories[4], int sample,
	     struct error *err)
{
	const struct model *model = program->base.model;
	const int has_classes = model_has_classes(model);
	const cl_uint sizes[] = { (cl_uint)model_classes(model),
				  (cl_uint)sample,
				  model_loss(model) == LOSS_BCE };

	loss->name = has_classes ? "loss" : "vector_loss";
	loss->batch_arguments = 2;
	return pass_add(pass, loss, program->common, memories, 4, err) ||
	       launch_words(&pass->launches[pass->launch_count - 1], 6, sizes,
			    has_classes ? 2 : 3, err);
}

/* Forward and backward in one: the slope is NULL where nobody wants it. */
static int loss_forward(struct opencl_program *program, struct pass *pass,
			int index, struct error *err)
{
	struct launch loss = { .items = { 0, 1, 1 },
			       .samples = 1,
			       .work = { .step = index } };
	const cl_mem memories[] = { step_input(program, pass, index),
				    pass->labels, pass->outcomes,
				    step_dx(program, pass, index) };

	if (linear_has_loss(program, step_source(program, index)))
		return 0;
	return loss_add(program, pass, &loss, memories,
			layout_input(program, index).sample, err);
}

const struct opencl_solver loss_solver = {
	.base = { .name = "loss", .kind = LAYER_LOSS },
	.forward = loss_forward,
};

int update_settings(const struct update *update, cl_float *settings)
{
	const double t = (double)update->step + 1;

	switch (update->optimizer) {
	case OPTIMIZER_ADAM:
		settings[0] = (cl_float)(update->lr /
					 (1 - pow(update->beta1, t)));
		settings[1] = (cl_float)(1 / sqrt(1 - pow(update->beta2, t)));
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

int update_make(struct opencl_program *program, struct error *err)
{
	const struct tiling *tiling = &program_device(program)->class->tiling;
	const enum optimizer optimizer = program->base.model->recipe.optimizer;
	const struct update any = { .optimizer = optimizer };
	cl_float ignored[UPDATE_SETTINGS];
	const struct launch update = {
		.name = optimizer_name(optimizer),
		.items = { 0, 1, 1 },
		.group_items = tiling->items,
		.samples = tiling->updated,
		.batch_arguments = update_settings(&any, ignored) + 2,
	};

	if (launch_make(&program->update, &update, program->common,
			program->vectors, VECTOR_COUNT, err))
		return -1;
	program->update.part = PART_UPDATE;
	return 0;
}
