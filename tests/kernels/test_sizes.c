/*
 * Batches, shares of cores and last batches of any size against the reference:
 * whatever the kernels' vectors and blocks hold, some sizes fill them, some
 * miss by one, and some are no whole number of anything.
 */
#include "tests/kernels/lockstep.h"
#include "tests/kernels/share.h"

static const int sizes[] = { 1, 2, 3, 5, 76, 98, 127, 128, 129, 1000 };

#define SIZES (sizeof(sizes) / sizeof(sizes[0]))

/* Tiles and layers of mnist, so few channels that a thousand samples can be
 * had of plain loops. */
static const struct layer narrow_layers[] = {
	{ .kind = LAYER_CONV, .name = "a", .outputs = 3, .window = 3 },
	{ .kind = LAYER_RELU },
	{ .kind = LAYER_CONV, .name = "b", .outputs = 5, .window = 3 },
	{ .kind = LAYER_MAXPOOL, .window = 2 },
	{ .kind = LAYER_DROPOUT2D, .drop = .25 },
	{ .kind = LAYER_LINEAR, .name = "c", .outputs = 19 },
	{ .kind = LAYER_RELU },
	{ .kind = LAYER_DROPOUT, .drop = .5 },
	{ .kind = LAYER_LINEAR, .name = "d", .outputs = 10 },
	{ .kind = LAYER_LOSS },
};

static const struct model narrow_model = {
	.name = "narrow",
	.input = { 1, 28, 28 },
	.layers = narrow_layers,
	.layer_count = sizeof(narrow_layers) / sizeof(narrow_layers[0]),
};

/*
 * A device's driver compiles kernels for each program, which takes seconds, so
 * that a few sizes stand for all there: the other ones go through one program.
 * A thousand samples fill no other tiles than 128. CHECK_FULL: all of them.
 */
static int is_wanted(const struct variant *variant, int size)
{
	if (getenv("CHECK_FULL"))
		return 1;
	if (backend_find(variant->backend)->offloads)
		return size == 1 || size == 98 || size == 129;
	return size < 1000 || !tests_are_light();
}

/* A program of just this size: its evaluation and its step. */
static void compare_size(const struct variant *variant,
			 const struct model *model, int size)
{
	const struct program_options options = { .batch = size,
						 .test_batch = size,
						 .seed = SEED,
						 .dropout = 1 };
	struct batch batch = batch_make(model, (uint32_t)size, size);
	struct score tried = { 0 }, right = { 0 };
	struct pair pair;

	pair_open_with(&pair, variant, model, &options);
	copy_vector(&pair, VECTOR_PARAMETERS);
	compare_evaluation(&pair, &batch, &tried, &right);
	compare_training(&pair, &batch, .1);
	pair_close(&pair);
	batch_free(&batch);
}

static void batches_are_right(void **state)
{
	const struct variant *variant = *state;

	for (size_t i = 0; i < SIZES; i++)
		if (is_wanted(variant, sizes[i]))
			compare_size(variant, &narrow_model, sizes[i]);
}

/* Through one program, as the last ones of an epoch and a test set are; here
 * gradient and update one after the other. */
static void last_batches_are_right(void **state)
{
	const struct program_options options = { .batch = 129,
						 .test_batch = 129,
						 .seed = SEED,
						 .dropout = 1 };
	struct score tried = { 0 }, right = { 0 };
	struct pair pair;

	pair_open_with(&pair, *state, &narrow_model, &options);
	for (size_t i = 0; i < SIZES; i++) {
		/* Large and small in turns, the largest first. */
		const size_t at = i % 2 ? i / 2 : SIZES - 1 - i / 2;
		struct batch batch = batch_make(&narrow_model, (uint32_t)i,
						sizes[at]);

		start_alike(&pair);
		if (batch.count < 1000)
			compare_evaluation(&pair, &batch, &tried, &right);
		batch.step = (uint32_t)i;
		if (batch.count <= options.batch)
			compare_step(&pair, &batch, .1);
		batch_free(&batch);
	}
	pair_close(&pair);
}

