/*
 * Cores that share a global batch learn what one core learns from all of it,
 * and end with equal parameters.
 */
#include "tests/kernels/share.h"

#define STEPS 2
#define MOST 8
#define PARAMETERS 2492 /* of the model tiny */

/*
 * Cores that train together, and what each of them has then: all of it in
 * here, since processes share nothing else.
 */
struct team {
	const struct backend *backend;
	const struct model *model;
	struct batch global[STEPS];
	float vectors[MOST][VECTOR_COUNT][PARAMETERS]; /* of all samples */
	struct score scores[MOST][STEPS];
	long long phases[MOST]; /* digits 1 to 4 as they ended */
};

struct watcher {
	struct replica_observer observer;
	long long phases;
};

static void note(struct replica_observer *observer, enum replica_phase phase)
{
	struct watcher *watcher = (struct watcher *)observer;

	watcher->phases = watcher->phases * 10 + (int)phase + 1;
}

static const struct update update = { .lr = .03, .rho = .9, .eps = 1e-6 };

static int start(const struct team *team, struct group *group,
		 struct program *program, struct error *err)
{
	float values[PARAMETERS] = { 0 };

	if (replica_store(group, program, VECTOR_STATE_0, values, err) ||
	    replica_store(group, program, VECTOR_STATE_1, values, err))
		return -1;
	model_init(team->model, 3, values);
	return replica_store(group, program, VECTOR_PARAMETERS, values, err);
}

/* The slice that a core updated last, and the backend that updated it. */
static _Thread_local struct slice updated;
static _Thread_local const struct backend *watched;

static int note_update(struct program *program, const struct update *what,
		       size_t from, size_t to, struct error *err)
{
	/* Except for what cores update together, after all slices. */
	if (from < program->reduced || from == to)
		updated = (struct slice){ from, to };
	return watched->update(program, what, from, to, err);
}

/* Nobody updates what is another one's; and in vectors of its own, that is as
 * it was stored, zero. */
static int check_slice(const struct group *group, struct program *program,
		       struct error *err)
{
	const struct slice own =
		group_slice(group->rank, group->size, program->reduced);
	const float *state = program_map(program, VECTOR_STATE_0, err);

	if (group->size > 1 &&
	    (updated.from != own.from || updated.to != own.to))
		return error_set(err, ERROR_FAILED, "core %d has updated %zu "
				 "to %zu", group->rank, updated.from,
				 updated.to);
	for (size_t i = 0; !program->shared && i < program->length; i++)
		if ((i < own.from || i >= own.to) && state[i] != 0)
			return error_set(err, ERROR_FAILED, "core %d has "
					 "updated another one's %zu",
					 group->rank, i);
	return program_unmap(program, VECTOR_STATE_0, err);
}

/* All vectors, whole ones. */
static int report(struct team *team, struct group *group,
		  struct program *program, struct error *err)
{
	if (check_slice(group, program, err))
		return -1;
	for (int v = 0; v < VECTOR_COUNT; v++) {
		if (v != VECTOR_PARAMETERS && group->size > 1 &&
		    replica_gather(group, program, (enum vector)v, err))
			return -1;
		if (program_load(program, (enum vector)v,
				 team->vectors[group->rank][v], err))
			return -1;
	}
	return 0;
}

static int train(struct team *team, struct group *group,
		 struct program *program, struct error *err)
{
	struct watcher watcher = { .observer = { note } };

	if (start(team, group, program, err))
		return -1;
	for (int s = 0; s < STEPS; s++) {
		struct batch share = share_of(&team->global[s], team->model,
					      group->rank, group->size);
		const int failed = replica_train(
			group, program, &share, &update, NULL,
			&watcher.observer, &team->scores[group->rank][s], err);

		batch_free(&share);
		if (failed)
			return -1;
	}
	team->phases[group->rank] = watcher.phases;
	return report(team, group, program, err);
}

