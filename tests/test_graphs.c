/* Models that are graphs, in every build of the backends that take any, against
 * the reference. */
#include "tests/graph_models.h"
#include "tests/lockstep.h"

#define NEAR_NORMED 1e-4 /* batch norm takes differences of near values */

static const char *const backends[] = { "cpu", "reference" };

static double bound_of(const struct model *model)
{
	return model_has_batchnorm(model) ? NEAR_NORMED : NEAR;
}

static float *load_buffers(struct subject *subject)
{
	float *buffers = allocate((subject->program->buffers + 1) *
				  sizeof(float));
	struct error err;

	must(program_load(subject->program, VECTOR_BUFFERS, buffers, &err),
	     &err);
	return buffers;
}

static void copy_buffers(struct pair *pair)
{
	float *buffers = load_buffers(&pair->tried);
	struct error err;

	must(program_store(pair->right.program, VECTOR_BUFFERS, buffers, &err),
	     &err);
	free(buffers);
}

static void compare_buffers(struct pair *pair)
{
	float *tried = load_buffers(&pair->tried);
	float *right = load_buffers(&pair->right);
	const double error = error_of(tried, right,
				      pair->tried.program->buffers);

	if (!(error <= NEAR))
		fail_msg("the statistics are off by %.2e", error);
	free(tried);
	free(right);
}

static double largest_of(const float *values, size_t count)
{
	double most = 0;

	for (size_t i = 0; i < count; i++)
		most = fmax(most, fabs(values[i]));
	return most;
}

/* Every tensor within bound of its largest entry; but a bias before batch norm
 * makes no difference but for rounding. */
static void compare_gradients(struct pair *pair, double bound)
{
	const struct model *model = pair->right.program->model;
	float *tried = subject_load(&pair->tried, VECTOR_GRADIENT);
	float *right = subject_load(&pair->right, VECTOR_GRADIENT);
	const double whole = largest_of(right, pair->right.program->parameters);
	struct tensor tensors[MODEL_MAX_TENSORS];
	const int count = model_tensors(model, tensors);

	for (int t = 0; t < count; t++) {
		const size_t at = tensors[t].offset;
		double scale = largest_of(right + at, tensors[t].count);

		if (scale < 1e-9 * whole)
			scale = whole;
		for (size_t i = 0; i < tensors[t].count; i++)
			if (!(fabs((double)tried[at + i] - right[at + i]) <=
			      bound * scale))
				fail_msg("%s: the gradient of %s [%zu] is %g, "
					 "not %g within %g", model->name,
					 tensors[t].name, i,
					 (double)tried[at + i],
					 (double)right[at + i], bound * scale);
	}
	free(tried);
	free(right);
}

/* A gradient from the same place, and an evaluation; then parameters move. */
static void compare_at(struct pair *pair, struct batch *batch)
{
	const struct update update = { .lr = .1, .rho = .9, .eps = 1e-6 };
	const double bound = bound_of(pair->right.program->model);
	struct score tried = { 0 }, right = { 0 };
	struct error err;

	start_alike(pair);
	copy_buffers(pair);
	tried = subject_gradient(&pair->tried, batch);
	compare_scores(pair, batch, &tried);
	compare_gradients(pair, bound);
	compare_buffers(pair);
	copy_buffers(pair);
	tried = (struct score){ 0 };
	compare_evaluation(pair, batch, &tried, &right);
	compare_buffers(pair);
	must(program_train(pair->tried.program, batch, &update, &err), &err);
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

static void graphs_are_right(void **state)
{
	for (int i = 0; i < GRAPHS; i++)
		for (int dropout = 1; dropout >= 0; dropout--)
			compare_graph(*state, &graph_models[i], dropout);
}

/* Every multiplication of the definitions, by other kernels. */
static void dense_graphs_are_right(void **state)
{
	const struct program_options options = {
		.batch = 7, .test_batch = 7, .seed = SEED, .dropout = 1,
		.algorithm = ALGORITHM_DENSE
	};
	const struct variant *variant = *state;
	const unsigned has = backend_find(variant->backend)->algorithms;

	for (int i = 0; i < GRAPHS && has >> ALGORITHM_DENSE & 1; i++) {
		const struct model *model = &graph_models[i];
		struct batch batch = batch_make(model, 50, 7);
		struct pair pair;

		pair_open_with(&pair, variant, model, &options);
		compare_at(&pair, &batch);
		compare_at(&pair, &batch);
		pair_close(&pair);
		batch_free(&batch);
	}
}

static int takes_graphs(const struct variant *variant)
{
	for (size_t b = 0; b < sizeof(backends) / sizeof(backends[0]); b++)
		if (!strcmp(variant->backend, backends[b]))
			return 1;
	return 0;
}

int main(void)
{
	static const struct check checks[] = {
		{ "graphs", graphs_are_right, 0 },
		{ "dense graphs", dense_graphs_are_right, 0 },
	};

	return run_some_variants("graphs", checks,
				 sizeof(checks) / sizeof(checks[0]),
				 takes_graphs);
}
