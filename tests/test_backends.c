/*
 * Every backend that computes, in every build of its kernels, against the
 * reference, which follows its decisions: rounding may choose another winner.
 */
#include "tests/subject.h"

#include <stdio.h>

#define NEAR 1e-5 /* of a tensor's largest entry: float against double */
#define BATCH 32
#define TEST_BATCH 40 /* more than BATCH: evaluated in slices */
#define SEED (77 + (3ull << 32))

/* Who computes; what a CPU does not have is skipped. */
struct variant {
	const char *name, *backend, *isa;
	int needed;
};

static const struct variant variants[] = {
	{ "cpu avx512", "cpu", "avx512", 0 },
	{ "cpu avx2", "cpu", "avx2", 0 },
	{ "cpu portable", "cpu", "portable", 1 },
	{ "openblas", "openblas", NULL, 1 },
	{ "opencl", "opencl", NULL, 0 },
	{ "reference", "reference", NULL, 1 },
};

#define VARIANTS (sizeof(variants) / sizeof(variants[0]))

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

/* One pixel is one value that is pooled. */
static const struct layer pooled_layers[] = {
	{ .kind = LAYER_CONV, .name = "a", .outputs = 2, .window = 1 },
	{ .kind = LAYER_MAXPOOL, .window = 2 },
	{ .kind = LAYER_LINEAR, .name = "b", .outputs = 3 },
	{ .kind = LAYER_LOSS },
};

static const struct model pooled_model = {
	.name = "pooled",
	.input = { 1, 6, 6 },
	.layers = pooled_layers,
	.layer_count = sizeof(pooled_layers) / sizeof(pooled_layers[0]),
};

/* What is tried, and the reference beside it. */
struct pair {
	struct subject tried, right;
};

static void pair_open(struct pair *pair, const struct variant *variant,
		      const struct model *model, int batch, int dropout)
{
	const struct program_options options = { .batch = batch,
						 .test_batch = TEST_BATCH,
						 .seed = SEED,
						 .dropout = dropout };

	if (variant->isa)
		setenv("BENCH_ISA", variant->isa, 1);
	else
		unsetenv("BENCH_ISA");
	subject_open(&pair->tried, variant->backend, variant->needed, model,
		     &options);
	subject_open(&pair->right, "reference", 1, model, &options);
	subject_start(&pair->tried, 5);
}

static void pair_close(struct pair *pair)
{
	subject_close(&pair->tried);
	subject_close(&pair->right);
}

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

