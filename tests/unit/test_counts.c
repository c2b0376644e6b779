/* What is counted of an iteration, exactly: more than that shows at once. */
#include "bench/train/core.h"

#include <pthread.h>

#include "bench/system/allocation.h"
#include "tests/unit/runs.h"

#define CORES 3
#define PLANTED 5 /* allocations of the first core, one more of each other */
#define LAUNCHES 4
#define STEPS 2

/* Volatile, or the compiler removes the unused memory. */
static void *volatile taken;

static void *ask_once(void *none)
{
	(void)none;
	taken = malloc(8);
	free(taken);
	return NULL;
}

static void each_way_to_ask_counts(void **state)
{
	const long before = allocation_count();
	void *aligned;
	pthread_t other;

	(void)state;
	taken = malloc(8);
	assert_int_equal(allocation_count(), before + 1);
	taken = realloc(taken, 4096);
	assert_int_equal(allocation_count(), before + 2);
	free(taken);
	taken = calloc(2, 8);
	free(taken);
	assert_int_equal(allocation_count(), before + 3);
	taken = aligned_alloc(64, 64);
	free(taken);
	assert_int_equal(allocation_count(), before + 4);
	assert_int_equal(posix_memalign(&aligned, 64, 64), 0);
	free(aligned);
	assert_int_equal(allocation_count(), before + 5);
	/* Of another thread it is no business. */
	assert_int_equal(pthread_create(&other, NULL, ask_once, NULL), 0);
	assert_int_equal(pthread_join(other, NULL), 0);
	assert_int_equal(allocation_count(), before + 5);
}

/* What each core reports of each iteration; in here, for cores may be
 * processes. */
struct team {
	struct training training;
	struct step_counts counts[CORES][STEPS];
};

static void end_phase(struct replica_observer *observer,
		      enum replica_phase phase)
{
	core_end_phase((struct core *)observer, phase);
}

static int work_as_core(struct group *group, void *context, struct error *err)
{
	struct team *team = context;
	const struct program_options options = { .batch = 1, .test_batch = 1 };
	const struct device_request request = { .threads = 1, .cpus = 1 };
	const struct update update = { .lr = 1, .rho = .9, .eps = 1e-6 };
	/* The loss is not computed, so nobody looks at the images. */
	const struct batch batch = { .count = 1, .global_count = CORES,
				     .place = group->rank, .stride = CORES };
	struct core core = { .observer = { end_phase },
			     .training = &team->training,
			     .group = group };
	int failed = 1;

	if (replica_open(group, team->training.backend, &request, &core.device,
			 err))
		goto out;
	core.device->backend = team->training.backend; /* it opened as null */
	if (replica_compile(group, core.device, tiny(), &options,
			    &core.program, err))
		goto out;
	for (int i = 0; i < STEPS; i++) {
		if (core_iterate(&core, &batch, &update, err))
			goto out;
		team->counts[group->rank][i] = core.report.counts;
	}
	failed = 0;
out:
	program_free(core.program);
	device_close(core.device);
	return failed ? -1 : 0;
}

/* A backend that computes nothing, in the way that is to be found. */
static int plant(struct program *program, const struct batch *batch,
		 const struct update *update, struct error *err)
{
	for (int i = 0; i < PLANTED + batch->place; i++)
		ask_once(NULL);
	program->launches += LAUNCHES;
	return backend_find("null")->gradient(program, batch, update, err);
}

static void what_is_planted_is_found(void **state)
{
	static const char *const transports[] = { "threads", "fork" };
	const long bytes = (long)(model_parameter_count(tiny()) *
				  sizeof(float));
	struct backend planted = *backend_find("null");
	struct team team = { .training = { .backend = &planted } };
	const struct group_job job = { work_as_core, &team, sizeof(team),
				       NULL };
	struct error err;

	(void)state;
	planted.gradient = plant;
	for (int t = 0; t < 2; t++) {
		memset(team.counts, 0, sizeof(team.counts));
		must(group_launch(transport_find(transports[t]), CORES, &job,
				  &err), &err);
		for (int r = 0; r < CORES; r++)
			for (int i = 0; i < STEPS; i++) {
				struct step_counts *found = &team.counts[r][i];

				assert_int_equal(found->allocations,
						 PLANTED + r);
				assert_int_equal(found->launches, LAUNCHES);
				assert_int_equal(found->reduced_bytes, bytes);
			}
	}
}

static void runs_ask_for_nothing_and_sum_the_gradient(void **state)
{
	static const struct {
		const char *line;
		int cores, updates;
	} runs[] = {
		{ "null-1 -e2", 1, 2 * ITERATIONS },
		{ "null-3 -e2", 3, 2 * 2 },
		{ "null-3@fork -e2 --test off", 3, 2 * 2 },
		{ "null-2 -e1 --warmup 0 --inject 50", 2, 3 },
	};
	const long bytes = (long)(model_parameter_count(tiny()) *
				  sizeof(float));

	(void)state;
	for (size_t i = 0; i < sizeof(runs) / sizeof(runs[0]); i++) {
		const int sums = runs[i].cores > 1 ? runs[i].cores : 0;
		struct outcome outcome;

		measure_well(&outcome, runs[i].line);
		assert_int_equal(outcome.run.updates, runs[i].updates);
		assert_int_equal(outcome.run.allocations, 0);
		assert_int_equal(outcome.run.launches, CELL_NO_INT);
		assert_int_equal(outcome.run.reduced_bytes,
				 runs[i].updates * sums * bytes);
		release(&outcome);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_way_to_ask_counts),
		cmocka_unit_test(what_is_planted_is_found),
		cmocka_unit_test(runs_ask_for_nothing_and_sum_the_gradient),
	};

	return cmocka_run_group_tests_name("counts", tests, folder_make,
					   folder_remove);
}
