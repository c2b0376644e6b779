/* Which networks bench verify takes, and which samples each core reads. */
#include <stdatomic.h>

#include "bench/data/transform.h"
#include "tests/unit/own.h"

/* Cores cannot share the inputs of its layer, which are the caller's. */
static const struct layer on_images[] = {
	{ .kind = LAYER_LINEAR, .name = "fc", .outputs = 10 },
	{ .kind = LAYER_LOSS },
};

/* A bias before a batch norm changes nothing: its gradient is rounding alone.
 * Of one pixel, a norm of one sample has no variance. */
static const struct layer biased[] = {
	{ .kind = LAYER_CONV, .name = "conv", .outputs = 6, .window = 9,
	  .stride = 3 },
	{ .kind = LAYER_BATCHNORM, .name = "norm1" },
	{ .kind = LAYER_RELU },
	{ .kind = LAYER_LINEAR, .name = "fc", .outputs = 12 },
	{ .kind = LAYER_BATCHNORM, .name = "norm2" },
	{ .kind = LAYER_RELU },
	{ .kind = LAYER_LINEAR, .name = "last", .outputs = 10 },
	{ .kind = LAYER_LOSS },
};

/* Fewer classes than a data set has, and targets that are vectors. */
static const struct layer three_classes[] = {
	{ .kind = LAYER_LINEAR, .name = "fc", .outputs = 3 },
	{ .kind = LAYER_LOSS },
};
static const struct layer three_labels[] = {
	{ .kind = LAYER_LINEAR, .name = "fc", .outputs = 3 },
	{ .kind = LAYER_LOSS, .loss = LOSS_BCE },
};

const struct model own_models[] = {
	MODEL("biased", biased, RECIPE),
	MODEL("three-classes", three_classes, RECIPE),
	MODEL("three-labels", three_labels, RECIPE),
	MODEL("on-images", on_images, RECIPE),
	{ .name = NULL },
};

struct backend own_backends[1]; /* none */

static atomic_int transformed; /* images of a data set */

int __real_transform_image(struct transform *transform,
			   const struct samples *samples, int index,
			   const struct crop_key *key, float *image,
			   struct error *err);
int __wrap_transform_image(struct transform *transform,
			   const struct samples *samples, int index,
			   const struct crop_key *key, float *image,
			   struct error *err);

int __wrap_transform_image(struct transform *transform,
			   const struct samples *samples, int index,
			   const struct crop_key *key, float *image,
			   struct error *err)
{
	transformed++;
	return __real_transform_image(transform, samples, index, key, image,
				      err);
}

static void verify_is_of_any_network(void **state)
{
	static const char *const lines[] = {
		"verify openblas cpu -m biased --steps 3 -b 16 --test-batch 16",
		"verify openblas -m biased --steps 2 -b 4 --test-batch 16",
		"verify openblas cpu -m three-classes --steps 2 -b 8",
		"verify openblas cpu -m three-labels --steps 2 -b 8",
		"verify openblas cpu -m biased --infer -b 8",
		"verify openblas cpu -m biased --infer -b 1",
	};

	(void)state;
	assert_right(lines, COUNT(lines));
}

static void cores_learn_from_images_alike(void **state)
{
	struct said said = say("verify cpu -m on-images --steps 1 -b 6 "
			       "--test-batch 16");

	(void)state;
	assert_int_equal(said.code, 0);
	assert_says(said.out, "verify: all right");
	free(said.out);
}

/* Each of 8 cores reads its share of their batch and a few samples more. */
static void cores_read_no_others_samples(void **state)
{
	int of_small, of_large;
	struct said said;

	(void)state;
	transformed = 0;
	said = say("verify openblas-8 -m tiny --steps 1 -b 16 --test-batch 8");
	of_small = transformed;
	assert_int_equal(said.code, 0);
	free(said.out);
	transformed = 0;
	said = say("verify openblas-8 -m tiny --steps 1 -b 32 --test-batch 8");
	of_large = transformed;
	assert_int_equal(said.code, 0);
	free(said.out);
	/* 16 more for each, and for the core that trains alone. */
	assert_int_equal(of_large - of_small, 9 * 16);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(verify_is_of_any_network),
		cmocka_unit_test(cores_learn_from_images_alike),
		cmocka_unit_test(cores_read_no_others_samples),
	};

	return cmocka_run_group_tests_name("verify, networks", tests, NULL,
					   NULL);
}
