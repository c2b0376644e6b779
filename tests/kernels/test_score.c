/* What batches score on the OpenCL device: summed there, and many at once. */
#include "tests/kernels/opencl_pair.h"

#include "backends/opencl/program/memory.h"
#include "backends/opencl/program/program.h"
#define MOST 4096
#define PART 32
#define STEPS 50 /* more than are let on their way */

struct problem {
	struct program *program;
	struct batch batch;
	float *images;
	uint16_t labels[MOST];
};

static void problem_open(struct problem *problem, int batch, int ahead)
{
	const struct model *model = model_find("tiny");
	const size_t size = shape_size(model->input);
	const struct program_options options = { .batch = batch,
						 .ahead = ahead,
						 .seed = SEED,
						 .dropout = 1 };
	float *parameters = allocate(model_parameter_count(model) *
				     sizeof(float));
	uint32_t seed = 7;

	check(program_compile(device, model, &options, &problem->program,
			      &err));
	model_init(model, 1, parameters);
	check(program_store(problem->program, VECTOR_PARAMETERS, parameters,
			    &err));
	free(parameters);
	problem->images = allocate((size_t)batch * size * sizeof(float));
	for (size_t i = 0; i < (size_t)batch * size; i++)
		problem->images[i] = random_float(&seed);
	for (int i = 0; i < batch; i++)
		problem->labels[i] = (uint16_t)(i * i % 10);
	problem->batch = (struct batch){ .images = problem->images,
					 .labels = problem->labels,
					 .count = batch,
					 .global_count = batch,
					 .stride = 1 };
}

static void problem_close(struct problem *problem)
{
	program_free(problem->program);
	free(problem->images);
}

/* The sum equals the parts of a batch, added up here. A sum of 4096 floats in
 * one float would be off by a hundred times the bound. */
static void losses_are_summed_as_in_double(void **state)
{
	struct problem problem;
	struct score whole, part;
	const size_t size = shape_size(model_find("tiny")->input);
	double loss = 0;
	long correct = 0;

	(void)state;
	problem_open(&problem, MOST, 0);
	check(program_gradient(problem.program, &problem.batch, &err));
	check(program_finish(problem.program, &whole, &err));
	problem.batch.count = PART;
	for (int first = 0; first < MOST; first += PART) {
		problem.batch.images = problem.images + (size_t)first * size;
		problem.batch.labels = problem.labels + first;
		problem.batch.place = first; /* of what dropout decides */
		check(program_gradient(problem.program, &problem.batch, &err));
		check(program_finish(problem.program, &part, &err));
		assert_int_equal(part.count, PART);
		loss += part.loss;
		correct += part.correct;
	}
	assert_true(loss > MOST);
	assert_true(fabs(whole.loss - loss) <= 1e-9 * loss);
	assert_int_equal(whole.correct, correct);
	assert_int_equal(whole.count, MOST);
	problem_close(&problem);
}

static void step(struct problem *problem, int index)
{
	static const struct update update = { .lr = 1, .rho = 0.9,
					      .eps = 1e-6 };

	problem->batch.step = (uint32_t)index;
	problem->batch.count = index % 7 == 3 ? 0 : 1 + index % BATCH;
	check(program_train(problem->program, &problem->batch, &update, &err));
}

/* Empty batches as well; and again, after the scores of the first. */
static void many_steps_are_finished_at_once(void **state)
{
	struct problem waited, ahead;
	struct score scores[STEPS], score;
	size_t bytes;
	void *found, *expected;

	(void)state;
	problem_open(&waited, BATCH, 0);
	problem_open(&ahead, BATCH, STEPS);
	for (int round = 0; round < 2; round++) {
		const int count = round ? 3 : STEPS;

		for (int i = 0; i < count; i++)
			step(&ahead, i);
		check(program_scores(ahead.program, scores, count, &err));
		for (int i = 0; i < count; i++) {
			step(&waited, i);
			check(program_finish(waited.program, &score, &err));
			assert_int_equal(scores[i].count, waited.batch.count);
			assert_memory_equal(&scores[i], &score, sizeof(score));
		}
	}
	check(program_scores(ahead.program, scores, 0, &err));
	bytes = waited.program->parameters * sizeof(float);
	found = allocate(bytes);
	expected = allocate(bytes);
	check(program_load(ahead.program, VECTOR_PARAMETERS, found, &err));
	check(program_load(waited.program, VECTOR_PARAMETERS, expected, &err));
	assert_memory_equal(found, expected, bytes);
	free(found);
	free(expected);
	problem_close(&waited);
	problem_close(&ahead);
}

/* It is finished like any other, whatever went before. */
static void the_last_score_is_told_alone(void **state)
{
	struct problem problem;
	struct score score, again;

	(void)state;
	problem_open(&problem, BATCH, 4);
	step(&problem, 0);
	step(&problem, 1);
	check(program_finish(problem.program, &score, &err));
	assert_int_equal(score.count, 2);
	check(program_finish(problem.program, &again, &err));
	assert_memory_equal(&again, &score, sizeof(score));
	problem_close(&problem);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(losses_are_summed_as_in_double),
		cmocka_unit_test(many_steps_are_finished_at_once),
		cmocka_unit_test(the_last_score_is_told_alone),
	};

	return run_with_device("score", tests, sizeof(tests) / sizeof(tests[0]),
			       open_devices);
}
