/*
 * For tests of a backend: a program of it and one of the reference, with the
 * same parameters, fed the same. Rounding may choose another winner, so the
 * reference follows the backend's decisions, which are themselves checked.
 */
#ifndef TESTS_PAIR_H
#define TESTS_PAIR_H

#include "backends/contract/program.h"
#include "models/random.h"
#include "tests/kernels/skipping.h"

#define BATCH 5
#define TEST_BATCH 7
#define SEED 123456789123456789u
#define NEAR 1e-5 /* of the largest entry of a tensor */

static struct error err;
static struct device *device,
	*reference_device;	       /* a backend's, the reference's */
static enum algorithm algorithm;       /* of the backend's programs */

static void check(int result)
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

static float random_float(uint32_t *state)
{
	*state = *state * 1664525u + 1013904223u;
	return (float)(*state >> 8) / (1 << 23) - 1;
}

static void *allocate(size_t count, size_t size)
{
	void *memory = calloc(count, size);

	assert_non_null(memory);
	return memory;
}

static void pair_open(struct pair *pair, const struct model *model,
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
	pair->parameters = allocate(parameters, sizeof(float));
	pair->found = allocate(parameters, sizeof(float));
	pair->expected = allocate(parameters, sizeof(float));
	pair->images = allocate(TEST_BATCH * size, sizeof(float));
	pair->decisions = allocate(BATCH, 1 << 20);
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

static void pair_close(struct pair *pair)
{
	program_free(pair->program);
	program_free(pair->reference);
	free(pair->parameters);
	free(pair->found);
	free(pair->expected);
	free(pair->images);
	free(pair->decisions);
}

static void expect_near(const struct pair *pair, const float *found,
			const float *expected)
{
	struct tensor tensors[MODEL_MAX_TENSORS];
	int count = model_tensors(pair->model, tensors);

	for (int t = 0; t < count; t++) {
		const float *f = found + tensors[t].offset;
		const float *e = expected + tensors[t].offset;
		double largest = 0, worst = 0;

		for (size_t i = 0; i < tensors[t].count; i++) {
			largest = fmax(largest, fabs(e[i]));
			worst = fmax(worst, fabs((double)f[i] - e[i]));
			assert_true(isfinite(f[i]));
		}
		if (worst > NEAR * largest)
			fail_msg("%s of %s: off by %g of %g", tensors[t].name,
				 pair->model->name, worst, largest);
	}
}

/* The choices of a dropout layer, as models/random.h makes them. */
static void expect_choices(struct pair *pair, int index, size_t each)
{
	const struct layer *layer = &pair->model->layers[index];
	const struct batch *batch = &pair->batch;
	uint8_t *keep = allocate(each, 1);

	for (int i = 0; i < batch->count; i++) {
		memset(keep, 1, each);
		if (pair->program->options.dropout)
			dropout_choices(SEED, batch->step,
					(uint32_t)(batch->place +
						   batch->stride * i),
					(uint32_t)index, layer->drop,
					(int)each, keep);
		assert_memory_equal(keep, pair->decisions + (size_t)i * each,
				    each);
	}
	free(keep);
}

/* The reference decides from now on as the device just did. */
static void follow(struct pair *pair)
{
	for (int i = 0; i < pair->model->layer_count; i++) {
		const struct layer *layer = &pair->model->layers[i];
		size_t each = layer_decisions(
			layer, model_layer_input(pair->model, i));

		if (!each)
			continue;
		assert_true(each <= 1 << 20);
		memset(pair->decisions, 0, BATCH * each);
		check(program_decisions(pair->program, i, pair->decisions,
					&err));
		if (layer_drops(layer))
			expect_choices(pair, i, each);
		check(program_impose(pair->reference, i, pair->decisions,
				     &err));
	}
}

static void expect_regrets(const struct pair *pair)
{
	for (int i = 0; i < pair->model->layer_count; i++) {
		enum layer_kind kind = pair->model->layers[i].kind;

		if (kind != LAYER_RELU && kind != LAYER_MAXPOOL)
			continue;
		if (program_regret(pair->reference, i) > NEAR)
			fail_msg("%s, layer %d decides wrongly by %g",
				 pair->model->name, i,
				 program_regret(pair->reference, i));
	}
}

static void expect_gradient(struct pair *pair)
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

static void expect_evaluation(struct pair *pair)
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

#endif
