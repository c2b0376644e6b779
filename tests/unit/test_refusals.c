/* Models and backends that the command refuses, and what it says of them. */
#include "tests/unit/own.h"

static const struct layer wide_window[] = {
	{ .kind = LAYER_CONV, .name = "conv", .outputs = 3, .window = 3 },
	{ .kind = LAYER_MAXPOOL, .window = 13 },
	{ .kind = LAYER_CONV, .name = "next", .outputs = 3, .window = 3 },
	{ .kind = LAYER_LINEAR, .name = "fc", .outputs = 10 },
	{ .kind = LAYER_LOSS },
};

static const struct layer no_loss[] = {
	{ .kind = LAYER_CONV, .name = "conv", .outputs = 8, .window = 3 },
	{ .kind = LAYER_RELU },
};

static const struct layer few_classes[] = {
	{ .kind = LAYER_LINEAR, .name = "hidden", .outputs = 7 },
	{ .kind = LAYER_LINEAR, .name = "fc", .outputs = 8 },
	{ .kind = LAYER_LOSS },
};

/* Batch norm of one value a channel and sample. */
static const struct layer lone_norm[] = {
	{ .kind = LAYER_LINEAR, .name = "hidden", .outputs = 7 },
	{ .kind = LAYER_BATCHNORM, .name = "norm" },
	{ .kind = LAYER_LINEAR, .name = "fc", .outputs = 10 },
	{ .kind = LAYER_LOSS },
};

/* Batch norm of several. */
static const struct layer plane_norm[] = {
	{ .kind = LAYER_CONV, .name = "conv", .outputs = 2, .window = 3,
	  .stride = 4 },
	{ .kind = LAYER_BATCHNORM, .name = "norm" },
	{ .kind = LAYER_LINEAR, .name = "fc", .outputs = 10 },
	{ .kind = LAYER_LOSS },
};

const struct model own_models[] = {
	MODEL("wide-window", wide_window, RECIPE),
	MODEL("no-loss", no_loss, RECIPE),
	MODEL("few-classes", few_classes, RECIPE),
	MODEL("no-recipe", few_classes, { 0 }),
	MODEL("lone-norm", lone_norm, RECIPE),
	MODEL("plane-norm", plane_norm, RECIPE),
	{ .name = NULL },
};

struct backend own_backends[LACKING_BACKENDS + 1];

static int set_up(void **state)
{
	(void)state;
	add_lacking_backends();
	return 0;
}

/* One sentence, before anything is measured or written. */
static void spoilt_models_are_usage(void **state)
{
	static const struct {
		const char *model, *says;
		size_t commands; /* of those below that refuse it */
	} spoilt[] = {
		{ "wide-window", "model 'wide-window', layer 2 (conv 'next'): "
		  "a window of 3x3 is larger than its input of 3x2x2", 3 },
		{ "no-loss", "model 'no-loss', layer 1 (relu): the last layer "
		  "must be a loss", 3 },
		{ "few-classes", "model 'few-classes', layer 2 (loss): has "
		  "8 classes, but data set 'synthetic' has 10", 2 },
		{ "no-recipe", "model 'no-recipe': batch is 0 in its recipe, "
		  "where it is more than 0", 3 },
	};
	static const char *const commands[] = { "run cpu-1", "measure cpu-1",
						"verify cpu" };

	(void)state;
	for (size_t m = 0; m < COUNT(spoilt); m++)
		for (size_t c = 0; c < spoilt[m].commands; c++) {
			char line[128];
			struct said said;

			snprintf(line, sizeof(line), "%s -m %s", commands[c],
				 spoilt[m].model);
			said = say(line);
			assert_int_equal(said.code, ERROR_USAGE);
			assert_string_equal(said.error, spoilt[m].says);
			assert_string_equal(said.out, "");
			free(said.out);
		}
}

struct refusal {
	const char *line, *says; /* NULL: it trains */
};

/* Batch norm is layer 1 of the model. */
static void batches_are_usage(const char *model, const struct refusal *batches,
			      size_t count)
{
	char line[128], where[80];

	snprintf(where, sizeof(where), "model '%s', layer 1 (batchnorm "
		 "'norm'): ", model);
	for (size_t i = 0; i < count; i++) {
		struct said said;

		snprintf(line, sizeof(line), "measure -m %s %s", model,
			 batches[i].line);
		said = say(line);
		assert_int_equal(said.code, batches[i].says ? ERROR_USAGE : 0);
		if (batches[i].says) {
			assert_says(said.error, where);
			assert_says(said.error, batches[i].says);
			assert_string_equal(said.out, "");
		}
		free(said.out);
	}
}

/* Of 70 samples, the numbers that leave some core one. */
static void lone_values_are_usage(void **state)
{
	static const struct refusal batches[] = {
		{ "cpu-1 -b 1", "an iteration has 1 sample for 1 core; " },
		{ "cpu-2 -b 1", "an iteration has 2 samples for 2 cores; " },
		{ "cpu-2 --global-batch 3",
		  "an iteration has 3 samples for 2 cores; " },
		{ "cpu-1 -b 69",
		  "an epoch's last iteration has 1 sample for 1 core; " },
		{ "cpu-2 -b 34",
		  "an epoch's last iteration has 2 samples for 2 cores; " },
		{ "cpu-1 -b 69 --steps 1", NULL },
		{ "cpu-2 --global-batch 10", NULL },
	};

	(void)state;
	batches_are_usage("lone-norm", batches, COUNT(batches));
}

/* Whoever computes; an epoch's last iteration may leave a core out. */
static void cores_without_samples_are_usage(void **state)
{
	static const struct refusal batches[] = {
		{ "cpu-4 --global-batch 3",
		  "an iteration has 3 samples for 4 cores; each core needs "
		  "one for its statistics." },
		{ "openblas-8 --global-batch 2",
		  "an iteration has 2 samples for 8 cores; each core needs "
		  "one for its statistics." },
		{ "reference-2 --global-batch 1 --steps 1",
		  "an iteration has 1 sample for 2 cores; each core needs "
		  "one for its statistics. Choose 1 core or "
		  "fewer, or a --global-batch of 2 or more" },
		{ "cpu-4 --global-batch 4", NULL },
		{ "cpu-4 --global-batch 23", NULL },
	};

	(void)state;
	batches_are_usage("plane-norm", batches, COUNT(batches));
}

static void what_a_backend_lacks_is_named(void **state)
{
	struct said said = say("verify copy -m tiny");

	(void)state;
	assert_int_equal(said.code, ERROR_MISSING);
	assert_says(said.error, "copy: it lacks the slot 'decisions', see "
				"backends/contract/backend.h");
	assert_says(said.out, "verify: nothing was compared; without: copy");
	free(said.out);
	said = say("measure torn-1 -m tiny");
	assert_int_equal(said.code, ERROR_MISSING);
	assert_says(said.error, "backend torn lacks the slot 'update', see "
				"backends/contract/backend.h");
	free(said.out);
	own_backends[TORN].version = BACKEND_VERSION - 1;
	said = say("measure torn-1 -m tiny");
	assert_int_equal(said.code, ERROR_MISSING);
	assert_says(said.error, "backend torn was written for version ");
	free(said.out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(spoilt_models_are_usage),
		cmocka_unit_test(lone_values_are_usage),
		cmocka_unit_test(cores_without_samples_are_usage),
		cmocka_unit_test(what_a_backend_lacks_is_named),
	};

	return cmocka_run_group_tests_name("refusals", tests, set_up, NULL);
}
