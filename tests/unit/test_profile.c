/* What an iteration is made of: work by the formulas, and times that add up. */
#include "tests/kernels/profile_run.h"

#include "bench/train/peaks.h"
#include "bench/train/profile.h"
#include "tests/kernels/share.h"

static void open_cpu(struct subject *subject, const char *model,
		     enum algorithm algorithm, int dropout)
{
	const struct program_options options = { .batch = BATCH,
						 .test_batch = BATCH,
						 .seed = SEED,
						 .dropout = dropout,
						 .algorithm = algorithm };

	subject_open(subject, "cpu", model_find(model), &options);
}

#define MOST_WORK 1e8 /* of a sample's forward pass, in a unit test */

static void compare_work(const struct model *model, enum algorithm algorithm,
			 int alone)
{
	const struct model_work work = model_work(model);
	struct profile_part parts[PROFILE_MOST_PARTS];
	struct subject subject;
	struct watch watch;
	double sum = 0;
	int count;

	open_cpu(&subject, model->name, algorithm, 1);
	count = run_once(&subject, alone, &watch, parts);
	for (int p = 0; p < count; p++) {
		assert_int_equal(parts[p].name[0] != '\0',
				 watch.ended[p] != 0);
		assert_true(parts[p].done >= 0 && parts[p].bytes >= 0);
		sum += parts[p].dense;
	}
	assert_true(sum == BATCH * (work.forward + work.backward_data +
				    work.backward_weights));
	subject_close(&subject);
}

/* The parts are the whole: no multiply-add is missing, none is there twice. */
static void dense_work_is_the_models(void **state)
{
	const struct model *model = NULL;

	(void)state;
	while ((model = model_next(model))) {
		if (model_work(model).forward > MOST_WORK ||
		    !model_has_classes(model))
			continue;
		for (int a = 0; a < ALGORITHM_COUNT; a++)
			for (int alone = 0; alone < 2; alone++)
				compare_work(model, (enum algorithm)a, alone);
	}
}

/* Dense leaves out no multiplication, and needs a border for the gradient. */
static void dense_does_all(void **state)
{
	struct profile_part parts[PROFILE_MOST_PARTS];
	struct subject subject;
	struct watch watch;
	int count;

	(void)state;
	open_cpu(&subject, "mnist", ALGORITHM_DENSE, 1);
	count = run_once(&subject, 0, &watch, parts);
	for (int p = 0; p < count; p++)
		assert_true(parts[p].done >= parts[p].dense);
	assert_true(part_of(parts, count, "conv2 backward")->done ==
		    BATCH * 64. * 32 * 9 * (24 * 24 + 26 * 26));
	subject_close(&subject);
}

/* Work of a linear layer is of the inputs and outputs that are kept. */
static void linear_work_is_counted(void **state)
{
	struct profile_part parts[PROFILE_MOST_PARTS];
	const struct profile_part *part;
	struct subject subject;
	struct watch watch;
	int count;

	(void)state;
	open_cpu(&subject, "mnist", ALGORITHM_FAST, 0);
	count = run_once(&subject, 1, &watch, parts);
	part = part_of(parts, count, "fc1 forward");
	assert_true(part->done == part->dense && part->nonzero > .9);
	/* ReLU stops about half of the gradients. */
	part = part_of(parts, count, "fc1 backward+update");
	assert_true(part->nonzero > .2 && part->nonzero < .8);
	assert_true(fabs(part->done - part->nonzero * part->dense) <
		    1e-9 * part->dense);
	subject_close(&subject);
	open_cpu(&subject, "mnist", ALGORITHM_FAST, 1);
	count = run_once(&subject, 0, &watch, parts);
	part = part_of(parts, count, "fc1 forward");
	assert_true(part->done < .6 * part->dense);
	assert_true(part_of(parts, count, "fc1 backward")->nonzero < .5);
	subject_close(&subject);
}

/* Two cores' iteration, and what each has of it. */
struct duet {
	struct profile_part parts[2][PROFILE_MOST_PARTS];
	struct watch watches[2];
	int counts[2];
};

static int play(struct group *group, struct program *program, struct duet *duet,
		struct error *err)
{
	const struct update update = { .lr = 1, .rho = .9, .eps = 1e-6 };
	struct replica_observer nobody = { hear_nothing };
	struct watch *watch = &duet->watches[group->rank];
	struct batch batch = batch_make(program->model, 3, BATCH);
	struct score score;
	int failed;

