/*
 * Graphs that kernels made for chains do not know, or know in part, on the
 * OpenCL backend against the reference, in both classes of devices.
 */
#include "tests/subject.h"

#define BATCH 5
#define GLOBAL 8 /* of which this core has five */

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))
#define ROWS(rows_)                                                          \
	.layers = rows_,                                                     \
	.layer_count = COUNT_OF(rows_)

/* Every kind of row: strides, padding, windows that overlap, one value that
 * three rows read, and batch norm behind and before an addition. */
static const struct layer every_rows[] = {
	{ .kind = LAYER_CONV, .name = "stem", .outputs = 4, .window = 3,
	  .stride = 2, .pad = 1 },
	{ .kind = LAYER_RELU },
	{ .kind = LAYER_MAXPOOL, .window = 3, .stride = 1, .pad = 1 },
	{ .kind = LAYER_CONV, .name = "a", .outputs = 6, .window = 3,
	  .stride = 2, .pad = 1, .no_bias = 1 },
	{ .kind = LAYER_BATCHNORM, .name = "a.norm" },
	{ .kind = LAYER_CONV, .name = "b", .outputs = 6, .window = 1,
	  .stride = 2, .from = 2, .no_bias = 1 },
	{ .kind = LAYER_BATCHNORM, .name = "b.norm" },
	{ .kind = LAYER_ADD, .with = 2 },
	{ .kind = LAYER_BATCHNORM, .name = "c.norm" },
	{ .kind = LAYER_RELU },
	{ .kind = LAYER_ADD, .with = 2 },
	{ .kind = LAYER_DROPOUT2D, .drop = .25 },
	{ .kind = LAYER_AVGPOOL, .outputs = 2 },
	{ .kind = LAYER_LINEAR, .name = "d", .outputs = 7 },
	{ .kind = LAYER_BATCHNORM, .name = "d.norm" },
	{ .kind = LAYER_DROPOUT, .drop = .5 },
	{ .kind = LAYER_LINEAR, .name = "e", .outputs = 5 },
	{ .kind = LAYER_LOSS },
};

/* Chains beside what is alone: a pooling first, two convolutions of one value,
 * a chain whose output two rows read, one behind a strided convolution, sums
 * of a value with itself and with the images. */
static const struct layer mixed_rows[] = {
	{ .kind = LAYER_MAXPOOL, .window = 2, .stride = 1 },
	{ .kind = LAYER_CONV, .name = "a", .outputs = 2, .window = 1 },
	{ .kind = LAYER_ADD, .with = 1 },
	{ .kind = LAYER_CONV, .name = "b", .outputs = 17, .window = 2 },
	{ .kind = LAYER_RELU },
	{ .kind = LAYER_CONV, .name = "c", .outputs = 20, .window = 3,
	  .from = 2 },
	{ .kind = LAYER_MAXPOOL, .window = 2 },
	{ .kind = LAYER_DROPOUT, .drop = .3 },
	{ .kind = LAYER_ADD, .with = 0 },
	{ .kind = LAYER_CONV, .name = "d", .outputs = 16, .window = 3,
	  .stride = 2, .from = 4 },
	{ .kind = LAYER_RELU },
	{ .kind = LAYER_CONV, .name = "e", .outputs = 16, .window = 2 },
	{ .kind = LAYER_RELU },
	{ .kind = LAYER_DROPOUT2D, .drop = .3 },
	{ .kind = LAYER_LINEAR, .name = "f", .outputs = 9 },
	{ .kind = LAYER_LINEAR, .name = "g", .outputs = 9, .from = 6 },
	{ .kind = LAYER_RELU },
	{ .kind = LAYER_ADD, .with = 2 },
	{ .kind = LAYER_LOSS },
};

static const struct layer deep_rows[] = {
	{ .kind = LAYER_CONV, .name = "a", .outputs = 16, .window = 3 },
	{ .kind = LAYER_RELU },
	{ .kind = LAYER_CONV, .name = "b", .outputs = 16, .window = 3 },
	{ .kind = LAYER_MAXPOOL, .window = 2 },
	{ .kind = LAYER_CONV, .name = "c", .outputs = 32, .window = 3 },
	{ .kind = LAYER_RELU },
	{ .kind = LAYER_CONV, .name = "d", .outputs = 16, .window = 3 },
	{ .kind = LAYER_RELU },
	{ .kind = LAYER_MAXPOOL, .window = 2 },
	{ .kind = LAYER_CONV, .name = "e", .outputs = 3, .window = 2 },
	{ .kind = LAYER_LINEAR, .name = "f", .outputs = 4 },
	{ .kind = LAYER_LOSS },
};

