/* What backends/contract/backend.h promises of every backend. */
#include "tests/kernels/variants.h"

#include "bench/system/allocation.h"

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
		/* Batches as in test_backends.c: of the same kernels. */
		pair_open(&pair, *state, model, m ? 3 : BATCH, 1);
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
	struct error err;

	pair_open(&one, *state, model, BATCH, 1);
	pair_open(&two, *state, model, BATCH, 1);
	subject_gradient(&one.tried, &batch);
	subject_gradient(&two.tried, &batch);
	before = subject_load(&one.tried, VECTOR_GRADIENT);
	lent = program_map(one.tried.program, VECTOR_GRADIENT, &err);
	other = program_map(two.tried.program, VECTOR_GRADIENT, &err);
	assert_true(lent && other && one.tried.program->length >= count);
	assert_int_equal(one.tried.program->length, two.tried.program->length);
	for (size_t i = 0; i < one.tried.program->length; i++)
		lent[i] += 2 * other[i];
	must(program_unmap(one.tried.program, VECTOR_GRADIENT, &err), &err);
	must(program_unmap(two.tried.program, VECTOR_GRADIENT, &err), &err);
	after = subject_load(&one.tried, VECTOR_GRADIENT);
	for (size_t i = 0; i < count; i++)
		assert_true(after[i] == before[i] * 3);
	free(before);
	free(after);
	pair_close(&one);
	pair_close(&two);
	batch_free(&batch);
}

/* Of some lines each, the last first, and none at all in between. */
static void an_update_may_be_in_parts(void **state)
{
	static const enum vector vectors[] = { VECTOR_PARAMETERS,
					       VECTOR_STATE_0,
					       VECTOR_STATE_1 };
	const struct update update = { .lr = .7, .rho = .9, .eps = 1e-6 };
	const struct model *model = model_find("tiny");
	const size_t bytes = model_parameter_count(model) * sizeof(float);
	struct batch batch = batch_make(model, 5, 6);
	struct pair pairs[2];
	struct error err;

	for (int p = 0; p < 2; p++) {
		struct program *program;
		size_t to, from, part;

		pair_open(&pairs[p], *state, model, BATCH, 1);
		program = pairs[p].tried.program;
		part = p ? 7 * UPDATE_LINE : program->length;
		subject_gradient(&pairs[p].tried, &batch);
		for (to = program->length; to; to = from) {
			from = (to - 1) / part * part;
			must(program_update_part(program, &update, from, to,
						 &err), &err);
			must(program_update_part(program, &update, from, from,
						 &err), &err);
		}
	}
	for (int v = 0; v < 3; v++) {
		float *whole = subject_load(&pairs[0].tried, vectors[v]);
		float *parts = subject_load(&pairs[1].tried, vectors[v]);

		assert_memory_equal(parts, whole, bytes);
		free(whole);
		free(parts);
	}
	pair_close(&pairs[0]);
	pair_close(&pairs[1]);
	batch_free(&batch);
}

/* Targets that are vectors, and an optimizer without a state. */
static void what_a_model_has_not_is_refused(void **state)
{
	static const struct layer layers[] = {
		{ .kind = LAYER_LINEAR, .name = "a", .outputs = 3 },
		{ .kind = LAYER_LOSS, .loss = LOSS_MSE },
	};
	static const struct model model = {
		.name = "plain", .input = { 1, 2, 2 },
		.layers = layers, .layer_count = 2,
		.recipe = { .optimizer = OPTIMIZER_SGD },
	};
	const struct program_options options = { .batch = 2, .test_batch = 2 };
	const struct device_request request = { .threads = 1, .cpus = 1 };
	const struct resident_data data = { .train = { .count = 2 } };
	struct program *program;
	struct device *device;
	struct error err;

	(void)state;
	must(device_open(backend_find("cpu"), &request, &device, &err), &err);
	must(program_compile(device, &model, &options, &program, &err), &err);
	assert_int_equal(program_upload_data(program, &data, &err), -1);
	assert_int_equal(err.kind, ERROR_MISSING);
	assert_non_null(strstr(err.message, "model plain needs vector"));
	err.message[0] = '\0';
	assert_null(program_map(program, VECTOR_STATE_1, &err));
	assert_non_null(strstr(err.message, "model plain has no vector "));
	program_free(program);
	device_close(device);
}

/* All that a step of several cores calls. */
static void make_step(struct subject *subject, const struct batch *batch)
{
	const struct update update = { .lr = .5, .rho = .9, .eps = 1e-6 };
	struct program *program = subject->program;
	struct score score;
	struct error err;

	must(program_gradient(program, batch, &err), &err);
	assert_non_null(program_map(program, VECTOR_GRADIENT, &err));
	must(program_unmap(program, VECTOR_GRADIENT, &err), &err);
	must(program_update_part(program, &update, 16, 160, &err), &err);
	assert_non_null(program_map(program, VECTOR_PARAMETERS, &err));
	must(program_unmap(program, VECTOR_PARAMETERS, &err), &err);
	must(program_finish(program, &score, &err), &err);
}

