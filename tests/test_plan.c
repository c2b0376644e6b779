/* Layers grouped into steps. */
#include "backends/plan.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

static const struct fusion alone[] = {
	{ "conv", 1, { LAYER_CONV } },
	{ "relu", 1, { LAYER_RELU } },
	{ "maxpool", 1, { LAYER_MAXPOOL } },
	{ "dropout", 1, { LAYER_DROPOUT } },
	{ "dropout2d", 1, { LAYER_DROPOUT2D } },
	{ "linear", 1, { LAYER_LINEAR } },
	{ "loss", 1, { LAYER_LOSS } },
};

#define ALONE ((int)(sizeof(alone) / sizeof(alone[0])))

/* Longest first, as the contract asks. */
static const struct fusion fused[] = {
	{ "conv+relu+maxpool+dropout", 4,
	  { LAYER_CONV, LAYER_RELU, LAYER_MAXPOOL, LAYER_DROPOUT } },
	{ "conv+maxpool+dropout2d", 3,
	  { LAYER_CONV, LAYER_MAXPOOL, LAYER_DROPOUT2D } },
	{ "linear+relu+dropout", 3,
	  { LAYER_LINEAR, LAYER_RELU, LAYER_DROPOUT } },
	{ "conv+relu", 2, { LAYER_CONV, LAYER_RELU } },
	{ "linear+loss", 2, { LAYER_LINEAR, LAYER_LOSS } },
	{ "conv", 1, { LAYER_CONV } },
	{ "maxpool", 1, { LAYER_MAXPOOL } },
	{ "linear", 1, { LAYER_LINEAR } },
};

#define FUSED ((int)(sizeof(fused) / sizeof(fused[0])))

static struct plan build(const char *model, const struct fusion *fusions,
			 int count)
{
	struct plan plan;
	struct error err;

	if (plan_build(&plan, model_find(model), fusions, count, &err))
		fail_msg("%s", err.message);
	return plan;
}

static void assert_steps(const char *model, const char *const *names)
{
	const struct plan plan = build(model, fused, FUSED);
	int at = 0;

	for (int s = 0; s < plan.count; s++) {
		const struct step *step = &plan.steps[s];

		assert_non_null(names[s]);
		assert_string_equal(fused[step->fusion].name, names[s]);
		assert_int_equal(step->first, at);
		assert_int_equal(step->length, fused[step->fusion].length);
		at += step->length;
	}
	assert_null(names[plan.count]);
	assert_int_equal(at, model_find(model)->layer_count);
}

static void what_fits_is_fused(void **state)
{
	(void)state;
	assert_steps("mnist", (const char *const[]){
			"conv+relu", "conv+maxpool+dropout2d",
			"linear+relu+dropout", "linear+loss", NULL });
	assert_steps("mnist-example", (const char *const[]){
			"conv+relu", "conv+relu+maxpool+dropout",
			"linear+relu+dropout", "linear+loss", NULL });
	/* conv, ReLU and pooling, but no dropout: the shorter one. */
	assert_steps("tiny", (const char *const[]){
			"conv+relu", "maxpool", "conv+maxpool+dropout2d",
			"linear+relu+dropout", "linear+loss", NULL });
}

static void nothing_is_fused_that_nobody_can(void **state)
{
	const struct plan plan = build("mnist", alone, ALONE);

	(void)state;
	assert_int_equal(plan.count, 10);
	for (int s = 0; s < plan.count; s++) {
		assert_int_equal(plan.steps[s].first, s);
		assert_int_equal(plan.steps[s].length, 1);
	}
}

/* Of two that fit, the one listed first. */
static void the_list_has_an_order(void **state)
{
	struct fusion other[FUSED];
	struct plan plan;

	(void)state;
	memcpy(other, fused, sizeof(fused));
	other[0] = fused[5];
	other[5] = fused[0];
	plan_build(&plan, model_find("mnist-example"), other, FUSED,
		   &(struct error){ .kind = ERROR_FAILED });
	assert_string_equal(other[plan.steps[0].fusion].name, "conv");
}

static void assert_shape(struct shape shape, int channels, int height,
			 int width)
{
	assert_int_equal(shape.channels, channels);
	assert_int_equal(shape.height, height);
	assert_int_equal(shape.width, width);
}

static void a_step_knows_its_parts(void **state)
{
	const struct plan plan = build("mnist", fused, FUSED);
	const struct step *conv = &plan.steps[1], *linear = &plan.steps[2];

	(void)state;
	assert_int_equal(conv->main, 2);
	assert_int_equal(conv->relu, STEP_NO_LAYER);
	assert_int_equal(conv->pool, 3);
	assert_int_equal(conv->dropout, 4);
	assert_int_equal(conv->window, 3);
	assert_int_equal(conv->pool_window, 2);
	assert_int_equal(conv->weight, 320);
	assert_int_equal(conv->bias, 18752);
	assert_shape(conv->in, 32, 26, 26);
	assert_shape(conv->main_out, 64, 24, 24);
	assert_shape(conv->out, 64, 12, 12);
	assert_int_equal(linear->main, 5);
	assert_int_equal(linear->relu, 6);
	assert_int_equal(linear->pool, STEP_NO_LAYER);
	assert_int_equal(linear->dropout, 7);
	assert_int_equal(linear->window, 0);
	assert_int_equal(linear->pool_window, 1);
	assert_int_equal(linear->weight, 18816);
	assert_int_equal(linear->bias, 1198464);
	assert_shape(linear->in, 64, 12, 12);
	assert_shape(linear->out, 128, 1, 1);
}

