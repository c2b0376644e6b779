/* The multiply-adds that a profile reports are done by the build's kernels. */
#include "tests/kernels/profile_run.h"

#include "backends/cpu/kernels/kernels.h"

/* The share of a batch that the first layer of a kind keeps; 1 without
 * dropout. */
static double share_kept(struct subject *subject, enum layer_kind kind,
			 int count)
{
	const struct model *model = subject->program->model;
	double kept = 0;
	size_t all;
	uint8_t *keep;
	struct error err;
	int l = 0;

	while (model->layers[l].kind != kind)
		l++;
	all = (size_t)count * layer_decisions(&model->layers[l],
					      model_layer_input(model, l));
	keep = allocate(all);
	must(program_decisions(subject->program, l, keep, &err), &err);
	for (size_t i = 0; i < all; i++)
		kept += keep[i];
	free(keep);
	return kept / (double)all;
}

/* An iteration of mnist by one build, and what its parts have done. */
struct iteration {
	enum precision precision;
	int count, dropout;
	double planes, outputs; /* shares that are kept */
	struct profile_part parts[PROFILE_MOST_PARTS];
	int part_count;
};

static void run_iteration(struct iteration *iteration)
{
	const struct program_options options = {
		.batch = iteration->count,
		.test_batch = 1,
		.seed = SEED,
		.dropout = iteration->dropout,
		.precision = iteration->precision,
	};
	struct subject subject;
	struct watch watch;

	subject_open(&subject, "cpu", model_find("mnist"), &options);
	iteration->part_count = run_batch(&subject, iteration->count, 0,
					  &watch, iteration->parts);
	iteration->planes = share_kept(&subject, LAYER_DROPOUT2D,
				       iteration->count);
	iteration->outputs = share_kept(&subject, LAYER_DROPOUT,
					iteration->count);
	subject_close(&subject);
}

/* Of a part, the share of the work without dropout that is left with it: all of
 * it, or less, but no less than what is kept. */
static double share_done(const struct iteration *all,
			 const struct iteration *some, const char *name,
			 double kept)
{
	const struct profile_part *of =
		part_of(all->parts, all->part_count, name);
	const struct profile_part *part =
		part_of(some->parts, some->part_count, name);

	assert_true(of->done > 0);
	assert_true(part->done <= of->done);
	assert_true(part->done >= kept * of->done);
	return part->done / of->done;
}

static double share_nonzero(const struct iteration *iteration, const char *name)
{
	return part_of(iteration->parts, iteration->part_count, name)->nonzero;
}

/* What both ways of the fused convolutions multiply by is planes that dropout
 * has kept; their gradient has fewer, since ReLU and pooling pass some. */
static void compare_stem(const struct iteration *all,
			 const struct iteration *some)
{
	const struct profile_part *part =
		part_of(some->parts, some->part_count, "conv2 weight gradient");

	assert_true(share_nonzero(all, "conv1+conv2 forward") == 1);
	assert_true(share_nonzero(all, "conv1+conv2 backward") == 1);
	assert_true(share_nonzero(some, "conv1+conv2 forward") ==
		    some->planes);
	assert_true(share_nonzero(some, "conv1+conv2 backward") ==
		    some->planes);
	assert_true(share_nonzero(some, "conv2 weight gradient") <=
		    some->planes);
	share_done(all, some, "conv1+conv2 forward", some->planes);
	share_done(all, some, "conv1+conv2 backward", some->planes);
	share_done(all, some, "conv2 weight gradient", 0);
	/* One of the four pixels of a window has a gradient, and each gradient
	 * that is not 0 is multiplied. */
	assert_true(part->done >= part->nonzero * part->dense / 4);
}

/* A build does all of it, or what of inputs and outputs is kept. */
static void compare_linear(const struct iteration *all,
			   const struct iteration *some)
{
	const struct profile_part *part =
		part_of(all->parts, all->part_count, "fc1 forward");

	assert_true(part->done == part->dense);
	share_done(all, some, "fc1 forward", some->planes * some->outputs);
	share_done(all, some, "fc1 backward", 0);
}

/* Products with dropped values are left out, except in tiles, which multiply
 * their neighbours, too. */
static void expect_less(const struct iteration *all,
			const struct iteration *some)
{
	assert_true(share_done(all, some, "conv1+conv2 forward", 0) < 1);
	assert_true(share_done(all, some, "conv1+conv2 backward", 0) < 1);
	assert_true(share_done(all, some, "conv2 weight gradient", 0) < 1);
	assert_true(share_done(all, some, "fc1 forward", 0) < .6);
	assert_true(share_done(all, some, "fc1 backward", 0) < 1);
}

static void compare_iterations(const struct cpu_kernels *kernels,
			       enum precision precision, int count)
{
	struct iteration all = { .precision = precision, .count = count };
	struct iteration some = all;

	some.dropout = 1;
	run_iteration(&all);
	run_iteration(&some);
	assert_true(all.planes == 1 && all.outputs == 1);
	assert_true(some.planes < .9 && some.outputs < .9);
	compare_stem(&all, &some);
	compare_linear(&all, &some);
	if (!kernels->has_tiles || precision == PRECISION_FP32)
		expect_less(&all, &some);
}

/* What a build leaves out is not counted, and what it does not is. */
static void work_is_what_a_build_does(void **state)
{
	static const int counts[] = { BATCH, 32, 112 };
	const int light = tests_are_light();

	(void)state;
	for (int b = 0; cpu_builds[b]; b++) {
		if (!cpu_builds[b]->supported())
			continue;
		setenv("BENCH_ISA", cpu_builds[b]->name, 1);
		for (int i = 0; i < (light ? 2 : 3); i++) {
			compare_iterations(cpu_builds[b], PRECISION_FP32,
					   counts[i]);
			if (cpu_builds[b]->has_tiles)
				compare_iterations(cpu_builds[b],
						   PRECISION_BF16, counts[i]);
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
