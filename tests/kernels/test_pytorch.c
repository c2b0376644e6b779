/*
 * Single formulas against PyTorch: the files that golden/make_golden.py wrote
 * of optimizers, of losses by vectors, of initial parameters, and of each kind
 * of layer.
 */
#include "tests/kernels/subject.h"

#include "backends/host/reference_base.h"
#include "backends/reference/layers.h"

/* Opens it after its header. */
static FILE *open_golden(const char *name)
{
	char path[64], header[128];
	FILE *file;

	snprintf(path, sizeof(path), "tests/golden/%s", name);
	file = fopen(path, "r");
	if (!file || !fgets(header, sizeof(header), file))
		fail_msg("%s: run this from the root", path);
	return file;
}

static void assert_near(const char *what, double found, double right,
			double bound)
{
	if (!(fabs(found - right) <= bound * fmax(1, fabs(right))))
		fail_msg("%s: %.17g, PyTorch's is %.17g", what, found, right);
}

/* Returns an entry of make_golden.py's SETTINGS. */
static struct update settings_of(const char *name, int step)
{
	struct recipe recipe = { .lr = .7, .rho = .9, .eps = 1e-6 };

	if (!strcmp(name, "adam"))
		recipe = (struct recipe){ .optimizer = OPTIMIZER_ADAM,
					  .lr = .01, .beta1 = .8, .beta2 = .99,
					  .eps = 1e-4 };
	else if (strcmp(name, "adadelta"))
		recipe = (struct recipe){ .optimizer = OPTIMIZER_SGD,
					  .lr = .1 };
	if (!strcmp(name, "momentum")) {
		recipe.momentum = .9;
		recipe.weight_decay = .05;
	}
	return recipe_update(&recipe, recipe.lr, (uint32_t)step);
}

static void optimizers_are_those_of_pytorch(void **state)
{
	FILE *file = open_golden("optimizers.csv");
	float p = 0, s0 = 0, s1 = 0;
	double p2 = 0, t0 = 0, t1 = 0, gradient, right;
	char name[16];
	int step, rows = 0;

	(void)state;
	while (fscanf(file, "%15[^,],%d,%lf,%lf\n", name, &step, &gradient,
		      &right) == 4) {
		const struct update update = settings_of(name, step);
		const float g = (float)gradient;

		if (!step) {
			p2 = p = .5;
			s0 = s1 = 0;
			t0 = t1 = 0;
		}
		host_optimize(&update, 1, &p, &g, &s0, &s1);
		host_optimize_double(&update, 1, &p2, &gradient, &t0, &t1);
		assert_near(name, p, right, 1e-6);
		assert_near(name, p2, right, 1e-14);
		rows++;
	}
	fclose(file);
	assert_int_equal(rows, 4 * 8);
}

/* Two samples of three outputs; the first one's label is of no use. */
static void losses_by_vectors_are_those_of_pytorch(void **state)
{
	FILE *file = open_golden("targets.csv");
	double x[6], gradient[6], loss;
	float z[6], narrow[6];
	char name[8];
	int rows = 0;

	(void)state;
	while (fscanf(file, "%7[^,],%lf,%lf,%f,%lf\n", name, &loss,
		      &x[rows % 6], &z[rows % 6], &gradient[rows % 6]) == 5) {
		const enum loss kind = strcmp(name, "bce") ? LOSS_MSE :
							     LOSS_BCE;
		const struct batch batch = { .targets = z, .global_count = 2 };
		struct score score = { 0 }, single = { 0 };
		double dx[6];
		float dx_single[6];

		narrow[rows % 6] = (float)x[rows % 6];
		if (++rows % 6)
			continue;
		for (int i = 0; i < 2; i++) {
			loss_forward(kind, x + 3 * i, 3, &batch, i, &score,
				     dx + 3 * i);
			host_loss(kind, narrow + 3 * i, 3, &batch, i, &single,
				  dx_single + 3 * i);
		}
		assert_near(name, score.loss / 2, loss, 1e-14);
		assert_near(name, single.loss / 2, loss, 1e-7);
		for (int k = 0; k < 6; k++) {
			assert_near(name, dx[k], gradient[k], 1e-14);
			assert_near(name, dx_single[k], gradient[k], 1e-6);
		}
		assert_int_equal(score.count, 2);
		/* -3 .25 40 for 0 1 1 is right, of -200 1.5 0 for 1 .25 0 only
		 * the last. */
		assert_int_equal(score.correct, kind == LOSS_BCE ? 4 : 0);
		assert_int_equal(single.correct, score.correct);
	}
	fclose(file);
	assert_int_equal(rows, 12);
}

