#include "bench/data/weights/weights.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/data/weights/safetensors.h"
#include "bench/data/weights/safetensors_value.h"
#include "bench/system/file.h"
#include "bench/system/text.h"

#define MOST_ITEMS (5 * MODEL_MAX_LAYERS) /* of a row of batch norm */
#define PIECE 32768			  /* bytes that are read at once */
#define TRACKED "num_batches_tracked"

enum place { PLACE_PARAMETERS, PLACE_BUFFERS, PLACE_TRACKED };

/* One tensor of the state_dict. */
struct item {
	char name[sizeof(((struct tensor *)NULL)->name) + sizeof(TRACKED)];
	struct safetensor form; /* as we write it; its name is name */
	enum place place;
	size_t offset; /* of its first value; of a counter, the row */
};

/* All of a model, in the order of the state_dict. */
struct state {
	const struct model *model;
	struct item *items;
	int count;
};

static int ends_with(const char *text, const char *end)
{
	const size_t length = strlen(text), own = strlen(end);

	return length >= own && !strcmp(text + length - own, end);
}

static void set_shape(struct item *item, const struct layer *layer)
{
	struct safetensor *form = &item->form;
	const size_t window = (size_t)layer->window;
	const size_t outputs = (size_t)layer->outputs;

	form->shape[0] = form->count;
	form->sides = 1;
	if (!ends_with(item->name, ".weight") ||
	    (layer->kind != LAYER_CONV && layer->kind != LAYER_LINEAR))
		return;
	form->shape[0] = outputs;
	form->shape[1] = form->count / outputs;
	form->sides = 2;
	if (layer->kind == LAYER_LINEAR)
		return;
	form->shape[1] /= window * window;
	form->shape[2] = form->shape[3] = window;
	form->sides = 4;
}

static void add_tensor(struct state *state, const struct tensor *tensor,
		       enum place place)
{
	struct item *item = &state->items[state->count++];

	snprintf(item->name, sizeof(item->name), "%s", tensor->name);
	item->place = place;
	item->offset = tensor->offset;
	item->form = (struct safetensor){ .name = item->name,
					  .type = SAFETENSORS_F32,
					  .count = tensor->count };
	set_shape(item, &state->model->layers[tensor->layer]);
}

static void add_counter(struct state *state, int row)
{
	struct item *item = &state->items[state->count++];

	snprintf(item->name, sizeof(item->name), "%s." TRACKED,
		 state->model->layers[row].name);
	item->place = PLACE_TRACKED;
	item->offset = (size_t)row;
	item->form = (struct safetensor){ .name = item->name,
					  .type = SAFETENSORS_I64,
					  .count = 1 };
}

/* Makes the state. Release it also after a failure. */
static int state_make(struct state *state, const struct model *model,
		      struct error *err)
{
	struct tensor tensors[MODEL_MAX_TENSORS], buffers[MODEL_MAX_TENSORS];
	const int tensor_count = model_tensors(model, tensors);
	const int buffer_count = model_buffers(model, buffers);
	int t = 0, b = 0;

	*state = (struct state){ .model = model };
	state->items = calloc(MOST_ITEMS, sizeof(*state->items));
	if (!state->items)
		return error_memory(err, "the names of the weights");
	for (int row = 0; row < model->layer_count; row++) {
		while (t < tensor_count && tensors[t].layer == row)
			add_tensor(state, &tensors[t++], PLACE_PARAMETERS);
		while (b < buffer_count && buffers[b].layer == row)
			add_tensor(state, &buffers[b++], PLACE_BUFFERS);
		if (model->layers[row].kind == LAYER_BATCHNORM)
			add_counter(state, row);
	}
	return 0;
}

static void state_release(struct state *state)
{
	free(state->items);
}

/* The item of that name, or NULL. */
static const struct item *state_find(const struct state *state,
				     const char *name)
{
	for (int i = 0; i < state->count; i++)
		if (!strcmp(state->items[i].name, name))
			return &state->items[i];
	return NULL;
}

/* For a counter, load_state_dict() also accepts a vector, and takes its first
 * value. */
static int has_shape(const struct safetensor *tensor, const struct item *item)
{
	const struct safetensor *form = &item->form;

	if (item->place == PLACE_TRACKED && tensor->sides == 1 && tensor->count)
		return 1;
	return tensor->sides == form->sides &&
	       !memcmp(tensor->shape, form->shape,
		       (size_t)form->sides * sizeof(*form->shape));
}

/* found: NULL if it is not there. */
static int check_item(const struct safetensors *file,
		      const struct state *state, const struct item *item,
		      const struct safetensor *found, struct error *err)
{
	const char *model = state->model->name;
	char wanted[200], has[200];

	safetensor_print_shape(&item->form, wanted, sizeof(wanted));
	if (!found)
		return item->place == PLACE_TRACKED ? 0 :
		       error_set(err, ERROR_INPUT, "%s: has no '%s', which is "
				 "%s in model '%s'; choose the --model of this "
				 "file", file->path, item->name, wanted,
				 model);
	if (has_shape(found, item))
		return 0;
	safetensor_print_shape(found, has, sizeof(has));
	return error_set(err, ERROR_INPUT, "%s: '%s' is %s, but %s in model "
			 "'%s'; choose the --model and --image-size of this "
			 "file", file->path, item->name, has, wanted,
			 model);
}