/* What one core decides about its share, among what all do. */
static void keep_decisions(struct subject *tried, const struct batch *share,
			   uint8_t *decisions[MODEL_MAX_LAYERS])
{
	const struct model *model = tried->program->model;

	for (int l = 0; l < model->layer_count; l++) {
		const size_t each = layer_choices(model, l);
		uint8_t *taken = subject_decisions(tried, l);

		for (int i = 0; taken && i < share->count; i++)
			memcpy(decisions[l] + each * (size_t)(share->place +
							      share->stride *
								      i),
			       taken + each * (size_t)i, each);
		free(taken);
	}
}

/* Adds the gradients of all cores' shares, each made where the last one was. */
static double sum_gradients(struct subject *tried, const struct batch *all,
			    int cores, float *sum,
			    uint8_t *decisions[MODEL_MAX_LAYERS])
{
	double loss = 0;

	for (int r = 0; r < cores; r++) {
		struct batch share = share_of(all, tried->program->model, r,
					      cores);
		float *values;

		loss += subject_gradient(tried, &share).loss;
		values = subject_load(tried, VECTOR_GRADIENT);
		for (size_t i = 0; i < tried->program->parameters; i++)
			sum[i] += values[i];
		keep_decisions(tried, &share, decisions);
		free(values);
		batch_free(&share);
	}
	return loss;
}

static void compare_shares(struct pair *pair, const struct batch *all,
			   int cores)
{
	const struct model *model = pair->right.program->model;
	float *sum = allocate(pair->right.program->parameters * sizeof(*sum));
	uint8_t *decisions[MODEL_MAX_LAYERS];
	struct score right;
	struct error err;
	float *values;
	double loss;

	copy_vector(pair, VECTOR_PARAMETERS);
	for (int l = 0; l < model->layer_count; l++)
		decisions[l] = allocate(
			(size_t)pair->right.program->options.batch *
			layer_choices(model, l));
	loss = sum_gradients(&pair->tried, all, cores, sum, decisions);
	for (int l = 0; l < model->layer_count; l++) {
		if (layer_choices(model, l))
			must(program_impose(pair->right.program, l,
					    decisions[l], &err), &err);
		free(decisions[l]);
	}
	right = subject_gradient(&pair->right, all);
	assert_close("the loss", loss, right.loss, NEAR * right.loss);
	assert_regrets(&pair->right, NEAR);
	values = subject_load(&pair->right, VECTOR_GRADIENT);
	assert_tensors(model, "the gradient", sum, values, NEAR);
	free(values);
	free(sum);
}

/* Cores share a batch, some of them with one sample less or with none. */
static void shares_of_cores_are_right(void **state)
{
	static const int cores[] = { 1, 2, 3, 5, 64 };
	enum { COUNTS = 4 };
	static const int counts[COUNTS] = { 1, 3, 76, 129 };
	const struct program_options options = { .batch = 129,
						 .test_batch = 1,
						 .seed = SEED,
						 .dropout = 1 };
	struct pair pair;

	pair_open_with(&pair, *state, &narrow_model, &options);
	for (size_t c = 0; c < sizeof(cores) / sizeof(cores[0]); c++)
		for (size_t i = 0; i < COUNTS; i++) {
			struct batch all = batch_make(&narrow_model,
						      (uint32_t)i, counts[i]);

			all.step = (uint32_t)i;
			compare_shares(&pair, &all, cores[c]);
			batch_free(&all);
		}
	pair_close(&pair);
}

/* The network itself; all sizes of it take the reference minutes. */
static void batches_of_mnist_are_right(void **state)
{
	const struct variant *variant = *state;
	const size_t few = variant->isa ? 5 : 4;
	const size_t count = getenv("CHECK_FULL") ? SIZES : few;

	for (size_t i = 0; i < count; i++)
		if (is_wanted(variant, sizes[i]))
			compare_size(variant, model_find("mnist"), sizes[i]);
}

int main(void)
{
	static const struct check checks[] = {
		{ "batches", batches_are_right, 0 },
		{ "last batches", last_batches_are_right, 0 },
		{ "batches of mnist", batches_of_mnist_are_right, 1 },
	};

	static const struct check shares = { "shares of cores",
					     shares_of_cores_are_right, 0 };

	return run_some_variants("sizes", checks,
				 sizeof(checks) / sizeof(checks[0]),
				 is_tried) +
	       run_variants("sizes, shares", &shares, 1);
}
