/* The stem of a program: where its parameters and activations are. */
#include <stdlib.h>
#include <string.h>

#include "backends/cpu/cpu.h"

static int is_kind(const struct model *model, int layer, enum layer_kind kind)
{
	return layer < model->layer_count && model->layers[layer].kind == kind;
}

int cpu_stem_fits(const struct model *model)
{
	const int relu = is_kind(model, 3, LAYER_RELU);
	const struct shape in = model->input;

	return is_kind(model, 0, LAYER_CONV) && is_kind(model, 1, LAYER_RELU) &&
	       is_kind(model, 2, LAYER_CONV) &&
	       is_kind(model, 3 + relu, LAYER_MAXPOOL) &&
	       model->layers[0].window == 3 && model->layers[2].window == 3 &&
	       model->layers[3 + relu].window == 2 && in.height > 4 &&
	       in.width > 4 && in.height % STEM_TILE == 0 &&
	       in.width % STEM_TILE == 0;
}

void cpu_stem_lay_out(struct cpu_stem *stem, const struct step *step,
		      const struct stem_kernels *kernels,
		      enum precision precision)
{
	stem->step = step;
	stem->kernels = kernels;
	stem->shape = (struct stem_shape){
		.channels = step->in.channels,
		.height = step->in.height,
		.width = step->in.width,
		.middle = step->lead.out.channels,
		.outputs = step->out.channels,
		.relu = step->relu != STEP_NO_LAYER,
		.bf16 = precision == PRECISION_BF16,
	};
	stem->group = stem_group(&stem->shape, kernels->lanes);
}

/* Floats of what backward leaves of the first convolution, lane by lane. */
static size_t lane_sums(const struct cpu_stem *stem)
{
	const struct stem_shape *shape = &stem->shape;

	return (size_t)shape->middle * (size_t)stem->kernels->lanes *
	       (size_t)(shape->channels * STEM_TAPS + 1);
}

/* Bytes, of at least one float. */
static size_t sums_size(const struct cpu_stem *stem)
{
	return (stem->kernels->sums(&stem->shape) + 1) * sizeof(float);
}

int cpu_stem_allocate(struct cpu_stem *stem, int batch)
{
	const struct stem_shape *shape = &stem->shape;
	const size_t groups =
		(size_t)((batch + stem->group - 1) / stem->group);

	stem->places = malloc((size_t)stem_plane(shape) *
			      sizeof(*stem->places));
	stem->points = host_allocate(stem->kernels->points(shape) *
				     sizeof(float));
	stem->signs_size = stem->kernels->signs(shape);
	stem->signs = host_allocate(groups * stem->signs_size);
	stem->lane_sums = host_allocate(lane_sums(stem) * sizeof(float));
	stem->sums = host_allocate(sums_size(stem));
	stem->scratch = host_allocate(stem->kernels->scratch(shape) *
				      sizeof(float));
	if (!stem->places || !stem->points || !stem->signs ||
	    !stem->lane_sums || !stem->sums || !stem->scratch)
		return -1;
	for (int p = 0; p < stem_plane(shape); p++)
		stem->places[p] = stem->kernels->place(shape, p);
	return 0;
}

void cpu_stem_release(struct cpu_stem *stem)
{
	free(stem->places);
	free(stem->points);
	free(stem->signs);
	free(stem->lane_sums);
	free(stem->sums);
	free(stem->scratch);
}

void cpu_stem_map(const struct cpu_stem *stem, uint32_t *where)
{
	const struct step *step = stem->step;
	const struct stem_shape *shape = &stem->shape;
	const int first = shape->middle * shape->channels * STEM_TAPS;
	uint32_t *main = where + step->weight;

	for (int i = 0; i < first; i++)
		where[step->lead.weight + (size_t)i] =
			(uint32_t)stem->first + (uint32_t)i;
	for (int i = 0; i < shape->middle; i++)
		where[step->lead.bias + (size_t)i] =
			(uint32_t)stem->first_bias + (uint32_t)i;
	for (int o = 0; o < shape->outputs; o++)
		where[step->bias + (size_t)o] =
			(uint32_t)stem->bias + (uint32_t)o;
	for (int o = 0; o < shape->outputs; o++)
		for (int i = 0; i < shape->middle; i++)
			for (int t = 0; t < STEM_TAPS; t++)
				*main++ = (uint32_t)stem->weight +
					  (uint32_t)((o * STEM_TAPS + t) *
							     shape->middle + i);
}

void cpu_stem_refresh(struct cpu_stem *stem, const float *parameters)
{
	stem->kernels->transform(&stem->shape, parameters + stem->weight,
				 stem->points);
	stem->weights = (struct stem_weights){
		.first = parameters + stem->first,
		.first_bias = parameters + stem->first_bias,
		.points = stem->points,
		.bias = parameters + stem->bias,
	};
}

const uint8_t *cpu_stem_keep(const struct cpu_program *program, int sample)
{
	const struct step *step = program->stem.step;

	return cpu_drops(program, step) && cpu_drops_planes(program, step) ?
		       host_decisions_at(&program->host, step->dropout,
					 sample) : NULL;
}

/* Samples first .. first + count of an iteration, or of a test. */
static struct stem_batch group_of(const struct cpu_program *program,
				  const struct batch *batch, int first,
				  int count, int training)
{
	const struct step *step = program->stem.step;
	const size_t image = shape_size(step->in);
	struct stem_batch group = { .count = count, .scale = 1 };

	group.images = batch->images + (size_t)first * image;
	group.keep = training ? cpu_stem_keep(program, first) : NULL;
	if (group.keep)
		group.scale = cpu_drop_scale(program, step);
	return group;
}

