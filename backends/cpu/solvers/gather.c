/*
 * A convolution of any window, stride and padding, and a linear layer, with
 * what is behind it: by gathered products (gather.h), which leave nothing out.
 * A linear layer is a convolution of one pixel, whose channels are all values
 * of its input.
 */
#include "backends/cpu/solvers/gather.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "backends/cpu/isa.h"
#include "backends/cpu/profile.h"

#define LEAST_ROWS 128
#define LEAST_OUTPUTS 16
#define LEAST_RUN 8 /* values of a row of the window */

int gather_takes_conv(const struct graph *graph, int first,
		      const struct program_options *options, const char **why)
{
	static const enum layer_kind trained[] = { LAYER_CONV, LAYER_RELU };
	static const enum layer_kind inferred[] = { LAYER_CONV, LAYER_ADD,
						    LAYER_RELU };

	(void)why;
	return options->infers && !precision_rounds(options->precision) ?
		       plan_chain(graph, first, inferred, 3) :
		       plan_chain(graph, first, trained, 2);
}

static int takes_linear(const struct graph *graph, int first,
			const struct program_options *options, const char **why)
{
	static const enum layer_kind kinds[] = { LAYER_LINEAR, LAYER_RELU };

	(void)options;
	(void)why;
	return plan_chain(graph, first, kinds, 2);
}

/* Packing factors in pairs costs as much as it saves where few rows share a
 * weight, or few outputs a row; and, without AMX, where what is packed at once
 * is short. */
static int pays_in_bf16(const struct cpu_program *program,
			const struct node *node)
{
	const struct program_options *options = &program->host.base.options;

	if (options->precision != PRECISION_BF16 || program->rounds_all)
		return program->rounds_all;
	return options->batch * node->out.height * node->out.width >=
		       LEAST_ROWS &&
	       node->layer->outputs >= LEAST_OUTPUTS &&
	       (cpu_multiplies_tiles(program) ||
		node->layer->window * node->in.channels >= LEAST_RUN);
}

/* Factors of a step that are rounded. */
static void round_factors(struct cpu_program *program,
			  struct gather_step *gather)
{
	gather->step.scratch += gather_conv_rounded(&gather->conv);
	if (cpu_packed_products(program)) {
		gather->step.scratch = gather_rounded_rows(&gather->conv
								    .forward);
		gather->step.own += gather_rounded(&gather->conv.forward);
		gather->step.can_round = 1;
		gather->step.in->rounding += !gather->conv.joined;
	}
	cpu_tell_rounding(program, gather->step.first, ROUNDS_FACTORS);
}

static enum gather_dx dx_of(const struct cpu_program *program,
			    const struct cpu_step *step, enum gather_dx dx)
{
	return cpu_node(program, step->first)->wants_dx &&
	       !program->host.base.options.infers ? dx : GATHER_DX_NONE;
}

static int is_copied(const struct gather_conv *conv)
{
	return conv->joined || conv->folded_window;
}

void gather_lay_out_parameters(struct cpu_program *program,
			       struct gather_step *gather)
{
	struct cpu_step *step = &gather->step;

	gather->relu = cpu_row_of(program, step, LAYER_RELU);
	step->length = gather_weights(&gather->conv.forward) +
		       (size_t)gather_padded(&gather->conv.forward);
	step->scratch = gather->conv.transposed * sizeof(float) +
			GATHER_SCRATCH;
	step->own = gather_conv_tables(&gather->conv);
	if (is_copied(&gather->conv))
		step->own += (size_t)program->host.base.options.batch *
			     gather_conv_joined_size(&gather->conv) *
			     sizeof(float);
}

/* Few channels are joined, and whatever is not channels-last already; but not
 * with more padding than a place can be counted in. */
static int joins(const struct cpu_step *step, const struct node *node)
{
	const double around = 2. * node->layer->pad;
	const double size = (node->in.height + around) *
			    (node->in.width + around) * node->in.channels;

	return size <= INT32_MAX &&
	       (!cpu_is_common(step->in) ||
		(node->layer->window > 1 && node->in.channels < CPU_LANES));
}

