/* Which samples a core gets, in which order, and as which numbers. */
#include "bench/data/loader.h"

#include <unistd.h>

#include "backends/parallel/replica.h"
#include "models/random.h"
#include "tests/cmocka.h"

#define TRAIN 23
#define TEST 11
#define SIZE 6 /* pixels: the first is the sample's index */
#define TRAIN_LABEL 300 /* of the first sample; of others the next ones */
#define TEST_LABEL 60000
#define SEED 41

static uint8_t train_images[TRAIN * SIZE], test_images[TEST * SIZE];
static uint16_t train_labels[TRAIN], test_labels[TEST];

static struct dataset dataset = {
	.name = "numbered",
	.shape = { 1, 2, 3 },
	.classes = 65535,
	.train = { .count = TRAIN,
		    .images = train_images, .labels = train_labels },
	.test = { .count = TEST,
		    .images = test_images, .labels = test_labels },
};

static const struct layer loss = { .kind = LAYER_LOSS };

static const struct model model = {
	.layers = &loss,
	.layer_count = 1,
	.input = { 1, 2, 3 },
	.scale = { { .1307f }, { .3081f } },
};

static int fill(void **state)
{
	(void)state;
	for (int i = 0; i < TRAIN; i++)
		for (int p = 0; p < SIZE; p++) {
			train_images[i * SIZE + p] = (uint8_t)(i + 40 * p);
			train_labels[i] = (uint16_t)(TRAIN_LABEL + i);
		}
	for (int i = 0; i < TEST; i++)
		for (int p = 0; p < SIZE; p++) {
			test_images[i * SIZE + p] = (uint8_t)(100 + i + 20 * p);
			test_labels[i] = (uint16_t)(TEST_LABEL + i);
		}
	return 0;
}

static struct loader *open_loader(const struct loader_plan *plan)
{
	struct error err;
	struct loader *loader = loader_open(plan, &err);

	if (!loader)
		fail_msg("%s", err.message);
	return loader;
}

static struct batch next(struct loader *loader)
{
	struct batch batch;
	struct error err;

	if (loader_next(loader, &batch, &err))
		fail_msg("%s", err.message);
	return batch;
}

/* (x / 255 - mean) / std, in float throughout. */
static float normalised(int pixel)
{
	return ((float)pixel / 255 - .1307f) / .3081f;
}

/* Sample n of batch is index of the training set, or of the test set. */
static void assert_sample(const struct batch *batch, int n, int index, int test)
{
	const uint8_t *pixels = (test ? test_images : train_images) +
				index * SIZE;

	assert_int_equal(batch->labels[n],
			 (test ? TEST_LABEL : TRAIN_LABEL) + index);
	for (int p = 0; p < SIZE; p++) {
		const float right = normalised(pixels[p]);

		assert_memory_equal(&batch->images[n * SIZE + p], &right,
				    sizeof(right));
	}
}

/* The share of rank of count samples from place at of an order. */
static void assert_share(const struct batch *batch,
			 const struct loader_plan *plan, const int *order,
			 int at, int count, int test)
{
	int n = 0;

	assert_int_equal(batch->count,
			 replica_share(plan->rank, plan->size, count));
	assert_int_equal(batch->global_count, count);
	assert_int_equal(batch->place, plan->rank);
	assert_int_equal(batch->stride, plan->size);
	for (int p = plan->rank; p < count; p += plan->size)
		assert_sample(batch, n++, order ? order[at + p] : at + p, test);
}

static int least(int a, int b)
{
	return a < b ? a : b;
}

static void assert_stream(const struct loader_plan *plan)
{
	const int tests = loader_test_batches(plan);
	struct loader *loader = open_loader(plan);
	struct batch batch;
	struct error err;
	int order[TRAIN];

	for (int e = 0; e < plan->epochs; e++) {
		random_permutation(SEED + (plan->reshuffle ? (unsigned)e : 0),
				   TRAIN, order);
		for (int b = 0; b < plan->iterations; b++) {
			const int at = b * plan->global_batch;

			batch = next(loader);
			assert_int_equal(batch.step, e * plan->iterations + b);
			assert_share(&batch, plan, order, at,
				     least(plan->global_batch, TRAIN - at), 0);
		}
		for (int b = 0; b < tests; b++) {
			const int at = b * plan->test_batch;

			batch = next(loader);
			assert_share(&batch, plan, NULL, at,
				     least(plan->test_batch, TEST - at), 1);
		}
	}
	assert_int_equal(loader_next(loader, &batch, &err), -1);
	assert_int_equal(loader_next(loader, &batch, &err), -1);
	loader_close(loader);
}

static struct loader_plan make_plan(int global, int test)
{
	return (struct loader_plan){
		.dataset = &dataset,
		.model = &model,
		.size = 1,
		.epochs = 3,
		.iterations = (TRAIN + global - 1) / global,
		.global_batch = global,
		.test_batch = test,
		.seed = SEED,
		.reshuffle = 1,
	};
}

/*
 * All cores' shares together are the global batches of the permutation, the
 * last ones shorter; a core may have nothing of them.
 */
