/* Weights: what is written reads the same; each wrong file is told in words. */
#include "bench/run/weights.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <float.h>
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
	{ "[],", "[1,1],", "has 'bn1.num_batches_tracked' as [1, 1], which is "
	  "[]" },
	{ "[],\"data_offsets\":[0,8]", "[0],\"data_offsets\":[0,0]",
	  "has 'bn1.num_batches_tracked' as [0], which is []" },
	{ "conv1.weight", "conv1.w", "has no 'conv1.weight', which is [2, 1, 3,"
	  " 3] in model 'net'" },
	{ "bn1.running_var", "bn1.var", "has no 'bn1.running_var'" },
	{ "bn1.num_batches_tracked", "b", "has 'b', [], which model 'net' has "
	  "not" },
	{ "{", "{\"x\":" ENTRY ",", "has 'x', [0], which model 'net' has not" },
	{ "\"F32\",\"shape\":[2],\"data_offsets\":[80", "\"I64\",\"shape\":[1],"
	  "\"data_offsets\":[80", "has 'bn1.weight' as [1]" },
	{ "F32", "C64", "'conv1.weight' has dtype C64; F8, BF16, F16, F32, F64, "
	  "BOOL and whole numbers can be read: save it as F32" },
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
static int read_vector(const char *type, const void *values, size_t size,
		       float floats[VALUES + 1], struct error *err)
{
	const char *path = in_folder("typed");
	char header[400];
	struct weights weights;

	snprintf(header, sizeof(header),
		 "{\"fc.weight\":{\"dtype\":\"%s\",\"shape\":[1,%d],"
		 "\"data_offsets\":[%zu,%zu]},\"fc.bias\":{\"dtype\":\"%s\","
		 "\"shape\":[1],\"data_offsets\":[0,%zu]}}", type, VALUES,
		 size, size * (VALUES + 1), type, size);
	write_text(path, header, values, size * (VALUES + 1));
	if (weights_read(path, &vector, &weights, err))
		return -1;
	memcpy(floats, weights.parameters, (VALUES + 1) * sizeof(*floats));
	weights_release(&weights);
	return 0;
}

/* In the data the bias is in front, among the parameters behind. */
static void assert_values(const char *type, const void *values, size_t size,
			  const float *wanted)
{
	float floats[VALUES + 1];
	struct error err;

	if (read_vector(type, values, size, floats, &err))
		fail_msg("%s: %s", type, err.message);
	for (int i = 0; i < VALUES; i++)
		if (memcmp(&floats[i], &wanted[i + 1], sizeof(*wanted)))
			fail_msg("%s: %a at %d, not %a", type, floats[i], i,
				 wanted[i + 1]);
	assert_memory_equal(&floats[VALUES], wanted, sizeof(*wanted));
}

static void other_types_become_floats(void **state)
{
	static const uint16_t halves[] = { 0x3555, 0x0000, 0x8000, 0x3c00,
					   0xc000, 0x7bff, 0x0001, 0xfbff,
					   0x83ff };
	static const float of_halves[] = { 0x1.554p-2f, 0, -0.f, 1, -2, 65504,
					   0x1p-24f, -65504, -0x3ffp-24f };
	static const uint16_t brains[] = { 0x3eab, 0x0000, 0x8000, 0x3f80,
					   0xc000, 0x7f7f, 0x0001, 0xff7f,
					   0x4049 };
	static const float of_brains[] = { 0x1.56p-2f, 0, -0.f, 1, -2,
					   0x1.fep127f, 0x1p-133f, -0x1.fep127f,
					   3.140625f };
	static const double doubles[] = { 1. / 3, 0, -0., 1, 1e38, -1e38,
					  0x1p-149, 1e-300, 0x1.fffffefffp127 };
	static const float of_doubles[] = { 1.f / 3, 0, -0.f, 1, 1e38f, -1e38f,
					    0x1p-149f, 0, 0x1.fffffep127f };

	(void)state;
	assert_values("F16", halves, 2, of_halves);
	assert_values("BF16", brains, 2, of_brains);
	assert_values("F64", doubles, 8, of_doubles);
	assert_values("F32", of_halves, 4, of_halves);
}

