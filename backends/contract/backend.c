#include "backends/contract/backend.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int backend_list(const struct backend *backend, int cpus,
		 struct device_info *list, int most, struct error *err)
{
	const struct device_request any = { .threads = 1, .cpus = cpus };
	struct device *device;

	if (backend->list)
		return backend->list(cpus, list, most, err);
	if (device_open(backend, &any, &device, err))
		return -1;
	device_describe(device, list);
	device_close(device);
	return 1;
}

const char *backend_variable(const struct backend *backend)
{
	return backend->library ? backend->library->variable() : NULL;
}

static const char *const algorithm_names[ALGORITHM_COUNT] = {
	[ALGORITHM_FAST] = "fast",
	[ALGORITHM_DENSE] = "dense",
};

const char *algorithm_name(enum algorithm algorithm)
{
	return algorithm_names[algorithm];
}

enum algorithm backend_algorithm(const struct backend *backend,
				 const char *name)
{
	int a = 0;

	while (a + 1 < ALGORITHM_COUNT &&
	       (name ? strcmp(name, algorithm_names[a]) != 0 :
		       !(backend->algorithms >> a & 1)))
		a++;
	return (enum algorithm)a;
}

int backend_check_algorithm(const struct backend *backend, const char *name,
			    struct error *err)
{
	const enum algorithm algorithm = backend_algorithm(backend, name);

	if (backend->algorithms >> algorithm & 1)
		return 0;
	return error_set(err, ERROR_MISSING,
			 "--algorithm %s: backend %s does not support it; "
			 "leave the option out", name, backend->name);
}

static const char *const precision_names[PRECISION_COUNT] = {
	[PRECISION_FP32] = "fp32",
	[PRECISION_BF16] = "bf16",
	[PRECISION_FP64] = "fp64",
	[PRECISION_FP16] = "fp16",
	[PRECISION_BF16_STORAGE] = "bf16-storage",
};

const char *precision_name(enum precision precision)
{
	return precision_names[precision];
}

enum precision precision_find(const char *name)
{
	int p = PRECISION_COUNT - 1;

	while (p > PRECISION_FP32 &&
	       (!name || strcmp(name, precision_names[p])))
		p--;
	return (enum precision)p;
}

int precision_rounds(enum precision precision)
{
	return precision == PRECISION_FP16 ||
	       precision == PRECISION_BF16_STORAGE;
}

/* Slots of struct backend without a default, or with one that needs another. */
const char *backend_lacks(const struct backend *backend, int comparable)
{
	const struct {
		const char *name;
		int is_there;
	} slots[] = {
		{ "open", backend->open != NULL },
		{ "close", backend->close != NULL },
		{ "describe", backend->describe != NULL },
		{ "compile", backend->compile != NULL },
		{ "free", backend->free != NULL },
		{ "store", backend->store != NULL },
		{ "load", backend->load != NULL },
		{ "map", backend->map != NULL },
		{ "unmap", backend->unmap != NULL },
		{ "gradient", backend->gradient != NULL },
		{ "update", backend->update != NULL },
		{ "evaluate", backend->evaluate != NULL },
		{ "order", backend->order || !backend->upload_data },
		{ "finish", backend->finish || !backend->runs_ahead },
		{ "decisions", backend->decisions || !comparable },
	};

	for (size_t i = 0; i < sizeof(slots) / sizeof(slots[0]); i++)
		if (!slots[i].is_there)
			return slots[i].name;
	return NULL;
}

int device_open(const struct backend *backend,
		const struct device_request *request, struct device **device,
		struct error *err)
{
	const char *lacked = backend_lacks(backend, 0);

	*device = NULL;
	if (backend->version != BACKEND_VERSION)
		return error_set(err, ERROR_MISSING, "backend %s was written "
				 "for version %d of the contract "
				 "(backends/contract/backend.h), which is now "
				 "version %d",
				 backend->name,
				 backend->version, BACKEND_VERSION);
	if (lacked)
		return error_set(err, ERROR_MISSING, "backend %s lacks the "
				 "slot '%s', see backends/contract/backend.h",
				 backend->name, lacked);
	if (backend->unavailable)
		return error_set(err, ERROR_MISSING, "backend %s: %s",
				 backend->name, backend->unavailable);
	return backend->open(request, device, err);
}

void device_close(struct device *device)
{
	if (device)
		device->backend->close(device);
}

void device_describe(struct device *device, struct device_info *info)
{
	*info = (struct device_info){ .units = 1 };
	device->backend->describe(device, info);
}

int device_check(struct device *device, int thread, int threads,
		 struct error *err)
{
	const struct library *library = device->backend->library;

	return threads > 1 && library ? library->check(thread, threads, err) :
					0;
}

/* See struct program; slices of whole lines can be updated. */
static int factors_are_right(const struct program *program)
{
	return program->reduced == program->length ||
	       (program->reduced < program->length &&
		program->reduced % UPDATE_LINE == 0 &&
		program->factors_each % UPDATE_LINE == 0 &&
		program->shared == !program->factors);
}

