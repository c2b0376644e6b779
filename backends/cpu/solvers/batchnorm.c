/*
 * Batch norm (Ioffe and Szegedy 2015, arXiv 1502.03167), with the addition and
 * the ReLU after it. Training uses the batch's statistics and adds a tenth of
 * them to the running ones; an evaluation uses the running ones.
 *
 *   y = (x - mean) weight / deviation + bias
 *   dx = weight / deviation (dy - mean of dy
 *        - (x - mean) / deviation^2 * mean of dy (x - mean))
 *
 * The gradient of the addition's other input is dy. The step that computes x
 * may add the sums of x.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "backends/cpu/profile.h"

struct norm_step {
	struct cpu_step step;
	int add, relu;		 /* rows, or CPU_NO_ROW */
	struct cpu_value *other; /* addend, or NULL */
	int channels;
	size_t weight, bias; /* offsets in the vectors */
	double *sums;	     /* [2][channels] */
	struct norm_moments moments; /* arrays in sums and mean */
	float *mean, *scale; /* [channels]; scale = weight / deviation */
	float *deviation;    /* of the last gradient */
	float *terms;	     /* [2][channels], terms of dx */
};

/* If rows are rounded, each is a step, to be rounded by itself. */
static int takes(const struct graph *graph, int first,
		 const struct program_options *options, const char **why)
{
	static const enum layer_kind kinds[] = { LAYER_BATCHNORM, LAYER_ADD,
						 LAYER_RELU };

	(void)why;
	return plan_chain(graph, first, kinds,
			  precision_rounds(options->precision) ? 1 : 3);
}

static int lay_out(struct cpu_program *program, struct cpu_step *step)
{
	struct norm_step *norm = (struct norm_step *)step;
	const size_t channels = (size_t)step->out->shape.channels;

	step->in = cpu_common_value(program,
				    cpu_node(program, step->first)->source);
	norm->add = cpu_row_of(program, step, LAYER_ADD);
	norm->relu = cpu_row_of(program, step, LAYER_RELU);
	if (norm->add != CPU_NO_ROW)
		norm->other = cpu_common_value(
			program, cpu_node(program, norm->add)->other);
	norm->channels = (int)channels;
	step->length = 2 * cpu_whole_lanes(norm->channels);
	norm->sums = host_allocate(2 * channels * sizeof(double));
	norm->mean = host_allocate(5 * channels * sizeof(float));
	if (!norm->sums || !norm->mean)
		return -1;
	norm->scale = norm->mean + channels;
	norm->deviation = norm->scale + channels;
	norm->terms = norm->deviation + channels;
	norm->moments = (struct norm_moments){
		.shift = norm->mean,
		.sum = norm->sums,
		.square = norm->sums + channels,
	};
	/* Values that are rounded are so only after the step that computes
	 * them. */
	if (!precision_rounds(program->host.base.options.precision))
		step->in->moments = &norm->moments;
	return 0;
}

static void place(struct cpu_program *program, struct cpu_step *step)
{
	struct norm_step *norm = (struct norm_step *)step;

	(void)program;
	norm->weight = step->at;
	norm->bias = step->at + step->length / 2;
}

static void release(struct cpu_step *step)
{
	struct norm_step *norm = (struct norm_step *)step;

	free(norm->sums);
	free(norm->mean);
}

static void copy(const struct cpu_program *program, const struct cpu_step *step,
		 float *own, float *flat, int to_own)
{
	const struct norm_step *norm = (const struct norm_step *)step;
	const struct node *node = cpu_node(program, step->first);

	for (int c = 0; c < norm->channels; c++)
		if (to_own) {
			own[norm->weight + (size_t)c] =
				flat[node->weight + (size_t)c];
			own[norm->bias + (size_t)c] =
				flat[node->bias + (size_t)c];
		} else {
			flat[node->weight + (size_t)c] =
				own[norm->weight + (size_t)c];
			flat[node->bias + (size_t)c] =
				own[norm->bias + (size_t)c];
		}
}

static struct norm_rows rows_of(const struct cpu_step *step, int count)
{
	return (struct norm_rows){
		.count = (size_t)count * (size_t)cpu_pixels(step->in),
		.channels = step->in->shape.channels,
		.stride = step->in->by_pixel,
	};
}

/* Replaces the batch's moments by its mean and biased variance. Adds the
 * moments here unless the step that computed x did. */
static void find_moments(const struct cpu_program *program,
			 struct norm_step *norm, const struct norm_rows *rows)
{
	struct norm_moments *moments = &norm->moments;
	const double count = (double)rows->count;

	if (moments->rows != rows->count) {
		moments->rows = 0;
		program->kernels->elementwise->add_moments(
			rows, norm->step.in->out, moments);
	}
	for (int c = 0; c < norm->channels; c++) {
		const double off = moments->sum[c] / count;
		const double square = moments->square[c] / count - off * off;

		moments->sum[c] = off + (double)moments->shift[c];
		moments->square[c] = square < 0 ? 0 : square;
	}
	moments->rows = 0;
}

/* Finds the batch's statistics and adds them to the running ones, or uses
 * those. */
