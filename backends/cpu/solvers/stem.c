/* The stem of a program: layout of its parameters and activations. */
#include "backends/cpu/solvers/stem.h"

#include <stdlib.h>
#include <string.h>

#include "backends/cpu/profile.h"

/* The stem's rows, the first ones. */
enum { LEAD, LEAD_RELU, MAIN };

static int is_conv(const struct node *node)
{
	const struct layer *layer = node->layer;

	return layer->kind == LAYER_CONV && layer->window == 3 &&
	       layer_stride(layer) == 1 && !layer->pad && !layer->no_bias;
}

static int is_pool(const struct node *node)
{
	const struct layer *layer = node->layer;

	return layer->kind == LAYER_MAXPOOL && layer->window == 2 &&
	       layer_stride(layer) == 2 && !layer->pad;
}

/* The first rows, each read by the next alone; of whole tiles. */
static int takes(const struct graph *graph, int first,
		 const struct program_options *options, const char **why)
{
	static const enum layer_kind kinds[] = {
		LAYER_CONV, LAYER_RELU, LAYER_CONV,
		LAYER_RELU, LAYER_MAXPOOL, LAYER_DROPOUT
	};
	const struct shape in = graph->model->input;
	const struct node *nodes = graph->nodes;
	int length, relu;

	if (first || nodes[first].layer->kind != LAYER_CONV)
		return 0;
	if (options->algorithm != ALGORITHM_FAST)
		return plan_decline(why, "--algorithm is dense");
	if (precision_rounds(options->precision))
		return plan_decline(why, "--precision rounds what is stored");
	if (in.height <= 4 || in.width <= 4 || in.height % STEM_TILE ||
	    in.width % STEM_TILE)
		return plan_decline(why, "tiles of 4x4 do not fit the image");
	length = plan_chain(graph, 0, kinds, sizeof(kinds) / sizeof(kinds[0]));
	relu = length > MAIN + 2 && nodes[MAIN + 1].layer->kind == LAYER_RELU;
	if (length > MAIN + 1 + relu && is_conv(&nodes[LEAD]) &&
	    nodes[LEAD_RELU].layer->kind == LAYER_RELU &&
	    is_conv(&nodes[MAIN]) && is_pool(&nodes[MAIN + 1 + relu]))
		return length;
	return plan_decline(why, "not two 3x3 convolutions and a 2x2 pooling, "
				 "without padding");
}

/* Returns 1 if one layer alone reads the planes, in the kernels' layout, and
 * skips dropped ones. */
static int is_handed_on(const struct cpu_program *program,
			const struct cpu_step *step)
{
	const struct plan *plan = &program->host.plan;

	return cpu_node(program, step->last)->readers == 1 &&
	       plan->steps[1].solver == &cpu_sparse_linear_solver.base &&
	       cpu_node(program, plan->steps[1].first)->source == step->last;
}

static void lay_out_planes(struct cpu_program *program, struct stem_step *stem)
{
	struct cpu_value *planes = &stem->planes;

	*planes = cpu_value_images(cpu_node(program, stem->step.last)->out);
	planes->pixel_order = stem->pixel_order;
	if (cpu_drops(program, stem->dropout) &&
	    cpu_drops_planes(program, stem->dropout))
		planes->dropped_by = stem->dropout;
	stem->is_copied = !is_handed_on(program, &stem->step);
	if (!stem->is_copied)
		*stem->step.out = *planes;
}

static int lead_weights(const struct stem_shape *shape)
{
	return shape->middle * shape->channels * STEM_TAPS;
}

static int main_weights(const struct stem_shape *shape)
{
	return shape->outputs * STEM_TAPS * shape->middle;
}

