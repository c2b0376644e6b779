/*
 * The reference itself: its gradients against differences of its own loss, its
 * layers and its optimizer against numbers worked out by hand.
 */
#include "tests/kernels/graph_models.h"
#include "tests/kernels/subject.h"
#include "backends/reference/layers.h"

#define BATCH 3
#define GLOBAL 5 /* this core has three of them */
#define H 3e-5	 /* the error of a central difference grows with its square */

static const struct program_options tiny_options = { .batch = BATCH,
						     .test_batch = BATCH,
						     .seed = 11,
						     .dropout = 1 };

static double loss_at(struct subject *subject, const struct batch *batch,
		      float *parameters, size_t at, float value)
{
	const float kept = parameters[at];
	double loss;

	parameters[at] = value;
	subject_store(subject, VECTOR_PARAMETERS, parameters);
	loss = subject_gradient(subject, batch).loss;
	parameters[at] = kept;
	return loss;
}

/* d loss / d parameter, from two values that float can hold. */
static double central_difference(struct subject *subject,
				 const struct batch *batch,
				 float *parameters, size_t at)
{
	const float above = (float)(parameters[at] + H);
	const float below = (float)(parameters[at] - H);

	return (loss_at(subject, batch, parameters, at, above) -
		loss_at(subject, batch, parameters, at, below)) /
	       ((double)above - (double)below);
}

static void compare_tensor(struct subject *subject, const struct batch *batch,
			   float *parameters, const float *gradient,
			   const struct tensor *tensor)
{
	/* All entries of a small tensor, every stride-th of a large one. */
	const size_t stride = tensor->count / 40 + 1;
	const double whole = largest_of(gradient, subject->program->parameters);
	double most = 0;
	double scale = largest_of(gradient + tensor->offset, tensor->count);

	assert_true(whole > 0);
	/* A bias before batch norm makes no difference, but for rounding. */
	if (scale < 1e-12 * whole)
		scale = whole;
	for (size_t i = 0; i < tensor->count; i += stride) {
		const size_t at = tensor->offset + i;
		const double right = central_difference(subject, batch,
							parameters, at) /
				     GLOBAL;

		most = fmax(most, fabs(right - gradient[at]));
	}
	if (!(most <= 2e-7 * scale))
		fail_msg("%s is off by %.2e of its largest entry", tensor->name,
			 most / scale);
}

/*
 * Winners, signs and masks stay as they were at the parameters' own values:
 * the loss is then smooth, and its kinks disturb nothing.
 */
static void gradients_are_differences(void **state)
{
	const struct model *model = *state;
	struct batch batch = batch_make(model, 4, BATCH);
	struct tensor tensors[MODEL_MAX_TENSORS];
	const int count = model_tensors(model, tensors);
	float *parameters, *gradient;
	struct subject subject;

	batch.global_count = GLOBAL;
	batch.step = 6;
	batch.place = 1;
	batch.stride = 2;
	subject_open(&subject, "reference", model, &tiny_options);
	subject_start(&subject, 3);
	/* Twice: a gradient takes the place of the one before. */
	subject_gradient(&subject, &batch);
	assert_int_equal(subject_gradient(&subject, &batch).count, BATCH);
	gradient = subject_load(&subject, VECTOR_GRADIENT);
	parameters = subject_load(&subject, VECTOR_PARAMETERS);
	subject_follow(&subject, &subject);
	for (int t = 0; t < count; t++)
		compare_tensor(&subject, &batch, parameters, gradient,
			       &tensors[t]);
	free(gradient);
	free(parameters);
	subject_close(&subject);
	batch_free(&batch);
}

/*
 * Gradients of 1, then of -.5, at a rate of .5. First v = .1, d = .00316226
 * and u = 9.9999e-7; then v = .115, d = -.00208513, u = 1.334768e-6.
 */
