/* Shortens plans to seconds or minutes on every network. */
#include <math.h>

#include "bench/options/option_table.h"
#include "bench/plan/plan.h"

/* A process of a comparison: multiplications of its iterations and warm-up.
 * Networks with less work per sample, as on MNIST, are not shortened. */
#define GATE_WORK 1e11
#define GATE_SMALL 1e8
#define GATE_STEPS 7
#define GATE_WARMUP 2
#define GATE_LEAST_SIDE 32
#define GATE_LEAST_BATCH 2 /* per core: batch norm needs 2 */

/* --quick: multiplications of the iterations, and of the test. */
#define QUICK_WORK .4e12
#define QUICK_TEST_WORK .2e12
#define QUICK_STEPS 40
#define QUICK_LEAST_STEPS 4 /* for which batches become smaller */
#define QUICK_LEAST_PASSES 10
#define QUICK_TEST 10000 /* images of a test that need not be cut */

/* Multiplications of a training sample. */
static double sample_work(const struct model *model)
{
	const struct model_work work = model_work(model);

	return work.forward + work.backward_data + work.backward_weights;
}

/* --target-accuracy brings one, too. */
static int is_batch_given(const struct options *options)
{
	return options->batch != OPTION_UNSET ||
	       options->global_batch != OPTION_UNSET;
}

/* Returns the largest of size, size / 2, ... with size * count <= room, but at
 * least least. */
static long fit_size(long size, long count, double room, long least)
{
	while (size / 2 >= least && (double)(size * count) > room)
		size /= 2;
	return size;
}

static void plan_quick_inference(struct options *options,
				 const struct training *training, double room)
{
	const long cores = training->cores;
	long batch = training->global_samples / cores;

	if (!is_batch_given(options)) {
		batch = fit_size(training->global_samples, QUICK_LEAST_PASSES,
				 room, cores) / cores;
		options->batch = batch;
	}
	if (options->count == OPTION_UNSET)
		options->count = (long)fmax(QUICK_LEAST_PASSES,
			fmin(QUICK_STEPS, room / (double)(batch * cores)));
}

void plan_quick(struct options *options, const struct training *training)
{
	const double room = QUICK_WORK / sample_work(&training->model);
	const double test_room =
		QUICK_TEST_WORK / model_work(&training->model).forward;
	const int cores = training->cores;
	long batch = training->global_samples;
	long test_batch = training->test_batch;
	double warmups;

	if (training->infers) {
		plan_quick_inference(options, training, test_room);
		return;
	}
	if (!is_batch_given(options)) /* batch norm needs 2 samples */
		batch = fit_size(batch, QUICK_LEAST_STEPS, room, 2 * cores);
	if (batch < training->global_samples)
		batch = batch / cores * cores;
	if (options->test_batch == OPTION_UNSET)
		test_batch = fit_size(test_batch, 1, test_room, cores);
	warmups = room / 4 / (double)batch;
	if (options->steps == OPTION_UNSET)
		options->steps = (long)fmax(QUICK_LEAST_STEPS,
					    fmin(QUICK_STEPS,
						 room / (double)batch));
	if (!option_is_given(options, option_find("warmup")) &&
	    options->warmup > warmups)
		options->warmup = (long)fmax(1, warmups);
	if (batch < training->global_samples) {
		options->global_batch = batch;
		options->batch = OPTION_UNSET;
	}
	if (test_batch < training->test_batch)
		options->test_batch = test_batch;
	if (test_batch && options->test_steps == OPTION_UNSET &&
	    test_room < QUICK_TEST)
		options->test_steps =
			(long)fmax(1, test_room / (double)test_batch);
}

/* Halves the sides of images, if the model allows it. */
static int halve_images(struct model *model)
{
	struct model smaller = *model;
	char ignored[256];

	smaller.input.height /= 2;
	smaller.input.width /= 2;
	if (smaller.input.height < GATE_LEAST_SIDE ||
	    model_check(&smaller, ignored, sizeof(ignored)))
		return -1;
	*model = smaller;
	return 0;
}

static int is_much(long batch, const struct model *model)
{
	return (double)batch * GATE_STEPS * sample_work(model) > GATE_WORK;
}

void plan_gate(struct options *options, const struct training *training,
	       int most_cores)
{
	struct model model = training->model;
	long batch = training->global_samples / training->cores;

	if (sample_work(&model) < GATE_SMALL)
		return;
	if (!is_batch_given(options) && batch > GATE_LEAST_BATCH &&
	    is_much(batch * most_cores, &model)) {
		if (!training->infers &&
		    !option_is_given(options, option_find("lr")))
			options->lr = model.recipe.lr * GATE_LEAST_BATCH /
				      model.recipe.batch;
		batch = GATE_LEAST_BATCH;
		options->batch = batch;
	}
	while (options->image_size == OPTION_UNSET &&
	       is_much(batch * most_cores, &model))
		if (halve_images(&model))
			break;
	if (model.input.height < training->model.input.height)
		options->image_size = model.input.height;
	if (!option_is_given(options, option_find("warmup")) &&
	    options->warmup > GATE_WARMUP)
		options->warmup = GATE_WARMUP;
}
