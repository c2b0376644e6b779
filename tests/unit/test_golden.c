/*
 * Free runs against PyTorch: golden/losses.csv, which golden/make_golden.py
 * wrote, on data that both make from the same numbers.
 *
 * At this small rate 50 steps in single precision stay within 1e-3 of double;
 * at a rate of 1 two runs that differ by rounding soon part.
 */
#include "bench/train/training.h"

#include "tests/kernels/subject.h"
#include "bench/record/csv.h"

#define GOLDEN "tests/golden/losses.csv"
#define FIRST_NEAR 1e-5 /* nothing has been learnt yet */
#define NEAR 1e-3
#define COUNT 1200 /* samples */
#define SIZE 784
#define DATA_SEED 20200302
#define MOST_CASES 16
#define MOST_STEPS 64
#define MOST_CORES 8

/* Consecutive rows that differ in step and loss alone. */
struct golden {
	char network[32];
	int cores, batch, dropout, seed, steps;
	double lr;
	double losses[MOST_STEPS];
};

static struct golden cases[MOST_CASES];
static int case_count;

static uint8_t images[COUNT * SIZE];
static uint16_t labels[COUNT];

static struct dataset dataset = {
	.name = "golden",
	.shape = { 1, 28, 28 },
	.classes = 10,
	.train = { .count = COUNT, .images = images, .labels = labels },
	.test = { .count = COUNT, .images = images, .labels = labels },
};

/* As make_golden.py describes it. */
static void make_data(void)
{
	struct mt19937 generator;

	mt19937_seed(&generator, DATA_SEED);
	for (int i = 0; i < COUNT; i++) {
		const int label = (int)(mt19937_next(&generator) % 10);
		uint32_t word = 0;

		labels[i] = (uint16_t)label;
		for (int p = 0; p < SIZE; p++) {
			const int cell = p / 28 / 7 * 4 + p % 28 / 7;
			const int lit = cell * (label + 1) % 11 < 4;

			word = p % 4 ? word >> 8 : mt19937_next(&generator);
			images[i * SIZE + p] =
				(uint8_t)((word & 127) + (lit ? 120 : 0));
		}
	}
}

static void take(const struct golden *row, int step, double loss)
{
	struct golden *last;

	if (step == 0) {
		assert_true(case_count < MOST_CASES);
		cases[case_count++] = *row;
	}
	assert_true(case_count > 0);
	last = &cases[case_count - 1];
	assert_true(step == last->steps && step < MOST_STEPS);
	assert_string_equal(row->network, last->network);
	last->losses[last->steps++] = loss;
}

static int prepare(void **state)
{
	FILE *file = fopen(GOLDEN, "r");
	char line[128];

	(void)state;
	if (!file || !fgets(line, sizeof(line), file)) {
		print_error(GOLDEN ": run this from the root\n");
		return -1;
	}
	while (fgets(line, sizeof(line), file)) {
		struct golden row = { .steps = 0 };
		double loss;
		int step;

		assert_int_equal(sscanf(line,
					"%31[^,],%d,%d,%d,%lf,%d,%d,%lf",
					row.network, &row.cores, &row.batch,
					&row.dropout, &row.lr, &row.seed,
					&step, &loss), 8);
		take(&row, step, loss);
	}
	fclose(file);
	make_data();
	return case_count ? 0 : -1;
}

/* The target's losses, step after step. */
struct found {
	double losses[MOST_STEPS];
	int count;
};

static int take_row(const void *any, void *context, struct error *err)
{
	const struct observation *row = any;
	struct found *found = context;

	(void)err;
	if (strcmp(row->phase, "step") == 0 && row->core == CELL_NO_INT &&
	    found->count < MOST_STEPS)
		found->losses[found->count++] = row->loss;
	return 0;
}

static void train(const struct golden *golden, const char *backend, int steps,
		  struct found *found)
{
	const int global = golden->cores * golden->batch;
	struct progress silent = { .out = NULL };
	char *text = NULL;
	size_t size = 0;
	struct training training = {
		.model = *model_find(golden->network),
		.backend = backend_find(backend),
		.dataset = &dataset,
		.cores = golden->cores,
		.one_process = 1,
		.iterations = (COUNT + global - 1) / global,
		.samples_per_core = golden->batch,
		.global_samples = global,
		.seed = (unsigned long long)golden->seed,
		.dropout = golden->dropout,
		.reshuffle = 1,
	};
	struct training_outcome outcome = {
		.training = &training,
		.process = { .cpus = golden->cores },
	};
	const struct group_job job = { training_run, &outcome,
				       sizeof(outcome), NULL };
	FILE *rows = open_memstream(&text, &size);
	struct csv_reader *reader;
	struct error err;