/* Returns the bytes of the prefix before all names of the model, or 0. Only the
 * shortest name that ends like the model's first name is a candidate. */
static size_t find_prefix(const struct safetensors *file,
			  const struct state *state)
{
	const char *first = state->items[0].name, *prefix = "";
	size_t length = SIZE_MAX;

	for (size_t i = 0; state->count && i < file->count; i++) {
		const char *name = file->tensors[i].name;

		if (ends_with(name, first) &&
		    strlen(name) - strlen(first) < length) {
			prefix = name;
			length = strlen(name) - strlen(first);
		}
	}
	if (!*prefix || !length || prefix[length - 1] != '.')
		return 0;
	for (size_t i = 0; i < file->count; i++)
		if (strncmp(file->tensors[i].name, prefix, length))
			return 0;
	return length;
}

/* Each tensor of one is in the other, and is alike. */
static int check_fit(const struct safetensors *file, const struct state *state,
		     struct error *err)
{
	char shape[200];

	for (int i = 0; i < state->count; i++) {
		const struct item *item = &state->items[i];

		if (check_item(file, state, item,
			       safetensors_find(file, item->name), err))
			return -1;
	}
	for (size_t i = 0; i < file->count; i++) {
		const struct safetensor *tensor = &file->tensors[i];

		if (state_find(state, tensor->name))
			continue;
		safetensor_print_shape(tensor, shape, sizeof(shape));
		return error_set(err, ERROR_INPUT, "%s: model '%s' has no "
				 "'%.80s', %s; choose the --model of this file",
				 file->path, state->model->name, tensor->name,
				 shape);
	}
	return 0;
}

/* Every loss would be no number, or worse. */
static int check_value(const struct safetensors *file,
		       const struct safetensor *tensor, const struct item *item,
		       size_t index, float value, struct error *err)
{
	const int is_variance = ends_with(item->name, ".running_var");
	char place[200] = "";

	if (isfinite(value) && (!is_variance || value >= 0))
		return 0;
	for (int i = item->form.sides; i--;) {
		char inner[sizeof(place)];

		memcpy(inner, place, sizeof(inner));
		snprintf(place, sizeof(place), "%zu%s%.150s",
			 index % item->form.shape[i], *inner ? ", " : "",
			 inner);
		index /= item->form.shape[i];
	}
	return error_set(err, ERROR_INPUT, "%s: '%s'[%s], of %s, is %g; "
			 "expected %s; use weights of a training that did not "
			 "diverge, saved as F32", file->path, item->name, place,
			 safetensors_type_name(tensor->type), value,
			 is_variance ? "a variance, finite and not negative" :
				       "a finite number");
}

/* The next tensor of the data. */
static int read_tensor(struct safetensors *file,
		       const struct safetensor *tensor, const struct item *item,
		       struct weights *weights, struct error *err)
{
	const enum safetensors_type type = tensor->type;
	const size_t size = safetensors_type_size(type);
	float *to = (item->place == PLACE_BUFFERS ? weights->buffers :
						    weights->parameters);
	uint8_t bytes[PIECE];

	for (size_t done = 0, some; done < tensor->count; done += some) {
		const size_t left = tensor->count - done;

		some = left < PIECE / size ? left : PIECE / size;
		if (safetensors_read(file, bytes, some * size, err))
			return -1;
		if (item->place == PLACE_TRACKED && !done)
			weights->tracked[item->offset] =
				safetensor_counter(type, bytes);
		for (size_t i = 0; i < some && item->place != PLACE_TRACKED;
		     i++) {
			const float value =
				safetensor_float(type, bytes + i * size);

			to[item->offset + done + i] = value;
			if (check_value(file, tensor, item, done + i, value,
					err))
				return -1;
		}
	}
	return 0;
}

int weights_allocate(const struct model *model, struct weights *weights)
{
	const size_t parameters = model_parameter_count(model);
	const size_t buffers = model_buffer_count(model);

	weights->parameters = calloc(parameters + buffers + 1,
				     sizeof(*weights->parameters));
	if (!weights->parameters)
		return -1;
	weights->buffers = weights->parameters + parameters;
	memset(weights->tracked, 0, sizeof(weights->tracked));
	return 0;
}

/* Reads the weights of a file that fits. */
static int read_all(struct safetensors *file, const struct state *state,
		    struct weights *weights, struct error *err)
{
	if (weights_allocate(state->model, weights))
		return error_memory(err, file->path);
	for (size_t i = 0; i < file->count; i++) {
		const struct safetensor *tensor = &file->tensors[i];

		if (read_tensor(file, tensor, state_find(state, tensor->name),
				weights, err)) {
			weights_release(weights);
			return -1;
		}
	}
	safetensors_sha256(file, weights->sha256);
	return 0;
}

