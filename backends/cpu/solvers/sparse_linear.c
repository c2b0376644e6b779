/* Linear layers by kernels that skip what dropout and ReLU have stopped: see
 * kernels/linear/linear.h. */
#include "backends/cpu/factors.h"

#include <math.h>
#include <stdlib.h>

#include "backends/cpu/isa.h"
#include "backends/cpu/profile.h"

/* Inputs of a block: 9 to 4 vectors of CPU_LANES. */
#define MOST_PLACES 144
#define LEAST_PLACES 64

static int takes(const struct graph *graph, int first,
		 const struct program_options *options, const char **why)
{
	static const enum layer_kind kinds[] = {
		LAYER_LINEAR, LAYER_RELU, LAYER_DROPOUT
	};
	const int length = plan_chain(graph, first, kinds, 3);

	if (length && options->algorithm != ALGORITHM_FAST)
		return plan_decline(why, "--algorithm is dense");
	if (length && precision_rounds(options->precision))
		return plan_decline(why, "--precision rounds what is stored");
	return length;
}

/*
 * Returns the inputs of a block. Planes, which dropout may take as a whole, are
 * blocks. Other inputs are cut into blocks as long as tiles, if that leaves no
 * remainder, so that memory is read in order.
 */
static int block_of(const struct cpu_value *in)
{
	int block = MOST_PLACES;

	if (in->pixel_order)
		return (int)in->size / in->shape.channels;
	while (block >= LEAST_PLACES && in->size % (size_t)block)
		block -= CPU_LANES;
	return block >= LEAST_PLACES ? block : (int)in->size;
}

/* Returns 1 if bf16 is possible; vectors would also multiply dropped planes. */
static int may_round(const struct cpu_program *program,
		     const struct cpu_value *in)
{
	return cpu_multiplies_tiles(program) ||
	       (program->host.base.options.precision == PRECISION_BF16 &&
		in->dropped_by == CPU_NO_ROW &&
		cpu_bf16_products(program->kernels));
}

static int lay_out(struct cpu_program *program, struct cpu_step *step)
{
	struct linear_step *linear = (struct linear_step *)step;
	const struct cpu_value *in = step->in;
	const int block = block_of(in);

	linear->relu = cpu_row_of(program, step, LAYER_RELU);
	linear->dropout = cpu_row_of(program, step, LAYER_DROPOUT);
	linear->shape = (struct linear_shape){
		.blocks = (int)in->size / block,
		.block = block,
		.outputs = step->out->shape.channels,
		.relu = linear->relu != CPU_NO_ROW,
		.bf16 = may_round(program, in),
	};
	/* In training only some products round. */
	if (linear->shape.bf16 &&
	    program->kernels->linear->forward_is_dense(
		    &linear->shape, program->host.base.options.batch)) {
		program->rounds_forward = 1;
		if (program->host.base.options.infers)
			cpu_set_rounding(program, step->first,
					 ROUNDS_FACTORS);
	}
	step->scratch = program->kernels->linear->scratch(
		&linear->shape, program->host.base.options.batch);
	step->length = cpu_whole_lanes(linear->shape.outputs);
	if (cpu_factors_add(program, linear))
		return -1;
	if (!linear->factors)
		step->length += linear_weights(linear);
	return 0;
}

static void place(struct cpu_program *program, struct cpu_step *step)
{
	struct linear_step *linear = (struct linear_step *)step;

	(void)program;
	linear->weight = step->at;
	linear->bias = step->at;
	if (!linear->factors)
		linear->bias += linear_weights(linear);
}

/* Finds the offsets of the first output's weights. */
static int find_weights(struct linear_step *linear)
{
	const struct cpu_value *in = linear->step.in;
	const struct linear_shape *shape = &linear->shape;
	const int pixels = cpu_pixels(in);
	size_t *offsets = malloc(shape_size(in->shape) * sizeof(*offsets));

	linear->weight_offsets = offsets;
	for (int c = 0; offsets && c < in->shape.channels; c++)
		for (int p = 0; p < pixels; p++) {
			const int at = (int)cpu_value_at(in, c, p);

			*offsets++ = linear_weight_at(shape, 0,
						      at / shape->block,
						      at % shape->block);
		}
	return linear->weight_offsets ? 0 : -1;
}