	assert_non_null(rows);
	row_clear(&run_rows, &outcome.run);
	outcome.run.cores = golden->cores;
	recorder_start(&outcome.recorder, &outcome.run, 0, rows, &silent);
	training.recipe = training.model.recipe;
	training.recipe.lr = golden->lr;
	if (steps < training.iterations)
		training.iterations = steps;
	training.recipe.epochs = (steps + training.iterations - 1) /
				 training.iterations;
	csv_write_header(rows, &observation_rows);
	must(group_launch(transport_find(golden->cores > 1 ? "threads" :
							     "self"),
			  golden->cores, &job, &err), &err);
	fclose(rows);
	reader = csv_reader_open(&observation_rows, "rows", take_row, found,
				 &err);
	assert_non_null(reader);
	must(csv_reader_feed(reader, text, size, &err), &err);
	csv_reader_close(reader);
	free(text);
}

/*
 * By how much a loss may differ from PyTorch's after the first step: for the
 * networks with batch norm or two poolings relative to the loss.
 *
 * PyTorch in fp32 leaves fp64 by 1.8e-7 on one core of xla-mnist, where no
 * decision of a ReLU or a maximum is close. At seed 3 one of step 7 is: of 60
 * runs of PyTorch whose parameters began a last digit away, ten took the other
 * way and left by 1.0e-3, so that seed 4, where none did, has the close bound.
 */
static double near(const struct golden *golden, double right)
{
	const int is_xla = strcmp(golden->network, "xla-mnist") == 0;

	if (is_xla && golden->cores == 1)
		return golden->seed == 3 ? NEAR : NEAR / 10 * right;
	return is_xla || strcmp(golden->network, "mnist-2019") == 0 ?
		       NEAR * right : NEAR;
}

static void compare(const struct golden *golden, const char *backend, int steps)
{
	struct found found = { .count = 0 };

	train(golden, backend, steps, &found);
	assert_true(found.count >= steps);
	for (int s = 0; s < steps; s++) {
		const double right = golden->losses[s];
		const double bound = s ? near(golden, right) : FIRST_NEAR;

		if (!(fabs(found.losses[s] - right) <= bound))
			fail_msg("%s on %s, %d x %d, dropout %d, rate %g: the "
				 "loss of step %d is %.6f, PyTorch's %.6f",
				 golden->network, backend, golden->cores,
				 golden->batch, golden->dropout, golden->lr, s,
				 found.losses[s], right);
	}
}

/* What is compared with PyTorch; elsewhere most steps may be too many. */
struct subject_backend {
	const char *name;
	int fewest, most; /* steps of a case */
	double work; /* multiply-adds of a case, forward */
	int compiles; /* 1 = kernels for each case; one case of a network then
			 stands for the others */
};

/* Returns 1 if there are devices for that many cores; else it prints why not.
 */
static int can_have(const char *backend, int cores)
{
	/* PoCL has as many units as the first to ask it has CPUs. */
	const struct device_request request = { .threads = 1,
						.cpus = MOST_CORES,
						.size = cores };

	return have_device(backend, &request);
}

/* Returns the steps of a case on the backend; 0 = none. */
static int steps_of(const struct golden *golden,
		    const struct subject_backend *subject)
{
	const double work = model_work(model_find(golden->network)).forward *
			    golden->batch * golden->cores;
	const double steps = fmin(fmin(golden->steps, subject->most),
				  subject->work / work);

	return golden->steps < subject->fewest ? 0 : (int)steps;
}

/* Returns 1 if a later case trains this network on as many cores. */
static int is_repeated(int index, const struct subject_backend *subject)
{
	for (int c = index + 1; c < case_count; c++)
		if (!strcmp(cases[c].network, cases[index].network) &&
		    cases[c].cores == cases[index].cores &&
		    steps_of(&cases[c], subject))
			return 1;
	return 0;
}

static void losses_are_those_of_pytorch(void **state)
{
	const struct subject_backend *subject = *state;

	for (int c = 0; c < case_count; c++) {
		const int steps = steps_of(&cases[c], subject);

		if (steps && !(subject->compiles && is_repeated(c, subject)) &&
		    can_have(subject->name, cases[c].cores))
			compare(&cases[c], subject->name, steps);
	}
}

int main(void)
{
	static struct subject_backend cpu = { "cpu", 1, MOST_STEPS, INFINITY,
					      0 };
	static struct subject_backend openblas = { "openblas", 1, 10,
						   INFINITY, 0 };
	/* A step or two are not worth the time that kernels compile. Ten steps
	 * of mnist, and small networks through a second epoch. */
	static struct subject_backend opencl = { "opencl", 3, MOST_STEPS,
						 4e9, 1 };
	static struct subject_backend reference = { "reference", 1, MOST_STEPS,
						    1e9, 0 };
	const int light = tests_are_light();
	const struct CMUnitTest tests[] = {
		{ "cpu: losses are those of PyTorch",
		  test_if(!light, losses_are_those_of_pytorch), NULL, NULL,
		  &cpu },
		{ "openblas: losses are those of PyTorch",
		  test_if(!light, losses_are_those_of_pytorch), NULL, NULL,
		  &openblas },
		{ "reference: losses are those of PyTorch",
		  test_if(!light, losses_are_those_of_pytorch), NULL, NULL,
		  &reference },
		{ "opencl: losses are those of PyTorch",
		  test_if(!light && can_have("opencl", 1),
			  losses_are_those_of_pytorch), NULL, NULL, &opencl },
	};

	return cmocka_run_group_tests_name("golden", tests, prepare, NULL);
}
