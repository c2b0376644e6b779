/* Multiply-adds that are told as done are those of the build's kernels. */
#include "tests/profile_run.h"

#include "backends/cpu/kernels.h"

/* What a dropout layer keeps of a batch; all without dropout. */
static double count_kept(struct subject *subject, enum layer_kind kind,
			 int count)
{
	const struct model *model = subject->program->model;
	double kept = 0;

	for (int l = 0; l < model->layer_count; l++) {
		const size_t each = layer_decisions(
			&model->layers[l], model_layer_input(model, l));
		const size_t all = (size_t)count * each;
		uint8_t *keep;
		struct error err;

		if (model->layers[l].kind != kind)
			continue;
		keep = allocate(all);
		must(program_decisions(subject->program, l, keep, &err), &err);
		for (size_t i = 0; i < all; i++)
			kept += keep[i];
		free(keep);
		break;
	}
	return kept;
}

/* An iteration of mnist by one build. */
struct iteration {
	const struct cpu_kernels *kernels;
	enum precision precision;
	int dropout, count;
};

/*
 * Post 002's network: 36 tiles of 36 points and 32 planes for each plane that
 * is kept or, on tiles of AMX, for each; 36 * 9 * 32 for the convolution before
 * under each tile. With bf16, both ways convolve all planes directly.
 */
static void compare_stem(struct subject *subject,
			 const struct iteration *iteration,
			 const struct profile_part *parts, int part_count)
{
	const int tiles = iteration->kernels->bf16 != NULL;
	const int bf16 = iteration->precision == PRECISION_BF16;
	const double count = iteration->count, all = count * 64;
	const double plane = 36. * 36 * 32, lead = count * 36. * 36 * 9 * 32;
	const double kept =
		count_kept(subject, LAYER_DROPOUT2D, iteration->count);
	const double direct = all * 576 * 9 * 32 + count * 26. * 26 * 32 * 9;
	const struct profile_part *part;

	assert_true(iteration->dropout ? kept < all : kept == all);
	part = part_of(parts, part_count, "conv1+conv2 forward");
	assert_true(part->done ==
		    (bf16 ? direct : plane * (tiles ? all : kept) + lead));
	assert_true(part->nonzero == kept / all);
	part = part_of(parts, part_count, "conv1+conv2 backward");
	assert_true(part->done == (bf16 ? direct : plane * kept + lead));
	assert_true(part->nonzero == kept / all);
	/*
	 * One gradient a window of the pooling, and none of them is 0; or the
	 * products of all pixels, directly.
	 */
	part = part_of(parts, part_count, "conv2 weight gradient");
	assert_true(part->nonzero <= kept / all);
	assert_true(part->done - count * 26. * 26 * 32 * 9 ==
		    (bf16 ? all * 576 * 9 * 32 :
			    part->nonzero * all * 144 * 9 * 32));
}

/*
 * 64 blocks of 144 inputs and 128 outputs: on tiles, which take so many
 * samples, those of kept blocks for all outputs.
 */
static void compare_linear(struct subject *subject,
			   const struct iteration *iteration,
			   const struct profile_part *parts, int part_count)
{
	const int amx = iteration->kernels->bf16 != NULL;
	const int bf16 = iteration->precision == PRECISION_BF16;
	const int count = iteration->count;
	const int least = iteration->dropout && !bf16 ? 112 : 32;
	const double blocks = count_kept(subject, LAYER_DROPOUT2D, count);
	const double outputs = count_kept(subject, LAYER_DROPOUT, count);
	const double dense = blocks * 144 * 128;
	const struct profile_part *part;

	part = part_of(parts, part_count, "fc1 forward");
	if (amx && count >= least)
		assert_true(part->done == dense);
	else if (iteration->dropout)
		assert_true(part->done < .6 * dense && outputs < 128. * count);
	else
		assert_true(part->done == dense && outputs == 128. * count);
	part = part_of(parts, part_count, "fc1 backward");
	assert_true(part->done < 2 * .8 * dense);
}

static void compare_iteration(const struct iteration *iteration)
{
	const struct program_options options = {
		.batch = iteration->count,
		.test_batch = 1,
		.seed = SEED,
		.dropout = iteration->dropout,
		.precision = iteration->precision,
	};
	struct profile_part parts[PROFILE_MOST_PARTS];
	struct subject subject;
	struct watch watch;
	int count;

	subject_open(&subject, "cpu", model_find("mnist"), &options);
	count = run_batch(&subject, iteration->count, 0, &watch, parts);
	compare_stem(&subject, iteration, parts, count);
	compare_linear(&subject, iteration, parts, count);
	subject_close(&subject);
}

/* What a build leaves out is not counted, and what it does not is. */
static void work_is_what_a_build_does(void **state)
{
	static const int counts[] = { BATCH, 32, 112 };
	const int light = tests_are_light();

	(void)state;
	for (int b = 0; cpu_builds[b]; b++) {
		struct iteration iteration = { .kernels = cpu_builds[b] };

		if (!cpu_builds[b]->supported())
			continue;
		setenv("BENCH_ISA", cpu_builds[b]->name, 1);
		for (int i = 0; i < (light ? 2 : 3) * 2 * PRECISION_COUNT;
		     i++) {
			iteration.count = counts[i / 2 / PRECISION_COUNT];
			iteration.dropout = i % 2;
			iteration.precision = (enum precision)(
				i / 2 % PRECISION_COUNT);
			if (iteration.precision == PRECISION_FP32 ||
			    (iteration.precision == PRECISION_BF16 &&
			     cpu_builds[b]->bf16))
				compare_iteration(&iteration);
		}
	}
	unsetenv("BENCH_ISA");
}

/* ReLU passes a NaN on, and multiplies by what comes back for it. */
static void gradients_of_nan_are_work(void **state)
{
	const struct model *model = model_find("mnist");
	const struct program_options options = { .batch = BATCH,
						 .test_batch = 1,
						 .seed = SEED };
	struct batch batch = batch_make(model, 3, BATCH);
	struct profile_part parts[PROFILE_MOST_PARTS];
	struct subject subject;
	struct watch watch;
	float *values;
	int count;

	(void)state;
	subject_open(&subject, "cpu", model, &options);
	count = run_once(&subject, 0, &watch, parts);
	assert_true(part_of(parts, count, "fc1 backward")->nonzero < .9);
	values = allocate(subject.program->parameters * sizeof(*values));
	for (size_t i = 0; i < subject.program->parameters; i++)
		values[i] = NAN;
	subject_store(&subject, VECTOR_PARAMETERS, values);
	subject_gradient(&subject, &batch);
	count = program_profile(subject.program, parts);
	assert_true(part_of(parts, count, "fc1 backward")->nonzero == 1);
	free(values);
	subject_close(&subject);
	batch_free(&batch);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(work_is_what_a_build_does),
		cmocka_unit_test(gradients_of_nan_are_work),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
