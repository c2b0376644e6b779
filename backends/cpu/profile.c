/*
 * The work of an iteration, part by part, from shapes and from what the last
 * gradient has left.
 */
#include "backends/cpu/work.h"

#include <math.h>
#include <stdio.h>

int work_is_stem(const struct step *step)
{
	return step->lead.layer != STEP_NO_LAYER;
}

double work_samples(const struct cpu_program *program)
{
	return program->host.batch_count;
}

double work_of_conv(struct shape out, int window, int channels)
{
	return (double)shape_size(out) * window * window * channels;
}

double work_of_main(const struct step *step)
{
	if (!step->window)
		return (double)shape_size(step->main_out) *
		       (double)shape_size(step->in);
	return work_of_conv(step->main_out, step->window,
			    work_is_stem(step) ? step->lead.out.channels :
						 step->in.channels);
}

double work_parameters(const struct step *step)
{
	return work_of_main(step) /
		       (step->main_out.height * step->main_out.width) +
	       step->main_out.channels;
}

double work_share(double part, double all)
{
	return all > 0 ? part / all : NAN;
}

void work_name(const struct cpu_program *program, int s, const char *what,
	       struct profile_part *part)
{
	const struct step *step = program->steps[s].step;
	const struct layer *layers = program->host.base.model->layers;
	const int two = work_is_stem(step);

	snprintf(part->name, sizeof(part->name), "%.12s%s%.12s %s",
		 two ? layers[step->lead.layer].name : "", two ? "+" : "",
		 layers[step->main].name, what);
}

static double choices_of(const struct model *model)
{
	double sum = 0;

	for (int l = 0; l < model->layer_count; l++)
		if (model->layers[l].kind == LAYER_DROPOUT ||
		    model->layers[l].kind == LAYER_DROPOUT2D)
			sum += (double)layer_decisions(
				&model->layers[l], model_layer_input(model, l));
	return sum;
}

/* Floats that are read and written when parameters have changed. */
static double refreshed(const struct cpu_program *program)
{
	const struct stem_shape *shape = &program->stem.shape;
	double sum = 0;

	if (program->stem.step)
		sum += (double)(STEM_POINTS + STEM_TAPS) * shape->outputs *
		       shape->middle;
	for (int s = 0; s < program->conv_count; s++)
		sum += 2 * work_parameters(program->steps[s].step);
	return sum;
}

/* What multiplies nothing, as far as we count. */
static void profile_others(const struct cpu_program *program,
			   struct profile_part *parts)
{
	const struct model *model = program->host.base.model;
	const struct program *base = &program->host.base;
	const double logits =
		work_samples(program) * model_classes(model);
	const size_t all = program->leaves == CPU_LEAVES_PARTS ? base->summed :
								 base->length;
	/* Linear layers store theirs, or use it at once. */
	const double zeroed = program->host.batch_count ?
				      (double)program->conv_length :
				      (double)all;
	const struct {
		int part;
		const char *name;
		double bytes;
	} others[] = {
		{ CPU_PART_GRADIENT, "gradient zeroed", WORK_FLOAT * zeroed },
		{ CPU_PART_CHOICES, "dropout choices",
		  work_samples(program) * choices_of(model) },
		{ CPU_PART_WEIGHTS, "weights transformed",
		  WORK_FLOAT * refreshed(program) },
		{ CPU_PART_LOSS, "loss", 2 * WORK_FLOAT * logits },
		{ CPU_PART_UPDATE, "update",
		  WORK_UPDATE * WORK_FLOAT * (double)program->updated },
	};

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		struct profile_part *part = &parts[others[i].part];

		*part = (struct profile_part){ .bytes = others[i].bytes,
					       .nonzero = NAN };
		snprintf(part->name, sizeof(part->name), "%s", others[i].name);
	}
}

_Static_assert(CPU_PARTS <= PROFILE_MOST_PARTS, "backends/profile.h");

int cpu_profile(struct program *program, struct profile_part *parts)
{
	const struct cpu_program *cpu = (struct cpu_program *)program;

	for (int p = 0; p < CPU_PARTS; p++)
		parts[p] = (struct profile_part){ .nonzero = NAN };
	profile_others(cpu, parts);
	for (int s = 0; s < cpu->host.plan.count - 1; s++)
		if (work_is_stem(cpu->steps[s].step))
			work_fill_stem(cpu, parts);
		else if (cpu->steps[s].conv.window)
			work_fill_conv(cpu, s, parts);
		else
			work_fill_linear(cpu, s, parts);
	return CPU_PARTS;
}
