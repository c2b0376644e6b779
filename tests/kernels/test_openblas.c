/*
 * The backend that computes any graph in matrix products: in fp32 against the
 * reference, which follows its decisions; in double against it number by
 * number, so that it can stand in for it.
 */
#include "tests/kernels/graph_models.h"
#include "tests/kernels/subject.h"
#include "backends/openblas/openblas.h"
#include "backends/host/reference_base.h"

#define MOST 17 /* samples */
#define TESTED 23
#define STEPS 3

#define SINGLE 1e-5 /* of a tensor's largest entry */
#define NORMED 1e-4 /* of it, after batch norm */
#define DOUBLE 1e-12

static const struct model *const models[] = {
	&every_kind_model, &residual_model, &early_model, &convolved_model,
};

#define MODELS (sizeof(models) / sizeof(models[0]))

static const int counts[] = { 1, 2, MOST };

#define COUNTS (sizeof(counts) / sizeof(counts[0]))

struct sides {
	struct subject tried, right;
	double bound;
};

/* One sample has no variance where a plane is one value. */
static size_t has_lone_norm(const struct model *model)
{
	for (int i = 0; i < model->layer_count; i++) {
		const struct shape in = model_layer_input(model, i);

		if (model->layers[i].kind == LAYER_BATCHNORM &&
		    in.height * in.width == 1)
			return 1;
	}
	return 0;
}

static void open_sides(struct sides *sides, const struct model *model,
		       int batch, enum precision precision)
{
	struct program_options options = { .batch = batch,
					   .test_batch = TESTED,
					   .seed = 11,
					   .dropout = 1 };

	sides->bound = precision == PRECISION_FP64   ? DOUBLE :
		       model_has_batchnorm(model) ? NORMED : SINGLE;
	subject_open(&sides->right, "reference", model, &options);
	options.precision = precision;
	subject_open(&sides->tried, "openblas", model, &options);
	subject_start(&sides->right, 3);
	subject_start(&sides->tried, 3);
}

static void close_sides(struct sides *sides)
{
	subject_close(&sides->tried);
	subject_close(&sides->right);
}

/* In double as the programs have them, else as floats that became doubles. */
static double *vector_of(struct subject *subject, enum vector which)
{
	const struct program *program = subject->program;
	const size_t count = which == VECTOR_BUFFERS ? program->buffers :
						       program->parameters;
	const struct reference_base *base =
		(const struct reference_base *)program;
	const double *exact = which == VECTOR_BUFFERS ? base->buffers :
							base->vectors[which];
	double *values = allocate(count * sizeof(*values));
	float *floats = subject_load(subject, which);

	for (size_t i = 0; i < count; i++) {
		values[i] = exact ? exact[i] : (double)floats[i];
		assert_true((float)values[i] == floats[i]);
	}
	free(floats);
	return values;
}

static void compare(struct sides *sides, const char *what, enum vector which,
		    double bound)
{
	const struct model *model = sides->tried.program->model;
	struct tensor tensors[MODEL_MAX_TENSORS];
	const int count = which == VECTOR_BUFFERS ?
				  model_buffers(model, tensors) :
				  model_tensors(model, tensors);
	double *tried = vector_of(&sides->tried, which);
	double *right = vector_of(&sides->right, which);
	const size_t all = which == VECTOR_BUFFERS ?
				   model_buffer_count(model) :
				   model_parameter_count(model);
	const double whole = largest(right, all);

	for (int t = 0; t < count; t++) {
		const size_t at = tensors[t].offset;
		double scale = largest(right + at, tensors[t].count);
		double most = 0;

		/* A bias before batch norm makes no difference, and the mean of
		 * what has been normalised is as good as 0. */
		if (scale < 1e-9 * whole || which == VECTOR_BUFFERS)
			scale = whole;
		for (size_t i = at; i < at + tensors[t].count; i++)
			most = fmax(most, isfinite(tried[i]) ?
						  fabs(tried[i] - right[i]) :
						  INFINITY);
		if (!(most <= bound * scale))
			fail_msg("%s, %d samples: %s of %s is off by %.2e of "
				 "its largest entry, more than %.0e",
				 model->name,
				 sides->tried.program->options.batch, what,
				 tensors[t].name, most / scale, bound);
	}
	free(tried);
	free(right);
}