static const struct layer pooled_first_rows[] = {
	{ .kind = LAYER_MAXPOOL, .window = 3, .stride = 2 },
	{ .kind = LAYER_CONV, .name = "a", .outputs = 5, .window = 3 },
	{ .kind = LAYER_MAXPOOL, .window = 3, .stride = 2, .pad = 1 },
	{ .kind = LAYER_RELU },
	{ .kind = LAYER_LINEAR, .name = "b", .outputs = 4 },
	{ .kind = LAYER_LOSS },
};

/* mnist's stem, smaller, with other layers behind it. */
static const struct layer stem_rows[] = {
	{ .kind = LAYER_CONV, .name = "a", .outputs = 16, .window = 3 },
	{ .kind = LAYER_RELU },
	{ .kind = LAYER_CONV, .name = "b", .outputs = 32, .window = 3 },
	{ .kind = LAYER_RELU },
	{ .kind = LAYER_MAXPOOL, .window = 2 },
	{ .kind = LAYER_DROPOUT2D, .drop = .25 },
	{ .kind = LAYER_LINEAR, .name = "c", .outputs = 20 },
	{ .kind = LAYER_RELU },
	{ .kind = LAYER_DROPOUT, .drop = .5 },
	{ .kind = LAYER_LINEAR, .name = "d", .outputs = 10 },
	{ .kind = LAYER_LOSS },
};

static const struct layer bare_stem_rows[] = {
	{ .kind = LAYER_CONV, .name = "a", .outputs = 16, .window = 3 },
	{ .kind = LAYER_RELU },
	{ .kind = LAYER_CONV, .name = "b", .outputs = 32, .window = 3 },
	{ .kind = LAYER_MAXPOOL, .window = 2 },
	{ .kind = LAYER_DROPOUT, .drop = .25 },
	{ .kind = LAYER_LINEAR, .name = "c", .outputs = 10 },
	{ .kind = LAYER_LOSS },
};

/* The last one leaves one place, and its slopes go back. */
static const struct layer convs_rows[] = {
	{ .kind = LAYER_CONV, .name = "a", .outputs = 4, .window = 3 },
	{ .kind = LAYER_RELU },
	{ .kind = LAYER_CONV, .name = "b", .outputs = 10, .window = 3 },
	{ .kind = LAYER_LOSS },
};

/* The beginning and the end of a residual network, and a block of either kind
 * between them. */
static const struct layer residual_rows[] = {
	{ .kind = LAYER_CONV, .name = "conv1", .outputs = 8, .window = 7,
	  .stride = 2, .pad = 3, .no_bias = 1 },
	{ .kind = LAYER_BATCHNORM, .name = "bn1" },
	{ .kind = LAYER_RELU },
	{ .kind = LAYER_MAXPOOL, .window = 3, .stride = 2, .pad = 1 },
	{ .kind = LAYER_CONV, .name = "0.conv1", .outputs = 8, .window = 3,
	  .pad = 1, .no_bias = 1 },
	{ .kind = LAYER_BATCHNORM, .name = "0.bn1" },
	{ .kind = LAYER_RELU },
	{ .kind = LAYER_CONV, .name = "0.conv2", .outputs = 8, .window = 3,
	  .pad = 1, .no_bias = 1 },
	{ .kind = LAYER_BATCHNORM, .name = "0.bn2" },
	{ .kind = LAYER_ADD, .with = 5 },
	{ .kind = LAYER_RELU },
	{ .kind = LAYER_CONV, .name = "1.conv1", .outputs = 16, .window = 3,
	  .stride = 2, .pad = 1, .no_bias = 1 },
	{ .kind = LAYER_BATCHNORM, .name = "1.bn1" },
	{ .kind = LAYER_RELU },
	{ .kind = LAYER_CONV, .name = "1.conv2", .outputs = 16, .window = 3,
	  .pad = 1, .no_bias = 1 },
	{ .kind = LAYER_BATCHNORM, .name = "1.bn2" },
	{ .kind = LAYER_CONV, .name = "1.down", .outputs = 16, .window = 1,
	  .stride = 2, .from = 5, .no_bias = 1 },
	{ .kind = LAYER_BATCHNORM, .name = "1.down.bn" },
	{ .kind = LAYER_ADD, .with = 2 },
	{ .kind = LAYER_RELU },
	{ .kind = LAYER_AVGPOOL, .outputs = 1 },
	{ .kind = LAYER_LINEAR, .name = "fc", .outputs = 10 },
	{ .kind = LAYER_LOSS },
};

