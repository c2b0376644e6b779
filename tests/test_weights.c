/* Weights: what is written reads the same; each wrong file is told in words. */
#include "bench/run/weights.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "bench/run/safetensors.h"
#include "tests/folder.h"

enum { HEADER_MOST = 1 << 13, DATA_MOST = 1 << 12, VALUES = 8 };

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

static const struct layer vector_layers[] = {
	{ .kind = LAYER_LINEAR, .name = "fc", .outputs = 1 },
	{ .kind = LAYER_LOSS, .loss = LOSS_BCE },
};

/* With a weight of [1, VALUES], and a bias. */
static const struct model vector = {
	.name = "vector",
	.input = { 1, 1, VALUES },
	.layers = vector_layers,
	.layer_count = sizeof(vector_layers) / sizeof(vector_layers[0]),
	.recipe = { .batch = 1, .epochs = 1, .optimizer = OPTIMIZER_SGD },
};

/* A file of net, as it was written. */
struct sample {
	float parameters[PARAMETERS], buffers[BUFFERS];
	struct weights weights;
	char header[HEADER_MOST]; /* the text */
	char data[DATA_MOST];
	size_t data_size, size;
};

static uint64_t length_of(const unsigned char *bytes)
{
	uint64_t length = 0;

	for (int i = 8; i--;)
		length = length << 8 | bytes[i];
	return length;
}

