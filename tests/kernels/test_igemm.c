/* Gathered products of every build against the reference's convolutions. */
#include "backends/cpu/solvers/igemm_conv.h"
#include "backends/cpu/isa.h"
#include "backends/host/host.h"
#include "backends/host/storage.h"
#include "backends/reference/layers.h"
#include "tests/kernels/subject.h"

#define MOST_BUILDS 8
#define NEAR 1e-5 /* of the largest entry */
#define UNTOUCHED 77.f

struct conv_case {
	struct shape in;
	int outputs, window, stride, pad, count;
};

/* Blocks, vectors and tiles that are full, and that miss by one; more samples
 * than a chunk of rows holds; windows as large as the input, strides larger
 * than the window, padding on all sides of few pixels. */
static const struct conv_case cases[] = {
	{ { 64, 8, 8 }, 64, 3, 1, 1, 5 },   { { 3, 23, 23 }, 64, 11, 4, 2, 3 },
	{ { 70, 5, 7 }, 65, 3, 1, 0, 2 },   { { 1, 28, 28 }, 10, 5, 1, 0, 2 },
	{ { 17, 9, 11 }, 33, 3, 2, 1, 3 },  { { 33, 6, 5 }, 17, 1, 2, 0, 2 },
	{ { 16, 7, 7 }, 130, 1, 1, 0, 9 },  { { 5, 9, 9 }, 3, 5, 3, 4, 2 },
	{ { 2, 4, 4 }, 1, 4, 1, 0, 3 },	    { { 48, 3, 3 }, 49, 3, 2, 2, 4 },
	{ { 3, 15, 13 }, 16, 7, 2, 3, 2 },  { { 300, 3, 2 }, 20, 2, 1, 1, 2 },
	{ { 1, 1, 1 }, 1, 1, 1, 0, 1 },	    { { 9, 2, 30 }, 80, 2, 5, 1, 1 },
	{ { 20, 12, 12 }, 40, 2, 3, 0, 13 }, { { 4, 6, 6 }, 12, 2, 1, 0, 600 },
	{ { 15, 7, 7 }, 16, 3, 1, 1, 1 },   { { 40, 13, 13 }, 33, 3, 2, 1, 2 },
	{ { 20, 5, 4 }, 530, 1, 1, 0, 3 },  { { 60, 7, 8 }, 20, 3, 2, 0, 3 },
	{ { 32, 9, 9 }, 17, 4, 1, 0, 2 },   { { 16, 6, 6 }, 300, 3, 1, 0, 2 },
};

#define CASES (sizeof(cases) / sizeof(cases[0]))

/* The products of a build. */
struct products {
	const char *name;
	const struct igemm_kernels *kernels;
	int rounds; /* factors, to bf16 */
};

/* Everything of one case, in double and [channel][row][column], too. */
struct run {
	const struct conv_case *one;
	const struct products *products;
	struct layer layer;
	struct igemm_conv conv;
	size_t in_size, out_size, weight_count; /* of the reference */
	size_t own_in, own_out, own_weights;
	double *x, *w, *bias, *y, *dy, *dw, *dbias, *dx;
	float *in, *joined, *out, *gradient, *weights, *biases, *back, *by_w,
		*by_bias;
	float *zeros; /* padding; nothing after it may be read */
};

static double *draw(struct mt19937 *generator, size_t count)
{
	double *values = allocate(count * sizeof(*values));

	for (size_t i = 0; i < count; i++)
		values[i] = mt19937_uniform(generator, -1, 1);
	return values;
}

/* Place of a value of planes, [channel][row][column], among channels-last. */
static size_t place(struct shape shape, int stride, size_t i)
{
	const size_t pixels = (size_t)(shape.height * shape.width);
	const size_t each = pixels * (size_t)shape.channels;

	return (i / each * pixels + i % pixels) * (size_t)stride +
	       i % each / pixels;
}

static float *to_planes(const double *values, size_t count, struct shape shape,
			int stride, size_t size)
{
	float *to = host_allocate(size * sizeof(*to));

	assert_non_null(to);
	for (size_t i = 0; i < count; i++)
		to[place(shape, stride, i)] = (float)values[i];
	return to;
}

