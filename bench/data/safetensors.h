/*
 * The container of weights, https://github.com/huggingface/safetensors, format
 * 0.3: the only user of jansson.
 *
 * 8 bytes are the length of the header, little endian; the header is JSON,
 * {"NAME": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, ...},
 * maybe with a "__metadata__" of texts; blanks may follow it. Then come the
 * data, little endian, which the tensors fill without a hole or an overlap.
 *
 * Files are not trusted: a length, an offset or a shape is held against the
 * size of the file before anything is allocated or read by it, and what a
 * header makes jansson allocate is bounded by its bytes and by
 * SAFETENSORS_MOST_VALUES.
 */
#ifndef BENCH_DATA_SAFETENSORS_H
#define BENCH_DATA_SAFETENSORS_H

#include <stdio.h>

#include "backends/contract/error.h"
#include "bench/system/hash.h"

#define SAFETENSORS_MOST_HEADER 100000000 /* bytes, as its authors' reader */
#define SAFETENSORS_MOST_VALUES 1000000	  /* of JSON, in a header */
#define SAFETENSORS_MOST_SIDES 8

/* Real numbers of one to eight bytes, whole ones last; others are refused. */
enum safetensors_type {
	SAFETENSORS_F32,
	SAFETENSORS_F16,
	SAFETENSORS_BF16,
	SAFETENSORS_F64,
	SAFETENSORS_F8_E4M3,
	SAFETENSORS_F8_E5M2,
	SAFETENSORS_BOOL,
	SAFETENSORS_U8,
	SAFETENSORS_I8,
	SAFETENSORS_U16,
	SAFETENSORS_I16,
	SAFETENSORS_U32,
	SAFETENSORS_I32,
	SAFETENSORS_U64,
	SAFETENSORS_I64,
	SAFETENSORS_TYPES
};

struct safetensor {
	const char *name;
	enum safetensors_type type;
	int sides; /* 0: one value */
	size_t shape[SAFETENSORS_MOST_SIDES];
	size_t count;	   /* of values */
	size_t begin, end; /* bytes from the start of the data */
};

struct safetensors {
	const char *path;
	int fd;
	void *header; /* jansson's; has the names */
	struct safetensor *tensors; /* in the order of their data */
	size_t count;
	struct hash_pieces hash; /* of all that was read */
};

/*
 * Opens the file and checks its header; the caller closes it. path stays the
 * caller's until then. What is wrong is ERROR_INPUT and names the file. Never
 * waits: what is not a regular file is refused.
 */
int safetensors_open(const char *path, struct safetensors *file,
		     struct error *err);

/* The next count bytes of the data, which there are. */
int safetensors_read(struct safetensors *file, void *bytes, size_t count,
		     struct error *err);

/* Of the whole file, once all its data were read. */
void safetensors_sha256(struct safetensors *file, char hex[HASH_SHA256_SIZE]);

void safetensors_close(struct safetensors *file);

/* The tensor of that name, or NULL. */
const struct safetensor *safetensors_find(const struct safetensors *file,
					  const char *name);

/* "F32"; of one value there are so many bytes. */
const char *safetensors_type_name(enum safetensors_type type);
size_t safetensors_type_size(enum safetensors_type type);

/* "[10, 1, 5, 5]" */
void safetensor_print_shape(const struct safetensor *tensor, char *text,
			    size_t size);

/*
 * The beginning of a file with these tensors, listed in this order; their data
 * follow it, where begin and end say. It is a multiple of 8 bytes.
 */
int safetensors_write_header(FILE *out, const struct safetensor *tensors,
			     size_t count, struct error *err);

#endif
