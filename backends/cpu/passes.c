/* Forward and backward over the bound steps. */
#include <string.h>

#include "backends/blas.h"
#include "backends/cpu/cpu.h"

static const struct layer *layer_of(const struct cpu_program *program,
				    int layer)
{
	return &program->host.base.model->layers[layer];
}

/* patches[row][column][channel * window^2 + tap], padding left as it is */
static void gather(const struct cpu_step *bound, const float *image,
		   float *patches)
{
	const struct step *step = bound->step;
	const int window = step->window, width = step->in.width;

	for (int y = 0; y < bound->conv.in_height; y++)
		for (int x = 0; x < bound->conv.in_width; x++) {
			const float *from = image + y * width + x;
			float *to = patches;

			for (int c = 0; c < step->in.channels; c++) {
				for (int r = 0; r < window; r++) {
					const float *row = from + r * width;

					for (int s = 0; s < window; s++)
						*to++ = row[s];
				}
				from += step->in.height * width;
			}
			patches += bound->conv.in_stride;
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
	const struct layer *layer = layer_of(program, step->dropout);
	const uint8_t *keep =
		host_decisions_at(&program->host, step->dropout, place);
	const float scale = (float)(1 / (1 - layer->drop));
	const int by_plane = layer->kind == LAYER_DROPOUT2D;
	const int pixels = step->out.height * step->out.width;

	for (int w = 0; w < pixels; w++, values += bound->conv.out_stride)
		for (int c = 0; c < step->out.channels; c++)
			values[c] *= keep[by_plane ? c : c * pixels + w] ?
					     scale : 0;
}

static int drops(const struct cpu_program *program, const struct step *step)
{
	return step->dropout != STEP_NO_LAYER &&
	       program->host.base.options.dropout;
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
	if (training && drops(program, bound->step))
		drop_planes(program, bound, place, bound->out + at);
}

/* in[count][in_size] -> out[count][out_size] */
static void linear_forward(struct cpu_program *program, struct cpu_step *bound,
			   const float *in, int count, int training)
{
	const float *p = program->host.vectors[VECTOR_PARAMETERS];
	const struct step *step = bound->step;
	const size_t outputs = bound->out_size;

	for (int i = 0; i < count; i++)
		memcpy(bound->out + (size_t)i * outputs, p + bound->bias,
		       outputs * sizeof(float));
	blas_gemm(BLAS_AS_IS, BLAS_TRANSPOSED, count, (int)outputs,
		  (int)bound->in_size, in, p + bound->weight, 1, bound->out);
	for (int i = 0; i < count; i++) {
		float *out = bound->out + (size_t)i * outputs;
		/* An evaluation's decisions are nobody's business. */
		const int noted = training ? i : 0;

		if (step->relu != STEP_NO_LAYER)
			host_relu(out, outputs,
				  host_decisions_at(&program->host, step->relu,
						    noted));
		if (training && drops(program, step))
			host_dropout(out, outputs, 1,
				     host_decisions_at(&program->host,
						       step->dropout, i),
				     layer_of(program, step->dropout)->drop);
	}
}

void cpu_forward(struct cpu_program *program, const struct batch *batch,
		 int first, int count, int training)
{
	const size_t size = shape_size(program->host.base.model->input);
	const float *images = batch->images + (size_t)first * size;
	const int steps = program->host.plan.count - 1; /* not the loss */

	cpu_refresh_weights(program);
	/* One sample after the other: its planes stay in the cache. */
	for (int i = 0; i < count; i++)
		for (int s = 0; s < program->conv_count; s++)
			conv_forward(program, s, i, images + (size_t)i * size,
				     training);
	for (int s = program->conv_count; s < steps; s++)
		linear_forward(program, &program->steps[s],
			       s ? program->steps[s - 1].out : images, count,
			       training);
}

static void linear_backward(struct cpu_program *program, int s,
			    const float *in, int count)
{
	struct cpu_step *bound = &program->steps[s];
	const struct step *step = bound->step;
	const float *p = program->host.vectors[VECTOR_PARAMETERS];
	float *g = program->host.vectors[VECTOR_GRADIENT];
	const int outputs = (int)bound->out_size;
	const int inputs = (int)bound->in_size;

	for (int i = 0; i < count; i++) {
		float *slopes = bound->out_slopes + i * outputs;

		if (drops(program, step))
			host_dropout(slopes, bound->out_size, 1,
				     host_decisions_at(&program->host,
						       step->dropout, i),
				     layer_of(program, step->dropout)->drop);
		if (step->relu != STEP_NO_LAYER)
			host_relu_backward(slopes, bound->out_size,
					   host_decisions_at(&program->host,
							     step->relu, i));
	}
	blas_gemm(BLAS_TRANSPOSED, BLAS_AS_IS, outputs, inputs,
		  count - step->broken, bound->out_slopes, in, 0,
		  g + bound->weight);
	blas_gemm(BLAS_TRANSPOSED, BLAS_AS_IS, outputs, 1, count,
		  bound->out_slopes, program->ones, 0, g + bound->bias);
	if (s)
		blas_gemm(BLAS_AS_IS, BLAS_AS_IS, count, inputs, outputs,
			  bound->out_slopes, p + bound->weight, 0,
			  program->steps[s - 1].out_slopes);
}

static void conv_backward(struct cpu_program *program, int s, int place,
			  const float *image)
{
	struct cpu_step *bound = &program->steps[s];
	const size_t at = (size_t)place * bound->out_size;
	float *g = program->host.vectors[VECTOR_GRADIENT];
	float *slopes = bound->out_slopes + at;
	float *in_slopes = NULL;

	if (drops(program, bound->step))
		drop_planes(program, bound, place, slopes);
	/* What dropout let through is above 0 exactly where ReLU let it. */
	for (size_t i = 0; bound->conv.relu && i < bound->out_size; i++)
		slopes[i] = bound->out[at + i] > 0 ? slopes[i] : 0;
	if (s) {
		in_slopes = program->steps[s - 1].out_slopes +
			    (size_t)place * bound->in_size;
		memset(in_slopes, 0, bound->in_size * sizeof(float));
	}
	program->kernels->conv_backward(
		&bound->conv, bound->step->out.channels,
		planes_in(program, s, place, image),
		program->host.vectors[VECTOR_PARAMETERS] + bound->weight,
		slopes, bound->winners ? bound->winners + at : NULL,
		g + bound->weight, g + bound->bias, in_slopes);
}

void cpu_backward(struct cpu_program *program, const struct batch *batch)
{
	const size_t size = shape_size(program->host.base.model->input);
	const int steps = program->host.plan.count - 1;

	for (int s = steps - 1; s >= program->conv_count; s--)
		linear_backward(program, s,
				s ? program->steps[s - 1].out : batch->images,
				batch->count);
	for (int i = 0; i < batch->count; i++)
		for (int s = program->conv_count - 1; s >= 0; s--)
			if (i < batch->count - program->steps[s].step->broken)
				conv_backward(program, s, i,
					      batch->images + (size_t)i * size);
}