static void find_statistics(struct cpu_program *program, struct norm_step *norm,
			    const struct norm_rows *rows, int training)
{
	float *mean = program->host.buffers +
		      cpu_node(program, norm->step.first)->buffers;
	float *variance = mean + norm->channels;
	const float *w = program->host.vectors[VECTOR_PARAMETERS] +
			 norm->weight;
	const double count = (double)rows->count;
	const double *means = norm->sums, *variances = means + norm->channels;

	if (training)
		find_moments(program, norm, rows);
	for (int c = 0; c < norm->channels; c++) {
		const double own = training ? variances[c] : variance[c];
		const double deviation = sqrt(own + BATCHNORM_EPS);

		norm->mean[c] = training ? (float)means[c] : mean[c];
		norm->scale[c] = (float)(w[c] / deviation);
		if (!training)
			continue;
		norm->deviation[c] = (float)deviation;
		mean[c] += (float)(BATCHNORM_MOMENTUM * (means[c] - mean[c]));
		variance[c] += (float)(BATCHNORM_MOMENTUM *
				       (own * count / (count - 1) -
					variance[c]));
	}
}

static struct norm_map map_of(const struct cpu_program *program,
			      const struct norm_step *norm)
{
	return (struct norm_map){
		norm->mean, norm->scale,
		program->host.vectors[VECTOR_PARAMETERS] + norm->bias
	};
}

static void forward(struct cpu_program *program, struct cpu_step *step,
		    const struct cpu_pass *pass)
{
	struct norm_step *norm = (struct norm_step *)step;
	const struct cpu_value *other = norm->other;
	const struct norm_rows rows = rows_of(step, pass->count);
	const struct norm_map map = map_of(program, norm);

	find_statistics(program, norm, &rows, pass->training);
	program->kernels->elementwise->norm(&rows, &map, step->in->out,
					    other ? other->out : NULL,
					    norm->relu != CPU_NO_ROW,
					    step->out->out);
}

/* Computes the parameters' gradients, and the terms that dx needs of them. */
static void find_gradients(struct cpu_program *program, struct norm_step *norm,
			   int rows)
{
	const double count = rows;
	const double *sum = norm->sums, *product = sum + norm->channels;
	float *g = program->host.vectors[VECTOR_GRADIENT];

	for (int c = 0; c < norm->channels; c++) {
		const double deviation = norm->deviation[c];

		g[norm->weight + (size_t)c] = (float)(product[c] / deviation);
		g[norm->bias + (size_t)c] = (float)sum[c];
		norm->terms[c] = (float)(sum[c] / count);
		norm->terms[norm->channels + c] =
			(float)(product[c] / count / deviation / deviation);
	}
}

/* Passes dy to the addend's gradient, unless both share memory. */
static void pass_to_other(const struct cpu_program *program,
			  const struct norm_step *norm, int count)
{
	const struct cpu_value *out = norm->step.out;
	const size_t floats = (size_t)count * out->size;
	const struct node *node;

	if (norm->add == CPU_NO_ROW)
		return;
	node = cpu_node(program, norm->add);
	if (!node->needs_other_dx)
		return;
	if (node->adds_other_dx)
		program->kernels->elementwise->add_to(floats, out->gradient,
						      norm->other->gradient);
	else if (norm->other->gradient != out->gradient)
		memcpy(norm->other->gradient, out->gradient,
		       floats * sizeof(float));
}

/* Without an addition, the ReLU's output is computed again from x: reading it
 * would cost more. */
static void backward(struct cpu_program *program, struct cpu_step *step,
		     const struct cpu_pass *pass)
{
	struct norm_step *norm = (struct norm_step *)step;
	const struct elementwise_kernels *kernels =
		program->kernels->elementwise;
	const struct node *node = cpu_node(program, step->first);
	const struct norm_rows rows = rows_of(step, pass->count);
	const struct norm_rows summed =
		rows_of(step, pass->count - node->broken);
	const struct norm_map map = map_of(program, norm);
	const int relu = norm->relu != CPU_NO_ROW;
	const float *y = norm->add == CPU_NO_ROW ? NULL : step->out->out;
	float *dy = step->out->gradient;

	if (relu && y && node->broken) /* else norm_sums() does it */
		kernels->relu_backward((size_t)pass->count * step->out->size, y,
				       dy, 0, dy);
	kernels->norm_sums(&summed, &map, step->in->out, relu, y, dy,
			   norm->sums, norm->sums + norm->channels);
	find_gradients(program, norm, (int)rows.count);
	pass_to_other(program, norm, pass->count);
	if (node->needs_dx)
		kernels->norm_backward(&rows, &map, step->in->out, relu && !y,
				       dy, norm->terms,
				       norm->terms + norm->channels,
				       node->adds_dx, step->in->gradient);
}

static void decide(const struct cpu_program *program,
		   const struct cpu_step *step, int row, uint8_t *values)
{
	(void)row;
	cpu_decide_relu(program, step->out, values);
}

const struct cpu_solver cpu_batchnorm_solver = {
	.base = { .name = "batchnorm[+add][+relu]", .takes = takes },
	.size = sizeof(struct norm_step),
	.lay_out = lay_out,
	.place = place,
	.release = release,
	.copy = copy,
	.forward = forward,
	.backward = backward,
	.decide = decide,
	.work = work_elements,
};