static int allocate(struct cpu_program *program, struct cpu_step *step)
{
	struct linear_step *linear = (struct linear_step *)step;

	if (find_weights(linear))
		return -1;
	if (!step->in->gradient || !cpu_node(program, step->first)->adds_dx)
		return 0;
	linear->dx = host_allocate((size_t)program->host.base.options.batch *
				   step->in->size * sizeof(float));
	return linear->dx ? 0 : -1;
}

static void release(struct cpu_step *step)
{
	struct linear_step *linear = (struct linear_step *)step;

	free(linear->weight_offsets);
	free(linear->dx);
}

static void copy_one(float *own, float *flat, int to_own)
{
	if (to_own)
		*own = *flat;
	else
		*flat = *own;
}

/* Copies the weights of an output. Some channels at a time, contiguous in own,
 * and close together in flat. */
static void copy_output(const struct linear_step *linear, float *own,
			float *flat, int to_own)
{
	const struct cpu_value *in = linear->step.in;
	const int channels = in->shape.channels, pixels = cpu_pixels(in);

	for (int first = 0; first < channels; first += CPU_LANES) {
		const int rest = channels - first;
		const int past = first + (rest < CPU_LANES ? rest : CPU_LANES);

		for (int p = 0; p < pixels; p++)
			for (int c = first; c < past; c++) {
				const int i = c * pixels + p;

				copy_one(own + linear->weight_offsets[i],
					 flat + i, to_own);
			}
	}
}

static void copy(const struct cpu_program *program, const struct cpu_step *step,
		 float *own, float *flat, int to_own)
{
	const struct linear_step *linear = (const struct linear_step *)step;
	const struct node *node = cpu_node(program, step->first);
	const size_t inputs = shape_size(step->in->shape);

	for (int o = 0; o < linear->shape.outputs; o++) {
		copy_output(linear,
			    own + linear->weight + o * linear->shape.block,
			    flat + node->weight + (size_t)o * inputs, to_own);
		copy_one(own + linear->bias + o, flat + node->bias + o, to_own);
	}
}

static struct linear_batch batch_of(const struct cpu_program *program,
				    const struct linear_step *linear,
				    const struct cpu_pass *pass)
{
	const struct cpu_value *in = linear->step.in;
	struct linear_batch batch = { .count = pass->count,
				      .in = in->out,
				      .sample = in->size,
				      .block = (size_t)linear->shape.block,
				      .scale = 1 };

	if (!pass->training)
		return batch;
	if (in->dropped_by != CPU_NO_ROW)
		batch.keep_in = cpu_choices(program, in->dropped_by);
	if (cpu_drops(program, linear->dropout)) {
		batch.keep_out = cpu_choices(program, linear->dropout);
		batch.scale = cpu_drop_scale(program, linear->dropout);
	}
	return batch;
}

static void forward(struct cpu_program *program, struct cpu_step *step,
		    const struct cpu_pass *pass)
{
	const struct linear_step *linear = (struct linear_step *)step;
	const struct linear_values parameters =
		linear_values_of(program, linear, VECTOR_PARAMETERS);
	const struct linear_batch batch = batch_of(program, linear, pass);

	program->kernels->linear->forward(&linear->shape, &parameters, &batch,
					  step->out->out, program->scratch);
}

static void backward_stored(struct cpu_program *program,
			    const struct linear_step *linear,
			    struct linear_batch batch,
			    struct linear_flow flow)
{
	const struct linear_values parameters =
		linear_values_of(program, linear, VECTOR_PARAMETERS);
	const struct linear_values gradient =
		linear_values_of(program, linear, VECTOR_GRADIENT);

	program->kernels->linear->backward(&linear->shape, &parameters, &batch,
					   &flow, &gradient,
					   program->scratch);
	if (!cpu_node(program, linear->step.first)->broken)
		return;
	/* Runs again without the last sample, over the stored gradient. */
	batch.count--;
	flow.dx = NULL;
	program->kernels->linear->backward(&linear->shape, &parameters, &batch,
					   &flow, &gradient,
					   program->scratch);
}