static void compare_evaluations(struct sides *sides, double bound)
{
	struct batch batch = batch_make(sides->tried.program->model, 8, TESTED);
	struct score tried = { 0 }, right = { 0 };
	struct error err;

	must(program_evaluate(sides->tried.program, &batch, &tried, &err),
	     &err);
	must(program_evaluate(sides->right.program, &batch, &right, &err),
	     &err);
	assert_int_equal(tried.count, TESTED);
	assert_int_equal(tried.correct, right.correct);
	assert_close("the loss of a test", tried.loss, right.loss,
		     bound * right.loss);
	batch_free(&batch);
}

static void compare_regrets(const struct sides *sides, double bound)
{
	for (int l = 0; l < sides->right.program->model->layer_count; l++)
		assert_close("a regret",
			     program_regret(sides->right.program, l), 0, bound);
}

/* What the reference begins a step with. */
static void carry(struct sides *sides)
{
	static const enum vector carried[] = {
		VECTOR_PARAMETERS, VECTOR_STATE_0, VECTOR_STATE_1,
		VECTOR_BUFFERS,
	};

	for (size_t c = 0; c < sizeof(carried) / sizeof(carried[0]); c++) {
		float *values = subject_load(&sides->tried, carried[c]);

		subject_store(&sides->right, carried[c], values);
		free(values);
	}
}

static void step_in_single(struct sides *sides, const struct batch *batch)
{
	const struct update update = { .lr = .1, .rho = .9, .eps = 1e-6 };
	struct score tried, right;

	carry(sides);
	tried = subject_gradient(&sides->tried, batch);
	subject_follow(&sides->right, &sides->tried);
	right = subject_gradient(&sides->right, batch);
	assert_int_equal(tried.count, batch->count);
	assert_close("the loss", tried.loss, right.loss, SINGLE * right.loss);
	compare_regrets(sides, sides->bound);
	compare(sides, "the gradient", VECTOR_GRADIENT, sides->bound);
	compare(sides, "the statistics", VECTOR_BUFFERS, SINGLE);
	subject_update(&sides->tried, &update);
}

/* The gradient through the normalised values of two samples, which are 1 and
 * -1 whatever they were, is what rounding leaves of it. */
static void any_graph_is_right_in_single(void **state)
{
	(void)state;
	for (size_t m = 0; m < MODELS; m++)
		for (size_t c = 2 * has_lone_norm(models[m]); c < COUNTS; c++) {
			struct batch batch = batch_make(models[m], (uint32_t)c,
							counts[c]);
			struct sides sides;

			batch.global_count = 3 * batch.count;
			open_sides(&sides, models[m], counts[c],
				   PRECISION_FP32);
			for (int s = 0; s < STEPS; s++) {
				batch.step = (uint32_t)s;
				step_in_single(&sides, &batch);
			}
			carry(&sides);
			compare_evaluations(&sides, sides.bound);
			close_sides(&sides);
			batch_free(&batch);
		}
}

/* Each decides by itself, and alike. */
static void compare_decisions(struct sides *sides, int count)
{
	const struct model *model = sides->tried.program->model;

	for (int l = 0; l < model->layer_count; l++) {
		uint8_t *tried = subject_decisions(&sides->tried, l);
		uint8_t *right = subject_decisions(&sides->right, l);

		if (tried)
			assert_memory_equal(tried, right,
					    (size_t)count *
						    layer_choices(model, l));
		free(tried);
		free(right);
	}
}

static void step_in_double(struct sides *sides, const struct batch *batch)
{
	const double near = sides->bound;
	const double loss = subject_gradient(&sides->tried, batch).loss;
	const double right = subject_gradient(&sides->right, batch).loss;

	assert_close("the loss", loss, right, near * right);
	compare_decisions(sides, batch->count);
	compare(sides, "the gradient", VECTOR_GRADIENT, near);
	compare(sides, "the statistics", VECTOR_BUFFERS, near);
}

/* From the same doubles, whose roundings drift apart but slowly. */
static void any_graph_is_right_in_double(void **state)
{
	const struct update update = { .lr = .1, .rho = .9, .eps = 1e-6 };

	(void)state;
	for (size_t m = 0; m < MODELS; m++)
		for (size_t c = has_lone_norm(models[m]); c < COUNTS; c++) {
			struct batch batch = batch_make(models[m], (uint32_t)c,
							counts[c]);
			struct sides sides;

			open_sides(&sides, models[m], counts[c],
				   PRECISION_FP64);
			step_in_double(&sides, &batch);
			subject_update(&sides.tried, &update);
			subject_update(&sides.right, &update);
			compare(&sides, "the parameter", VECTOR_PARAMETERS,
				1e3 * DOUBLE);
			compare_evaluations(&sides, 1e3 * DOUBLE);
			close_sides(&sides);
			batch_free(&batch);
		}
}