int gather_lay_out_conv(struct cpu_program *program, struct cpu_step *step,
			enum gather_dx dx)
{
	struct gather_step *gather = (struct gather_step *)step;
	const struct node *node = cpu_node(program, step->first);
	const int add = cpu_row_of(program, step, LAYER_ADD);
	const int joined = joins(step, node);

	if (!joined)
		step->in = cpu_common_value(program, node->source);
	if (gather_conv_open(&gather->conv, node->layer, node->in,
			     step->in->by_pixel, step->out->by_pixel, joined,
			     dx_of(program, step, dx)))
		return -1;
	gather_lay_out_parameters(program, gather);
	if (add != CPU_NO_ROW)
		gather->other = cpu_common_value(
			program, cpu_node(program, add)->other);
	return 0;
}

static int lay_out_conv(struct cpu_program *program, struct cpu_step *step)
{
	struct gather_step *gather = (struct gather_step *)step;
	const struct gather_kernels *bf16 =
		pays_in_bf16(program, cpu_node(program, step->first)) ?
			cpu_bf16_products(program->kernels) : NULL;

	gather->kernels = bf16 ? bf16 : program->kernels->gather;
	if (gather_lay_out_conv(program, step,
				gather->kernels->spreads ? GATHER_DX_CHEAPEST :
							   GATHER_DX_PIXELS))
		return -1;
	if (bf16)
		round_factors(program, gather);
	return 0;
}

static int lay_out_linear(struct cpu_program *program, struct cpu_step *step)
{
	struct gather_step *gather = (struct gather_step *)step;
	const struct node *node = cpu_node(program, step->first);
	const struct shape in = { (int)step->in->size, 1, 1 };
	const struct layer pixel = { .kind = LAYER_CONV,
				     .outputs = node->layer->outputs,
				     .window = 1 };

	if (gather_conv_open(&gather->conv, &pixel, in, in.channels,
			     pixel.outputs, 0,
			     dx_of(program, step, GATHER_DX_PIXELS)))
		return -1;
	gather_lay_out_parameters(program, gather);
	gather->kernels = program->kernels->gather;
	return 0;
}

void gather_place(struct cpu_program *program, struct cpu_step *step)
{
	struct gather_step *gather = (struct gather_step *)step;

	(void)program;
	gather->weight = step->at;
	gather->bias = step->at + gather_weights(&gather->conv.forward);
}

int gather_allocate_joined(struct cpu_program *program, struct cpu_step *step)
{
	struct gather_step *gather = (struct gather_step *)step;
	const size_t batch = (size_t)program->host.base.options.batch;
	const size_t size = gather_conv_joined_size(&gather->conv);

	if (!is_copied(&gather->conv))
		return 0;
	gather->joined = host_allocate((gather->packed ? 1 : batch) * size *
				       sizeof(float));
	if (gather->packed)
		gather->rounded = host_allocate(batch * size *
						sizeof(uint16_t));
	return gather->joined && (gather->rounded || !gather->packed) ? 0 : -1;
}

static int allocate(struct cpu_program *program, struct cpu_step *step)
{
	struct gather_step *gather = (struct gather_step *)step;

	if (step->can_round) {
		gather->packed = host_allocate(
			gather_rounded(&gather->conv.forward));
		if (!gather->packed)
			return -1;
	}
	return gather_allocate_joined(program, step);
}

void gather_release(struct cpu_step *step)
{
	struct gather_step *gather = (struct gather_step *)step;

	gather_conv_close(&gather->conv);
	free(gather->joined);
	free(gather->packed);
	free(gather->rounded);
}