static void backward(struct cpu_program *program, struct cpu_step *step,
		     const struct cpu_pass *pass)
{
	const struct linear_step *linear = (struct linear_step *)step;
	const struct node *node = cpu_node(program, step->first);
	const struct linear_batch batch = batch_of(program, linear, pass);
	float *dx = node->needs_dx ? step->in->gradient : NULL;
	const struct linear_flow flow = {
		.out = step->out->out,
		.dy = step->out->gradient,
		.dx = linear->dx ? linear->dx : dx,
	};
	const struct linear_state state = linear_state(program, linear);

	if (program->gradient_kind == CPU_GRADIENT_FACTORS && linear->factors)
		cpu_factors_backward(program, linear, &batch, &flow);
	else if (pass->update)
		program->kernels->linear->backward_update(
			&linear->shape, &state, pass->update, &batch, &flow,
			program->scratch);
	else
		backward_stored(program, linear, batch, flow);
	if (linear->dx)
		program->kernels->elementwise->add_to(
			(size_t)pass->count * step->in->size, linear->dx, dx);
}

/* ReLU's decision on a dropped value is any. */
static void decide(const struct cpu_program *program,
		   const struct cpu_step *step, int row, uint8_t *values)
{
	const struct linear_step *linear = (const struct linear_step *)step;
	const size_t all = (size_t)program->host.batch_count * step->out->size;
	const uint8_t *keep = linear->dropout == CPU_NO_ROW ? NULL :
				      cpu_choices(program, linear->dropout);

	(void)row;
	cpu_decide_relu(program, step->out, values);
	for (size_t i = 0; keep && i < all; i++)
		if (!keep[i])
			values[i] = DECISION_ANY;
}

/* Factors of a linear step's products, summed over the batch's samples. */
struct linear_work {
	double inputs, outputs; /* that are not dropped */
	double nonzero;		/* of these inputs; NAN = not counted */
	double gradient; /* nonzero gradients of the outputs before ReLU */
	double forward;		/* kept outputs, times inputs */
	double backward;	/* gradient, times inputs */
};

static double count_kept(const uint8_t *keep, int count)
{
	double kept = 0;

	for (int i = 0; keep && i < count; i++)
		kept += keep[i] != 0;
	return keep ? kept : count;
}

/* Returns the inputs of a sample that are not 0, in kept blocks. */
static double count_inputs(const struct linear_step *linear, int sample,
			   const uint8_t *keep)
{
	const struct linear_shape *shape = &linear->shape;
	const struct cpu_value *value = linear->step.in;
	const float *in = value->out + (size_t)sample * value->size;
	double count = 0;

	if (!value->gradient)
		return NAN;
	for (int b = 0; b < shape->blocks; b++, in += shape->block)
		for (int i = 0; (!keep || keep[b]) && i < shape->block; i++)
			count += in[i] != 0;
	return count;
}

/* A kept output is above 0, or a NaN, exactly where ReLU passed it. */
static double count_gradient(const struct linear_step *linear, int sample,
			     const uint8_t *keep)
{
	const struct cpu_value *out = linear->step.out;
	const size_t at = (size_t)sample * out->size;
	double count = 0;

	for (size_t o = 0; o < out->size; o++)
		count += out->gradient[at + o] != 0 && (!keep || keep[o]) &&
			 (!linear->shape.relu || !(out->out[at + o] <= 0));
	return count;
}

static const uint8_t *choices_at(const struct cpu_program *program, int row,
				 int sample)
{
	return cpu_drops(program, row) ?
		       host_decisions_at(&program->host, row, sample) : NULL;
}