static void adadelta_is_the_published_one(void **state)
{
	const struct model *model = model_find("tiny");
	const size_t count = model_parameter_count(model);
	const struct update update = { .lr = .5, .rho = .9, .eps = 1e-6 };
	float *values = allocate(count * sizeof(*values)), *v, *u, *p;
	struct subject subject;

	(void)state;
	subject_open(&subject, "reference", model, &tiny_options);
	subject_start(&subject, 1);
	subject_store(&subject, VECTOR_PARAMETERS, values);
	for (int step = 0; step < 2; step++) {
		for (size_t i = 0; i < count; i++)
			values[i] = step ? -.5f : 1;
		subject_store(&subject, VECTOR_GRADIENT, values);
		subject_update(&subject, &update);
		v = subject_load(&subject, VECTOR_STATE_0);
		u = subject_load(&subject, VECTOR_STATE_1);
		p = subject_load(&subject, VECTOR_PARAMETERS);
		for (size_t i = 0; i < count; i++) {
			assert_close("v", v[i], step ? .115 : .1, 1e-7);
			assert_close("u", u[i], step ? 1.334768e-6 : 9.9999e-7,
				     2e-12);
			assert_close("p", p[i],
				     step ? -.5 * (.00316226 - .00208513) :
					    -.5 * .00316226, 5e-9);
		}
		free(v);
		free(u);
		free(p);
	}
	free(values);
	subject_close(&subject);
}

static void convolution_by_hand(void **state)
{
	const struct shape in = { 2, 3, 4 };
	const struct layer conv = { .kind = LAYER_CONV, .outputs = 2,
				    .window = 2 };
	/* Planes 0 .. 11 and 100 .. 111, windows of 2. */
	double x[24], dx[24] = { 0 }, y[12], dw[16] = { 0 }, dbias[2] = { 0 };
	const double w[16] = { 1, 0, 0, 0, /* output 0: the corner ... */
			       0, 0, 0, 2, /* ... and twice the other one */
			       0, -1, 0, 0, 0, 0, 3, 0 };
	const double bias[2] = { .5, -.25 };
	double dy[12] = { 0 };

	(void)state;
	for (int i = 0; i < 24; i++)
		x[i] = i < 12 ? i : 100 + i - 12;
	conv_forward(&conv, x, in, w, bias, y);
	for (int r = 0; r < 2; r++)
		for (int c = 0; c < 3; c++) {
			const double at = 4 * r + c;

			assert_true(y[3 * r + c] ==
				    at + 2 * (100 + at + 5) + .5);
			assert_true(y[6 + 3 * r + c] ==
				    -(at + 1) + 3 * (100 + at + 4) - .25);
		}
	dy[4] = 2;  /* output 0, row 1, column 1 */
	dy[8] = -1; /* output 1, row 0, column 2 */
	conv_backward(&conv, x, in, w, dy, dw, dbias, dx);
	assert_true(dbias[0] == 2 && dbias[1] == -1);
	assert_true(dw[0] == 2 * 5 && dw[3] == 2 * 10 && dw[7] == 2 * 110);
	assert_true(dw[8] == -2 && dw[9] == -3 && dw[14] == -106);
	assert_true(dx[5] == 2 && dx[12 + 10] == 2 * 2);
	assert_true(dx[3] == 1 && dx[12 + 6] == -3 && dx[0] == 0);
}

/* A plane 1 .. 6 with zeros around it, every second window of 3 from the
 * corner: the window's middle is at 1 and 3. */
static void strides_and_padding_by_hand(void **state)
{
	const struct shape in = { 1, 2, 3 };
	const struct layer conv = { .kind = LAYER_CONV, .outputs = 1,
				    .window = 3, .stride = 2, .pad = 1 };
	const double x[6] = { 1, 2, 3, 4, 5, 6 }, dy[2] = { 1, 10 };
	const double w[9] = { 1, 2, 3, 4, 5, 6, 7, 8, 9 };
	double y[2], dw[9] = { 0 }, dx[6] = { 0 };

	(void)state;
	conv_forward(&conv, x, in, w, NULL, y);
	assert_true(y[0] == 5 * 1 + 6 * 2 + 8 * 4 + 9 * 5);
	assert_true(y[1] == 4 * 2 + 5 * 3 + 7 * 5 + 8 * 6);
	conv_backward(&conv, x, in, w, dy, dw, NULL, dx);
	assert_true(dw[4] == 1 * 1 + 10 * 3 && dw[0] == 0);
	assert_true(dw[3] == 10 * 2 && dw[8] == 5 && dw[7] == 4 + 10 * 6);
	assert_true(dx[0] == 5 && dx[1] == 6 + 10 * 4 && dx[2] == 10 * 5);
	assert_true(dx[4] == 9 + 10 * 7);
}

