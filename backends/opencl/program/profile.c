#include "backends/opencl/program/slots.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "backends/opencl/device/status.h"
#include "backends/opencl/program/memory.h"
#include "backends/opencl/program/recipe.h"
#include "backends/opencl/program/steps.h"

#define FLOAT 4. /* bytes */
#define LABEL 2.

/*
 * Of the output of a step, neither dropped nor stopped by a ReLU: the
 * share that has a gradient.
 * NAN if it cannot be fetched.
 */
static double share_kept(struct opencl_program *program, int index)
{
	const struct step_memory *memory = &program->train.steps[index];
	const size_t count = (size_t)program->count *
			     (size_t)layout_output(program, index).sample;
	const double all = program->count *
			   (double)shape_size(step_at(program, index)->out);
	double found = 0;
	struct error err;
	float *values = memory_copy(&program->queue, memory->output,
				    count * sizeof(*values), &err);

	if (!values)
		return NAN;
	/* Padding is 0. */
	for (size_t i = 0; i < count; i++)
		found += values[i] != 0;
	free(values);
	return found / all;
}

/* The main layer of a step, or its first; empty: that has no name. */
static const char *layer_name(const struct opencl_program *program, int index)
{
	const int main = chain_at(program, index).main;
	const int layer = main == STEP_NO_LAYER ?
				  step_at(program, index)->first : main;
	const char *name = program->base.model->layers[layer].name;

	return name ? name : "";
}

/* "fc1 linear_lists", "conv1+conv2 conv_forward", "dropout_choose" */
static void name_launch(const struct opencl_program *program,
			const struct launch *launch, struct profile_part *part)
{
	const int step = launch->work.step, beside = launch->work.beside;
	const int first = beside < 0 ? step_source(program, step) : step;
	const int second = beside < 0 ? step : step_reader(program, step);
	const char *name = layer_name(program, first);

	if (beside)
		snprintf(part->name, sizeof(part->name), "%.9s+%.9s %.18s",
			 name, layer_name(program, second), launch->name);
	else
		snprintf(part->name, sizeof(part->name), "%.20s%s%.18s", name,
			 name[0] ? " " : "", launch->name);
}

static void fill_launch(struct opencl_program *program,
			const struct launch *launch, struct profile_part *part)
{
	const struct cost *work = &launch->work;

	*part = (struct profile_part){
		.dense = program->count * work->dense,
		.done = program->count * work->done,
		.bytes = FLOAT * (program->count * work->moved +
				  work->moved_once),
		.nonzero = work->sparse ? share_kept(program, work->step) : NAN,
		.launches = 1,
	};
	if (work->sparse)
		part->done *= part->nonzero;
	name_launch(program, launch, part);
}

static void fill_others(const struct opencl_program *program,
			struct profile_part *parts)
{
	const double count = program->count;
	const double pixels = count *
			      (double)shape_size(program->base.model->input);
	const int resident = program->base.resident_samples > 0;
	const struct recipe *recipe = &program->base.model->recipe;
	/* The gradient is read, the rest is written, too. */
	const double moved = 3 + 2 * recipe_states(recipe);
	const double sums = program->reduce.work.moved_once;
	const struct {
		enum command part;
		int wanted;
		const char *name;
		double bytes;
	} others[] = {
		{ PART_IMAGES, !resident, "images written", FLOAT * pixels },
		{ PART_LABELS, !resident, "labels written",
		  count * (double)target_bytes(program) },
		/* A byte is read where a float is written. */
		{ PART_GATHER, resident, "gather",
		  (1 + FLOAT) * pixels + (2 * LABEL + FLOAT) * count },
		{ PART_SUMS, !program->trained && program->reduce.kernel,
		  "reduce", FLOAT * sums },
		{ PART_UPDATE, 1,
		  program->trained ? "reduce_update" :
				     optimizer_name(recipe->optimizer),
		  FLOAT * (moved * (double)program->base.parameters +
			   (program->trained ? sums : 0)) },
		{ PART_SCORE, 1, "loss read", 4 * FLOAT },
	};

	for (int i = 0; i < COUNT(others); i++) {
		struct profile_part *part = &parts[others[i].part];

		if (!others[i].wanted)
			continue;
		*part = (struct profile_part){ .bytes = others[i].bytes,
					       .nonzero = NAN,
					       .launches = 1 };
		snprintf(part->name, sizeof(part->name), "%s", others[i].name);
	}
}

int opencl_profile(struct program *base, struct profile_part *parts)
{
	struct opencl_program *program = (struct opencl_program *)base;
	const struct pass *train = &program->train;

	for (int part = 0; part < PARTS; part++)
		parts[part] = (struct profile_part){ .nonzero = NAN };
	fill_others(program, parts);
	for (int i = 0; i < train->launch_count; i++)
		if (train->launches[i].part != PART_NONE)
			fill_launch(program, &train->launches[i],
				    &parts[train->launches[i].part]);
	return PARTS;
}
