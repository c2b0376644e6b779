/*
 * The container of weights, https://github.com/huggingface/safetensors, format
 * 0.3. Only safetensors.c includes jansson.
 *
 * A file begins with 8 bytes, little endian: the length of the header. The
 * header is JSON, {"NAME": {"dtype": "F32", "shape": [2, 3], "data_offsets":
 * [0, 24]}, ...}. It may have texts in "__metadata__", and blanks may follow
 * it. The data follow, little endian; the tensors fill them without a gap or an
 * overlap.
 *
 * Files are not trusted. A length, an offset or a shape is compared with the
 * size of the file before it is used. Memory of jansson is limited by the
 * header's bytes and by SAFETENSORS_MOST_VALUES.
 */
#ifndef BENCH_DATA_WEIGHTS_SAFETENSORS_H
#define BENCH_DATA_WEIGHTS_SAFETENSORS_H

#include <stdio.h>

#include "backends/contract/error.h"
#include "bench/system/hash.h"

#define SAFETENSORS_MOST_HEADER 100000000 /* bytes, as in its authors' reader */
#define SAFETENSORS_MOST_VALUES 1000000	  /* of JSON, in a header */
#define SAFETENSORS_MOST_SIDES 8

/* Real numbers of one to eight bytes, integers last. Other types are
 * refused. */
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
	int sides; /* 0 = one value */
	size_t shape[SAFETENSORS_MOST_SIDES];
	size_t count;	   /* number of values */
	size_t begin, end; /* bytes from the start of the data */
};

struct safetensors {
	const char *path;
	int fd;
	void *header; /* jansson's object; has the names */
	struct safetensor *tensors; /* in the order of their data */
	size_t count;
	struct hash_pieces hash; /* of all bytes read */
};

/*
 * Opens the file and checks its header; the caller closes it. path must stay
 * until then. Fails with ERROR_INPUT, which names the file. Does not block:
 * anything but a regular file is refused.
 */
int safetensors_open(const char *path, struct safetensors *file,
		     struct error *err);

/* Reads the next count bytes of the data, which must exist. */
int safetensors_read(struct safetensors *file, void *bytes, size_t count,
		     struct error *err);

/* Writes the hash of the whole file. All data must have been read. */
void safetensors_sha256(struct safetensors *file, char hex[HASH_SHA256_SIZE]);

void safetensors_close(struct safetensors *file);

/* Returns the tensor of that name, or NULL. */
const struct safetensor *safetensors_find(const struct safetensors *file,
					  const char *name);

/* Return "F32", and the bytes of one value. */
const char *safetensors_type_name(enum safetensors_type type);
size_t safetensors_type_size(enum safetensors_type type);

/* Writes "[10, 1, 5, 5]". */
void safetensor_print_shape(const struct safetensor *tensor, char *text,
			    size_t size);

/* Writes the beginning of a file with these tensors in this order. Their data
 * must follow, at begin to end. The beginning is a multiple of 8 bytes. */
int safetensors_write_header(FILE *out, const struct safetensor *tensors,
			     size_t count, struct error *err);

#endif
