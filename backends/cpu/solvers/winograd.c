/*
 * A convolution of 3x3 to 5x5 windows and stride 1, with what is behind it, by
 * Winograd's algorithm: see kernels/winograd_conv.h. Its parameters are those
 * of a gathered product, whose kernels multiply points, too. A first layer of
 * another stride is folded to such a convolution: see gather_conv.h.
 */
#include "backends/cpu/profile.h"
#include "backends/cpu/solvers/winograd_choice.h"
#include "backends/cpu/solvers/winograd_pass.h"

/* Points are rounded of tiles of so many outputs, and of so many channels. */
#define ROUNDED_OUTPUT 4
#define LEAST_ROUNDED 64

struct winograd_step {
	struct gather_step gather;
	struct winograd_pass forward, back; /* back from dy to dx */
};

static struct winograd_planes planes_of(const struct cpu_value *value)
{
	return (struct winograd_planes){ value->shape.height,
					 value->shape.width, value->by_pixel,
					 value->size };
}

/* From planes of depth channels to a value. */
static struct winograd_pass pass_of(struct winograd_planes in, int depth,
				    const struct cpu_value *out, int window,
				    int pad, int samples, int rounds)
{
	const int output = rounds ? ROUNDED_OUTPUT :
				    winograd_output(out->shape, window,
						    samples);

	return (struct winograd_pass){
		.in = in, .out = planes_of(out), .rounds = rounds,
		.window = window, .pad = pad, .output = output,
		.depth = depth, .outputs = out->shape.channels,
		.rows = winograd_tiles_of(out->shape.height, output),
		.columns = winograd_tiles_of(out->shape.width, output),
		.points = winograd_points(window, output),
	};
}

static void lay_out_folded(struct cpu_program *program,
			   struct winograd_step *winograd)
{
	struct gather_step *gather = &winograd->gather;
	const struct cpu_step *step = &gather->step;
	const struct node *node = cpu_node(program, step->first);
	const struct gather_conv *conv = &gather->conv;
	struct winograd_planes planes;

	gather_conv_fold(&gather->conv, node->layer, node->in,
			 step->out->by_pixel);
	planes = (struct winograd_planes){ conv->folded.height,
					   conv->folded.width, conv->in_stride,
					   gather_conv_joined_size(conv) };
	gather_lay_out_parameters(program, gather);
	winograd->forward = pass_of(planes, conv->folded.channels, step->out,
				    conv->folded_window, 0,
				    program->host.base.options.batch, 0);
}

/* Whether points are rounded to bf16, in inference. Of few channels there is
 * little to save. F(4x4, 3x3) is off by 1.1e-2 then (L2, relative; largest
 * 1.8e-2 of the largest value), where rounded factors make 2.5e-3 (2.9e-3); the
 * usual points, 1 and 2, would make 2.0e-2 (5.2e-2), and larger tiles more. */
static int rounds_points(const struct cpu_program *program,
			 const struct node *node)
{
	return cpu_packed_products(program) &&
	       program->kernels->winograd->from_data_rounded &&
	       node->layer->window == 3 &&
	       node->in.channels >= LEAST_ROUNDED &&
	       node->out.channels >= LEAST_ROUNDED;
}

static int lay_out_own(struct cpu_program *program,
		       struct winograd_step *winograd)
{
	struct cpu_step *step = &winograd->gather.step;
	const int samples = program->host.base.options.batch;
	const struct node *node = cpu_node(program, step->first);
	const int window = node->layer->window, pad = node->layer->pad;

	step->in = cpu_common_value(program, node->source);
	if (gather_lay_out_conv(program, step, GATHER_DX_PIXELS))
		return -1;
	winograd->forward = pass_of(planes_of(step->in), node->in.channels,
				    step->out, window, pad, samples,
				    rounds_points(program, node));
	if (winograd->forward.rounds) {
		step->own += winograd_packed_bytes(&winograd->forward);
		cpu_tell_rounding(program, step->first, ROUNDS_POINTS);
	}
	winograd->back = pass_of(planes_of(step->out), node->out.channels,
				 step->in, window, window - 1 - pad, samples,
				 0);
	return 0;
}

static int lay_out(struct cpu_program *program, struct cpu_step *step)
{
	struct winograd_step *winograd = (struct winograd_step *)step;
	const int samples = program->host.base.options.batch;
	size_t floats, back = 0;

	if (winograd_folds(cpu_node(program, step->first)))
		lay_out_folded(program, winograd);
	else if (lay_out_own(program, winograd))
		return -1;
	floats = winograd_space_floats(&winograd->forward, samples);
	/* Transposed weights are in front of the points of the way back. */
	if (winograd->gather.conv.class_count)
		back = winograd->gather.conv.transposed +
		       winograd_space_floats(&winograd->back, samples);
	if (floats < back)
		floats = back;
	step->scratch = floats * sizeof(float) + GATHER_SCRATCH;
	step->can_round = cpu_packed_products(program) != NULL;
	return 0;
}