/* Some decisions as they are, some as they would never be taken, and some that
 * are left open. */
static void disturb(const struct model *model, int layer, uint8_t *values,
		    size_t count, struct mt19937 *generator)
{
	const struct layer *is = &model->layers[layer];
	const uint32_t choices = is->kind == LAYER_MAXPOOL ?
					 (uint32_t)(is->window * is->window) :
					 2;

	for (size_t i = 0; !layer_drops(is) && i < count; i++) {
		const uint32_t draw = mt19937_next(generator) % 1000;

		if (draw < 100)
			values[i] = DECISION_ANY;
		else if (draw < 200)
			values[i] = (uint8_t)(mt19937_next(generator) %
					      choices);
	}
}

static void impose_alike(struct sides *sides, int count)
{
	const struct model *model = sides->tried.program->model;
	struct mt19937 generator;
	struct error err;

	mt19937_seed(&generator, 9);
	for (int l = 0; l < model->layer_count; l++) {
		uint8_t *values = subject_decisions(&sides->right, l);

		if (!values)
			continue;
		disturb(model, l, values,
			(size_t)count * layer_choices(model, l), &generator);
		must(program_impose(sides->right.program, l, values, &err),
		     &err);
		must(program_impose(sides->tried.program, l, values, &err),
		     &err);
		free(values);
	}
}

/* How wrong each layer's decisions were, and that some of them were. */
static void regrets_are_alike(struct sides *sides)
{
	int wrong = 0, outside = 0;

	for (int l = 0; l < sides->right.program->model->layer_count; l++) {
		const double right = program_regret(sides->right.program, l);
		const double tried = program_regret(sides->tried.program, l);

		wrong += right > .01;
		outside += isinf(right) != 0;
		if (tried != right)
			assert_close("a regret", tried, right, DOUBLE * right);
	}
	assert_true(wrong > 0);
	assert_int_equal(outside > 0,
			 sides->tried.program->model != &convolved_model);
}

static void others_are_followed(void **state)
{
	(void)state;
	for (size_t m = 0; m < MODELS; m++) {
		struct batch batch = batch_make(models[m], 6, MOST);
		struct sides sides;
		struct error err;

		open_sides(&sides, models[m], MOST, PRECISION_FP64);
		step_in_double(&sides, &batch);
		impose_alike(&sides, MOST);
		step_in_double(&sides, &batch);
		regrets_are_alike(&sides);
		for (int l = 0; l < models[m]->layer_count; l++)
			if (layer_choices(models[m], l)) {
				must(program_impose(sides.tried.program, l,
						    NULL, &err), &err);
				must(program_impose(sides.right.program, l,
						    NULL, &err), &err);
			}
		step_in_double(&sides, &batch);
		compare_regrets(&sides, 0);
		close_sides(&sides);
		batch_free(&batch);
	}
}

static void impose_zeros(struct subject *subject)
{
	const struct program *program = subject->program;
	struct error err;

	for (int l = 0; l < program->model->layer_count; l++) {
		const size_t each = layer_choices(program->model, l);
		uint8_t *zeros = allocate((size_t)program->options.batch *
					  each);

		if (program->model->layers[l].kind == LAYER_RELU)
			must(program_impose(subject->program, l, zeros, &err),
			     &err);
		free(zeros);
	}
}

/* It reaches the loss by way of the same winners, and though signs say 0. */
static void nan_goes_the_same_way(void **state)
{
	(void)state;
	for (size_t m = 0; m < MODELS; m++) {
		struct batch batch = batch_make(models[m], 6, 3);
		float *images = (float *)batch.images;
		struct sides sides;

		images[shape_size(models[m]->input) + 40] = NAN;
		open_sides(&sides, models[m], 3, PRECISION_FP64);
		assert_true(isnan(subject_gradient(&sides.tried, &batch).loss));
		assert_true(isnan(subject_gradient(&sides.right, &batch).loss));
		compare_decisions(&sides, 3);
		impose_zeros(&sides.tried);
		assert_true(isnan(subject_gradient(&sides.tried, &batch).loss));
		close_sides(&sides);
		batch_free(&batch);
	}
}

