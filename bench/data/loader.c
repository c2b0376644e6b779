#include "bench/data/loader.h"

#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "backends/parallel/replica.h"
#include "bench/data/transform.h"
#include "bench/system/clock.h"
#include "models/random.h"

#define DEPTH 5 /* 4 ready, as in PyTorch/XLA's ParallelLoader, and 1 lent */

struct slot {
	float *images;
	uint16_t *labels;
	float *targets; /* where the model has no classes */
	struct batch batch;
	double cpu_s; /* of the thread, from its start to this batch */
};

struct loader {
	struct loader_plan plan;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct slot slots[DEPTH];
	long filled, taken; /* batches so far; slot i % DEPTH */
	double taken_cpu_s; /* of the batches that were taken */
	int ended, closing;
	int failed; /* the stream ended early, for this reason: */
	struct error err;
	int *order;
	struct transform *transform;
};

int loader_check_upload(const struct dataset *dataset,
			const struct model *model, int pad, struct error *err)
{
	const char *why = dataset->is_fake ?
				  "the loader makes its only batch" :
			  pad ? "--pad on repeats some of its samples" :
			  dataset->folder ? "its images are read from files "
					    "when they are needed" :
			  dataset->pool.count ? "its images are composed of "
						"others" :
			  shape_size(dataset->shape) !=
					  shape_size(model->input) ?
				  "its images are resized, or "
				  "one channel becomes several" : NULL;

	return why ? error_set(err, ERROR_MISSING, "%s", why) : 0;
}

int loader_upload(struct program *program, const struct dataset *dataset,
		  int pad, struct error *err)
{
	const struct samples *train = &dataset->train, *test = &dataset->test;
	struct resident_data data = {
		.train = { train->images, train->labels, train->count },
		.test = { test->images, test->labels, test->count },
	};
	struct transform *transform;
	const float *table;

	if (loader_check_upload(dataset, program->model, pad, err))
		return -1;
	transform = transform_open(dataset, program->model, err);
	if (!transform)
		return -1;
	table = transform_table(transform);
	if (table)
		memcpy(data.pixels, table, sizeof(data.pixels));
	transform_close(transform);
	if (!table)
		return error_set(err, ERROR_MISSING, "its images are scaled "
				 "per channel before use");
	return program_upload_data(program, &data, err);
}

static int samples_of(const struct loader_plan *plan,
		      const struct samples *samples)
{
	return loader_samples(samples->count, plan->size, plan->pad);
}

int loader_test_batches(const struct loader_plan *plan)
{
	int batches;

	if (!plan->test_batch)
		return 0;
	batches = (samples_of(plan, &plan->dataset->test) +
		   (plan->drop_last ? 0 : plan->test_batch - 1)) /
		  plan->test_batch;
	return plan->test_steps && plan->test_steps < batches ?
		       plan->test_steps : batches;
}

/* Returns the core's share of a global batch of at most most samples, at place
 * at of samples. It has no samples yet. */
static struct batch share(const struct loader_plan *plan, int at, int most,
			  int samples)
{
	const int count = samples - at < most ? samples - at : most;

	return (struct batch){ .at = at,
			       .count = replica_share(plan->rank, plan->size,
						      count),
			       .global_count = count,
			       .place = plan->rank,
			       .stride = plan->size };
}

/* Floats of a sample's target; 0 where it is a label. */
static size_t targets_of(const struct model *model)
{
	return model_has_classes(model) ? 0 : (size_t)model_classes(model);
}

/* Samples, in an order or (NULL) as they are, and what cuts them. */
struct sample_pass {
	const struct samples *samples;
	const int *order;
	const struct crop_key *key; /* NULL: the middle of each */
};

/* The samples of the slot's batch; -1 and the loader's error. */
static int fill(struct loader *loader, struct slot *slot,
		const struct sample_pass *pass)
{
	const struct loader_plan *plan = &loader->plan;
	const size_t size = shape_size(plan->model->input);
	const size_t targets = targets_of(plan->model);
	struct batch *batch = &slot->batch;

	for (int n = 0; n < batch->count; n++) {
		int place = batch->at + batch->place + batch->stride * n;
		int index;

		/* Beyond the last of a padded pass, the first again. */
		place %= pass->samples->count;
		index = pass->order ? pass->order[place] : place;

		if (transform_image(loader->transform, pass->samples, index,
				    pass->key, slot->images + (size_t)n * size,
				    &loader->err))
			return -1;
		dataset_target(plan->dataset, pass->samples, index,
			       &slot->labels[n],
			       slot->targets + (size_t)n * targets);
	}
	batch->images = slot->images;
	batch->labels = slot->labels;
	batch->targets = slot->targets;
	return 0;
}

/* A slot to write to, or NULL when the loader is being closed. */
static struct slot *wait_for_room(struct loader *loader)
{
	struct slot *slot = NULL;