/* Rounds drawn values to what products take, so that both sides start equal. */
static void round_factors(const struct run *run, double *values, size_t count)
{
	for (size_t i = 0; i < count; i++)
		values[i] = (float)values[i];
	if (run->products->rounds)
		storage_round_double(PRECISION_BF16_STORAGE, values, count);
}

static size_t weight_at(const struct run *run, size_t i)
{
	const int window = run->layer.window;
	const int place_of = (int)i % (window * window);
	const int row = (int)i / (window * window);

	return igemm_conv_weight_at(&run->conv, row / run->one->in.channels,
				     row % run->one->in.channels,
				     place_of / window, place_of % window);
}

static void open_values(struct run *run, uint32_t seed)
{
	const size_t count = (size_t)run->one->count;
	const size_t outputs = (size_t)run->one->outputs;
	struct mt19937 generator;
	double *factors; /* the bias and its gradient are none */

	mt19937_seed(&generator, seed);
	run->x = draw(&generator, count * run->in_size);
	run->w = draw(&generator, run->weight_count);
	run->bias = draw(&generator, outputs);
	run->dy = draw(&generator, count * run->out_size);
	round_factors(run, run->x, count * run->in_size);
	round_factors(run, run->w, run->weight_count);
	for (size_t o = 0; o < outputs; o++)
		run->bias[o] = (float)run->bias[o];
	for (size_t i = 0; i < count * run->out_size; i++)
		run->dy[i] = (float)run->dy[i];
	factors = allocate(count * run->out_size * sizeof(double));
	memcpy(factors, run->dy, count * run->out_size * sizeof(double));
	round_factors(run, factors, count * run->out_size);
	run->y = allocate(count * run->out_size * sizeof(double));
	run->dw = allocate(run->weight_count * sizeof(double));
	run->dbias = allocate(outputs * sizeof(double));
	run->dx = allocate(count * run->in_size * sizeof(double));
	for (size_t n = 0; n < count; n++) {
		conv_forward(&run->layer, run->x + n * run->in_size,
			     run->one->in, run->w, run->bias,
			     run->y + n * run->out_size);
		conv_backward(&run->layer, run->x + n * run->in_size,
			      run->one->in, run->w,
			      factors + n * run->out_size, run->dw, NULL,
			      run->dx + n * run->in_size);
		bias_backward(layer_output(&run->layer, run->one->in),
			      run->dy + n * run->out_size, run->dbias);
	}
	free(factors);
}

/* Allocates all arrays in the kernels' layout. */
static void open_own(struct run *run)
{
	const struct conv_case *one = run->one;
	const struct igemm_conv *conv = &run->conv;
	const size_t count = (size_t)one->count;
	const size_t padded = (size_t)igemm_padded(&conv->forward);
	const size_t size = igemm_conv_joined_size(conv);

	run->own_in = (size_t)(one->in.height * one->in.width *
			       conv->in_stride);
	run->own_out = (size_t)(conv->forward.pixels * conv->out_stride);
	run->own_weights = igemm_weights(&conv->forward);
	run->in = to_planes(run->x, count * run->in_size, one->in,
			    conv->in_stride, count * run->own_in);
	run->gradient = to_planes(run->dy, count * run->out_size, conv->out,
				  conv->out_stride, count * run->own_out);
	run->joined = host_allocate(count * size * sizeof(float));
	for (size_t n = 0; conv->joined && n < count; n++)
		igemm_conv_join(conv, run->in + n * run->own_in, 1,
				 (size_t)conv->in_stride,
				 run->joined + n * size);
	run->out = host_allocate(count * run->own_out * sizeof(float));
	run->back = host_allocate(count * run->own_in * sizeof(float));
	run->weights = host_allocate(run->own_weights * sizeof(float));
	run->by_w = host_allocate(run->own_weights * sizeof(float));
	run->biases = host_allocate(padded * sizeof(float));
	run->by_bias = host_allocate(padded * sizeof(float));
	for (size_t i = 0; i < run->weight_count; i++)
		run->weights[weight_at(run, i)] = (float)run->w[i];
	for (int o = 0; o < one->outputs; o++)
		run->biases[o] = (float)run->bias[o];
	for (size_t i = 0; i < count * run->own_out; i++)
		run->out[i] = UNTOUCHED;
	for (size_t i = 0; i < count * run->own_in; i++)
		run->back[i] = UNTOUCHED;
}