static void an_empty_share_is_zero(void **state)
{
	const struct model *model = model_find("tiny");
	const size_t count = model_parameter_count(model);
	struct batch batch = batch_make(model, 1, 3);
	struct score score;
	struct pair pair;
	float *gradient;

	pair_open(&pair, *state, model, BATCH, 1);
	assert_int_equal(subject_gradient(&pair.tried, &batch).count, 3);
	batch.count = 0;
	score = subject_gradient(&pair.tried, &batch);
	assert_true(score.loss == 0 && !score.correct && !score.count);
	gradient = subject_load(&pair.tried, VECTOR_GRADIENT);
	for (size_t i = 0; i < count; i++)
		assert_true(gradient[i] == 0);
	free(gradient);
	pair_close(&pair);
	batch_free(&batch);
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

/* What goes in comes out, bit by bit, and no vector is another one. */
static void vectors_come_back(void **state)
{
	const char *const names[] = { "tiny", "mnist" };

	for (int m = 0; m < 2; m++) {
		const struct model *model = model_find(names[m]);
		const size_t count = model_parameter_count(model);
		float *values[VECTOR_COUNT], *back;
		struct pair pair;

		if (m && tests_are_light())
			break;
		pair_open(&pair, *state, model, 2, 1);
		for (int v = 0; v < VECTOR_COUNT; v++) {
			values[v] = allocate(count * sizeof(float));
			for (size_t i = 0; i < count; i++)
				values[v][i] = (float)(i + 1) *
					       (v % 2 ? .1f : -1.7f) * (1 << v);
			subject_store(&pair.tried, (enum vector)v, values[v]);
		}
		for (int v = 0; v < VECTOR_COUNT; v++) {
			back = subject_load(&pair.tried, (enum vector)v);
			assert_memory_equal(back, values[v],
					    count * sizeof(float));
			free(back);
			free(values[v]);
		}
		pair_close(&pair);
	}
}

/* What cores sum is the gradient, in an order that two programs agree on. */
static void the_gradient_is_lent(void **state)
{
	const struct model *model = model_find("tiny");
	const size_t count = model_parameter_count(model);
	struct batch batch = batch_make(model, 9, 6);
	float *lent, *other, *before, *after;
	struct pair one, two;
	size_t length, same;
	struct error err;

	pair_open(&one, *state, model, BATCH, 1);
	pair_open(&two, *state, model, BATCH, 1);
	subject_gradient(&one.tried, &batch);
	subject_gradient(&two.tried, &batch);
	before = subject_load(&one.tried, VECTOR_GRADIENT);
	lent = program_map_gradient(one.tried.program, &length, &err);
	other = program_map_gradient(two.tried.program, &same, &err);
	assert_true(lent && other && length == same && length >= count);
	for (size_t i = 0; i < length; i++)
		lent[i] += 2 * other[i];
	must(program_unmap_gradient(one.tried.program, &err), &err);
	must(program_unmap_gradient(two.tried.program, &err), &err);
	after = subject_load(&one.tried, VECTOR_GRADIENT);
	for (size_t i = 0; i < count; i++)
		assert_true(after[i] == before[i] * 3);
	free(before);
	free(after);
	pair_close(&one);
	pair_close(&two);
	batch_free(&batch);
}

/* A slope of 1: v = .1, d = .00316226, u = 9.9999e-7; see test_reference. */
static void adadelta_is_the_published_one(void **state)
{
	const struct model *model = model_find("tiny");
	const size_t count = model_parameter_count(model);
	float *values = allocate(count * sizeof(*values)), *v, *u, *p;
	const struct update update = { .5, .9, 1e-6 };
	struct pair pair;

	pair_open(&pair, *state, model, BATCH, 1);
	subject_store(&pair.tried, VECTOR_PARAMETERS, values);
	for (size_t i = 0; i < count; i++)
		values[i] = 1;
	subject_store(&pair.tried, VECTOR_GRADIENT, values);
	subject_update(&pair.tried, &update);
	v = subject_load(&pair.tried, VECTOR_SQUARE_AVG);
	u = subject_load(&pair.tried, VECTOR_ACC_DELTA);
	p = subject_load(&pair.tried, VECTOR_PARAMETERS);
	for (size_t i = 0; i < count; i++) {
		assert_close("v", v[i], .1, 1e-7);
		assert_close("u", u[i], 9.9999e-7, 1e-11);
		assert_close("p", p[i], -.5 * .00316226, 5e-9);
	}
	free(values);
	free(v);
	free(u);
	free(p);
	pair_close(&pair);
}

/* The same batch gives the same bits. */
static void steps_can_be_repeated(void **state)
{
	const struct model *model = model_find("tiny");
	const struct update update = { 1, .9, 1e-6 };
	const size_t bytes = model_parameter_count(model) * sizeof(float);
	struct batch batch = batch_make(model, 9, 31);
	float *first = NULL;
	struct pair pair;

	pair_open(&pair, *state, model, BATCH, 1);
	for (int i = 0; i < 3; i++) {
		float *values;

		subject_start(&pair.tried, 2);
		subject_gradient(&pair.tried, &batch);
		subject_update(&pair.tried, &update);
		values = subject_load(&pair.tried, VECTOR_PARAMETERS);
		if (first)
			assert_memory_equal(values, first, bytes);
		else
			first = allocate(bytes);
		memcpy(first, values, bytes);
		free(values);
	}
	free(first);
	pair_close(&pair);
	batch_free(&batch);
}

/* A run that has left the numbers must be seen to. */
static void what_is_not_a_number_reaches_the_loss(void **state)
{
	const struct model *model = model_find("tiny");
	const size_t count = model_parameter_count(model);
	const size_t places[] = { 0, 30, 170, 2312 }; /* weights, see tiny */
	float *values = allocate(count * sizeof(*values));
	struct batch batch = batch_make(model, 9, 2);
	struct score score = { 0 };
	struct pair pair;
	struct error err;

	pair_open(&pair, *state, model, BATCH, 0);
	model_init(model, 5, values);
	for (size_t i = 0; i < 4; i++) {
		const float kept = values[places[i]];

		values[places[i]] = i % 2 ? INFINITY : NAN;
		subject_store(&pair.tried, VECTOR_PARAMETERS, values);
		assert_false(isfinite(
			subject_gradient(&pair.tried, &batch).loss));
		must(program_evaluate(pair.tried.program, &batch, &score, &err),
		     &err);
		assert_false(isfinite(score.loss));
		values[places[i]] = kept;
	}
	subject_store(&pair.tried, VECTOR_PARAMETERS, values);
	assert_true(isfinite(subject_gradient(&pair.tried, &batch).loss));
	((float *)batch.images)[14 * 28 + 14] = NAN;
	assert_false(isfinite(subject_gradient(&pair.tried, &batch).loss));
	free(values);
	pair_close(&pair);
	batch_free(&batch);
}

/* Of the four values of a window, any may be the one that is none. */
static void what_is_not_a_number_wins_its_window(void **state)
{
	struct batch batch = batch_make(&pooled_model, 9, 1);
	float *images = (float *)batch.images;
	struct pair pair;

	pair_open(&pair, *state, &pooled_model, BATCH, 0);
	assert_true(isfinite(subject_gradient(&pair.tried, &batch).loss));
	for (int k = 0; k < 4; k++) {
		float *pixel = &images[(2 + k / 2) * 6 + 2 + k % 2];
		const float kept = *pixel;

		*pixel = NAN;
		assert_false(isfinite(
			subject_gradient(&pair.tried, &batch).loss));
		*pixel = kept;
	}
	pair_close(&pair);
	batch_free(&batch);
}

static void null_counts_and_no_more(void **state)
{
	const struct program_options options = { .batch = BATCH,
						 .test_batch = BATCH };
	const struct model *model = model_find("tiny");
	struct batch batch = batch_make(model, 1, 3);
	struct score score;
	struct subject subject;
	struct error err;

	(void)state;
	subject_open(&subject, "null", 1, model, &options);
	subject_start(&subject, 1);
	score = subject_gradient(&subject, &batch);
	must(program_evaluate(subject.program, &batch, &score, &err), &err);
	assert_true(score.count == 6 && score.loss == 0 && !score.correct);
	subject_close(&subject);
	batch_free(&batch);
}

static void an_unknown_build_names_the_choices(void **state)
{
	const struct device_request request = { .threads = 1, .cpus = 1 };
	struct device *device;
	struct error err;

	(void)state;
	setenv("BENCH_ISA", "sse9", 1);
	assert_int_equal(device_open(backend_find("cpu"), &request, &device,
				     &err), -1);
	unsetenv("BENCH_ISA");
	assert_int_equal(err.kind, ERROR_MISSING);
	assert_non_null(strstr(err.message, "sse9"));
	assert_non_null(strstr(err.message, "portable"));
}

static const struct {
	const char *name;
	CMUnitTestFunction function;
} checks[] = {
	{ "tiny steps", tiny_steps_are_right },
	{ "odd steps", odd_steps_are_right },
	{ "mnist steps", mnist_steps_are_right },
	{ "mnist-example steps", mnist_example_steps_are_right },
	{ "no dropout", nothing_is_dropped_when_told_so },
	{ "empty share", an_empty_share_is_zero },
	{ "evaluations", evaluations_are_right },
	{ "vectors", vectors_come_back },
	{ "lent gradient", the_gradient_is_lent },
	{ "adadelta", adadelta_is_the_published_one },
	{ "repeated", steps_can_be_repeated },
	{ "not a number", what_is_not_a_number_reaches_the_loss },
	{ "not a number in a window", what_is_not_a_number_wins_its_window },
};

#define CHECKS (sizeof(checks) / sizeof(checks[0]))

int main(void)
{
	static struct CMUnitTest tests[VARIANTS * CHECKS + 2];
	static char names[VARIANTS * CHECKS][48];
	size_t count = 0;

	for (size_t v = 0; v < VARIANTS; v++)
		for (size_t c = 0; c < CHECKS; c++, count++) {
			snprintf(names[count], sizeof(names[count]), "%s: %s",
				 variants[v].name, checks[c].name);
			tests[count] = (struct CMUnitTest){
				.name = names[count],
				.test_func = checks[c].function,
				.initial_state = (void *)&variants[v],
			};
		}
	tests[count++] = (struct CMUnitTest)cmocka_unit_test(
		null_counts_and_no_more);
	tests[count] = (struct CMUnitTest)cmocka_unit_test(
		an_unknown_build_names_the_choices);
	return cmocka_run_group_tests_name("backends", tests, NULL, NULL);
}
