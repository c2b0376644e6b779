/* Every backend's steps and evaluations against the reference. */
#include "tests/variants.h"

#define NEAR 1e-5 /* of a tensor's largest entry: float against double */

/* Sizes that are no whole number of anything, and pooling of three. */
static const struct layer odd_layers[] = {
	{ .kind = LAYER_CONV, .name = "a", .outputs = 18, .window = 2 },
	{ .kind = LAYER_RELU },
	{ .kind = LAYER_CONV, .name = "b", .outputs = 33, .window = 3 },
	{ .kind = LAYER_RELU },
	{ .kind = LAYER_MAXPOOL, .window = 3 },
	{ .kind = LAYER_DROPOUT, .drop = .3 },
	{ .kind = LAYER_CONV, .name = "c", .outputs = 5, .window = 2 },
	{ .kind = LAYER_MAXPOOL, .window = 2 },
	{ .kind = LAYER_LINEAR, .name = "d", .outputs = 37 },
	{ .kind = LAYER_RELU },
	{ .kind = LAYER_LINEAR, .name = "e", .outputs = 3 },
	{ .kind = LAYER_LOSS },
};

static const struct model odd_model = {
	.name = "odd",
	.input = { 2, 20, 17 },
	.layers = odd_layers,
	.layer_count = sizeof(odd_layers) / sizeof(odd_layers[0]),
};

static void copy_vector(struct pair *pair, enum vector which)
{
	float *values = subject_load(&pair->tried, which);

	subject_store(&pair->right, which, values);
	free(values);
}

static void compare_vector(struct pair *pair, const char *what,
			   enum vector which, double bound)
{
	float *values = subject_load(&pair->tried, which);
	float *right = subject_load(&pair->right, which);

	assert_tensors(pair->right.program->model, what, values, right, bound);
	free(values);
	free(right);
}

/* The masks of models/random.h, at the samples' places in the whole. */
static void compare_masks(struct subject *subject, const struct batch *batch)
{
	const struct program *program = subject->program;
	const struct model *model = program->model;

	for (int l = 0; l < model->layer_count; l++) {
		const size_t each = layer_choices(model, l);
		uint8_t *taken, *keep = allocate(each);

		if (layer_drops(model, l)) {
			taken = subject_decisions(subject, l);
			memset(keep, 1, each);
			for (int i = 0; i < batch->count; i++) {
				if (program->options.dropout)
					dropout_choices(
						SEED, batch->step,
						(uint32_t)(batch->place +
							   batch->stride * i),
						(uint32_t)l,
						model->layers[l].drop,
						(int)each, keep);
				assert_memory_equal(taken + (size_t)i * each,
						    keep, each);
			}
			free(taken);
		}
		free(keep);
	}
}

static void compare_regrets(struct pair *pair)
{
	const struct model *model = pair->right.program->model;

	for (int l = 0; l < model->layer_count; l++) {
		const double regret = program_regret(pair->right.program, l);

		if (!(regret <= NEAR))
			fail_msg("a decision of layer %d is wrong by %.2e", l,
				 regret);
	}
}

/* One iteration on both, the reference starting where the other one is. */
static void compare_step(struct pair *pair, const struct batch *batch,
			 double lr)
{
	const struct update update = { lr, .9, 1e-6 };
	struct score tried, right;

	copy_vector(pair, VECTOR_PARAMETERS);
	copy_vector(pair, VECTOR_SQUARE_AVG);
	copy_vector(pair, VECTOR_ACC_DELTA);
	tried = subject_gradient(&pair->tried, batch);
	compare_masks(&pair->tried, batch);
	subject_follow(&pair->right, &pair->tried);
	right = subject_gradient(&pair->right, batch);
	assert_int_equal(tried.count, batch->count);
	assert_int_equal(tried.correct, right.correct);
	assert_close("the loss", tried.loss, right.loss,
		     NEAR * right.loss);
	compare_vector(pair, "the gradient", VECTOR_GRADIENT, NEAR);
	compare_regrets(pair);
	subject_update(&pair->tried, &update);
	subject_update(&pair->right, &update);
	compare_vector(pair, "the parameter", VECTOR_PARAMETERS, NEAR);
	/* Squares, and squares of quotients, of what may be off by NEAR. */
	compare_vector(pair, "the square average", VECTOR_SQUARE_AVG,
		       2 * NEAR);
	compare_vector(pair, "the average of deltas", VECTOR_ACC_DELTA,
		       10 * NEAR);
}

