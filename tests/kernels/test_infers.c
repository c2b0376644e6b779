/* Programs that only evaluate: what others score, with less memory. */
#include "backends/cpu/isa.h"
#include "models/fold_norms.h"
#include "tests/kernels/graph_models.h"
#include "tests/kernels/skipping.h"
#include "tests/kernels/subject.h"

#define COUNT 5
#define MOST 3 /* samples of a slice */
/* Of cpu's loss, which adds products to what is added to a convolution, and not
 * the other way round. */
#define NEAR 1e-6

static struct folded_model folded;

/* All rows that may stand between two products that round their factors: a
 * pooling, a product of each kind and a sum. Other rows read some outputs, too.
 */
static const struct layer rounded_rows[] = {
	{ .kind = LAYER_CONV, .name = "a", .outputs = 20, .window = 5,
	  .stride = 2, .pad = 2 },
	{ .kind = LAYER_RELU },
	{ .kind = LAYER_MAXPOOL, .window = 2 },
	{ .kind = LAYER_CONV, .name = "b", .outputs = 17, .window = 1 },
	{ .kind = LAYER_RELU },
	{ .kind = LAYER_CONV, .name = "c", .outputs = 16, .window = 3,
	  .pad = 1 },
	{ .kind = LAYER_RELU },
	{ .kind = LAYER_CONV, .name = "d", .outputs = 33, .window = 1 },
	{ .kind = LAYER_CONV, .name = "e", .outputs = 33, .window = 1,
	  .from = 5 },
	{ .kind = LAYER_ADD, .with = 1 },
	{ .kind = LAYER_RELU },
	{ .kind = LAYER_CONV, .name = "f", .outputs = 16, .window = 1 },
	{ .kind = LAYER_RELU },
	{ .kind = LAYER_CONV, .name = "g", .outputs = 33, .window = 1 },
	{ .kind = LAYER_ADD, .with = 3 },
	{ .kind = LAYER_CONV, .name = "h", .outputs = 20, .window = 1 },
	{ .kind = LAYER_AVGPOOL, .outputs = 1 },
	{ .kind = LAYER_LINEAR, .name = "i", .outputs = 5 },
	{ .kind = LAYER_LOSS },
};

GRAPH(rounded, 3, 33, 36);

static enum precision precision;

static struct score evaluate(const char *backend, const struct model *model,
			     int infers, size_t *activations, int *vectors)
{
	const struct program_options options = { .batch = MOST,
						 .test_batch = COUNT,
						 .seed = 4,
						 .dropout = 1,
						 .precision = precision,
						 .infers = infers };
	struct batch batch = batch_make(model, 8, COUNT);
	struct score score = { 0 };
	struct subject subject;
	struct error err;

	subject_open(&subject, backend, model, &options);
	subject_start(&subject, 6);
	must(program_evaluate(subject.program, &batch, &score, &err), &err);
	*activations = subject.program->activation_bytes;
	*vectors = subject.program->vectors;
	subject_close(&subject);
	batch_free(&batch);
	return score;
}

static void compare(const char *backend, const struct model *model)
{
	size_t trained, alone;
	int all, one;
	const struct score right = evaluate(backend, model, 0, &trained, &all);
	const struct score score = evaluate(backend, model, 1, &alone, &one);

	assert_close("the loss", score.loss, right.loss,
		     strcmp(backend, "cpu") ? 0 : NEAR * right.loss);
	assert_int_equal(score.correct, right.correct);
	assert_int_equal(score.count, COUNT);
	assert_true(!trained || alone < trained);
	assert_int_equal(one, 1);
	assert_true(all > 1);
}

static void only_evaluates(void **state)
{
	compare(*state, model_find("tiny"));
	compare(*state, model_find("xla-mnist"));
	compare(*state, &residual_model);
	compare(*state, &early_model);
	compare(*state, &windows_model);
	fold_norms(&folded, &residual_model);
	compare(*state, &folded.model);
}

/* The same values are rounded, if elsewhere. */
static void evaluates_rounded(void **state)
{
	(void)state;
	precision = PRECISION_BF16;
	compare("cpu", &rounded_model);
	precision = PRECISION_FP32;
}

int main(void)
{
	static const char *const backends[] = { "cpu", "openblas",
						"reference" };
	struct error err;
	const struct cpu_kernels *kernels = cpu_choose_kernels(&err);
	struct CMUnitTest tests[4];

	for (int i = 0; i < 3; i++)
		tests[i] = (struct CMUnitTest){
			.name = backends[i],
			.test_func = only_evaluates,
			.initial_state = (void *)backends[i],
		};
	tests[3] = (struct CMUnitTest){
		.name = "cpu, bf16",
		.test_func = test_if(kernels && cpu_bf16_products(kernels),
				     evaluates_rounded),
	};
	return _cmocka_run_group_tests("infers", tests, 4, NULL, NULL);
}