static int body(struct group *group, void *context, struct error *err)
{
	struct team *team = context;
	const int count = team->global[0].count;
	const struct device_request request = { .threads = group->size,
						.cpus = group->size };
	const struct program_options options = {
		.batch = replica_share(0, group->size, count),
		.test_batch = 1,
		.seed = 5,
		.dropout = 1,
	};
	struct backend noting = *team->backend;
	struct device *device = NULL;
	struct program *program = NULL;
	int failed = 0;

	for (int r = 0; !failed && r < group->size; r++) {
		if (r == group->rank)
			failed = device_open(team->backend, &request, &device,
					     err);
		if (!failed)
			failed = group_gather(group, NULL, 0, NULL, err);
	}
	watched = team->backend;
	noting.update = note_update;
	if (!failed) {
		device->backend = &noting;
		failed = replica_compile(group, device, team->model, &options,
					 &program, err) ||
			 train(team, group, program, err);
	}
	program_free(program);
	device_close(device);
	return failed ? -1 : 0;
}

static void run(struct team *team, int cores, const char *transport)
{
	const struct group_job job = { body, team, sizeof(*team), NULL };
	struct error err = { .message = "" };

	assert_int_equal(model_parameter_count(team->model), PARAMETERS);
	must(group_launch(transport_find(transport), cores, &job, &err), &err);
}

static struct team make_team(const char *backend, int global)
{
	struct team team = { .backend = backend_find(backend),
			     .model = model_find("tiny") };

	for (int s = 0; s < STEPS; s++) {
		team.global[s] = batch_make(team.model, 8 + (uint32_t)s,
					    global);
		team.global[s].step = (uint32_t)s;
	}
	return team;
}

/* One core may train without a gradient, and several without all of it. */
static int keeps(const struct team *team, int vector)
{
	return vector != VECTOR_GRADIENT || !team->backend->trains_at_once;
}

static void compare(const struct team *one, const struct team *team, int cores)
{
	for (int v = 0; v < VECTOR_COUNT; v++)
		if (keeps(team, v))
			assert_tensors(team->model, "the vector",
				       team->vectors[0][v],
				       one->vectors[0][v], 1e-5);
	for (int r = 1; r < cores; r++)
		assert_memory_equal(team->vectors[r], team->vectors[0],
				    sizeof(team->vectors[0]));
	for (int s = 0; s < STEPS; s++) {
		struct score all = { 0 };

		for (int r = 0; r < cores; r++) {
			assert_int_equal(team->scores[r][s].count,
					 replica_share(r, cores,
						       team->global[s].count));
			all.loss += team->scores[r][s].loss;
			all.correct += team->scores[r][s].correct;
			all.count += team->scores[r][s].count;
		}
		assert_int_equal(all.count, one->scores[0][s].count);
		assert_int_equal(all.correct, one->scores[0][s].correct);
		assert_close("the loss", all.loss, one->scores[0][s].loss,
			     1e-5 * all.loss);
	}
}

/* Shares that differ by one sample, and more cores than samples. */
static void cores_learn_what_one_does(void **state)
{
	static const struct {
		int cores, global;
	} cases[] = { { 2, 32 }, { 3, 32 }, { 8, 31 }, { 2, 7 },
		      { 3, 5 },	 { 8, 5 },  { 2, 1 },  { 8, 1 } };
	static struct team one, threads, processes;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		one = make_team(*state, cases[i].global);
		threads = processes = one;
		run(&one, 1, "self");
		run(&threads, cases[i].cores, "threads");
		run(&processes, cases[i].cores, "fork");
		compare(&one, &threads, cases[i].cores);
		assert_memory_equal(processes.vectors, threads.vectors,
				    sizeof(threads.vectors));
		assert_memory_equal(processes.scores, threads.scores,
				    sizeof(threads.scores));
		for (int s = 0; s < STEPS; s++)
			batch_free(&one.global[s]);
	}
}