/* Kernels of devices take all vectors. */
static int vector_count(const struct backend *backend,
			const struct model *model,
			const struct program_options *options)
{
	return options->infers && !backend->offloads ?
		       VECTOR_GRADIENT :
		       VECTOR_STATE_0 + recipe_states(&model->recipe);
}

void program_begin(struct program *program, struct device *device,
		   const struct model *model,
		   const struct program_options *options)
{
	*program = (struct program){
		.device = device,
		.model = model,
		.parameters = model_parameter_count(model),
		.buffers = model_buffer_count(model),
		.vectors = vector_count(device->backend, model, options),
		.options = *options,
	};
	program->length = program->reduced = program->parameters;
}

double backend_vector_bytes(const struct backend *backend,
			    const struct model *model,
			    const struct program_options *options, int cores,
			    int is_common)
{
	const double count = (double)model_parameter_count(model);
	const int vectors = vector_count(backend, model, options);
	const int in_double = backend->is_reference ||
			      options->precision == PRECISION_FP64;
	const int gradients = vectors > VECTOR_GRADIENT;
	const int owners = backend->shares && is_common ? 1 : cores;
	const int floats = gradients * cores + (vectors - gradients) * owners;
	/* Products read a rounded copy of the parameters. */
	const int copies = options->precision == PRECISION_FP16 ? cores : 0;

	return floats * count * sizeof(float) +
	       in_double * vectors * cores * count * sizeof(double) +
	       copies * count *
		       (in_double ? sizeof(double) : sizeof(float));
}

/* A single value has no unbiased variance, and normalised by its own deviation
 * it is always 0. */
static int refuse_norm(const struct model *model, struct error *err)
{
	char where[80];

	layer_describe(model, model_lone_norm(model), where, sizeof(where));
	return error_set(err, ERROR_USAGE, "model '%s', %s: 1 sample of 1x1 is "
			 "1 value per channel, whose variance is undefined; "
			 "batch norm needs 2 or more: choose another --batch",
			 model->name, where);
}

int program_compile(struct device *device, const struct model *model,
		    const struct program_options *options,
		    struct program **program, struct error *err)
{
	const struct backend *backend = device->backend;
	char wrong[256];
	int has_lone_norm;

	*program = NULL;
	if (model_check(model, wrong, sizeof(wrong)))
		return error_set(err, ERROR_USAGE, "%s", wrong);
	has_lone_norm = model_lone_norm(model) >= 0;
	if (has_lone_norm && options->batch == 1)
		return refuse_norm(model, err);
	if (!(backend->precisions >> options->precision & 1))
		return error_set(err, ERROR_MISSING,
				 "--precision %s: backend %s does not support "
				 "it; leave the option out",
				 precision_name(options->precision),
				 backend->name);
	if (backend->compile(device, model, options, program, err))
		return -1;
	(*program)->device = device;
	(*program)->model = model;
	(*program)->parameters = model_parameter_count(model);
	(*program)->buffers = model_buffer_count(model);
	(*program)->vectors = vector_count(backend, model, options);
	(*program)->options = *options;
	(*program)->observer = NULL;
	(*program)->resident_samples = 0;
	(*program)->has_lone_norm = has_lone_norm;
	assert(factors_are_right(*program));
	return 0;
}

void program_free(struct program *program)
{
	if (program)
		program->device->backend->free(program);
}

static const struct backend *slots(const struct program *program)
{
	return program->device->backend;
}

/* Returns 0 for state that the optimizer does not keep, and for statistics
 * without batch norm. */
static int has_vector(const struct program *program, enum vector which)
{
	return which == VECTOR_BUFFERS ? program->buffers != 0 :
					 (int)which < program->vectors;
}

int program_store(struct program *program, enum vector which,
		  const float *values, struct error *err)
{
	return !has_vector(program, which) ?
		       0 : slots(program)->store(program, which, values, err);
}

int program_load(struct program *program, enum vector which, float *values,
		 struct error *err)
{
	if (which != VECTOR_BUFFERS && !has_vector(program, which))
		memset(values, 0, program->parameters * sizeof(*values));
	return !has_vector(program, which) ?
		       0 : slots(program)->load(program, which, values, err);
}

float *program_map(struct program *program, enum vector which,
		   struct error *err)
{
	if (!has_vector(program, which)) {
		error_set(err, ERROR_USAGE, "model %s has no vector %d",
			  program->model->name, (int)which);
		return NULL;
	}
	return slots(program)->map(program, which, err);
}

int program_unmap(struct program *program, enum vector which, struct error *err)
{
	return slots(program)->unmap(program, which, err);
}

int backend_uploads_data(const struct backend *backend)
{
	return backend->upload_data != NULL;
}

