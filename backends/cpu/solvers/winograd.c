/*
 * Convolutions of stride 1 with windows of 3x3 to 5x5, with the rows after
 * them, by Winograd's algorithm: see kernels/winograd/winograd_conv.h.
 * Parameters have the indirect GEMM's layout, whose kernels also multiply the
 * points. A first layer of another stride is folded to stride 1: see
 * igemm_conv.h.
 */
#include "backends/cpu/profile.h"
#include "backends/cpu/solvers/winograd_choice.h"
#include "backends/cpu/solvers/winograd_pass.h"

/*
 * Points are rounded with this side of a tile, and from this many channels on.
 */
#define ROUNDED_OUTPUT 4
#define LEAST_ROUNDED 64

struct winograd_step {
	struct igemm_step igemm;
	struct winograd_pass forward, back; /* back from dy to dx */
};

static struct winograd_planes planes_of(const struct cpu_value *value)
{
	return (struct winograd_planes){ value->shape.height,
					 value->shape.width, value->by_pixel,
					 value->size };
}

/* Returns the pass from planes of depth channels to a value. */
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
	struct igemm_step *igemm = &winograd->igemm;
	const struct cpu_step *step = &igemm->step;
	const struct node *node = cpu_node(program, step->first);
	const struct igemm_conv *conv = &igemm->conv;
	struct winograd_planes planes;

	igemm_conv_fold(&igemm->conv, node->layer, node->in,
			 step->out->by_pixel);
	planes = (struct winograd_planes){ conv->folded.height,
					   conv->folded.width, conv->in_stride,
					   igemm_conv_joined_size(conv) };
	igemm_lay_out_parameters(program, igemm);
	winograd->forward = pass_of(planes, conv->folded.channels, step->out,
				    conv->folded_window, 0,
				    program->host.base.options.batch, 0);
}

/*
 * Returns 1 if points are rounded to bf16, in inference. With few channels
 * there is little to save. The error of F(4x4, 3x3) is then 1.1e-2 (L2,
 * relative; largest 1.8e-2 of the largest value); rounded factors have 2.5e-3
 * (2.9e-3). The usual points, 1 and 2, have 2.0e-2 (5.2e-2), and larger tiles
 * more.
 */
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
	struct cpu_step *step = &winograd->igemm.step;
	const int samples = program->host.base.options.batch;
	const struct node *node = cpu_node(program, step->first);
	const int window = node->layer->window, pad = node->layer->pad;

	step->in = cpu_common_value(program, node->source);
	if (igemm_lay_out_conv(program, step, IGEMM_DX_PIXELS))
		return -1;
	winograd->forward = pass_of(planes_of(step->in), node->in.channels,
				    step->out, window, pad, samples,
				    rounds_points(program, node));
	if (winograd->forward.rounds) {
		step->own += winograd_packed_bytes(&winograd->forward);
		cpu_set_rounding(program, step->first, ROUNDS_POINTS);
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
	/* Backward, transposed weights precede the points. */
	if (winograd->igemm.conv.class_count)
		back = winograd->igemm.conv.transposed +
		       winograd_space_floats(&winograd->back, samples);
	if (floats < back)
		floats = back;
	step->scratch = floats * sizeof(float) + IGEMM_SCRATCH;
	step->can_round = cpu_packed_products(program) != NULL;
	return 0;
}

/* Returns the forward pass's planes. */
static const float *input_of(const struct winograd_step *winograd)
{
	return winograd->igemm.joined ? winograd->igemm.joined :
					 winograd->igemm.step.in->out;
}

static int allocate(struct cpu_program *program, struct cpu_step *step)
{
	struct winograd_step *winograd = (struct winograd_step *)step;

	if (!winograd->forward.rounds)
		return igemm_allocate_joined(program, step);
	winograd->igemm.packed =
		host_allocate(winograd_packed_bytes(&winograd->forward));
	return winograd->igemm.packed ? 0 : -1;
}

static struct winograd_space forward_space(const struct cpu_program *program,
					   const struct winograd_step *winograd,
					   int samples)
{
	struct winograd_space space = winograd_space_at(
		program->scratch, &winograd->forward, samples);

	space.bf16 = cpu_packed_products(program);
	space.packed = winograd->igemm.packed;
	return space;
}

