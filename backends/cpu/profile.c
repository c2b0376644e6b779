/*
 * Work of an iteration, part by part, from shapes and from the last gradient.
 */
#include "backends/cpu/profile.h"

#include <math.h>
#include <stdio.h>

double work_samples(const struct cpu_program *program)
{
	return program->host.batch_count;
}

double work_of_node(const struct node *node)
{
	const double out = (double)shape_size(node->out);

	if (node->layer->kind == LAYER_LINEAR)
		return out * (double)shape_size(node->in);
	return out * node->layer->window * node->layer->window *
	       node->in.channels;
}

double work_parameters(const struct node *node)
{
	return work_of_node(node) / (node->out.height * node->out.width) +
	       (node->has_bias ? node->out.channels : 0);
}

double work_share(double part, double all)
{
	return all > 0 ? part / all : NAN;
}

void work_name(const struct cpu_program *program, const struct cpu_step *step,
	       const char *what, struct profile_part *part)
{
	const struct layer *layer = cpu_node(program, step->first)->layer;

	if (layer->name)
		snprintf(part->name, sizeof(part->name), "%.23s %s",
			 layer->name, what);
	else
		snprintf(part->name, sizeof(part->name), "%s %d %s",
			 layer_kind_name(layer->kind), step->first, what);
}

void work_elements(const struct cpu_program *program,
		   const struct cpu_step *step, struct profile_part *parts)
{
	const double floats = work_samples(program) *
			      (double)(shape_size(step->in->shape) +
				       shape_size(step->out->shape));
	struct profile_part part = { .bytes = WORK_FLOAT * floats,
				     .nonzero = NAN };

	work_name(program, step, "forward", &part);
	parts[CPU_PART_FORWARD + step->index] = part;
	work_name(program, step, "backward", &part);
	if (step->out->gradient)
		parts[cpu_part_backward(step->index, CPU_BACKWARD_ALL)] = part;
}

static double choices_of(const struct cpu_program *program)
{
	const struct graph *graph = &program->host.graph;
	double sum = 0;

	for (int i = 0; i < graph->count; i++)
		if (layer_drops(graph->nodes[i].layer))
			sum += (double)graph->nodes[i].decisions;
	return sum;
}

/* Returns the floats read and written when parameters have changed: about twice
 * the floats of steps that derive something from them. */
static double refreshed(const struct cpu_program *program)
{
	double sum = 0;

	for (int s = 0; s < program->count; s++)
		if (program->steps[s]->solver->refresh)
			sum += 2 * (double)program->steps[s]->length;
	return sum;
}

/* Fills the parts without multiplications, as far as they are counted. */
static void profile_others(const struct cpu_program *program,
			   struct profile_part *parts)
{
	const struct program *base = &program->host.base;
	const double logits =
		work_samples(program) * model_classes(base->model);
	const size_t all = program->gradient_kind == CPU_GRADIENT_FACTORS ?
				   base->reduced :
				   base->length;
	/* Steps that update at once overwrite theirs. */
	const double zeroed = program->host.batch_count ?
				      (double)program->deferred_end :
				      (double)all;
	const struct {
		int part;
		const char *name;
		double bytes;
	} others[] = {
		{ CPU_PART_GRADIENT, "gradient zeroed", WORK_FLOAT * zeroed },
		{ CPU_PART_CHOICES, "dropout choices",
		  work_samples(program) * choices_of(program) },
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

_Static_assert(CPU_PARTS <= PROFILE_MOST_PARTS, "backends/contract/profile.h");

int cpu_profile(struct program *program, struct profile_part *parts)
{
	const struct cpu_program *cpu = (struct cpu_program *)program;

	for (int p = 0; p < CPU_PARTS; p++)
		parts[p] = (struct profile_part){ .nonzero = NAN };
	profile_others(cpu, parts);
	for (int s = 0; s < cpu->count; s++)
		cpu->steps[s]->solver->work(cpu, cpu->steps[s], parts);
	return CPU_PARTS;
}
