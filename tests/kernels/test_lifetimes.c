/* When steps of several rows need memory. */
#include "tests/kernels/subject.h"

#include "backends/host/lifetimes.h"

/* A convolution with its ReLU, a pooling, and a linear layer with its own. */
static const struct layer rows[] = {
	{ .kind = LAYER_CONV, .name = "a", .outputs = 4, .window = 3 },
	{ .kind = LAYER_RELU },
	{ .kind = LAYER_MAXPOOL, .window = 2 },
	{ .kind = LAYER_LINEAR, .name = "b", .outputs = 16 },
	{ .kind = LAYER_RELU },
	{ .kind = LAYER_LINEAR, .name = "c", .outputs = 16 },
	{ .kind = LAYER_LOSS },
};

static const struct model chain = {
	.name = "chain",
	.input = { 1, 6, 6 },
	.layers = rows,
	.layer_count = sizeof(rows) / sizeof(rows[0]),
};

/* The last rows of steps. */
enum { CONV = 1, POOL = 2, LINEAR = 4, LOGITS = 5, STEPS = 4 };

static const struct lifetime_step steps[STEPS] = {
	{ .first = 0, .last = CONV, .output = 256, .gradient = 256 },
	{ .first = 2, .last = POOL, .output = 64, .gradient = 64 },
	{ .first = 3, .last = LINEAR, .output = 64, .gradient = 64 },
	{ .first = 5, .last = LOGITS, .output = 64, .gradient = 64 },
};

static struct lifetimes plan(const struct lifetime_step *of, unsigned how)
{
	struct lifetimes lifetimes;
	struct graph graph;

	graph_resolve(&graph, &chain);
	lifetimes_plan(&lifetimes, &graph, of, STEPS, how);
	return lifetimes;
}

static int overlap(size_t a, size_t a_size, size_t b, size_t b_size)
{
	return a < b + b_size && b < a + a_size;
}

/* The gradient by the convolution's output is made while that is not needed
 * any more, unless ReLU looks at it. */
static void what_relu_sees_stays(void **state)
{
	const struct lifetimes blind = plan(steps, 0);
	const struct lifetimes sees = plan(steps, LIFETIMES_RELU_SEES);

	(void)state;
	assert_int_equal(blind.gradients[CONV], blind.outputs[CONV]);
	assert_false(overlap(sees.gradients[CONV], 256, sees.outputs[CONV],
			     256));
	assert_true(sees.bytes >= 2 * 256);
	assert_true(blind.bytes < 2 * 256);
	assert_int_equal(sees.unshared, 2 * (256 + 3 * 64));
}

/* An output is needed until it is read, and no gradient at all. */
static void without_a_way_back_two_are_enough(void **state)
{
	struct lifetime_step equal[STEPS];
	struct lifetimes is;

	(void)state;
	memcpy(equal, steps, sizeof(equal));
	for (int s = 0; s < STEPS; s++)
		equal[s].output = 128;
	is = plan(equal, LIFETIMES_FORWARD | LIFETIMES_RELU_SEES);
	assert_int_equal(is.bytes, 2 * 128);
	assert_int_equal(is.unshared, STEPS * 128);
	for (int s = 0; s < STEPS; s++)
		assert_true(is.gradients[steps[s].last] == LIFETIMES_NONE);
}

static void what_is_apart_shares_with_nothing(void **state)
{
	struct lifetime_step apart[STEPS];
	struct lifetimes is;

	(void)state;
	memcpy(apart, steps, sizeof(apart));
	apart[0].apart = 1;
	is = plan(apart, 0);
	assert_false(overlap(is.outputs[CONV], 256, is.gradients[CONV], 256));
	for (int s = 1; s < STEPS; s++) {
		const int row = apart[s].last;

		assert_false(overlap(is.outputs[CONV], 256, is.outputs[row],
				     64));
		assert_false(overlap(is.outputs[CONV], 256, is.gradients[row],
				     64));
		assert_false(overlap(is.gradients[CONV], 256, is.outputs[row],
				     64));
		assert_false(overlap(is.gradients[CONV], 256,
				     is.gradients[row], 64));
	}
}

