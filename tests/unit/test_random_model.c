/* Random networks: what is refused, where no gradient could be compared. */
#include "bench/verify/random_model.h"
#include "tests/cmocka.h"

#define BATCH_WAY(rows) (rows) /* after one way for each row to be removed */

/* A row before batch norm, of planes of height x width, and a classifier. */
static void make(struct random_model *made, struct layer row, int normalised,
		 struct shape input, int batch)
{
	*made = (struct random_model){
		.batch = batch,
		.cores = 1,
		.layers = {
			row,
			{ .kind = normalised ? LAYER_BATCHNORM : LAYER_RELU },
			{ .kind = LAYER_LINEAR, .outputs = 3 },
			{ .kind = LAYER_LOSS },
		},
		.names = { "row0", "row1", "row2" },
	};
	made->model.input = input;
	made->model.layer_count = 4;
	random_model_copy(made, made);
}

/* Returns 1 if that network may be drawn for `batch` samples: the network of a
 * batch of twice as many, which is made smaller. */
static int is_drawn(struct layer row, int normalised, struct shape input,
		    int batch)
{
	struct random_model twice, smaller;

	make(&twice, row, normalised, input, 2 * batch);
	return random_model_shrink(&smaller, &twice, BATCH_WAY(3));
}

/* Two or three values a channel become 1 and -1, or nearly. */
static void batchnorm_has_four_values_a_channel(void **state)
{
	const struct layer relu = { .kind = LAYER_RELU };
	const struct shape pixel = { 2, 1, 1 }, pair = { 2, 1, 2 };

	(void)state;
	assert_true(is_drawn(relu, 1, pixel, 4));
	assert_false(is_drawn(relu, 1, pixel, 3));
	assert_true(is_drawn(relu, 1, pair, 2));
	assert_false(is_drawn(relu, 1, (struct shape){ 2, 1, 3 }, 1));
	assert_true(is_drawn(relu, 0, pixel, 2));
}

/* An average over more places than there are repeats values: of 4x4 from one
 * pixel, batch norm sees 16 equal ones. */
static void repeated_averages_have_four_values(void **state)
{
	const struct layer larger = { .kind = LAYER_AVGPOOL, .outputs = 4 };
	const struct layer same = { .kind = LAYER_AVGPOOL, .outputs = 2 };
	const struct shape pixel = { 2, 1, 1 };

	(void)state;
	assert_true(is_drawn(larger, 1, pixel, 4));
	assert_false(is_drawn(larger, 1, pixel, 3));
	assert_true(is_drawn(larger, 1, (struct shape){ 2, 1, 3 }, 2));
	assert_false(is_drawn(larger, 1, (struct shape){ 2, 1, 3 }, 1));
	assert_true(is_drawn(same, 1, (struct shape){ 2, 2, 2 }, 1));
	assert_true(is_drawn(larger, 0, pixel, 2));
}

/* Dropout that leaves nothing in a millionth of all steps, or more often:
 * .5^20 is less, .5^19 is more. */
static void dropout_leaves_something(void **state)
{
	const struct layer single = { .kind = LAYER_DROPOUT, .drop = .5 };
	const struct layer plane = { .kind = LAYER_DROPOUT2D, .drop = .5 };
	const struct shape four = { 2, 2, 1 };

	(void)state;
	assert_true(is_drawn(single, 1, four, 5));
	assert_false(is_drawn(single, 1, four, 4));
	assert_true(is_drawn(plane, 1, four, 10));
	assert_false(is_drawn(plane, 1, four, 9));
	assert_true(is_drawn(plane, 0, four, 9));
}

/* Cores share a batch, and each has statistics of its own. */
static void each_core_has_its_values(void **state)
{
	const struct layer relu = { .kind = LAYER_RELU };
	struct random_model twice, smaller;

	(void)state;
	make(&twice, relu, 1, (struct shape){ 2, 1, 1 }, 16);
	twice.cores = 2;
	assert_true(random_model_shrink(&smaller, &twice, BATCH_WAY(3)));
	assert_int_equal(smaller.batch, 8);
	twice.cores = 3;
	assert_false(random_model_shrink(&smaller, &twice, BATCH_WAY(3)));
}

/* Whatever is drawn is valid, and the same again. */
static void a_seed_draws_one_network(void **state)
{
	static struct random_model drawn, again;

	(void)state;
	for (unsigned long long seed = 0; seed < 200; seed++) {
		char text[256];

		random_model_draw(&drawn, seed);
		random_model_draw(&again, seed);
		assert_int_equal(model_check(&drawn.model, text, sizeof(text)),
				 0);
		assert_in_range(drawn.cores, 1, drawn.batch);
		assert_int_equal(drawn.batch, again.batch);
		assert_int_equal(drawn.model.layer_count,
				 again.model.layer_count);
		for (int l = 0; l < drawn.model.layer_count; l++)
			assert_int_equal(drawn.layers[l].kind,
					 again.layers[l].kind);
	}
}

/* One in ten has a side or planes beyond 64, whichever seed one begins with. */
static void some_are_large(void **state)
{
	static struct random_model drawn;
	int sides = 0, planes = 0;

	(void)state;
	for (unsigned long long seed = 0; seed < 400; seed++) {
		int most = 0;

		random_model_draw(&drawn, seed);
		for (int l = 0; l < drawn.model.layer_count; l++)
			if (drawn.layers[l].kind == LAYER_CONV &&
			    drawn.layers[l].outputs > most)
				most = drawn.layers[l].outputs;
		sides += drawn.model.input.height > 64 ||
			 drawn.model.input.width > 64;
		planes += most > 64;
	}
	assert_in_range(sides, 10, 30);
	assert_in_range(planes, 10, 30);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(batchnorm_has_four_values_a_channel),
		cmocka_unit_test(repeated_averages_have_four_values),
		cmocka_unit_test(dropout_leaves_something),
		cmocka_unit_test(each_core_has_its_values),
		cmocka_unit_test(a_seed_draws_one_network),
		cmocka_unit_test(some_are_large),
	};

	return cmocka_run_group_tests_name("random_model", tests, NULL, NULL);
}
