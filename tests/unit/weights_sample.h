/* For tests: a small model, and a file of its weights. */
#ifndef TESTS_WEIGHTS_SAMPLE_H
#define TESTS_WEIGHTS_SAMPLE_H

#include <float.h>

#include "bench/data/weights/weights.h"
#include "tests/cmocka.h"
#include "tests/unit/folder.h"

enum { HEADER_MOST = 1 << 13, DATA_MOST = 1 << 12 };

static const struct layer layers[] = {
	{ .kind = LAYER_CONV, .name = "conv1", .outputs = 2, .window = 3,
	  .no_bias = 1 },
	{ .kind = LAYER_BATCHNORM, .name = "bn1" },
	{ .kind = LAYER_LINEAR, .name = "fc", .outputs = 3 },
	{ .kind = LAYER_LOSS },
};

static const struct model net = {
	.name = "net",
	.input = { 1, 4, 4 },
	.layers = layers,
	.layer_count = sizeof(layers) / sizeof(layers[0]),
	.recipe = { .batch = 1, .epochs = 1, .optimizer = OPTIMIZER_SGD },
};

enum { PARAMETERS = 18 + 4 + 27, BUFFERS = 4 };

/* A file of net, as it was written. */
struct sample {
	float parameters[PARAMETERS], buffers[BUFFERS];
	struct weights weights;
	char header[HEADER_MOST]; /* the text */
	char data[DATA_MOST];
	size_t data_size, size;
};

static inline uint64_t length_of(const unsigned char *bytes)
{
	uint64_t length = 0;

	for (int i = 8; i--;)
		length = length << 8 | bytes[i];
	return length;
}

static inline void sample_make(struct sample *sample, const char *path)
{
	unsigned char length[8];
	struct error err;
	FILE *file;

	for (int i = 0; i < PARAMETERS; i++)
		sample->parameters[i] = (float)sin(i + 1);
	sample->parameters[3] = -0.f;
	sample->parameters[4] = FLT_MAX;
	sample->parameters[5] = 1e-42f; /* subnormal */
	for (int i = 0; i < BUFFERS; i++)
		sample->buffers[i] = (float)exp(i);
	memset(&sample->weights, 0, sizeof(sample->weights));
	sample->weights.parameters = sample->parameters;
	sample->weights.buffers = sample->buffers;
	sample->weights.tracked[1] = 0x0123456789abcdef;
	assert_int_equal(weights_write(path, &net, &sample->weights, &err), 0);
	file = fopen(path, "rb");
	assert_non_null(file);
	assert_int_equal(fread(length, 1, 8, file), 8);
	memset(sample->header, 0, sizeof(sample->header));
	assert_true(length_of(length) < HEADER_MOST);
	assert_int_equal(length_of(length) % 8, 0);
	assert_int_equal(fread(sample->header, 1, length_of(length), file),
			 length_of(length));
	sample->data_size = fread(sample->data, 1, DATA_MOST, file);
	sample->size = 8 + length_of(length) + sample->data_size;
	fclose(file);
}

/* length, whatever it should be, a header and data. */
static inline void write_parts(const char *path, uint64_t length,
			       const char *header, size_t header_size,
			       const void *data, size_t data_size)
{
	FILE *file = fopen(path, "wb");

	assert_non_null(file);
	for (int i = 0; i < 8; i++)
		putc((int)(length >> 8 * i & 255), file);
	assert_int_equal(fwrite(header, 1, header_size, file), header_size);
	assert_int_equal(fwrite(data, 1, data_size, file), data_size);
	assert_int_equal(fclose(file), 0);
}

static inline void write_text(const char *path, const char *header,
			      const void *data, size_t data_size)
{
	write_parts(path, strlen(header), header, strlen(header), data,
		    data_size);
}

#endif
