/*
 * Batch norm (Ioffe and Szegedy 2015, arXiv 1502.03167): by the statistics of
 * the batch in a gradient, which the running ones take a tenth of; by these in
 * an evaluation.
 *
 *   y = (x - mean) weight / deviation + bias
 *   dx = weight / deviation (dy - mean of dy
 *        - (x - mean) / deviation^2 * mean of dy (x - mean))
 */
#include <math.h>
#include <stdlib.h>

#include "backends/cpu/profile.h"

struct norm_step {
	struct cpu_step step;
	int channels;
	size_t weight, bias; /* in the vectors */
	double *sums;	     /* [2][channels] */
	float *mean, *scale; /* [channels]; weight / deviation */
	float *deviation;    /* of the last gradient */
	float *terms;	     /* [2][channels], of dx */
};

static int lay_out(struct cpu_program *program, struct cpu_step *step)
{
	struct norm_step *norm = (struct norm_step *)step;
	const size_t channels = (size_t)step->out->shape.channels;

	step->in = cpu_common_value(program,
				    cpu_node(program, step->first)->source);
	norm->channels = (int)channels;
	step->length = 2 * ((channels + CPU_LANES - 1) / CPU_LANES * CPU_LANES);
	norm->sums = host_allocate(2 * channels * sizeof(double));
	norm->mean = host_allocate(5 * channels * sizeof(float));
	if (!norm->sums || !norm->mean)
		return -1;
	norm->scale = norm->mean + channels;
	norm->deviation = norm->scale + channels;
	norm->terms = norm->deviation + channels;
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

/* Of the batch, added to the running ones, or those. */
static void find_statistics(struct cpu_program *program, struct norm_step *norm,
			    const struct norm_rows *rows, int training)
{
	float *mean = program->host.buffers +
		      cpu_node(program, norm->step.first)->buffers;
	float *variance = mean + norm->channels;
	const float *w = program->host.vectors[VECTOR_PARAMETERS] +
			 norm->weight;
	const double count = (double)rows->count;
	double *means = norm->sums, *variances = means + norm->channels;

	if (training)
		program->kernels->planes->moments(rows, norm->step.in->out,
						  means, variances);
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

static void forward(struct cpu_program *program, struct cpu_step *step,
		    const struct cpu_pass *pass)
{
	struct norm_step *norm = (struct norm_step *)step;
	const struct norm_rows rows = rows_of(step, pass->count);
	const float *p = program->host.vectors[VECTOR_PARAMETERS];

	find_statistics(program, norm, &rows, pass->training);
	program->kernels->planes->norm(&rows, step->in->out, norm->mean,
				       norm->scale, p + norm->bias,
				       step->out->out);
}

static void backward(struct cpu_program *program, struct cpu_step *step,
		     const struct cpu_pass *pass)
{
	struct norm_step *norm = (struct norm_step *)step;
	const struct node *node = cpu_node(program, step->first);
	const struct norm_rows rows = rows_of(step, pass->count);
	const struct norm_rows summed =
		rows_of(step, pass->count - node->broken);
	const float *dy = step->out->gradient;
	float *g = program->host.vectors[VECTOR_GRADIENT];
	double *sum = norm->sums, *product = sum + norm->channels;
	float *terms = norm->terms;

	program->kernels->planes->norm_sums(&summed, step->in->out, dy,
					    norm->mean, sum, product);
	for (int c = 0; c < norm->channels; c++) {
		const double deviation = norm->deviation[c];
		const double count = (double)rows.count;

		g[norm->weight + (size_t)c] = (float)(product[c] / deviation);
		g[norm->bias + (size_t)c] = (float)sum[c];
		terms[c] = (float)(sum[c] / count);
		terms[norm->channels + c] =
			(float)(product[c] / count / deviation / deviation);
	}
	if (node->wants_dx)
		program->kernels->planes->norm_backward(
			&rows, step->in->out, dy, norm->mean, norm->scale,
			terms, terms + norm->channels, node->adds_dx,
			step->in->gradient);
}

const struct cpu_solver cpu_batchnorm_solver = {
	.base = { .name = "batchnorm", .kind = LAYER_BATCHNORM },
	.size = sizeof(struct norm_step),
	.lay_out = lay_out,
	.place = place,
	.release = release,
	.copy = copy,
	.forward = forward,
	.backward = backward,
	.work = work_elements,
};
