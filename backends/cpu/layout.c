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

void cpu_lay_out(struct cpu_program *program, size_t *length)
{
	const struct plan *plan = &program->host.plan;
	size_t at = 0;

	program->conv_count = 0;
	for (int s = 0; s < plan->count; s++) {
		struct cpu_step *bound = &program->steps[s];

		*bound = (struct cpu_step){ .step = &plan->steps[s] };
		if (bound->step->main == STEP_NO_LAYER)
			continue;
		if (bound->step->window) {
			lay_out_conv(bound, s == 0);
			program->conv_count++;
		} else {
			bound->in_size = s ? program->steps[s - 1].out_size :
					     shape_size(bound->step->in);
			bound->out_size = shape_size(bound->step->out);
		}
		bound->weight = at;
		at += weight_count(bound);
		bound->bias = at;
		at += (size_t)padded(bound->step->out.channels);
	}
	*length = at;
}

int cpu_convs_come_first(const struct cpu_program *program)
{
	for (int s = 0; s < program->conv_count; s++)
		if (!program->steps[s].conv.window)
			return 0;
	return 1;
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

/* Inputs are flat [channel][row][column]; the planes before channels-last. */
static void map_linear(const struct cpu_step *bound,
		       const struct cpu_step *before, uint32_t *where)
{
	const struct shape in = bound->step->in;
	const int pixels = in.height * in.width;
	const int stride = before ? before->conv.out_stride : 0;

	for (int o = 0; o < bound->step->out.channels; o++) {
		const size_t row = bound->weight + (size_t)o * bound->in_size;

		for (int i = 0; i < in.channels * pixels; i++) {
			int place = i;

			if (stride) /* what comes before is planes */
				place = i % pixels * stride + i / pixels;
			*where++ = (uint32_t)row + (uint32_t)place;
		}
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
		if (bound->conv.window)
			map_conv(bound, program->where + bound->step->weight);
		else
			map_linear(bound, s ? bound - 1 : NULL,
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
	for (int s = 0; s < program->conv_count; s++) {
		const struct cpu_step *bound = &program->steps[s];
		const struct conv_shape *conv = &bound->conv;
		const int taps = conv->window * conv->window;
		const float *from = p + bound->weight;

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

/*
 * The planes after pooling tell what ReLU and pooling decided. ReLU's effect
 * on values that did not win their window, or were dropped, is none.
 */
static void relu_of_planes(const struct cpu_program *program,
			   const struct cpu_step *bound, int sample,
			   uint8_t *values)
{
	const struct step *step = bound->step;
	const int pool = step->pool_window, stride = bound->conv.out_stride;
	const struct shape before = step->main_out, after = step->out;
	const size_t at = (size_t)sample * bound->out_size;
	const uint8_t *keep = step->dropout == STEP_NO_LAYER ? NULL :
		host_decisions_at(&program->host, step->dropout, sample);
	const int by_plane =
		keep && program->host.base.model->layers[step->dropout].kind ==
				LAYER_DROPOUT2D;

	for (size_t i = 0; i < shape_size(before); i++)
		values[i] = DECISION_ANY;
	for (int c = 0; c < after.channels; c++)
		for (int w = 0; w < after.height * after.width; w++) {
			const int choice = c * after.height * after.width + w;
			const size_t place = at + (size_t)(w * stride + c);
			const int k = pool > 1 ? bound->winners[place] : 0;
			const int row = w / after.width * pool + k / pool;
			const int column = w % after.width * pool + k % pool;

			if (!keep || keep[by_plane ? c : choice])
				values[(c * before.height + row) *
					       before.width + column] =
					bound->out[place] > 0;
		}
}

static void winners_of_planes(const struct cpu_step *bound, int sample,
			      uint8_t *values)
{
	const struct shape out = bound->step->out;
	const uint8_t *winners =
		bound->winners + (size_t)sample * bound->out_size;

	for (int c = 0; c < out.channels; c++)
		for (int w = 0; w < out.height * out.width; w++)
			*values++ = winners[w * bound->conv.out_stride + c];
}

int cpu_decisions(struct program *program, int layer, uint8_t *values,
		  struct error *err)
{
	struct cpu_program *cpu = (struct cpu_program *)program;
	const struct model *model = program->model;
	const size_t each = layer_decisions(&model->layers[layer],
					    model_layer_input(model, layer));

	for (int s = 0; s < cpu->conv_count; s++) {
		const struct cpu_step *bound = &cpu->steps[s];
		const int pool = layer == bound->step->pool;

		if (!pool && layer != bound->step->relu)
			continue;
		for (int i = 0; i < cpu->host.batch_count; i++, values += each)
			if (pool)
				winners_of_planes(bound, i, values);
			else
				relu_of_planes(cpu, bound, i, values);
		return 0;
	}
	return host_decisions(program, layer, values, err);
}