/* Rounds the points of weights once for many passes. */
static void refresh(struct cpu_program *program, struct cpu_step *step,
		    int training)
{
	const struct winograd_step *winograd = (struct winograd_step *)step;
	const struct winograd_space space = forward_space(
		program, winograd, program->host.base.options.batch);

	(void)training;
	if (winograd->igemm.packed)
		winograd_pack(program->kernels, &winograd->forward, &space,
			      program->parameters + winograd->igemm.weight,
			      winograd->igemm.packed);
}

static void forward(struct cpu_program *program, struct cpu_step *step,
		    const struct cpu_pass *pass)
{
	const struct winograd_step *winograd = (struct winograd_step *)step;
	const struct winograd_end end = {
		.bias = igemm_bias(program, &winograd->igemm,
				    program->parameters),
		.adds = winograd->igemm.other != NULL,
		.relu = winograd->igemm.relu != CPU_NO_ROW,
		.rounded = step->out->rounded,
	};
	const struct winograd_space space =
		forward_space(program, winograd, pass->count);
	struct igemm_moments moments = igemm_begin_moments(program, step,
							     pass);

	igemm_bring_other(&winograd->igemm, pass->count);
	igemm_join(&winograd->igemm, pass->count);
	winograd_convolve(program->kernels, &winograd->forward, &space,
			  pass->count,
			  program->parameters + winograd->igemm.weight, &end,
			  input_of(winograd), step->out->out, &moments);
}

static void backward_data(struct cpu_program *program,
			  const struct winograd_step *winograd, int count)
{
	const struct cpu_step *step = &winograd->igemm.step;
	const struct winograd_end end = {
		.adds = cpu_node(program, step->first)->adds_dx
	};
	struct igemm_moments none = { 0 };
	float *transposed = program->scratch;
	const struct winograd_space space = winograd_space_at(
		transposed + winograd->igemm.conv.transposed, &winograd->back,
		count);

	igemm_conv_transpose(&winograd->igemm.conv, program->kernels->igemm,
			      program->parameters + winograd->igemm.weight,
			      transposed);
	winograd_convolve(program->kernels, &winograd->back, &space, count,
			  transposed, &end, step->out->gradient,
			  step->in->gradient, &none);
}

static void backward_weights(struct cpu_program *program,
			     const struct winograd_step *winograd, int count)
{
	const struct igemm_step *igemm = &winograd->igemm;
	const struct winograd_space space = winograd_space_at(
		program->scratch, &winograd->forward, count);
	float *g = program->host.vectors[VECTOR_GRADIENT];

	winograd_differentiate(program->kernels, &winograd->forward, &space,
			       count, input_of(winograd),
			       igemm->step.out->gradient, g + igemm->weight,
			       igemm_bias(program, igemm, g));
	if (igemm->conv.folded_window)
		igemm_conv_clear_unused(&igemm->conv, g + igemm->weight);
}

static void backward(struct cpu_program *program, struct cpu_step *step,
		     const struct cpu_pass *pass)
{
	const struct winograd_step *winograd = (struct winograd_step *)step;
	const struct node *node = cpu_node(program, step->first);

	igemm_stop_gradient(&winograd->igemm, pass->count);
	if (pass->count > node->broken)
		backward_weights(program, winograd, pass->count - node->broken);
	if (node->needs_dx)
		backward_data(program, winograd, pass->count);
}

static void work(const struct cpu_program *program,
		 const struct cpu_step *step, struct profile_part *parts)
{
	const struct winograd_step *winograd =
		(const struct winograd_step *)step;

	igemm_work(program, step, winograd_products(&winograd->forward),
		    winograd_products(&winograd->back), parts);
}

const struct cpu_solver cpu_winograd_solver = {
	.base = { .name = "conv[+add][+relu], winograd",
		  .takes = winograd_takes },
	.size = sizeof(struct winograd_step),
	.lay_out = lay_out,
	.place = igemm_place,
	.allocate = allocate,
	.release = igemm_release,
	.copy = igemm_copy_conv,
	.refresh = refresh,
	.forward = forward,
	.backward = backward,
	.decide = igemm_decide,
	.work = work,
};
