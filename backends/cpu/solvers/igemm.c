/*
 * Convolutions of any window, stride and padding, and linear layers, with the
 * rows after them, by an indirect GEMM without skipped work. A linear layer is
 * a convolution of one pixel whose channels are all its inputs.
 */
#include "backends/cpu/solvers/igemm.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "backends/cpu/isa.h"
#include "backends/cpu/profile.h"

#define LEAST_ROWS 128
#define LEAST_OUTPUTS 16
#define LEAST_RUN 8 /* values of a row of the window */

int igemm_takes_conv(const struct graph *graph, int first,
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

/*
 * Returns 1 if bf16 pays. Packing factors in pairs costs as much as it saves if
 * few rows share a weight or few outputs a row. Without AMX it also does if the
 * packed runs are short.
 */
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

/* Lays out rounded factors. */
static void round_factors(struct cpu_program *program,
			  struct igemm_step *igemm)
{
	igemm->step.scratch += igemm_conv_rounded(&igemm->conv);
	if (cpu_packed_products(program)) {
		igemm->step.scratch = igemm_rounded_rows(&igemm->conv
								    .forward);
		igemm->step.own += igemm_rounded(&igemm->conv.forward);
		igemm->step.can_round = 1;
		igemm->step.in->rounding += !igemm->conv.joined;
	}
	cpu_set_rounding(program, igemm->step.first, ROUNDS_FACTORS);
}

static enum igemm_dx dx_of(const struct cpu_program *program,
			    const struct cpu_step *step, enum igemm_dx dx)
{
	return cpu_node(program, step->first)->needs_dx &&
	       !program->host.base.options.infers ? dx : IGEMM_DX_NONE;
}

static int is_copied(const struct igemm_conv *conv)
{
	return conv->joined || conv->folded_window;
}

void igemm_lay_out_parameters(struct cpu_program *program,
			      struct igemm_step *igemm)
{
	struct cpu_step *step = &igemm->step;

	igemm->relu = cpu_row_of(program, step, LAYER_RELU);
	step->length = igemm_weights(&igemm->conv.forward) +
		       (size_t)igemm_padded(&igemm->conv.forward);
	step->scratch = igemm->conv.transposed * sizeof(float) +
			IGEMM_SCRATCH;
	step->own = igemm_conv_tables(&igemm->conv);
	if (is_copied(&igemm->conv))
		step->own += (size_t)program->host.base.options.batch *
			     igemm_conv_joined_size(&igemm->conv) *
			     sizeof(float);
}

/* Returns 1 if the input is joined: few channels, or not channels-last. Its
 * padding must not exceed an offset's range. */
static int joins(const struct cpu_step *step, const struct node *node)
{
	const double around = 2. * node->layer->pad;
	const double size = (node->in.height + around) *
			    (node->in.width + around) * node->in.channels;

	return size <= INT32_MAX &&
	       (!cpu_is_common(step->in) ||
		(node->layer->window > 1 && node->in.channels < CPU_LANES));
}

int igemm_lay_out_conv(struct cpu_program *program, struct cpu_step *step,
		       enum igemm_dx dx)
{
	struct igemm_step *igemm = (struct igemm_step *)step;
	const struct node *node = cpu_node(program, step->first);
	const int add = cpu_row_of(program, step, LAYER_ADD);
	const int joined = joins(step, node);

	if (!joined)
		step->in = cpu_common_value(program, node->source);
	if (igemm_conv_open(&igemm->conv, node->layer, node->in,
			     step->in->by_pixel, step->out->by_pixel, joined,
			     dx_of(program, step, dx)))
		return -1;
	igemm_lay_out_parameters(program, igemm);
	if (add != CPU_NO_ROW)
		igemm->other = cpu_common_value(
			program, cpu_node(program, add)->other);
	return 0;
}

static int lay_out_conv(struct cpu_program *program, struct cpu_step *step)
{
	struct igemm_step *igemm = (struct igemm_step *)step;
	const struct igemm_kernels *bf16 =
		pays_in_bf16(program, cpu_node(program, step->first)) ?
			cpu_bf16_products(program->kernels) : NULL;

	igemm->kernels = bf16 ? bf16 : program->kernels->igemm;
	if (igemm_lay_out_conv(program, step,
				igemm->kernels->spreads ? IGEMM_DX_CHEAPEST :
							   IGEMM_DX_PIXELS))
		return -1;
	if (bf16)
		round_factors(program, igemm);
	return 0;
}

static int lay_out_linear(struct cpu_program *program, struct cpu_step *step)
{
	struct igemm_step *igemm = (struct igemm_step *)step;
	const struct node *node = cpu_node(program, step->first);
	const struct shape in = { (int)step->in->size, 1, 1 };
	const struct layer pixel = { .kind = LAYER_CONV,
				     .outputs = node->layer->outputs,
				     .window = 1 };

	if (igemm_conv_open(&igemm->conv, &pixel, in, in.channels,
			     pixel.outputs, 0,
			     dx_of(program, step, IGEMM_DX_PIXELS)))
		return -1;
	igemm_lay_out_parameters(program, igemm);
	igemm->kernels = program->kernels->igemm;
	return 0;
}

void igemm_place(struct cpu_program *program, struct cpu_step *step)
{
	struct igemm_step *igemm = (struct igemm_step *)step;

	(void)program;
	igemm->weight = step->at;
	igemm->bias = step->at + igemm_weights(&igemm->conv.forward);
}

int igemm_allocate_joined(struct cpu_program *program, struct cpu_step *step)
{
	struct igemm_step *igemm = (struct igemm_step *)step;
	const size_t batch = (size_t)program->host.base.options.batch;
	const size_t size = igemm_conv_joined_size(&igemm->conv);

	if (!is_copied(&igemm->conv))
		return 0;
	igemm->joined = host_allocate((igemm->packed ? 1 : batch) * size *
				       sizeof(float));
	if (igemm->packed)
		igemm->rounded = host_allocate(batch * size *
						sizeof(uint16_t));
	return igemm->joined && (igemm->rounded || !igemm->packed) ? 0 : -1;
}

static int allocate(struct cpu_program *program, struct cpu_step *step)
{
	struct igemm_step *igemm = (struct igemm_step *)step;

	if (step->can_round) {
		igemm->packed = host_allocate(
			igemm_rounded(&igemm->conv.forward));
		if (!igemm->packed)
			return -1;
	}
	return igemm_allocate_joined(program, step);
}

void igemm_release(struct cpu_step *step)
{
	struct igemm_step *igemm = (struct igemm_step *)step;

	igemm_conv_close(&igemm->conv);
	free(igemm->joined);
	free(igemm->packed);
	free(igemm->rounded);
}

/* Copies count values of flat, which are own_stride floats apart in own. */
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
		      const struct igemm_step *igemm, float *own, float *flat,
		      int to_own)
{
	const struct node *node = cpu_node(program, igemm->step.first);

	if (node->has_bias)
		copy_run(own + igemm->bias, 1, flat + node->bias,
			 node->layer->outputs, to_own);
}

