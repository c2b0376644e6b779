/*
 * Single formulas against PyTorch: the files that golden/make_golden.py wrote
 * of optimizers, of losses by vectors, and of initial parameters.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "backends/host.h"
#include "backends/reference/layers.h"

/* Behind its header. */
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

/* Those of make_golden.py's SETTINGS. */
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
		/* -3 .25 40 for 0 1 1 is right, -200 1.5 0 for 1 .25 0 not. */
		assert_int_equal(score.correct, kind == LOSS_BCE);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(optimizers_are_those_of_pytorch),
		cmocka_unit_test(losses_by_vectors_are_those_of_pytorch),
		cmocka_unit_test(parameters_are_those_of_pytorch),
	};

	return cmocka_run_group_tests_name("PyTorch", tests, NULL, NULL);
}
