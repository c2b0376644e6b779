/*
 * For tests: a model compiled by a backend, batches to give it, and how far
 * what comes out is from what is right.
 */
#ifndef TESTS_SUBJECT_H
#define TESTS_SUBJECT_H

#include "backends/contract/backend.h"
#include "models/random.h"
#include "tests/kernels/largest.h"
#include "tests/kernels/skipping.h"

struct subject {
	struct device *device;
	struct program *program;
};

/* A call that failed ends the test with its message. */
static inline void must(int failed, const struct error *err)
{
	if (failed)
		fail_msg("%s", err->message);
}

/* Under sanitizers the large networks take too long. */
static inline int tests_are_light(void)
{
	return getenv("BENCH_TEST_LIGHT") != NULL;
}

/* Has PoCL compile kernels without optimizing them, in half the time. Optimized
 * kernels are tested by test_backends, test_graphs, test_golden and, where they
 * are started often, by test_sums and test_opencl_sums. */
static inline void compile_plainly(void)
{
	if (!getenv("CHECK_FULL"))
		setenv("POCL_EXTRA_BUILD_FLAGS", "-cl-opt-disable", 1);
}

static inline void *allocate(size_t size)
{
	void *memory = calloc(1, size ? size : 1);

	assert_non_null(memory);
	return memory;
}

static inline void subject_open_class(struct subject *subject,
				      const char *backend,
				      const char *device_class,
				      const struct model *model,
				      const struct program_options *options)
{
	const struct device_request request = { .threads = 1,
						.cpus = 1,
						.device_class = device_class };
	struct error err;

	*subject = (struct subject){ 0 };
	must(device_open(backend_find(backend), &request, &subject->device,
			 &err), &err);
	must(program_compile(subject->device, model, options,
			     &subject->program, &err), &err);
}

static inline void subject_open(struct subject *subject, const char *backend,
				const struct model *model,
				const struct program_options *options)
{
	subject_open_class(subject, backend, NULL, model, options);
}

static inline void subject_close(struct subject *subject)
{
	program_free(subject->program);
	device_close(subject->device);
}

static inline void subject_store(struct subject *subject, enum vector which,
				 const float *values)
{
	struct error err;

	must(program_store(subject->program, which, values, &err), &err);
}

/* The caller frees it. */
static inline float *subject_load(struct subject *subject, enum vector which)
{
	const struct program *program = subject->program;
	float *values = allocate((which == VECTOR_BUFFERS ?
					  program->buffers :
					  program->parameters) *
				 sizeof(*values));
	struct error err;

	must(program_load(subject->program, which, values, &err), &err);
	return values;
}

/* Seeded parameters, a fresh optimizer and fresh statistics. */
static inline void subject_start(struct subject *subject,
				 unsigned long long seed)
{
	const size_t count = subject->program->parameters +
			     subject->program->buffers;
	float *values = allocate(count * sizeof(*values));

	subject_store(subject, VECTOR_STATE_0, values);
	subject_store(subject, VECTOR_STATE_1, values);
	model_init(subject->program->model, seed, values);
	subject_store(subject, VECTOR_PARAMETERS, values);
	if (subject->program->buffers) {
		model_init_buffers(subject->program->model, values);
		subject_store(subject, VECTOR_BUFFERS, values);
	}
	free(values);
}

static inline struct score subject_gradient(struct subject *subject,
					    const struct batch *batch)
{
	struct score score;
	struct error err;

	must(program_gradient(subject->program, batch, &err), &err);
	must(program_finish(subject->program, &score, &err), &err);
	return score;
}

static inline void subject_update(struct subject *subject,
				  const struct update *update)
{
	struct score ignored;
	struct error err;

	must(program_update(subject->program, update, &err), &err);
	must(program_finish(subject->program, &ignored, &err), &err);
}

/* Images with mean 0 and variance 1 and any labels; see batch_free(). */
static inline struct batch batch_make(const struct model *model, uint32_t seed,
				      int count)
{
	const size_t values = (size_t)count * shape_size(model->input);
	float *images = allocate(values * sizeof(*images));
	uint16_t *labels = allocate((size_t)count * sizeof(*labels));
	const float bound = sqrtf(3);
	struct mt19937 generator;

	mt19937_seed(&generator, seed);
	for (size_t i = 0; i < values; i++)
		images[i] = mt19937_uniform(&generator, -bound, bound);
	for (int i = 0; i < count; i++)
		labels[i] = (uint16_t)(mt19937_next(&generator) %
				       (uint32_t)model_classes(model));
	return (struct batch){ .images = images,
			       .labels = labels,
			       .count = count,
			       .global_count = count,
			       .stride = 1 };
}