static void copy_folded(const struct igemm_conv *conv, float *own, float *flat,
			int to_own)
{
	for (int o = 0; o < conv->out.channels; o++)
		for (int c = 0; c < conv->in.channels; c++)
			for (int p = 0; p < conv->window * conv->window; p++)
				flat = copy_run(
					own + igemm_conv_weight_at(
						conv, o, c, p / conv->window,
						p % conv->window),
					1, flat, 1, to_own);
}

void igemm_copy_conv(const struct cpu_program *program,
		     const struct cpu_step *step, float *own, float *flat,
		     int to_own)
{
	const struct igemm_step *igemm = (const struct igemm_step *)step;
	const struct igemm_conv *conv = &igemm->conv;
	const struct node *node = cpu_node(program, step->first);
	float *from = flat + node->weight;

	copy_bias(program, igemm, own, flat, to_own);
	own += igemm->weight;
	if (conv->folded_window) {
		copy_folded(conv, own, from, to_own);
		return;
	}
	for (int o = 0; o < conv->out.channels; o++) {
		const size_t at = igemm_conv_weight_at(conv, o, 0, 0, 0);
		const size_t by_channel =
			igemm_conv_weight_at(conv, o, 1, 0, 0) - at;
		const size_t by_row =
			igemm_conv_weight_at(conv, o, 0, 1, 0) - at;
		const size_t by_column =
			igemm_conv_weight_at(conv, o, 0, 0, 1) - at;

		for (int c = 0; c < conv->in.channels; c++)
			for (int r = 0; r < conv->window; r++)
				from = copy_run(
					own + at + (size_t)c * by_channel +
						(size_t)r * by_row,
					by_column, from, conv->window, to_own);
	}
}

