/*
 * What each way to leave work out gains: iterations of a network on one core,
 * from every multiplication of its definition to what `bench` does.
 *
 *   build/tests/ladder [--model NAME] [--turns N] [--steps N] [--batch N]
 *                      [--dataset NAME] [--data-dir DIR]
 *
 *   dense   as `--algorithm dense`
 *   fast    for MNIST's networks, convolutions by the kernels of stem.h and
 *           linear layers by the kernels of linear.h; for other networks,
 *           convolutions by Winograd; then the update
 *   fused   linear layers with their update at once: `--algorithm fast`
 *
 * Networks for images of another shape get normal noise, which costs as much.
 *
 * Rungs come in turns; of each turn the first step, which finds the others'
 * memory in the caches, does not count. The learning rate is 0, so that all
 * rungs compute equal steps, which is checked. The output is CSV, which
 * tests/peers/ladder shows as a table.
 */
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backends/cpu/isa.h"
#include "bench/data/dataset.h"
#include "bench/statistics/stats.h"
#include "bench/train/peaks.h"
#include "bench/system/clock.h"
#include "bench/system/number.h"
#include "models/random.h"

#define RUNGS 3
#define MOST_TIMES 1000
#define SEED 1
#define NEAR 1e-5     /* of losses */
#define NEAR_GRADIENT 2e-2 /* rounding may choose another winner */
#define NEAR_COSINE 2e-3 /* to 1, where norms make more of that */

struct rung {
	const char *name;
	enum algorithm algorithm;
	int at_once; /* the gradient and its update */
};

static const struct rung rungs[RUNGS] = {
	{ "dense", ALGORITHM_DENSE, 1 },
	{ "fast", ALGORITHM_FAST, 0 },
	{ "fused", ALGORITHM_FAST, 1 },
};

/* One program on its rung. */
struct climber {
	const struct rung *rung;
	struct program *program;
	double times[MOST_TIMES];
	double dense, done; /* multiply-adds */
	double loss, error; /* the largest of a gradient's, against dense */
	float *gradient;
};

struct settings {
	const struct model *model;
	long turns, steps, batch;
	struct dataset_request data;
};

static void *take_memory(size_t floats)
{
	void *memory = calloc(floats, sizeof(float));

	if (!memory) {
		fprintf(stderr, "ladder: no memory\n");
		exit(ERROR_FAILED);
	}
	return memory;
}

static int start(struct climber *climber, struct error *err)
{
	const size_t count = climber->program->parameters;
	const int states = recipe_states(&climber->program->model->recipe);
	float *values = take_memory(count);
	int failed = 0;

	climber->gradient = take_memory(count);
	for (int i = 0; !failed && i < states; i++)
		failed = program_store(climber->program,
				       i ? VECTOR_STATE_1 : VECTOR_STATE_0,
				       values, err);
	model_init(climber->program->model, SEED, values);
	failed = failed || program_store(climber->program, VECTOR_PARAMETERS,
					 values, err);
	free(values);
	return failed;
}

static int climb(struct climber *climber, const struct rung *rung,
		 struct device *device, const struct settings *settings,
		 struct error *err)
{
	const struct program_options options = { .batch = (int)settings->batch,
						 .test_batch = 1,
						 .seed = SEED,
						 .dropout = 1,
						 .algorithm = rung->algorithm };

	climber->rung = rung;
	return program_compile(device, settings->model, &options,
			       &climber->program, err) ||
	       start(climber, err);
}

/* A step. */
static int train(struct climber *climber, const struct batch *batch,
		 struct error *err)
{
	const struct update update = recipe_update(
		&climber->program->model->recipe, 0, batch->step);

	if (climber->rung->at_once)
		return program_train(climber->program, batch, &update, err);
	return program_gradient(climber->program, batch, err) ||
	       program_update(climber->program, &update, err);
}

/* Each step has its own masks, equal for all rungs. */
static int make_step(struct climber *climber, struct batch *batch, long step,
		     double *elapsed_s, struct error *err)
{
	double began_s;
	struct score score;

	batch->step = (uint32_t)step;
	began_s = clock_now();
	if (train(climber, batch, err) ||
	    program_finish(climber->program, &score, err))
		return -1;
	*elapsed_s = clock_now() - began_s;
	climber->loss = score.loss;
	return 0;
}

/* Of the last step. */
static void count_work(struct climber *climber)
{
	struct profile_part parts[PROFILE_MOST_PARTS];
	const int count = program_profile(climber->program, parts);

	climber->dense = 0;
	climber->done = 0;
	for (int p = 0; p < count; p++) {
		climber->dense += parts[p].dense;
		climber->done += parts[p].done;
	}
}

