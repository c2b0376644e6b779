/*
 * Forward and backward through a graph, row by row, on GEMM: convolutions as
 * im2col and a matrix product per sample, linear layers as one product per
 * batch. In double, and in float by passes_float.c.
 */
#include "backends/host/blas.h"
#include "backends/openblas/layers.h"
#include "backends/openblas/openblas.h"

#ifdef REAL_FLOAT
#define openblas_pass_real openblas_pass_float
#else
#define openblas_pass_real openblas_pass_double
#endif

/* Operands of a row: count samples of each. */
struct operands {
	struct openblas *openblas;
	const struct node *node;
	int row, count, training;
	const real *p;		/* all parameters */
	real *g;		/* gradient of the parameters */
	const real *x, *other;	/* inputs; other: of an addition */
	real *y;
	real *dy, *dx, *dother; /* dx and dother are NULL if not needed */
};

static const real *output_of(const struct openblas *openblas, int row)
{
	if (row == MODEL_IMAGES)
		return openblas->images;
	return (const real *)(openblas->memory +
			      openblas->lifetimes.outputs[row]);
}

static real *gradient_of(const struct openblas *openblas, int row)
{
	const size_t at = openblas->lifetimes.gradients[row];

	return at == LIFETIMES_NONE ? NULL : (real *)(openblas->memory + at);
}

static struct operands work_of(struct openblas *openblas, int row, int count,
			       int training)
{
	const struct node *node = &openblas->base.host.graph.nodes[row];

	return (struct operands){
		.openblas = openblas,
		.node = node,
		.row = row,
		.count = count,
		.training = training,
		.p = base_parameters(&openblas->base, node),
		.g = real_vector(&openblas->base, VECTOR_GRADIENT),
		.x = output_of(openblas, node->source),
		.other = output_of(openblas, node->other),
		.y = (real *)output_of(openblas, row),
		.dy = gradient_of(openblas, row),
		.dx = node->needs_dx ? gradient_of(openblas, node->source) :
				       NULL,
		.dother = node->needs_other_dx ?
				  gradient_of(openblas, node->other) : NULL,
	};
}

static size_t input_size(const struct operands *work)
{
	return (size_t)work->count * shape_size(work->node->in);
}

/* Copies the input for rows that work in place, if it must be kept. */
static void bring_input(const struct operands *work)
{
	if (work->y != work->x)
		memcpy(work->y, work->x, input_size(work) * sizeof(real));
}

/* Passes dy on to an input's gradient, stored or added. */
static void hand_on(const struct operands *work, real *dx, int adds)
{
	const size_t size = input_size(work);

	for (size_t i = 0; dx && adds && i < size; i++)
		dx[i] += work->dy[i];
	if (dx && !adds && dx != work->dy)
		memcpy(dx, work->dy, size * sizeof(real));
}

/* A convolution's products: w[outputs][inputs] columns[inputs][pixels] */
struct products {
	int outputs, inputs, pixels;
};

static struct products products_of(const struct node *node)
{
	return (struct products){
		node->out.channels,
		node->in.channels * node->layer->window * node->layer->window,
		node->out.height * node->out.width,
	};
}

/* Returns 1 if the input is its own im2col. */
static int is_pointwise(const struct layer *layer)
{
	return layer->window == 1 && layer_stride(layer) == 1 && !layer->pad;
}

/* Return operands as the row's products use them. */
static const real *inputs_of(const struct operands *work)
{
	return base_factors(&work->openblas->base, work->row, BASE_INPUTS,
			    work->x, input_size(work));
}

static const real *gradients_of(const struct operands *work)
{
	return base_factors(&work->openblas->base, work->row, BASE_GRADIENTS,
			    work->dy,
			    (size_t)work->count *
				      shape_size(work->node->out));
}

/* Returns the im2col of sample i of x. */
static const real *columns_of(const struct operands *work, const real *x, int i)
{
	x += (size_t)i * shape_size(work->node->in);

	if (is_pointwise(work->node->layer))
		return x;
	im2col(work->node, x, work->openblas->columns);
	return work->openblas->columns;
}

