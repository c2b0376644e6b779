/* Programs that only evaluate: what others score, with less memory. */
#include "models/fold_norms.h"
#include "tests/graph_models.h"
#include "tests/subject.h"

#define COUNT 5
#define MOST 3 /* samples of a slice */
/* Of cpu's loss, which adds products to what is added to a convolution, and not
 * the other way round. */
#define NEAR 1e-6

static struct folded_model folded;

static struct score evaluate(const char *backend, const struct model *model,
			     int infers, size_t *activations, int *vectors)
{
	const struct program_options options = { .batch = MOST,
						 .test_batch = COUNT,
						 .seed = 4,
						 .dropout = 1,
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

int main(void)
{
	static const char *const backends[] = { "cpu", "openblas",
						"reference" };
	struct CMUnitTest tests[3];

	for (int i = 0; i < 3; i++)
		tests[i] = (struct CMUnitTest){
			.name = backends[i],
			.test_func = only_evaluates,
			.initial_state = (void *)backends[i],
		};
	return _cmocka_run_group_tests("infers", tests, 3, NULL, NULL);
}
