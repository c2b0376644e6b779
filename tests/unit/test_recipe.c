/* How networks are trained: what a recipe may say, and its learning rates. */
#include "models/recipe.h"

#include "models/model.h"
#include "tests/cmocka.h"

static const struct recipe *recipe_of(const char *name)
{
	const struct model *model = model_find(name);

	assert_non_null(model);
	return &model->recipe;
}

/* A division by it would end the program. */
static void spoilt_recipes_are_refused(void **state)
{
	struct recipe recipe = *recipe_of("mnist");
	char text[256];

	(void)state;
	recipe.eps = 0;
	assert_int_equal(recipe_check(&recipe, text, sizeof(text)), -1);
	assert_string_equal(text, "eps is 0 in its recipe, where it is more "
				  "than 0");
	recipe = *recipe_of("mnist");
	recipe.lr_step = -1;
	assert_int_equal(recipe_check(&recipe, text, sizeof(text)), -1);
	assert_string_equal(text, "lr_step is -1 in its recipe, where it is at "
				  "least 0");
	recipe = (struct recipe){ .batch = 1, .epochs = 1, .eps = 1e-8,
				  .optimizer = OPTIMIZER_ADAM, .beta1 = .9,
				  .beta2 = 1 };
	assert_int_equal(recipe_check(&recipe, text, sizeof(text)), -1);
	assert_string_equal(text, "beta2 is 1 in its recipe, where it is more "
				  "than 0 and below 1");
	recipe.beta2 = .999;
	assert_int_equal(recipe_check(&recipe, text, sizeof(text)), 0);
	recipe.weight_decay = .1;
	assert_int_equal(recipe_check(&recipe, text, sizeof(text)), -1);
	assert_string_equal(text, "weight_decay is 0.1 in its recipe, but "
				  "adam has none");
	/* What SGD and a rate that stays do not use. */
	recipe = (struct recipe){ .batch = 1, .epochs = 1,
				  .optimizer = OPTIMIZER_SGD };
	assert_int_equal(recipe_check(&recipe, text, sizeof(text)), 0);
	recipe.momentum = 1;
	assert_int_equal(recipe_check(&recipe, text, sizeof(text)), -1);
	assert_string_equal(text, "momentum is 1 in its recipe, where it is at "
				  "least 0 and below 1");
	recipe = (struct recipe){ 0 };
	assert_int_equal(recipe_check(&recipe, text, sizeof(text)), -1);
	assert_non_null(strstr(text, "batch is 0"));
}

static void rates_fall_by_epoch(void **state)
{
	static const double known[] = { 1,	 .7,	   .49,	     .343,
					.2401,	 .16807,   .117649,  .0823543,
					.0576480, .0403536 };
	struct recipe recipe = *recipe_of("mnist");

	(void)state;
	for (int i = 0; i < 70; i++)
		assert_true(fabs(recipe_rate(&recipe, i, 7) - known[i / 7]) <
			    1e-7);
	/* floor(epoch / step): it falls after each third epoch. */
	recipe = (struct recipe){ .lr = 2, .lr_step = 3, .lr_gamma = .5 };
	assert_true(recipe_rate(&recipe, 2, 1) == 2);
	assert_true(recipe_rate(&recipe, 3, 1) == 1);
	assert_true(recipe_rate(&recipe, 5, 1) == 1);
	assert_true(recipe_rate(&recipe, 6, 1) == .5);
	recipe.lr_step = 0;
	assert_true(recipe_rate(&recipe, 1000, 1) == 2);
}

/* The schedule of PyTorch/XLA's ResNet-50 test, with its 1171 iterations: at
 * i = 0, where the rise ends, and where each fall is. */
static void rates_rise_by_iteration(void **state)
{
	static const struct {
		long iteration;
		double rate;
	} known[] = {
		{ 0, .8 * 2 / (.9 * 1171) },
		{ 1, .8 * 3 / (.9 * 1171) },
		{ 1051, .8 * 1053 / (.9 * 1171) },
		{ 1052, .8 },
		{ 1170, .8 },
		{ 20 * 1171 - 1, .8 },
		{ 20 * 1171, .8 / 5 },
		{ 40 * 1171, .8 / 25 },
	};
	const struct recipe recipe = { .lr = .8, .lr_warmup = .9,
				       .lr_step = 20, .lr_gamma = .2 };

	(void)state;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		assert_true(fabs(recipe_rate(&recipe, known[i].iteration,
					     1171) - known[i].rate) < 1e-12);
}

static void recipes_are_the_published_ones(void **state)
{
	const struct recipe *mnist = recipe_of("mnist");
	const struct recipe *example = recipe_of("mnist-example");

	(void)state;
	assert_int_equal(mnist->batch, 128);
	assert_int_equal(mnist->epochs, 10);
	assert_int_equal(example->batch, 64);
	assert_int_equal(example->epochs, 14);
	for (int i = 0; i < 2; i++) {
		const struct recipe *recipe = i ? example : mnist;

		assert_true(recipe->lr == 1 && recipe->rho == .9);
		assert_true(recipe->eps == 1e-6 && recipe->lr_gamma == .7);
		assert_int_equal(recipe->lr_step, 1);
	}
	for (int i = 0; i < 2; i++) {
		const struct recipe *recipe =
			recipe_of(i ? "mnist-2019" : "xla-mnist");

		assert_int_equal(recipe->optimizer, OPTIMIZER_SGD);
		assert_true(recipe->lr == .01 && recipe->momentum == .5);
		assert_int_equal(recipe->scale_lr, !i);
		assert_int_equal(recipe->batch, i ? 64 : 128);
		assert_int_equal(recipe_states(recipe), 1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(spoilt_recipes_are_refused),
		cmocka_unit_test(rates_fall_by_epoch),
		cmocka_unit_test(rates_rise_by_iteration),
		cmocka_unit_test(recipes_are_the_published_ones),
	};

	return cmocka_run_group_tests_name("recipe", tests, NULL, NULL);
}