static void conv_forward(const struct operands *work)
{
	const struct node *node = work->node;
	const struct products is = products_of(node);
	const real *x = inputs_of(work);
	real *y = work->y;

	for (int i = 0; i < work->count; i++) {
		const real *columns;

		if (base_points(&work->openblas->base, work->row,
				x + (size_t)i * shape_size(node->in), y)) {
			y += is.outputs * is.pixels;
			continue;
		}
		columns = columns_of(work, x, i);
		for (int o = 0; node->has_bias && o < is.outputs; o++)
			for (int j = 0; j < is.pixels; j++)
				y[o * is.pixels + j] =
					work->p[node->bias + (size_t)o];
		real_gemm(BLAS_AS_IS, BLAS_AS_IS, is.outputs, is.pixels,
			  is.inputs, work->p + node->weight, columns,
			  node->has_bias, y);
		y += is.outputs * is.pixels;
	}
}

static void conv_backward_data(const struct operands *work, const real *dy)
{
	const struct node *node = work->node;
	const struct products is = products_of(node);
	const int direct = is_pointwise(node->layer);
	real *dx = work->dx;

	if (!direct && !node->adds_dx)
		memset(dx, 0, input_size(work) * sizeof(real));
	for (int i = 0; i < work->count; i++, dx += shape_size(node->in)) {
		real *columns = direct ? dx : work->openblas->columns;

		real_gemm(BLAS_TRANSPOSED, BLAS_AS_IS, is.inputs, is.pixels,
			  is.outputs, work->p + node->weight,
			  dy + (size_t)i * shape_size(node->out),
			  direct && node->adds_dx, columns);
		if (!direct)
			col2im(node, columns, dx);
	}
}

static void bias_backward(const struct operands *work)
{
	const struct products is = products_of(work->node);
	const size_t pixels = (size_t)is.pixels;

	for (int o = 0; o < is.outputs; o++) {
		const int used = work->count - work->node->broken;
		double sum = 0;

		for (int i = 0; i < used; i++)
			sum += sum_of(work->dy + (size_t)(i * is.outputs + o) *
							 pixels, pixels);
		work->g[work->node->bias + (size_t)o] = (real)sum;
	}
}

static void conv_backward(const struct operands *work)
{
	const struct node *node = work->node;
	const struct products is = products_of(node);
	const real *x = inputs_of(work), *factors = gradients_of(work);

	for (int i = 0; i < work->count - node->broken; i++) {
		const size_t at = (size_t)i * shape_size(node->out);

		real_gemm(BLAS_AS_IS, BLAS_TRANSPOSED, is.outputs, is.inputs,
			  is.pixels, factors + at, columns_of(work, x, i), 1,
			  work->g + node->weight);
	}
	if (node->has_bias)
		bias_backward(work);
	if (work->dx)
		conv_backward_data(work, factors);
}

/* y[count][outputs] = x[count][inputs] w[outputs][inputs]' + bias */
static void linear_forward(const struct operands *work)
{
	const struct node *node = work->node;
	const int outputs = node->out.channels;

	for (int i = 0; i < work->count; i++)
		memcpy(work->y + (size_t)i * (size_t)outputs,
		       work->p + node->bias, (size_t)outputs * sizeof(real));
	real_gemm(BLAS_AS_IS, BLAS_TRANSPOSED, work->count, outputs,
		  (int)shape_size(node->in), inputs_of(work),
		  work->p + node->weight, 1, work->y);
}

static void linear_backward(const struct operands *work)
{
	const struct node *node = work->node;
	const int inputs = (int)shape_size(node->in);
	const int outputs = node->out.channels;
	const real *factors = gradients_of(work);

	real_gemm(BLAS_TRANSPOSED, BLAS_AS_IS, outputs, inputs,
		  work->count - node->broken, factors, inputs_of(work), 0,
		  work->g + node->weight);
	real_gemm(BLAS_TRANSPOSED, BLAS_AS_IS, outputs, 1, work->count,
		  work->dy, work->openblas->ones, 0, work->g + node->bias);
	if (work->dx)
		real_gemm(BLAS_AS_IS, BLAS_AS_IS, work->count, inputs, outputs,
			  factors, work->p + node->weight, node->adds_dx,
			  work->dx);
}

static uint8_t *decisions_of(const struct operands *work, int i)
{
	return host_decisions_at(&work->openblas->base.host, work->row, i);
}

static const uint8_t *imposed_on(const struct operands *work, int i)
{
	return work->training ?
		       base_imposed(&work->openblas->base, work->row, i) :
		       NULL;
}

/* The default cases, here and backward, are dropout. */
_Static_assert(LAYER_KINDS == 10, "a kind of layer without its computation");

