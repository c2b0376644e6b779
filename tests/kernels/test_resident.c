/* A data set on the OpenCL device, against batches that are brought. */
#include "tests/kernels/opencl_pair.h"

#include "backends/parallel/replica.h"
#include "backends/opencl/program/memory.h"
#include "backends/opencl/program/program.h"
#include "bench/data/loader.h"

#define TRAIN 23
#define TEST 611 /* more than an evaluation has on the device at a time */
#define PIXELS (3 * 5 * 7)
#define CLASSES 300

static const struct layer layers[] = {
	{ .kind = LAYER_CONV, .name = "a", .outputs = 6, .window = 2 },
	{ .kind = LAYER_RELU },
	{ .kind = LAYER_DROPOUT, .drop = 0.3 },
	{ .kind = LAYER_LINEAR, .name = "b", .outputs = CLASSES },
	{ .kind = LAYER_LOSS },
};

static const struct model model = {
	.name = "resident",
	.input = { 3, 5, 7 },
	.scale = { { .1307f, .1307f, .1307f }, { .3081f, .3081f, .3081f } },
	.layers = layers,
	.layer_count = sizeof(layers) / sizeof(layers[0]),
};

static uint8_t train_images[TRAIN * PIXELS], test_images[TEST * PIXELS];
static uint16_t train_labels[TRAIN], test_labels[TEST];

static const struct dataset dataset = {
	.name = "drawn",
	.shape = { 3, 5, 7 },
	.classes = CLASSES,
	.train = { .count = TRAIN,
		    .images = train_images, .labels = train_labels },
	.test = { .count = TEST,
		    .images = test_images, .labels = test_labels },
};

static unsigned draw(uint32_t *seed, unsigned below)
{
	*seed = *seed * 1664525u + 1013904223u;
	return (*seed >> 16) % below;
}

static void draw_samples(uint8_t *images, uint16_t *labels, int count,
			 uint32_t seed)
{
	for (int i = 0; i < count * PIXELS; i++)
		images[i] = (uint8_t)draw(&seed, PIXEL_VALUES);
	for (int i = 0; i < count; i++)
		labels[i] = (uint16_t)draw(&seed, CLASSES);
}

static int open_all(void **state)
{
	draw_samples(train_images, train_labels, TRAIN, 1);
	draw_samples(test_images, test_labels, TEST, 2);
	return open_devices(state);
}

/* The same stream of batches, once brought and once resident. */
struct streams {
	struct loader_plan plan;
	struct program *program, *resident;
	struct loader *brought, *resident_batches;
};

static struct loader *open_loader(const struct loader_plan *plan)
{
	struct loader *loader = loader_open(plan, &err);

	if (!loader)
		fail_msg("%s", err.message);
	return loader;
}

static struct program *make_program(const struct loader_plan *plan)
{
	const struct program_options options = {
		.batch = replica_share(0, plan->size, plan->global_batch),
		.test_batch = replica_share(0, plan->size, plan->test_batch),
		.seed = SEED,
		.dropout = 1,
	};
	float *parameters = allocate(model_parameter_count(&model) *
				     sizeof(float));
	struct program *program;

	check(program_compile(device, &model, &options, &program, &err));
	model_init(&model, 1, parameters);
	check(program_store(program, VECTOR_PARAMETERS, parameters, &err));
	free(parameters);
	return program;
}

static void streams_open(struct streams *streams)
{
	struct loader_plan plan = streams->plan;

	streams->program = make_program(&plan);
	streams->resident = make_program(&plan);
	assert_int_equal(streams->resident->resident_samples, 0);
	check(loader_upload(streams->resident, &dataset, 0, &err));
	assert_int_equal(streams->resident->resident_samples, TRAIN);
	streams->brought = open_loader(&plan);
	plan.resident = streams->resident;
	streams->resident_batches = open_loader(&plan);
}

static void streams_close(struct streams *streams)
{
	loader_close(streams->brought);
	loader_close(streams->resident_batches);
	program_free(streams->program);
	program_free(streams->resident);
}

static void expect_same_batch(const struct batch *resident,
			      const struct batch *brought)
{
	assert_null(resident->images);
	assert_null(resident->labels);
	assert_int_equal(resident->count, brought->count);
	assert_int_equal(resident->global_count, brought->global_count);
	assert_int_equal(resident->step, brought->step);
	assert_int_equal(resident->place, brought->place);
	assert_int_equal(resident->stride, brought->stride);
}

static void expect_same_score(const struct score *a, const struct score *b)
{
	assert_true(a->loss == b->loss);
	assert_int_equal(a->correct, b->correct);
	assert_int_equal(a->count, b->count);
}

static void expect_same_gradient(struct streams *streams,
				 const struct batch *resident,
				 const struct batch *brought)
{
	const size_t count = streams->resident->parameters;
	float *found = allocate(count * sizeof(float));
	float *expected = allocate(count * sizeof(float));
	struct score a, b;

	check(program_gradient(streams->resident, resident, &err));
	check(program_gradient(streams->program, brought, &err));
	check(program_finish(streams->resident, &a, &err));
	check(program_finish(streams->program, &b, &err));
	expect_same_score(&a, &b);
	check(program_load(streams->resident, VECTOR_GRADIENT, found, &err));
	check(program_load(streams->program, VECTOR_GRADIENT, expected, &err));
	assert_memory_equal(found, expected, count * sizeof(float));
	free(found);
	free(expected);
}