/* PyTorch's: float8_e4m3fn and float8_e5m2, and whole numbers. */
static void small_and_whole_types_become_floats(void **state)
{
	static const uint8_t bytes[] = { 0x00, 0x80, 0x01, 0x07, 0x08, 0x38,
					 0xc5, 0x7b, 0xfe };
	static const float of_e4m3[] = { 0, -0.f, 0x1p-9f, 0x7p-9f, 0x1p-6f, 1,
					 -3.25f, 352, -448 };
	static const uint8_t more[] = { 0x00, 0x80, 0x01, 0x03, 0x04, 0x3c,
					0xc5, 0x7b, 0xfb };
	static const float of_e5m2[] = { 0, -0.f, 0x1p-16f, 0x3p-16f, 0x1p-14f,
					 1, -5, 57344, -57344 };
	static const float of_bool[] = { 0, 1, 1, 1, 1, 1, 1, 1, 1 };
	static const float of_i8[] = { 0, -128, 1, 7, 8, 56, -59, 123, -2 };
	static const float of_u8[] = { 0, 128, 1, 7, 8, 56, 197, 123, 254 };
	static const uint16_t shorts[] = { 0, 1, 32767, 32768, 65535 };
	static const float of_i16[VALUES + 1] = { 0, 1, 32767, -32768, -1 };
	static const float of_u16[VALUES + 1] = { 0, 1, 32767, 32768, 65535 };
	static const uint32_t ints[VALUES + 1] = { 0, 16777217, 1U << 31, ~0U };
	static const float of_i32[VALUES + 1] = { 0, 0x1p24f, -0x1p31f, -1 };
	static const float of_u32[VALUES + 1] = { 0, 0x1p24f, 0x1p31f, 0x1p32f };
	static const uint64_t longs[VALUES + 1] = { 0, 1ULL << 63, ~0ULL,
						    (1ULL << 60) + 1 };
	static const float of_i64[VALUES + 1] = { 0, -0x1p63f, -1, 0x1p60f };
	static const float of_u64[VALUES + 1] = { 0, 0x1p63f, 0x1p64f,
						  0x1p60f };
	uint16_t nine[VALUES + 1] = { 0 };

	(void)state;
	memcpy(nine, shorts, sizeof(shorts));
	assert_values("F8_E4M3", bytes, 1, of_e4m3);
	assert_values("F8_E5M2", more, 1, of_e5m2);
	assert_values("BOOL", bytes, 1, of_bool);
	assert_values("I8", bytes, 1, of_i8);
	assert_values("U8", bytes, 1, of_u8);
	assert_values("I16", nine, 2, of_i16);
	assert_values("U16", nine, 2, of_u16);
	assert_values("I32", ints, 4, of_i32);
	assert_values("U32", ints, 4, of_u32);
	assert_values("I64", longs, 8, of_i64);
	assert_values("U64", longs, 8, of_u64);
}

/* Of values that are all 0 but the last, [0, 7] of the weight. */
static void assert_value_refused(const char *type, const void *value,
				 size_t size, const char *shown)
{
	uint8_t bytes[8 * (VALUES + 1)] = { 0 };
	float floats[VALUES + 1];
	char words[200];
	struct error err;

	memcpy(bytes + VALUES * size, value, size);
	assert_int_equal(read_vector(type, bytes, size, floats, &err), -1);
	assert_int_equal(err.kind, ERROR_INPUT);
	snprintf(words, sizeof(words), ": has %s as 'fc.weight'[0, 7], of %s; "
		 "a finite number expected", shown, type);
	if (!strstr(err.message, words))
		fail_msg("'%s' lacks '%s'", err.message, words);
}

static void values_have_to_be_finite(void **state)
{
	(void)state;
	assert_value_refused("F16", &(uint16_t){ 0xfc00 }, 2, "-inf");
	assert_value_refused("F16", &(uint16_t){ 0x7e01 }, 2, "nan");
	assert_value_refused("BF16", &(uint16_t){ 0xff80 }, 2, "-inf");
	assert_value_refused("F8_E4M3", &(uint8_t){ 0x7f }, 1, "nan");
	assert_value_refused("F8_E5M2", &(uint8_t){ 0x7c }, 1, "inf");
	assert_value_refused("F64", &(double){ INFINITY }, 8, "inf");
	assert_value_refused("F64", &(double){ 1e300 }, 8, "inf");
	assert_value_refused("F64", &(double){ -0x1.ffffffp127 }, 8, "-inf");
	assert_value_refused("F32", &(float){ NAN }, 4, "nan");
}

/* Writes a sample in which value is in the place of one, which is refused. */
static void assert_sample_refused(int is_buffer, int at, float value,
				  const char *words)
{
	const char *path = in_folder("value");
	struct weights weights;
	struct sample sample;
	struct error err = { .message = "" };

	sample_make(&sample, path);
	(is_buffer ? sample.buffers : sample.parameters)[at] = value;
	assert_int_equal(weights_write(path, &net, &sample.weights, &err), 0);
	assert_int_equal(weights_check(path, &net, &err), 0);
	assert_int_equal(weights_read(path, &net, &weights, &err), -1);
	assert_null(weights.parameters);
	assert_int_equal(err.kind, ERROR_INPUT);
	if (!strstr(err.message, path) || !strstr(err.message, words))
		fail_msg("'%s' lacks '%s'", err.message, words);
}

