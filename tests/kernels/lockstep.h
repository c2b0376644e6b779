/* For tests: a backend and the reference, step by step from the same place. */
#ifndef TESTS_LOCKSTEP_H
#define TESTS_LOCKSTEP_H

#include "tests/kernels/variants.h"

#define NEAR 1e-5 /* of a tensor's largest entry: float against double */

static inline void copy_vector(struct pair *pair, enum vector which)
{
	float *values = subject_load(&pair->tried, which);

	subject_store(&pair->right, which, values);
	free(values);
}

static inline void compare_vector(struct pair *pair, const char *what,
				  enum vector which, double bound)
{
	float *values = subject_load(&pair->tried, which);
	float *right = subject_load(&pair->right, which);

	assert_tensors(pair->right.program->model, what, values, right, bound);
	free(values);
	free(right);
}

static inline void start_alike(struct pair *pair)
{
	copy_vector(pair, VECTOR_PARAMETERS);
	copy_vector(pair, VECTOR_STATE_0);
	copy_vector(pair, VECTOR_STATE_1);
}

/* The reference decides as the other one did on this batch. */
static inline void compare_scores(struct pair *pair, const struct batch *batch,
				  const struct score *tried)
{
	struct score right;

	assert_masks(&pair->tried, batch);
	subject_follow(&pair->right, &pair->tried);
	right = subject_gradient(&pair->right, batch);
	assert_int_equal(tried->count, batch->count);
	assert_int_equal(tried->correct, right.correct);
	assert_close("the loss", tried->loss, right.loss, NEAR * right.loss);
	assert_regrets(&pair->right, NEAR);
}

/* Updates the reference, after the other one was updated, and compares. */
static inline void compare_update(struct pair *pair,
				  const struct update *update)
{
	subject_update(&pair->right, update);
	compare_vector(pair, "the parameter", VECTOR_PARAMETERS, NEAR);
	/* Squares, and squares of quotients, of what may be off by NEAR. */
	compare_vector(pair, "the square average", VECTOR_STATE_0,
		       2 * NEAR);
	compare_vector(pair, "the average of deltas", VECTOR_STATE_1,
		       10 * NEAR);
}

/* Models that are made for tests may have no recipe. */
static inline struct update update_of(const struct model *model, double lr)
{
	struct update update = recipe_update(&model->recipe, lr, 0);

	if (update.optimizer == OPTIMIZER_ADADELTA && !(update.eps > 0)) {
		update.rho = .9;
		update.eps = 1e-6;
	}
	return update;
}

/* One iteration on both, the reference starting where the other one is. */
static inline void compare_step(struct pair *pair, const struct batch *batch,
				double lr)
{
	const struct update update =
		update_of(pair->tried.program->model, lr);
	struct score tried;

	start_alike(pair);
	tried = subject_gradient(&pair->tried, batch);
	compare_scores(pair, batch, &tried);
	compare_vector(pair, "the gradient", VECTOR_GRADIENT, NEAR);
	subject_update(&pair->tried, &update);
	compare_update(pair, &update);
}

/* As compare_step(), with gradient and update in one call. */
static inline void compare_training(struct pair *pair,
				    const struct batch *batch, double lr)
{
	const struct update update =
		update_of(pair->tried.program->model, lr);
	struct score tried;
	struct error err;

	start_alike(pair);
	must(program_train(pair->tried.program, batch, &update, &err), &err);
	must(program_finish(pair->tried.program, &tried, &err), &err);
	compare_scores(pair, batch, &tried);
	compare_update(pair, &update);
}

/* Both start with these scores, which add up. */
static inline void compare_evaluation(struct pair *pair,
				      const struct batch *batch,
				      struct score *tried, struct score *right)
{
	struct error err;

	must(program_evaluate(pair->tried.program, batch, tried, &err), &err);
	must(program_evaluate(pair->right.program, batch, right, &err), &err);
	assert_int_equal(tried->count, right->count);
	assert_int_equal(tried->correct, right->correct);
	assert_close("the loss", tried->loss, right->loss, NEAR * right->loss);
}

#endif
