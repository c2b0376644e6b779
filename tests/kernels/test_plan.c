/* Rows of a graph, taken by solvers. */
#include "backends/contract/plan.h"
#include "tests/cmocka.h"

/* A solver that takes a chain of these kinds, whatever the options. */
#define CHAIN(function, ...)                                                \
	static int function(const struct graph *graph, int first,           \
			    const struct program_options *options,          \
			    const char **why)                               \
	{                                                                   \
		static const enum layer_kind kinds[] = { __VA_ARGS__ };     \
									    \
		(void)options;                                              \
		(void)why;                                                  \
		return plan_chain(graph, first, kinds,                      \
				  (int)(sizeof(kinds) / sizeof(kinds[0]))); \
	}

CHAIN(takes_conv, LAYER_CONV, LAYER_RELU, LAYER_MAXPOOL, LAYER_DROPOUT)
CHAIN(takes_linear, LAYER_LINEAR, LAYER_RELU, LAYER_DROPOUT)

/* For a batch of one alone. */
static int takes_pool(const struct graph *graph, int first,
		      const struct program_options *options, const char **why)
{
	(void)why;
	return options->batch == 1 &&
	       graph->nodes[first].layer->kind == LAYER_MAXPOOL;
}

static int takes_wide(const struct graph *graph, int first,
		      const struct program_options *options, const char **why)
{
	const struct layer *layer = graph->nodes[first].layer;

	(void)options;
	if (layer->kind == LAYER_CONV && layer->window != 5)
		return plan_decline(why, "its window is not 5");
	return layer->kind == LAYER_CONV;
}

static const struct solver wide_solver = {
	.name = "wide conv", .takes = takes_wide
};
static const struct solver conv_solver = {
	.name = "conv", .takes = takes_conv
};
static const struct solver linear_solver = {
	.name = "linear", .takes = takes_linear
};
static const struct solver relu_solver = {
	.name = "relu", .kind = LAYER_RELU
};
static const struct solver pool_solver = {
	.name = "pool", .takes = takes_pool
};
static const struct solver add_solver = {
	.name = "add", .kind = LAYER_ADD
};
static const struct solver dropout_solver = {
	.name = "dropout", .kind = LAYER_DROPOUT
};
static const struct solver loss_solver = {
	.name = "loss", .kind = LAYER_LOSS
};

static const struct solver *const solvers[] = {
	&conv_solver, &linear_solver, &pool_solver, &relu_solver, &add_solver,
	&loss_solver
};
static const struct solver *const with_wide[] = {
	&wide_solver, &conv_solver, &linear_solver, &loss_solver
};

#define SOLVERS ((int)(sizeof(solvers) / sizeof(solvers[0])))

static int resolve_by(struct plan *plan, const struct model *model,
		      const struct solver *const *list, int count,
		      struct error *err)
{
	static struct graph graph;
	const struct program_options options = { .batch = 1 };

	graph_resolve(&graph, model);
	return plan_resolve(plan, &graph, &options, list, count, err);
}

static int resolve(struct plan *plan, const struct model *model, int first,
		   int count, struct error *err)
{
	return resolve_by(plan, model, solvers + first, count, err);
}

static struct plan *build(const struct model *model)
{
	static struct plan plan;
	struct error err;

	if (resolve(&plan, model, 0, SOLVERS, &err))
		fail_msg("%s", err.message);
	return &plan;
}

/* names, up to a NULL, of steps that cover all rows. */
static void assert_steps(const struct model *model, const char *const *names,
			 const int *lengths)
{
	const struct plan *plan = build(model);
	int at = 0;

	for (int s = 0; s < plan->count; s++) {
		const struct step *step = &plan->steps[s];

		assert_non_null(names[s]);
		assert_string_equal(step->solver->name, names[s]);
		assert_int_equal(step->first, at);
		assert_int_equal(step->length, lengths[s]);
		at += step->length;
	}
	assert_null(names[plan->count]);
	assert_int_equal(at, model->layer_count);
}

