/*
 * For tests: a linear layer, what it should compute, in plain loops in double,
 * and how far the kernels are from that.
 */
#ifndef TESTS_LINEAR_RUN_H
#define TESTS_LINEAR_RUN_H

#include "backends/cpu/kernels/linear/linear.h"
#include "backends/host/host.h"
#include "tests/cmocka.h"

#define NEAR 1e-5 /* of an array's largest entry */
#define UNTOUCHED 777

struct linear_case {
	struct linear_shape shape;
	int count;
	int drops_in, drops_out;
	int by_block; /* [blocks][count][block] rather than by sample */
	int zeros;    /* a third of the inputs, exactly */
	int no_dx;
};

/* One array of floats and what it should be. */
struct array {
	size_t size;
	float *values;
	double *right;
};

/* A layer, its batch, and everything that is computed. */
struct layer_run {
	const struct linear_kernels *kernels;
	struct linear_shape shape;
	struct linear_batch batch;
	struct linear_flow flow;
	struct array in, out, dy, dx;
	/* weights and bias of parameters, their state, their gradient */
	struct array weights[4], bias[4];
	uint8_t *keep_in, *keep_out;
	void *scratch;
};

enum { PARAMETERS, FIRST, SECOND, GRADIENT };

/* A late step of Adam, and steps of optimizers with one state or none. */
#define UPDATES 4
static const struct update updates[UPDATES] = {
	{ .optimizer = OPTIMIZER_ADADELTA, .lr = .8, .rho = .9, .eps = 1e-6 },
	{ .optimizer = OPTIMIZER_ADAM, .lr = .01, .beta1 = .9, .beta2 = .99,
	  .eps = 1e-8, .step = 6 },
	{ .optimizer = OPTIMIZER_SGD, .lr = .1 },
	{ .optimizer = OPTIMIZER_SGD, .lr = .1, .momentum = .9,
	  .weight_decay = .02 },
};
static uint64_t state;

static const char *const names[] = { "parameter", "first state",
				     "second state" };

/* From 0 to 1 (xorshift, Marsaglia 2003). */
static inline double draw(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (double)(state >> 11) * 0x1p-53;
}

static inline struct array array_make(size_t size, double low, double high)
{
	struct array array = { .size = size };

	/* Exact size, for the sanitizer. */
	array.values = malloc(size * sizeof(float));
	array.right = malloc(size * sizeof(double));
	assert_true(size == 0 || (array.values && array.right));
	for (size_t i = 0; i < size; i++) {
		array.values[i] = (float)(low + (high - low) * draw());
		array.right[i] = array.values[i];
	}
	return array;
}

static inline void array_free(struct array *array)
{
	free(array->values);
	free(array->right);
}

static inline void assert_near(const char *build, const char *what, size_t i,
			       double value, double right, double bound)
{
	if (isnan(right) ? !isnan(value) : !(fabs(value - right) <= bound))
		fail_msg("%s: %s %zu is %.9g, not %.9g", build, what, i, value,
			 right);
}

/* Values that are right as zero or untouched have to be exact. */
static inline void compare(const struct layer_run *run, const char *what,
			   const struct array *array)
{
	char where[96];
	double largest = 0;

	snprintf(where, sizeof(where), "%s, %d x %d -> %d, %d samples",
		 run->kernels->name, run->shape.blocks, run->shape.block,
		 run->shape.outputs, run->batch.count);
	for (size_t i = 0; i < array->size; i++)
		if (fabs(array->right[i]) > largest &&
		    array->right[i] != UNTOUCHED)
			largest = fabs(array->right[i]);
	for (size_t i = 0; i < array->size; i++) {
		const double right = array->right[i];
		const int exact = right == 0 || right == UNTOUCHED;

		assert_near(where, what, i, array->values[i], right,
			    exact ? 0 : NEAR * largest);
	}
}

static inline uint8_t *keep_make(size_t size, double kept)
{
	uint8_t *keep = malloc(size);

	assert_true(size == 0 || keep);
	for (size_t i = 0; i < size; i++)
		keep[i] = draw() < kept;
	return keep;
}