static void linear_by_hand(void **state)
{
	const double x[3] = { 1, -2, 4 }, bias[2] = { 10, 20 };
	const double w[6] = { 1, 2, 3, -1, 0, .5 }, dy[2] = { 3, -1 };
	double y[2], dw[6] = { 1 }, dbias[2] = { 0 }, dx[3] = { 99, 99, 99 };

	(void)state;
	linear_forward(x, 3, w, bias, 2, y);
	assert_true(y[0] == 10 + 1 - 4 + 12 && y[1] == 20 - 1 + 2);
	linear_backward(x, 3, w, 2, dy, dw, dbias, dx);
	assert_true(dw[0] == 1 + 3 && dw[1] == -6 && dw[5] == -4);
	assert_true(dbias[0] == 3 && dbias[1] == -1);
	assert_true(dx[0] == 99 + 4 && dx[1] == 99 + 6 && dx[2] == 99 + 8.5);
}

/* The first of equal values wins; the third row and column are left over. */
static void pooling_by_hand(void **state)
{
	const struct shape in = { 1, 3, 5 };
	const struct layer pool = { .kind = LAYER_MAXPOOL, .window = 2 };
	const double x[15] = { 1, 7, 3, 3, 50, 7, 2, 3, 3, 50,
			       60, 60, 60, 60, 60 };
	const uint8_t imposed[2] = { 2, 1 };
	double y[2], dx[15] = { 0 }, regret = 0;
	const double dy[2] = { 5, 6 };
	uint8_t winners[2];

	(void)state;
	maxpool_forward(&pool, x, in, NULL, winners, y, &regret);
	assert_true(y[0] == 7 && y[1] == 3 && regret == 0);
	assert_true(winners[0] == 1 && winners[1] == 0);
	maxpool_backward(&pool, dy, in, winners, dx);
	for (int i = 0; i < 15; i++)
		assert_true(dx[i] == (i == 1 ? 5 : i == 2 ? 6 : 0));
	/* Equals may win; what loses against 60 is regretted by as much. */
	maxpool_forward(&pool, x, in, imposed, winners, y, &regret);
	assert_true(y[0] == 7 && y[1] == 3 && regret == 0);
	maxpool_forward(&pool, x, in, (const uint8_t[]){ 3, 0 }, winners, y,
			&regret);
	assert_true(y[0] == 2);
	assert_close("regret", regret, 5. / 60, 1e-15);
}

/* Padding never wins, not even over negative values; what wins twice has both
 * gradients. */
static void overlapping_windows_by_hand(void **state)
{
	const struct shape in = { 1, 2, 3 };
	const struct layer pool = { .kind = LAYER_MAXPOOL, .window = 3,
				    .stride = 2, .pad = 1 };
	const double x[6] = { -5, -1, -3, -4, -2, -6 }, dy[2] = { 5, 7 };
	const uint8_t outside[2] = { 0, DECISION_ANY };
	double y[2], dx[6] = { 0 }, regret = 0;
	uint8_t winners[2];

	(void)state;
	maxpool_forward(&pool, x, in, NULL, winners, y, &regret);
	assert_true(y[0] == -1 && y[1] == -1 && regret == 0);
	assert_true(winners[0] == 5 && winners[1] == 3);
	maxpool_backward(&pool, dy, in, winners, dx);
	for (int i = 0; i < 6; i++)
		assert_true(dx[i] == (i == 1 ? 12 : 0));
	maxpool_forward(&pool, x, in, outside, winners, y, &regret);
	assert_true(y[0] == -1 && isinf(regret));
}