	batch.global_count = BATCH * group->size;
	watch->observer.ended = note_end;
	failed = program_observe(program, &watch->observer, err) ||
		 replica_train(group, program, &batch, &update, NULL, &nobody,
			       &score, err);
	batch_free(&batch);
	duet->counts[group->rank] =
		program_profile(program, duet->parts[group->rank]);
	return failed;
}

static int play_as_core(struct group *group, void *context, struct error *err)
{
	const struct device_request request = { .threads = 2, .cpus = 2 };
	const struct program_options options = { .batch = BATCH,
						 .test_batch = BATCH,
						 .seed = SEED,
						 .dropout = 1 };
	struct device *device = NULL;
	struct program *program = NULL;
	int failed = replica_open(group, backend_find("cpu"), &request,
				  &device, err) ||
		     replica_compile(group, device, model_find("mnist"),
				     &options, &program, err) ||
		     play(group, program, context, err);

	program_free(program);
	device_close(device);
	return failed ? -1 : 0;
}

/* What they make together is a part, and all of it there once for each. */
static void cores_update_together(void **state)
{
	const struct model *model = model_find("mnist");
	const struct model_work work = model_work(model);
	static struct duet duet;
	const struct group_job job = { play_as_core, &duet, sizeof(duet),
				       NULL };
	struct error err;
	double updated = 0;

	(void)state;
	must(group_launch(transport_find("threads"), 2, &job, &err), &err);
	for (int r = 0; r < 2; r++) {
		const struct profile_part *parts = duet.parts[r];
		double sum = 0;

		for (int p = 0; p < duet.counts[r]; p++) {
			assert_int_equal(parts[p].name[0] != '\0',
					 duet.watches[r].ended[p] != 0);
			sum += parts[p].dense;
		}
		assert_true(sum == BATCH *
					   (work.forward + work.backward_data +
					    work.backward_weights));
		part_of(parts, duet.counts[r], "fc1 weights+update");
		updated += part_of(parts, duet.counts[r], "update")->bytes;
	}
	/* All but fc1's weights, and a bias padded. */
	assert_true(updated == 7 * sizeof(float) *
				       ((double)model_parameter_count(model) -
					64 * 144 * 128 + 6));
}

static void others_have_none(void **state)
{
	const struct backend *null = backend_find("null");
	struct error err = { .kind = ERROR_FAILED };

	(void)state;
	assert_int_equal(backend_check_profile(null, &err), -1);
	assert_int_equal(err.kind, ERROR_USAGE);
	assert_non_null(strstr(err.message, "null"));
	assert_null(backend_peak(null, 0));
}

/* A backend of two parts, and one number that is none. */
static int toy_profile(struct program *program, struct profile_part *parts)
{
	(void)program;
	parts[0] = (struct profile_part){ "first", 10, 5, 4, .5, 0 };
	parts[1] = (struct profile_part){ "", 0, 0, 0, NAN, 0 };
	parts[2] = (struct profile_part){ "second", 30, 30, 8, NAN, 0 };
	return 3;
}

static const struct backend toy_backend = { .name = "toy",
					    .profile = toy_profile };

static void iterate_toy(struct program *program, struct profile *profile,
			int samples)
{
	struct error err;

	profile_begin(profile);
	program_end_part(program, 0);
	program_end_part(program, 2);
	program_end_part(program, 0);
	profile_end_phase(profile, REPLICA_COMPUTE);
	profile_end_phase(profile, REPLICA_WAIT);
	profile_end_phase(profile, REPLICA_REDUCE);
	program_end_part(program, 2);
	profile_end_phase(profile, REPLICA_UPDATE);
	must(profile_keep(profile, samples, &err), &err);
	/* An evaluation is no part of it. */
	program_end_part(program, 0);
}

static void assert_near(double value, double right)
{
	assert_true(fabs(value - right) <= 1e-9 * fabs(right));
}

