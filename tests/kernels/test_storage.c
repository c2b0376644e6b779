/*
 * Precisions that round what is stored: to the right numbers, at the right
 * places, alike on every backend that has them; and the scale of the loss.
 */
#include "backends/host/storage.h"

#include "backends/cpu/isa.h"
#include "backends/host/host.h"
#include "tests/kernels/graph_models.h"
#include "tests/kernels/share.h"

#define DRAWN 200000
#define SAMPLES 5
#define LOSS_SCALE 64
/* Two neighbours of a number of fp16, and of bf16, relative to the largest. */
#define FP16_ULPS (2 * 0x1p-10)
#define BF16_ULPS (2 * 0x1p-7)

#ifdef __FLT16_MANT_DIG__
__extension__ typedef _Float16 half;
#endif

static float fp16_by_compiler(float value)
{
#ifdef __FLT16_MANT_DIG__
	return (float)(half)value;
#else
	storage_round(PRECISION_FP16, &value, 1);
	return value;
#endif
}

/* The upper half of a float, to nearest, to even. */
static float bf16_by_bits(float value)
{
	uint32_t bits;

	memcpy(&bits, &value, sizeof(bits));
	bits += 0x7fff + (bits >> 16 & 1);
	bits &= 0xffff0000u;
	memcpy(&value, &bits, sizeof(value));
	return value;
}

static float float_of(uint32_t bits)
{
	float value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

static void expect(enum precision precision, float value, float right)
{
	float single = value;
	double wide = value;

	storage_round(precision, &single, 1);
	storage_round_double(precision, &wide, 1);
	if (single != right || wide != (double)right)
		fail_msg("%s of %a is %a and %a, not %a",
			 precision_name(precision), (double)value,
			 (double)single, wide, (double)right);
}

/* Every exponent, of either sign. */
static void numbers_are_the_nearest_of_a_format(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < DRAWN; i++) {
		const uint32_t bits = i * 2654435761u;
		const float value = float_of(bits);

		if (!isfinite(value))
			continue;
		expect(PRECISION_FP16, value, fp16_by_compiler(value));
		expect(PRECISION_BF16_STORAGE, value, bf16_by_bits(value));
		expect(PRECISION_FP32, value, value);
	}
}

static void ties_ends_and_what_is_no_number(void **state)
{
	float nan = NAN;

	(void)state;
	expect(PRECISION_FP16, 1 + 0x1p-11f, 1);
	expect(PRECISION_FP16, 1 + 0x3p-11f, 1 + 0x1p-9f);
	expect(PRECISION_FP16, 65519, 65504);
	expect(PRECISION_FP16, 65520, INFINITY);
	expect(PRECISION_FP16, -INFINITY, -INFINITY);
	expect(PRECISION_FP16, 0x1p-25f, 0);
	expect(PRECISION_FP16, 0x1.8p-25f, 0x1p-24f);
	expect(PRECISION_BF16_STORAGE, 0x1.fffp127f, INFINITY);
	storage_round(PRECISION_FP16, &nan, 1);
	assert_true(isnan(nan));
}

/* One row of each: pooling and addition give what they take. */
static const struct layer mixed_layers[] = {
	{ .kind = LAYER_MAXPOOL, .window = 2, .stride = 1, .pad = 0 },
	{ .kind = LAYER_RELU },
	{ .kind = LAYER_ADD, .from = -1, .with = -2 },
	{ .kind = LAYER_LINEAR, .outputs = 4 },
	{ .kind = LAYER_RELU },
	{ .kind = LAYER_LOSS, .loss = LOSS_NLL },
};

static void values_are_rounded_that_products_read_or_give(void **state)
{
	static const struct model mixed = {
		.name = "mixed", .input = { 1, 4, 4 }, .layers = mixed_layers,
		.layer_count = sizeof(mixed_layers) / sizeof(mixed_layers[0]),
	};
	static const unsigned char right[] = { 0, 0, 1, 1, 1 };
	struct storage storage;
	struct graph graph;

	(void)state;
	graph_resolve(&graph, &mixed);
	storage_resolve(&storage, &graph, PRECISION_FP16);
	assert_false(storage_rounds(&storage, MODEL_IMAGES));
	for (int row = 0; row < 5; row++)
		assert_int_equal(storage_rounds(&storage, row), right[row]);
	storage_resolve(&storage, &graph, PRECISION_BF16_STORAGE);
	assert_true(storage_rounds(&storage, MODEL_IMAGES));
	assert_true(storage_rounds(&storage, 0));
	storage_resolve(&storage, &graph, PRECISION_BF16);
	assert_false(storage_rounds(&storage, 3));
}