static void sample_make(struct sample *sample, const char *path)
{
	unsigned char length[8];
	struct error err;
	FILE *file;

	for (int i = 0; i < PARAMETERS; i++)
		sample->parameters[i] = (float)sin(i + 1);
	sample->parameters[3] = -0.f;
	sample->parameters[4] = NAN;
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
static void write_parts(const char *path, uint64_t length, const char *header,
			size_t header_size, const void *data, size_t data_size)
{
	FILE *file = fopen(path, "wb");

	assert_non_null(file);
	for (int i = 0; i < 8; i++)
		putc((int)(length >> 8 * i & 255), file);
	assert_int_equal(fwrite(header, 1, header_size, file), header_size);
	assert_int_equal(fwrite(data, 1, data_size, file), data_size);
	assert_int_equal(fclose(file), 0);
}

static void write_text(const char *path, const char *header, const void *data,
		       size_t data_size)
{
	write_parts(path, strlen(header), header, strlen(header), data,
		    data_size);
}

/* Refused by both, in words and with the file's name. */
static void assert_refused_as(enum error_kind kind, const char *path,
			      const char *words)
{
	struct error err = { .message = "" }, again = { .message = "" };
	struct weights weights;

	if (!weights_check(path, &net, &err))
		fail_msg("%s fits, expected: %s", path, words);
	assert_int_equal(weights_read(path, &net, &weights, &again), -1);
	assert_string_equal(again.message, err.message);
	assert_int_equal(err.kind, kind);
	assert_null(weights.parameters);
	if (!strstr(err.message, path) || !strstr(err.message, words))
		fail_msg("'%s' lacks '%s'", err.message, words);
}

static void assert_refused(const char *path, const char *words)
{
	assert_refused_as(ERROR_INPUT, path, words);
}

static void what_is_written_reads_the_same(void **state)
{
	const char *path = in_folder("round");
	char sha256[HASH_SHA256_SIZE];
	struct weights weights;
	struct sample sample;
	struct error err = { .message = "" };

	(void)state;
	sample_make(&sample, path);
	assert_int_equal(weights_check(path, &net, &err), 0);
	if (weights_read(path, &net, &weights, &err))
		fail_msg("%s", err.message);
	assert_memory_equal(weights.parameters, sample.parameters,
			    sizeof(sample.parameters));
	assert_memory_equal(weights.buffers, sample.buffers,
			    sizeof(sample.buffers));
	assert_memory_equal(weights.tracked, sample.weights.tracked,
			    sizeof(weights.tracked));
	assert_int_equal(hash_sha256_file(path, sha256), 0);
	assert_string_equal(weights.sha256, sha256);
	weights_release(&weights);
	assert_null(weights.parameters);
}

/* Names and shapes are PyTorch's, in its order; counters are aligned. */
static void the_header_is_as_pytorch_has_it(void **state)
{
	static const char wanted[] =
		"{\"__metadata__\":{\"format\":\"pt\"},"
		"\"conv1.weight\":{\"dtype\":\"F32\",\"shape\":[2,1,3,3],"
		"\"data_offsets\":[8,80]},"
		"\"bn1.weight\":{\"dtype\":\"F32\",\"shape\":[2],"
		"\"data_offsets\":[80,88]},"
		"\"bn1.bias\":{\"dtype\":\"F32\",\"shape\":[2],"
		"\"data_offsets\":[88,96]},"
		"\"bn1.running_mean\":{\"dtype\":\"F32\",\"shape\":[2],"
		"\"data_offsets\":[96,104]},"
		"\"bn1.running_var\":{\"dtype\":\"F32\",\"shape\":[2],"
		"\"data_offsets\":[104,112]},"
		"\"bn1.num_batches_tracked\":{\"dtype\":\"I64\",\"shape\":[],"
		"\"data_offsets\":[0,8]},"
		"\"fc.weight\":{\"dtype\":\"F32\",\"shape\":[3,8],"
		"\"data_offsets\":[112,208]},"
		"\"fc.bias\":{\"dtype\":\"F32\",\"shape\":[3],"
		"\"data_offsets\":[208,220]}}";
	struct sample sample;

	(void)state;
	sample_make(&sample, in_folder("header"));
	assert_memory_equal(sample.header, wanted, strlen(wanted));
	assert_int_equal(strspn(sample.header + strlen(wanted), " "),
			 strlen(sample.header) - strlen(wanted));
	assert_int_equal(sample.data_size, 220);
	assert_memory_equal(sample.data, "\xef\xcd\xab\x89\x67\x45\x23\x01", 8);
	assert_memory_equal(sample.data + 8, sample.parameters, 72);
}

/* Another text for the first one in the header. */
struct change {
	const char *from, *to, *words;
};

#define ENTRY "{\"dtype\":\"F32\",\"shape\":[0],\"data_offsets\":[0,0]}"

static const struct change changes[] = {
	/* What does not fit the model. */
	{ "[2,1,3,3]", "[2,1,9]", "has 'conv1.weight' as [2, 1, 9], which is "
	  "[2, 1, 3, 3] in model 'net'" },
	{ "[3,8]", "[8,3]", "has 'fc.weight' as [8, 3], which is [3, 8]" },
	{ "[],", "[1],", "has 'bn1.num_batches_tracked' as [1], which is []" },
	{ "conv1.weight", "conv1.w", "has no 'conv1.weight', which is [2, 1, 3,"
	  " 3] in model 'net'" },
	{ "bn1.running_var", "bn1.var", "has no 'bn1.running_var'" },
	{ "bn1.num_batches_tracked", "b", "has 'b', [], which model 'net' has "
	  "not" },
	{ "{", "{\"x\":" ENTRY ",", "has 'x', [0], which model 'net' has not" },
	{ "\"I64\"", "\"F64\"", "as F64; I64 expected" },
	{ "\"F32\",\"shape\":[2],\"data_offsets\":[80", "\"I64\",\"shape\":[1],"
	  "\"data_offsets\":[80", "has 'bn1.weight' as [1]" },
	{ "F32", "I32", "'conv1.weight' has dtype I32; F32, F16" },
	/* Lies. */
	{ "[8,80]", "[8,76]", "[2, 1, 3, 3] of F32, takes 72 bytes, but its "
	  "data_offsets have 68" },
	{ "F32", "BF16", "takes 36 bytes, but its data_offsets have 72" },
	{ "[2,1,3,3]", "[2,1,3,4]", "takes 96 bytes" },
	{ "[208,220]", "[212,224]", "cut short: the data of its tensor "
	  "'fc.bias' end at byte 224 of 220" },
	{ "[208,220]", "[204,216]", "'fc.bias' begin at byte 204, before the "
	  "end of that before it, at 208" },
	{ "[88,96]", "[80,88]", "begin at byte 80, before the end of" },
	{ "\"fc.bias\":{\"dtype\":\"F32\",\"shape\":[3],\"data_offsets\":"
	  "[208,220]}", "\"fc.bias\":{\"dtype\":\"F32\",\"shape\":[2],"
	  "\"data_offsets\":[212,220]}", "begin at byte 212, not at the end "
	  "of" },
	{ "[3],\"data_offsets\":[208,220]", "[2],\"data_offsets\":[208,216]",
	  "longer than its header says: tensors have 216 of 220 bytes" },
	{ "[8,80]", "[80,8]", "data_offsets of a beginning and an end" },
	{ "[8,80]", "[-8,64]", "data_offsets of a beginning and an end" },
	{ "[8,80]", "[8]", "data_offsets of a beginning and an end" },
	{ "[8,80]", "[8,80,80]", "data_offsets of a beginning and an end" },
	{ "[8,80]", "[8,80.0]", "data_offsets of a beginning and an end" },
	{ "[8,80]", "[8,9223372036854775807]", "cut short: the data" },
	{ "[8,80]", "[8,9223372036854775808]", "too big integer" },
	{ "[8,80]", "{}", "data_offsets of a beginning and an end" },
	{ "[2,1,3,3]", "[4294967296,4294967296]", "larger than any file" },
	{ "[2,1,3,3]", "[4611686018427387904,2]", "larger than any file" },
	{ "[2,1,3,3]", "[2,-1,3,3]", "its shape has what is no size" },
	{ "[2,1,3,3]", "[2,\"1\",3,3]", "its shape has what is no size" },
	{ "[2,1,3,3]", "[1,1,1,1,1,1,1,1,1]", "at most 8 sizes" },
	{ "[2,1,3,3]", "18", "a shape of at most 8 sizes is missing" },
	{ "\"F32\"", "32", "a dtype that is a text is missing" },
	{ "\"dtype\"", "\"type\"", "a dtype that is a text is missing" },
	{ "\"shape\"", "\"more\":1,\"shape\"", "an object of dtype, shape and "
	  "data_offsets expected" },
	{ "\"__metadata__\":{\"format\":\"pt\"}", "\"__metadata__\":[]",
	  "'__metadata__': an object" },
	{ "\"bn1.bias\"", "\"bn1.weight\"", "duplicate object key" },
	{ "\"shape\"", "\"dtype\":\"F32\",\"shape\"", "duplicate object key" },
	/* No JSON. */
	{ "{", "", "is no JSON at byte" },
	{ "}}", "}", "is no JSON at byte" },
	{ "}}", "}}x", "is no JSON at byte" },
	{ "conv1", "conv\\u0000", "is no JSON at byte" },
	{ "conv1", "conv\xff", "is no JSON at byte" },
	{ "\"F32\"", "F32", "is no JSON at byte" },
};

static void each_wrong_header_is_told(void **state)
{
	const char *path = in_folder("wrong");
	struct sample sample;

	(void)state;
	sample_make(&sample, path);
	for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
		const struct change *change = &changes[i];
		const char *at = strstr(sample.header, change->from);
		char header[HEADER_MOST];

		assert_non_null(at);
		snprintf(header, sizeof(header), "%.*s%s%s",
			 (int)(at - sample.header), sample.header, change->to,
			 at + strlen(change->from));
		write_text(path, header, sample.data, sample.data_size);
		assert_refused(path, change->words);
	}
	write_text(path, sample.header, sample.data, sample.data_size);
	assert_int_equal(weights_check(path, &net, &(struct error){ 0 }), 0);
}