	pthread_mutex_lock(&loader->lock);
	/* The batch that was taken last is still being read. */
	while (loader->filled - loader->taken >= DEPTH - 1 && !loader->closing)
		pthread_cond_wait(&loader->changed, &loader->lock);
	if (!loader->closing)
		slot = &loader->slots[loader->filled % DEPTH];
	pthread_mutex_unlock(&loader->lock);
	return slot;
}

/* A batch more; or the end, if it is none, which may be a failure. */
static void publish(struct loader *loader, int ended, int failed)
{
	pthread_mutex_lock(&loader->lock);
	loader->ended = ended;
	loader->failed = failed;
	loader->filled += !ended;
	pthread_cond_signal(&loader->changed);
	pthread_mutex_unlock(&loader->lock);
}

/* Returns the place of batch b. Inference repeats the full batches. */
static int place_of(const struct loader_plan *plan, int b, int size,
		    const struct samples *samples)
{
	const int whole = samples->count / size;

	return (plan->infers ? b % (whole ? whole : 1) : b) * size;
}

/* Batches of one pass; returns -1 when the loader is being closed, or fails. */
static int load_pass(struct loader *loader, const struct sample_pass *pass,
		     int batches, int size, long step)
{
	const struct samples *samples = pass->samples;

	for (int b = 0; b < batches; b++) {
		struct slot *slot = wait_for_room(loader);

		if (!slot)
			return -1;
		slot->batch = share(&loader->plan,
				    place_of(&loader->plan, b, size, samples),
				    size,
				    samples_of(&loader->plan, pass->samples));
		if (fill(loader, slot, pass)) {
			publish(loader, 1, 1);
			return -1;
		}
		slot->batch.step = (uint32_t)(step + b);
		slot->cpu_s = clock_thread_cpu();
		publish(loader, 0, 0);
	}
	return 0;
}

/* Shuffles for this epoch. Returns 0 if the order stays. */
static int shuffle(struct loader *loader, int epoch)
{
	const struct loader_plan *plan = &loader->plan;

	if (epoch && !plan->reshuffle)
		return 0;
	random_permutation(plan->seed + (unsigned)epoch,
			   plan->dataset->train.count, loader->order);
	return 1;
}

static void *loader_main(void *argument)
{
	struct loader *loader = argument;
	const struct loader_plan *plan = &loader->plan;
	struct crop_key key = { .seed = plan->seed };
	const struct sample_pass train = { &plan->dataset->train, loader->order,
				    &key };
	const struct sample_pass test = { .samples = &plan->dataset->test };

	if (plan->infers) {
		if (!load_pass(loader, &test, plan->iterations,
			       plan->global_batch, 0))
			publish(loader, 1, 0);
		return NULL;
	}
	for (int e = 0; e < plan->epochs; e++) {
		shuffle(loader, e);
		key.epoch = (uint32_t)e;
		if (load_pass(loader, &train, plan->iterations,
			      plan->global_batch,
			      (long)e * plan->iterations) ||
		    load_pass(loader, &test, loader_test_batches(plan),
			      plan->test_batch, 0))
			return NULL;
	}
	publish(loader, 1, 0);
	return NULL;
}

static int is_threadless(const struct loader_plan *plan)
{
	return plan->resident || plan->dataset->is_fake;
}

static void release(struct loader *loader)
{
	for (int i = 0; i < DEPTH; i++) {
		free(loader->slots[i].images);
		free(loader->slots[i].labels);
		free(loader->slots[i].targets);
	}
	free(loader->order);
	transform_close(loader->transform);
	free(loader);
}

static int largest_batch(const struct loader_plan *plan)
{
	return plan->test_batch > plan->global_batch ? plan->test_batch :
						       plan->global_batch;
}

/* Fake data has one batch. */
static int slots_of(const struct loader_plan *plan)
{
	return plan->dataset->is_fake ? 1 : DEPTH;
}

double loader_bytes(const struct loader_plan *plan)
{
	const size_t size = shape_size(plan->model->input);

	return slots_of(plan) * (double)largest_batch(plan) *
	       (double)((size + targets_of(plan->model)) * sizeof(float) +
			sizeof(uint16_t));
}

static int allocate_all(struct loader *loader)
{
	const struct loader_plan *plan = &loader->plan;
	const size_t share = (size_t)replica_share(0, plan->size,
						   largest_batch(plan));
	const size_t size = shape_size(plan->model->input);
	const size_t targets = targets_of(plan->model);
	const int is_fake = plan->dataset->is_fake, slots = slots_of(plan);

	loader->order = malloc(is_fake ? 1 :
			       (size_t)plan->dataset->train.count *
			       sizeof(*loader->order));
	if (!loader->order)
		return -1;
	for (int i = 0; !plan->resident && i < slots; i++) {
		struct slot *slot = &loader->slots[i];

		slot->images = malloc(share * size * sizeof(float));
		slot->labels = malloc(share * sizeof(*slot->labels));
		slot->targets = malloc(share * targets * sizeof(float) + 1);
		if (!slot->images || !slot->labels || !slot->targets)
			return -1;
	}
	return 0;
}