/* The forward pass's planes. */
static const float *input_of(const struct winograd_step *winograd)
{
	return winograd->gather.joined ? winograd->gather.joined :
					 winograd->gather.step.in->out;
}

static int allocate(struct cpu_program *program, struct cpu_step *step)
{
	struct winograd_step *winograd = (struct winograd_step *)step;

	if (!winograd->forward.rounds)
		return gather_allocate_joined(program, step);
	winograd->gather.packed =
		host_allocate(winograd_packed_bytes(&winograd->forward));
	return winograd->gather.packed ? 0 : -1;
}

static struct winograd_space forward_space(const struct cpu_program *program,
					   const struct winograd_step *winograd,
					   int samples)
{
	struct winograd_space space = winograd_space_at(
		program->scratch, &winograd->forward, samples);

	space.bf16 = cpu_packed_products(program);
	space.packed = winograd->gather.packed;
	return space;
}

/* Points of weights that are rounded, once for many passes. */
static void refresh(struct cpu_program *program, struct cpu_step *step,
		    int training)
{
	const struct winograd_step *winograd = (struct winograd_step *)step;
	const struct winograd_space space = forward_space(
		program, winograd, program->host.base.options.batch);

	(void)training;
	if (winograd->gather.packed)
		winograd_pack(program->kernels, &winograd->forward, &space,
			      program->parameters + winograd->gather.weight,
			      winograd->gather.packed);
}

static void forward(struct cpu_program *program, struct cpu_step *step,
		    const struct cpu_pass *pass)
{
	const struct winograd_step *winograd = (struct winograd_step *)step;
	const struct winograd_end end = {
		.bias = gather_bias(program, &winograd->gather,
				    program->parameters),
		.adds = winograd->gather.other != NULL,
		.relu = winograd->gather.relu != CPU_NO_ROW,
		.rounded = step->out->rounded,
	};
	const struct winograd_space space =
		forward_space(program, winograd, pass->count);
	struct gather_moments moments = gather_begin_moments(program, step,
							     pass);

	gather_bring_other(&winograd->gather, pass->count);
	gather_join(&winograd->gather, pass->count);
	winograd_convolve(program->kernels, &winograd->forward, &space,
			  pass->count,
			  program->parameters + winograd->gather.weight, &end,
			  input_of(winograd), step->out->out, &moments);
}

static void backward_data(struct cpu_program *program,
			  const struct winograd_step *winograd, int count)
{
	const struct cpu_step *step = &winograd->gather.step;
	const struct winograd_end end = {
		.adds = cpu_node(program, step->first)->adds_dx
	};
	struct gather_moments none = { 0 };
	float *transposed = program->scratch;
	const struct winograd_space space = winograd_space_at(
		transposed + winograd->gather.conv.transposed, &winograd->back,
		count);

	gather_conv_transpose(&winograd->gather.conv, program->kernels->gather,
			      program->parameters + winograd->gather.weight,
			      transposed);
	winograd_convolve(program->kernels, &winograd->back, &space, count,
			  transposed, &end, step->out->gradient,
			  step->in->gradient, &none);
}

static void backward_weights(struct cpu_program *program,
			     const struct winograd_step *winograd, int count)
{
	const struct gather_step *gather = &winograd->gather;
	const struct winograd_space space = winograd_space_at(
		program->scratch, &winograd->forward, count);
	float *g = program->host.vectors[VECTOR_GRADIENT];

	winograd_differentiate(program->kernels, &winograd->forward, &space,
			       count, input_of(winograd),
			       gather->step.out->gradient, g + gather->weight,
			       gather_bias(program, gather, g));
	if (gather->conv.folded_window)
		gather_conv_clear_unused(&gather->conv, g + gather->weight);
}

static void backward(struct cpu_program *program, struct cpu_step *step,
		     const struct cpu_pass *pass)
{
	const struct winograd_step *winograd = (struct winograd_step *)step;
	const struct node *node = cpu_node(program, step->first);

	gather_stop_gradient(&winograd->gather, pass->count);
	if (pass->count > node->broken)
		backward_weights(program, winograd, pass->count - node->broken);
	if (node->wants_dx)
		backward_data(program, winograd, pass->count);
}

static void work(const struct cpu_program *program,
		 const struct cpu_step *step, struct profile_part *parts)
{
	const struct winograd_step *winograd =
		(const struct winograd_step *)step;

	gather_work(program, step, winograd_products(&winograd->forward),
		    winograd_products(&winograd->back), parts);
}

const struct cpu_solver cpu_winograd_solver = {
	.base = { .name = "conv[+add][+relu], winograd",
		  .takes = winograd_takes },
	.size = sizeof(struct winograd_step),
	.lay_out = lay_out,
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