/* count neighbours of flat, each own_stride floats behind the last one. */
static float *copy_run(float *own, size_t own_stride, float *flat, int count,
		       int to_own)
{
	for (int i = 0; i < count; i++, own += own_stride, flat++)
		if (to_own)
			*own = *flat;
		else
			*flat = *own;
	return flat;
}

static void copy_bias(const struct cpu_program *program,
		      const struct gather_step *gather, float *own, float *flat,
		      int to_own)
{
	const struct node *node = cpu_node(program, gather->step.first);

	if (node->has_bias)
		copy_run(own + gather->bias, 1, flat + node->bias,
			 node->layer->outputs, to_own);
}

static void copy_folded(const struct gather_conv *conv, float *own, float *flat,
			int to_own)
{
	for (int o = 0; o < conv->out.channels; o++)
		for (int c = 0; c < conv->in.channels; c++)
			for (int p = 0; p < conv->window * conv->window; p++)
				flat = copy_run(
					own + gather_conv_weight_at(
						conv, o, c, p / conv->window,
						p % conv->window),
					1, flat, 1, to_own);
}

void gather_copy_conv(const struct cpu_program *program,
		      const struct cpu_step *step, float *own, float *flat,
		      int to_own)
{
	const struct gather_step *gather = (const struct gather_step *)step;
	const struct gather_conv *conv = &gather->conv;
	const struct node *node = cpu_node(program, step->first);
	float *from = flat + node->weight;

	copy_bias(program, gather, own, flat, to_own);
	own += gather->weight;
	if (conv->folded_window) {
		copy_folded(conv, own, from, to_own);
		return;
	}
	for (int o = 0; o < conv->out.channels; o++) {
		const size_t at = gather_conv_weight_at(conv, o, 0, 0, 0);
		const size_t by_channel =
			gather_conv_weight_at(conv, o, 1, 0, 0) - at;
		const size_t by_row =
			gather_conv_weight_at(conv, o, 0, 1, 0) - at;
		const size_t by_column =
			gather_conv_weight_at(conv, o, 0, 0, 1) - at;

		for (int c = 0; c < conv->in.channels; c++)
			for (int r = 0; r < conv->window; r++)
				from = copy_run(
					own + at + (size_t)c * by_channel +
						(size_t)r * by_row,
					by_column, from, conv->window, to_own);
	}
}

/* The layer's own order of its inputs, among those of the step before. */
static void copy_linear(const struct cpu_program *program,
			const struct cpu_step *step, float *own, float *flat,
			int to_own)
{
	const struct gather_step *gather = (const struct gather_step *)step;
	const struct gather *forward = &gather->conv.forward;
	const struct node *node = cpu_node(program, step->first);
	float *from = flat + node->weight;

	copy_bias(program, gather, own, flat, to_own);
	own += gather->weight;
	for (int o = 0; o < forward->outputs; o++)
		for (int c = 0; c < node->in.channels; c++)
			for (int p = 0; p < cpu_pixels(step->in); p++)
				from = copy_run(
					own + gather_weight_at(
						forward, o, 0,
						(int)cpu_value_at(step->in, c,
								  p)),
					1, from, 1, to_own);
}

float *gather_bias(const struct cpu_program *program,
		   const struct gather_step *gather, float *vector)
{
	return cpu_node(program, gather->step.first)->has_bias ?
		       vector + gather->bias : NULL;
}

static struct gather_batch batch_of(const struct gather_step *gather, int count)
{
	const struct cpu_value *in = gather->step.in;

	return (struct gather_batch){
		.count = count,
		.in = gather->joined ? gather->joined : in->out,
		.in_sample = gather->joined ?
				     gather_conv_joined_size(&gather->conv) :
				     in->size,
		.out_sample = gather->step.out->size,
	};
}

void gather_join(const struct gather_step *gather, int count)
{
	const struct cpu_value *in = gather->step.in;
	const size_t size = gather_conv_joined_size(&gather->conv);

	for (size_t i = 0; gather->joined && i < (size_t)count; i++) {
		float *to = gather->joined + (gather->rounded ? 0 : i * size);

		gather_conv_join(&gather->conv, in->out + i * in->size,
				 (size_t)in->by_channel, (size_t)in->by_pixel,
				 to);
		if (gather->rounded)
			gather->kernels->round(to, size,
					       gather->rounded + i * size);
	}
}