static const struct layer layers[] = {
	{ .kind = LAYER_CONV, .name = "conv1", .outputs = 8, .window = 3,
	  .no_bias = 1 },
	{ .kind = LAYER_BATCHNORM, .name = "bn1" },
	{ .kind = LAYER_CONV, .name = "conv2", .outputs = 16, .window = 1,
	  .no_bias = 1 },
	{ .kind = LAYER_BATCHNORM, .name = "bn2" },
	{ .kind = LAYER_AVGPOOL, .outputs = 1 },
	{ .kind = LAYER_LINEAR, .name = "fc", .outputs = 5 },
	{ .kind = LAYER_LOSS },
};

static const struct model residual = {
	.name = "residual",
	.input = { 3, 9, 9 },
	.layers = layers,
	.layer_count = sizeof(layers) / sizeof(layers[0]),
	.init = INIT_KAIMING_FAN_OUT,
	.replaced_outputs = 12,
};

static void parameters_are_those_of_pytorch(void **state)
{
	FILE *file = open_golden("parameters.csv");
	const size_t count = model_parameter_count(&residual);
	float parameters[1024], buffers[128];
	size_t next_parameter = 0, next_buffer = 0;
	char name[32];
	double right;
	int place;

	(void)state;
	assert_true(count <= 1024 && model_buffer_count(&residual) <= 128);
	model_init(&residual, 1, parameters);
	model_init_buffers(&residual, buffers);
	/* Both vectors have the order of the file. */
	while (fscanf(file, "%31[^,],%d,%lf\n", name, &place, &right) == 3) {
		const int is_buffer = strstr(name, "running") != NULL;
		const int is_normal = strstr(name, "conv") != NULL;
		const float found = is_buffer ? buffers[next_buffer++] :
						parameters[next_parameter++];

		assert_near(name, found, right, is_normal ? 1e-6 : 1e-9);
	}
	fclose(file);
	assert_int_equal(next_parameter, count);
	assert_int_equal(next_buffer, model_buffer_count(&residual));
}

/* As eighths() there: a double holds every sum of their products. */
enum salt { X = 1, W, BIAS, DY, Z };

static double eighths(enum salt salt, size_t i)
{
	const long n = (long)i;

	return (double)((n * n * n + (long)salt * n) % 29 - 14) / 8;
}

/* Compares the file's next rows with this tensor. */
static void expect_tensor(FILE *file, const char *of, const char *tensor,
			  const double *found, size_t count, double bound)
{
	char first[32], second[32], what[96];
	double right;
	size_t place;

	for (size_t i = 0; i < count; i++) {
		if (fscanf(file, "%31[^,],%31[^,],%zu,%lf\n", first, second,
			   &place, &right) != 4)
			fail_msg("%s, %s: %zu values are missing", of, tensor,
				 count - i);
		assert_string_equal(first, of);
		assert_string_equal(second, tensor);
		assert_int_equal(place, i);
		snprintf(what, sizeof(what), "%s, %s %zu", of, tensor, i);
		assert_near(what, found[i], right, bound);
	}
}

/* No tensor of them is larger. */
#define MOST 160

/* LAYERS of make_golden.py. */
static const struct layer_case {
	struct layer layer;
	struct shape in;
	int samples; /* where it is not one */
} cases[] = {
	{ { .kind = LAYER_CONV, .name = "conv3", .outputs = 3, .window = 3,
	    .pad = 1 }, { 2, 5, 4 }, 0 },
	{ { .kind = LAYER_CONV, .name = "conv5", .outputs = 2, .window = 5,
	    .stride = 2, .pad = 2, .no_bias = 1 }, { 2, 7, 6 }, 0 },
	{ { .kind = LAYER_CONV, .name = "conv11", .outputs = 1, .window = 11,
	    .stride = 4, .pad = 2 }, { 1, 11, 13 }, 0 },
	{ { .kind = LAYER_CONV, .name = "conv1", .outputs = 2, .window = 1,
	    .stride = 2, .no_bias = 1 }, { 3, 4, 5 }, 0 },
	{ { .kind = LAYER_MAXPOOL, .name = "maxpool", .window = 3,
	    .stride = 2 }, { 2, 7, 9 }, 0 },
	{ { .kind = LAYER_MAXPOOL, .name = "maxpool-padded", .window = 3,
	    .stride = 2, .pad = 1 }, { 2, 7, 8 }, 0 },
	{ { .kind = LAYER_AVGPOOL, .name = "avgpool-down", .outputs = 3 },
	  { 2, 7, 5 }, 0 },
	{ { .kind = LAYER_AVGPOOL, .name = "avgpool-up", .outputs = 6 },
	  { 1, 4, 4 }, 0 },
	{ { .kind = LAYER_RELU, .name = "relu" }, { 3, 2, 5 }, 0 },
	{ { .kind = LAYER_BATCHNORM, .name = "batchnorm" }, { 2, 3, 2 }, 3 },
	{ { .kind = LAYER_LINEAR, .name = "linear", .outputs = 4 },
	  { 12, 1, 1 }, 0 },
};

