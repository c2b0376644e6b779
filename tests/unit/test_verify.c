/* What bench verify finds in backends that are right, wrong, lack something or
 * are interrupted. */
#include "bench/verify/verify.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/system/interrupt.h"
#include "bench/verify/verify_task.h"
#include "tests/unit/own.h"

/* Many norms of few values in a row amplify rounding. */
#define NORMED(number)                                                   \
	{ .kind = LAYER_CONV, .name = "conv" number, .outputs = 7,       \
	  .window = 1, .no_bias = 1 },                                   \
	{ .kind = LAYER_BATCHNORM, .name = "norm" number },              \
	{ .kind = LAYER_RELU }
#define EIGHT_NORMED(number)                                             \
	NORMED(number "1"), NORMED(number "2"), NORMED(number "3"),      \
	NORMED(number "4"), NORMED(number "5"), NORMED(number "6"),      \
	NORMED(number "7"), NORMED(number "8")
static const struct layer norms[] = {
	{ .kind = LAYER_CONV, .name = "conv", .outputs = 7, .window = 28,
	  .no_bias = 1 },
	EIGHT_NORMED("1"), EIGHT_NORMED("2"), EIGHT_NORMED("3"),
	{ .kind = LAYER_LINEAR, .name = "fc", .outputs = 10 },
	{ .kind = LAYER_LOSS },
};

/* Nothing linear comes before the loss. */
static const struct layer all_convs[] = {
	{ .kind = LAYER_CONV, .name = "conv", .outputs = 4, .window = 14 },
	{ .kind = LAYER_RELU },
	{ .kind = LAYER_CONV, .name = "last", .outputs = 10, .window = 15 },
	{ .kind = LAYER_LOSS },
};

const struct model own_models[] = {
	MODEL("all-convs", all_convs, RECIPE),
	MODEL("norms", norms, { .batch = 6, .epochs = 1, .lr = .01,
				.optimizer = OPTIMIZER_SGD, .lr_step = 1,
				.lr_gamma = .7 }),
	{ .name = NULL },
};

/* After the backends that lack something come three copies of openblas: one is
 * right for few samples only, one holds the data set, and while one computes, a
 * signal comes. A copy of cpu bends outputs, as the first one does. */
enum { FEW = LACKING_BACKENDS, UPLOADS, STOPS, BENDS, OWN_BACKENDS };
struct backend own_backends[OWN_BACKENDS + 1];

const struct backend *__real_backend_next(const struct backend *previous);
const struct backend *__wrap_backend_next(const struct backend *previous);

/* Ours first, but for two that must be asked for by name. */
const struct backend *__wrap_backend_next(const struct backend *previous)
{
	const struct backend *end = own_backends + STOPS;

	if (!previous)
		return own_backends;
	if (previous >= own_backends && previous < end)
		return previous + 1 < end ? previous + 1 :
					    __real_backend_next(NULL);
	return __real_backend_next(previous);
}

#define MOST_RIGHT 16

static int stops_is_wrong, shares_are_wrong;
static double off_by; /* the first entry, by this share of the largest */

static int few_open(const struct device_request *request,
		    struct device **device, struct error *err)
{
	if (__real_backend_find("openblas")->open(request, device, err))
		return -1;
	(*device)->backend = &own_backends[FEW];
	return 0;
}

/* In double, so that it is off by as much on every machine. */
static int few_compile(struct device *device, const struct model *model,
		       const struct program_options *options,
		       struct program **program, struct error *err)
{
	struct program_options own = *options;

	if (off_by > 0)
		own.precision = PRECISION_FP64;
	return __real_backend_find("openblas")->compile(device, model, &own,
							program, err);
}

static int few_gradient(struct program *program, const struct batch *batch,
			const struct update *update, struct error *err)
{
	const struct backend *right = __real_backend_find("openblas");
	struct tensor tensors[MODEL_MAX_TENSORS];
	float *gradient;

	if (right->gradient(program, batch, update, err))
		return -1;
	gradient = right->map(program, VECTOR_GRADIENT, err);
	if (!gradient)
		return -1;
	if (batch->count > (stops_is_wrong ? 0 : MOST_RIGHT) ||
	    (shares_are_wrong && batch->stride > 1))
		gradient[0] *= 1.5f;
	model_tensors(program->model, tensors);
	gradient[0] += (float)(off_by *
			       verify_largest(gradient, tensors[0].count));
	return right->unmap(program, VECTOR_GRADIENT, err);
}

