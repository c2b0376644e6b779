/* What whole runs learn: the same again, and what was asked for. */
#include "bench/train/training.h"

#include "tests/unit/runs.h"
#include "bench/data/dataset.h"

static void losses_fall(void **state)
{
	static const char *const lines[] = {
		"cpu-1 --epochs=3 --synthetic-train=3000 --dropout=off",
		"openblas-3 --epochs=3 --synthetic-train=3000 --dropout=off "
		"--global-batch=32",
	};

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct outcome outcome;
		double last = 3;

		measure_well(&outcome, lines[i]);
		for (long e = 1; e <= 3; e++) {
			const double loss =
				find_row(&outcome, "epoch", e)->loss;

			assert_true(loss < last);
			last = loss;
		}
		assert_true(find_row(&outcome, "test", 3)->accuracy_pct > 60);
		assert_true(outcome.run.final_accuracy_pct ==
			    find_row(&outcome, "test", 3)->accuracy_pct);
		assert_true(outcome.run.final_loss ==
			    find_row(&outcome, "test", 3)->loss);
		release(&outcome);
	}
}

static void assert_same(const char *one, const char *other, int same)
{
	struct outcome a, b;

	measure_well(&a, one);
	measure_well(&b, other);
	assert_int_equal(strlen(a.run.parameters_hash), 16);
	if ((strcmp(a.run.parameters_hash, b.run.parameters_hash) == 0) != same)
		fail_msg("'%s' and '%s' %s", one, other,
			 same ? "differ" : "do not differ");
	assert_int_equal(!memcmp(a.parameters, b.parameters,
				 model_parameter_count(tiny()) *
					 sizeof(float)), same);
	release(&a);
	release(&b);
}

static void the_same_run_gives_the_same_bits(void **state)
{
	(void)state;
	assert_same("cpu-1 -e2", "cpu-1 -e2", 1);
	assert_same("cpu-3 -e2", "cpu-3 -e2", 1);
	assert_same("openblas-2 -e2", "openblas-2 -e2", 1);
	assert_same("cpu-1 -e1 --warmup=0", "cpu-1 -e1 --warmup=9", 1);
	assert_same("cpu-3 -e1 --warmup=0", "cpu-3 -e1 --warmup=9", 1);
	assert_same("cpu-1 -e2", "cpu-1 -e2 --test=off", 1);
	assert_same("cpu-2 -e1 -b16", "cpu-2 -e1 --global-batch=32", 1);
	assert_same("cpu-1 -e1", "cpu-1@threads -e1", 1);
	assert_same("cpu-1 -e1", "cpu-1 -e1 --reshuffle=off", 1);
}

static void what_is_asked_for_makes_a_difference(void **state)
{
	(void)state;
	assert_same("cpu-1 -e1", "cpu-1 -e2", 0);
	assert_same("cpu-1 -e1", "cpu-1 -e1 --seed=2", 0);
	assert_same("cpu-1 -e1", "cpu-1 -e1 --dropout=off", 0);
	assert_same("cpu-1 -e1", "cpu-1 -e1 --lr=.5", 0);
	assert_same("cpu-1 -e1", "cpu-1 -e1 --batch=31", 0);
	assert_same("cpu-1 -e1", "cpu-1 -e1 --steps=4", 0);
	assert_same("cpu-1 -e2", "cpu-1 -e2 --reshuffle=off", 0);
	assert_same("cpu-1 -e1", "cpu-2 -e1", 0);
}

/* Without learning, what is saved is what was there at first. */
static void a_rate_of_zero_changes_nothing(void **state)
{
	const size_t count = model_parameter_count(tiny());
	float *right = allocate(count * sizeof(*right));
	struct outcome outcome;

	(void)state;
	measure_well(&outcome, "cpu-2 --epochs=1 --lr=0 --seed=6");
	model_init(tiny(), 6, right);
	assert_memory_equal(outcome.parameters, right, count * sizeof(*right));
	release(&outcome);
	free(right);
}

static void cores_with_one_batch_learn_what_one_does(void **state)
{
	struct outcome one, three;

	(void)state;
	measure_well(&one, "cpu-1 -e1 --lr=.03");
	measure_well(&three, "cpu-3 -e1 --lr=.03 --global-batch=32");
	assert_tensors(tiny(), "the parameter", three.parameters,
		       one.parameters, 1e-5);
	assert_close("the loss", three.run.final_loss, one.run.final_loss,
		     1e-5);
	release(&one);
	release(&three);
}

static void take_sample(const struct dataset *dataset, int index, float *image,
			uint16_t *label)
{
	const uint8_t *pixels = dataset->train.images + index * 784;

	for (int p = 0; p < 784; p++)
		image[p] = ((float)pixels[p] / 255 - .1307f) / .3081f;
	*label = dataset->train.labels[index];
}

/* The same epochs written out: order, steps, tail, masks and rates. */
static void train_by_hand(struct subject *subject,
			  const struct dataset *dataset)
{
	static float images[BATCH * 784];
	uint16_t labels[BATCH];
	int order[TRAIN];

	for (int e = 0; e < 3; e++) {
		const struct update update = { .lr = pow(.7, e),
					       .rho = .9, .eps = 1e-6 };

		random_permutation(4 + (unsigned)e, TRAIN, order);
		for (int at = 0; at < TRAIN; at += BATCH) {
			const int left = TRAIN - at;
			struct batch batch = { .images = images,
					       .labels = labels,
					       .stride = 1 };

			batch.count = left < BATCH ? left : BATCH;
			batch.global_count = batch.count;
			batch.step = (uint32_t)(e * ITERATIONS + at / BATCH);
			for (int i = 0; i < batch.count; i++)
				take_sample(dataset, order[at + i],
					    images + i * 784, labels + i);
			subject_gradient(subject, &batch);
			subject_update(subject, &update);
		}
	}
}

static void a_run_is_the_loop_written_out(void **state)
{
	const struct dataset_request request = {
		.name = "synthetic",
		.synthetic_train = TRAIN,
		.synthetic_test = TEST,
	};
	const struct program_options options = { .batch = BATCH,
						 .test_batch = BATCH,
						 .seed = 4,
						 .dropout = 1 };
	struct dataset dataset;
	struct subject subject;
	struct outcome outcome;
	struct error err;
	float *values;

	(void)state;
	measure_well(&outcome, "cpu-1 --epochs=3 --seed=4");
	must(dataset_load(&dataset, &request, &err), &err);
	subject_open(&subject, "cpu", tiny(), &options);
	subject_start(&subject, 4);
	train_by_hand(&subject, &dataset);
	values = subject_load(&subject, VECTOR_PARAMETERS);
	assert_memory_equal(outcome.parameters, values,
			    model_parameter_count(tiny()) * sizeof(float));
	free(values);
	subject_close(&subject);
	dataset_release(&dataset);
	release(&outcome);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		unit_test_if(!tests_are_light(), losses_fall),
		cmocka_unit_test(the_same_run_gives_the_same_bits),
		cmocka_unit_test(what_is_asked_for_makes_a_difference),
		cmocka_unit_test(a_rate_of_zero_changes_nothing),
		cmocka_unit_test(cores_with_one_batch_learn_what_one_does),
		cmocka_unit_test(a_run_is_the_loop_written_out),
	};

	return cmocka_run_group_tests_name("learning", tests, folder_make,
					   folder_remove);
}