static void shares_are_those_of_the_order(void **state)
{
	static const int globals[] = { 1, 4, 5, 23, 30 };

	(void)state;
	for (int size = 1; size <= 8; size++)
		for (size_t g = 0; g < 5; g++)
			for (int rank = 0; rank < size; rank++) {
				struct loader_plan plan =
					make_plan(globals[g], 4);

				plan.rank = rank;
				plan.size = size;
				assert_stream(&plan);
			}
}

static void one_order_may_do_for_all_epochs(void **state)
{
	struct loader_plan plan = make_plan(6, 3);

	(void)state;
	plan.reshuffle = 0;
	assert_stream(&plan);
}

static void epochs_may_end_early(void **state)
{
	struct loader_plan plan = make_plan(4, 11);

	(void)state;
	plan.iterations = 2;
	assert_stream(&plan);
}

static void tests_may_be_off_or_in_one(void **state)
{
	struct loader_plan plan = make_plan(7, 0);

	(void)state;
	assert_int_equal(loader_test_batches(&plan), 0);
	assert_stream(&plan);
	plan.test_batch = 10;
	assert_int_equal(loader_test_batches(&plan), 2);
	assert_stream(&plan);
	plan.test_batch = 1000;
	assert_int_equal(loader_test_batches(&plan), 1);
	assert_stream(&plan);
}

/* Whatever the loader is just doing; without a batch taken at all. */
/* PyTorch's DistributedSampler: rank r has places r, r + 3, ... of the order
 * and its first samples once more, 24 of 23; its loader cuts them into
 * batches. */
static void padding_is_that_of_the_distributed_sampler(void **state)
{
	int order[TRAIN], list[TRAIN + 1];

	(void)state;
	random_permutation(SEED, TRAIN, order);
	for (int i = 0; i <= TRAIN; i++)
		list[i] = order[i % TRAIN];
	for (int rank = 0; rank < 3; rank++) {
		struct loader_plan plan = make_plan(9, 6);
		struct loader *loader;
		int at = rank;

		plan.rank = rank;
		plan.size = 3;
		plan.pad = 1;
		loader = open_loader(&plan);
		for (int b = 0; b < plan.iterations; b++) {
			struct batch batch = next(loader);

			assert_int_equal(batch.count, b < 2 ? 3 : 2);
			assert_int_equal(batch.global_count, 3 * batch.count);
			for (int n = 0; n < batch.count; n++, at += 3)
				assert_sample(&batch, n, list[at], 0);
		}
		assert_int_equal(at, rank + TRAIN + 1);
		assert_int_equal(loader_test_batches(&plan), 2);
		for (int b = 0, sample = rank; b < 2; b++) {
			struct batch batch = next(loader);

			assert_int_equal(batch.count, 2);
			for (int n = 0; n < 2; n++, sample += 3)
				assert_sample(&batch, n, sample % TEST, 1);
		}
		loader_close(loader);
	}
}

static void closing_early_does_not_hang(void **state)
{
	struct loader_plan plan = make_plan(2, 2);

	(void)state;
	for (int taken = 0; taken < 40; taken++) {
		struct loader *loader = open_loader(&plan);

		for (int b = 0; b < taken; b++)
			next(loader);
		if (taken % 3 == 0) /* it is waiting for room */
			usleep(1000);
		loader_close(loader);
	}
	loader_close(NULL);
}

/* A batch stays as it is while the loader works on the next ones. */
static void a_batch_is_lent_until_the_next_call(void **state)
{
	struct loader_plan plan = make_plan(1, 0);
	struct loader *loader = open_loader(&plan);
	int order[TRAIN];

	(void)state;
	random_permutation(SEED, TRAIN, order);
	for (int b = 0; b < TRAIN; b++) {
		struct batch batch = next(loader);

		usleep(2000);
		assert_sample(&batch, 0, order[b], 0);
	}
	loader_close(loader);
}

static void all_pixels_have_their_numbers(void **state)
{
	static uint8_t pixels[256];
	static uint16_t labels[1];
	struct dataset wide = dataset;
	struct model seeing = model;
	struct loader_plan plan = make_plan(1, 0);
	struct loader *loader;
	struct batch batch;

	(void)state;
	for (int p = 0; p < 256; p++)
		pixels[p] = (uint8_t)p;
	wide.shape = (struct shape){ 1, 16, 16 };
	wide.train = (struct samples){ .count = 1, .images = pixels,
				       .labels = labels };
	seeing.input = wide.shape;
	plan.dataset = &wide;
	plan.model = &seeing;
	plan.iterations = 1;
	loader = open_loader(&plan);
	batch = next(loader);
	for (int p = 0; p < 256; p++) {
		const float right = normalised(p);

		assert_memory_equal(&batch.images[p], &right, sizeof(right));
	}
	loader_close(loader);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shares_are_those_of_the_order),
		cmocka_unit_test(one_order_may_do_for_all_epochs),
		cmocka_unit_test(padding_is_that_of_the_distributed_sampler),
		cmocka_unit_test(epochs_may_end_early),
		cmocka_unit_test(tests_may_be_off_or_in_one),
		cmocka_unit_test(closing_early_does_not_hang),
		cmocka_unit_test(a_batch_is_lent_until_the_next_call),
		cmocka_unit_test(all_pixels_have_their_numbers),
	};

	return cmocka_run_group_tests_name("loader", tests, fill, NULL);
}
