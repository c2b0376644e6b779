/*
 * A core whose program fails, in whatever call of an iteration, ends the run in
 * its own words, and no other core waits for it for ever; nor for a process
 * that dies while others update what is also its own.
 */
#include <signal.h>
#include <unistd.h>

#include "tests/kernels/share.h"

#define GOOD 2	   /* iterations before */

enum call {
	GRADIENT,
	GRADIENT_FACTORS,
	MAP_GRADIENT,
	UNMAP_GRADIENT,
	UPDATE,
	UPDATE_FACTORS,
	TRAIN,
	MAP_PARAMETERS,
	UNMAP_PARAMETERS,
	FINISH,
	CALLS
};

struct plot {
	int victim;
	enum call call;
	int dies; /* it does not fail: its process is killed */
};

static int has_factors(const struct plot *plot)
{
	return plot->call == GRADIENT_FACTORS || plot->call == UPDATE_FACTORS;
}

/* A slot is called without its core and the iteration. */
static _Thread_local struct {
	const struct plot *plot; /* NULL: nothing happens here */
	int iteration;
} here;

static int is_hit(enum call call, struct error *err)
{
	if (!here.plot || here.plot->call != call || here.iteration < GOOD)
		return 0;
	if (here.plot->dies)
		kill(getpid(), SIGKILL);
	return error_set(err, ERROR_MISSING, "out of luck");
}

static int unlucky_gradient(struct program *program, const struct batch *batch,
			    const struct update *update, struct error *err)
{
	const enum call call = update ? TRAIN :
			       program->reduced < program->length ?
					GRADIENT_FACTORS : GRADIENT;

	return is_hit(call, err) || backend_find("cpu")->gradient(
					    program, batch, update, err) ?
		       -1 : 0;
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

/* The others make theirs of the factors: what they share is half updated. */
static int unlucky_update(struct program *program, const struct update *update,
			  size_t from, size_t to, struct error *err)
{
	const int of_factors = from == program->reduced && from < to;

	return is_hit(of_factors ? UPDATE_FACTORS : UPDATE, err) ||
	       backend_find("cpu")->update(program, update, from, to, err) ?
		       -1 : 0;
}

static int unlucky_finish(struct program *program, struct score *scores,
			  int count, struct error *err)
{
	assert_int_equal(count, 1);
	*scores = program->score;
	return is_hit(FINISH, err);
}

static int train(struct group *group, struct program *program,
		 const struct batch *batch, struct error *err)
{
	const struct update update = { .lr = .1, .rho = .9, .eps = 1e-6 };
	struct replica_observer observer = { hear_nothing };
	struct score score;

	for (here.iteration = 0; here.iteration < 20; here.iteration++)
		if (replica_train(group, program, batch, &update, NULL,
				  &observer, &score, err))
			return -1;
	return error_set(err, ERROR_FAILED, "nothing has happened");
}

/* Of the cpu backend. */
static struct backend make_unlucky(const struct plot *plot)
{
	struct backend unlucky = *backend_find("cpu");

	unlucky.gradient = unlucky_gradient;
	unlucky.map = unlucky_map;
	unlucky.unmap = unlucky_unmap;
	unlucky.update = unlucky_update;
	unlucky.trains_at_once = plot->call == TRAIN;
	unlucky.finish = unlucky_finish;
	return unlucky;
}

/* No layer has the inputs of all cores. */
static const struct layer on_images[] = {
	{ .kind = LAYER_LINEAR, .name = "fc", .outputs = 10 },
	{ .kind = LAYER_LOSS },
};

static int body(struct group *group, void *context, struct error *err)
{
	const struct plot *plot = context;
	const struct device_request request = { .threads = group->size,
						.cpus = group->size };
	const struct program_options options = { .batch = 4, .test_batch = 1 };
	const struct backend *cpu = backend_find("cpu");
	const struct backend unlucky = make_unlucky(plot);
	struct model model = *model_find("tiny");
	float images[4 * 28 * 28] = { 0 };
	const uint16_t labels[4] = { 1, 2, 3, 4 };
	const struct batch batch = { .images = images,
				     .labels = labels,
				     .count = 4,
				     .global_count = 4 * group->size,
				     .place = group->rank,
				     .stride = group->size };
	struct device *device = NULL;
	struct program *program = NULL;
	int failed;

	if (!has_factors(plot)) {
		model.layers = on_images;
		model.layer_count = 2;
	}
	here.plot = group->rank == plot->victim ? plot : NULL;
	failed = replica_open(group, cpu, &request, &device, err);
	if (!failed)
		failed = replica_compile(group, device, &model, &options,
					 &program, err);
	if (!failed) {
		device->backend = &unlucky;
		failed = train(group, program, &batch, err);
		device->backend = cpu;
	}
	program_free(program);
	device_close(device);
	return failed;
}

/* One core alone lends nothing, and only one trains at once. */
static int may_happen(enum call call, int size)
{
	if (size > 1)
		return call != TRAIN;
	return call == GRADIENT || call == UPDATE || call == TRAIN ||
	       call == FINISH;
}

static void a_failure_ends_the_run(void **state)
{
	static const int cores[] = { 1, 2, 3, 8 };

	for (int i = 0; i < CALLS * 4; i++) {
		const int size = cores[i / CALLS];
		struct plot plot = { .victim = i % size,
				     .call = (enum call)(i % CALLS) };
		const struct group_job job = { body, &plot, sizeof(plot),
					       NULL };
		struct error err = { .message = "" };
		char text[64];

		if (!may_happen(plot.call, size))
			continue;
		/* One alone needs no number. */
		snprintf(text, sizeof(text), "out of luck");
		if (size > 1)
			snprintf(text, sizeof(text),
				 "core %d of %d: out of luck", plot.victim,
				 size);
		assert_int_equal(group_launch(transport_find(*state), size,
					      &job, &err), -1);
		assert_string_equal(err.message, text);
		assert_int_equal(err.kind, ERROR_MISSING);
	}
}

static void a_death_ends_the_run(void **state)
{
	static const enum call calls[] = { GRADIENT_FACTORS, UPDATE,
					   UPDATE_FACTORS };

	(void)state;
	for (int i = 0; i < 3 * 2; i++) {
		const int size = i / 3 ? 8 : 2;
		struct plot plot = { .victim = i % size,
				     .call = calls[i % 3],
				     .dies = 1 };
		const struct group_job job = { body, &plot, sizeof(plot),
					       NULL };
		struct error err = { .message = "" };
		char text[64];

		snprintf(text, sizeof(text), "core %d of %d: process ",
			 plot.victim, size);
		assert_int_equal(group_launch(transport_find("fork"), size,
					      &job, &err), -1);
		assert_memory_equal(err.message, text, strlen(text));
		assert_non_null(strstr(err.message, "signal 9"));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		{ "threads: a failure ends the run", a_failure_ends_the_run,
		  NULL, NULL, "threads" },
		{ "fork: a failure ends the run", a_failure_ends_the_run, NULL,
		  NULL, "fork" },
		cmocka_unit_test(a_death_ends_the_run),
	};

	return cmocka_run_group_tests_name("replica fails", tests, NULL, NULL);
}