/* All rows but the last add up to it. */
static void assert_whole(const struct profile_row *rows, int count)
{
	double elapsed_s = 0, share = 0;

	for (int r = 0; r < count - 1; r++) {
		assert_true(rows[r].elapsed_s >= 0);
		elapsed_s += rows[r].elapsed_s;
		share += rows[r].share_pct;
	}
	assert_near(elapsed_s, rows[count - 1].elapsed_s);
	assert_near(share, 100);
	assert_near(rows[count - 1].share_pct, 100);
}

static void times_add_up(void **state)
{
	static const char *const names[][6] = {
		{ "first", "second", "other", "iteration" },
		{ "first", "second", "wait", "reduce", "other", "iteration" },
	};
	struct device device = { &toy_backend };

	(void)state;
	for (int cores = 1; cores <= 2; cores++) {
		const struct profile_subject subject = { "run", "toy", cores,
							 0 };
		struct program program = { .device = &device,
					   .model = model_find("tiny") };
		struct profile_row rows[PROFILE_MOST_ROWS];
		struct error err;
		struct profile *profile =
			profile_open(&program, &subject, &err);

		assert_non_null(profile);
		assert_int_equal(profile_build(profile, rows, &err), 0);
		for (int i = 0; i < 40; i++)
			iterate_toy(&program, profile, i == 39 ? 3 : 8);
		assert_int_equal(profile_build(profile, rows, &err),
				 2 + 2 * cores);
		assert_whole(rows, 2 + 2 * cores);
		for (int r = 0; r < 2 + 2 * cores; r++) {
			assert_string_equal(rows[r].part, names[cores - 1][r]);
			assert_int_equal(rows[r].iterations, 39);
			assert_int_equal(rows[r].samples, 8);
		}
		assert_true(rows[0].dense_flop == 20 &&
			    rows[0].done_flop == 10 &&
			    rows[0].moved_bytes == 4 &&
			    rows[0].nonzero_pct == 50);
		assert_true(isnan(rows[1].nonzero_pct));
		assert_true(rows[1 + 2 * cores].dense_flop == 80 &&
			    rows[1 + 2 * cores].done_flop == 70);
		assert_true(isnan(rows[2 * cores].dense_flop));
		profile_close(profile);
		assert_null(program.observer);
	}
}

/* Sums of what was read, and of multiply-adds that have come to rest at 2. */
static void loops_do_what_they_say(void **state)
{
	const struct backend *cpu = backend_find("cpu");
	const size_t size = 3 * PEAK_BLOCK;
	float *memory = aligned_alloc(PEAK_BLOCK, size);
	const struct peak *peak;
	int reads = 0, p = 0;

	(void)state;
	assert_non_null(memory);
	for (size_t i = 0; i < size / sizeof(*memory); i++)
		memory[i] = (float)(i % 3);
	assert_string_equal(backend_fp32_peak(cpu)->name, "fp32 multiply-add");
	assert_null(backend_fp32_peak(backend_find("null")));
	for (; (peak = backend_peak(cpu, p)); p++) {
		float result = 0;
		double work;

		reads += peak->reads;
		work = peak->work(peak->reads ? memory : NULL,
				  peak->reads ? size : 0, 200, &result);
		if (peak->reads) {
			assert_true(work == 200. * (double)size);
			assert_true(result == 200. * (double)size /
						      sizeof(*memory));
		} else if (peak->fp32) {
			assert_true(result == work / 200);
		} else if (!strcmp(peak->isa, "amx")) {
			/* One of 4 * 16 * 16 sums of 32 products of 1. */
			assert_true(result == work / (2 * 4 * 16 * 16));
		} else {
			/* 1 * 1 twice in a lane, upon 0, 1, 2, ... */
			assert_true(result > work / 2 && result < 1.1 * work);
		}
	}
	assert_int_equal(reads, 1);
	free(memory);
}

static void rates_are_ordered(void **state)
{
	const struct peak *peak = backend_fp32_peak(backend_find("cpu"));
	const struct peak_rate rate = peak_measure(peak, NULL, 0, 0);

	(void)state;
	assert_true(rate.median > 0 && rate.best >= rate.median);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(dense_work_is_the_models),
		cmocka_unit_test(dense_does_all),
		cmocka_unit_test(linear_work_is_counted),
		cmocka_unit_test(cores_update_together),
		cmocka_unit_test(others_have_none),
		cmocka_unit_test(times_add_up),
		cmocka_unit_test(loops_do_what_they_say),
		cmocka_unit_test(rates_are_ordered),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
