/*
 * Cores that make layers' updates together from shared factors get the bits of
 * whole gradients that are added up: in every build, by either transport, with
 * shares of any size. Cores without common memory, which send each other
 * factors or gradients in buckets, whichever is less, get these bits as well. A
 * part of a gradient that is announced as complete does not change.
 */
#include "backends/cpu/kernels/kernels.h"
#include "bench/system/hash.h"
#include "tests/kernels/graph_models.h"
#include "tests/kernels/share.h"

#define STEPS 2
#define MOST 8
#define SAMPLES 4 /* of an evaluation */
#define BUCKET 1000 /* floats of a gradient's bucket, about */

/* Cores that train, and what each sees then: hashes, as they may be
 * processes. */
struct team {
	const struct model *model;
	enum precision precision;
	struct batch global[STEPS];
	int pauses; /* between steps: see take_pause() */
	uint64_t seen[MOST][VECTOR_COUNT];
	double losses[MOST][2];
	size_t joint; /* weights that the first core's program updates so */
	int distributed; /* the cores have no memory in common */
};

static const struct update update = { .lr = .03, .rho = .9, .eps = 1e-6 };

/* Sizes that are no whole number of anything, and fewer planes than cores. */
static const struct layer odd_layers[] = {
	{ .kind = LAYER_CONV, .name = "a", .outputs = 5, .window = 3 },
	{ .kind = LAYER_RELU },
	{ .kind = LAYER_CONV, .name = "b", .outputs = 7, .window = 3 },
	{ .kind = LAYER_MAXPOOL, .window = 2 },
	{ .kind = LAYER_DROPOUT2D, .drop = .25 },
	{ .kind = LAYER_LINEAR, .name = "c", .outputs = 19 },
	{ .kind = LAYER_RELU },
	{ .kind = LAYER_DROPOUT, .drop = .5 },
	{ .kind = LAYER_LINEAR, .name = "d", .outputs = 160 },
	{ .kind = LAYER_RELU },
	{ .kind = LAYER_LINEAR, .name = "e", .outputs = 3 },
	{ .kind = LAYER_LOSS },
};

/* Weights of c and e, whose inputs are in blocks: planes of 4x2, and 80. */
#define ODD_JOINT (7 * 4 * 2 * 19 + 160 * 3)

static const struct model odd_model = {
	.name = "odd",
	.input = { 2, 12, 8 },
	.layers = odd_layers,
	.layer_count = sizeof(odd_layers) / sizeof(odd_layers[0]),
};

static struct program_options options_of(const struct team *team, int cores)
{
	return (struct program_options){
		.batch = replica_share(0, cores, team->global[0].count),
		.test_batch = SAMPLES,
		.seed = 5,
		.dropout = 1,
		.precision = team->precision,
	};
}

static int start(struct group *group, struct program *program,
		 struct error *err)
{
	float *values = calloc(program->parameters, sizeof(*values));
	int failed;

	if (!values)
		return error_memory(err, "the parameters");
	failed = replica_store(group, program, VECTOR_STATE_0, values,
			       err) ||
		 replica_store(group, program, VECTOR_STATE_1, values, err);
	model_init(program->model, 3, values);
	failed = failed || replica_store(group, program, VECTOR_PARAMETERS,
					 values, err);
	free(values);
	return failed;
}

/* Of all vectors but the gradient. */
static int report(struct program *program, uint64_t *seen, struct error *err)
{
	const size_t bytes = program->parameters * sizeof(float);
	float *values = malloc(bytes);
	int failed = values ? 0 : error_memory(err, "the parameters");

	for (int v = 0; !failed && v < VECTOR_COUNT; v++) {
		if (v == VECTOR_GRADIENT)
			continue;
		failed = program_load(program, (enum vector)v, values, err);
		if (!failed)
			seen[v] = hash_bytes64(values, bytes);
	}
	free(values);
	return failed;
}

/* An evaluation, other parameters, and another one; nobody stores before all
 * have come so far. */
static int take_pause(const struct team *team, struct group *group,
		      struct program *program, double *losses,
		      struct error *err)
{
	struct batch batch = team->global[0];
	float *values = malloc(program->parameters * sizeof(*values));
	struct score scores[2] = { { .loss = 0 }, { .loss = 0 } };
	int failed;