static int is_of_format(enum precision precision, float value)
{
	float nearest = value;

	storage_round(precision, &nearest, 1);
	return nearest == value;
}

/* Of the largest entry of each tensor. */
static void compare(struct subject *tried, struct subject *right,
		    enum vector which, double bound, const char *name)
{
	const struct model *model = tried->program->model;
	struct tensor tensors[MODEL_MAX_TENSORS];
	const int count = model_tensors(model, tensors);
	float *a = subject_load(tried, which), *b = subject_load(right, which);

	for (int t = 0; t < count; t++) {
		double most = 0, largest = 1e-3;

		for (size_t i = 0; i < tensors[t].count; i++) {
			const size_t at = tensors[t].offset + i;

			most = fmax(most, fabs((double)a[at] - b[at]));
			largest = fmax(largest, fabs(b[at]));
		}
		if (!(most <= bound * largest))
			fail_msg("%s, %s: %s is off by %.1e of its largest",
				 name, model->name, tensors[t].name,
				 most / largest);
	}
	free(a);
	free(b);
}

static void check_parameters(struct subject *tried, enum precision precision)
{
	const struct model *model = tried->program->model;
	float *p = subject_load(tried, VECTOR_PARAMETERS);
	size_t odd = 0;

	for (size_t i = 0; i < model_parameter_count(model); i++)
		odd += !is_of_format(precision, p[i]);
	assert_true(precision == PRECISION_BF16_STORAGE ? !odd : odd);
	free(p);
}

/* Before it was divided by the loss's scale. */
static void check_gradient(struct subject *tried, enum precision precision)
{
	const struct model *model = tried->program->model;
	struct tensor tensors[MODEL_MAX_TENSORS];
	const int count = model_tensors(model, tensors);
	float *g = subject_load(tried, VECTOR_GRADIENT);

	for (int t = 0; t < count; t++) {
		const struct layer *layer = &model->layers[tensors[t].layer];
		int odd = 0;

		for (size_t i = 0; i < tensors[t].count; i++)
			odd |= !is_of_format(precision,
					     LOSS_SCALE *
						     g[tensors[t].offset + i]);
		if (odd && storage_rounds_layer(precision, layer))
			fail_msg("%s of %s is not rounded", tensors[t].name,
				 model->name);
	}
	free(g);
}

static void compare_step(const char *backend, const char *device_class,
			 const struct model *model, enum precision precision,
			 double bound)
{
	const struct program_options options = { .batch = SAMPLES,
						 .test_batch = SAMPLES,
						 .seed = 7,
						 .dropout = 1,
						 .precision = precision };
	const struct update update = { .lr = .1, .rho = .9, .eps = 1e-2 };
	struct batch batch = batch_make(model, 4, SAMPLES);
	struct subject tried, right;
	struct score a, b;

	batch.loss_scale = LOSS_SCALE;
	subject_open_class(&tried, backend, device_class, model, &options);
	subject_open(&right, "reference", model, &options);
	subject_start(&tried, 3);
	subject_start(&right, 3);
	a = subject_gradient(&tried, &batch);
	subject_follow(&right, &tried);
	b = subject_gradient(&right, &batch);
	assert_close("the loss", a.loss, b.loss, bound * fabs(b.loss));
	compare(&tried, &right, VECTOR_GRADIENT, bound, backend);
	check_gradient(&tried, precision);
	subject_update(&tried, &update);
	subject_update(&right, &update);
	compare(&tried, &right, VECTOR_PARAMETERS, bound, backend);
	check_parameters(&tried, precision);
	subject_close(&tried);
	subject_close(&right);
	batch_free(&batch);
}

