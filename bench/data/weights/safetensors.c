#include "bench/data/weights/safetensors.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <jansson.h>

#include "bench/system/text.h"

#define LENGTH_BYTES 8
#define METADATA "__metadata__"

static const struct {
	const char *name;
	size_t size;
} types[SAFETENSORS_TYPES] = {
	[SAFETENSORS_F32] = { "F32", 4 },   [SAFETENSORS_F16] = { "F16", 2 },
	[SAFETENSORS_BF16] = { "BF16", 2 }, [SAFETENSORS_F64] = { "F64", 8 },
	[SAFETENSORS_F8_E4M3] = { "F8_E4M3", 1 },
	[SAFETENSORS_F8_E5M2] = { "F8_E5M2", 1 },
	[SAFETENSORS_BOOL] = { "BOOL", 1 },
	[SAFETENSORS_U8] = { "U8", 1 },	    [SAFETENSORS_I8] = { "I8", 1 },
	[SAFETENSORS_U16] = { "U16", 2 },   [SAFETENSORS_I16] = { "I16", 2 },
	[SAFETENSORS_U32] = { "U32", 4 },   [SAFETENSORS_I32] = { "I32", 4 },
	[SAFETENSORS_U64] = { "U64", 8 },   [SAFETENSORS_I64] = { "I64", 8 },
};

const char *safetensors_type_name(enum safetensors_type type)
{
	return types[type].name;
}

size_t safetensors_type_size(enum safetensors_type type)
{
	return types[type].size;
}

void safetensor_print_shape(const struct safetensor *tensor, char *text,
			    size_t size)
{
	snprintf(text, size, "[");
	for (int i = 0; i < tensor->sides; i++)
		text_append(text, size, "%s%zu", i ? ", " : "",
			    tensor->shape[i]);
	text_append(text, size, "]");
}

/* Fills size, in bytes, of a file that is open. */
static int check_regular(const struct safetensors *file, size_t *size,
			 struct error *err)
{
	struct stat about;

	if (fstat(file->fd, &about))
		return error_set(err, ERROR_INPUT, "%s: %s", file->path,
				 strerror(errno));
	if (!S_ISREG(about.st_mode))
		return error_set(err, ERROR_INPUT,
				 "%s: a regular file expected, this is %s",
				 file->path,
				 S_ISDIR(about.st_mode) ? "a directory" :
				 S_ISFIFO(about.st_mode) ? "a FIFO" :
							   "a device");
	*size = (size_t)about.st_size;
	return 0;
}

int safetensors_read(struct safetensors *file, void *bytes, size_t count,
		     struct error *err)
{
	char *to = bytes;

	for (size_t got = 0; got < count;) {
		const ssize_t n = read(file->fd, to + got, count - got);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return error_set(err, ERROR_INPUT,
					 "%s: cannot be read: %s", file->path,
					 n ? strerror(errno) :
					     "it became shorter meanwhile");
		got += (size_t)n;
	}
	hash_pieces_add(&file->hash, bytes, count);
	return 0;
}

void safetensors_sha256(struct safetensors *file, char hex[HASH_SHA256_SIZE])
{
	hash_pieces_end(&file->hash, hex);
}

/* The length that a file of size bytes announces for its header, which it can
 * hold. */
static int read_length(struct safetensors *file, size_t size, size_t *length,
		       struct error *err)
{
	uint8_t bytes[LENGTH_BYTES];
	uint64_t announced = 0;

	if (size < sizeof(bytes))
		return error_set(err, ERROR_INPUT,
				 "%s: cut short: a safetensors file begins "
				 "with the 8 bytes of a length, this one has "
				 "%zu", file->path, size);
	if (safetensors_read(file, bytes, sizeof(bytes), err))
		return -1;
	for (int i = LENGTH_BYTES; i--;)
		announced = announced << 8 | bytes[i];
	if (announced > SAFETENSORS_MOST_HEADER)
		return error_set(err, ERROR_INPUT,
				 "%s: not a safetensors file: its header would "
				 "have %llu bytes, at most %d are allowed",
				 file->path, (unsigned long long)announced,
				 SAFETENSORS_MOST_HEADER);
	if (announced > size - sizeof(bytes))
		return error_set(err, ERROR_INPUT,
				 "%s: cut short: its header has %llu bytes, "
				 "but the file has %zu of them", file->path,
				 (unsigned long long)announced,
				 size - sizeof(bytes));
	*length = (size_t)announced;
	return 0;
}

/* Limits the number of JSON values, which take up to 50 times the memory of
 * their text. There are at most as many as separators and opening brackets. */
static int check_values(const struct safetensors *file, const char *text,
			size_t length, struct error *err)
{
	size_t values = 0;

	for (size_t i = 0; i < length; i++)
		values += text[i] == ',' || text[i] == '[' || text[i] == '{';
	return values <= SAFETENSORS_MOST_VALUES ? 0 :
	       error_set(err, ERROR_INPUT, "%s: its header has %zu values, at "
			 "most %d are allowed", file->path, values,
			 SAFETENSORS_MOST_VALUES);
}