/* Five columns in three: 0-1, 1-3, 3-4; three rows in three. */
static void adaptive_means_by_hand(void **state)
{
	const struct shape in = { 1, 3, 5 };
	const struct layer pool = { .kind = LAYER_AVGPOOL, .outputs = 3 };
	double x[15], y[9], dx[15] = { 0 };
	const double dy[9] = { 6, 12, 0, 0, 0, 0, 0, 0, 4 };

	(void)state;
	for (int i = 0; i < 15; i++)
		x[i] = i * i;
	avgpool_forward(&pool, x, in, y);
	assert_close("a mean", y[0], (0 + 1) / 2., 1e-12);
	assert_close("a mean", y[1], (1 + 4 + 9) / 3., 1e-12);
	assert_close("a mean", y[8], (169 + 196) / 2., 1e-12);
	avgpool_backward(&pool, dy, in, dx);
	assert_true(dx[0] == 3 && dx[1] == 3 + 4 && dx[2] == 4 && dx[3] == 4);
	assert_true(dx[13] == 2 && dx[14] == 2 && dx[5] == 0);
}

/* The images are the values. Three samples 1, 2 and 6 have a mean of 3, a
 * biased variance of 14 / 3 and an unbiased one of 7. */
static void statistics_by_hand(void **state)
{
	static const struct layer layers[] = {
		{ .kind = LAYER_BATCHNORM, .name = "norm" },
		{ .kind = LAYER_LINEAR, .name = "fc", .outputs = 2 },
		{ .kind = LAYER_LOSS },
	};
	static const struct model model = { .name = "normed",
					    .input = { 1, 1, 1 },
					    .layers = layers,
					    .layer_count = 3 };
	const float images[3] = { 1, 2, 6 };
	const uint16_t labels[3] = { 0, 0, 0 };
	/* Weight and bias of the norm; the logits are its output and 0. */
	const float parameters[6] = { 2, .5, 1, 0, 0, 0 };
	const float start[2] = { 0, 1 };
	const struct batch batch = { .images = images, .labels = labels,
				     .count = 3, .global_count = 3,
				     .stride = 1 };
	struct subject subject;
	struct score score = { 0 };
	struct error err;
	double loss = 0;
	float *buffers;

	(void)state;
	subject_open(&subject, "reference", &model, &tiny_options);
	assert_int_equal(subject.program->buffers, 2);
	subject_store(&subject, VECTOR_PARAMETERS, parameters);
	subject_store(&subject, VECTOR_BUFFERS, start);
	for (int i = 0; i < 3; i++)
		loss += log1p(exp(-((images[i] - 3) /
					    sqrt(14 / 3. + 1e-5) * 2 + .5)));
	assert_close("the loss", subject_gradient(&subject, &batch).loss, loss,
		     1e-12);
	buffers = subject_load(&subject, VECTOR_BUFFERS);
	assert_close("the mean", buffers[0], .3, 1e-7);
	assert_close("the variance", buffers[1], .9 + .7, 1e-7);
	/* By these, an evaluation; which does not change them. */
	must(program_evaluate(subject.program, &batch, &score, &err), &err);
	loss = 0;
	for (int i = 0; i < 3; i++)
		loss += log1p(exp(-((images[i] - .3) / sqrt(1.6 + 1e-5) * 2 +
				    .5)));
	assert_close("the loss", score.loss, loss, 1e-6);
	free(buffers);
	buffers = subject_load(&subject, VECTOR_BUFFERS);
	assert_close("the mean", buffers[0], .3, 1e-7);
	free(buffers);
	subject_close(&subject);
}

static void relu_by_hand(void **state)
{
	const double x[4] = { -4, 0, 2, 1 }, dy[4] = { 1, 2, 3, 4 };
	const uint8_t imposed[4] = { DECISION_ANY, 0, DECISION_ANY, 0 };
	double y[4], dx[4] = { 0 }, regret = 0;
	uint8_t positive[4];

	(void)state;
	relu_forward(x, 4, NULL, positive, y, &regret);
	relu_backward(dy, 4, positive, dx);
	assert_true(y[0] == 0 && y[1] == 0 && y[2] == 2 && y[3] == 1);
	assert_true(dx[0] == 0 && dx[1] == 0 && dx[2] == 3 && dx[3] == 4);
	/* The wrong sign of 1, with a largest value of 4, costs 1 / 4. */
	relu_forward(x, 4, imposed, positive, y, &regret);
	assert_true(y[0] == 0 && y[2] == 2 && y[3] == 0 && regret == .25);
	assert_true(!positive[0] && positive[2] && !positive[3]);
}