/* An output of the last sample, by this share of the largest. */
static double outputs_off_by;

static void bend(const struct program *program, const struct batch *batch)
{
	const int count = batch->count * model_classes(program->model);

	if (batch->outputs)
		batch->outputs[count - 1] += (float)(
			outputs_off_by *
			verify_largest(batch->outputs, (size_t)count));
}

static int bends_open(const struct device_request *request,
		      struct device **device, struct error *err)
{
	if (__real_backend_find("cpu")->open(request, device, err))
		return -1;
	(*device)->backend = &own_backends[BENDS];
	return 0;
}

static int bends_evaluate(struct program *program, const struct batch *batch,
			  struct score *score, struct error *err)
{
	if (__real_backend_find("cpu")->evaluate(program, batch, score, err))
		return -1;
	bend(program, batch);
	return 0;
}

static int few_evaluate(struct program *program, const struct batch *batch,
			struct score *score, struct error *err)
{
	if (__real_backend_find("openblas")->evaluate(program, batch, score,
						      err))
		return -1;
	bend(program, batch);
	if (batch->count > MOST_RIGHT)
		score->loss *= 1.001;
	return 0;
}

#define BEFORE_SIGNAL 3 /* gradients of 16 samples: steps in lockstep */

static int stops_gradients;

static int stops_open(const struct device_request *request,
		      struct device **device, struct error *err)
{
	if (__real_backend_find("openblas")->open(request, device, err))
		return -1;
	(*device)->backend = &own_backends[STOPS];
	return 0;
}

static int stops_gradient(struct program *program, const struct batch *batch,
			  const struct update *update, struct error *err)
{
	const struct backend *right = __real_backend_find("openblas");

	if (batch->count == 16 && ++stops_gradients == BEFORE_SIGNAL)
		interrupt_adopt(SIGTERM);
	return stops_is_wrong ?
		       few_gradient(program, batch, update, err) :
		       right->gradient(program, batch, update, err);
}

static int stops_evaluate(struct program *program, const struct batch *batch,
			  struct score *score, struct error *err)
{
	if (program->options.infers)
		interrupt_adopt(SIGTERM);
	return __real_backend_find("openblas")->evaluate(program, batch, score,
							 err);
}

#define MOST_RESIDENT 70
#define EACH (28 * 28)

enum { TRAIN, TEST, SETS };
static struct {
	float images[MOST_RESIDENT][EACH];
	uint16_t labels[MOST_RESIDENT];
} resident[SETS], gathered;
static int resident_order[MOST_RESIDENT];
static int wrong_set = SETS; /* the set whose next sample is gathered */

static int uploads_open(const struct device_request *request,
			struct device **device, struct error *err)
{
	if (__real_backend_find("openblas")->open(request, device, err))
		return -1;
	(*device)->backend = &own_backends[UPLOADS];
	return 0;
}

static int uploads_upload_data(struct program *program,
			       const struct resident_data *data,
			       struct error *err)
{
	const struct resident_set *sets[SETS];

	(void)program;
	(void)err;
	if (!data)
		return 0;
	sets[TRAIN] = &data->train;
	sets[TEST] = &data->test;
	for (int s = 0; s < SETS; s++) {
		assert_true(sets[s]->count <= MOST_RESIDENT);
		memcpy(resident[s].labels, sets[s]->labels,
		       (size_t)sets[s]->count * sizeof(*sets[s]->labels));
		for (int i = 0; i < sets[s]->count * EACH; i++)
			resident[s].images[i / EACH][i % EACH] =
				data->pixels[sets[s]->images[i]];
	}
	return 0;
}