static inline void batch_free(struct batch *batch)
{
	free((void *)batch->images);
	free((void *)batch->labels);
}

static inline size_t layer_choices(const struct model *model, int layer)
{
	return layer_decisions(&model->layers[layer],
			       model_layer_input(model, layer));
}

/* Returns a layer's decisions of a whole batch, to be freed; NULL if it has
 * none. */
static inline uint8_t *subject_decisions(struct subject *subject, int layer)
{
	const struct program *program = subject->program;
	const size_t each = layer_choices(program->model, layer);
	uint8_t *values;
	struct error err;

	if (!each)
		return NULL;
	values = allocate((size_t)program->options.batch * each);
	must(program_decisions(subject->program, layer, values, &err), &err);
	return values;
}

/* reference decides as subject did, at every layer. */
static inline void subject_follow(struct subject *reference,
				  struct subject *subject)
{
	const struct model *model = subject->program->model;
	struct error err;

	for (int l = 0; l < model->layer_count; l++) {
		uint8_t *values = subject_decisions(subject, l);

		if (values)
			must(program_impose(reference->program, l, values,
					    &err),
			     &err);
		free(values);
	}
}

/* Masks follow models/random.h, at the samples' places in the global batch. */
static inline void assert_masks(struct subject *subject,
				const struct batch *batch)
{
	const struct program_options *options = &subject->program->options;
	const struct model *model = subject->program->model;

	for (int l = 0; l < model->layer_count; l++) {
		const size_t each = layer_choices(model, l);
		uint8_t *taken, *keep;

		if (!layer_drops(&model->layers[l]))
			continue;
		taken = subject_decisions(subject, l);
		keep = allocate(each);
		memset(keep, 1, each);
		for (int i = 0; i < batch->count; i++) {
			if (options->dropout)
				dropout_choices(options->seed, batch->step,
						(uint32_t)(batch->place +
							   batch->stride * i),
						(uint32_t)l,
						model->layers[l].drop,
						(int)each, keep);
			assert_memory_equal(taken + (size_t)i * each, keep,
					    each);
		}
		free(taken);
		free(keep);
	}
}

/* No decision that was imposed on the reference is wrong by more than bound. */
static inline void assert_regrets(struct subject *reference, double bound)
{
	const struct model *model = reference->program->model;

	for (int l = 0; l < model->layer_count; l++) {
		const double regret = program_regret(reference->program, l);

		if (!(regret <= bound))
			fail_msg("%s: a decision of layer %d is wrong by %.2e",
				 model->name, l, regret);
	}
}

/* Largest |a - b| over scale; 0 if all are equal, NAN if one is not finite. */
static inline double error_by(double scale, const float *a, const float *b,
			      size_t count)
{
	double most = 0;

	for (size_t i = 0; i < count; i++) {
		const double difference = fabs((double)a[i] - (double)b[i]);

		if (!isfinite(difference))
			return NAN;
		most = fmax(most, difference);
	}
	return most > 0 ? most / scale : 0;
}

/* By the largest |b|. */
static inline double error_of(const float *a, const float *b, size_t count)
{
	return error_by(largest_of(b, count), a, b, count);
}

static inline void assert_close(const char *what, double value, double right,
				double bound)
{
	if (!(fabs(value - right) <= bound))
		fail_msg("%s is %.9g, not %.9g within %g", what, value, right,
			 bound);
}

/* Every tensor of a flat vector, within bound of its largest entry; or of the
 * vector's, where its own is below least of that. */
static inline void assert_above(double least, const struct model *model,
				const char *what, const float *values,
				const float *right, double bound)
{
	const double whole = largest_of(right, model_parameter_count(model));
	struct tensor tensors[MODEL_MAX_TENSORS];
	const int count = model_tensors(model, tensors);

	for (int t = 0; t < count; t++) {
		const size_t at = tensors[t].offset;
		const double own = largest_of(right + at, tensors[t].count);
		const double error = error_by(own < least * whole ? whole : own,
					      values + at, right + at,
					      tensors[t].count);

		if (!(error <= bound))
			fail_msg("%s: %s of %s is off by %.2e of its largest "
				 "entry, more than %.0e", model->name, what,
				 tensors[t].name, error, bound);
	}
}

static inline void assert_tensors(const struct model *model, const char *what,
				  const float *values, const float *right,
				  double bound)
{
	assert_above(0, model, what, values, right, bound);
}

/* A bias before batch norm makes no difference, but for rounding. */
static inline void assert_gradients(const struct model *model,
				    const float *values, const float *right,
				    double bound)
{
	assert_true(largest_of(right, model_parameter_count(model)) > 0);
	assert_above(1e-9, model, "the gradient", values, right, bound);
}

#endif