/* Every gradient whole, the update whole: what sharding must not change. */
static void train_plainly(struct team *team, int cores)
{
	const struct program_options options = {
		.batch = team->global[0].count,
		.test_batch = 1,
		.seed = 5,
		.dropout = 1,
	};
	struct group alone = { .size = 1 };
	struct program *program;
	struct subject subject;
	struct error err;
	float *sum;

	subject_open(&subject, team->backend->name, team->model, &options);
	program = subject.program;
	sum = allocate(program->length * sizeof(*sum));
	must(start(team, &alone, program, &err), &err);
	for (int s = 0; s < STEPS; s++) {
		sum_shares(&team->global[s], program, cores, sum);
		memcpy(program_map(program, VECTOR_GRADIENT, &err), sum,
		       program->length * sizeof(*sum));
		must(program_unmap(program, VECTOR_GRADIENT, &err), &err);
		must(program_update(program, &update, &err), &err);
		/* Who computes in double passes on floats. */
		program_map(program, VECTOR_PARAMETERS, &err);
		must(program_unmap(program, VECTOR_PARAMETERS, &err), &err);
	}
	for (int v = 0; v < VECTOR_COUNT; v++)
		must(program_load(program, (enum vector)v,
				  team->vectors[0][v], &err), &err);
	free(sum);
	subject_close(&subject);
}

static void a_shared_update_is_the_whole_one(void **state)
{
	static struct team plain, threads;

	for (int cores = 2; cores <= MOST; cores++) {
		plain = threads = make_team(*state, 19);
		train_plainly(&plain, cores);
		run(&threads, cores, "threads");
		for (int i = 0; i < cores * VECTOR_COUNT; i++)
			if (keeps(&plain, i % VECTOR_COUNT))
				assert_memory_equal(
					threads.vectors[i / VECTOR_COUNT]
						       [i % VECTOR_COUNT],
					plain.vectors[0][i % VECTOR_COUNT],
					sizeof(plain.vectors[0][0]));
		for (int s = 0; s < STEPS; s++)
			batch_free(&plain.global[s]);
	}
}

static void phases_end_in_their_order(void **state)
{
	static struct team team;

	(void)state;
	for (int cores = 1; cores <= 2; cores++) {
		team = make_team("null", 4);
		run(&team, cores, cores > 1 ? "fork" : "self");
		for (int r = 0; r < cores; r++)
			assert_true(team.phases[r] == (cores > 1 ?
						       123423123423 :
						       12341234));
		for (int s = 0; s < STEPS; s++)
			batch_free(&team.global[s]);
	}
}

static void shares_are_counted(void **state)
{
	(void)state;
	for (int size = 1; size <= 9; size++)
		for (int count = 0; count <= 40; count++) {
			int all = 0;

			for (int rank = 0; rank < size; rank++) {
				int share = 0;

				for (int p = rank; p < count; p += size)
					share++;
				assert_int_equal(replica_share(rank, size,
							       count), share);
				all += share;
			}
			assert_int_equal(all, count);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		{ "reference: cores learn what one does",
		  cores_learn_what_one_does, NULL, NULL, "reference" },
		{ "cpu: cores learn what one does",
		  cores_learn_what_one_does, NULL, NULL, "cpu" },
		{ "openblas: cores learn what one does",
		  cores_learn_what_one_does, NULL, NULL, "openblas" },
		{ "reference: shared as whole",
		  a_shared_update_is_the_whole_one, NULL, NULL, "reference" },
		{ "cpu: shared as whole",
		  a_shared_update_is_the_whole_one, NULL, NULL, "cpu" },
		{ "openblas: shared as whole",
		  a_shared_update_is_the_whole_one, NULL, NULL, "openblas" },
		cmocka_unit_test(phases_end_in_their_order),
		cmocka_unit_test(shares_are_counted),
	};

	return cmocka_run_group_tests_name("replica", tests, NULL, NULL);
}