/* Largest difference of a tensor's entries over the largest of right's. */
static double gradient_error(const struct model *model, const float *tried,
			     const float *right)
{
	struct tensor tensors[MODEL_MAX_TENSORS];
	const int count = model_tensors(model, tensors);
	double worst = 0;

	for (int t = 0; t < count; t++) {
		double most = 0, scale = 0;

		for (size_t i = 0; i < tensors[t].count; i++) {
			const size_t at = tensors[t].offset + i;

			most = fmax(most, fabs((double)tried[at] - right[at]));
			scale = fmax(scale, fabs((double)right[at]));
		}
		worst = fmax(worst, most / scale);
	}
	return worst;
}

static int has_norms(const struct model *model)
{
	for (int i = 0; i < model->layer_count; i++)
		if (model->layers[i].kind == LAYER_BATCHNORM)
			return 1;
	return 0;
}

/* Of two gradients: 1 - their cosine. */
static double apart(size_t count, const float *tried, const float *right)
{
	double product = 0, of_tried = 0, of_right = 0;

	for (size_t i = 0; i < count; i++) {
		product += (double)tried[i] * (double)right[i];
		of_tried += (double)tried[i] * (double)tried[i];
		of_right += (double)right[i] * (double)right[i];
	}
	return 1 - product / sqrt(of_tried * of_right);
}

static int is_near(const struct climber *climber, const struct climber *dense)
{
	const struct model *model = climber->program->model;

	if (!(fabs(climber->loss / dense->loss - 1) <= NEAR))
		return 0;
	return has_norms(model) ?
		       apart(climber->program->parameters, climber->gradient,
			     dense->gradient) <= NEAR_COSINE :
		       climber->error <= NEAR_GRADIENT;
}

/* Checks that all rungs agree, except where rounding decides otherwise. */
static int check(struct climber *climbers, struct batch *batch,
		 struct error *err)
{
	for (int r = 0; r < RUNGS; r++) {
		struct climber *climber = &climbers[r];
		double ignored;

		if (make_step(climber, batch, 0, &ignored, err))
			return -1;
		count_work(climber);
		batch->step = 1;
		if (program_gradient(climber->program, batch, err) ||
		    program_load(climber->program, VECTOR_GRADIENT,
				 climber->gradient, err))
			return -1;
		climber->error = gradient_error(climber->program->model,
						climber->gradient,
						climbers->gradient);
		if (!is_near(climber, climbers))
			return error_set(err, ERROR_FAILED,
					 "%s: a loss of %g, not %g, and "
					 "gradients off by %.1e",
					 climber->rung->name, climber->loss,
					 climbers->loss,
					 climber->error);
	}
	return 0;
}

static int take_turns(const struct settings *settings,
		      struct climber *climbers, struct batch *batch,
		      struct error *err)
{
	for (long turn = 0; turn < settings->turns; turn++)
		for (int r = 0; r < RUNGS; r++)
			for (long s = 0; s <= settings->steps; s++) {
				const long at = turn * settings->steps +
						(s ? s - 1 : 0);

				/* The time of step 0 is overwritten. */
				if (make_step(&climbers[r], batch,
					      turn * (settings->steps + 1) + s,
					      &climbers[r].times[at], err))
					return -1;
			}
	return 0;
}

static void print_rows(const struct settings *settings,
		       struct climber *climbers, const char *isa)
{
	const struct peak *peak = backend_fp32_peak(backend_find("cpu"));
	const double best = peak_measure(peak, NULL, 0, .2).best;

	printf("rung,isa,samples,steps,elapsed_s,best_s,dense_flop,done_flop,"
	       "peak_gflops,gradient_error\n");
	for (int r = 0; r < RUNGS; r++) {
		struct climber *climber = &climbers[r];
		const struct stats times = stats_compute(
			climber->times,
			(size_t)(settings->turns * settings->steps));

		printf("%s,%s,%ld,%ld,%.9g,%.9g,%.9g,%.9g,%.9g,%.2e\n",
		       climber->rung->name, isa, settings->batch,
		       settings->turns * settings->steps, times.median,
		       times.min, 2 * climber->dense, 2 * climber->done,
		       best * 1e-9, climber->error);
	}
}

/* The first images of the data set. */
static int read_images(const struct settings *settings, float *images,
		       uint16_t *labels, struct error *err)
{
	const size_t size = shape_size(settings->model->input) *
			    (size_t)settings->batch;
	struct dataset dataset;

	if (dataset_load(&dataset, &settings->data, err))
		return -1;
	for (size_t i = 0; i < size; i++)
		images[i] = model_pixel(settings->model, 0,
					dataset.train.images[i]);
	memcpy(labels, dataset.train.labels,
	       (size_t)settings->batch * sizeof(*labels));
	dataset_release(&dataset);
	return 0;
}