static const struct graph_case {
	struct model model;
	double bound; /* of gradients, by a tensor's largest entry */
} cases[] = {
	{ { .name = "every kind", .input = { 2, 9, 11 }, ROWS(every_rows) },
	  1e-4 },
	{ { .name = "mixed", .input = { 2, 13, 12 }, ROWS(mixed_rows) }, 1e-5 },
	{ { .name = "deep", .input = { 1, 26, 26 }, ROWS(deep_rows) }, 1e-5 },
	{ { .name = "pooled first", .input = { 3, 15, 14 },
	    ROWS(pooled_first_rows) }, 1e-5 },
	{ { .name = "stem", .input = { 1, 14, 14 }, ROWS(stem_rows) }, 1e-5 },
	{ { .name = "bare stem", .input = { 1, 14, 14 },
	    ROWS(bare_stem_rows) }, 1e-5 },
	{ { .name = "convolutions", .input = { 1, 5, 5 }, ROWS(convs_rows) },
	  1e-5 },
	{ { .name = "residual", .input = { 3, 30, 34 }, ROWS(residual_rows) },
	  1e-4 },
};

static const struct way {
	const char *device_class;
	enum algorithm algorithm;
} ways[] = {
	{ "cpu", ALGORITHM_FAST },
	{ "cpu", ALGORITHM_DENSE },
	{ "gpu", ALGORITHM_FAST },
};

/* Beside the whole gradient what is only rounding says nothing: a bias before
 * batch norm makes no difference. */
static void compare_gradients(const struct graph_case *graph,
			      const float *found, const float *right)
{
	struct tensor tensors[MODEL_MAX_TENSORS];
	const int count = model_tensors(&graph->model, tensors);
	const size_t all = model_parameter_count(&graph->model);
	double whole = 0;

	for (size_t i = 0; i < all; i++)
		whole = fmax(whole, fabs(right[i]));
	assert_true(whole > 0);
	for (int t = 0; t < count; t++) {
		double most = 0, scale = 0;

		for (size_t i = tensors[t].offset;
		     i < tensors[t].offset + tensors[t].count; i++) {
			assert_true(isfinite(found[i]));
			most = fmax(most, fabs((double)found[i] - right[i]));
			scale = fmax(scale, fabs(right[i]));
		}
		scale = scale < 1e-7 * whole ? whole : scale;
		if (!(most <= graph->bound * scale))
			fail_msg("%s: the gradient of %s is off by %.2e of its "
				 "largest entry", graph->model.name,
				 tensors[t].name, most / scale);
	}
}

static void compare_loads(struct subject *found, struct subject *right,
			  const struct graph_case *graph)
{
	const size_t count = right->program->buffers;
	float *a = subject_load(found, VECTOR_GRADIENT);
	float *b = subject_load(right, VECTOR_GRADIENT);
	struct error err;

	compare_gradients(graph, a, b);
	free(a);
	free(b);
	if (!count)
		return;
	a = allocate(count * sizeof(*a));
	b = allocate(count * sizeof(*b));
	must(program_load(found->program, VECTOR_BUFFERS, a, &err), &err);
	must(program_load(right->program, VECTOR_BUFFERS, b, &err), &err);
	for (size_t i = 0; i < count; i++)
		assert_close("a running statistic", a[i], b[i],
			     1e-5 * fmax(fabs(b[i]), .1));
	free(a);
	free(b);
}

static void start(struct subject *subject)
{
	const size_t count = subject->program->buffers;
	float *buffers = allocate(count * sizeof(*buffers));
	struct error err;

	subject_start(subject, 3);
	model_init_buffers(subject->program->model, buffers);
	if (count)
		must(program_store(subject->program, VECTOR_BUFFERS, buffers,
				   &err), &err);
	free(buffers);
}

