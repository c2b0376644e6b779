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

/* Of a program of batches of so many. */
static struct score evaluate_count(const char *backend,
				   const struct model *model, int infers,
				   int most, int count, size_t *activations,
				   int *vectors)
{
	const struct program_options options = { .batch = most,
						 .test_batch = count,
						 .seed = 4,
						 .dropout = 1,
						 .infers = infers };
	struct batch batch = batch_make(model, 8, count);
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

static struct score evaluate(const char *backend, const struct model *model,
			     int infers, size_t *activations, int *vectors)
{
	return evaluate_count(backend, model, infers, MOST, COUNT, activations,
			      vectors);
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

/* Whose values take more memory than their parameters: a batch of 20 is slices
 * of 7, 7 and 6, with arrays for one of them. */
static void infers_in_slices(void **state)
{
	size_t trained, eight, twenty;
	int vectors;
	const struct score right = evaluate_count("cpu", &residual_model, 0,
						  20, 20, &trained, &vectors);
	struct score score;

	(void)state;
	evaluate_count("cpu", &residual_model, 1, 8, 8, &eight, &vectors);
	score = evaluate_count("cpu", &residual_model, 1, 20, 20, &twenty,
			       &vectors);
	assert_close("the loss", score.loss, right.loss, NEAR * right.loss);
	assert_int_equal(score.correct, right.correct);
	assert_int_equal(score.count, 20);
	assert_true(twenty < eight);
}

int main(void)
{
	static const char *const backends[] = { "cpu", "openblas",
						"reference" };
	struct CMUnitTest tests[4] = {
		[3] = cmocka_unit_test(infers_in_slices),
	};

	for (int i = 0; i < 3; i++)
		tests[i] = (struct CMUnitTest){
			.name = backends[i],
			.test_func = only_evaluates,
			.initial_state = (void *)backends[i],
		};
	return _cmocka_run_group_tests("infers", tests, 4, NULL, NULL);
}
