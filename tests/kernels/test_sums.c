/*
 * Sums over more than a million pixels and samples, by every backend that
 * computes, against OpenBLAS in double. A float that takes a million values one
 * after the other is off by more than 1e-4 of their sum.
 */
#include "tests/kernels/variants.h"

#define BOUND 1e-5

/* By Winograd's tiles, where a backend has them; below a mean of a whole plane
 * all gradients of a sample are equal. */
static const struct layer tiles_rows[] = {
	{ .kind = LAYER_CONV, .name = "a", .outputs = 16, .window = 3,
	  .pad = 1 },
	{ .kind = LAYER_AVGPOOL, .outputs = 1 },
	{ .kind = LAYER_LINEAR, .name = "b", .outputs = 5 },
	{ .kind = LAYER_LOSS },
};

/* Of images, and of a window of 1. */
static const struct layer gathered_rows[] = {
	{ .kind = LAYER_CONV, .name = "a", .outputs = 5, .window = 3,
	  .pad = 1 },
	{ .kind = LAYER_CONV, .name = "b", .outputs = 7, .window = 1 },
	{ .kind = LAYER_AVGPOOL, .outputs = 1 },
	{ .kind = LAYER_LINEAR, .name = "c", .outputs = 5 },
	{ .kind = LAYER_LOSS },
};

/* What takes routes of a pooling, after an image's convolution. */
static const struct layer pooled_rows[] = {
	{ .kind = LAYER_CONV, .name = "a", .outputs = 8, .window = 3 },
	{ .kind = LAYER_RELU },
	{ .kind = LAYER_CONV, .name = "b", .outputs = 8, .window = 3 },
	{ .kind = LAYER_RELU },
	{ .kind = LAYER_MAXPOOL, .window = 2 },
	{ .kind = LAYER_AVGPOOL, .outputs = 3 },
	{ .kind = LAYER_LINEAR, .name = "c", .outputs = 5 },
	{ .kind = LAYER_LOSS },
};

static const struct layer mean_rows[] = {
	{ .kind = LAYER_AVGPOOL, .outputs = 1 },
	{ .kind = LAYER_LINEAR, .name = "a", .outputs = 3 },
	{ .kind = LAYER_LOSS },
};

static const struct layer single_rows[] = {
	{ .kind = LAYER_LINEAR, .name = "a", .outputs = 3 },
	{ .kind = LAYER_LOSS },
};

/*
 * A model with its samples, and what is right for `count` of them if no
 * decisions are imposed. The gpu class of OpenCL sums each sample's pixels
 * apart: its sums of two samples are as long as its sums of nine.
 */
struct sums {
	const struct model model;
	int samples, gpu_samples, decides, count;
	double loss;
	float *gradient;
};

#define SUMS(name_, samples_, gpu_, decides_, ...)                            \
	static struct sums name_ = {                                          \
		.model = { .name = #name_, .input = { __VA_ARGS__ },          \
			   .layers = name_##_rows,                            \
			   .layer_count = sizeof(name_##_rows) /              \
					  sizeof(struct layer) },             \
		.samples = samples_, .gpu_samples = gpu_,                     \
		.decides = decides_,                                          \
	}

SUMS(tiles, 9, 9, 0, 16, 301, 409);
SUMS(gathered, 9, 2, 0, 1, 301, 409);
SUMS(pooled, 9, 9, 1, 1, 301, 409);
SUMS(mean, 1, 1, 0, 2, 1024, 1023);
SUMS(single, 1100000, 1100000, 0, 2, 1, 1);

/* Values of one sign, so that the sums are large. */
static struct batch batch_above_zero(const struct model *model, int count)
{
	struct batch batch = batch_make(model, 5, count);
	const size_t values = (size_t)count * shape_size(model->input);
	float *images = (float *)batch.images;

	for (size_t i = 0; i < values; i++)
		images[i] = .3f + .25f * fabsf(images[i]);
	return batch;
}

static struct program_options options_of(int samples, enum precision precision)
{
	return (struct program_options){ .batch = samples,
					 .test_batch = 1,
					 .precision = precision };
}

/* tried has decided; what was right before stays so. */
static void find_right(struct sums *sums, const struct batch *batch,
		       struct subject *tried)
{
	const struct program_options options = options_of(batch->count,
							  PRECISION_FP64);
	struct subject right;

	if (sums->count == batch->count && !sums->decides)
		return;
	sums->count = batch->count;
	free(sums->gradient);
	subject_open(&right, "openblas", &sums->model, &options);
	subject_start(&right, 5);
	subject_follow(&right, tried);
	sums->loss = subject_gradient(&right, batch).loss;
	sums->gradient = subject_load(&right, VECTOR_GRADIENT);
	subject_close(&right);
}

static void sums_are_right(const struct variant *variant, struct sums *sums)
{
	const int samples = strcmp(variant->name, "opencl gpu") ?
				    sums->samples : sums->gpu_samples;
	const struct program_options options = options_of(samples,
							  variant->precision);
	struct batch batch = batch_above_zero(&sums->model, samples);
	struct subject tried;
	struct score score;
	float *gradient;

	variant_choose(variant);
	subject_open_class(&tried, variant->backend, variant->device_class,
			   &sums->model, &options);
	subject_start(&tried, 5);
	score = subject_gradient(&tried, &batch);
	gradient = subject_load(&tried, VECTOR_GRADIENT);
	find_right(sums, &batch, &tried);
	assert_close("the loss", score.loss, sums->loss, BOUND * sums->loss);
	assert_tensors(&sums->model, "the gradient", gradient, sums->gradient,
		       BOUND);
	free(gradient);
	subject_close(&tried);
	batch_free(&batch);
}

static void tiles_are_summed(void **state)
{
	sums_are_right(*state, &tiles);
}

static void gathered_are_summed(void **state)
{
	sums_are_right(*state, &gathered);
}

static void pooled_are_summed(void **state)
{
	sums_are_right(*state, &pooled);
}

static void means_are_summed(void **state)
{
	sums_are_right(*state, &mean);
}

static void samples_are_summed(void **state)
{
	sums_are_right(*state, &single);
}

/* The reference, whose loops are long, has no more than these in common with
 * the others; the gpu class has no tiles. */
static int has_tiles(const struct variant *variant)
{
	return strcmp(variant->backend, "reference") &&
	       strcmp(variant->name, "opencl gpu");
}

/* What pools along with a convolution. */
static int has_routes(const struct variant *variant)
{
	return !strcmp(variant->backend, "opencl");
}

int main(void)
{
	static const struct check checks[] = {
		{ "convolutions of images", gathered_are_summed, 1 },
		{ "means", means_are_summed, 1 },
		{ "linear layers", samples_are_summed, 1 },
	};
	static const struct check by_tiles = { "convolutions by tiles",
					       tiles_are_summed, 1 };
	static const struct check routed = { "convolutions that are pooled",
					     pooled_are_summed, 1 };

	return run_variants("sums", checks,
			    sizeof(checks) / sizeof(checks[0])) +
	       run_some_variants("sums, tiles", &by_tiles, 1, has_tiles) +
	       run_some_variants("sums, routes", &routed, 1, has_routes);
}