static void expect_regrets(struct subject *right, const char *name)
{
	for (int l = 0; l < right->program->model->layer_count; l++) {
		const enum layer_kind kind =
			right->program->model->layers[l].kind;

		if ((kind == LAYER_RELU || kind == LAYER_MAXPOOL) &&
		    !(program_regret(right->program, l) <= 1e-5))
			fail_msg("%s: layer %d decides wrongly by %g", name, l,
				 program_regret(right->program, l));
	}
}

static void expect_scores(struct score found, struct score right,
			  const char *name)
{
	assert_int_equal(found.count, right.count);
	if (!(fabs(found.loss - right.loss) <= 1e-5 * right.loss) ||
	    found.correct != right.correct)
		fail_msg("%s: a loss of %.9g, not %.9g; %ld, not %ld correct",
			 name, found.loss, right.loss, found.correct,
			 right.correct);
}

/* Two gradients, the second of fewer samples, and an evaluation by the
 * statistics that they have left. */
static void graph_is_right(const struct graph_case *graph,
			   const struct way *way, int dropout)
{
	const struct program_options options = { .batch = BATCH,
						 .test_batch = BATCH,
						 .seed = 11,
						 .dropout = dropout,
						 .algorithm = way->algorithm };
	struct batch batch = batch_make(&graph->model, 4, BATCH);
	struct score found_score = { 0 }, score = { 0 };
	struct subject found, right;
	struct error err;

	batch.global_count = GLOBAL;
	batch.place = 1;
	batch.stride = 2;
	subject_open_class(&found, "opencl", way->device_class, &graph->model,
			   &options);
	subject_open(&right, "reference", &graph->model, &options);
	start(&found);
	start(&right);
	for (int step = 0; step < 2; step++) {
		batch.step = (uint32_t)step;
		batch.count = BATCH - step;
		found_score = subject_gradient(&found, &batch);
		subject_follow(&right, &found);
		score = subject_gradient(&right, &batch);
		expect_regrets(&right, graph->model.name);
		expect_scores(found_score, score, graph->model.name);
		compare_loads(&found, &right, graph);
	}
	found_score = score = (struct score){ 0 };
	must(program_evaluate(found.program, &batch, &found_score, &err), &err);
	must(program_evaluate(right.program, &batch, &score, &err), &err);
	expect_scores(found_score, score, graph->model.name);
	subject_close(&found);
	subject_close(&right);
	batch_free(&batch);
}

static void graphs_are_right(void **state)
{
	const struct way *way = *state;

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		print_message("%s\n", cases[i].model.name);
		graph_is_right(&cases[i], way, 1);
	}
	graph_is_right(&cases[0], way, 0);
}

/* No multiply-add is missing in a profile, and none is there twice. */
static void work_is_the_models(void **state)
{
	static struct profile_part parts[PROFILE_MOST_PARTS];
	const struct model *model = &cases[COUNT_OF(cases) - 1].model;
	const struct model_work work = model_work(model);
	const struct way *way = *state;
	const struct program_options options = { .batch = BATCH,
						 .test_batch = BATCH };
	struct batch batch = batch_make(model, 4, BATCH);
	struct subject subject;
	double sum = 0;
	int count;

	subject_open_class(&subject, "opencl", way->device_class, model,
			   &options);
	start(&subject);
	subject_gradient(&subject, &batch);
	count = program_profile(subject.program, parts);
	for (int p = 0; p < count; p++)
		sum += parts[p].dense;
	assert_true(sum == BATCH * (work.forward + work.backward_data +
				    work.backward_weights));
	subject_close(&subject);
	batch_free(&batch);
}

int main(void)
{
	const struct device_request request = { .threads = 1, .cpus = 1 };
	const struct CMUnitTest tests[] = {
		{ "cpu class, fast", graphs_are_right, NULL, NULL,
		  (void *)&ways[0] },
		{ "cpu class, dense", graphs_are_right, NULL, NULL,
		  (void *)&ways[1] },
		{ "gpu class", graphs_are_right, NULL, NULL, (void *)&ways[2] },
		{ "cpu class, work", work_is_the_models, NULL, NULL,
		  (void *)&ways[0] },
		{ "gpu class, work", work_is_the_models, NULL, NULL,
		  (void *)&ways[2] },
	};

	return run_group_if(have_device("opencl", &request), "opencl graphs",
			    tests, COUNT_OF(tests), NULL, NULL);
}