static void draw_images(const struct settings *settings, float *images,
			uint16_t *labels, float *targets)
{
	const struct model *model = settings->model;
	const int classes = model_classes(model);
	struct mt19937 generator;

	mt19937_seed(&generator, SEED);
	mt19937_normal(&generator, shape_size(model->input) *
					   (size_t)settings->batch, 1, images);
	for (long i = 0; i < settings->batch; i++)
		labels[i] = (uint16_t)(i % classes);
	for (long i = 0; i < settings->batch * classes; i++)
		targets[i] = (float)(i % 3 == 0);
}

static int make_batch(const struct settings *settings, struct batch *batch,
		      struct error *err)
{
	const size_t count = (size_t)settings->batch;
	const struct shape shape = settings->model->input;
	float *images = take_memory(shape_size(shape) * count);
	float *targets = take_memory((size_t)model_classes(settings->model) *
				     count);
	uint16_t *labels = take_memory(count);

	*batch = (struct batch){ .images = images,
				 .labels = labels,
				 .targets = targets,
				 .count = (int)count,
				 .global_count = (int)count,
				 .stride = 1 };
	if (shape.channels == 1)
		return read_images(settings, images, labels, err);
	draw_images(settings, images, labels, targets);
	return 0;
}

static int run(const struct settings *settings, struct error *err)
{
	const struct device_request request = { .threads = 1, .cpus = 1 };
	struct climber climbers[RUNGS] = { 0 };
	struct batch batch = { 0 };
	struct device *device = NULL;
	int failed = make_batch(settings, &batch, err) ||
		     device_open(backend_find("cpu"), &request, &device, err);

	for (int r = 0; !failed && r < RUNGS; r++)
		failed = climb(&climbers[r], &rungs[r], device, settings, err);
	failed = failed || check(climbers, &batch, err) ||
		 take_turns(settings, climbers, &batch, err);
	if (!failed)
		print_rows(settings, climbers,
			   cpu_choose_kernels(err)->name);
	for (int r = 0; r < RUNGS; r++) {
		program_free(climbers[r].program);
		free(climbers[r].gradient);
	}
	device_close(device);
	free((void *)batch.images);
	free((void *)batch.labels);
	free((void *)batch.targets);
	return failed;
}

static int parse(struct settings *settings, int argc, char **argv)
{
	enum { TURNS, STEPS, BATCH, DATASET, DATA_DIR, MODEL };
	static const struct option options[] = {
		{ "turns", required_argument, NULL, TURNS },
		{ "steps", required_argument, NULL, STEPS },
		{ "batch", required_argument, NULL, BATCH },
		{ "dataset", required_argument, NULL, DATASET },
		{ "data-dir", required_argument, NULL, DATA_DIR },
		{ "model", required_argument, NULL, MODEL },
		{ 0 },
	};
	long *const numbers[] = { &settings->turns, &settings->steps,
				  &settings->batch };
	int option, failed = 0;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1)
		if (option == DATASET)
			settings->data.name = optarg;
		else if (option == DATA_DIR)
			settings->data.dir = optarg;
		else if (option == MODEL)
			settings->model = model_find(optarg);
		else if (option == '?' ||
			 number_parse_int(optarg, numbers[option]) ||
			 *numbers[option] < 1 ||
			 *numbers[option] > MOST_TIMES)
			failed = 1;
	return failed || !settings->model || optind != argc ||
	       settings->turns * settings->steps > MOST_TIMES;
}

/* Sets the variable that BLAS reads when it starts, as the command does. */
static void start_again(char **argv)
{
	const char *variable = backend_variable(backend_find("cpu"));

	if (variable && !putenv((char *)variable))
		execv("/proc/self/exe", argv);
}

int main(int argc, char **argv)
{
	struct settings settings = { .model = model_find("mnist"),
				     .turns = 9, .steps = 3, .batch = 128,
				     .data = { .name = "auto" } };
	struct error err;

	start_again(argv);
	if (parse(&settings, argc, argv)) {
		fprintf(stderr,
			"ladder [--model NAME] [--turns N] [--steps N] "
			"[--batch N] [--dataset NAME] [--data-dir DIR]\n");
		return ERROR_USAGE;
	}
	if (!run(&settings, &err))
		return 0;
	fprintf(stderr, "ladder: %s\n", err.message);
	return (int)err.kind;
}