/* Where memory is planned well it is there already. */
void gather_bring_other(const struct gather_step *gather, int count)
{
	const struct cpu_value *other = gather->other, *out = gather->step.out;

	if (other && other->out != out->out)
		memcpy(out->out, other->out,
		       (size_t)count * out->size * sizeof(float));
}

struct gather_moments gather_begin_moments(const struct cpu_program *program,
					   const struct cpu_step *step,
					   const struct cpu_pass *pass)
{
	const int wanted = pass->training && step->out->moments;

	if (wanted)
		step->out->moments->rows = 0;
	return (struct gather_moments){ program->kernels->planes,
					wanted ? step->out : NULL };
}

void gather_add_moments(void *moments, const float *out, int rows)
{
	const struct gather_moments *is = moments;
	const struct norm_rows added = {
		(size_t)rows, is->value->shape.channels, is->value->by_pixel
	};

	is->kernels->add_moments(&added, out, is->value->moments);
}

/* Weights that are rounded once for many passes. */
static void refresh(struct cpu_program *program, struct cpu_step *step,
		    int training)
{
	const struct gather_step *gather = (const struct gather_step *)step;

	(void)training;
	if (gather->packed)
		gather->kernels->pack(&gather->conv.forward,
				      program->parameters + gather->weight,
				      gather->packed);
}

static void multiply(const struct cpu_program *program,
		     const struct gather_step *gather,
		     const struct gather_batch *batch,
		     const struct gather_end *end)
{
	const struct gather *forward = &gather->conv.forward;
	float *out = gather->step.out->out;

	if (gather->packed)
		gather->kernels->multiply_packed(
			forward, batch,
			gather->rounded ? gather->rounded :
					  gather->step.in->rounded,
			gather->packed, end, out, program->scratch);
	else
		gather->kernels->multiply(forward, batch,
					  program->parameters + gather->weight,
					  end, out, program->scratch);
}

static void forward(struct cpu_program *program, struct cpu_step *step,
		    const struct cpu_pass *pass)
{
	const struct gather_step *gather = (struct gather_step *)step;
	const struct gather_batch batch = batch_of(gather, pass->count);
	struct gather_moments moments = gather_begin_moments(program, step,
							     pass);
	const struct gather_end end = {
		.bias = gather_bias(program, gather, program->parameters),
		.adds = gather->other != NULL,
		.relu = gather->relu != CPU_NO_ROW,
		.wrote = moments.value ? gather_add_moments : NULL,
		.to = &moments,
		.rounded = step->out->rounded,
	};

	gather_bring_other(gather, pass->count);
	gather_join(gather, pass->count);
	multiply(program, gather, &batch, &end);
}

/* The gradient by out, which ReLU made, becomes 0 where out is. A NaN is not at
 * most 0: it passes, and so does the gradient by it. */
static void stop_gradient(const float *restrict out, size_t count,
			  float *restrict dy)
{
	for (size_t i = 0; i < count; i++)
		dy[i] = out[i] <= 0 ? 0 : dy[i];
}

void gather_stop_gradient(const struct gather_step *gather, int count)
{
	const struct cpu_value *out = gather->step.out;

	if (gather->relu != CPU_NO_ROW && !out->gradient_passed)
		stop_gradient(out->out, (size_t)count * out->size,
			      out->gradient);
}

static void backward_data(struct cpu_program *program,
			  const struct gather_step *gather, int count)
{
	const struct cpu_step *step = &gather->step;
	float *transposed = program->scratch;
	const struct gather_batch batch = {
		count, step->out->gradient, step->out->size, step->in->size
	};

	gather_conv_transpose(&gather->conv, gather->kernels,
			      program->parameters + gather->weight, transposed);
	gather_conv_dx(&gather->conv, gather->kernels, &batch, transposed,
		       cpu_node(program, step->first)->adds_dx,
		       step->in->gradient,
		       transposed + gather->conv.transposed);
}