/* Removes *prefix from all names. Its text is empty if there is none. */
static void leave_prefix(struct safetensors *file, const struct state *state,
			 char prefix[WEIGHTS_PREFIX])
{
	const size_t length = find_prefix(file, state);
	char text[WEIGHTS_PREFIX] = "";

	if (length)
		snprintf(text, sizeof(text), "%.*s", (int)(length < INT_MAX ?
			 length : INT_MAX), file->tensors[0].name);
	text_clean(prefix, WEIGHTS_PREFIX, text, 0);
	for (size_t i = 0; i < file->count; i++)
		file->tensors[i].name += length;
}

/* weights: NULL, the header is enough. */
static int read_file(const char *path, const struct model *model,
		     char prefix[WEIGHTS_PREFIX], struct weights *weights,
		     struct error *err)
{
	struct safetensors file;
	struct state state;
	int failed;

	prefix[0] = '\0';
	if (safetensors_open(path, &file, err))
		return -1;
	failed = state_make(&state, model, err);
	if (!failed) {
		leave_prefix(&file, &state, prefix);
		failed = check_fit(&file, &state, err);
		if (failed && prefix[0])
			text_append(err->message, sizeof(err->message), " (its "
				    "names, without '%s' before each)", prefix);
	}
	failed = failed ||
		 (weights && read_all(&file, &state, weights, err));
	state_release(&state);
	safetensors_close(&file);
	return failed ? -1 : 0;
}

int weights_check(const char *path, const struct model *model,
		  char prefix[WEIGHTS_PREFIX], struct error *err)
{
	return read_file(path, model, prefix, NULL, err);
}

void weights_print_note(const char *path, const char *prefix, FILE *log)
{
	if (prefix[0])
		fprintf(log, "note: %s: '%s' before each name was left out\n",
			path, prefix);
}

int weights_read(const char *path, const struct model *model,
		 struct weights *weights, struct error *err)
{
	char prefix[WEIGHTS_PREFIX];

	*weights = (struct weights){ 0 };
	return read_file(path, model, prefix, weights, err);
}

void weights_release(struct weights *weights)
{
	free(weights->parameters);
	*weights = (struct weights){ 0 };
}

struct weights_file {
	const struct state *state;
	const struct weights *weights;
};

/* Counters come first: a value of 8 bytes is at a multiple of them then, which
 * PyTorch asks for. */
static void place_data(struct state *state)
{
	size_t at = 0;

	for (int counters = 1; counters >= 0; counters--)
		for (int i = 0; i < state->count; i++) {
			struct safetensor *form = &state->items[i].form;

			if ((form->type == SAFETENSORS_I64) != counters)
				continue;
			form->begin = at;
			at += form->count * safetensors_type_size(form->type);
			form->end = at;
		}
}

static void put_little_endian(FILE *out, uint64_t value, int size)
{
	for (int i = 0; i < size; i++)
		putc_unlocked((int)(value >> 8 * i & 255), out);
}

static void put_values(FILE *out, const struct item *item,
		       const struct weights *weights)
{
	const float *values = (item->place == PLACE_BUFFERS ?
			       weights->buffers : weights->parameters) +
			      item->offset;

	for (size_t i = 0; i < item->form.count; i++) {
		uint32_t bits;

		memcpy(&bits, &values[i], sizeof(bits));
		put_little_endian(out, bits, 4);
	}
}

/* Prints the data in place_data()'s order, as a memory_printer. */
static int print_file(FILE *out, const void *context, struct error *err)
{
	const struct weights_file *output = context;
	const struct state *state = output->state;
	struct safetensor *forms = malloc((size_t)MOST_ITEMS * sizeof(*forms));
	int failed;

	if (!forms)
		return error_memory(err, "the header of the weights");
	for (int i = 0; i < state->count; i++)
		forms[i] = state->items[i].form;
	failed = safetensors_write_header(out, forms, (size_t)state->count,
					  err);
	free(forms);
	if (failed)
		return -1;
	for (int i = 0; i < state->count; i++)
		if (state->items[i].place == PLACE_TRACKED)
			put_little_endian(out, output->weights->tracked[
						state->items[i].offset], 8);
	for (int i = 0; i < state->count; i++)
		if (state->items[i].place != PLACE_TRACKED)
			put_values(out, &state->items[i], output->weights);
	return 0;
}

int weights_write(const char *path, const struct model *model,
		  const struct weights *weights, struct error *err)
{
	struct state state;
	const struct weights_file output = { &state, weights };
	int failed = state_make(&state, model, err);

	if (!failed) {
		place_data(&state);
		failed = file_replace_with(path, print_file, &output, err);
	}
	state_release(&state);
	return failed ? -1 : 0;
}
