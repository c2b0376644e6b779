/* Where things are: channels-last planes and the parameters that match. */
#include <stdlib.h>

#include "backends/cpu/cpu.h"

static int padded(int channels)
{
	return (channels + CPU_LANES - 1) / CPU_LANES * CPU_LANES;
}

static void lay_out_conv(struct cpu_step *bound, int first)
{
	const struct step *step = bound->step;
	const int patch = step->in.channels * step->window * step->window;
	struct conv_shape *conv = &bound->conv;

	bound->gathered = first; /* images are not channels-last */
	*conv = (struct conv_shape){
		.in_height = step->in.height,
		.in_width = step->in.width,
		.in_channels = step->in.channels,
		.in_stride = padded(step->in.channels),
		.out_stride = padded(step->out.channels),
		.window = step->window,
		.pool = step->pool_window,
		.relu = step->relu != STEP_NO_LAYER,
	};
	if (bound->gathered) {
		conv->in_height = step->main_out.height;
		conv->in_width = step->main_out.width;
		conv->in_channels = patch;
		conv->in_stride = padded(patch);
		conv->window = 1;
	}
	bound->in_size = (size_t)conv->in_height * (size_t)conv->in_width *
			 (size_t)conv->in_stride;
	bound->out_size = (size_t)step->out.height * (size_t)step->out.width *
			  (size_t)conv->out_stride;
}

static size_t weight_count(const struct cpu_step *bound)
{
	const struct conv_shape *conv = &bound->conv;

	if (!conv->window)
		return (size_t)bound->step->out.channels * bound->in_size;
	return (size_t)bound->step->out.channels * (size_t)conv->window *
	       (size_t)conv->window * (size_t)conv->in_stride;
}

/* Returns the place behind its parameters. */
static size_t lay_out_stem(struct cpu_program *program, size_t at)
{
	struct cpu_stem *stem = &program->stem;
	const struct stem_shape *shape;
	struct cpu_step *bound = &program->steps[0];

	cpu_stem_lay_out(stem, bound->step, program->kernels->stem,
			 program->host.base.options.precision);
	shape = &stem->shape;
	bound->in_size = shape_size(bound->step->in);
	bound->out_size = shape_size(bound->step->out);
	stem->first = at;
	at += (size_t)padded(shape->middle * shape->channels * STEM_TAPS);
	stem->first_bias = at;
	at += (size_t)padded(shape->middle);
	stem->weight = at;
	at += (size_t)padded(shape->outputs * STEM_TAPS * shape->middle);
	stem->bias = at;
	return at + (size_t)padded(shape->outputs);
}

/* Shapes of a convolution or a linear layer. */
static void lay_out_step(struct cpu_program *program, int s)
{
	struct cpu_step *bound = &program->steps[s];

	if (bound->step->window) {
		lay_out_conv(bound, s == 0);
		program->conv_count++;
		return;
	}
	bound->in_size = s ? program->steps[s - 1].out_size :
			     shape_size(bound->step->in);
	bound->out_size = shape_size(bound->step->out);
	cpu_linear_lay_out(program, s);
}

static size_t whole_lines(size_t count)
{
	return (count + UPDATE_LINE - 1) / UPDATE_LINE * UPDATE_LINE;
}

/* Weights, unless they have a place elsewhere, and bias; returns the place
 * behind them. */
static size_t place_parameters(struct cpu_step *bound, int elsewhere, size_t at)
{
	bound->weight = at;
	at += elsewhere ? 0 : weight_count(bound);
	bound->bias = at;
	return at + (size_t)padded(bound->step->out.channels);
}

/* The weights that cores update together come last, from a whole line on. */
void cpu_lay_out(struct cpu_program *program, size_t *length)
{
	const struct plan *plan = &program->host.plan;
	const int joint = cpu_can_join(program) ? 1 : STEP_NO_LAYER;
	struct cpu_step *linear;
	size_t at = 0;

	program->conv_count = 0;
	for (int s = 0; s < plan->count; s++) {
		struct cpu_step *bound = &program->steps[s];

		*bound = (struct cpu_step){ .step = &plan->steps[s] };
		if (bound->step->main == STEP_NO_LAYER)
			continue;
		if (bound->step->lead.layer != STEP_NO_LAYER) {
			at = lay_out_stem(program, at);
			continue;
		}
		lay_out_step(program, s);
		at = place_parameters(bound, s == joint, at);
	}
	program->first_linear = program->stem.step ? 1 : program->conv_count;
	linear = &program->steps[program->first_linear];
	program->conv_length = linear->weight;
	program->host.base.summed = at;
	if (joint != STEP_NO_LAYER) {
		at = whole_lines(at);
		program->host.base.summed = at;
		linear->weight = at;
		at += weight_count(linear);
	}
	*length = at;
}