static void compare_steps(const char *backend, const char *device_class)
{
	static const struct model *const models[] = {
		&every_kind_model, &residual_model, &convolved_model,
	};

	for (int m = 0; m < 3; m++) {
		compare_step(backend, device_class, models[m], PRECISION_FP16,
			     8 * FP16_ULPS);
		compare_step(backend, device_class, models[m],
			     PRECISION_BF16_STORAGE, 8 * BF16_ULPS);
	}
}

static void backends_round_alike(void **state)
{
	(void)state;
	compare_steps("cpu", NULL);
	compare_steps("openblas", NULL);
}

/* A gradient of each, with the factors of these layers rounded to bf16. */
static void compare_factors(struct subject *tried,
			    const unsigned char *rounds, double bound)
{
	const struct model *model = tried->program->model;
	const struct program_options options = { .batch = SAMPLES,
						 .test_batch = SAMPLES,
						 .seed = 7 };
	struct batch batch = batch_make(model, 4, SAMPLES);
	struct subject right;
	struct score a, b;
	struct error err;

	subject_open(&right, "reference", model, &options);
	assert_int_equal(program_round_factors(right.program, rounds, &err), 0);
	subject_start(tried, 3);
	subject_start(&right, 3);
	a = subject_gradient(tried, &batch);
	subject_follow(&right, tried);
	b = subject_gradient(&right, &batch);
	assert_close("the loss", a.loss, b.loss, bound * fabs(b.loss));
	compare(tried, &right, VECTOR_GRADIENT, bound, "bf16");
	subject_close(&right);
	batch_free(&batch);
}

static int has_winograd(const struct program *program)
{
	const char *name;
	int steps, found = 0;

	for (int s = 0; (name = program_solver(program, s, &steps)); s++)
		found |= strstr(name, "winograd") && steps;
	return found;
}

/* Factors of the layers that a program names are rounded, and no others. A
 * factor near the middle of two numbers may be rounded to the other one, and
 * changes all later values. Over six batches that made 4e-6 to 1.3e-3 of the
 * largest entry if three convolutions are rounded, and 7e-3 to 4e-2 if one of
 * them is left out; for conv1 alone 3e-5 to 2e-4. */
static void factors_are_rounded_that_cpu_names(void **state)
{
	const struct program_options options = { .batch = SAMPLES,
						 .test_batch = SAMPLES,
						 .seed = 7,
						 .precision = PRECISION_BF16 };
	struct layer rows[sizeof(residual_rows) / sizeof(*residual_rows)];
	struct model model = residual_model;
	struct subject tried;
	int points;

	(void)state;
	/* A window of 3 and stride 2 is too small for Winograd's algorithm. */
	memcpy(rows, residual_rows, sizeof(rows));
	rows[0].window = 3;
	rows[0].pad = 1;
	model.layers = rows;
	subject_open(&tried, "cpu", &model, &options);
	/* conv1, but not the 3x3 after it if Winograd's algorithm computes
	 * that, as without AMX. */
	points = has_winograd(tried.program);
	assert_true(tried.program->rounds[0]);
	assert_int_not_equal(tried.program->rounds[4], points);
	compare_factors(&tried, tried.program->rounds, points ? 1e-3 : 3e-3);
	subject_close(&tried);
}

static void references_round_factors_alike(void **state)
{
	const struct program_options options = { .batch = SAMPLES,
						 .test_batch = SAMPLES,
						 .seed = 7,
						 .precision = PRECISION_FP64 };
	/* conv1, a 1x1 of stride 2, and fc, which has a bias. */
	const unsigned char rounds[MODEL_MAX_LAYERS] = {
		[0] = 1, [16] = 1, [31] = 1
	};
	struct subject tried;
	struct error err;

	(void)state;
	subject_open(&tried, "openblas", &residual_model, &options);
	assert_int_equal(program_round_factors(tried.program, rounds, &err), 0);
	compare_factors(&tried, rounds, 1e-6);
	subject_close(&tried);
}