/* Of a layer and its samples. */
struct passed {
	size_t inputs, outputs, weights, biases;
	double x[MOST], w[MOST], bias[MOST], dy[MOST];
	double y[MOST], dx[MOST], dw[MOST], dbias[MOST];
};

/* Gradients are added to what is there, which is 1. */
static void begin(const struct layer_case *is, struct passed *t)
{
	const struct layer rows[] = { is->layer, { .kind = LAYER_LOSS } };
	const struct model model = { .input = is->in, .layers = rows,
				     .layer_count = 2 };
	const size_t samples = is->samples ? (size_t)is->samples : 1;
	struct tensor tensors[MODEL_MAX_TENSORS];
	const int count = model_tensors(&model, tensors);

	t->inputs = samples * shape_size(is->in);
	t->outputs = samples * shape_size(layer_output(&is->layer, is->in));
	t->weights = count > 0 ? tensors[0].count : 0;
	t->biases = count > 1 ? tensors[1].count : 0;
	assert_true(t->inputs <= MOST && t->outputs <= MOST &&
		    t->weights <= MOST);
	for (size_t i = 0; i < MOST; i++) {
		t->x[i] = eighths(X, i);
		t->w[i] = eighths(W, i);
		t->bias[i] = eighths(BIAS, i);
		t->dy[i] = eighths(DY, i);
		t->dx[i] = t->dw[i] = t->dbias[i] = 1;
	}
}

static void pass_batchnorm(const struct layer_case *is, struct passed *t)
{
	const size_t plane = (size_t)(is->in.height * is->in.width);
	const size_t each = shape_size(is->in);
	double mean, variance;

	for (int c = 0; c < is->in.channels; c++) {
		const size_t at = (size_t)c * plane;
		struct norm norm;

		moments(t->x + at, is->samples, each, plane, &mean, &variance);
		norm = (struct norm){ mean, sqrt(variance + BATCHNORM_EPS),
				      t->w[c], t->bias[c] };
		norm_forward(&norm, t->x + at, is->samples, each, plane,
			     t->y + at);
		norm_backward(&norm, t->x + at, t->dy + at, is->samples, each,
			      plane, t->dw + c, t->dbias + c, t->dx + at);
	}
}

/* Forward, then backward. */
static void pass(const struct layer_case *is, struct passed *t)
{
	const struct layer *layer = &is->layer;
	const int has_bias = !layer->no_bias;
	uint8_t decisions[MOST];
	double regret = 0;

	if (layer->kind == LAYER_CONV) {
		conv_forward(layer, t->x, is->in, t->w,
			     has_bias ? t->bias : NULL, t->y);
		conv_backward(layer, t->x, is->in, t->w, t->dy, t->dw,
			      has_bias ? t->dbias : NULL, t->dx);
	} else if (layer->kind == LAYER_MAXPOOL) {
		maxpool_forward(layer, t->x, is->in, NULL, decisions, t->y,
				&regret);
		maxpool_backward(layer, t->dy, is->in, decisions, t->dx);
	} else if (layer->kind == LAYER_AVGPOOL) {
		avgpool_forward(layer, t->x, is->in, t->y);
		avgpool_backward(layer, t->dy, is->in, t->dx);
	} else if (layer->kind == LAYER_RELU) {
		relu_forward(t->x, t->inputs, NULL, decisions, t->y, &regret);
		relu_backward(t->dy, t->inputs, decisions, t->dx);
	} else if (layer->kind == LAYER_BATCHNORM) {
		pass_batchnorm(is, t);
	} else {
		linear_forward(t->x, t->inputs, t->w, t->bias, layer->outputs,
			       t->y);
		linear_backward(t->x, t->inputs, t->w, layer->outputs, t->dy,
				t->dw, t->dbias, t->dx);
	}
	for (size_t i = 0; i < MOST; i++) {
		t->dx[i]--;
		t->dw[i]--;
		t->dbias[i]--;
	}
}