/* As many as igemm_conv_open() makes. */
static void open_zeros(struct run *run)
{
	const struct conv_case *one = run->one;
	const int channels = one->in.channels;
	const int count = channels > one->outputs ? channels : one->outputs;
	const int past = count + run->conv.forward.depth + IGEMM_BLOCK;

	run->zeros = allocate((size_t)past * sizeof(float));
	for (int i = count; i < past; i++)
		run->zeros[i] = NAN;
	run->conv.forward.zeros = run->zeros;
}

/* The reference's numbers come from run_values(), once for each way that the
 * products read them. */
static void run_open(struct run *run, int gaps, int joined, enum igemm_dx dx)
{
	const struct conv_case *one = run->one;

	assert_int_equal(igemm_conv_open(&run->conv, &run->layer, one->in,
					  one->in.channels + gaps,
					  one->outputs + 2 * gaps, joined, dx),
			 0);
	open_zeros(run);
	open_own(run);
}

static void run_close(struct run *run)
{
	void *const all[] = { run->in, run->joined, run->out, run->gradient,
			      run->weights, run->biases, run->back, run->by_w,
			      run->by_bias, run->zeros };

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		free(all[i]);
	igemm_conv_close(&run->conv);
}

static void run_values(struct run *run, const struct conv_case *one,
		       const struct products *products)
{
	*run = (struct run){
		.one = one,
		.products = products,
		.layer = { .kind = LAYER_CONV, .outputs = one->outputs,
			   .window = one->window, .stride = one->stride,
			   .pad = one->pad },
		.in_size = shape_size(one->in),
		.weight_count = (size_t)(one->outputs * one->in.channels *
					 one->window * one->window),
	};
	run->out_size = shape_size(layer_output(&run->layer, one->in));
	open_values(run, (uint32_t)(one - cases));
}

static void run_free(struct run *run)
{
	void *const all[] = { run->x, run->w, run->bias, run->y, run->dy,
			      run->dw, run->dbias, run->dx };

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		free(all[i]);
}

static void assert_value(const struct run *run, const char *what, size_t i,
			 double value, double right, double scale)
{
	if (!(fabs(value - right) <= NEAR * scale))
		fail_msg("%s, case %d: %s %zu is %.9g, not %.9g within %g",
			 run->products->name, (int)(run->one - cases), what, i,
			 value, right, NEAR * scale);
}

/* Values are `times` the planes or, if times is below 0, their ReLU. Gaps
 * between pixels are untouched. */
static void compare_planes(const struct run *run, const char *what,
			   const float *values, const double *right,
			   struct shape shape, int stride, int passes)
{
	const size_t pixels = (size_t)(run->one->count * shape.height *
				       shape.width);
	const size_t count = pixels * (size_t)shape.channels;
	const double scale = largest(right, count);

	for (size_t i = 0; i < count; i++)
		assert_value(run, what, i, values[place(shape, stride, i)],
			     passes < 0 ? -passes * fmax(right[i], 0) :
					  passes * right[i],
			     abs(passes) * scale);
	for (size_t i = 0; i < pixels * (size_t)stride; i++)
		if ((int)(i % (size_t)stride) >= shape.channels)
			assert_true(values[i] == UNTOUCHED);
}

static struct igemm_batch batch_of(const struct run *run)
{
	const struct igemm_conv *conv = &run->conv;

	return (struct igemm_batch){
		.count = run->one->count,
		.in = conv->joined ? run->joined : run->in,
		.in_sample = conv->joined ? igemm_conv_joined_size(conv) :
					    run->own_in,
		.out_sample = run->own_out,
	};
}

/* Of NaNs, for free(): what is not written there has to do no harm. */
static void *take_scratch(const struct igemm_conv *conv)
{
	const size_t bytes = IGEMM_SCRATCH + igemm_conv_rounded(conv);
	void *scratch = host_allocate(bytes);

	assert_non_null(scratch);
	memset(scratch, 0xff, bytes);
	return scratch;
}