int cpu_convs_come_first(const struct cpu_program *program)
{
	for (int s = 0; s < program->conv_count; s++)
		if (!program->steps[s].conv.window)
			return 0;
	return !program->stem.step || !program->conv_count;
}

static void map_conv(const struct cpu_step *bound, uint32_t *where)
{
	const struct step *step = bound->step;
	const int area = step->window * step->window;
	const int stride = bound->conv.in_stride;

	for (int o = 0; o < step->out.channels; o++)
		for (int c = 0; c < step->in.channels; c++)
			for (int t = 0; t < area; t++) {
				int place = (o * area + t) * stride + c;

				if (bound->gathered)
					place = o * stride + c * area + t;
				*where++ = (uint32_t)bound->weight +
					   (uint32_t)place;
			}
}

/*
 * Where the planes before, channels-last or in the order of places, have what
 * is flat[channel][row][column] at i.
 */
static int place_in_planes(const struct cpu_program *program, int s,
			   struct shape shape, int i)
{
	const int pixels = shape.height * shape.width;
	const int channel = i / pixels, pixel = i % pixels;

	if (!s || s > program->first_linear)
		return i;
	if (program->stem.step)
		return channel * pixels + program->stem.places[pixel];
	return pixel * program->steps[s - 1].conv.out_stride + channel;
}

static void map_linear(const struct cpu_program *program, int s,
		       uint32_t *where)
{
	const struct cpu_step *bound = &program->steps[s];
	const struct shape in = bound->step->in;

	for (int o = 0; o < bound->step->out.channels; o++)
		for (int i = 0; i < (int)shape_size(in); i++) {
			const int place = place_in_planes(program, s, in, i);

			*where++ = (uint32_t)(bound->weight +
				linear_weight_at(&bound->linear, o,
						 place / bound->linear.block,
						 place % bound->linear.block));
		}
}

int cpu_map_parameters(struct cpu_program *program)
{
	const int count = program->host.plan.count;

	program->where = malloc(program->host.base.parameters *
				sizeof(*program->where));
	if (!program->where)
		return -1;
	for (int s = 0; s < count; s++) {
		const struct cpu_step *bound = &program->steps[s];

		if (bound->step->main == STEP_NO_LAYER)
			continue;
		if (bound->step->lead.layer != STEP_NO_LAYER) {
			cpu_stem_map(&program->stem, program->where);
			continue;
		}
		if (bound->conv.window)
			map_conv(bound, program->where + bound->step->weight);
		else
			map_linear(program, s,
				   program->where + bound->step->weight);
		for (int o = 0; o < bound->step->out.channels; o++)
			program->where[bound->step->bias + (size_t)o] =
				(uint32_t)(bound->bias + (size_t)o);
	}
	return 0;
}

void cpu_refresh_weights(struct cpu_program *program)
{
	const float *p = program->host.vectors[VECTOR_PARAMETERS];

	if (!program->weights_moved)
		return;
	if (program->stem.step)
		cpu_stem_refresh(&program->stem, p);
	for (int s = 0; s < program->conv_count; s++) {
		const struct cpu_step *bound = &program->steps[s];
		const struct conv_shape *conv = &bound->conv;
		const int taps = conv->window * conv->window;
		const float *from = p + bound->weight;

		if (bound->turned)
			cpu_dense_refresh(bound, from);
		for (int o = 0; o < bound->step->out.channels; o++)
			for (int t = 0; t < taps; t++, from += conv->in_stride)
				for (int c = 0; c < conv->in_channels; c++)
					bound->forward_weights
						[(t * conv->in_channels + c) *
							 conv->out_stride +
						 o] = from[c];
	}
	program->weights_moved = 0;
}
