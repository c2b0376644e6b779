/* Models that are graphs, in every build of every backend, against the
 * reference. */
#include "tests/kernels/graph_models.h"
#include "tests/kernels/lockstep.h"

#define NEAR_NORMED 1e-4 /* batch norm takes differences of near values */

static double bound_of(const struct model *model)
{
	return model_has_batchnorm(model) ? NEAR_NORMED : NEAR;
}

static void compare_buffers(struct pair *pair)
{
	float *tried = subject_load(&pair->tried, VECTOR_BUFFERS);
	float *right = subject_load(&pair->right, VECTOR_BUFFERS);
	const double error = error_of(tried, right,
				      pair->tried.program->buffers);

	if (!(error <= NEAR))
		fail_msg("%s: the statistics are off by %.2e",
			 pair->right.program->model->name, error);
	free(tried);
	free(right);
}

static void compare_gradients(struct pair *pair)
{
	const struct model *model = pair->right.program->model;
	float *tried = subject_load(&pair->tried, VECTOR_GRADIENT);
	float *right = subject_load(&pair->right, VECTOR_GRADIENT);

	assert_gradients(model, tried, right, bound_of(model));
	free(tried);
	free(right);
}

/* A gradient from the same place, and an evaluation; then parameters move. */
static void compare_at(struct pair *pair, struct batch *batch)
{
	const struct update update = { .lr = .1, .rho = .9, .eps = 1e-6 };
	struct score tried = { 0 }, right = { 0 };
	struct error err;

	start_alike(pair);
	copy_vector(pair, VECTOR_BUFFERS);
	tried = subject_gradient(&pair->tried, batch);
	compare_scores(pair, batch, &tried);
	compare_gradients(pair);
	compare_buffers(pair);
	copy_vector(pair, VECTOR_BUFFERS);
	tried = (struct score){ 0 };
	compare_evaluation(pair, batch, &tried, &right);
	compare_buffers(pair);
	must(program_train(pair->tried.program, batch, &update, &err), &err);
	must(program_finish(pair->tried.program, &tried, &err), &err);
}

/* Last batches, too; of two samples batch norm makes 1 and -1, whatever these
 * are, and the gradient by them is nothing but rounding. */
static void compare_graph(const struct variant *variant,
			  const struct model *model, int dropout)
{
	static const int counts[] = { 5, 7, 4 };
	struct pair pair;

	pair_open(&pair, variant, model, 7, dropout);
	for (uint32_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		struct batch batch = batch_make(model, 40 + i, counts[i]);

		batch.step = i;
		batch.place = 1;
		batch.stride = 2;
		batch.global_count = 2 * counts[i] + 1;
		compare_at(&pair, &batch);
		batch_free(&batch);
	}
	pair_close(&pair);
}

static int is_device(const struct variant *variant)
{
	return backend_find(variant->backend)->offloads;
}

static int is_gpu_class(const struct variant *variant)
{
	return variant->device_class && !strcmp(variant->device_class, "gpu");
}

/* A device's driver compiles kernels for each, which takes long. */
static int graphs_of(const struct variant *variant)
{
	if (!is_device(variant))
		return GRAPHS;
	if (tests_are_light())
		return 2;
	return is_gpu_class(variant) ? GRAPHS_OF_DEVICES :
				       GRAPHS_OF_CPU_DEVICES;
}

static int drops(const struct model *model)
{
	int l = 0;

	while (l < model->layer_count && !layer_drops(&model->layers[l]))
		l++;
	return l < model->layer_count;
}

static void graphs_are_right(void **state)
{
	const struct variant *variant = *state;

	for (int i = 0; i < graphs_of(variant); i++) {
		compare_graph(variant, graph_models[i], 1);
		if (!is_device(variant) && !tests_are_light() &&
		    drops(graph_models[i]))
			compare_graph(variant, graph_models[i], 0);
	}
}

/* The class of GPUs has one algorithm, which is dense. */
static int has_dense(const struct variant *variant)
{
	return backend_find(variant->backend)->algorithms >>
			       ALGORITHM_DENSE & 1 && !is_gpu_class(variant);
}

/* Every multiplication of the definitions, by other kernels. */
static void dense_graphs_are_right(void **state)
{
	const struct program_options options = {
		.batch = 7, .test_batch = 7, .seed = SEED, .dropout = 1,
		.algorithm = ALGORITHM_DENSE
	};
	const struct variant *variant = *state;
	const int most = is_device(variant) ? 2 : GRAPHS;
	const int count = has_dense(variant) ? most : 0;

	for (int i = 0; i < count; i++) {
		const struct model *model = graph_models[i];
		struct batch batch = batch_make(model, 50, 7);
		struct pair pair;

		pair_open_with(&pair, variant, model, &options);
		compare_at(&pair, &batch);
		compare_at(&pair, &batch);
		pair_close(&pair);
		batch_free(&batch);
	}
}

/* No multiply-add is missing in a profile, and none is there twice; no more are
 * done than there are. */
static void compare_work(const struct variant *variant,
			 const struct model *model)
{
	static struct profile_part parts[PROFILE_MOST_PARTS];
	const struct model_work work = model_work(model);
	struct batch batch = batch_make(model, 4, 7);
	struct pair pair;
	double sum = 0;
	int count;

	pair_open(&pair, variant, model, batch.count, 1);
	subject_gradient(&pair.tried, &batch);
	count = program_profile(pair.tried.program, parts);
	for (int p = 0; p < count; p++) {
		assert_true(parts[p].done >= 0 &&
			    parts[p].done <= parts[p].dense);
		sum += parts[p].dense;
	}
	assert_true(sum == batch.count * (work.forward + work.backward_data +
					  work.backward_weights));
	pair_close(&pair);
	batch_free(&batch);
}

static void work_is_the_models(void **state)
{
	const struct variant *variant = *state;

	if (!backend_find(variant->backend)->profile)
		return;
	compare_work(variant, &residual_model);
	compare_work(variant, &forked_model);
}

int main(void)
{
	static const struct check checks[] = {
		{ "graphs", graphs_are_right, 0 },
		{ "dense graphs", dense_graphs_are_right, 0 },
		{ "work", work_is_the_models, 0 },
	};

	return run_some_variants("graphs", checks,
				 sizeof(checks) / sizeof(checks[0]),
				 is_tried);
}