static int parse_header(struct safetensors *file, const char *text,
			size_t length, struct error *err)
{
	json_error_t wrong;

	if (check_values(file, text, length, err))
		return -1;
	file->header = json_loadb(text, length, JSON_REJECT_DUPLICATES,
				  &wrong);
	if (!file->header && json_error_code(&wrong) ==
				     json_error_out_of_memory)
		return error_memory(err, file->path);
	if (!file->header)
		return error_set(err, ERROR_INPUT,
				 "%s: not a safetensors file: its header is "
				 "not JSON at byte %d: %s", file->path,
				 LENGTH_BYTES + wrong.position, wrong.text);
	return json_is_object((json_t *)file->header) ? 0 :
	       error_set(err, ERROR_INPUT, "%s: not a safetensors file: its "
			 "header is not a JSON object", file->path);
}

/* data_bytes becomes what is left of the file. */
static int read_header(struct safetensors *file, size_t *data_bytes,
		       struct error *err)
{
	size_t size = 0, length = 0;
	char *text;
	int failed;

	if (check_regular(file, &size, err) ||
	    read_length(file, size, &length, err))
		return -1;
	text = malloc(length + 1);
	if (!text)
		return error_memory(err, file->path);
	*data_bytes = size - LENGTH_BYTES - length;
	failed = safetensors_read(file, text, length, err) ||
		 parse_header(file, text, length, err);
	free(text);
	return failed ? -1 : 0;
}

/* Refuses an entry that lacks one of the three members, or has another type. */
static int refuse_entry(const struct safetensors *file, const char *name,
			const char *what, struct error *err)
{
	return error_set(err, ERROR_INPUT, "%s: its tensor '%.80s': %s",
			 file->path, name, what);
}

static int read_type(const struct safetensors *file, const json_t *text,
		     struct safetensor *tensor, struct error *err)
{
	int type = 0;

	if (!json_is_string(text))
		return refuse_entry(file, tensor->name,
				    "no text dtype", err);
	while (type < SAFETENSORS_TYPES &&
	       strcmp(types[type].name, json_string_value(text)))
		type++;
	if (type == SAFETENSORS_TYPES)
		return error_set(err, ERROR_INPUT,
				 "%s: its tensor '%.80s' has dtype %.20s; F8, "
				 "BF16, F16, F32, F64, BOOL and whole numbers "
				 "can be read: save it as F32", file->path,
				 tensor->name,
				 json_string_value(text));
	tensor->type = (enum safetensors_type)type;
	return 0;
}

/* Into *number, if the value is a whole number that is not negative. */
static int get_size(const json_t *value, size_t *number)
{
	if (!json_is_integer(value) || json_integer_value(value) < 0)
		return -1;
	*number = (size_t)json_integer_value(value);
	return 0;
}

static int read_shape(const struct safetensors *file, const json_t *shape,
		      struct safetensor *tensor, struct error *err)
{
	const size_t most = SIZE_MAX / types[tensor->type].size;

	if (!json_is_array(shape) ||
	    json_array_size(shape) > SAFETENSORS_MOST_SIDES)
		return refuse_entry(file, tensor->name, "no shape of at most 8 "
				    "sizes", err);
	tensor->sides = (int)json_array_size(shape);
	tensor->count = 1;
	for (int i = 0; i < tensor->sides; i++) {
		size_t side;

		if (get_size(json_array_get(shape, (size_t)i), &side))
			return refuse_entry(file, tensor->name, "its shape has "
					    "an invalid size", err);
		if (side && tensor->count > most / side)
			return refuse_entry(file, tensor->name, "its shape is "
					    "larger than any file", err);
		tensor->shape[i] = side;
		tensor->count *= side;
	}
	return 0;
}

static int read_offsets(const struct safetensors *file, const json_t *offsets,
			size_t data_bytes, struct safetensor *tensor,
			struct error *err)
{
	const size_t needed = tensor->count * types[tensor->type].size;
	char shape[200];

	if (!json_is_array(offsets) || json_array_size(offsets) != 2 ||
	    get_size(json_array_get(offsets, 0), &tensor->begin) ||
	    get_size(json_array_get(offsets, 1), &tensor->end) ||
	    tensor->begin > tensor->end)
		return refuse_entry(file, tensor->name, "no data_offsets with "
				    "a beginning and a later end", err);
	if (tensor->end > data_bytes)
		return error_set(err, ERROR_INPUT,
				 "%s: cut short: the data of its tensor "
				 "'%.80s' end at byte %zu of %zu", file->path,
				 tensor->name, tensor->end, data_bytes);
	if (tensor->end - tensor->begin == needed)
		return 0;
	safetensor_print_shape(tensor, shape, sizeof(shape));
	return error_set(err, ERROR_INPUT, "%s: its tensor '%.80s', %s of %s, "
			 "takes %zu bytes, but its data_offsets have %zu",
			 file->path, tensor->name, shape,
			 types[tensor->type].name, needed,
			 tensor->end - tensor->begin);
}

