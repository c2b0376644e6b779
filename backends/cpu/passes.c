/* Forward and backward over the bound steps. */
#include <string.h>

#include "backends/cpu/cpu.h"
#include "backends/cpu/relu.h"

static const struct layer *layer_of(const struct cpu_program *program,
				    int layer)
{
	return &program->host.base.model->layers[layer];
}

/* A patch's values of one input channel; window is a constant where it can. */
static inline float *gather_place(const float *from, int width, int window,
				  float *to)
{
	for (int r = 0; r < window; r++)
		for (int s = 0; s < window; s++)
			*to++ = from[r * width + s];
	return to;
}

/* patches[row][column][channel * window^2 + tap], padding left as it is */
static void gather(const struct cpu_step *bound, const float *image,
		   float *patches)
{
	const struct step *step = bound->step;
	const int window = step->window, width = step->in.width;
	const int plane = step->in.height * width;
	const int columns = bound->conv.in_width;

	for (int i = 0; i < bound->conv.in_height * columns; i++) {
		const float *from = image + i / columns * width + i % columns;
		float *to = patches + i * bound->conv.in_stride;

		for (int c = 0; c < step->in.channels; c++, from += plane)
			to = window == 3 ?
				     gather_place(from, width, 3, to) :
				     gather_place(from, width, window, to);
	}
}

/* What the convolution of step s reads: sample place of it. */
static const float *planes_in(struct cpu_program *program, int s, int place,
			      const float *image)
{
	const struct cpu_step *bound = &program->steps[s];

	if (s)
		return program->steps[s - 1].out +
		       (size_t)place * bound->in_size;
	if (!bound->gathered)
		return image;
	gather(bound, image, program->patches);
	return program->patches;
}

/* Channels-last: choices are per plane, or in the order of the contract. */
static void drop_planes(const struct cpu_program *program,
			const struct cpu_step *bound, int place, float *values)
{
	const struct step *step = bound->step;
	const uint8_t *keep =
		host_decisions_at(&program->host, step->dropout, place);
	const float scale = cpu_drop_scale(program, step);
	const int by_plane = cpu_drops_planes(program, step);
	const int pixels = step->out.height * step->out.width;

	for (int w = 0; w < pixels; w++, values += bound->conv.out_stride)
		for (int c = 0; c < step->out.channels; c++)
			values[c] *= keep[by_plane ? c : c * pixels + w] ?
					     scale : 0;
}

int cpu_drops(const struct cpu_program *program, const struct step *step)
{
	return step->dropout != STEP_NO_LAYER &&
	       program->host.base.options.dropout;
}

int cpu_drops_planes(const struct cpu_program *program,
		     const struct step *step)
{
	return layer_of(program, step->dropout)->kind == LAYER_DROPOUT2D;
}

double cpu_drop_probability(const struct cpu_program *program,
			    const struct step *step)
{
	return layer_of(program, step->dropout)->drop;
}

float cpu_drop_scale(const struct cpu_program *program,
		     const struct step *step)
{
	return (float)(1 / (1 - cpu_drop_probability(program, step)));
}

static void conv_forward(struct cpu_program *program, int s, int place,
			 const float *image, int training)
{
	struct cpu_step *bound = &program->steps[s];
	const size_t at = (size_t)place * bound->out_size;

	program->kernels->conv_forward(
		&bound->conv, planes_in(program, s, place, image),
		bound->forward_weights,
		program->host.vectors[VECTOR_PARAMETERS] + bound->bias,
		program->rows, bound->out + at,
		bound->winners ? bound->winners + at : NULL);
	if (training && cpu_drops(program, bound->step))
		drop_planes(program, bound, place, bound->out + at);
}

void cpu_forward(struct cpu_program *program, const struct batch *batch,
		 int first, int count, int training)
{
	struct program *base = &program->host.base;
	const size_t size = shape_size(base->model->input);
	const float *images = batch->images + (size_t)first * size;
	const int steps = program->host.plan.count - 1; /* not the loss */

	cpu_refresh_weights(program);
	program_end_part(base, CPU_PART_WEIGHTS);
	if (program->stem.step)
		cpu_stem_forward(program, batch, first, count, training);
	/* One sample after the other: its planes stay in the cache. */
	for (int i = 0; i < count; i++)
		for (int s = 0; s < program->conv_count; s++) {
			conv_forward(program, s, i, images + (size_t)i * size,
				     training);
			program_end_part(base, CPU_PART_FORWARD + s);
		}
	for (int s = program->first_linear; s < steps; s++) {
		cpu_linear_forward(program, s,
				   s ? program->steps[s - 1].out : images,
				   count, training);
		program_end_part(base, CPU_PART_FORWARD + s);
	}
}

static void conv_backward(struct cpu_program *program, int s, int place,
			  const float *image)
{
	struct cpu_step *bound = &program->steps[s];
	const size_t at = (size_t)place * bound->out_size;
	float *g = program->host.vectors[VECTOR_GRADIENT];
	float *slopes = bound->out_slopes + at;
	float *in_slopes = NULL;

	if (cpu_drops(program, bound->step))
		drop_planes(program, bound, place, slopes);
	if (bound->conv.relu)
		relu_stop(bound->out + at, bound->out_size, slopes);
	if (s)
		in_slopes = program->steps[s - 1].out_slopes +
			    (size_t)place * bound->in_size;
	if (program->host.base.options.algorithm == ALGORITHM_DENSE) {
		cpu_dense_backward(program, bound,
				   planes_in(program, s, place, image), slopes,
				   bound->winners ? bound->winners + at : NULL,
				   in_slopes);
		return;
	}
	if (in_slopes)
		memset(in_slopes, 0, bound->in_size * sizeof(float));
	program->kernels->conv_backward(
		&bound->conv, bound->step->out.channels,
		planes_in(program, s, place, image),
		program->host.vectors[VECTOR_PARAMETERS] + bound->weight,
		slopes, bound->winners ? bound->winners + at : NULL,
		g + bound->weight, g + bound->bias, in_slopes);
}

void cpu_backward(struct cpu_program *program, const struct batch *batch,
		  const struct update *update)
{
	struct program *base = &program->host.base;
	const size_t size = shape_size(base->model->input);
	const int steps = program->host.plan.count - 1;

	for (int s = steps - 1; s >= program->first_linear; s--) {
		cpu_linear_backward(program, s,
				    s ? program->steps[s - 1].out :
					batch->images,
				    batch->count, update);
		program_end_part(base, cpu_part_backward(s, CPU_SLOPES));
	}
	if (program->stem.step)
		cpu_stem_backward(program, batch);
	for (int i = 0; i < batch->count; i++)
		for (int s = program->conv_count - 1; s >= 0; s--) {
			if (i < batch->count - program->steps[s].step->broken)
				conv_backward(program, s, i,
					      batch->images + (size_t)i * size);
			program_end_part(base,
					 cpu_part_backward(s, CPU_SLOPES));
		}
}