/* The largest entry of the gradient of a loss that is scaled so. */
static double gradient_of(struct subject *subject, struct batch *batch,
			  double scale)
{
	double largest;
	float *g;

	batch->loss_scale = scale;
	subject_gradient(subject, batch);
	g = subject_load(subject, VECTOR_GRADIENT);
	largest = largest_of(g, model_parameter_count(
					subject->program->model));
	free(g);
	return largest;
}

/* Of a mean over 2^26 samples, whose gradient by an output is below what fp16
 * has: it vanishes unless the loss is scaled, and the scale is divided out. */
static void check_scale(const char *backend, const char *device_class)
{
	const struct program_options options = { .batch = SAMPLES,
						 .test_batch = SAMPLES,
						 .precision = PRECISION_FP16 };
	struct batch batch = batch_make(&every_kind_model, 4, SAMPLES);
	struct subject subject;
	double once, twice;

	subject_open_class(&subject, backend, device_class, &every_kind_model,
			   &options);
	subject_start(&subject, 3);
	batch.global_count = 1 << 26;
	assert_true(gradient_of(&subject, &batch, 1) == 0);
	once = gradient_of(&subject, &batch, 65536);
	twice = gradient_of(&subject, &batch, 131072);
	assert_true(once > 0 && once < 1e-4);
	assert_close("twice the scale", twice, once, 1e-2 * once);
	subject_close(&subject);
	batch_free(&batch);
}

static void a_scaled_loss_has_a_gradient(void **state)
{
	(void)state;
	check_scale("cpu", NULL);
	check_scale("openblas", NULL);
	check_scale("reference", NULL);
}

static void so_does_opencl(void **state)
{
	(void)state;
	compare_steps("opencl", "cpu");
	compare_steps("opencl", "gpu");
	check_scale("opencl", "cpu");
	check_scale("opencl", "gpu");
}

/* 1 - (1 + 2^-9) is 0, as the sum of two ranks' gradients is stored first. */
static void a_sum_is_rounded_before_its_step(void **state)
{
	const struct update sgd = { .lr = 1, .optimizer = OPTIMIZER_SGD };
	float p[2] = { 7, 1 }, g[2] = { 7, 1 + 0x1p-9f };
	double wide_p[2] = { 7, 1 }, wide_g[2] = { 7, 1 + 0x1p-9 };
	float *const vectors[VECTOR_COUNT] = { p, g };
	double *const wide[VECTOR_COUNT] = { wide_p, wide_g };

	(void)state;
	host_update_vectors(&sgd, PRECISION_BF16_STORAGE, vectors, 1, 2);
	host_update_vectors_double(&sgd, PRECISION_BF16_STORAGE, wide, 1, 2);
	assert_true(p[0] == 7 && p[1] == 0 && g[1] == 1);
	assert_true(wide_p[0] == 7 && wide_p[1] == 0 && wide_g[1] == 1);
	p[1] = 1;
	g[1] = 1 + 0x1p-9f;
	host_update_vectors(&sgd, PRECISION_FP16, vectors, 1, 2);
	assert_true(p[1] == -0x1p-9f);
}

static void a_scale_follows_what_overflows(void **state)
{
	struct group alone = { .size = 1 };
	struct loss_scaler scaler;
	struct error err;
	int made;

	(void)state;
	loss_scaler_begin(&scaler);
	assert_true(scaler.scale == 65536 && scaler.planned == -1);
	must(loss_scaler_decide(&scaler, &alone, 0, &made, &err), &err);
	assert_true(!made && scaler.scale == 32768 && scaler.skipped == 1);
	for (int s = 1; s <= 10 * LOSS_SCALE_STEPS; s++) {
		must(loss_scaler_decide(&scaler, &alone, 1, &made, &err), &err);
		assert_true(made);
		if (s == LOSS_SCALE_STEPS - 1)
			assert_true(scaler.scale == 32768);
		if (s == LOSS_SCALE_STEPS)
			assert_true(scaler.scale == 65536);
	}
	assert_true(scaler.scale == 1 << 24);
	for (int s = 0; s < 24; s++)
		must(loss_scaler_decide(&scaler, &alone, 0, &made, &err), &err);
	assert_true(scaler.scale == 1 && scaler.skipped == 25);
	assert_int_equal(loss_scaler_decide(&scaler, &alone, 0, &made, &err),
			 -1);
	assert_int_equal(err.kind, ERROR_FAILED);
}