static void backward(struct cpu_program *program, struct cpu_step *step,
		     const struct cpu_pass *pass)
{
	const struct gather_step *gather = (struct gather_step *)step;
	const struct node *node = cpu_node(program, step->first);
	const struct gather_batch batch =
		batch_of(gather, pass->count - node->broken);
	float *g = program->host.vectors[VECTOR_GRADIENT];

	gather_stop_gradient(gather, pass->count);
	gather->kernels->differentiate(
		&gather->conv.forward, &batch, step->out->gradient,
		g + gather->weight, gather_bias(program, gather, g),
		program->scratch);
	if (node->wants_dx)
		backward_data(program, gather, pass->count);
}

void gather_decide(const struct cpu_program *program,
		   const struct cpu_step *step, int row, uint8_t *values)
{
	(void)row;
	cpu_decide_relu(program, step->out, values);
}

/* Multiply-adds of a product, padding of planes among them. */
static double products(const struct gather *gather)
{
	return (double)gather->pixels * gather->taps * gather->depth *
	       gather->outputs;
}

void gather_work(const struct cpu_program *program, const struct cpu_step *step,
		 double forward, double back, struct profile_part *parts)
{
	const struct node *node = cpu_node(program, step->first);
	const double count = work_samples(program);
	const double in = count * (double)shape_size(node->in);
	const double out = count * (double)shape_size(node->out);
	const double added =
		((const struct gather_step *)step)->other ? out : 0;
	const double weights = work_parameters(node);
	struct profile_part part = {
		.dense = count * work_of_node(node),
		.done = count * forward,
		.bytes = WORK_FLOAT * (in + out + added + weights),
		.nonzero = NAN,
	};

	work_name(program, step, "forward", &part);
	parts[CPU_PART_FORWARD + step->index] = part;
	work_name(program, step, "backward", &part);
	if (node->wants_dx) {
		part.dense *= 2;
		part.done += count * back;
		/* For dx weights are transposed. */
		part.bytes += WORK_FLOAT * (in + 2 * weights);
	}
	part.bytes += WORK_FLOAT * weights;
	parts[cpu_part_backward(step->index, CPU_BACKWARD_ALL)] = part;
}

static void work(const struct cpu_program *program,
		 const struct cpu_step *step, struct profile_part *parts)
{
	const struct gather_conv *conv =
		&((const struct gather_step *)step)->conv;
	double back = 0;

	for (int c = 0; c < conv->class_count; c++)
		back += products(&conv->classes[c].gather);
	/* Between the places of a window there is padding. */
	if (conv->adds_windows)
		back = (double)conv->forward.pixels * conv->window *
		       conv->window * conv->in.channels * conv->out.channels;
	gather_work(program, step, products(&conv->forward), back, parts);
}

const struct cpu_solver cpu_conv_solver = {
	.base = { .name = "conv[+add][+relu]", .takes = gather_takes_conv },
	.size = sizeof(struct gather_step),
	.lay_out = lay_out_conv,
	.place = gather_place,
	.allocate = allocate,
	.release = gather_release,
	.copy = gather_copy_conv,
	.refresh = refresh,
	.forward = forward,
	.backward = backward,
	.decide = gather_decide,
	.work = work,
};

const struct cpu_solver cpu_linear_solver = {
	.base = { .name = "linear[+relu]", .takes = takes_linear },
	.size = sizeof(struct gather_step),
	.lay_out = lay_out_linear,
	.place = gather_place,
	.allocate = allocate,
	.release = gather_release,
	.copy = copy_linear,
	.forward = forward,
	.backward = backward,
	.decide = gather_decide,
	.work = work,
};