static inline void run_open(struct layer_run *run,
			    const struct linear_kernels *kernels,
			    const struct linear_case *is)
{
	const struct linear_shape *shape = &is->shape;
	const size_t count = (size_t)is->count;
	const size_t outputs = (size_t)shape->outputs;
	const size_t inputs = linear_inputs(shape);

	state = 88172645463325252u;
	*run = (struct layer_run){ .kernels = kernels, .shape = *shape };
	run->in = array_make(count * inputs, -1, 1);
	for (size_t i = 0; is->zeros && i < run->in.size; i++)
		if (draw() < 1 / 3.)
			run->in.right[i] = run->in.values[i] = 0;
	run->out = array_make(count * outputs, UNTOUCHED, UNTOUCHED);
	run->dy = array_make(count * outputs, -1, 1);
	run->dx = array_make(count * inputs, UNTOUCHED, UNTOUCHED);
	for (int v = 0; v < 4; v++) {
		const double low = v == PARAMETERS ? -1 : 0;

		run->weights[v] = array_make(inputs * outputs, low, 1);
		run->bias[v] = array_make(outputs, low, 1);
	}
	run->keep_in = keep_make(count * (size_t)shape->blocks, .75);
	run->keep_out = keep_make(count * outputs, .5);
	run->batch = (struct linear_batch){
		.count = is->count,
		.in = run->in.values,
		.sample = is->by_block ? (size_t)shape->block : inputs,
		.block = (size_t)shape->block * (is->by_block ? count : 1),
		.keep_in = is->drops_in ? run->keep_in : NULL,
		.keep_out = is->drops_out ? run->keep_out : NULL,
		.scale = is->drops_out ? 2 : 1,
	};
	run->flow = (struct linear_flow){
		.out = run->out.values,
		.dy = run->dy.values,
		.dx = is->no_dx ? NULL : run->dx.values,
	};
	run->scratch = host_allocate(kernels->scratch(shape, is->count));
	assert_non_null(run->scratch);
	/* NaN: nobody may count on what is there. */
	memset(run->scratch, 0xff, kernels->scratch(shape, is->count));
}

static inline void run_close(struct layer_run *run)
{
	array_free(&run->in);
	array_free(&run->out);
	array_free(&run->dy);
	array_free(&run->dx);
	for (int v = 0; v < 4; v++) {
		array_free(&run->weights[v]);
		array_free(&run->bias[v]);
	}
	free(run->keep_in);
	free(run->keep_out);
	free(run->scratch);
}

static inline struct linear_values values_of(const struct layer_run *run,
					     int vector)
{
	return (struct linear_values){ run->weights[vector].values,
				       run->bias[vector].values };
}

static inline size_t input_at(const struct layer_run *run, int b, int c, int i)
{
	return (size_t)b * run->batch.sample + (size_t)c * run->batch.block +
	       (size_t)i;
}

static inline int keeps_in(const struct layer_run *run, int b, int c)
{
	return !run->batch.keep_in ||
	       run->batch.keep_in[b * run->shape.blocks + c];
}

static inline int keeps_out(const struct layer_run *run, int b, int o)
{
	return !run->batch.keep_out ||
	       run->batch.keep_out[b * run->shape.outputs + o];
}

static inline double plain_output(const struct layer_run *run, int b, int o)
{
	const struct linear_shape *shape = &run->shape;
	double sum = run->bias[PARAMETERS].right[o];

	if (!keeps_out(run, b, o))
		return 0;
	for (int c = 0; c < shape->blocks; c++)
		for (int i = 0; i < shape->block && keeps_in(run, b, c); i++)
			sum += run->in.right[input_at(run, b, c, i)] *
			       run->weights[PARAMETERS].right[linear_weight_at(
				       shape, o, c, i)];
	return run->batch.scale * (shape->relu && sum <= 0 ? 0 : sum);
}