/* State of ranks after each of three steps. The second one overflows. */
struct ranks {
	struct loss_scaler scalers[2][3];
	float first[2][3]; /* parameter */
};

static int train_rank(struct group *group, void *context, struct error *err)
{
	const struct device_request request = { .threads = group->size,
						.cpus = 1 };
	const struct program_options options = {
		.batch = SAMPLES, .test_batch = 1, .precision = PRECISION_FP16,
	};
	const struct update update = { .lr = .1, .rho = .9, .eps = 1e-2 };
	struct replica_observer nobody = { hear_nothing };
	struct loss_scaler scaler;
	struct batch batch = batch_make(&every_kind_model, 4, SAMPLES);
	struct ranks *ranks = context;
	struct device *device = NULL;
	struct program *program = NULL;
	struct score score;
	int failed;

	loss_scaler_begin(&scaler);
	scaler.scale = 256;
	failed = replica_open(group, backend_find("cpu"), &request, &device,
			      err) ||
		 replica_compile(group, device, &every_kind_model, &options,
				 &program, err) ||
		 replica_initialise(group, program, 5, err);
	for (int s = 0; !failed && s < 3; s++) {
		float *p;

		batch.step = (uint32_t)s;
		failed = replica_train(group, program, &batch, &update, &scaler,
				       &nobody, &score, err);
		p = failed ? NULL :
			     program_map(program, VECTOR_PARAMETERS, err);
		ranks->scalers[group->rank][s] = scaler;
		ranks->first[group->rank][s] = p ? p[0] : 0;
		failed = failed || !p ||
			 program_unmap(program, VECTOR_PARAMETERS, err) ||
			 group_wait(group, err);
	}
	program_free(program);
	device_close(device);
	batch_free(&batch);
	return failed ? -1 : 0;
}

static void ranks_leave_out_a_step_together(void **state)
{
	(void)state;
	setenv("BENCH_TEST_OVERFLOW", "1", 1);
	for (int size = 1; size <= 2; size++) {
		struct ranks ranks = { 0 };
		const struct group_job job = { train_rank, &ranks,
					       sizeof(ranks), NULL };
		struct error err;

		must(group_launch(transport_find("threads"), size, &job, &err),
		     &err);
		for (int r = 0; r < size; r++) {
			const struct loss_scaler *scalers = ranks.scalers[r];
			const float *first = ranks.first[r];

			assert_true(scalers[0].scale == 256);
			assert_true(scalers[1].scale == 128);
			assert_int_equal(scalers[2].skipped, 1);
			assert_int_equal(scalers[2].steps, 1);
			assert_true(first[0] == first[1]);
			assert_true(first[1] != first[2]);
			assert_true(first[2] == ranks.first[0][2]);
		}
	}
	unsetenv("BENCH_TEST_OVERFLOW");
}

static int has_bf16(void)
{
	struct error err;
	const struct cpu_kernels *kernels = cpu_choose_kernels(&err);

	return kernels && cpu_bf16_products(kernels);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_are_the_nearest_of_a_format),
		cmocka_unit_test(ties_ends_and_what_is_no_number),
		cmocka_unit_test(values_are_rounded_that_products_read_or_give),
		cmocka_unit_test(backends_round_alike),
		{ "factors are rounded that cpu names",
		  test_if(has_bf16(), factors_are_rounded_that_cpu_names),
		  NULL, NULL, NULL },
		cmocka_unit_test(references_round_factors_alike),
		cmocka_unit_test(a_scaled_loss_has_a_gradient),
		cmocka_unit_test(a_sum_is_rounded_before_its_step),
		cmocka_unit_test(a_scale_follows_what_overflows),
		cmocka_unit_test(ranks_leave_out_a_step_together),
	};

	const struct CMUnitTest devices[] = {
		cmocka_unit_test(so_does_opencl),
	};
	const struct device_request any = { .threads = 1, .cpus = 1 };

	return cmocka_run_group_tests(tests, NULL, NULL) +
	       run_group_if(have_device("opencl", &any), "opencl storage",
			    devices, 1, NULL, NULL);
}
