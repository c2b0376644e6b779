/*
 * A core whose program fails, in whatever call of an iteration, ends the run in
 * its own words, and no other core waits for it for ever.
 */
#include "backends/replica.h"

#include "tests/subject.h"

#include <stdio.h>
#include <unistd.h>

#define HANGS_S 60 /* a test that waits so long waits for ever */
#define GOOD 2	   /* iterations before */

enum call {
	GRADIENT,
	MAP_GRADIENT,
	UNMAP_GRADIENT,
	UPDATE,
	TRAIN,
	MAP_PARAMETERS,
	UNMAP_PARAMETERS,
	FINISH,
	CALLS
};

struct plot {
	int victim;
	enum call call;
};

/* Slots know neither their core nor the iteration. */
static _Thread_local struct {
	const struct plot *plot; /* NULL: nothing happens here */
	int iteration;
} here;

static int is_hit(enum call call, struct error *err)
{
	if (!here.plot || here.plot->call != call || here.iteration < GOOD)
		return 0;
	return error_set(err, ERROR_MISSING, "out of luck");
}

static int unlucky_gradient(struct program *program, const struct batch *batch,
			    struct error *err)
{
	return is_hit(GRADIENT, err) ||
	       backend_find("cpu")->gradient(program, batch, err) ? -1 : 0;
}

static float *unlucky_map(struct program *program, enum vector which,
			  struct error *err)
{
	return is_hit(which == VECTOR_GRADIENT ? MAP_GRADIENT :
						 MAP_PARAMETERS, err) ?
		       NULL : backend_find("cpu")->map(program, which, err);
}

static int unlucky_unmap(struct program *program, enum vector which,
			 struct error *err)
{
	return is_hit(which == VECTOR_GRADIENT ? UNMAP_GRADIENT :
						 UNMAP_PARAMETERS, err) ||
	       backend_find("cpu")->unmap(program, which, err) ? -1 : 0;
}

static int unlucky_update(struct program *program, const struct update *update,
			  size_t from, size_t to, struct error *err)
{
	return is_hit(UPDATE, err) ||
	       backend_find("cpu")->update(program, update, from, to, err) ?
		       -1 : 0;
}

static int unlucky_train(struct program *program, const struct batch *batch,
			 const struct update *update, struct error *err)
{
	return is_hit(TRAIN, err) ||
	       backend_find("cpu")->train(program, batch, update, err) ? -1 : 0;
}

static int unlucky_finish(struct program *program, struct error *err)
{
	(void)program;
	return is_hit(FINISH, err);
}

static void ignore(struct replica_observer *observer, enum replica_phase phase)
{
	(void)observer;
	(void)phase;
}

static int train(struct group *group, struct program *program,
		 const struct batch *batch, struct error *err)
{
	const struct update update = { .1, .9, 1e-6 };
	struct replica_observer observer = { ignore };
	struct score score;

	for (here.iteration = 0; here.iteration < 20; here.iteration++)
		if (replica_train(group, program, batch, &update, &observer,
				  &score, err))
			return -1;
	return error_set(err, ERROR_FAILED, "nothing has happened");
}

static int body(struct group *group, void *context, struct error *err)
{
	const struct plot *plot = context;
	const struct device_request request = { .threads = group->size,
						.cpus = group->size };
	const struct program_options options = { .batch = 4, .test_batch = 1 };
	const struct backend *cpu = backend_find("cpu");
	struct backend unlucky = *cpu;
	float images[4 * 28 * 28] = { 0 };
	const uint8_t labels[4] = { 1, 2, 3, 4 };
	const struct batch batch = { .images = images,
				     .labels = labels,
				     .count = 4,
				     .global_count = 4 * group->size,
				     .place = group->rank,
				     .stride = group->size };
	struct device *device = NULL;
	struct program *program = NULL;
	int failed;

	unlucky.gradient = unlucky_gradient;
	unlucky.map = unlucky_map;
	unlucky.unmap = unlucky_unmap;
	unlucky.update = unlucky_update;
	unlucky.train = plot->call == TRAIN ? unlucky_train : NULL;
	unlucky.finish = unlucky_finish;
	here.plot = group->rank == plot->victim ? plot : NULL;
	failed = replica_open(group, cpu, &request, &device, err);
	if (!failed)
		failed = replica_compile(group, device, model_find("tiny"),
					 &options, &program, err);
	if (!failed) {
		device->backend = &unlucky;
		failed = train(group, program, &batch, err);
		device->backend = cpu;
	}
	program_free(program);
	device_close(device);
	return failed;
}

static void a_failure_ends_the_run(void **state)
{
	static const int cores[] = { 1, 2, 3, 8 };

	for (int i = 0; i < CALLS * 4; i++) {
		const int size = cores[i / CALLS];
		struct plot plot = { i % size, (enum call)(i % CALLS) };
		const struct group_job job = { body, &plot, sizeof(plot),
					       NULL };
		struct error err = { .message = "" };
		char text[64];

		/* One core alone lends nothing, and only one trains at once. */
		if (size == 1 ? plot.call != GRADIENT && plot.call != UPDATE &&
				plot.call != TRAIN && plot.call != FINISH :
				plot.call == TRAIN)
			continue;
		snprintf(text, sizeof(text), "core %d of %d: out of luck",
			 plot.victim, size);
		alarm(HANGS_S);
		assert_int_equal(group_launch(transport_find(*state), size,
					      &job, &err), -1);
		alarm(0);
		assert_string_equal(err.message, text);
		assert_int_equal(err.kind, ERROR_MISSING);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		{ "threads: a failure ends the run", a_failure_ends_the_run,
		  NULL, NULL, "threads" },
		{ "fork: a failure ends the run", a_failure_ends_the_run, NULL,
		  NULL, "fork" },
	};

	return cmocka_run_group_tests_name("replica fails", tests, NULL, NULL);
}