/* The one batch of fake data. */
static void make_fake(struct loader *loader)
{
	const struct loader_plan *plan = &loader->plan;
	struct slot *slot = &loader->slots[0];
	const size_t count = (size_t)replica_share(0, plan->size,
						   largest_batch(plan));
	const size_t values = count * shape_size(plan->model->input);
	const size_t targets = count * targets_of(plan->model);
	struct mt19937 generator;

	memset(slot->images, 0, values * sizeof(*slot->images));
	memset(slot->labels, 0, count * sizeof(*slot->labels));
	if (!targets)
		return;
	mt19937_seed(&generator, plan->seed + (unsigned)plan->rank);
	mt19937_normal(&generator, values, 1, slot->images);
	mt19937_normal(&generator, targets, 1, slot->targets);
}

struct loader *loader_open(const struct loader_plan *plan, struct error *err)
{
	struct loader *loader = calloc(1, sizeof(*loader));
	int failed;

	if (!loader) {
		error_memory(err, "the loader");
		return NULL;
	}
	loader->plan = *plan;
	if (!plan->dataset->is_fake)
		loader->transform = transform_open(plan->dataset, plan->model,
						   err);
	if (!loader->transform && !plan->dataset->is_fake) {
		release(loader);
		return NULL;
	}
	if (allocate_all(loader)) {
		release(loader);
		error_memory(err, "the loader's batches");
		return NULL;
	}
	if (plan->dataset->is_fake && !plan->resident)
		make_fake(loader);
	if (is_threadless(plan))
		return loader;
	pthread_mutex_init(&loader->lock, NULL);
	pthread_cond_init(&loader->changed, NULL);
	failed = pthread_create(&loader->thread, NULL, loader_main, loader);
	if (failed) {
		release(loader);
		error_set(err, ERROR_FAILED,
			  "the loader's thread cannot be created: %s",
			  strerror(failed));
		return NULL;
	}
	return loader;
}

static int fail_at_end(struct error *err)
{
	return error_set(err, ERROR_FAILED,
			 "there is no batch after the last one");
}

/* Returns the next batch of a data set on the device, which needs each epoch's
 * order, or of fake data. */
static int next_resident(struct loader *loader, struct batch *batch,
			 struct error *err)
{
	const struct loader_plan *plan = &loader->plan;
	const struct dataset *dataset = plan->dataset;
	const int each = plan->iterations + loader_test_batches(plan);
	const long epoch = loader->taken / each;
	const int b = (int)(loader->taken % each);
	const int test = plan->infers ? b : b - plan->iterations;
	const int test_batch = plan->infers ? plan->global_batch :
					      plan->test_batch;

	if (epoch >= plan->epochs)
		return fail_at_end(err);
	if (plan->resident && !plan->infers && !b &&
	    shuffle(loader, (int)epoch) &&
	    program_order(plan->resident, loader->order, err))
		return -1;
	loader->taken++;
	if (dataset->is_fake) /* it is the same one again */
		*batch = share(plan, 0, test < 0 ? plan->global_batch :
						   test_batch, INT_MAX);
	else
		*batch = test < 0 ?
			    share(plan, b * plan->global_batch,
				  plan->global_batch, dataset->train.count) :
			    share(plan, place_of(plan, test, test_batch,
						 &dataset->test),
				  test_batch, dataset->test.count);
	if (!plan->resident) {
		batch->images = loader->slots[0].images;
		batch->labels = loader->slots[0].labels;
		batch->targets = loader->slots[0].targets;
	}
	batch->step = test < 0 ? (uint32_t)(epoch * plan->iterations + b) :
				 (uint32_t)test;
	return 0;
}

int loader_next(struct loader *loader, struct batch *batch, struct error *err)
{
	int found;

	if (is_threadless(&loader->plan))
		return next_resident(loader, batch, err);
	pthread_mutex_lock(&loader->lock);
	while (loader->taken == loader->filled && !loader->ended)
		pthread_cond_wait(&loader->changed, &loader->lock);
	found = loader->taken < loader->filled;
	if (found) {
		const struct slot *slot = &loader->slots[loader->taken++ %
							 DEPTH];

		*batch = slot->batch;
		loader->taken_cpu_s = slot->cpu_s;
	}
	pthread_cond_signal(&loader->changed);
	pthread_mutex_unlock(&loader->lock);
	/* The loader's thread may need this CPU: better now than in the timed
	 * part. */
	sched_yield();
	if (found)
		return 0;
	if (!loader->failed)
		return fail_at_end(err);
	*err = loader->err;
	return -1;
}

double loader_cpu(const struct loader *loader)
{
	return loader->taken_cpu_s;
}

void loader_close(struct loader *loader)
{
	if (!loader)
		return;
	if (is_threadless(&loader->plan)) {
		release(loader);
		return;
	}
	pthread_mutex_lock(&loader->lock);
	loader->closing = 1;
	pthread_cond_signal(&loader->changed);
	pthread_mutex_unlock(&loader->lock);
	pthread_join(loader->thread, NULL);
	pthread_cond_destroy(&loader->changed);
	pthread_mutex_destroy(&loader->lock);
	release(loader);
}