static void compare_forward(struct run *run)
{
	const struct igemm_kernels *kernels = run->products->kernels;
	const struct igemm_conv *conv = &run->conv;
	const struct igemm_batch batch = batch_of(run);
	struct igemm_end end = { .bias = run->biases };
	void *scratch = take_scratch(conv);

	kernels->multiply(&conv->forward, &batch, run->weights, &end, run->out,
			  scratch);
	compare_planes(run, "output", run->out, run->y, conv->out,
		       conv->out_stride, 1);
	end.adds = 1;
	kernels->multiply(&conv->forward, &batch, run->weights, &end, run->out,
			  scratch);
	compare_planes(run, "output and output", run->out, run->y, conv->out,
		       conv->out_stride, 2);
	end.adds = 0;
	end.relu = 1;
	kernels->multiply(&conv->forward, &batch, run->weights, &end, run->out,
			  scratch);
	compare_planes(run, "ReLU", run->out, run->y, conv->out,
		       conv->out_stride, -1);
	/* As after a block of ResNet: y is added to y, or to 0 below 0. */
	end.adds = 1;
	kernels->multiply(&conv->forward, &batch, run->weights, &end, run->out,
			  scratch);
	compare_planes(run, "ReLU of a sum", run->out, run->y, conv->out,
		       conv->out_stride, -2);
	free(scratch);
}

/* Places of out that hold a value, in order; returns how many. */
static size_t find_outputs(const struct run *run, size_t *places)
{
	const struct igemm *forward = &run->conv.forward;
	size_t count = 0;

	for (size_t n = 0; n < (size_t)run->one->count; n++)
		for (int p = 0; p < forward->pixels; p++)
			for (int o = 0; o < forward->outputs; o++)
				places[count++] =
					n * run->own_out +
					(size_t)(forward->places[p] + o);
	return count;
}

/* Factors that were rounded before give equal bits, and so do outputs that are
 * rounded after; nothing is written between pixels. */
static void compare_packed(struct run *run)
{
	const struct igemm_kernels *kernels = run->products->kernels;
	const struct igemm *forward = &run->conv.forward;
	const struct igemm_batch batch = batch_of(run);
	const size_t in_size = (size_t)batch.count * batch.in_sample;
	const size_t out_size = (size_t)batch.count * batch.out_sample;
	struct igemm_end end = { .bias = run->biases, .relu = 1 };
	void *scratch = take_scratch(&run->conv);
	void *packed = host_allocate(igemm_rounded(forward));
	uint16_t *in = allocate(in_size * sizeof(*in));
	uint16_t *rounded = allocate(out_size * sizeof(*rounded));
	uint16_t *right = allocate(out_size * sizeof(*right));
	size_t *places = allocate(out_size * sizeof(*places));
	float *out = allocate(out_size * sizeof(*out));
	const size_t count = find_outputs(run, places);

	assert_non_null(packed);
	kernels->round(batch.in, in_size, in);
	kernels->pack(forward, run->weights, packed);
	kernels->multiply(forward, &batch, run->weights, &end, run->out,
			  scratch);
	kernels->multiply_packed(forward, &batch, in, packed, &end, out,
				 scratch);
	for (size_t i = 0; i < count; i++)
		assert_memory_equal(&out[places[i]], &run->out[places[i]],
				    sizeof(*out));
	kernels->multiply(forward, &batch, run->weights,
			  &(struct igemm_end){ run->biases, .adds = 1,
						.relu = 1 },
			  run->out, scratch);
	kernels->round(run->out, out_size, right);
	end.adds = 1;
	end.rounded = rounded;
	kernels->multiply_packed(forward, &batch, NULL, packed, &end, out,
				 scratch);
	for (size_t i = 0; i < count; i++) {
		assert_int_equal(rounded[places[i]], right[places[i]]);
		rounded[places[i]] = 0;
	}
	for (size_t i = 0; i < out_size; i++)
		assert_int_equal(rounded[i], 0);
	free(scratch);
	free(packed);
	free(in);
	free(rounded);
	free(right);
	free(places);
	free(out);
}