	if (!values)
		return error_memory(err, "the parameters");
	batch.count = SAMPLES;
	model_init(program->model, 4, values);
	failed = program_evaluate(program, &batch, &scores[0], err) ||
		 (group->size > 1 && group_gather(group, NULL, 0, NULL, err)) ||
		 replica_store(group, program, VECTOR_PARAMETERS, values,
			       err) ||
		 program_evaluate(program, &batch, &scores[1], err);
	for (int i = 0; i < 2; i++)
		losses[i] = scores[i].loss;
	free(values);
	return failed;
}

static int train(struct team *team, struct group *group,
		 struct program *program, struct error *err)
{
	struct replica_observer nobody = { hear_nothing };
	int failed = start(group, program, err);

	for (int s = 0; !failed && s < STEPS; s++) {
		struct batch share = share_of(&team->global[s], team->model,
					      group->rank, group->size);
		struct score score;

		failed = replica_train(group, program, &share, &update,
				       NULL, &nobody, &score, err);
		batch_free(&share);
		if (!failed && team->pauses && s + 1 < STEPS)
			failed = take_pause(team, group, program,
					    team->losses[group->rank], err);
	}
	if (group->rank == 0)
		team->joint = program->length - program->reduced;
	return failed ||
	       replica_gather(group, program, VECTOR_STATE_0, err) ||
	       replica_gather(group, program, VECTOR_STATE_1, err) ||
	       report(program, team->seen[group->rank], err);
}

static int body(struct group *group, void *context, struct error *err)
{
	struct team *team = context;
	const struct device_request request = { .threads = group->size,
						.cpus = group->size };
	const struct program_options options = options_of(team, group->size);
	struct device *device = NULL;
	struct program *program = NULL;
	int failed;

	if (team->distributed) {
		group->memory = NULL;
		group->bucket_floats = BUCKET;
	}
	failed = replica_open(group, backend_find("cpu"), &request, &device,
			      err) ||
		 replica_compile(group, device, team->model, &options,
				 &program, err) ||
		 train(team, group, program, err) ||
		 /* Others may still read what is in no common memory. */
		 (team->distributed && group_wait(group, err));

	program_free(program);
	device_close(device);
	return failed ? -1 : 0;
}

/* Whole gradients, whole updates, one after the other. */
static void train_plainly(struct team *team, int cores)
{
	const struct program_options options = options_of(team, cores);
	struct group alone = { .size = 1 };
	struct subject subject;
	struct error err;
	float *sum;

	subject_open(&subject, "cpu", team->model, &options);
	sum = allocate(subject.program->length * sizeof(*sum));
	must(start(&alone, subject.program, &err), &err);
	for (int s = 0; s < STEPS; s++) {
		sum_shares(&team->global[s], subject.program, cores, sum);
		memcpy(program_map(subject.program, VECTOR_GRADIENT, &err),
		       sum, subject.program->length * sizeof(*sum));
		must(program_unmap(subject.program, VECTOR_GRADIENT, &err),
		     &err);
		must(program_update(subject.program, &update, &err), &err);
		if (team->pauses && s + 1 < STEPS)
			must(take_pause(team, &alone, subject.program,
					team->losses[0], &err), &err);
	}
	must(report(subject.program, team->seen[0], &err), &err);
	free(sum);
	subject_close(&subject);
}

static void compare(const struct team *plain, int cores, const char *transport,
		    int distributed)
{
	struct team team = *plain;
	const struct group_job job = { body, &team, sizeof(team), NULL };
	struct error err;

	memset(team.seen, 0, sizeof(team.seen));
	memset(team.losses, 0, sizeof(team.losses));
	team.distributed = distributed;
	must(group_launch(transport_find(transport), cores, &job, &err), &err);
	/* Of odd, the factors are more than the gradient. */
	assert_true(team.joint || (distributed && team.model == &odd_model));
	if (team.model == &odd_model && !distributed)
		assert_true(team.joint >= ODD_JOINT);
	for (int r = 0; r < cores; r++) {
		assert_memory_equal(team.seen[r], plain->seen[0],
				    sizeof(team.seen[r]));
		assert_memory_equal(team.losses[r], plain->losses[0],
				    sizeof(team.losses[r]));
	}
}