static void wrong_values_are_named(void **state)
{
	(void)state;
	assert_sample_refused(0, 16, NAN, "has nan as 'conv1.weight'[1, 0, 2, "
			      "1], of F32; a finite number expected; take");
	assert_sample_refused(0, 48, -INFINITY, "has -inf as 'fc.bias'[2]");
	assert_sample_refused(1, 1, INFINITY, "has inf as 'bn1.running_mean'"
			      "[1], of F32; a finite number expected");
	assert_sample_refused(1, 3, -0.5f, "has -0.5 as 'bn1.running_var'[1], "
			      "of F32; a variance, finite and not negative, "
			      "expected");
	assert_sample_refused(1, 2, NAN, "has nan as 'bn1.running_var'[0]");
}

/* A counter of one type at the end of the data of a sample, in the place of the
 * one at its beginning, whose bytes another tensor gets. */
static uint64_t read_counter(const char *type, const char *shape,
			     const void *values, size_t bytes)
{
	const char *path = in_folder("counter");
	char header[HEADER_MOST], data[DATA_MOST], counter[200], *at;
	struct weights weights;
	struct sample sample;
	struct error err;
	uint64_t tracked;

	sample_make(&sample, path);
	at = strstr(sample.header, "{\"dtype\":\"I64\"");
	assert_non_null(at);
	snprintf(counter, sizeof(counter), "{\"dtype\":\"%s\",\"shape\":%s,"
		 "\"data_offsets\":[%zu,%zu]}", type, shape,
		 sample.data_size - 8, sample.data_size - 8 + bytes);
	snprintf(header, sizeof(header), "%.*s%s%s",
		 (int)(at - sample.header), sample.header, counter,
		 strchr(at, '}') + 1);
	for (at = header; (at = strstr(at, "\"F32\""));) {
		unsigned begin, end;
		char *offsets = strstr(at, "[");

		offsets = strstr(offsets + 1, "[") + 1;
		assert_int_equal(sscanf(offsets, "%u,%u", &begin, &end), 2);
		snprintf(counter, sizeof(counter), "%u,%u]", begin - 8,
			 end - 8);
		at = strchr(offsets, ']') + 1;
		memmove(offsets + strlen(counter), at, strlen(at) + 1);
		memcpy(offsets, counter, strlen(counter));
		at = offsets;
	}
	memcpy(data, sample.data + 8, sample.data_size - 8);
	memcpy(data + sample.data_size - 8, values, bytes);
	write_text(path, header, data, sample.data_size - 8 + bytes);
	if (weights_read(path, &net, &weights, &err))
		fail_msg("%s", err.message);
	assert_memory_equal(weights.parameters, sample.parameters,
			    sizeof(sample.parameters));
	tracked = weights.tracked[1];
	weights_release(&weights);
	return tracked;
}

/* load_state_dict() converts it to an I64, and takes the first of a row. */
static void counters_are_of_any_type(void **state)
{
	const uint64_t least = 1ULL << 63;

	(void)state;
	assert_int_equal(read_counter("I64", "[1]", &(int64_t){ 7 }, 8), 7);
	assert_int_equal(read_counter("I32", "[]", &(int32_t){ 70000 }, 4),
			 70000);
	assert_int_equal(read_counter("F32", "[]", &(float){ 12.9f }, 4), 12);
	assert_int_equal(read_counter("F16", "[]", &(uint16_t){ 0x4900 }, 2),
			 10);
	assert_int_equal(read_counter("F64", "[2]",
				      (double[]){ 0x1p53, 3 }, 16), 1LL << 53);
	assert_int_equal(read_counter("U8", "[]", &(uint8_t){ 200 }, 1), 200);
	assert_int_equal(read_counter("I8", "[]", &(int8_t){ -1 }, 1), ~0ULL);
	assert_int_equal(read_counter("F16", "[]", &(uint16_t){ 0x7c00 }, 2),
			 least);
	assert_int_equal(read_counter("F32", "[]", &(float){ NAN }, 4), least);
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
		cmocka_unit_test(small_and_whole_types_become_floats),
		cmocka_unit_test(values_have_to_be_finite),
		cmocka_unit_test(wrong_values_are_named),
		cmocka_unit_test(counters_are_of_any_type),
		cmocka_unit_test(counters_may_be_missing),
		cmocka_unit_test(only_regular_files),
	};

	return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