static void choice_forward(const struct operands *work, int i)
{
	struct openblas *openblas = work->openblas;
	const struct node *node = work->node;
	const real *x = work->x + (size_t)i * shape_size(node->in);
	real *y = work->y + (size_t)i * shape_size(node->out);
	uint8_t *noted = decisions_of(work, i);
	const uint8_t *imposed = imposed_on(work, i);
	double *regret = &openblas->base.regret[work->row];

	if (node->layer->kind == LAYER_MAXPOOL) {
		maxpool(node, x, y, noted);
		if (imposed)
			maxpool_follow(node, x, y, imposed, noted, regret);
	} else if (layer_drops(node->layer)) {
		if (imposed)
			memcpy(noted, imposed, node->decisions);
		if (work->training &&
		    openblas->base.host.base.options.dropout)
			dropout(y, node->decisions,
				shape_size(node->in) / node->decisions, noted,
				node->layer->drop);
	} else if (imposed) {
		relu_follow(y, node->decisions, imposed, noted, regret);
	} else {
		relu(y, node->decisions, noted);
	}
}

static void choice_backward(const struct operands *work, int i)
{
	const struct node *node = work->node;
	real *dy = work->dy + (size_t)i * shape_size(node->out);
	const uint8_t *taken = decisions_of(work, i);

	if (node->layer->kind == LAYER_MAXPOOL)
		maxpool_backward(node, dy, taken,
				 work->dx + (size_t)i * shape_size(node->in));
	else if (node->layer->kind == LAYER_RELU)
		relu_backward(dy, node->decisions, taken);
	else if (work->openblas->base.host.base.options.dropout)
		dropout(dy, node->decisions,
			shape_size(node->in) / node->decisions, taken,
			node->layer->drop);
}

/* Finds a channel's mean and variance: in training the batch's, which also
 * update the running ones, else the running ones. */
static void choose_moments(const struct operands *work, int c,
			   struct channel channel, double *mean,
			   double *variance)
{
	const struct node *node = work->node;
	double *means = work->openblas->base.buffers + node->buffers;
	double *variances = means + node->in.channels;
	const double all = (double)channel.count * (double)channel.size;

	*mean = means[c];
	*variance = variances[c];
	if (!work->training)
		return;
	find_moments(channel, work->x + (size_t)c * channel.size, mean,
		     variance);
	means[c] += BATCHNORM_MOMENTUM * (*mean - means[c]);
	variances[c] += BATCHNORM_MOMENTUM *
			(*variance * all / (all - 1) - variances[c]);
}

static struct channel channel_of(const struct operands *work)
{
	const struct shape in = work->node->in;

	return (struct channel){ work->count, shape_size(in),
				 (size_t)(in.height * in.width) };
}

static void batchnorm_forward(const struct operands *work)
{
	const struct node *node = work->node;
	const struct channel channel = channel_of(work);
	double *means = work->openblas->norms + node->buffers;
	double *deviations = means + node->in.channels;

	for (int c = 0; c < node->in.channels; c++) {
		const size_t at = (size_t)c * channel.size;
		const double weight = (double)work->p[node->weight + (size_t)c];
		double variance;

		choose_moments(work, c, channel, &means[c], &variance);
		deviations[c] = sqrt(variance + BATCHNORM_EPS);
		normalise(channel, work->x + at, (real)means[c],
			  (real)(weight / deviations[c]),
			  work->p[node->bias + (size_t)c], work->y + at);
	}
}

/*
 * Backward of channel c; dx includes the dependence of mean and deviation on x.
 */
static void channel_backward(const struct operands *work, int c)
{
	const struct node *node = work->node;
	const struct channel is = channel_of(work);
	const double *means = work->openblas->norms + node->buffers;
	const double mean = means[c], deviation = means[node->in.channels + c];
	const double all = (double)is.count * (double)is.size;
	const double weight = (double)work->p[node->weight + (size_t)c];
	const real *x = work->x + (size_t)c * is.size;
	real *dy = work->dy + (size_t)c * is.size;
	double sum = 0, product = 0, without_last = 0;

	for (int n = 0; n < is.count; n++) {
		without_last = product;
		sum_plane(x + (size_t)n * is.stride, dy + (size_t)n * is.stride,
			  is.size, mean, &sum, &product);
	}
	work->g[node->weight + (size_t)c] =
		(real)((node->broken ? without_last : product) / deviation);
	work->g[node->bias + (size_t)c] = (real)sum;
	if (work->dx)
		normalise_backward(is, x, (real)mean, (real)(sum / all),
				   (real)(product / deviation / deviation /
					  all),
				   (real)(weight / deviation), dy);
}

