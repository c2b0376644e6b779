/* Batch norms folded into what is before them: the same function, in fewer
 * rows. */
#include "models/fold_norms.h"

#include "bench/verify/random_model.h"
#include "tests/kernels/graph_models.h"
#include "tests/kernels/subject.h"

enum { SAMPLES = 3, DRAWN = 300 };

static struct folded_model folded;

static int norms_of(const struct model *model)
{
	int norms = 0;

	for (int row = 0; row < model->layer_count; row++)
		norms += model->layers[row].kind == LAYER_BATCHNORM;
	return norms;
}

/* Anything, but for variances, which are positive. */
static void draw(const struct model *model, float *parameters, float *buffers)
{
	struct tensor tensors[MODEL_MAX_TENSORS];
	const size_t count = model_parameter_count(model);
	const int buffer_count = model_buffers(model, tensors);
	struct mt19937 generator;

	model_init(model, SAMPLES, parameters);
	mt19937_seed(&generator, 7);
	for (size_t i = 0; i < count; i++)
		parameters[i] += mt19937_uniform(&generator, -.1f, .1f);
	for (int b = 0; b < buffer_count; b++)
		for (size_t i = 0; i < tensors[b].count; i++)
			buffers[tensors[b].offset + i] = mt19937_uniform(
				&generator, b % 2 ? .3f : -1, 2);
}

static double loss_of(const struct model *model, const float *parameters,
		      const float *buffers)
{
	const struct program_options options = {
		.batch = SAMPLES, .test_batch = SAMPLES,
		.precision = PRECISION_FP64,
	};
	struct batch batch = batch_make(model, 9, SAMPLES);
	struct score score = { 0 };
	struct subject subject;
	struct error err;

	subject_open(&subject, "openblas", model, &options);
	subject_store(&subject, VECTOR_PARAMETERS, parameters);
	if (subject.program->buffers)
		subject_store(&subject, VECTOR_BUFFERS, buffers);
	must(program_evaluate(subject.program, &batch, &score, &err), &err);
	subject_close(&subject);
	batch_free(&batch);
	return score.loss / SAMPLES;
}

/* The norms that went. */
static int fold(const struct model *model)
{
	float *parameters = allocate(model_parameter_count(model) *
				     sizeof(float));
	float *buffers = allocate((model_buffer_count(model) + 1) *
				  sizeof(float));
	float *after, *after_buffers;
	char wrong[256];
	double right, tried;

	fold_norms(&folded, model);
	if (model_check(&folded.model, wrong, sizeof(wrong)))
		fail_msg("%s", wrong);
	after = allocate(model_parameter_count(&folded.model) * sizeof(float));
	after_buffers = allocate((model_buffer_count(&folded.model) + 1) *
				 sizeof(float));
	draw(model, parameters, buffers);
	fold_norms_vectors(&folded, model, parameters, buffers, after,
			   after_buffers);
	right = loss_of(model, parameters, buffers);
	tried = loss_of(&folded.model, after, after_buffers);
	assert_close(model->name, tried, right, 1e-5 * fmax(1, right));
	free(parameters);
	free(buffers);
	free(after);
	free(after_buffers);
	return norms_of(model) - norms_of(&folded.model);
}

static void graphs_stay_the_same(void **state)
{
	int gone = 0;

	(void)state;
	for (int i = 0; i < GRAPHS; i++)
		gone += fold(graph_models[i]);
	assert_true(gone >= 10);
}

static void drawn_graphs_stay_the_same(void **state)
{
	struct random_model drawn;
	int gone = 0, left = 0;

	(void)state;
	for (unsigned long long seed = 0; seed < DRAWN; seed++) {
		random_model_draw(&drawn, seed);
		if (model_loss(&drawn.model) != LOSS_NLL ||
		    !norms_of(&drawn.model))
			continue;
		gone += fold(&drawn.model);
		left += norms_of(&folded.model);
	}
	assert_true(gone >= 20 && left >= 20);
}

/* All of them in residual networks, none after a pooling. */
static void models_are_folded(void **state)
{
	static const struct {
		const char *name;
		int folded, left;
	} cases[] = {
		{ "resnet34", 36, 0 },
		{ "resnet50", 53, 0 },
		{ "xla-mnist", 0, 2 },
		{ "mnist", 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct model *model = model_find(cases[i].name);

		fold_norms(&folded, model);
		assert_int_equal(norms_of(&folded.model), cases[i].left);
		assert_int_equal(model->layer_count - folded.model.layer_count,
				 cases[i].folded);
		assert_int_equal(model_work(&folded.model).forward,
				 model_work(model).forward);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(graphs_stay_the_same),
		cmocka_unit_test(drawn_graphs_stay_the_same),
		cmocka_unit_test(models_are_folded),
	};

	return cmocka_run_group_tests_name("fold_norms", tests, NULL, NULL);
}