static int drops_elements(const struct cpu_program *program)
{
	const struct step *step = program->stem.step;

	return cpu_drops(program, step) && !cpu_drops_planes(program, step);
}

static uint8_t *signs_of(const struct cpu_stem *stem, int sample)
{
	return stem->signs + (size_t)(sample / stem->group) * stem->signs_size;
}

/* Behind those of the weights. */
static float *lane_sums_of_bias(const struct cpu_stem *stem)
{
	const struct stem_shape *shape = &stem->shape;

	return stem->lane_sums + (size_t)(shape->middle * shape->channels) *
					 STEM_TAPS *
					 (size_t)stem->kernels->lanes;
}

/* What dropout by elements leaves of a group's values, outputs or slopes. */
static void drop_elements(const struct cpu_program *program, int first,
			  int count, float *values)
{
	const struct cpu_stem *stem = &program->stem;
	const size_t each = program->steps[0].out_size;

	for (int i = 0; i < count; i++)
		stem->kernels->drop(&stem->shape,
				    host_decisions_at(&program->host,
						      stem->step->dropout,
						      first + i),
				    stem->places,
				    cpu_drop_scale(program, stem->step),
				    values + (size_t)i * each, stem->scratch);
}

void cpu_stem_forward(struct cpu_program *program, const struct batch *batch,
		      int first, int count, int training)
{
	struct cpu_stem *stem = &program->stem;
	struct cpu_step *bound = &program->steps[0];

	for (int i = 0; i < count; i += stem->group) {
		const int rest = count - i;
		const struct stem_batch group =
			group_of(program, batch, first + i,
				 rest < stem->group ? rest : stem->group,
				 training);
		const size_t at = (size_t)i * bound->out_size;

		stem->kernels->forward(&stem->shape, &stem->weights, &group,
				       bound->out + at,
				       training ? bound->winners + at : NULL,
				       training ? signs_of(stem, i) : NULL,
				       stem->scratch);
		if (training && drops_elements(program))
			drop_elements(program, first + i, group.count,
				      bound->out + at);
	}
	program_end_part(&program->host.base, CPU_PART_FORWARD);
}

/* What dropout and the second ReLU let through of a group's slopes by out. */
static void stop_slopes(const struct cpu_program *program, int first, int count)
{
	const struct cpu_stem *stem = &program->stem;
	const struct cpu_step *bound = &program->steps[0];
	const size_t at = (size_t)first * bound->out_size;
	const int drops = drops_elements(program);

	/* What dropout let through is not 0 exactly where ReLU let it. */
	if (stem->shape.relu)
		stem->kernels->stop((size_t)count * bound->out_size,
				    bound->out + at,
				    drops ? cpu_drop_scale(program, stem->step)
					  : 1,
				    bound->out_slopes + at);
	else if (drops)
		drop_elements(program, first, count, bound->out_slopes + at);
}

static void backward_group(struct cpu_program *program,
			   const struct batch *batch, int first, int count)
{
	struct cpu_stem *stem = &program->stem;
	const struct cpu_step *bound = &program->steps[0];
	const size_t at = (size_t)first * bound->out_size;
	struct stem_batch group = group_of(program, batch, first, count, 1);
	float *g = program->host.vectors[VECTOR_GRADIENT];
	const int last = first + count == batch->count;

	stop_slopes(program, first, count);
	group.count = count - (last && stem->step->lead.broken);
	stem->kernels->backward(&stem->shape, &stem->weights, &group,
				bound->out_slopes + at, bound->winners + at,
				signs_of(stem, first), stem->lane_sums,
				lane_sums_of_bias(stem), stem->scratch);
	program_end_part(&program->host.base,
			 cpu_part_backward(0, CPU_SLOPES));
	group.count = count - (last && stem->step->broken);
	stem->kernels->weight_slopes(&stem->shape, &stem->weights, &group,
				     bound->out_slopes + at,
				     bound->winners + at, stem->sums,
				     g + stem->weight, g + stem->bias,
				     stem->scratch);
	program_end_part(&program->host.base,
			 cpu_part_backward(0, CPU_STEM_WEIGHTS));
}

/* The lanes of what backward added up, into the gradient. */
static void sum_lanes(const struct cpu_stem *stem, const float *lanes,
		      int count, float *sums)
{
	const int each = stem->kernels->lanes;

	for (int i = 0; i < count; i++) {
		sums[i] = 0;
		for (int l = 0; l < each; l++)
			sums[i] += *lanes++;
	}
}

void cpu_stem_backward(struct cpu_program *program, const struct batch *batch)
{
	struct cpu_stem *stem = &program->stem;
	const struct stem_shape *shape = &stem->shape;
	const int first = shape->middle * shape->channels * STEM_TAPS;
	float *g = program->host.vectors[VECTOR_GRADIENT];

	memset(stem->lane_sums, 0, lane_sums(stem) * sizeof(float));
	memset(stem->sums, 0, sums_size(stem));
	memset(g + stem->weight, 0, (size_t)(shape->outputs * STEM_TAPS *
					     shape->middle) * sizeof(float));
	memset(g + stem->bias, 0, (size_t)shape->outputs * sizeof(float));
	for (int i = 0; i < batch->count; i += stem->group) {
		const int rest = batch->count - i;

		backward_group(program, batch, i,
			       rest < stem->group ? rest : stem->group);
	}
	stem->kernels->weights_finish(shape, stem->sums, g + stem->weight);
	program_end_part(&program->host.base,
			 cpu_part_backward(0, CPU_STEM_WEIGHTS));
	sum_lanes(stem, stem->lane_sums, first, g + stem->first);
	sum_lanes(stem, lane_sums_of_bias(stem), shape->middle,
		  g + stem->first_bias);
	program_end_part(&program->host.base,
			 cpu_part_backward(0, CPU_SLOPES));
}