/* A convolution's output, to which another of it is added, normalised. */
static const struct layer residual_rows[] = {
	{ .kind = LAYER_CONV, .name = "a", .outputs = 4, .window = 3 },
	{ .kind = LAYER_CONV, .name = "b", .outputs = 4, .window = 1 },
	{ .kind = LAYER_BATCHNORM, .name = "c" },
	{ .kind = LAYER_ADD, .with = 2 },
	{ .kind = LAYER_RELU },
	{ .kind = LAYER_LINEAR, .name = "d", .outputs = 4 },
	{ .kind = LAYER_LOSS },
};

static const struct model residual = {
	.name = "residual",
	.input = { 1, 6, 6 },
	.layers = residual_rows,
	.layer_count = sizeof(residual_rows) / sizeof(residual_rows[0]),
};

/* An addition in the midst of a step: its other input is there until then, and
 * has the gradient by the step's output in the place of that. */
static void an_addition_within_a_step_is_seen(void **state)
{
	static const struct lifetime_step of[] = {
		{ .first = 0, .last = 0, .output = 256, .gradient = 256 },
		{ .first = 1, .last = 1, .output = 256, .gradient = 256 },
		{ .first = 2, .last = 4, .output = 256, .gradient = 256 },
		{ .first = 5, .last = 5, .output = 16, .gradient = 16 },
	};
	struct lifetimes is;
	struct graph graph;

	(void)state;
	graph_resolve(&graph, &residual);
	lifetimes_plan(&is, &graph, of, 4, LIFETIMES_RELU_SEES);
	assert_int_equal(is.gradients[0], is.gradients[4]);
	assert_false(overlap(is.gradients[0], 256, is.gradients[1], 256));
	lifetimes_plan(&is, &graph, of, 4, LIFETIMES_FORWARD);
	assert_false(overlap(is.outputs[0], 256, is.outputs[1], 256));
	assert_false(overlap(is.outputs[0], 256, is.outputs[4], 256));
}

/* c is added to a's output; d, to its own input. */
static const struct layer added_rows[] = {
	{ .kind = LAYER_CONV, .name = "a", .outputs = 4, .window = 1 },
	{ .kind = LAYER_CONV, .name = "b", .outputs = 4, .window = 1 },
	{ .kind = LAYER_CONV, .name = "c", .outputs = 4, .window = 1 },
	{ .kind = LAYER_ADD, .with = 2 },
	{ .kind = LAYER_CONV, .name = "d", .outputs = 4, .window = 1 },
	{ .kind = LAYER_ADD, .with = 1 },
	{ .kind = LAYER_LINEAR, .name = "e", .outputs = 4 },
	{ .kind = LAYER_LOSS },
};

static const struct model added = {
	.name = "added",
	.input = { 4, 6, 6 },
	.layers = added_rows,
	.layer_count = sizeof(added_rows) / sizeof(added_rows[0]),
};

/* Unless the convolution reads it. */
static void a_convolution_is_where_it_is_added(void **state)
{
	static const struct lifetime_step of[] = {
		{ .first = 0, .last = 0, .output = 256 },
		{ .first = 1, .last = 1, .output = 256 },
		{ .first = 2, .last = 3, .output = 256 },
		{ .first = 4, .last = 5, .output = 256 },
		{ .first = 6, .last = 6, .output = 16 },
	};
	struct lifetimes is;
	struct graph graph;

	(void)state;
	graph_resolve(&graph, &added);
	lifetimes_plan(&is, &graph, of, 5, LIFETIMES_FORWARD);
	assert_int_equal(is.outputs[3], is.outputs[0]);
	assert_false(overlap(is.outputs[1], 256, is.outputs[3], 256));
	assert_false(overlap(is.outputs[3], 256, is.outputs[5], 256));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_relu_sees_stays),
		cmocka_unit_test(without_a_way_back_two_are_enough),
		cmocka_unit_test(what_is_apart_shares_with_nothing),
		cmocka_unit_test(an_addition_within_a_step_is_seen),
		cmocka_unit_test(a_convolution_is_where_it_is_added),
	};

	return cmocka_run_group_tests_name("lifetimes", tests, NULL, NULL);
}
