#include "backends/opencl/opencl.h"

#include <string.h>

int round_up(int n, int multiple)
{
	return (n + multiple - 1) / multiple * multiple;
}

int largest_divisor(int n, int most)
{
	int divisor = most < 1 ? 1 : most;

	while (n % divisor)
		divisor--;
	return divisor;
}

const struct opencl_device *
program_device(const struct opencl_program *program)
{
	return (const struct opencl_device *)program->base.device;
}

const struct step *step_at(const struct opencl_program *program, int index)
{
	return &program->plan.steps[index];
}

int batch_most(const struct opencl_program *program)
{
	const int batch = program->base.options.batch;

	return batch > 0 ? batch : 1;
}

static int vector_width(const struct opencl_program *program)
{
	return program_device(program)->width;
}

int vector_count(const struct opencl_program *program, int floats)
{
	return round_up(floats, vector_width(program)) / vector_width(program);
}

struct layout layout_channels_last(const struct opencl_program *program,
				   struct shape shape)
{
	int padded = round_up(shape.channels, vector_width(program));

	return (struct layout){ .sample = shape.height * shape.width * padded,
				.channel = 1,
				.row = shape.width * padded,
				.column = padded };
}

static struct layout layout_planar(struct shape shape, int sample)
{
	return (struct layout){ .sample = sample,
				.channel = shape.height * shape.width,
				.row = shape.width,
				.column = 1 };
}

/*
 * Samples are whole vectors apart, and not a multiple of 4 KiB: those would
 * all compete for the same few lines of a cache.
 */
static int planar_sample(const struct opencl_program *program,
			 struct shape shape)
{
	int width = vector_width(program);
	int sample = round_up((int)shape_size(shape), width);

	return sample % 1024 ? sample : sample + width;
}

static int is_convolution(const struct opencl_program *program, int index)
{
	const struct model *model = program->base.model;

	return index < program->plan.count &&
	       model->layers[program->plan.steps[index].first].kind ==
		       LAYER_CONV;
}

struct layout layout_output(const struct opencl_program *program, int index)
{
	struct shape shape = program->plan.steps[index].out;

	if (is_convolution(program, index + 1))
		return layout_channels_last(program, shape);
	return layout_planar(shape, planar_sample(program, shape));
}

struct layout layout_input(const struct opencl_program *program, int index)
{
	struct shape shape = program->base.model->input;

	if (index)
		return layout_output(program, index - 1);
	return layout_planar(shape, (int)shape_size(shape));
}

enum dropping step_dropping(const struct opencl_program *program, int index)
{
	const int layer = program->plan.steps[index].dropout;

	if (layer == STEP_NO_LAYER || !program->base.options.dropout)
		return DROP_NOTHING;
	return program->base.model->layers[layer].kind == LAYER_DROPOUT2D ?
		       DROP_PLANES : DROP_ELEMENTS;
}

unsigned step_growth_bits(const struct opencl_program *program, int index)
{
	const int layer = program->plan.steps[index].dropout;
	float growth = 1;
	uint32_t bits;

	if (step_dropping(program, index) != DROP_NOTHING)
		growth = (float)(1 /
				 (1 - program->base.model->layers[layer].drop));
	memcpy(&bits, &growth, sizeof(bits));
	return bits;
}

int step_keep_sample(const struct opencl_program *program, int index)
{
	const struct shape shape = program->plan.steps[index].out;

	switch (step_dropping(program, index)) {
	case DROP_PLANES:
		return round_up(shape.channels, 4 * vector_width(program));
	case DROP_ELEMENTS:
		return round_up((int)shape_size(shape),
				4 * vector_width(program));
	default:
		return 0;
	}
}

double step_products(const struct opencl_program *program, int index)
{
	const struct step *step = step_at(program, index);
	const double outs = (double)shape_size(step->main_out);

	return outs * (step->window ? step->window * step->window *
					      step->in.channels :
				      (double)shape_size(step->in));
}

double step_parameters(const struct opencl_program *program, int index)
{
	const struct step *step = step_at(program, index);

	return step_products(program, index) /
		       (step->main_out.height * step->main_out.width) +
	       step->main_out.channels;
}

double step_inputs(const struct opencl_program *program, int index)
{
	return (double)shape_size(step_at(program, index)->in);
}

double step_outputs(const struct opencl_program *program, int index)
{
	return (double)shape_size(step_at(program, index)->out);
}

cl_mem step_input(const struct pass *pass, int index)
{
	return index ? pass->steps[index - 1].output : pass->images;
}