static int lay_out(struct cpu_program *program, struct cpu_step *step)
{
	struct stem_step *stem = (struct stem_step *)step;
	const struct node *main = cpu_node(program, MAIN);
	struct stem_shape *shape = &stem->shape;

	stem->kernels = program->kernels->stem;
	stem->relu = main[1].layer->kind == LAYER_RELU ? MAIN + 1 : CPU_NO_ROW;
	stem->pool = cpu_row_of(program, step, LAYER_MAXPOOL);
	stem->dropout = cpu_row_of(program, step, LAYER_DROPOUT);
	*shape = (struct stem_shape){
		.channels = cpu_node(program, LEAD)->in.channels,
		.height = cpu_node(program, LEAD)->in.height,
		.width = cpu_node(program, LEAD)->in.width,
		.middle = main->in.channels,
		.outputs = main->out.channels,
		.relu = stem->relu != CPU_NO_ROW,
		.bf16 = cpu_multiplies_tiles(program),
	};
	/* The first convolution's products are of fp32. */
	if (shape->bf16)
		cpu_set_rounding(program, MAIN, ROUNDS_FACTORS);
	stem->group = stem_group(shape, stem->kernels->lanes);
	stem->pixel_order = malloc((size_t)stem_plane(shape) *
				   sizeof(*stem->pixel_order));
	if (!stem->pixel_order)
		return -1;
	for (int p = 0; p < stem_plane(shape); p++)
		stem->pixel_order[p] = stem->kernels->place(shape, p);
	lay_out_planes(program, stem);
	step->length = cpu_whole_lanes(lead_weights(shape)) +
		       cpu_whole_lanes(shape->middle) +
		       cpu_whole_lanes(main_weights(shape)) +
		       cpu_whole_lanes(shape->outputs);
	return 0;
}

static void place(struct cpu_program *program, struct cpu_step *step)
{
	struct stem_step *stem = (struct stem_step *)step;
	const struct stem_shape *shape = &stem->shape;

	(void)program;
	stem->first = step->at;
	stem->first_bias = stem->first + cpu_whole_lanes(lead_weights(shape));
	stem->weight = stem->first_bias + cpu_whole_lanes(shape->middle);
	stem->bias = stem->weight + cpu_whole_lanes(main_weights(shape));
}

/* Returns the floats of backward's sums of the first convolution, per lane. */
static size_t lane_sums(const struct stem_step *stem)
{
	const struct stem_shape *shape = &stem->shape;

	return (size_t)shape->middle * (size_t)stem->kernels->lanes *
	       (size_t)(shape->channels * STEM_TAPS + 1);
}

/* Returns bytes, of at least one float. */
static size_t sums_size(const struct stem_step *stem)
{
	return (stem->kernels->sums(&stem->shape) + 1) * sizeof(float);
}

static int allocate_planes(struct stem_step *stem, size_t batch, int trains)
{
	struct cpu_value *planes = &stem->planes;
	const size_t bytes = batch * planes->size * sizeof(float);

	planes->out = stem->is_copied ? host_allocate(bytes) :
					stem->step.out->out;
	if (!trains)
		return planes->out ? 0 : -1;
	planes->gradient = stem->is_copied ? host_allocate(bytes) :
					     stem->step.out->gradient;
	stem->winners = host_allocate(batch * planes->size);
	return planes->out && planes->gradient && stem->winners ? 0 : -1;
}

static int allocate(struct cpu_program *program, struct cpu_step *step)
{
	struct stem_step *stem = (struct stem_step *)step;
	const struct stem_shape *shape = &stem->shape;
	const int batch = program->host.base.options.batch;
	const size_t groups =
		(size_t)((batch + stem->group - 1) / stem->group);

	stem->points = host_allocate(stem->kernels->points(shape) *
				     sizeof(float));
	stem->signs_size = stem->kernels->signs(shape);
	stem->signs = host_allocate(groups * stem->signs_size);
	stem->lane_sums = host_allocate(lane_sums(stem) * sizeof(float));
	stem->sums = host_allocate(sums_size(stem));
	stem->scratch = host_allocate(stem->kernels->scratch(shape) *
				      sizeof(float));
	return stem->points && stem->signs && stem->lane_sums && stem->sums &&
			       stem->scratch &&
			       !allocate_planes(stem, (size_t)batch,
						!program->host.base.options
							 .infers) ?
		       0 : -1;
}

static void release(struct cpu_step *step)
{
	struct stem_step *stem = (struct stem_step *)step;

	free(stem->pixel_order);
	free(stem->points);
	free(stem->signs);
	free(stem->lane_sums);
	free(stem->sums);
	free(stem->scratch);
	free(stem->winners);
	if (stem->is_copied) {
		free(stem->planes.out);
		free(stem->planes.gradient);
	}
}

/* Copies values that are contiguous in both orders. */
static void copy_run(float *own, float *flat, int count, int to_own)
{
	if (to_own)
		memcpy(own, flat, (size_t)count * sizeof(*own));
	else
		memcpy(flat, own, (size_t)count * sizeof(*own));
}

