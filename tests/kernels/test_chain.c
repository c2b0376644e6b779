/* What kernels made for chains of layers know of a step. */
#include "backends/opencl/program/steps.h"
#include "tests/cmocka.h"

/* A program of a device that is not there, with steps of these lengths. */
static const struct opencl_program *make(const struct model *model,
					 const int *lengths, int count)
{
	static struct opencl_program program;
	const struct node *nodes = program.graph.nodes;
	int at = 0;

	graph_resolve(&program.graph, model);
	program.plan = (struct plan){ .model = model, .count = count };
	for (int s = 0; s < count; at += lengths[s++])
		program.plan.steps[s] = (struct step){
			.first = at,
			.length = lengths[s],
			.in = nodes[at].in,
			.out = nodes[at + lengths[s] - 1].out,
		};
	return &program;
}

static const struct opencl_program *make_mnist(void)
{
	return make(model_find("mnist"), (const int[]){ 2, 3, 3, 1, 1 }, 5);
}

static void assert_shape(struct shape shape, int channels, int height,
			 int width)
{
	assert_int_equal(shape.channels, channels);
	assert_int_equal(shape.height, height);
	assert_int_equal(shape.width, width);
}

static void a_convolution_knows_its_rows(void **state)
{
	const struct chain conv = chain_at(make_mnist(), 1);

	(void)state;
	assert_int_equal(conv.main, 2);
	assert_int_equal(conv.relu, STEP_NO_LAYER);
	assert_int_equal(conv.pool, 3);
	assert_int_equal(conv.dropout, 4);
	assert_int_equal(conv.window, 3);
	assert_int_equal(conv.pool_window, 2);
	assert_int_equal(conv.weight, 320);
	assert_int_equal(conv.bias, 18752);
	assert_shape(conv.in, 32, 26, 26);
	assert_shape(conv.main_out, 64, 24, 24);
	assert_shape(conv.out, 64, 12, 12);
}

static void a_linear_layer_knows_its_rows(void **state)
{
	const struct chain linear = chain_at(make_mnist(), 2);

	(void)state;
	assert_int_equal(linear.main, 5);
	assert_int_equal(linear.relu, 6);
	assert_int_equal(linear.pool, STEP_NO_LAYER);
	assert_int_equal(linear.dropout, 7);
	assert_int_equal(linear.window, 0);
	assert_int_equal(linear.pool_window, 1);
	assert_int_equal(linear.weight, 18816);
	assert_int_equal(linear.bias, 1198464);
	assert_shape(linear.in, 64, 12, 12);
	assert_shape(linear.main_out, 128, 1, 1);
	assert_shape(linear.out, 128, 1, 1);
}

static void a_loss_has_none_of_these(void **state)
{
	const struct chain loss = chain_at(make_mnist(), 4);

	(void)state;
	assert_int_equal(loss.main, STEP_NO_LAYER);
	assert_int_equal(loss.relu, STEP_NO_LAYER);
	assert_int_equal(loss.dropout, STEP_NO_LAYER);
	assert_int_equal(loss.window, 0);
	assert_int_equal(loss.weight, 0);
}

static void a_kernel_is_broken_on_purpose_alone(void **state)
{
	const struct opencl_program *program = make_mnist();

	(void)state;
	for (int s = 0; s < program->plan.count; s++)
		assert_int_equal(chain_at(program, s).broken, 0);
	setenv("BENCH_TEST_BREAK", "conv2", 1);
	program = make_mnist();
	unsetenv("BENCH_TEST_BREAK");
	for (int s = 0; s < program->plan.count; s++)
		assert_int_equal(chain_at(program, s).broken, s == 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_convolution_knows_its_rows),
		cmocka_unit_test(a_linear_layer_knows_its_rows),
		cmocka_unit_test(a_loss_has_none_of_these),
		cmocka_unit_test(a_kernel_is_broken_on_purpose_alone),
	};

	return cmocka_run_group_tests_name("chain", tests, NULL, NULL);
}