static void layers_are_those_of_pytorch(void **state)
{
	FILE *file = open_golden("layers.csv");
	struct passed t;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *name = cases[i].layer.name;

		begin(&cases[i], &t);
		pass(&cases[i], &t);
		expect_tensor(file, name, "y", t.y, t.outputs, 1e-13);
		expect_tensor(file, name, "dx", t.dx, t.inputs, 1e-13);
		expect_tensor(file, name, "dw", t.dw, t.weights, 1e-13);
		expect_tensor(file, name, "dbias", t.dbias, t.biases, 1e-13);
	}
	assert_int_equal(fgetc(file), EOF);
	fclose(file);
}

/* EveryKind of make_golden.py. */
static const struct layer every_rows[] = {
	{ .kind = LAYER_CONV, .name = "a", .outputs = 3, .window = 3,
	  .stride = 2, .pad = 1 },
	{ .kind = LAYER_BATCHNORM, .name = "n" },
	{ .kind = LAYER_RELU },
	{ .kind = LAYER_MAXPOOL, .window = 3, .stride = 1, .pad = 1 },
	{ .kind = LAYER_CONV, .name = "b", .outputs = 3, .window = 1,
	  .no_bias = 1 },
	{ .kind = LAYER_ADD, .with = 1 },
	{ .kind = LAYER_ADD },
	{ .kind = LAYER_AVGPOOL, .outputs = 2 },
	{ .kind = LAYER_LINEAR, .name = "c", .outputs = 4 },
	{ .kind = LAYER_BATCHNORM, .name = "m" },
	{ .kind = LAYER_LINEAR, .name = "d", .outputs = 2 },
	{ .kind = LAYER_LOSS, .loss = LOSS_MSE },
};

static const struct model every_kind = {
	.name = "every-kind",
	.input = { 2, 9, 7 },
	.layers = every_rows,
	.layer_count = sizeof(every_rows) / sizeof(every_rows[0]),
};

#define SAMPLES 4
#define NETWORK_BOUND 1e-12

static void store_eighths(struct subject *subject)
{
	const size_t count = subject->program->parameters;
	float *values = allocate(count * sizeof(*values));

	for (size_t i = 0; i < count; i++)
		values[i] = (float)eighths(W, i);
	subject_store(subject, VECTOR_PARAMETERS, values);
	free(values);
}

/* A loss, and unless it is an evaluation's what the gradient has left. */
static void expect_step(FILE *file, const struct subject *subject, int step,
			double loss)
{
	const struct reference_base *base =
		(struct reference_base *)subject->program;
	struct tensor tensors[MODEL_MAX_TENSORS];
	const int count = model_tensors(&every_kind, tensors);
	const int all = count + model_buffers(&every_kind, tensors + count);
	char name[4];

	snprintf(name, sizeof(name), "%d", step);
	expect_tensor(file, name, "loss", &loss, 1, NETWORK_BOUND);
	for (int t = 0; t < all && step < 2; t++)
		expect_tensor(file, name, tensors[t].name,
			      (t < count ? base->vectors[VECTOR_GRADIENT] :
					   base->buffers) +
				      tensors[t].offset,
			      tensors[t].count, NETWORK_BOUND);
}

static void network_is_that_of_pytorch(void **state)
{
	const struct program_options options = { .batch = SAMPLES,
						 .test_batch = SAMPLES };
	FILE *file = open_golden("network.csv");
	float images[SAMPLES * 2 * 9 * 7], targets[SAMPLES * 2];
	struct batch batch = { .images = images, .targets = targets,
			       .global_count = 5, .stride = 1 };
	struct score score = { 0 };
	struct subject subject;
	struct error err;

	(void)state;
	for (size_t i = 0; i < sizeof(images) / sizeof(images[0]); i++)
		images[i] = (float)eighths(X, i);
	for (size_t i = 0; i < sizeof(targets) / sizeof(targets[0]); i++)
		targets[i] = (float)eighths(Z, i);
	subject_open(&subject, "reference", &every_kind, &options);
	subject_start(&subject, 1);
	store_eighths(&subject);
	for (int step = 0; step < 2; step++) {
		batch.count = SAMPLES - step;
		expect_step(file, &subject, step,
			    subject_gradient(&subject, &batch).loss);
	}
	batch.count = SAMPLES;
	must(program_evaluate(subject.program, &batch, &score, &err), &err);
	expect_step(file, &subject, 2, score.loss);
	assert_int_equal(fgetc(file), EOF);
	fclose(file);
	subject_close(&subject);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(optimizers_are_those_of_pytorch),
		cmocka_unit_test(losses_by_vectors_are_those_of_pytorch),
		cmocka_unit_test(parameters_are_those_of_pytorch),
		cmocka_unit_test(layers_are_those_of_pytorch),
		cmocka_unit_test(network_is_that_of_pytorch),
	};

	return cmocka_run_group_tests_name("PyTorch", tests, NULL, NULL);
}