/* The sum of an output's products without their signs. */
static inline double plain_size(const struct layer_run *run, int b, int o)
{
	const struct linear_shape *shape = &run->shape;
	double sum = 0;

	for (int c = 0; c < shape->blocks && keeps_out(run, b, o); c++)
		for (int i = 0; i < shape->block && keeps_in(run, b, c); i++)
			sum += fabs(run->in.right[input_at(run, b, c, i)] *
				    run->weights[PARAMETERS].right[
					    linear_weight_at(shape, o, c, i)]);
	return run->batch.scale * sum;
}

static inline void plain_forward(struct layer_run *run)
{
	for (int b = 0; b < run->batch.count; b++)
		for (int o = 0; o < run->shape.outputs; o++)
			run->out.right[b * run->shape.outputs + o] =
				plain_output(run, b, o);
}

/* Returns the part of an output's dy that passes, by the kernels' own signs. */
static inline double plain_dz(const struct layer_run *run, int b, int o)
{
	const int at = b * run->shape.outputs + o;

	if (!keeps_out(run, b, o) ||
	    (run->shape.relu && run->out.values[at] <= 0))
		return 0;
	return run->batch.scale * run->dy.right[at];
}

/* Adds one output of a sample to dx and to the gradient. */
static inline void plain_share(struct layer_run *run, int b, int o,
			       double dz)
{
	const struct linear_shape *shape = &run->shape;

	run->bias[GRADIENT].right[o] += dz;
	for (int c = 0; c < shape->blocks; c++)
		for (int i = 0; i < shape->block && keeps_in(run, b, c); i++) {
			const size_t w = linear_weight_at(shape, o, c, i);
			const size_t x = input_at(run, b, c, i);

			run->weights[GRADIENT].right[w] +=
				dz * run->in.right[x];
			run->dx.right[x] +=
				dz * run->weights[PARAMETERS].right[w];
		}
}

static inline void plain_backward(struct layer_run *run)
{
	const struct linear_shape *shape = &run->shape;
	struct array *gradient = &run->weights[GRADIENT];

	for (int o = 0; o < shape->outputs; o++)
		run->bias[GRADIENT].right[o] = 0;
	for (size_t w = 0; w < gradient->size; w++)
		gradient->right[w] = 0;
	for (int b = 0; b < run->batch.count && run->flow.dx; b++)
		for (int c = 0; c < shape->blocks; c++)
			for (int i = 0; i < shape->block; i++)
				run->dx.right[input_at(run, b, c, i)] =
					keeps_in(run, b, c) ? 0 : UNTOUCHED;
	for (int b = 0; b < run->batch.count; b++)
		for (int o = 0; o < shape->outputs; o++) {
			const double dz = plain_dz(run, b, o);

			if (dz != 0)
				plain_share(run, b, o, dz);
		}
	for (size_t x = 0; x < run->dx.size; x++)
		if (!run->flow.dx)
			run->dx.right[x] = UNTOUCHED;
}

static inline void plain_update(const struct update *update,
				struct array vectors[4])
{
	host_optimize_double(update, vectors[GRADIENT].size,
			     vectors[PARAMETERS].right, vectors[GRADIENT].right,
			     vectors[FIRST].right, vectors[SECOND].right);
}

static inline void forward(struct layer_run *run)
{
	const struct linear_values parameters = values_of(run, PARAMETERS);

	run->kernels->forward(&run->shape, &parameters, &run->batch,
			      run->out.values, run->scratch);
}

static inline void backward(struct layer_run *run)
{
	const struct linear_values parameters = values_of(run, PARAMETERS);
	const struct linear_values gradient = values_of(run, GRADIENT);

	run->kernels->backward(&run->shape, &parameters, &run->batch,
			       &run->flow, &gradient, run->scratch);
}

static inline struct linear_state state_of(const struct layer_run *run)
{
	return (struct linear_state){ values_of(run, PARAMETERS),
				      values_of(run, FIRST),
				      values_of(run, SECOND) };
}

static inline void backward_update(struct layer_run *run,
				   const struct update *update)
{
	const struct linear_state vectors = state_of(run);

	run->kernels->backward_update(&run->shape, &vectors, update,
				      &run->batch, &run->flow, run->scratch);
}

#endif