static void copy(const struct cpu_program *program, const struct cpu_step *step,
		 float *own, float *flat, int to_own)
{
	const struct stem_step *stem = (const struct stem_step *)step;
	const struct stem_shape *shape = &stem->shape;
	const struct node *lead = cpu_node(program, LEAD);
	const struct node *main = cpu_node(program, MAIN);
	const int channels = shape->middle;

	copy_run(own + stem->first, flat + lead->weight,
		 lead_weights(shape), to_own);
	copy_run(own + stem->first_bias, flat + lead->bias, channels, to_own);
	copy_run(own + stem->bias, flat + main->bias, shape->outputs, to_own);
	own += stem->weight;
	flat += main->weight;
	for (int o = 0; o < shape->outputs; o++)
		for (int i = 0; i < channels; i++)
			for (int t = 0; t < STEM_TAPS; t++, flat++) {
				float *at = own + (o * STEM_TAPS + t) *
							  channels + i;

				if (to_own)
					*at = *flat;
				else
					*flat = *at;
			}
}

static void refresh(struct cpu_program *program, struct cpu_step *step,
		    int training)
{
	struct stem_step *stem = (struct stem_step *)step;
	const float *p = program->host.vectors[VECTOR_PARAMETERS];

	(void)training;
	stem->kernels->transform(&stem->shape, p + stem->weight, stem->points);
	stem->weights = (struct stem_weights){
		.first = p + stem->first,
		.first_bias = p + stem->first_bias,
		.points = stem->points,
		.bias = p + stem->bias,
	};
}

/* Samples first .. first + count of a pass. */
static struct stem_batch group_of(const struct cpu_program *program,
				  const struct stem_step *stem,
				  const struct cpu_pass *pass, int first,
				  int count)
{
	struct stem_batch group = { .count = count, .scale = 1 };

	group.images = program->images.out +
		       (size_t)first * program->images.size;
	group.keep = pass->training ? stem_keep(program, stem, first) : NULL;
	if (group.keep)
		group.scale = cpu_drop_scale(program, stem->dropout);
	return group;
}

static int drops_elements(const struct cpu_program *program,
			  const struct stem_step *stem)
{
	return cpu_drops(program, stem->dropout) &&
	       !cpu_drops_planes(program, stem->dropout);
}

static uint8_t *signs_of(const struct stem_step *stem, int sample)
{
	return stem->signs + (size_t)(sample / stem->group) * stem->signs_size;
}

/* The biases follow the weights. */
static float *lane_sums_of_bias(const struct stem_step *stem)
{
	const struct stem_shape *shape = &stem->shape;

	return stem->lane_sums + (size_t)(shape->middle * shape->channels) *
					 STEM_TAPS *
					 (size_t)stem->kernels->lanes;
}

/* Applies dropout by elements to a group's values, outputs or gradient. */
static void drop_elements(const struct cpu_program *program,
			  const struct stem_step *stem, int first, int count,
			  float *values)
{
	for (int i = 0; i < count; i++)
		stem->kernels->drop(&stem->shape,
				    host_decisions_at(&program->host,
						      stem->dropout, first + i),
				    stem->pixel_order,
				    cpu_drop_scale(program, stem->dropout),
				    values + (size_t)i * stem->planes.size,
				    stem->scratch);
}

/* For readers of the common layout; 0 where planes are dropped. */
static void copy_out(const struct cpu_program *program,
		     const struct stem_step *stem, const struct cpu_pass *pass)
{
	const size_t plane = (size_t)stem_plane(&stem->shape);

	for (int i = 0; pass->training && i < pass->count; i++) {
		const uint8_t *keep = stem_keep(program, stem, i);
		float *planes = stem->planes.out +
				(size_t)i * stem->planes.size;

		for (int o = 0; keep && o < stem->shape.outputs; o++)
			if (!keep[o])
				memset(planes + (size_t)o * plane, 0,
				       plane * sizeof(*planes));
	}
	cpu_value_copy(&stem->planes, stem->planes.out, pass->count,
		       stem->step.out, stem->step.out->out);
}

static void forward(struct cpu_program *program, struct cpu_step *step,
		    const struct cpu_pass *pass)
{
	struct stem_step *stem = (struct stem_step *)step;

	for (int i = 0; i < pass->count; i += stem->group) {
		const int rest = pass->count - i;
		const struct stem_batch group =
			group_of(program, stem, pass, i,
				 rest < stem->group ? rest : stem->group);
		const size_t at = (size_t)i * stem->planes.size;
		float *out = stem->planes.out + at;

		stem->kernels->forward(
			&stem->shape, &stem->weights, &group, out,
			pass->training ? stem->winners + at : NULL,
			pass->training ? signs_of(stem, i) : NULL,
			stem->scratch);
		if (pass->training && drops_elements(program, stem))
			drop_elements(program, stem, i, group.count, out);
	}
	if (stem->is_copied)
		copy_out(program, stem, pass);
}