/* The last has more cores than samples. */
static void cores_share_to_the_same_bits(const struct model *model,
					 enum precision precision)
{
	static const struct {
		int cores, global, pauses;
	} cases[] = { { 2, 7, 1 }, { 3, 200, 0 }, { 8, 35, 0 }, { 8, 5, 0 } };
	/* mnist-example has mnist's kernels. */
	const int is_seen = !strcmp(model->name, "mnist-example");
	const size_t most = precision == PRECISION_BF16 || is_seen ?
				    1 : sizeof(cases) / sizeof(cases[0]);
	struct team team = { .model = model, .precision = precision };

	for (size_t i = 0; i < (tests_are_light() ? 1 : most); i++) {
		for (int s = 0; s < STEPS; s++) {
			team.global[s] = batch_make(team.model,
						    8 + (uint32_t)s,
						    cases[i].global);
			team.global[s].step = (uint32_t)s;
		}
		team.pauses = cases[i].pauses;
		memset(team.losses, 0, sizeof(team.losses));
		train_plainly(&team, cases[i].cores);
		compare(&team, cases[i].cores, "threads", 0);
		compare(&team, cases[i].cores, "fork", 0);
		/* Threads reach memory that the group does not manage. */
		compare(&team, cases[i].cores, "threads", 1);
		for (int s = 0; s < STEPS; s++)
			batch_free(&team.global[s]);
	}
}

/* Keeps what is said to be complete. */
struct keeper {
	struct gradient_watcher base;
	float *kept;
	size_t from; /* what of it is kept, up to reduced */
};

static void keep(struct gradient_watcher *watcher, float *gradient, size_t from)
{
	struct keeper *keeper = (struct keeper *)watcher;

	assert_true(from <= keeper->from);
	memcpy(keeper->kept + from, gradient + from,
	       (keeper->from - from) * sizeof(*gradient));
	keeper->from = from;
}

/* Twice, as buffers have values of the first then. */
static void what_is_complete_stays(const struct model *model)
{
	const struct program_options options = { .batch = 6, .test_batch = 1,
						 .seed = 3, .dropout = 1 };
	struct batch batch = batch_make(model, 8, options.batch);
	struct group alone = { .size = 1 };
	struct subject subject;
	struct error err;

	subject_open(&subject, "cpu", model, &options);
	must(start(&alone, subject.program, &err), &err);
	for (int s = 0; s < STEPS; s++) {
		const size_t reduced = subject.program->reduced;
		struct keeper keeper = { { keep },
					 allocate(reduced * sizeof(float)),
					 reduced };

		subject.program->watcher = &keeper.base;
		must(program_gradient(subject.program, &batch, &err), &err);
		subject.program->watcher = NULL;
		assert_int_equal(keeper.from, 0);
		assert_memory_equal(keeper.kept,
				    program_map(subject.program,
						VECTOR_GRADIENT, &err),
				    reduced * sizeof(float));
		must(program_unmap(subject.program, VECTOR_GRADIENT, &err),
		     &err);
		free(keeper.kept);
	}
	batch_free(&batch);
	subject_close(&subject);
}

static void what_is_complete_stays_in_every_build(void **state)
{
	(void)state;
	for (size_t b = 0; cpu_builds[b]; b++) {
		if (!cpu_builds[b]->supported())
			continue;
		setenv("BENCH_ISA", cpu_builds[b]->name, 1);
		what_is_complete_stays(&odd_model);
		for (int m = 0; m < GRAPHS; m++)
			what_is_complete_stays(graph_models[m]);
	}
	unsetenv("BENCH_ISA");
}

static void in_every_build(void **state)
{
	const struct model *model = *state ? model_find(*state) : &odd_model;

	for (size_t b = 0; cpu_builds[b]; b++) {
		if (!cpu_builds[b]->supported())
			continue;
		setenv("BENCH_ISA", cpu_builds[b]->name, 1);
		cores_share_to_the_same_bits(model, PRECISION_FP32);
		if (cpu_builds[b]->has_tiles)
			cores_share_to_the_same_bits(model, PRECISION_BF16);
	}
	unsetenv("BENCH_ISA");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_complete_stays_in_every_build),
		{ "odd: cores share to the same bits", in_every_build, NULL,
		  NULL, NULL },
		{ "mnist: cores share to the same bits", in_every_build, NULL,
		  NULL, "mnist" },
		{ "mnist-example: cores share to the same bits",
		  /* It has mnist's kernels. */
		  test_if(!tests_are_light(), in_every_build), NULL, NULL,
		  "mnist-example" },
	};

	return cmocka_run_group_tests_name("shared", tests, NULL, NULL);
}