/* Compiling is when memory is asked for; what a device is given is the same in
 * each step, and something, unless there is no device. */
static void steps_are_exactly_alike(void **state)
{
	const struct variant *variant = *state;
	const struct model *model = model_find("tiny");
	struct batch batch = batch_make(model, 1, 3);
	struct pair pair;
	long allocations, launches;

	pair_open(&pair, variant, model, BATCH, 1);
	allocations = allocation_count();
	launches = pair.tried.program->launches;
	make_step(&pair.tried, &batch);
	assert_int_equal(allocation_count(), allocations);
	launches = pair.tried.program->launches - launches;
	assert_int_equal(launches > 0, !strcmp(variant->backend, "opencl"));
	launches += pair.tried.program->launches;
	make_step(&pair.tried, &batch);
	assert_int_equal(allocation_count(), allocations);
	assert_int_equal(pair.tried.program->launches, launches);
	pair_close(&pair);
	batch_free(&batch);
}

/* A gradient of 1: v = .1, d = .00316226, u = 9.9999e-7; see test_reference. */
static void adadelta_is_the_published_one(void **state)
{
	const struct model *model = model_find("tiny");
	const size_t count = model_parameter_count(model);
	float *values = allocate(count * sizeof(*values)), *v, *u, *p;
	const struct update update = { .lr = .5, .rho = .9, .eps = 1e-6 };
	struct pair pair;

	pair_open(&pair, *state, model, BATCH, 1);
	subject_store(&pair.tried, VECTOR_PARAMETERS, values);
	for (size_t i = 0; i < count; i++)
		values[i] = 1;
	subject_store(&pair.tried, VECTOR_GRADIENT, values);
	subject_update(&pair.tried, &update);
	v = subject_load(&pair.tried, VECTOR_STATE_0);
	u = subject_load(&pair.tried, VECTOR_STATE_1);
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
	const struct update update = { .lr = 1, .rho = .9, .eps = 1e-6 };
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

/* ReLU passes the gradient by what is not a number, as it passes that too. The
 * gpu class has the same kernels for tiny and mnist. */
static void what_is_not_a_number_reaches_all_gradients(void **state)
{
	const char *const names[] = { "tiny", "mnist-example", "mnist" };
	const struct variant *variant = *state;
	const int models = !strcmp(variant->name, "opencl gpu") ? 2 : 3;

	for (int m = 0; m < (tests_are_light() ? 1 : models); m++) {
		const struct model *model = model_find(names[m]);
		const size_t pixels = 2 * shape_size(model->input);
		const size_t count = model_parameter_count(model);
		struct batch batch = batch_make(model, 9, 2);
		float *gradient;
		struct pair pair;

		for (size_t i = 0; i < pixels; i++)
			((float *)batch.images)[i] = NAN;
		pair_open(&pair, variant, model, m ? 3 : BATCH, 0);
		subject_gradient(&pair.tried, &batch);
		gradient = subject_load(&pair.tried, VECTOR_GRADIENT);
		for (size_t i = 0; i < count; i++)
			if (!isnan(gradient[i]))
				fail_msg("%s: gradient %zu is %g", names[m], i,
					 gradient[i]);
		free(gradient);
		pair_close(&pair);
		batch_free(&batch);
	}
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
	subject_open(&subject, "null", model, &options);
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

int main(void)
{
	static const struct check checks[] = {
		{ "empty share", an_empty_share_is_zero, 0 },
		{ "vectors", vectors_come_back, 0 },
		{ "lent gradient", the_gradient_is_lent, 0 },
		{ "parts", an_update_may_be_in_parts, 0 },
		{ "counts", steps_are_exactly_alike, 0 },
		{ "adadelta", adadelta_is_the_published_one, 0 },
		{ "repeated", steps_can_be_repeated, 0 },
		{ "not a number", what_is_not_a_number_reaches_the_loss, 0 },
		{ "not a number in a window",
		  what_is_not_a_number_wins_its_window, 0 },
		{ "not a number in gradients",
		  what_is_not_a_number_reaches_all_gradients, 0 },
	};

	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_a_model_has_not_is_refused),
		cmocka_unit_test(null_counts_and_no_more),
		cmocka_unit_test(an_unknown_build_names_the_choices),
	};

	return run_variants("contract", checks,
			    sizeof(checks) / sizeof(checks[0])) +
	       cmocka_run_group_tests_name("null and builds", tests, NULL,
					   NULL);
}