/* Shares of all sizes in a row, so that nothing is left from the one before. */
static void tiny_steps_are_right(void **state)
{
	static const struct {
		int count, place, stride;
	} shares[] = { { 32, 0, 1 }, { 5, 1, 3 },  { 0, 2, 3 },	 { 31, 0, 1 },
		       { 1, 1, 3 },  { 2, 0, 1 },  { 32, 1, 3 }, { 3, 7, 8 },
		       { 0, 0, 1 },  { 31, 1, 3 }, { 1, 0, 1 },	 { 2, 1, 3 } };
	const struct model *model = model_find("tiny");
	struct pair pair;

	pair_open(&pair, *state, model, BATCH, 1);
	for (size_t i = 0; i < sizeof(shares) / sizeof(shares[0]); i++) {
		struct batch batch = batch_make(model, (uint32_t)i,
						shares[i].count);

		batch.step = (uint32_t)i * 100;
		batch.place = shares[i].place;
		batch.stride = shares[i].stride;
		batch.global_count = shares[i].count * shares[i].stride + 1;
		compare_step(&pair, &batch, 1);
		batch_free(&batch);
	}
	pair_close(&pair);
}

/*
 * Two steps of a few samples, the second one not far from the first: once few
 * samples are learnt, 1 - p is too small to be known to NEAR of itself.
 */
static void compare_few(const struct variant *variant,
			const struct model *model, int count, int dropout)
{
	struct pair pair;

	pair_open(&pair, variant, model, count, dropout);
	for (uint32_t step = 0; step < 2; step++) {
		struct batch batch = batch_make(model, 20 + step, count);

		batch.step = step;
		compare_step(&pair, &batch, .1);
		batch_free(&batch);
	}
	pair_close(&pair);
}

static void mnist_steps_are_right(void **state)
{
	if (tests_are_light())
		skip();
	compare_few(*state, model_find("mnist"), 3, 1);
}

static void mnist_example_steps_are_right(void **state)
{
	if (tests_are_light())
		skip();
	compare_few(*state, model_find("mnist-example"), 3, 1);
}

static void odd_steps_are_right(void **state)
{
	compare_few(*state, &odd_model, 5, 1);
}

static void nothing_is_dropped_when_told_so(void **state)
{
	compare_few(*state, model_find("tiny"), 5, 0);
}

static void evaluations_are_right(void **state)
{
	static const int counts[] = { 40, 1, 7, 33, 0, 3 };
	const struct model *model = model_find("tiny");
	struct score tried = { 1.5, 2, 3 }, right = tried;
	struct pair pair;
	struct error err;

	pair_open(&pair, *state, model, BATCH, 1);
	copy_vector(&pair, VECTOR_PARAMETERS);
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		struct batch batch = batch_make(model, (uint32_t)i, counts[i]);

		/* Scores add up. */
		must(program_evaluate(pair.tried.program, &batch, &tried, &err),
		     &err);
		must(program_evaluate(pair.right.program, &batch, &right, &err),
		     &err);
		assert_int_equal(tried.count, right.count);
		assert_int_equal(tried.correct, right.correct);
		assert_close("the loss", tried.loss, right.loss,
			     NEAR * right.loss);
		batch_free(&batch);
	}
	assert_int_equal(tried.count, 3 + 40 + 1 + 7 + 33 + 3);
	compare_vector(&pair, "the parameter", VECTOR_PARAMETERS, NEAR);
	pair_close(&pair);
}

int main(void)
{
	static const struct check checks[] = {
		{ "tiny steps", tiny_steps_are_right },
		{ "odd steps", odd_steps_are_right },
		{ "mnist steps", mnist_steps_are_right },
		{ "mnist-example steps", mnist_example_steps_are_right },
		{ "no dropout", nothing_is_dropped_when_told_so },
		{ "evaluations", evaluations_are_right },
	};

	return run_variants("backends", checks,
			    sizeof(checks) / sizeof(checks[0]));
}