static void train(struct streams *streams)
{
	struct batch resident, brought;

	check(loader_next(streams->resident_batches, &resident, &err));
	check(loader_next(streams->brought, &brought, &err));
	expect_same_batch(&resident, &brought);
	expect_same_gradient(streams, &resident, &brought);
}

static void evaluate(struct streams *streams)
{
	struct score a = { .loss = 1 }, b = { .loss = 1 };
	struct batch resident, brought;

	check(loader_next(streams->resident_batches, &resident, &err));
	check(loader_next(streams->brought, &brought, &err));
	expect_same_batch(&resident, &brought);
	check(program_evaluate(streams->resident, &resident, &a, &err));
	check(program_evaluate(streams->program, &brought, &b, &err));
	expect_same_score(&a, &b);
}

static void walk(int rank, int size, int global_batch, int test_batch,
		 int reshuffle)
{
	struct streams streams = { .plan = { .dataset = &dataset,
					     .model = &model,
					     .rank = rank,
					     .size = size,
					     .epochs = 2,
					     .iterations = TRAIN / global_batch,
					     .global_batch = global_batch,
					     .test_batch = test_batch,
					     .seed = 5,
					     .reshuffle = reshuffle } };
	struct batch batch;

	streams.plan.iterations += TRAIN % global_batch != 0;
	streams_open(&streams);
	for (int e = 0; e < streams.plan.epochs; e++) {
		for (int b = 0; b < streams.plan.iterations; b++)
			train(&streams);
		for (int b = 0; b < loader_test_batches(&streams.plan); b++)
			evaluate(&streams);
	}
	assert_int_equal(loader_next(streams.resident_batches, &batch, &err),
			 -1);
	assert_int_equal(loader_next(streams.brought, &batch, &err), -1);
	streams_close(&streams);
}

static void batches_are_gathered(void **state)
{
	(void)state;
	walk(0, 1, 8, TEST, 1); /* tails of 7, and of 111 */
	walk(0, 1, TRAIN, 40, 0);
}

static void shares_are_gathered(void **state)
{
	(void)state;
	for (int rank = 0; rank < 3; rank++)
		walk(rank, 3, 7, 10, 1); /* the last share of rank 2 is empty */
}

/* Batches may still be brought, in between as well. */
static void resident_samples_may_be_left(void **state)
{
	struct streams streams = { .plan = { .dataset = &dataset,
					     .model = &model,
					     .size = 1,
					     .epochs = 1,
					     .iterations = 1,
					     .global_batch = 8 } };
	struct batch resident, brought;

	(void)state;
	streams_open(&streams);
	check(loader_next(streams.resident_batches, &resident, &err));
	check(loader_next(streams.brought, &brought, &err));
	expect_same_gradient(&streams, &brought, &brought);
	expect_same_gradient(&streams, &resident, &brought);
	expect_same_gradient(&streams, &brought, &brought);
	streams_close(&streams);
}

static void expect_released(struct program *program, int made)
{
	const struct opencl_program *inside =
		(const struct opencl_program *)program;

	program_release_data(program);
	assert_int_equal(inside->queue.memory_count, made);
	assert_int_equal(program->resident_samples, 0);
}

/* A test set alone is released as well: resident_samples does not count it. */
static void resident_samples_are_released(void **state)
{
	const struct loader_plan plan = { .size = 1, .global_batch = 4 };
	const struct resident_data tested = {
		.test = { test_images, test_labels, TEST }
	};
	const struct opencl_program *inside;
	struct program *program;
	int made;

	(void)state;
	program = make_program(&plan);
	inside = (const struct opencl_program *)program;
	made = inside->queue.memory_count;
	expect_released(program, made);
	check(loader_upload(program, &dataset, 0, &err));
	assert_true(inside->queue.memory_count > made);
	expect_released(program, made);
	check(program_upload_data(program, &tested, &err));
	assert_true(inside->queue.memory_count > made);
	expect_released(program, made);
	program_free(program);
}

/* Nothing of these sets is read. */
static void what_does_not_fit_is_refused(void **state)
{
	const struct loader_plan plan = { .size = 1, .global_batch = 4 };
	struct resident_data data = { .train = { .count = INT32_MAX } };
	struct program *program;
	long launches;

	(void)state;
	program = make_program(&plan);
	launches = program->launches;
	assert_int_equal(program_upload_data(program, &data, &err), -1);
	assert_int_equal(err.kind, ERROR_MISSING);
	assert_non_null(strstr(err.message, " MB is more than "));
	assert_int_equal(program->resident_samples, 0);
	assert_int_equal(program->launches, launches);
	program_free(program);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(batches_are_gathered),
		cmocka_unit_test(shares_are_gathered),
		cmocka_unit_test(resident_samples_may_be_left),
		cmocka_unit_test(resident_samples_are_released),
		cmocka_unit_test(what_does_not_fit_is_refused),
	};

	return run_with_device("resident", tests,
			       sizeof(tests) / sizeof(tests[0]), open_all);
}