/* Whoever computes, there is no variance of one value. */
static void one_value_is_refused(void **state)
{
	static const char *const names[] = { "reference", "openblas" };
	const struct device_request request = { .threads = 1, .cpus = 1 };
	struct program_options options = { .batch = 1, .test_batch = 1 };
	struct batch batch = batch_make(&every_kind_model, 1, 2);

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct score score = { 0 };
		struct subject is = { 0 };
		struct error err;

		must(device_open(backend_find(names[i]), &request, &is.device,
				 &err), &err);
		options.batch = 1;
		assert_int_equal(program_compile(is.device, &every_kind_model,
						 &options, &is.program, &err),
				 -1);
		assert_int_equal(err.kind, ERROR_USAGE);
		assert_non_null(strstr(err.message, "model 'every_kind', layer "
						    "14 (batchnorm 'd.norm')"));
		options.batch = 2;
		must(program_compile(is.device, &every_kind_model, &options,
				     &is.program, &err), &err);
		subject_start(&is, 3);
		for (batch.count = 2; batch.count >= 0; batch.count -= 2)
			subject_gradient(&is, &batch);
		batch.count = 1;
		assert_int_equal(program_gradient(is.program, &batch, &err),
				 -1);
		assert_non_null(strstr(err.message, "'d.norm'"));
		must(program_evaluate(is.program, &batch, &score, &err), &err);
		assert_int_equal(score.count, 1);
		subject_close(&is);
	}
	batch_free(&batch);
}

static const struct layer chain_rows[] = {
	{ .kind = LAYER_CONV, .name = "a", .outputs = 4, .window = 3 },
	{ .kind = LAYER_RELU },
	{ .kind = LAYER_MAXPOOL, .window = 2 },
	{ .kind = LAYER_LINEAR, .name = "b", .outputs = 16 },
	{ .kind = LAYER_LOSS },
};

GRAPH(chain, 1, 6, 6);

/*
 * 64, 64, 16 and 16 floats, and as many gradients. Forward, ReLU is in place of
 * the convolution (256 bytes, steps 0 to 2), then the pooling's output is
 * needed until the linear layer is done backward (64, 2 to 5), the logits (3 to
 * 4) and the gradients by them (4 to 5), by the pooling's (5 to 6) and by
 * ReLU's, in whose place is the convolution's (256, 6 to 8). The two large ones
 * share a place, and logits and gradients by them do with them; at the turn the
 * pooling's output and the gradient by it come after.
 */
static void a_chain_uses_memory_again(void **state)
{
	const struct program_options one = { .batch = 1 };
	const struct program_options ten = { .batch = 10,
					     .precision = PRECISION_FP64 };
	struct lifetimes lifetimes;
	struct graph graph;

	(void)state;
	graph_resolve(&graph, &chain_model);
	openblas_plan(&lifetimes, &graph, &one);
	assert_int_equal(lifetimes.unshared, 2 * 4 * (64 + 64 + 16 + 16));
	assert_int_equal(lifetimes.bytes, 256 + 64 + 64);
	assert_int_equal(lifetimes.outputs[0], lifetimes.outputs[1]);
	assert_int_equal(lifetimes.gradients[0], lifetimes.gradients[1]);
	assert_int_equal(lifetimes.gradients[0], lifetimes.outputs[0]);
	openblas_plan(&lifetimes, &graph, &ten);
	assert_int_equal(lifetimes.bytes, 10 * 2 * (256 + 64 + 64));
}

/* What somebody else still reads is not worked on. */
static void inputs_of_others_stay(void **state)
{
	const struct program_options one = { .batch = 1 };
	struct lifetimes is;
	struct graph graph;

	(void)state;
	graph_resolve(&graph, &early_model);
	openblas_plan(&is, &graph, &one);
	/* Row 8 is the last reader of row 1, and writes in place of 7. */
	assert_true(is.outputs[2] != is.outputs[1]);
	assert_true(is.outputs[3] != is.outputs[1]);
	assert_int_equal(is.outputs[4], is.outputs[3]);
	assert_true(is.outputs[6] != is.outputs[5]);
	assert_int_equal(is.outputs[8], is.outputs[6]);
	/* A convolution needs row 8 on the way back. */
	assert_true(is.outputs[10] != is.outputs[8]);
	assert_int_equal(is.outputs[12], is.outputs[10]);
	/* Row 16 is read by row 20. */
	assert_int_equal(is.outputs[19], is.outputs[18]);
	assert_true(is.outputs[19] != is.outputs[16]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_graph_is_right_in_single),
		cmocka_unit_test(any_graph_is_right_in_double),
		cmocka_unit_test(others_are_followed),
		cmocka_unit_test(nan_goes_the_same_way),
		cmocka_unit_test(one_value_is_refused),
		cmocka_unit_test(a_chain_uses_memory_again),
		cmocka_unit_test(inputs_of_others_stay),
	};

	return cmocka_run_group_tests_name("openblas", tests, NULL, NULL);
}