/* Of two convolutions in a step, the first is the one that leads. */
static void a_step_knows_what_leads_it(void **state)
{
	static const struct fusion both[] = {
		{ "stem", 6,
		  { LAYER_CONV, LAYER_RELU, LAYER_CONV, LAYER_RELU,
		    LAYER_MAXPOOL, LAYER_DROPOUT } },
		{ "linear", 1, { LAYER_LINEAR } },
		{ "relu", 1, { LAYER_RELU } },
		{ "dropout", 1, { LAYER_DROPOUT } },
		{ "loss", 1, { LAYER_LOSS } },
	};
	const struct plan plan = build("mnist-example", both, 5);
	const struct step *step = &plan.steps[0];

	(void)state;
	assert_int_equal(step->lead.layer, 0);
	assert_int_equal(step->lead.relu, 1);
	assert_int_equal(step->lead.window, 3);
	assert_int_equal(step->lead.weight, 0);
	assert_int_equal(step->lead.bias, 288);
	assert_shape(step->lead.out, 32, 26, 26);
	assert_int_equal(step->main, 2);
	assert_int_equal(step->relu, 3);
	assert_int_equal(step->pool, 4);
	assert_int_equal(step->dropout, 5);
	assert_int_equal(step->weight, 320);
	assert_int_equal(step->bias, 18752);
	assert_shape(step->in, 1, 28, 28);
	assert_shape(step->main_out, 64, 24, 24);
	assert_shape(step->out, 64, 12, 12);
	assert_int_equal(plan.steps[1].lead.layer, STEP_NO_LAYER);
}

static void assert_no_start(const char *model, const struct fusion *fusions,
			    int count, const char *layer)
{
	struct plan plan;
	struct error err = { .message = "" };

	assert_int_equal(plan_build(&plan, model_find(model), fusions, count,
				    &err), -1);
	assert_int_equal(err.kind, ERROR_MISSING);
	assert_non_null(strstr(err.message, layer));
	assert_non_null(strstr(err.message, model));
}

static void a_layer_nobody_starts_with_is_named(void **state)
{
	static const struct fusion past_the_end[] = {
		{ "linear+loss+conv", 3,
		  { LAYER_LINEAR, LAYER_LOSS, LAYER_CONV } },
	};

	(void)state;
	assert_no_start("mnist", alone, ALONE - 1, "layer 9 (loss)");
	assert_no_start("mnist", alone, ALONE - 2, "layer 5 (linear)");
	assert_no_start("mnist", alone + 1, ALONE - 1, "layer 0 (conv)");
	/* fused cannot start with a ReLU: here after a pooled convolution. */
	assert_no_start("mnist", fused + 4, FUSED - 4, "layer 1 (relu)");
	assert_no_start("tiny", past_the_end, 1, "layer 0 (conv)");
	assert_no_start("tiny", NULL, 0, "layer 0 (conv)");
}

/* A fusion longer than what is left does not fit, whatever lies behind. */
static void nothing_reaches_past_the_end(void **state)
{
	static const struct layer layers[] = {
		{ .kind = LAYER_LINEAR, .name = "a", .outputs = 2 },
		{ .kind = LAYER_LOSS },
		{ .kind = LAYER_RELU }, /* not the model's */
	};
	static const struct model model = { .name = "short",
					    .input = { 1, 2, 2 },
					    .layers = layers,
					    .layer_count = 2 };
	static const struct fusion fusions[] = {
		{ "all", 3, { LAYER_LINEAR, LAYER_LOSS, LAYER_RELU } },
		{ "both", 2, { LAYER_LINEAR, LAYER_LOSS } },
	};
	struct plan plan;
	struct error err;

	(void)state;
	assert_int_equal(plan_build(&plan, &model, fusions, 2, &err), 0);
	assert_int_equal(plan.count, 1);
	assert_int_equal(plan.steps[0].fusion, 1);
}

static void a_kernel_is_broken_on_purpose_alone(void **state)
{
	struct plan plan;

	(void)state;
	plan = build("mnist", fused, FUSED);
	for (int s = 0; s < plan.count; s++)
		assert_int_equal(plan.steps[s].broken, 0);
	setenv("BENCH_TEST_BREAK", "conv2", 1);
	plan = build("mnist", fused, FUSED);
	unsetenv("BENCH_TEST_BREAK");
	for (int s = 0; s < plan.count; s++)
		assert_int_equal(plan.steps[s].broken, s == 1);
}

static void a_plan_explains_itself(void **state)
{
	const struct plan plan = build("mnist", fused, FUSED);
	char text[1024], cut[400];
	const size_t size = 19; /* not even the first line */

	(void)state;
	plan_explain(&plan, text, sizeof(text));
	assert_non_null(strstr(text, "conv+maxpool+dropout2d"));
	assert_non_null(strstr(text, "32x26x26 -> 64x12x12"));
	memset(cut, 'x', sizeof(cut));
	plan_explain(&plan, cut, size);
	assert_int_equal(cut[size - 1], '\0');
	for (size_t i = size; i < sizeof(cut); i++)
		assert_int_equal(cut[i], 'x');
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_fits_is_fused),
		cmocka_unit_test(nothing_is_fused_that_nobody_can),
		cmocka_unit_test(the_list_has_an_order),
		cmocka_unit_test(a_step_knows_its_parts),
		cmocka_unit_test(a_step_knows_what_leads_it),
		cmocka_unit_test(a_layer_nobody_starts_with_is_named),
		cmocka_unit_test(nothing_reaches_past_the_end),
		cmocka_unit_test(a_kernel_is_broken_on_purpose_alone),
		cmocka_unit_test(a_plan_explains_itself),
	};

	return cmocka_run_group_tests_name("plan", tests, NULL, NULL);
}