static void chains_are_taken_with_what_is_there(void **state)
{
	(void)state;
	assert_steps(model_find("mnist"), (const char *const[]){
			"conv", "conv", "linear", "linear", "loss", NULL },
		     (const int[]){ 2, 3, 3, 1, 1 });
	assert_steps(model_find("tiny"), (const char *const[]){
			"conv", "conv", "linear", "linear", "loss", NULL },
		     (const int[]){ 3, 3, 3, 1, 1 });
}

/* A row that two others read ends a chain, and so does one read from afar. */
static void chains_end_where_ways_part(void **state)
{
	static const struct layer layers[] = {
		{ .kind = LAYER_CONV, .name = "a", .outputs = 2, .window = 1 },
		{ .kind = LAYER_RELU },
		{ .kind = LAYER_CONV, .name = "b", .outputs = 2, .window = 1,
		  .from = 1 },
		{ .kind = LAYER_ADD, .with = 1 },
		{ .kind = LAYER_RELU },
		{ .kind = LAYER_LINEAR, .name = "c", .outputs = 3 },
		{ .kind = LAYER_LOSS },
	};
	static const struct model model = { .name = "ways",
					    .input = { 1, 4, 4 },
					    .layers = layers,
					    .layer_count = 7 };

	(void)state;
	assert_steps(&model, (const char *const[]){
			"conv", "relu", "conv", "add", "relu", "linear",
			"loss", NULL },
		     (const int[]){ 1, 1, 1, 1, 1, 1, 1 });
}

static void the_first_that_takes_some_has_them(void **state)
{
	static const struct solver *const other[] = {
		&relu_solver, &conv_solver, &linear_solver, &loss_solver
	};
	static struct plan plan;
	static struct graph graph;
	const struct program_options options = { .batch = 2 };
	struct error err;

	(void)state;
	graph_resolve(&graph, model_find("mnist"));
	/* pool declines a batch of 2, and conv has taken it before. */
	assert_int_equal(plan_resolve(&plan, &graph, &options, other, 4, &err),
			 0);
	assert_string_equal(plan.steps[1].solver->name, "conv");
}

/* Without takes: rows of one kind, and either dropout. */
static void a_kind_is_taken_row_by_row(void **state)
{
	static const struct solver conv = { .name = "conv",
					    .kind = LAYER_CONV };
	static const struct solver linear = { .name = "linear",
					      .kind = LAYER_LINEAR };
	static const struct solver *const kinds[] = {
		&dropout_solver, &relu_solver, &pool_solver,
		&conv,		 &linear,      &loss_solver
	};
	static const char *const names[] = {
		"conv", "relu", "conv", "pool", "dropout", "linear", "relu",
		"dropout", "linear", "loss"
	};
	static struct plan plan;
	static struct graph graph;
	const struct program_options options = { .batch = 1 };
	struct error err;

	(void)state;
	graph_resolve(&graph, model_find("mnist"));
	assert_int_equal(plan_resolve(&plan, &graph, &options, kinds, 6, &err),
			 0);
	assert_int_equal(plan.count, 10);
	for (int s = 0; s < plan.count; s++) {
		assert_string_equal(plan.steps[s].solver->name, names[s]);
		assert_int_equal(plan.steps[s].length, 1);
	}
}

static void assert_shape(struct shape shape, int channels, int height,
			 int width)
{
	assert_int_equal(shape.channels, channels);
	assert_int_equal(shape.height, height);
	assert_int_equal(shape.width, width);
}

static void a_step_knows_its_shapes(void **state)
{
	const struct plan *plan = build(model_find("mnist"));

	(void)state;
	assert_shape(plan->steps[1].in, 32, 26, 26);
	assert_shape(plan->steps[1].out, 64, 12, 12);
	assert_shape(plan->steps[2].in, 64, 12, 12);
	assert_shape(plan->steps[2].out, 128, 1, 1);
}