static void add_forward(const struct operands *work)
{
	const real *other = work->y == work->other ? work->x : work->other;
	const size_t size = input_size(work);

	/* If y is in place of other, x is the addend. */
	if (work->y != work->other)
		bring_input(work);
	for (size_t i = 0; i < size; i++)
		work->y[i] += other[i];
}

static void row_forward(const struct operands *work)
{
	const enum layer_kind kind = work->node->layer->kind;

	if (kind == LAYER_CONV)
		conv_forward(work);
	else if (kind == LAYER_LINEAR)
		linear_forward(work);
	else if (kind == LAYER_BATCHNORM)
		batchnorm_forward(work);
	else if (kind == LAYER_ADD)
		add_forward(work);
	else if (kind == LAYER_AVGPOOL)
		for (int i = 0; i < work->count; i++)
			avgpool(work->node,
				work->x + (size_t)i *
						  shape_size(work->node->in),
				work->y + (size_t)i *
						  shape_size(work->node->out));
	else {
		if (kind != LAYER_MAXPOOL)
			bring_input(work);
		for (int i = 0; i < work->count; i++)
			choice_forward(work, i);
	}
}

static void pool_backward(const struct operands *work)
{
	const struct node *node = work->node;

	if (!node->adds_dx)
		memset(work->dx, 0, input_size(work) * sizeof(real));
	for (int i = 0; i < work->count; i++)
		if (node->layer->kind == LAYER_MAXPOOL)
			choice_backward(work, i);
		else
			avgpool_backward(
				node,
				work->dy + (size_t)i * shape_size(node->out),
				work->dx + (size_t)i * shape_size(node->in));
}

/* Backward of rows that turn dy into dx in its place. */
static void backward_in_place(const struct operands *work)
{
	const struct node *node = work->node;

	if (node->layer->kind == LAYER_BATCHNORM)
		for (int c = 0; c < node->in.channels; c++)
			channel_backward(work, c);
	else if (node->layer->kind != LAYER_ADD)
		for (int i = 0; work->dx && i < work->count; i++)
			choice_backward(work, i);
	hand_on(work, work->dx, node->adds_dx);
	hand_on(work, work->dother, node->adds_other_dx);
}

static void row_backward(const struct operands *work)
{
	const enum layer_kind kind = work->node->layer->kind;

	if (kind == LAYER_CONV)
		conv_backward(work);
	else if (kind == LAYER_LINEAR)
		linear_backward(work);
	else if (kind != LAYER_MAXPOOL && kind != LAYER_AVGPOOL)
		backward_in_place(work);
	else if (work->dx)
		pool_backward(work);
}

static void bring_images(struct openblas *openblas, const struct batch *batch)
{
	const size_t size = (size_t)batch->count *
			    shape_size(openblas->base.host.base.model->input);
	real *converted = openblas->converted;

	openblas->images = batch->images;
	if (!converted)
		return;
	for (size_t i = 0; i < size; i++)
		converted[i] = batch->images[i];
	openblas->images = converted;
	base_round_row(&openblas->base, MODEL_IMAGES, converted, batch->count);
}

static void pass(struct openblas *openblas, const struct batch *batch,
		 int training, struct score *score)
{
	const struct graph *graph = &openblas->base.host.graph;
	const int last = graph->count - 1, logits = graph->nodes[last].source;
	const int classes = model_classes(graph->model);

	base_round_parameters(&openblas->base);
	bring_images(openblas, batch);
	for (int row = 0; row < last; row++) {
		const struct operands work = work_of(openblas, row,
						     batch->count, training);

		row_forward(&work);
		base_round_row(&openblas->base, row, work.y, batch->count);
	}
	for (int i = 0; i < batch->count; i++)
		real_loss(graph->nodes[last].layer->loss,
			  output_of(openblas, logits) + i * classes, classes,
			  batch, i, score,
			  training ? gradient_of(openblas, logits) +
					     i * classes :
				     NULL);
	if (training)
		base_round_row(&openblas->base, logits,
			       gradient_of(openblas, logits), batch->count);
	for (int row = last - 1; training && row >= 0; row--) {
		const struct operands work = work_of(openblas, row,
						     batch->count, training);

		row_backward(&work);
		if (work.dx)
			base_round_row(&openblas->base, work.node->source,
				       work.dx, batch->count);
		if (work.dother)
			base_round_row(&openblas->base, work.node->other,
				       work.dother, batch->count);
	}
}

/* A separate function: without a caller to be inlined into, gcc 12 generated
 * slower code for pass(). */
void openblas_pass_real(struct openblas *openblas, const struct batch *batch,
			int training, struct score *score)
{
	pass(openblas, batch, training, score);
}
