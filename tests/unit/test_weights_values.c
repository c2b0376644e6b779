/* Values of weights: each type becomes what PyTorch makes of it; what is not
 * finite is named. */
#include "bench/data/weights/weights.h"

#include "tests/unit/weights_sample.h"

enum { VALUES = 8 };

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

/* The bias is first in the data, and last among the parameters. */
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
	static const float of_u32[VALUES + 1] = { 0, 0x1p24f, 0x1p31f,
						  0x1p32f };
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
	snprintf(words, sizeof(words), ": \'fc.weight\'[0, 7], of %s, is %s; "
		 "expected a finite number", type, shown);
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
	assert_int_equal(weights_check(path, &net, (char[WEIGHTS_PREFIX]){ "" },
				       &err), 0);
	assert_int_equal(weights_read(path, &net, &weights, &err), -1);
	assert_null(weights.parameters);
	assert_int_equal(err.kind, ERROR_INPUT);
	if (!strstr(err.message, path) || !strstr(err.message, words))
		fail_msg("'%s' lacks '%s'", err.message, words);
}

static void wrong_values_are_named(void **state)
{
	(void)state;
	assert_sample_refused(0, 16, NAN, "'conv1.weight'[1, 0, 2, 1], of F32, "
			      "is nan; expected a finite number; use");
	assert_sample_refused(0, 48, -INFINITY, "'fc.bias'[2], of F32, is "
			      "-inf");
	assert_sample_refused(1, 1, INFINITY, "'bn1.running_mean'[1], of F32, "
			      "is inf; expected a finite number");
	assert_sample_refused(1, 3, -0.5f, "'bn1.running_var'[1], of F32, is "
			      "-0.5; expected a variance, finite and not "
			      "negative");
	assert_sample_refused(1, 2, NAN, "'bn1.running_var'[0], of F32, is "
			      "nan");
}

/* Moves the data of all F32 in a header to the front by the 8 bytes of a
 * counter. */
static void move_data(char *header)
{
	char text[40];
	unsigned begin, end;

	for (char *at = header; (at = strstr(at, "\"F32\""));) {
		char *offsets = strstr(at, "_offsets\":[") + 11, *rest;

		assert_int_equal(sscanf(offsets, "%u,%u", &begin, &end), 2);
		snprintf(text, sizeof(text), "%u,%u", begin - 8, end - 8);
		rest = strchr(offsets, ']');
		memmove(offsets + strlen(text), rest, strlen(rest) + 1);
		memcpy(offsets, text, strlen(text));
		at = offsets;
	}
}

/* A sample whose counter is another one, at the end of the data. */
static int read_counter(const char *type, const char *shape,
			const void *values, size_t bytes, uint64_t *tracked,
			struct error *err)
{
	const char *path = in_folder("counter");
	char header[HEADER_MOST], data[DATA_MOST], *at;
	struct weights weights;
	struct sample sample;
	size_t size;

	sample_make(&sample, path);
	size = sample.data_size - 8;
	move_data(sample.header);
	at = strstr(sample.header, "{\"dtype\":\"I64\"");
	assert_non_null(at);
	snprintf(header, sizeof(header), "%.*s{\"dtype\":\"%s\",\"shape\":%s,"
		 "\"data_offsets\":[%zu,%zu]%s", (int)(at - sample.header),
		 sample.header, type, shape, size, size + bytes,
		 strchr(at, '}'));
	memcpy(data, sample.data + 8, size);
	memcpy(data + size, values, bytes);
	write_text(path, header, data, size + bytes);
	if (weights_read(path, &net, &weights, err))
		return -1;
	assert_memory_equal(weights.parameters, sample.parameters,
			    sizeof(sample.parameters));
	*tracked = weights.tracked[1];
	weights_release(&weights);
	return 0;
}

static void assert_counter(const char *type, const char *shape,
			   const void *values, size_t bytes, uint64_t wanted)
{
	struct error err;
	uint64_t tracked;

	if (read_counter(type, shape, values, bytes, &tracked, &err))
		fail_msg("%s", err.message);
	assert_int_equal(tracked, wanted);
}

/* load_state_dict() converts it to an I64, and takes the first of a row. */
static void counters_are_of_any_type(void **state)
{
	const uint64_t least = 1ULL << 63;
	struct error err;
	uint64_t none;

	(void)state;
	assert_counter("I64", "[1]", &(int64_t){ 7 }, 8, 7);
	assert_counter("I32", "[]", &(int32_t){ 70000 }, 4, 70000);
	assert_counter("F32", "[]", &(float){ 12.9f }, 4, 12);
	assert_counter("F16", "[]", &(uint16_t){ 0x4900 }, 2, 10);
	assert_counter("F64", "[2]", (double[]){ 0x1p53, 3 }, 16, 1LL << 53);
	assert_counter("U8", "[]", &(uint8_t){ 200 }, 1, 200);
	assert_counter("I8", "[]", &(int8_t){ -1 }, 1, ~0ULL);
	assert_counter("F16", "[]", &(uint16_t){ 0x7c00 }, 2, least);
	assert_counter("F32", "[]", &(float){ NAN }, 4, least);
	assert_int_equal(read_counter("I64", "[0]", "", 0, &none, &err), -1);
	assert_non_null(strstr(err.message, "'bn1.num_batches_tracked' is "
			       "[0], but []"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(other_types_become_floats),
		cmocka_unit_test(small_and_whole_types_become_floats),
		cmocka_unit_test(values_have_to_be_finite),
		cmocka_unit_test(wrong_values_are_named),
		cmocka_unit_test(counters_are_of_any_type),
	};

	return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