static void other_headers_are_refused(void **state)
{
	static const struct {
		const char *header, *words;
	} wrong[] = {
		{ "", "is no JSON" },
		{ "[]", "is no object of JSON" },
		{ "0", "is no JSON" },
		{ "{\"\":" ENTRY "}", "has no 'conv1.weight'" },
		{ "{\"\":0}", "its tensor '': an object" },
		{ "{}", "has no 'conv1.weight'" },
		{ "{}    ", "has no 'conv1.weight'" },
	};
	const char *path = in_folder("other");
	const size_t many = SAFETENSORS_MOST_VALUES + 10;
	char *text = malloc(many);

	(void)state;
	assert_non_null(text);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		write_text(path, wrong[i].header, "", 0);
		assert_refused(path, wrong[i].words);
	}
	write_text(path, "{}", "12345678", 8);
	assert_refused(path, "tensors have 0 of 8 bytes of data");
	memset(text, '[', many);
	write_parts(path, 5000, text, 5000, "", 0);
	assert_refused(path, "maximum parsing depth reached");
	write_parts(path, many, text, many, "", 0);
	assert_refused(path, "its header has 1000010 values, 1000000 are most");
	free(text);
}

static void lengths_are_not_believed(void **state)
{
	static const struct {
		uint64_t length;
		const char *words;
	} wrong[] = {
		{ 200, "cut short: its header has 200 bytes, of which 2" },
		{ SAFETENSORS_MOST_HEADER, "cut short: its header" },
		{ SAFETENSORS_MOST_HEADER + 1, "would have 100000001 bytes" },
		{ 1ULL << 63, "would have 9223372036854775808 bytes" },
		{ UINT64_MAX - 7, "would have 18446744073709551608 bytes" },
		{ UINT64_MAX, "would have 18446744073709551615 bytes" },
	};
	const char *path = in_folder("length");
	struct sample sample;

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		write_parts(path, wrong[i].length, "{}", 2, "", 0);
		assert_refused(path, wrong[i].words);
	}
	sample_make(&sample, path);
	for (off_t size = (off_t)sample.size; size--;) {
		assert_int_equal(truncate(path, size), 0);
		assert_refused(path, "cut short");
	}
	sample_make(&sample, path);
	assert_int_equal(truncate(path, (off_t)sample.size + 1), 0);
	assert_refused(path, "longer than its header says");
}