/* Copies weights from the layer's order of inputs to the layout of in. */
static void copy_linear(const struct cpu_program *program,
			const struct cpu_step *step, float *own, float *flat,
			int to_own)
{
	const struct igemm_step *igemm = (const struct igemm_step *)step;
	const struct igemm *forward = &igemm->conv.forward;
	const struct node *node = cpu_node(program, step->first);
	float *from = flat + node->weight;

	copy_bias(program, igemm, own, flat, to_own);
	own += igemm->weight;
	for (int o = 0; o < forward->outputs; o++)
		for (int c = 0; c < node->in.channels; c++)
			for (int p = 0; p < cpu_pixels(step->in); p++)
				from = copy_run(
					own + igemm_weight_at(
						forward, o, 0,
						(int)cpu_value_at(step->in, c,
								  p)),
					1, from, 1, to_own);
}

float *igemm_bias(const struct cpu_program *program,
		  const struct igemm_step *igemm, float *vector)
{
	return cpu_node(program, igemm->step.first)->has_bias ?
		       vector + igemm->bias : NULL;
}

static struct igemm_batch batch_of(const struct igemm_step *igemm, int count)
{
	const struct cpu_value *in = igemm->step.in;

	return (struct igemm_batch){
		.count = count,
		.in = igemm->joined ? igemm->joined : in->out,
		.in_sample = igemm->joined ?
				     igemm_conv_joined_size(&igemm->conv) :
				     in->size,
		.out_sample = igemm->step.out->size,
	};
}

void igemm_join(const struct igemm_step *igemm, int count)
{
	const struct cpu_value *in = igemm->step.in;
	const size_t size = igemm_conv_joined_size(&igemm->conv);

	for (size_t i = 0; igemm->joined && i < (size_t)count; i++) {
		float *to = igemm->joined + (igemm->rounded ? 0 : i * size);

		igemm_conv_join(&igemm->conv, in->out + i * in->size,
				 (size_t)in->by_channel, (size_t)in->by_pixel,
				 to);
		if (igemm->rounded)
			igemm->kernels->round(to, size,
					       igemm->rounded + i * size);
	}
}

/* Planned memory usually has the addend there already. */
void igemm_bring_other(const struct igemm_step *igemm, int count)
{
	const struct cpu_value *other = igemm->other, *out = igemm->step.out;

	if (other && other->out != out->out)
		memcpy(out->out, other->out,
		       (size_t)count * out->size * sizeof(float));
}

struct igemm_moments igemm_begin_moments(const struct cpu_program *program,
					 const struct cpu_step *step,
					 const struct cpu_pass *pass)
{
	const int wanted = pass->training && step->out->moments;

	if (wanted)
		step->out->moments->rows = 0;
	return (struct igemm_moments){ program->kernels->elementwise,
					wanted ? step->out : NULL };
}

void igemm_add_moments(void *moments, const float *out, int rows)
{
	const struct igemm_moments *is = moments;
	const struct norm_rows added = {
		(size_t)rows, is->value->shape.channels, is->value->by_pixel
	};

	is->kernels->add_moments(&added, out, is->value->moments);
}

/* Rounds weights once for many passes. */
static void refresh(struct cpu_program *program, struct cpu_step *step,
		    int training)
{
	const struct igemm_step *igemm = (const struct igemm_step *)step;

	(void)training;
	if (igemm->packed)
		igemm->kernels->pack(&igemm->conv.forward,
				      program->parameters + igemm->weight,
				      igemm->packed);
}

static void multiply(const struct cpu_program *program,
		     const struct igemm_step *igemm,
		     const struct igemm_batch *batch,
		     const struct igemm_end *end)
{
	const struct igemm *forward = &igemm->conv.forward;
	float *out = igemm->step.out->out;

	if (igemm->packed)
		igemm->kernels->multiply_packed(
			forward, batch,
			igemm->rounded ? igemm->rounded :
					  igemm->step.in->rounded,
			igemm->packed, end, out, program->scratch);
	else
		igemm->kernels->multiply(forward, batch,
					  program->parameters + igemm->weight,
					  end, out, program->scratch);
}

static void forward(struct cpu_program *program, struct cpu_step *step,
		    const struct cpu_pass *pass)
{
	const struct igemm_step *igemm = (struct igemm_step *)step;
	const struct igemm_batch batch = batch_of(igemm, pass->count);
	struct igemm_moments moments = igemm_begin_moments(program, step,
							     pass);
	const struct igemm_end end = {
		.bias = igemm_bias(program, igemm, program->parameters),
		.adds = igemm->other != NULL,
		.relu = igemm->relu != CPU_NO_ROW,
		.wrote = moments.value ? igemm_add_moments : NULL,
		.to = &moments,
		.rounded = step->out->rounded,
	};

	igemm_bring_other(igemm, pass->count);
	igemm_join(igemm, pass->count);
	multiply(program, igemm, &batch, &end);
}