static void a_program_names_its_solvers(void **state)
{
	const struct program planned = { .plan = build(model_find("tiny")) };
	const struct program unplanned = { .plan = NULL };
	int steps;

	(void)state;
	assert_string_equal(program_solver(&planned, 0, &steps), "conv");
	assert_int_equal(steps, 2);
	assert_string_equal(program_solver(&planned, 2, &steps), "pool");
	assert_int_equal(steps, 0);
	assert_string_equal(program_solver(&planned, 5, &steps), "loss");
	assert_int_equal(steps, 1);
	assert_null(program_solver(&planned, 6, &steps));
	assert_null(program_solver(&unplanned, 0, &steps));
}

static void a_row_without_a_solver_is_named(void **state)
{
	static struct plan plan;
	struct error err = { .message = "" };

	(void)state;
	assert_int_equal(resolve(&plan, model_find("mnist"), 0, SOLVERS - 1,
				 &err), -1);
	assert_int_equal(err.kind, ERROR_MISSING);
	assert_string_equal(err.message, "model 'mnist', layer 9 (loss): not "
					 "supported by this backend");
	resolve(&plan, model_find("mnist"), 1, SOLVERS - 1, &err);
	assert_string_equal(err.message, "model 'mnist', layer 0 (conv "
					 "'conv1'): not supported by this "
					 "backend");
	resolve(&plan, model_find("mnist"), 0, 0, &err);
	assert_non_null(strstr(err.message, "layer 0"));
}

static void a_plan_explains_itself(void **state)
{
	const struct plan *plan = build(model_find("mnist"));
	char text[1024], cut[400];
	const size_t size = 19; /* not even the first line */

	(void)state;
	plan_explain(plan, text, sizeof(text));
	assert_non_null(strstr(text, " 1  conv+maxpool+dropout2d "));
	assert_non_null(strstr(text, "32x26x26 -> 64x12x12"));
	memset(cut, 'x', sizeof(cut));
	plan_explain(plan, cut, size);
	assert_int_equal(cut[size - 1], '\0');
	for (size_t i = size; i < sizeof(cut); i++)
		assert_int_equal(cut[i], 'x');
}

/* After the line of each step, a solver of its kind that declined it; no line
 * of those for other kinds, nor of one that took it. */
static void a_plan_says_why_solvers_declined(void **state)
{
	static struct plan plan;
	struct error err;
	char text[1024];

	(void)state;
	if (resolve_by(&plan, model_find("mnist"), with_wide, 4, &err))
		fail_msg("%s", err.message);
	plan_explain(&plan, text, sizeof(text));
	assert_string_equal(text,
		" 0  conv+relu                    1x28x28 -> 32x26x26, conv\n"
		"    not wide conv: its window is not 5\n"
		" 1  conv+maxpool+dropout2d       32x26x26 -> 64x12x12, conv\n"
		"    not wide conv: its window is not 5\n"
		" 2  linear+relu+dropout          64x12x12 -> 128x1x1, linear\n"
		" 3  linear                       128x1x1 -> 10x1x1, linear\n"
		" 4  loss                         10x1x1 -> 10x1x1, loss\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(chains_are_taken_with_what_is_there),
		cmocka_unit_test(chains_end_where_ways_part),
		cmocka_unit_test(the_first_that_takes_some_has_them),
		cmocka_unit_test(a_kind_is_taken_row_by_row),
		cmocka_unit_test(a_step_knows_its_shapes),
		cmocka_unit_test(a_program_names_its_solvers),
		cmocka_unit_test(a_row_without_a_solver_is_named),
		cmocka_unit_test(a_plan_explains_itself),
		cmocka_unit_test(a_plan_says_why_solvers_declined),
	};

	return cmocka_run_group_tests_name("plan", tests, NULL, NULL);
}