/* Values of one type, size bytes each, as a file of vector. */
static void read_vector(const char *type, const void *values, size_t size,
			float floats[VALUES + 1])
{
	const char *path = in_folder("typed");
	char header[400];
	struct weights weights;
	struct error err;

	snprintf(header, sizeof(header),
		 "{\"fc.weight\":{\"dtype\":\"%s\",\"shape\":[1,%d],"
		 "\"data_offsets\":[%zu,%zu]},\"fc.bias\":{\"dtype\":\"%s\","
		 "\"shape\":[1],\"data_offsets\":[0,%zu]}}", type, VALUES,
		 size, size * (VALUES + 1), type, size);
	write_text(path, header, values, size * (VALUES + 1));
	if (weights_read(path, &vector, &weights, &err))
		fail_msg("%s", err.message);
	memcpy(floats, weights.parameters, (VALUES + 1) * sizeof(*floats));
	weights_release(&weights);
}

/* In the data the bias is in front, among the parameters behind. */
static void assert_values(const char *type, const void *values, size_t size,
			  const float *wanted)
{
	float floats[VALUES + 1];

	read_vector(type, values, size, floats);
	assert_memory_equal(&floats[VALUES], wanted, sizeof(*wanted));
	assert_memory_equal(floats, wanted + 1, VALUES * sizeof(*wanted));
}

