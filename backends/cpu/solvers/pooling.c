/* Poolings alone: layers without products and parameters. */
#include <stdlib.h>
#include <string.h>

#include "backends/cpu/profile.h"

struct pool_step {
	struct cpu_step step;
	struct pool_shape shape;
	uint8_t *winners; /* [batch][pixel][winners_stride], of max pooling */
};

static int is_relu(const struct cpu_program *program, int row)
{
	return row != MODEL_IMAGES &&
	       cpu_node(program, row)->layer->kind == LAYER_RELU;
}

static int lay_out_pool(struct cpu_program *program, struct cpu_step *step)
{
	struct pool_step *pool = (struct pool_step *)step;
	const struct layer *layer = cpu_node(program, step->first)->layer;

	step->in = cpu_common_value(program,
				    cpu_node(program, step->first)->source);
	pool->shape = (struct pool_shape){
		.in = step->in->shape,
		.out = step->out->shape,
		.window = layer->window,
		.stride = layer_stride(layer),
		.pad = layer->pad,
		.in_stride = step->in->by_pixel,
		.out_stride = step->out->by_pixel,
		.winners_stride =
			(int)cpu_whole_lanes(step->out->shape.channels),
	};
	return 0;
}

/*
 * A sample is rounded while it is in the cache. A ReLU before the pooling that
 * nothing else reads leaves its backward pass to the pooling: that has about a
 * quarter of the values, and computes the maximum anyway.
 */
static int lay_out_maxpool(struct cpu_program *program, struct cpu_step *step)
{
	struct pool_step *pool = (struct pool_step *)step;
	const int row = cpu_node(program, step->first)->source;

	if (lay_out_pool(program, step))
		return -1;
	step->can_round = cpu_packed_products(program) != NULL;
	if (step->can_round)
		step->scratch = step->out->size * sizeof(float);
	pool->shape.marks = is_relu(program, row) &&
			    cpu_node(program, row)->readers == 1 &&
			    pool->shape.window <= POOL_MOST_MARKED;
	step->in->gradient_passed = pool->shape.marks;
	return 0;
}

static size_t winners_size(const struct pool_step *pool)
{
	return (size_t)cpu_pixels(pool->step.out) *
	       (size_t)pool->shape.winners_stride;
}

static int allocate_winners(struct cpu_program *program, struct cpu_step *step)
{
	struct pool_step *pool = (struct pool_step *)step;

	if (program->host.base.options.infers)
		return 0;
	pool->winners = host_allocate(
		(size_t)program->host.base.options.batch * winners_size(pool));
	return pool->winners ? 0 : -1;
}

static void release_winners(struct cpu_step *step)
{
	free(((struct pool_step *)step)->winners);
}

static void forward_maxpool(struct cpu_program *program, struct cpu_step *step,
			    const struct cpu_pass *pass)
{
	const struct pool_step *pool = (struct pool_step *)step;

	uint16_t *rounded = step->out->rounded;
	const size_t size = step->out->size;

	for (size_t i = 0; i < (size_t)pass->count; i++) {
		float *out = rounded ? program->scratch :
				       step->out->out + i * size;

		program->kernels->elementwise->maxpool(
			&pool->shape, step->in->out + i * step->in->size, out,
			pass->training ? pool->winners + i * winners_size(pool)
				       : NULL);
		if (rounded)
			cpu_packed_products(program)->round(
				out, size, rounded + i * size);
	}
}

/* Returns a sample's dx, to which windows add. It is cleared first unless
 * another row has written it. */
static float *begin_dx(const struct cpu_program *program,
		       const struct cpu_step *step, size_t sample)
{
	float *dx = step->in->gradient + sample * step->in->size;

	if (!cpu_node(program, step->first)->adds_dx)
		memset(dx, 0, step->in->size * sizeof(*dx));
	return dx;
}

static void backward_maxpool(struct cpu_program *program, struct cpu_step *step,
			     const struct cpu_pass *pass)
{
	const struct pool_step *pool = (struct pool_step *)step;

	for (size_t i = 0; i < (size_t)pass->count; i++)
		program->kernels->elementwise->maxpool_backward(
			&pool->shape,
			step->out->gradient + i * step->out->size,
			pool->winners + i * winners_size(pool),
			begin_dx(program, step, i));
}

static void decide_maxpool(const struct cpu_program *program,
			   const struct cpu_step *step, int row,
			   uint8_t *values)
{
	const struct pool_step *pool = (const struct pool_step *)step;
	const uint8_t mark = pool->shape.marks ? POOL_MARK : 0;
	const uint8_t *winners = pool->winners;

	(void)row;
	for (int i = 0; i < program->host.batch_count; i++) {
		for (int c = 0; c < step->out->shape.channels; c++)
			for (int p = 0; p < cpu_pixels(step->out); p++)
				*values++ = winners[p * pool->shape
							.winners_stride + c] &
					    (uint8_t)~mark;
		winners += winners_size(pool);
	}
}

static void forward_avgpool(struct cpu_program *program, struct cpu_step *step,
			    const struct cpu_pass *pass)
{
	const struct pool_step *pool = (struct pool_step *)step;

	for (size_t i = 0; i < (size_t)pass->count; i++)
		program->kernels->elementwise->avgpool(
			&pool->shape, step->in->out + i * step->in->size,
			step->out->out + i * step->out->size);
}

static void backward_avgpool(struct cpu_program *program, struct cpu_step *step,
			     const struct cpu_pass *pass)
{
	const struct pool_step *pool = (struct pool_step *)step;

	for (size_t i = 0; i < (size_t)pass->count; i++)
		program->kernels->elementwise->avgpool_backward(
			&pool->shape,
			step->out->gradient + i * step->out->size,
			begin_dx(program, step, i));
}

const struct cpu_solver cpu_maxpool_solver = {
	.base = { .name = "maxpool", .kind = LAYER_MAXPOOL },
	.size = sizeof(struct pool_step),
	.lay_out = lay_out_maxpool,
	.allocate = allocate_winners,
	.release = release_winners,
	.forward = forward_maxpool,
	.backward = backward_maxpool,
	.decide = decide_maxpool,
	.work = work_elements,
};

const struct cpu_solver cpu_avgpool_solver = {
	.base = { .name = "avgpool", .kind = LAYER_AVGPOOL },
	.size = sizeof(struct pool_step),
	.lay_out = lay_out_pool,
	.forward = forward_avgpool,
	.backward = backward_avgpool,
	.work = work_elements,
};