static int read_entry(const struct safetensors *file, const json_t *entry,
		      size_t data_bytes, struct safetensor *tensor,
		      struct error *err)
{
	if (!json_is_object(entry) || json_object_size(entry) != 3)
		return refuse_entry(file, tensor->name, "an object of dtype, "
				    "shape and data_offsets expected", err);
	return read_type(file, json_object_get(entry, "dtype"), tensor, err) ||
	       read_shape(file, json_object_get(entry, "shape"), tensor,
			  err) ||
	       read_offsets(file, json_object_get(entry, "data_offsets"),
			    data_bytes, tensor, err) ? -1 : 0;
}

static int read_entries(struct safetensors *file, size_t data_bytes,
			struct error *err)
{
	json_t *header = file->header, *entry;
	const char *name;

	file->tensors = calloc(json_object_size(header) + 1,
			       sizeof(*file->tensors));
	if (!file->tensors)
		return error_memory(err, file->path);
	json_object_foreach(header, name, entry) {
		struct safetensor *tensor = &file->tensors[file->count];

		if (!strcmp(name, METADATA) && json_is_object(entry))
			continue;
		tensor->name = name;
		if (read_entry(file, entry, data_bytes, tensor, err))
			return -1;
		file->count++;
	}
	return 0;
}

static int compare_places(const void *left, const void *right)
{
	const struct safetensor *a = left, *b = right;

	if (a->begin != b->begin)
		return a->begin < b->begin ? -1 : 1;
	return (a->end > b->end) - (a->end < b->end);
}

/* Sorts tensors by their data. Each must begin where the previous one ends. */
static int check_places(struct safetensors *file, size_t data_bytes,
			struct error *err)
{
	size_t end = 0;

	qsort(file->tensors, file->count, sizeof(*file->tensors),
	      compare_places);
	for (size_t i = 0; i < file->count; i++) {
		const struct safetensor *tensor = &file->tensors[i];

		if (tensor->begin != end)
			return error_set(err, ERROR_INPUT,
					 "%s: the data of its tensor '%.80s' "
					 "begin at byte %zu, %s the previous "
					 "tensor, at %zu", file->path,
					 tensor->name, tensor->begin,
					 tensor->begin < end ? "before the "
					 "end of" : "not at the end of", end);
		end = tensor->end;
	}
	return end == data_bytes ? 0 :
	       error_set(err, ERROR_INPUT, "%s: longer than its header says: "
			 "tensors have %zu of %zu bytes of data", file->path,
			 end, data_bytes);
}

int safetensors_open(const char *path, struct safetensors *file,
		     struct error *err)
{
	size_t data_bytes = 0;

	*file = (struct safetensors){ .path = path };
	hash_pieces_begin(&file->hash);
	file->fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (file->fd < 0)
		return error_set(err, errno == ENOENT ? ERROR_MISSING :
							ERROR_INPUT,
				 "%s: cannot be opened: %s", path,
				 strerror(errno));
	if (!read_header(file, &data_bytes, err) &&
	    !read_entries(file, data_bytes, err) &&
	    !check_places(file, data_bytes, err))
		return 0;
	safetensors_close(file);
	return -1;
}

void safetensors_close(struct safetensors *file)
{
	json_decref(file->header);
	free(file->tensors);
	if (file->fd >= 0)
		close(file->fd);
	*file = (struct safetensors){ .fd = -1 };
}

const struct safetensor *safetensors_find(const struct safetensors *file,
					  const char *name)
{
	for (size_t i = 0; i < file->count; i++)
		if (!strcmp(file->tensors[i].name, name))
			return &file->tensors[i];
	return NULL;
}

/* Returns NULL if there is no memory. */
static json_t *make_entry(const struct safetensor *tensor)
{
	json_t *shape = json_array();

	for (int i = 0; i < tensor->sides; i++)
		if (json_array_append_new(shape, json_integer((json_int_t)
							tensor->shape[i]))) {
			json_decref(shape);
			return NULL;
		}
	return json_pack("{s:s, s:o, s:[I, I]}", "dtype",
			 types[tensor->type].name, "shape", shape,
			 "data_offsets", (json_int_t)tensor->begin,
			 (json_int_t)tensor->end);
}

/* The header's text, to be freed; or NULL. */
static char *make_header(const struct safetensor *tensors, size_t count)
{
	/* As other writers do; some readers require it. */
	json_t *header = json_pack("{s:{s:s}}", METADATA, "format", "pt");
	char *text = NULL;
	int failed = !header;

	for (size_t i = 0; !failed && i < count; i++)
		failed = json_object_set_new(header, tensors[i].name,
					     make_entry(&tensors[i]));
	if (!failed)
		text = json_dumps(header, JSON_COMPACT);
	json_decref(header);
	return text;
}

int safetensors_write_header(FILE *out, const struct safetensor *tensors,
			     size_t count, struct error *err)
{
	char *text = make_header(tensors, count);
	size_t length, padded;

	if (!text)
		return error_memory(err, "the header of the weights");
	length = strlen(text);
	padded = (length + 7) / 8 * 8;
	for (int i = 0; i < LENGTH_BYTES; i++)
		putc((int)(padded >> 8 * i & 255), out);
	fprintf(out, "%s%*s", text, (int)(padded - length), "");
	free(text);
	return 0;
}