static void other_types_become_floats(void **state)
{
	static const uint16_t halves[] = { 0x3555, 0x0000, 0x8000, 0x3c00,
					   0xc000, 0x7bff, 0x0001, 0xfc00,
					   0x83ff };
	static const float of_halves[] = { 0x1.554p-2f, 0, -0.f, 1, -2, 65504,
					   0x1p-24f, -INFINITY,
					   -0x3ffp-24f };
	static const uint16_t brains[] = { 0x3eab, 0x0000, 0x8000, 0x3f80,
					   0xc000, 0x7f7f, 0x0001, 0xff80,
					   0x4049 };
	static const float of_brains[] = { 0x1.56p-2f, 0, -0.f, 1, -2,
					   0x1.fep127f, 0x1p-133f, -INFINITY,
					   3.140625f };
	static const double doubles[] = { 1. / 3, 0, -0., 1, 1e300, -1e300,
					  0x1p-149, INFINITY,
					  0x1.fffffefffp127 };
	static const float of_doubles[] = { 1.f / 3, 0, -0.f, 1, INFINITY,
					    -INFINITY, 0x1p-149f, INFINITY,
					    0x1.fffffep127f };
	uint16_t no_number[VALUES + 1] = { 0x7e01 };
	float floats[VALUES + 1];

	(void)state;
	assert_values("F16", halves, 2, of_halves);
	assert_values("BF16", brains, 2, of_brains);
	assert_values("F64", doubles, 8, of_doubles);
	assert_values("F32", of_halves, 4, of_halves);
	read_vector("F16", no_number, 2, floats);
	assert_true(isnan(floats[VALUES]));
}

/* As PyTorch before 0.4.1 wrote them, without counters. */
static void counters_may_be_missing(void **state)
{
	static const char counter[] =
		"\"bn1.num_batches_tracked\":{\"dtype\":\"I64\",\"shape\":[],"
		"\"data_offsets\":[0,8]},";
	static const char first[] = "\"shape\":[2,1,3,3],\"data_offsets\":[8";
	static const char shorter[] = "\"shape\":[2,1,3,3],\"data_offsets\":[0";
	const char *path = in_folder("counters");
	char header[HEADER_MOST], *at;
	struct weights weights;
	struct sample sample;
	struct error err;

	(void)state;
	sample_make(&sample, path);
	at = strstr(sample.header, counter);
	assert_non_null(at);
	memmove(at, at + strlen(counter), strlen(at + strlen(counter)) + 1);
	/* Eight bytes of the first weight's are the counter's then. */
	at = strstr(sample.header, first);
	assert_non_null(at);
	memcpy(at, shorter, strlen(shorter));
	write_text(path, sample.header, sample.data, sample.data_size);
	assert_refused(path, "takes 72 bytes, but its data_offsets have 80");
	snprintf(header, sizeof(header), "%.*s\"F64\",\"shape\":[2],%s",
		 (int)(strstr(sample.header, "\"F32\",\"shape\":[2],") -
		       sample.header), sample.header,
		 strstr(sample.header, "\"data_offsets\":[80"));
	at = strstr(header, "[0,80]");
	memcpy(at, "[0,72]", 6);
	at = strstr(header, "[80,88]");
	memcpy(at, "[72,88]", 7);
	write_text(path, header, sample.data, sample.data_size);
	if (weights_read(path, &net, &weights, &err))
		fail_msg("%s", err.message);
	assert_int_equal(weights.tracked[1], 0);
	assert_memory_equal(weights.buffers, sample.buffers,
			    sizeof(sample.buffers));
	weights_release(&weights);
}

static void only_regular_files(void **state)
{
	const char *path = in_folder("special");

	(void)state;
	assert_refused_as(ERROR_MISSING, path, "No such file");
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_refused(path, "a FIFO");
	unlink(path);
	assert_refused(folder, "a directory");
	assert_refused("/dev/null", "a device");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_written_reads_the_same),
		cmocka_unit_test(the_header_is_as_pytorch_has_it),
		cmocka_unit_test(each_wrong_header_is_told),
		cmocka_unit_test(other_headers_are_refused),
		cmocka_unit_test(lengths_are_not_believed),
		cmocka_unit_test(other_types_become_floats),
		cmocka_unit_test(counters_may_be_missing),
		cmocka_unit_test(only_regular_files),
	};

	return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