static int uploads_reorder(struct program *program, const int *order, int count,
			   struct error *err)
{
	(void)program;
	(void)err;
	memcpy(resident_order, order, (size_t)count * sizeof(*order));
	return 0;
}

static struct batch gather(const struct batch *batch, int set)
{
	struct batch own = *batch;

	if (batch->images)
		return own;
	for (int i = 0; i < batch->count; i++) {
		const int at = batch->at + batch->place + batch->stride * i +
			       (set == wrong_set);
		const int sample = set == TRAIN ? resident_order[at] : at;

		memcpy(gathered.images[i], resident[set].images[sample],
		       sizeof(gathered.images[i]));
		gathered.labels[i] = resident[set].labels[sample];
	}
	own.images = gathered.images[0];
	own.labels = gathered.labels;
	return own;
}

static int uploads_gradient(struct program *program, const struct batch *batch,
			    const struct update *update, struct error *err)
{
	const struct batch own = gather(batch, TRAIN);

	return __real_backend_find("openblas")->gradient(program, &own, update,
							 err);
}

static int uploads_evaluate(struct program *program, const struct batch *batch,
			    struct score *score, struct error *err)
{
	const struct batch own = gather(batch, TEST);

	return __real_backend_find("openblas")->evaluate(program, &own, score,
							 err);
}

static int set_up(void **state)
{
	(void)state;
	add_lacking_backends();
	for (int b = FEW; b < BENDS; b++)
		own_backends[b] = *__real_backend_find("openblas");
	own_backends[BENDS] = *__real_backend_find("cpu");
	own_backends[BENDS].name = "bends";
	own_backends[BENDS].open = bends_open;
	own_backends[BENDS].evaluate = bends_evaluate;
	own_backends[FEW].name = "few";
	own_backends[FEW].open = few_open;
	own_backends[FEW].compile = few_compile;
	own_backends[FEW].gradient = few_gradient;
	own_backends[FEW].evaluate = few_evaluate;
	own_backends[STOPS].name = "stops";
	own_backends[STOPS].open = stops_open;
	own_backends[STOPS].gradient = stops_gradient;
	own_backends[STOPS].evaluate = stops_evaluate;
	own_backends[UPLOADS].name = "holds";
	own_backends[UPLOADS].open = uploads_open;
	own_backends[UPLOADS].upload_data = uploads_upload_data;
	own_backends[UPLOADS].order = uploads_reorder;
	own_backends[UPLOADS].gradient = uploads_gradient;
	own_backends[UPLOADS].evaluate = uploads_evaluate;
	return 0;
}

/* What the steps in lockstep do not have. */
static void verify_takes_what_is_measured(void **state)
{
	struct said said = say("verify few -m tiny --steps 2 --test-batch 16 "
			       "-b 8");

	(void)state;
	assert_int_equal(said.code, 0);
	free(said.out);
	said = say("verify few -m tiny --steps 2 -b 32");
	assert_int_equal(said.code, 1);
	assert_says(said.out, "2 steps of 16 samples");
	assert_says(said.out, "one of 32, and a test of 40;");
	assert_says(said.out, "WRONG: few: the gradient of conv1.weight (32 "
			      "samples) is off by");
	assert_says(said.out, "WRONG: few: the test loss is off by 1.0e-03");
	assert_null(strstr(said.out, "(16 samples) is off"));
	free(said.out);
}

/* As say(), with what few computes off by so much. */
static struct said say_off_by(double share, const char *line)
{
	struct said said;

	off_by = share;
	said = say(line);
	off_by = 0;
	return said;
}

/* Twice, so that the reference has to be left as a step expects it. */
static void verify_explains_rounding(void **state)
{
	static const char line[] = "verify few -m norms --steps 2 -b 6 "
				   "--test-batch 16";
	struct said said = say_off_by(1.5e-4, line);

	(void)state;
	assert_says(said.out, "conv.weight        1.5e-04~\n");
	assert_says(said.out, "~ over the bound, and explained by rounding");
	assert_null(strstr(said.out, "WRONG"));
	assert_int_equal(said.code, 0);
	free(said.out);
}