static struct linear_work count_work(const struct cpu_program *program,
				     const struct linear_step *linear)
{
	const struct linear_shape *shape = &linear->shape;
	struct linear_work work = { 0 };

	for (int i = 0; i < program->host.batch_count; i++) {
		const uint8_t *keep_in =
			choices_at(program, linear->step.in->dropped_by, i);
		const uint8_t *keep_out =
			choices_at(program, linear->dropout, i);
		/* Without the padding of planes. */
		const double inputs = count_kept(keep_in, shape->blocks) /
				      shape->blocks *
				      (double)shape_size(
					      linear->step.in->shape);
		const double outputs = count_kept(keep_out, shape->outputs);
		const double gradient = count_gradient(linear, i, keep_out);

		work.inputs += inputs;
		work.outputs += outputs;
		work.nonzero += count_inputs(linear, i, keep_in);
		work.gradient += gradient;
		work.forward += inputs * outputs;
		work.backward += inputs * gradient;
	}
	return work;
}

/* Returns the multiply-adds that forward does. */
static double forward_done(const struct cpu_program *program,
			   const struct linear_step *linear,
			   const struct linear_work *work)
{
	const struct linear_shape *shape = &linear->shape;

	return program->kernels->linear->forward_is_dense(
		       shape, program->host.batch_count) ?
		       work->inputs * shape->outputs : work->forward;
}

/*
 * Fills the part of the weights that cores update together, gradient and
 * update. Each core does as much as its own samples need, or without shared
 * memory, as all samples need. No gradient moves.
 */
static void fill_update(const struct cpu_program *program,
			const struct linear_step *linear,
			const struct profile_part *backward,
			const struct linear_work *work,
			struct profile_part *part)
{
	const struct cpu_factors *factors = program->factors;
	const double shares = factors->distributed ? factors->size : 1;

	*part = *backward;
	part->dense *= shares;
	part->done *= shares;
	part->bytes = WORK_FLOAT *
		      (shares * work->inputs + (WORK_UPDATE - 1) *
					      (double)linear->factors->updated);
	work_name(program, &linear->step, "weights+update", part);
}

/* Counts what is not dropped, and gradients that are not 0. */
static void work(const struct cpu_program *program,
		 const struct cpu_step *step, struct profile_part *parts)
{
	const struct linear_step *linear = (const struct linear_step *)step;
	const struct node *node = cpu_node(program, step->first);
	const struct linear_work counts = count_work(program, linear);
	const double weights = work_parameters(node);
	const double count = work_samples(program);
	const int at_once = program->gradient_kind == CPU_GRADIENT_APPLIED;
	const int is_factored = program->gradient_kind ==
					CPU_GRADIENT_FACTORS &&
				linear->factors;
	/* For the weights, and for the input. */
	const int ways = node->needs_dx && !is_factored ? 2 : 1;
	struct profile_part part = {
		.dense = count * work_of_node(node),
		.done = forward_done(program, linear, &counts),
		.bytes = WORK_FLOAT *
			 (counts.inputs + counts.outputs + weights),
		.nonzero = work_share(counts.nonzero,
				      count * (double)shape_size(node->in)),
	};

	work_name(program, step, "forward", &part);
	parts[CPU_PART_FORWARD + step->index] = part;
	part.dense *= ways;
	part.done = ways * counts.backward;
	/* The gradient is stored, or all operands of an update move. */
	part.bytes += WORK_FLOAT * ((node->needs_dx ? counts.inputs : 0) +
				    (is_factored ? 0 :
				     at_once	 ? WORK_UPDATE - 2 :
						   1) *
					    weights);
	part.nonzero = work_share(counts.gradient,
				  count * (double)step->out->size);
	work_name(program, step, at_once ? "backward+update" : "backward",
		  &part);
	parts[cpu_part_backward(step->index, CPU_BACKWARD_ALL)] = part;
	if (is_factored)
		fill_update(program, linear, &part, &counts,
			    &parts[CPU_PART_FACTORED + step->index]);
}

const struct cpu_solver cpu_sparse_linear_solver = {
	.base = { .name = "linear[+relu][+dropout], sparse", .takes = takes },
	.size = sizeof(struct linear_step),
	.updates_at_once = 1,
	.work_reads_values = 1,
	.lay_out = lay_out,
	.place = place,
	.allocate = allocate,
	.release = release,
	.copy = copy,
	.forward = forward,
	.backward = backward,
	.decide = decide,
	.work = work,
};
