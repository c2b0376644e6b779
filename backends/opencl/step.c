/* Masks, loss and update: step.cl. */
#include "backends/opencl/class.h"

#include "models/random.h"

int common_build(struct opencl_program *program, struct error *err)
{
	const int last = program->plan.count - 1;

	return source_build(program_device(program), SOURCE_STEP,
			    &program->common, err,
			    "-D CLASSES=%d -D LOGITS_SAMPLE=%d -D PIXELS=%zu "
			    "-D UPDATED=%d",
			    model_classes(program->base.model),
			    layout_input(program, last).sample,
			    shape_size(program->base.model->input),
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
			const int layer = program->plan.steps[i].dropout;
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

/* Forward and backward in one: the slope is NULL where nobody wants it. */
static int loss_forward(struct opencl_program *program, struct pass *pass,
			int index, struct error *err)
{
	const struct launch loss = { .name = "loss",
				     .items = { 0, 1, 1 },
				     .samples = 1,
				     .batch_arguments = 2,
				     .work = { .step = index } };
	const cl_mem memories[] = { step_input(pass, index), pass->labels,
				    pass->outcomes,
				    pass->steps[index - 1].slope };

	return linear_has_loss(program, index - 1) ?
		       0 :
		       pass_add(pass, &loss, program->common, memories, 4, err);
}

const struct step_kind loss_step = { .forward = loss_forward };

int update_make(struct opencl_program *program, struct error *err)
{
	const struct tiling *tiling = &program_device(program)->class->tiling;
	const struct launch adadelta = { .name = "adadelta",
					 .items = { 0, 1, 1 },
					 .group_items = tiling->items,
					 .samples = tiling->updated,
					 .batch_arguments = 6 };

	if (launch_make(&program->update, &adadelta, program->common,
			program->vectors, VECTOR_COUNT, err))
		return -1;
	program->update.part = PART_UPDATE;
	return 0;
}
