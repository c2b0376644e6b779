/*
 * For tests of the OpenCL backend: its device and the reference's, a program of
 * each with the same parameters, and batches for both. Rounding may choose
 * another winner, so the reference follows the device's decisions, which are
 * themselves checked.
 */
#ifndef TESTS_OPENCL_PAIR_H
#define TESTS_OPENCL_PAIR_H

#include "tests/kernels/subject.h"

#define BATCH 5
#define TEST_BATCH 7
#define SEED 123456789123456789u
#define NEAR 1e-5 /* of the largest entry of a tensor */

static struct error err;
static struct device *device, *reference_device;
static enum algorithm algorithm;       /* of the programs of OpenCL */

static inline void check(int result)
{
	if (result)
		fail_msg("%s", err.message);
}

/* A program of each, with the same parameters, and something to feed them. */
struct pair {
	const struct model *model;
	struct program *program, *reference;
	float *parameters, *found, *expected;
	float *images;
	uint16_t labels[TEST_BATCH];
	uint8_t *decisions;
	struct batch batch;
};

static inline float random_float(uint32_t *state)
{
	*state = *state * 1664525u + 1013904223u;
	return (float)(*state >> 8) / (1 << 23) - 1;
}

static inline void pair_open(struct pair *pair, const struct model *model,
			     int dropout)
{
	const struct program_options options = { .batch = BATCH,
						 .test_batch = TEST_BATCH,
						 .seed = SEED,
						 .dropout = dropout,
						 .algorithm = algorithm };
	const size_t size = shape_size(model->input);
	const size_t parameters = model_parameter_count(model);
	uint32_t state = 1;

	pair->model = model;
	check(program_compile(device, model, &options, &pair->program, &err));
	check(program_compile(reference_device, model, &options,
			      &pair->reference, &err));
	pair->parameters = allocate(parameters * sizeof(float));
	pair->found = allocate(parameters * sizeof(float));
	pair->expected = allocate(parameters * sizeof(float));
	pair->images = allocate(TEST_BATCH * size * sizeof(float));
	pair->decisions = allocate(BATCH << 20);
	model_init(model, 1, pair->parameters);
	for (size_t i = 0; i < TEST_BATCH * size; i++)
		pair->images[i] = 2 * random_float(&state);
	for (int i = 0; i < TEST_BATCH; i++)
		pair->labels[i] = (uint16_t)(7 * i % model_classes(model));
	check(program_store(pair->program, VECTOR_PARAMETERS,
			    pair->parameters, &err));
	check(program_store(pair->reference, VECTOR_PARAMETERS,
			    pair->parameters, &err));
	pair->batch = (struct batch){ .images = pair->images,
				      .labels = pair->labels,
				      .count = 3,
				      .global_count = 8,
				      .step = 41,
				      .place = 5,
				      .stride = 3 };
}

static inline void pair_close(struct pair *pair)
{
	program_free(pair->program);
	program_free(pair->reference);
	free(pair->parameters);
	free(pair->found);
	free(pair->expected);
	free(pair->images);
	free(pair->decisions);
}

/* The reference decides from now on as the device just did. */
static inline void follow(struct pair *pair)
{
	struct subject tried = { device, pair->program };
	struct subject right = { reference_device, pair->reference };

	assert_masks(&tried, &pair->batch);
	subject_follow(&right, &tried);
}

static inline void expect_regrets(const struct pair *pair)
{
	struct subject right = { reference_device, pair->reference };

	assert_regrets(&right, NEAR);
}

static inline void expect_near(const struct pair *pair, const float *found,
			       const float *expected)
{
	assert_tensors(pair->model, "the vector", found, expected, NEAR);
}

static inline void expect_gradient(struct pair *pair)
{
	struct score found, expected;

	check(program_gradient(pair->program, &pair->batch, &err));
	check(program_finish(pair->program, &found, &err));
	follow(pair);
	check(program_gradient(pair->reference, &pair->batch, &err));
	check(program_finish(pair->reference, &expected, &err));
	expect_regrets(pair);
	assert_int_equal(found.count, pair->batch.count);
	assert_int_equal(found.correct, expected.correct);
	assert_true(fabs(found.loss - expected.loss) <= NEAR * expected.loss);
	check(program_load(pair->program, VECTOR_GRADIENT, pair->found, &err));
	check(program_load(pair->reference, VECTOR_GRADIENT, pair->expected,
			   &err));
	expect_near(pair, pair->found, pair->expected);
}

static inline void expect_evaluation(struct pair *pair)
{
	struct batch batch = pair->batch;

	for (batch.count = 1; batch.count <= TEST_BATCH; batch.count += 3) {
		struct score found = { .loss = 1 }, expected = { .loss = 1 };

		check(program_evaluate(pair->program, &batch, &found, &err));
		check(program_evaluate(pair->reference, &batch, &expected,
				       &err));
		assert_int_equal(found.count, batch.count);
		assert_int_equal(found.correct, expected.correct);
		assert_true(fabs(found.loss - expected.loss) <=
			    NEAR * expected.loss);
	}
}

/* Gradients of whole, odd, empty and single batches, and an evaluation. */
static inline void model_is_right(const struct model *model)
{
	static const int counts[] = { 3, BATCH, 0, 1 };
	struct pair pair;

	pair_open(&pair, model, 1);
	for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++) {
		pair.batch.count = counts[i];
		pair.batch.step += 1;
		expect_gradient(&pair);
	}
	expect_evaluation(&pair);
	pair_close(&pair);
}

/* Every test is run for each; see run_class(). */
static const char *device_class;

static inline struct device_request pair_request(void)
{
	return (struct device_request){ .threads = 1,
					.cpus = 2,
					.device_class = device_class };
}

static inline int open_devices(void **state)
{
	const struct device_request request = pair_request();

	(void)state;
	return device_open(backend_find("reference"), &request,
			   &reference_device, &err) ||
	       device_open(backend_find("opencl"), &request, &device, &err);
}

static inline int close_devices(void **state)
{
	(void)state;
	device_close(device);
	device_close(reference_device);
	return 0;
}

static inline int run_with_device(const char *name,
				  const struct CMUnitTest *tests, size_t count,
				  CMFixtureFunction setup)
{
	const struct device_request request = pair_request();

	return run_group_if(have_device("opencl", &request), name, tests,
			    count, setup, close_devices);
}

/* How many tests failed. */
static inline int run_class(const char *name, enum algorithm own,
			    const struct CMUnitTest *tests, size_t count)
{
	device_class = name;
	algorithm = own;
	print_message("class %s, %s\n", name, algorithm_name(own));
	return run_with_device(name, tests, count, open_devices);
}

/* All kernels: the class of GPUs has one algorithm. Compiling takes nearly all
 * of the time of a test, so a test of some kernels runs these alone. */
static inline int run_classes(const struct CMUnitTest *tests, size_t count)
{
	return run_class("cpu", ALGORITHM_FAST, tests, count) +
	       run_class("cpu", ALGORITHM_DENSE, tests, count) +
	       run_class("gpu", ALGORITHM_FAST, tests, count);
}

#endif
