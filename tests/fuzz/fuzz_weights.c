/*
 * Files of weights. The first byte chooses the model and whether the rest is
 * the file, or a header that gets its length in front, and zeros as data. What
 * was read is written, and must be equal when it is read again.
 */
#include "bench/data/weights/weights.h"

#include "bench/data/weights/safetensors.h"
#include "tests/fuzz/fuzz.h"

const char fuzz_corpus[] = "weights";

enum {
	SMALL = 1,	/* the model without batch norm */
	HEADER = 2,	/* the rest is the header */
	MOST = 1 << 16, /* bytes of an input */
	DATA_MOST = 4096 /* bytes of the zeros */
};

static const struct layer norm_layers[] = {
	{ .kind = LAYER_CONV, .name = "c", .outputs = 2, .window = 2,
	  .no_bias = 1 },
	{ .kind = LAYER_BATCHNORM, .name = "b" },
	{ .kind = LAYER_LINEAR, .name = "f", .outputs = 2 },
	{ .kind = LAYER_LOSS },
};

static const struct layer small_layers[] = {
	{ .kind = LAYER_LINEAR, .name = "f", .outputs = 2 },
	{ .kind = LAYER_LOSS },
};

static const struct model models[] = {
	{ .name = "norm", .input = { 1, 2, 2 }, .layers = norm_layers,
	  .layer_count = 4 },
	{ .name = "small", .input = { 1, 1, 2 }, .layers = small_layers,
	  .layer_count = 2 },
};

/* In memory; to be closed. */
static int make_file(int mode, const uint8_t *bytes, size_t count)
{
	static const uint8_t zeros[DATA_MOST];
	uint8_t length[8] = { 0 };
	int fd;

	if (!(mode & HEADER))
		return memory_file(bytes, count);
	for (int i = 0; i < 8; i++)
		length[i] = (uint8_t)((uint64_t)count >> 8 * i);
	fd = memory_file(length, sizeof(length));
	MUST(lseek(fd, 0, SEEK_END) == sizeof(length));
	MUST(write(fd, bytes, count) == (ssize_t)count);
	/* As many as the mode says, in steps of a float. */
	count = (size_t)(mode >> 2) * 4;
	MUST(write(fd, zeros, count) == (ssize_t)count);
	return fd;
}

/* What fits may be read, and is as it was when it was written again. */
static void go_round(const char *path, const struct model *model)
{
	const size_t parameters = model_parameter_count(model);
	const size_t buffers = model_buffer_count(model);
	char copy[40];
	struct weights first, again;
	struct error err;
	int fd = memory_file("", 0);

	snprintf(copy, sizeof(copy), "/proc/self/fd/%d", fd);
	if (weights_read(path, model, &first, &err)) {
		must_be_told(&err, ERROR_INPUT);
		MUST(strstr(err.message, "; use weights of"));
		close(fd);
		return;
	}
	MUST(!weights_write(copy, model, &first, &err));
	MUST(!weights_read(copy, model, &again, &err));
	MUST(!memcmp(first.parameters, again.parameters,
		     parameters * sizeof(float)));
	MUST(!memcmp(first.buffers, again.buffers, buffers * sizeof(float)));
	MUST(!memcmp(first.tracked, again.tracked, sizeof(first.tracked)));
	weights_release(&first);
	weights_release(&again);
	close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct error err = { .message = "" };
	struct safetensors file;
	const struct model *model;
	char path[40], prefix[WEIGHTS_PREFIX];
	int fd;

	if (size < 1 || size > MOST)
		return -1;
	model = &models[data[0] & SMALL];
	fd = make_file(data[0], data + 1, size - 1);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (safetensors_open(path, &file, &err)) {
		must_be_told(&err, ERROR_INPUT);
		MUST(!strncmp(err.message, path, strlen(path)));
		MUST(weights_check(path, model, prefix, &err));
	} else {
		safetensors_close(&file);
	}
	if (!weights_check(path, model, prefix, &err)) {
		go_round(path, model);
	} else {
		must_be_told(&err, ERROR_INPUT);
		MUST(!strncmp(err.message, path, strlen(path)));
	}
	close(fd);
	return 0;
}
