/*
 * Steps, once they are warm, ask for no memory and touch no page for the first
 * time: neither we nor a library below. Counted for each core, by the C
 * library's own functions, which are the ones below, and by the kernel.
 */
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "backends/cpu/kernels/kernels.h"
#include "tests/kernels/share.h"

#define CORES 2
#define BATCH 5
#define WARM 5
#define STEPS 20
#define ROUNDS 3
#define PAGE 4096

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define WATCHED 0 /* the sanitizer's functions are these already */
#else
#define WATCHED 1
#endif

/* Of each thread its own. Volatile, since to the compiler malloc changes none
 * of our variables. */
static _Thread_local volatile long asked;

#if WATCHED
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t number, size_t size);
void *__libc_realloc(void *memory, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

/* These stand before the C library's for all that is loaded. */
void *malloc(size_t size)
{
	asked++;
	return __libc_malloc(size);
}

void *calloc(size_t number, size_t size)
{
	asked++;
	return __libc_calloc(number, size);
}

void *realloc(void *memory, size_t size)
{
	asked++;
	return __libc_realloc(memory, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
	asked++;
	return __libc_memalign(alignment, size);
}

int posix_memalign(void **memory, size_t alignment, size_t size)
{
	asked++;
	*memory = __libc_memalign(alignment, size);
	return *memory ? 0 : 12; /* ENOMEM */
}

void *mmap(void *at, size_t size, int protection, int flags, int file,
	   off_t offset)
{
	asked++;
	return (void *)syscall(SYS_mmap, at, size, protection, flags, file,
			       offset);
}
#endif

/* What a round of steps cost a core. */
struct cost {
	long asked, minor, major; /* faults */
};

/* Cores that train; what they found is in here, since they may be processes. */
struct team {
	const struct backend *backend; /* what computes, a plant around it */
	enum algorithm algorithm;
	struct cost costs[CORES][ROUNDS];
};

static struct cost cost_so_far(void)
{
	struct rusage usage;

	assert_int_equal(getrusage(RUSAGE_THREAD, &usage), 0);
	return (struct cost){ asked, usage.ru_minflt, usage.ru_majflt };
}

static struct cost cost_since(const struct cost *then)
{
	const struct cost now = cost_so_far();

	return (struct cost){ now.asked - then->asked,
			      now.minor - then->minor,
			      now.major - then->major };
}

/* Other images, and other dropout masks, in each of them; tested after it. */
static int make_step(struct group *group, struct program *program,
		     struct batch *batch, uint32_t step, struct error *err)
{
	static const struct update update = { .lr = .1, .rho = .9,
						      .eps = 1e-6 };
	struct score score = { 0 };
	struct replica_observer nobody = { hear_nothing };

	batch[step % 2].step = step;
	return replica_train(group, program, &batch[step % 2], &update,
			     NULL, &nobody, &score, err) ||
	       program_evaluate(program, &batch[step % 2], &score, err);
}

static int train(struct team *team, struct group *group,
		 struct program *program, struct batch *batch,
		 struct error *err)
{
	uint32_t step = 0;

	for (int i = 0; i < WARM; i++)
		if (make_step(group, program, batch, step++, err))
			return -1;
	for (int r = 0; r < ROUNDS; r++) {
		const struct cost before = cost_so_far();

		for (int i = 0; i < STEPS; i++)
			if (make_step(group, program, batch, step++, err))
				return -1;
		team->costs[group->rank][r] = cost_since(&before);
	}
	return 0;
}

static int store_parameters(struct group *group, struct program *program,
			    struct error *err)
{
	float *values = calloc(program->parameters, sizeof(*values));
	int failed;

	if (!values)
		return error_memory(err, "the parameters");
	model_init(program->model, 1, values);
	failed = replica_store(group, program, VECTOR_PARAMETERS, values, err);
	free(values);
	return failed;
}

static int work_as_core(struct group *group, void *context, struct error *err)
{
	struct team *team = context;
	const struct model *model = model_find("mnist");
	const struct device_request request = { .threads = group->size,
						.cpus = group->size };
	const struct program_options options = {
		.batch = BATCH,
		.test_batch = BATCH,
		.seed = 3,
		.dropout = 1,
		.algorithm = team->algorithm,
	};
	struct batch batch[2];
	struct device *device = NULL;
	struct program *program = NULL;
	int failed = -1;

	for (int i = 0; i < 2; i++) {
		batch[i] = batch_make(model, 1 + (uint32_t)i, BATCH);
		batch[i].global_count = BATCH * group->size;
		batch[i].place = group->rank;
		batch[i].stride = group->size;
	}
	if (replica_open(group, team->backend, &request, &device, err))
		goto out;
	device->backend = team->backend; /* it opened as what it is built on */
	if (!replica_compile(group, device, model, &options, &program, err) &&
	    !store_parameters(group, program, err))
		failed = train(team, group, program, batch, err);
out:
	program_free(program);
	device_close(device);
	batch_free(&batch[0]);
	batch_free(&batch[1]);
	return failed;
}

/* What all three targets are. */
static const struct {
	const char *name, *transport;
	int cores;
} targets[] = {
	{ "cpu-1", "self", 1 },
	{ "cpu-2@threads", "threads", 2 },
	{ "cpu-2@fork", "fork", 2 },
};

#define TARGETS (sizeof(targets) / sizeof(targets[0]))

static void launch(struct team *team, size_t target)
{
	const struct group_job job = { work_as_core, team, sizeof(*team),
				       NULL };
	struct error err;

	must(group_launch(transport_find(targets[target].transport),
			  targets[target].cores, &job, &err), &err);
}

/*
 * The system may take a page away and give it back whenever it likes, so that
 * a core is only asked for one round without a fault.
 */
static void expect_steady(const struct team *team, size_t target,
			  const char *what)
{
	for (int core = 0; core < targets[target].cores; core++) {
		const struct cost *cost = team->costs[core];
		int steady = 0;

		for (int r = 0; r < ROUNDS; r++) {
			if (cost[r].asked)
				fail_msg("%s, %s, core %d: %ld allocations in "
					 "%d steps", what, targets[target].name,
					 core, cost[r].asked, STEPS);
			steady |= !cost[r].minor && !cost[r].major;
		}
		if (!steady)
			fail_msg("%s, %s, core %d: %ld, %ld and %ld page "
				 "faults in %d steps each", what,
				 targets[target].name, core,
				 cost[0].minor + cost[0].major,
				 cost[1].minor + cost[1].major,
				 cost[2].minor + cost[2].major, STEPS);
	}
}

static void steps_are_steady(void **state)
{
	struct team team = { .backend = backend_find("cpu") };

	(void)state;
	for (size_t b = 0; cpu_builds[b]; b++) {
		if (!cpu_builds[b]->supported())
			continue;
		setenv("BENCH_ISA", cpu_builds[b]->name, 1);
		for (size_t t = 0; t < TARGETS; t++) {
			launch(&team, t);
			expect_steady(&team, t, cpu_builds[b]->name);
		}
	}
	unsetenv("BENCH_ISA");
}

static void dense_steps_are_steady(void **state)
{
	struct team team = { .backend = backend_find("cpu"),
			     .algorithm = ALGORITHM_DENSE };

	(void)state;
	for (size_t t = 0; t < TARGETS; t++) {
		launch(&team, t);
		expect_steady(&team, t, "dense");
	}
}

/* What a step may do wrong: have a library ask for memory, and give it back;
 * map some; touch one page more of what it has. */
enum plant { PLANT_LIBRARY, PLANT_MAPPING, PLANT_PAGE, PLANTS };

static enum plant planted;
static char *volatile taken; /* or the compiler removes an unused array */
static char *untouched[CORES];

static void plant(int core)
{
	switch (planted) {
	case PLANT_LIBRARY:
		taken = strdup("of the C library");
		free(taken);
		break;
	case PLANT_MAPPING:
		taken = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		assert_true(taken != MAP_FAILED);
		taken[0] = 1;
		munmap(taken, PAGE);
		break;
	default:
		*untouched[core] = 1;
		untouched[core] += PAGE;
	}
}

static int gradient(struct program *program, const struct batch *batch,
		    const struct update *update, struct error *err)
{
	plant(batch->place);
	return backend_find("null")->gradient(program, batch, update, err);
}

static void find_planted(struct team *team, size_t target)
{
	const size_t bytes = (size_t)(WARM + ROUNDS * STEPS) * PAGE;
	const struct cost *cost = team->costs[0];
	char *room = mmap(NULL, CORES * bytes, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_true(room != MAP_FAILED);
	madvise(room, CORES * bytes, MADV_NOHUGEPAGE);
	for (int core = 0; core < CORES; core++)
		untouched[core] = room + (size_t)core * bytes;
	launch(team, target);
	munmap(room, CORES * bytes);
	for (int r = 0; r < ROUNDS; r++) {
		assert_int_equal(cost[r].asked,
				 planted == PLANT_PAGE ? 0 : STEPS);
		assert_true(planted == PLANT_LIBRARY || cost[r].minor >= STEPS);
	}
}

static void what_is_planted_is_found(void **state)
{
	struct backend wrong = *backend_find("null");
	struct team team = { .backend = &wrong };

	(void)state;
	wrong.gradient = gradient;
	for (planted = 0; planted < PLANTS; planted++)
		for (size_t t = 0; t < TARGETS; t++)
			find_planted(&team, t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		unit_test_if(WATCHED, what_is_planted_is_found),
		unit_test_if(WATCHED, steps_are_steady),
		unit_test_if(WATCHED, dense_steps_are_steady),
	};

	return cmocka_run_group_tests_name("steady", tests, NULL, NULL);
}