int program_upload_data(struct program *program,
			const struct resident_data *data, struct error *err)
{
	if (!model_has_classes(program->model))
		return error_set(err, ERROR_MISSING, "model %s needs vector "
				 "targets; a data set on a device has "
				 "only class labels", program->model->name);
	if (slots(program)->upload_data(program, data, err))
		return -1;
	program->resident_samples = data->train.count;
	return 0;
}

void program_release_data(struct program *program)
{
	struct error err;

	if (slots(program)->upload_data)
		slots(program)->upload_data(program, NULL, &err);
	program->resident_samples = 0;
}

int program_order(struct program *program, const int *order, struct error *err)
{
	return slots(program)->order(program, order, program->resident_samples,
				     err);
}

/* Returns -1 with err if the share cannot be trained with. */
static int check_share(const struct program *program, const struct batch *batch,
		       struct error *err)
{
	assert(batch->count <= program->options.batch);
	return program->has_lone_norm && batch->count == 1 ?
		       refuse_norm(program->model, err) : 0;
}

int program_gradient(struct program *program, const struct batch *batch,
		     struct error *err)
{
	return check_share(program, batch, err) ?
		       -1 :
		       slots(program)->gradient(program, batch, NULL, err);
}

int program_update_part(struct program *program, const struct update *update,
			size_t from, size_t to, struct error *err)
{
	assert(from <= to && to <= program->reduced);
	assert(from % UPDATE_LINE == 0);
	assert(to % UPDATE_LINE == 0 || to == program->length);
	return slots(program)->update(program, update, from, to, err);
}

int program_update_factored(struct program *program,
			    const struct update *update, struct error *err)
{
	return program->reduced < program->length ?
		       slots(program)->update(program, update, program->reduced,
					      program->length, err) :
		       0;
}

int program_update(struct program *program, const struct update *update,
		   struct error *err)
{
	return program_update_part(program, update, 0, program->reduced, err) ||
			       program_update_factored(program, update, err) ?
		       -1 : 0;
}

int program_train(struct program *program, const struct batch *batch,
		  const struct update *update, struct error *err)
{
	if (check_share(program, batch, err))
		return -1;
	if (slots(program)->trains_at_once)
		return slots(program)->gradient(program, batch, update, err);
	return program_gradient(program, batch, err) ||
			       program_update(program, update, err) ?
		       -1 : 0;
}

int program_finish(struct program *program, struct score *score,
		   struct error *err)
{
	if (slots(program)->finish)
		return slots(program)->finish(program, score, 1, err);
	*score = program->score;
	return 0;
}

int program_scores(struct program *program, struct score *scores, int count,
		   struct error *err)
{
	assert(count <= program->options.ahead);
	return slots(program)->finish(program, scores, count, err);
}

int program_evaluate(struct program *program, const struct batch *batch,
		     struct score *score, struct error *err)
{
	assert(batch->count <= program->options.test_batch);
	return batch->count ? slots(program)->evaluate(program, batch, score,
						       err)
			    : 0;
}

int program_decisions(struct program *program, int layer, uint8_t *values,
		      struct error *err)
{
	if (!slots(program)->decisions)
		return error_set(err, ERROR_USAGE,
				 "backend %s does not report its decisions",
				 slots(program)->name);
	return slots(program)->decisions(program, layer, values, err);
}

int program_impose(struct program *program, int layer, const uint8_t *values,
		   struct error *err)
{
	if (!slots(program)->impose)
		return error_set(err, ERROR_USAGE,
				 "backend %s cannot follow another's decisions",
				 slots(program)->name);
	return slots(program)->impose(program, layer, values, err);
}

double program_regret(const struct program *program, int layer)
{
	return program->regret ? program->regret[layer] : 0;
}

int program_round_factors(struct program *program, const unsigned char *rounds,
			  struct error *err)
{
	if (!rounds)
		return 0;
	if (!slots(program)->round_factors)
		return error_set(err, ERROR_USAGE,
				 "backend %s cannot round another's factors",
				 slots(program)->name);
	return slots(program)->round_factors(program, rounds, err);
}

int program_observe(struct program *program, struct profile_observer *observer,
		    struct error *err)
{
	if (observer && !slots(program)->profile)
		return error_set(err, ERROR_USAGE,
				 "backend %s does not support --profile",
				 slots(program)->name);
	program->observer = observer;
	return 0;
}

int program_profile(struct program *program, struct profile_part *parts)
{
	return slots(program)->profile ?
		       slots(program)->profile(program, parts) : 0;
}

const struct peak *backend_peak(const struct backend *backend, int index)
{
	return backend->peak ? backend->peak(index) : NULL;
}

const struct peak *backend_fp32_peak(const struct backend *backend)
{
	const struct peak *peak;
	int index = 0;

	while ((peak = backend_peak(backend, index)) && !peak->fp32)
		index++;
	return peak;
}

int backend_layer_is_broken(const struct layer *layer)
{
	const char *name = getenv("BENCH_TEST_BREAK");

	return name && layer->name && !strcmp(name, layer->name);
}