static void loss_by_hand(void **state)
{
	const double equal[4] = { 3, 3, 3, 3 }, large[3] = { 1000, 0, -1000 };
	const uint16_t labels[] = { 0, 3, 2 };
	const struct batch half = { .labels = labels, .global_count = 2 };
	const struct batch whole = { .labels = labels, .global_count = 1 };
	struct score score = { 1, 1, 1 };
	double dx[4];

	(void)state;
	loss_forward(LOSS_NLL, equal, 4, &half, 0, &score, dx);
	assert_close("the loss", score.loss, 1 + log(4), 1e-15);
	assert_true(score.correct == 2 && score.count == 2);
	assert_close("dx", dx[0], -.75 / 2, 1e-15);
	assert_close("dx", dx[3], .25 / 2, 1e-15);
	/* The first has won. */
	loss_forward(LOSS_NLL, equal, 4, &half, 1, &score, NULL);
	assert_true(score.correct == 2 && score.count == 3);
	score = (struct score){ 0 };
	/* exp(1000) is too large. */
	loss_forward(LOSS_NLL, large, 3, &whole, 2, &score, dx);
	assert_close("the loss", score.loss, 2000, 1e-9);
	assert_close("dx", dx[0], 1, 1e-15);
	assert_close("dx", dx[2], -1, 1e-15);
}

static void dropout_by_hand(void **state)
{
	const double x[6] = { 1, 2, 3, 4, 5, 6 };
	const uint8_t keep[2] = { 0, 1 };
	double y[6], dx[6] = { 1, 1, 1, 1, 1, 1 };

	(void)state;
	dropout_forward(x, 2, 3, keep, .75, y);
	dropout_backward(x, 2, 3, keep, .75, dx);
	for (int i = 0; i < 6; i++) {
		assert_true(y[i] == (i < 3 ? 0 : 4 * x[i]));
		assert_true(dx[i] == 1 + y[i]);
	}
}

/* What is imposed is taken, and given back when it is no longer. */
static void imposed_decisions_come_and_go(void **state)
{
	const struct model *model = model_find("tiny");
	struct batch batch = batch_make(model, 4, BATCH);
	const size_t each = layer_choices(model, 2);
	uint8_t *own, *other, *seen;
	struct subject subject;
	double loss, followed;
	struct error err;

	(void)state;
	subject_open(&subject, "reference", model, &tiny_options);
	subject_start(&subject, 3);
	loss = subject_gradient(&subject, &batch).loss;
	own = subject_decisions(&subject, 2);
	other = allocate(BATCH * each);
	for (size_t i = 0; i < BATCH * each; i++)
		other[i] = own[i] ^ 3;
	must(program_impose(subject.program, 2, other, &err), &err);
	followed = subject_gradient(&subject, &batch).loss;
	seen = subject_decisions(&subject, 2);
	assert_memory_equal(seen, other, BATCH * each);
	assert_true(fabs(followed - loss) > 1e-3);
	assert_true(program_regret(subject.program, 2) > .01);
	must(program_impose(subject.program, 2, NULL, &err), &err);
	assert_true(subject_gradient(&subject, &batch).loss == loss);
	assert_true(program_regret(subject.program, 2) == 0);
	free(own);
	free(other);
	free(seen);
	subject_close(&subject);
	batch_free(&batch);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		{ "tiny: gradients are differences", gradients_are_differences,
		  NULL, NULL, (void *)model_find("tiny") },
		{ "every kind: gradients are differences",
		  gradients_are_differences, NULL, NULL,
		  (void *)&every_kind_model },
		cmocka_unit_test(adadelta_is_the_published_one),
		cmocka_unit_test(convolution_by_hand),
		cmocka_unit_test(strides_and_padding_by_hand),
		cmocka_unit_test(linear_by_hand),
		cmocka_unit_test(pooling_by_hand),
		cmocka_unit_test(overlapping_windows_by_hand),
		cmocka_unit_test(adaptive_means_by_hand),
		cmocka_unit_test(statistics_by_hand),
		cmocka_unit_test(relu_by_hand),
		cmocka_unit_test(loss_by_hand),
		cmocka_unit_test(dropout_by_hand),
		cmocka_unit_test(imposed_decisions_come_and_go),
	};

	return cmocka_run_group_tests_name("reference", tests, NULL, NULL);
}