/* Stops a group's gradient where dropout or the second ReLU did. */
static void stop_gradient(const struct cpu_program *program,
			  const struct stem_step *stem, int first, int count)
{
	const size_t at = (size_t)first * stem->planes.size;
	const int drops = drops_elements(program, stem);

	/* A kept output is not 0 exactly where ReLU passed it. */
	if (stem->shape.relu)
		stem->kernels->stop((size_t)count * stem->planes.size,
				    stem->planes.out + at,
				    drops ? cpu_drop_scale(program,
							   stem->dropout) : 1,
				    stem->planes.gradient + at);
	else if (drops)
		drop_elements(program, stem, first, count,
			      stem->planes.gradient + at);
}

static void backward_group(struct cpu_program *program, struct stem_step *stem,
			   const struct cpu_pass *pass, int first, int count)
{
	const size_t at = (size_t)first * stem->planes.size;
	const float *gradient = stem->planes.gradient + at;
	const uint8_t *winners = stem->winners + at;
	struct stem_batch group = group_of(program, stem, pass, first, count);
	float *g = program->host.vectors[VECTOR_GRADIENT];
	const int last = first + count == pass->count;

	stop_gradient(program, stem, first, count);
	group.count = count - (last && cpu_node(program, LEAD)->broken);
	stem->kernels->backward(&stem->shape, &stem->weights, &group, gradient,
				winners, signs_of(stem, first),
				stem->lane_sums, lane_sums_of_bias(stem),
				stem->scratch);
	program_end_part(&program->host.base,
			 cpu_part_backward(stem->step.index, CPU_BACKWARD_ALL));
	group.count = count - (last && cpu_node(program, MAIN)->broken);
	stem->kernels->weight_gradient(&stem->shape, &stem->weights, &group,
				       gradient, winners, stem->sums,
				       g + stem->weight, g + stem->bias,
				       stem->scratch);
	program_end_part(&program->host.base,
			 cpu_part_backward(stem->step.index, CPU_STEM_WEIGHTS));
}

/* Adds up the lanes of backward's sums, into the gradient. */
static void sum_lanes(const struct stem_step *stem, const float *lanes,
		      int count, float *sums)
{
	const int each = stem->kernels->lanes;

	for (int i = 0; i < count; i++) {
		sums[i] = 0;
		for (int l = 0; l < each; l++)
			sums[i] += *lanes++;
	}
}

static void backward(struct cpu_program *program, struct cpu_step *step,
		     const struct cpu_pass *pass)
{
	struct stem_step *stem = (struct stem_step *)step;
	const struct stem_shape *shape = &stem->shape;
	float *g = program->host.vectors[VECTOR_GRADIENT];

	if (stem->is_copied)
		cpu_value_copy(step->out, step->out->gradient, pass->count,
			       &stem->planes, stem->planes.gradient);
	memset(stem->lane_sums, 0, lane_sums(stem) * sizeof(float));
	memset(stem->sums, 0, sums_size(stem));
	for (int i = 0; i < pass->count; i += stem->group) {
		const int rest = pass->count - i;

		backward_group(program, stem, pass, i,
			       rest < stem->group ? rest : stem->group);
	}
	stem->kernels->weights_finish(shape, stem->sums, g + stem->weight);
	program_end_part(&program->host.base,
			 cpu_part_backward(step->index, CPU_STEM_WEIGHTS));
	sum_lanes(stem, stem->lane_sums, lead_weights(shape),
		  g + stem->first);
	sum_lanes(stem, lane_sums_of_bias(stem), shape->middle,
		  g + stem->first_bias);
}

const struct cpu_solver cpu_stem_solver = {
	.base = { .name = "conv+relu+conv+[relu+]maxpool", .takes = takes },
	.size = sizeof(struct stem_step),
	.work_reads_values = 1,
	.lay_out = lay_out,
	.place = place,
	.allocate = allocate,
	.release = release,
	.copy = copy,
	.refresh = refresh,
	.forward = forward,
	.backward = backward,
	.decide = stem_decide,
	.work = stem_work,
};