/* Of forward passes, too. */
static void verify_takes_losses_that_are_measured(void **state)
{
	struct said said = say("verify few -m tiny --infer -b 8");

	(void)state;
	assert_int_equal(said.code, 0);
	free(said.out);
	said = say("verify few -m tiny --infer -b 32");
	assert_int_equal(said.code, 1);
	assert_says(said.out, "WRONG: few: the loss is off by 1.5e-03, more "
			      "than 1e-05");
	assert_null(strstr(said.out, "an output"));
	free(said.out);
}

/* All samples count, not their sum, in all precisions. Numbers of bf16 are
 * 8e-3 apart. */
static void verify_finds_one_wrong_output(void **state)
{
	static const struct {
		const char *line;
		double off_by;
	} cases[] = {
		{ "few -m tiny --steps 1 -b 6 --test-batch 16", 1e-2 },
		{ "few -m tiny --infer -b 6", 1e-2 },
		{ "few -m tiny --infer -b 16 --precision fp16", 1e-2 },
		{ "few -m tiny --infer -b 16 --precision bf16-storage", 3e-2 },
		{ "bends -m tiny --infer -b 16", 1e-2 },
		{ "bends -m tiny --infer -b 16 --precision fp16", 1e-2 },
		{ "bends -m tiny --infer -b 16 --precision bf16-storage",
		  3e-2 },
		{ "bends -m tiny --infer -b 16 --precision bf16", 1e-2 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		char line[128];
		struct said said;

		snprintf(line, sizeof(line), "verify %s", cases[i].line);
		said = say(line);
		if (said.code == ERROR_MISSING) {
			print_message("%s: %s\n", line, said.error);
			free(said.out);
			continue;
		}
		if (said.code)
			fail_msg("%s: %s%s", line, said.out, said.error);
		free(said.out);
		outputs_off_by = cases[i].off_by;
		said = say(line);
		outputs_off_by = 0;
		if (said.code != 1)
			fail_msg("%s: %s", line, said.out);
		assert_says(said.out, strstr(line, "--infer") ?
			    ": an output of a sample is off by " :
			    ": an output of the test is off by ");
		free(said.out);
	}
}

static void verify_finds_wrong_sums(void **state)
{
	struct said said;

	(void)state;
	shares_are_wrong = 1;
	said = say("verify few -m tiny --steps 2 -b 4 --test-batch 16");
	shares_are_wrong = 0;
	assert_int_equal(said.code, 1);
	assert_null(strstr(said.out, "samples) is off by"));
	assert_says(said.out, "WRONG: few: the sum over cores is off by");
	free(said.out);
}

static void verify_explains_no_more(void **state)
{
	static const char line[] = "verify few -m norms --steps 2 -b 6 "
				   "--test-batch 16";
	struct said said = say_off_by(2e-3, line);

	(void)state;
	assert_int_equal(said.code, 1);
	assert_says(said.out, "WRONG: few: the gradient of conv.weight (6 "
			      "samples) is off by 2.0e-03, more than 1e-03");
	free(said.out);
	/* Where nothing amplifies. */
	said = say_off_by(1.5e-4, "verify few -m tiny --steps 1 -b 6 "
				  "--test-batch 16");
	assert_int_equal(said.code, 1);
	assert_says(said.out, "WRONG: few: the gradient of conv1.weight (6 "
			      "samples) is off by 1.5e-04, more than 1e-05");
	free(said.out);
}

/* The value that is worse relative to its bound is kept, not the larger. */
static void verify_holds_pairs(void **state)
{
	struct verify_held worst = { 0 };

	(void)state;
	verify_hold(&worst, 5e-5, 1e-5);
	verify_hold(&worst, 9e-5, 1e-4);
	assert_true(worst.error == 5e-5 && worst.bound == 1e-5);
	verify_hold(&worst, NAN, 1);
	verify_hold(&worst, 1, 1e-9);
	assert_true(isnan(worst.error));
}

static void verify_takes_what_a_program_holds(void **state)
{
	static const char line[] = "verify holds -m tiny --steps 2 "
				   "--test-batch 16 -b 8";
	struct said said = say(line);

	(void)state;
	assert_int_equal(said.code, 0);
	free(said.out);
	wrong_set = TRAIN;
	said = say(line);
	assert_int_equal(said.code, 1);
	assert_says(said.out, "WRONG: holds: conv1.weight (8 "
			      "samples) is off by");
	assert_null(strstr(said.out, "the gradient of"));
	free(said.out);
	wrong_set = TEST;
	said = say(line);
	assert_int_equal(said.code, 1);
	assert_says(said.out, "WRONG: holds: the test loss is off by");
	assert_null(strstr(said.out, "samples) is off"));
	free(said.out);
	wrong_set = SETS;
}

static void verify_goes_on_past_who_cannot(void **state)
{
	struct said said = say("verify -m all-convs --steps 1 -b 8 "
			       "--test-batch 16");

	(void)state;
	assert_int_equal(said.code, 0);
	assert_says(said.out, "openblas: masks equal");
	assert_says(said.out, "copy skipped: it lacks the slot 'decisions'");
	assert_says(said.out, "torn skipped: it lacks the slot 'update'");
	assert_says(said.out, "verify: all right; without: copy, torn");
	free(said.out);
	/* Asked for by name, it is missed; the others are compared first. */
	said = say("verify copy openblas -m all-convs --steps 1");
	assert_int_equal(said.code, ERROR_MISSING);
	assert_says(said.out, "openblas: masks equal");
	assert_says(said.out, "verify: all right; without: copy");
	assert_says(said.error, "copy: it lacks the slot 'decisions'");
	free(said.out);
	/* One that is wrong is worse. */
	setenv("BENCH_TEST_BREAK", "last", 1);
	said = say("verify copy openblas -m all-convs --steps 1");
	unsetenv("BENCH_TEST_BREAK");
	assert_int_equal(said.code, 1);
	assert_says(said.out, "WRONG: openblas: the gradient of last.weight");
	assert_says(said.out, "verify: FAILED; without: copy");
	free(said.out);
}

/* The bounds of forward passes are known at the end, after this signal. */
static void verify_stops_amid_forward_passes(void **state)
{
	int status;
	const pid_t pid = fork();

	(void)state;
	if (!pid) {
		const struct said said = say("verify stops -m tiny --infer "
					     "-b 16");

		fputs(said.out, stderr);
		_exit(said.code);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, (128 + SIGTERM) << 8);
}

/* The last of these tests: a signal that came is there for good. */
static void verify_stops_at_a_signal(void **state)
{
	static const char line[] = "verify openblas stops cpu -m tiny -b 32 "
				   "--steps 5";
	struct said said;
	int status;
	const pid_t pid = fork();

	(void)state;
	/* What is wrong stays wrong. */
	if (!pid) {
		stops_is_wrong = 1;
		said = say(line);
		assert_says(said.out, "verify: FAILED; without: stops, cpu");
		_exit(said.code);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 1 << 8);
	said = say(line);
	assert_int_equal(said.code, 128 + SIGTERM);
	assert_says(said.out, "openblas: masks equal");
	assert_says(said.out, "stops not verified: interrupted before step 4 "
			      "of 5 of 16 samples");
	assert_says(said.out, "cpu not verified: interrupted before it began");
	assert_says(said.out, "verify: interrupted, all right so far; without: "
			      "stops, cpu");
	free(said.out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(verify_takes_what_is_measured),
		cmocka_unit_test(verify_explains_rounding),
		cmocka_unit_test(verify_takes_losses_that_are_measured),
		cmocka_unit_test(verify_finds_one_wrong_output),
		cmocka_unit_test(verify_finds_wrong_sums),
		cmocka_unit_test(verify_explains_no_more),
		cmocka_unit_test(verify_holds_pairs),
		cmocka_unit_test(verify_takes_what_a_program_holds),
		cmocka_unit_test(verify_goes_on_past_who_cannot),
		cmocka_unit_test(verify_stops_amid_forward_passes),
		cmocka_unit_test(verify_stops_at_a_signal),
	};

	return cmocka_run_group_tests_name("verify", tests, set_up, NULL);
}
