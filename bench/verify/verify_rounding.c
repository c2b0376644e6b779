#include "bench/verify/verify_rounding.h"

#include <math.h>

#include "backends/parallel/replica.h"

/* The initial parameters and buffers. */
static int start(const struct rounding_task *task, struct side *side,
		 struct error *err)
{
	return replica_initialise(NULL, side->program,
				  (unsigned long long)
				  task->verify->options->seed, err);
}

/* Every parameter of the loops in float one rounding up or down, by chance. */
static int shake(const struct rounding_task *task, int number,
		 struct error *err)
{
	const size_t count = model_parameter_count(task->verify->model);
	float *parameters = task->vectors[0];

	if (program_load(task->right->program, VECTOR_PARAMETERS, parameters,
			 err))
		return -1;
	if (number)
		verify_nudge(parameters, count, number);
	return program_store(task->single->program, VECTOR_PARAMETERS,
			     parameters, err);
}

static int single_gradient(const struct rounding_task *task, int number,
			   struct score *score, struct error *err)
{
	return start(task, task->single, err) || shake(task, number, err) ||
			       side_gradient(task->single, task->batch, score,
					     err) ?
		       -1 : 0;
}

/* Distances of count tensors of two vectors. */
static void collect(double *distances, const struct tensor *tensors, int count,
		    const float *single, const float *right)
{
	for (int t = 0; t < count; t++) {
		const size_t at = tensors[t].offset;

		distances[t] = fmax(distances[t],
				    verify_distance(single + at, right + at,
						    tensors[t].count));
	}
}

/* The buffers in double are in vectors[1]. */
static int collect_buffers(struct rounding *rounding,
			   const struct rounding_task *task, struct error *err)
{
	struct tensor tensors[MODEL_MAX_TENSORS];
	const int count = model_buffers(task->verify->model, tensors);

	if (program_load(task->single->program, VECTOR_BUFFERS,
			 task->vectors[0], err))
		return -1;
	collect(rounding->buffers, tensors, count, task->vectors[0],
		task->vectors[1]);
	return 0;
}

/* The gradient in double with what a side has decided. */
static int follow(const struct rounding_task *task, struct side *leader,
		  struct error *err)
{
	struct score ignored;

	return start(task, task->right, err) ||
			       side_follow(task->right, leader,
					   task->decisions, err) ||
			       side_gradient(task->right, task->batch,
					     &ignored, err) ?
		       -1 : 0;
}

/* Measures the largest regret of double when it follows the loops in float,
 * which decide alone. Their inputs may be 0 but for rounding, or a batch norm
 * of few values has amplified it. */
static int measure_regrets(struct rounding *rounding,
			   const struct rounding_task *task, int times,
			   struct error *err)
{
	const int layers = task->verify->model->layer_count;
	struct program *right = task->right->program;

	for (int i = 0; i < times; i++) {
		struct score ignored;

		if (side_unfollow(task->single, err) ||
		    single_gradient(task, i, &ignored, err) ||
		    follow(task, task->single, err))
			return -1;
		for (int l = 0; l < layers; l++)
			rounding->regrets[l] = fmax(rounding->regrets[l],
						    program_regret(right, l));
	}
	return follow(task, task->tried, err) ||
			       side_follow(task->single, task->tried,
					   task->decisions, err) ?
		       -1 : 0;
}

int rounding_measure(struct rounding *rounding,
		     const struct rounding_task *task, double loss, int times,
		     struct error *err)
{
	*rounding = (struct rounding){ 0 };
	if ((times > 1 && measure_regrets(rounding, task, times, err)) ||
	    program_load(task->right->program, VECTOR_BUFFERS,
			 task->vectors[1], err))
		return -1;
	for (int i = 0; i < times; i++) {
		struct score score;

		if (single_gradient(task, i, &score, err) ||
		    collect_buffers(rounding, task, err))
			return -1;
		rounding->loss = fmax(rounding->loss, fabs(score.loss - loss));
		collect(rounding->gradients, task->verify->tensors,
			task->verify->tensor_count, task->single->gradient,
			task->right->gradient);
	}
	return 0;
}