static void compare_dx(struct run *run)
{
	const struct igemm_kernels *kernels = run->products->kernels;
	const struct igemm_conv *conv = &run->conv;

	const struct igemm_batch batch = { run->one->count, run->gradient,
					    run->own_out, run->own_in };
	float *transposed = allocate(conv->transposed * sizeof(float));
	void *scratch = take_scratch(conv);

	igemm_conv_transpose(conv, kernels, run->weights, transposed);
	for (int pass = 0; pass < 2; pass++) {
		igemm_conv_dx(conv, kernels, &batch, transposed, pass,
			       run->back, scratch);
		compare_planes(run, "dx", run->back, run->dx, run->one->in,
			       conv->in_stride, pass + 1);
	}
	free(transposed);
	free(scratch);
}

static void compare_dw(struct run *run)
{
	const struct igemm_conv *conv = &run->conv;
	const struct igemm_batch batch = batch_of(run);
	const double scale = largest(run->dw, run->weight_count);
	const size_t outputs = (size_t)run->one->outputs;
	void *scratch = take_scratch(conv);
	double sum = 0, right = 0;

	for (int pass = 0; pass < 2; pass++)
		run->products->kernels->differentiate(
			&conv->forward, &batch, run->gradient, run->by_w,
			pass ? NULL : run->by_bias, scratch);
	for (size_t i = 0; i < run->weight_count; i++) {
		assert_value(run, "dw", i, run->by_w[weight_at(run, i)] / 2,
			     run->dw[i], scale);
		right += fabs(run->by_w[weight_at(run, i)]);
	}
	/* Padding stays 0. */
	for (size_t i = 0; i < run->own_weights; i++)
		sum += fabs(run->by_w[i]);
	assert_close("what is stored", sum, right, 1e-9 * right);
	for (size_t o = 0; o < outputs; o++)
		assert_value(run, "dbias", o, run->by_bias[o], run->dbias[o],
			     largest(run->dbias, outputs));
	free(scratch);
}

/* Where it is less to do, and pixels are far enough apart: of case 3, 5x5 on
 * 28x28 pixels without padding, but not of case 0, which has some. */
static void add_windows(struct run *run, int gaps, int joined)
{
	const int channels = run->one->in.channels;

	run_open(run, igemm_whole(channels) - channels + gaps, joined,
		 IGEMM_DX_CHEAPEST);
	assert_true(run->one != &cases[3] || run->conv.adds_windows);
	assert_false(run->one == &cases[0] && run->conv.adds_windows);
	compare_dx(run);
	run_close(run);
}

static void convolutions_are_right(void **products)
{
	for (size_t i = 0; i < CASES; i++) {
		const int gaps = (int)i % 3;
		struct run run;

		run_values(&run, &cases[i], *products);
		for (int joined = 0; joined < 2; joined++) {
			run_open(&run, gaps, joined, IGEMM_DX_PIXELS);
			compare_forward(&run);
			if (run.products->kernels->multiply_packed)
				compare_packed(&run);
			compare_dx(&run);
			compare_dw(&run);
			run_close(&run);
			if (run.products->kernels->spreads)
				add_windows(&run, gaps, joined);
		}
		run_free(&run);
	}
}

int main(void)
{
	static struct products products[MOST_BUILDS];
	struct CMUnitTest tests[MOST_BUILDS];
	size_t count = 0;

	for (size_t b = 0; cpu_builds[b]; b++) {
		const struct cpu_kernels *build = cpu_builds[b];

		for (int rounds = 0; rounds <= (build->igemm_bf16 != NULL);
		     rounds++, count++) {
			const int is_there = build->supported() &&
				(!rounds || cpu_bf16_products(build));

			products[count] = (struct products){
				build->name, rounds ? build->igemm_bf16 :
						      build->igemm, rounds
			};
			tests[count] = (struct CMUnitTest){
				.name = !rounds ? build->name :
					!b	? "amx, bf16" : "avx512, bf16",
				.test_func = test_if(is_there,
						     convolutions_are_right),
				.initial_state = &products[count],
			};
		}
	}
	return _cmocka_run_group_tests("gather", tests, count, NULL, NULL);
}