/* Sets the gradient of a ReLU's output to 0 where the output is. A NaN fails
 * the comparison: it passes, and so does its gradient. */
static void stop_gradient(const float *restrict out, size_t count,
			  float *restrict dy)
{
	for (size_t i = 0; i < count; i++)
		dy[i] = out[i] <= 0 ? 0 : dy[i];
}

void igemm_stop_gradient(const struct igemm_step *igemm, int count)
{
	const struct cpu_value *out = igemm->step.out;

	if (igemm->relu != CPU_NO_ROW && !out->gradient_passed)
		stop_gradient(out->out, (size_t)count * out->size,
			      out->gradient);
}

static void backward_data(struct cpu_program *program,
			  const struct igemm_step *igemm, int count)
{
	const struct cpu_step *step = &igemm->step;
	float *transposed = program->scratch;
	const struct igemm_batch batch = {
		count, step->out->gradient, step->out->size, step->in->size
	};

	igemm_conv_transpose(&igemm->conv, igemm->kernels,
			      program->parameters + igemm->weight, transposed);
	igemm_conv_dx(&igemm->conv, igemm->kernels, &batch, transposed,
		       cpu_node(program, step->first)->adds_dx,
		       step->in->gradient,
		       transposed + igemm->conv.transposed);
}

static void backward(struct cpu_program *program, struct cpu_step *step,
		     const struct cpu_pass *pass)
{
	const struct igemm_step *igemm = (struct igemm_step *)step;
	const struct node *node = cpu_node(program, step->first);
	const struct igemm_batch batch =
		batch_of(igemm, pass->count - node->broken);
	float *g = program->host.vectors[VECTOR_GRADIENT];

	igemm_stop_gradient(igemm, pass->count);
	igemm->kernels->differentiate(
		&igemm->conv.forward, &batch, step->out->gradient,
		g + igemm->weight, igemm_bias(program, igemm, g),
		program->scratch);
	if (node->needs_dx)
		backward_data(program, igemm, pass->count);
}

void igemm_decide(const struct cpu_program *program,
		  const struct cpu_step *step, int row, uint8_t *values)
{
	(void)row;
	cpu_decide_relu(program, step->out, values);
}

/* Returns the multiply-adds of a product, padding of planes included. */
static double products(const struct igemm *igemm)
{
	return (double)igemm->pixels * igemm->taps * igemm->depth *
	       igemm->outputs;
}

void igemm_work(const struct cpu_program *program, const struct cpu_step *step,
		double forward, double back, struct profile_part *parts)
{
	const struct node *node = cpu_node(program, step->first);
	const double count = work_samples(program);
	const double in = count * (double)shape_size(node->in);
	const double out = count * (double)shape_size(node->out);
	const double added =
		((const struct igemm_step *)step)->other ? out : 0;
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
	if (node->needs_dx) {
		part.dense *= 2;
		part.done += count * back;
		/* dx needs transposed weights. */
		part.bytes += WORK_FLOAT * (in + 2 * weights);
	}
	part.bytes += WORK_FLOAT * weights;
	parts[cpu_part_backward(step->index, CPU_BACKWARD_ALL)] = part;
}

static void work(const struct cpu_program *program,
		 const struct cpu_step *step, struct profile_part *parts)
{
	const struct igemm_conv *conv =
		&((const struct igemm_step *)step)->conv;
	double back = 0;

	for (int c = 0; c < conv->class_count; c++)
		back += products(&conv->classes[c].igemm);
	/* The outputs have padding between the places of a window. */
	if (conv->adds_windows)
		back = (double)conv->forward.pixels * conv->window *
		       conv->window * conv->in.channels * conv->out.channels;
	igemm_work(program, step, products(&conv->forward), back, parts);
}

const struct cpu_solver cpu_conv_solver = {
	.base = { .name = "conv[+add][+relu]", .takes = igemm_takes_conv },
	.size = sizeof(struct igemm_step),
	.lay_out = lay_out_conv,
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

const struct cpu_solver cpu_linear_solver = {
	.base = { .name = "linear[+relu]", .takes = takes_linear },
	.size = sizeof(struct igemm_step),
	.lay_out = lay_out_linear,
	.place = igemm_place,
	.allocate = allocate,
	.release = igemm_release,
	.copy = copy_linear,
	.forward = forward,
	.backward = backward,
	.decide = igemm_decide,
	.work = work,
};
