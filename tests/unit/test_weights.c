/* Weights: files read back equal, and a message names each wrong file. */
#include "bench/data/weights/weights.h"

#include <unistd.h>

#include "bench/data/weights/safetensors.h"
#include "tests/unit/weights_sample.h"

static char prefix[WEIGHTS_PREFIX]; /* of the names that were read last */

/* Refused by both, in words and with the file's name. */
static void assert_refused_as(enum error_kind kind, const char *path,
			      const char *words)
{
	struct error err = { .message = "" }, again = { .message = "" };
	struct weights weights;

	if (!weights_check(path, &net, prefix, &err))
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
	assert_int_equal(weights_check(path, &net, prefix, &err), 0);
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
	{ "[2,1,3,3]", "[2,1,9]", "'conv1.weight' is [2, 1, 9], but "
	  "[2, 1, 3, 3] in model 'net'" },
	{ "[3,8]", "[8,3]", "'fc.weight' is [8, 3], but [3, 8]" },
	{ "[],", "[1,1],", "'bn1.num_batches_tracked' is [1, 1], but "
	  "[]" },
	{ "conv1.weight", "conv1.w", "has no 'conv1.weight', which is [2, 1, 3,"
	  " 3] in model 'net'" },
	{ "bn1.running_var", "bn1.var", "has no 'bn1.running_var'" },
	{ "bn1.num_batches_tracked", "b", "model 'net' has no 'b', [];" },
	{ "{", "{\"x\":" ENTRY ",", "model 'net' has no 'x', [0]" },
	{ "\"F32\",\"shape\":[2],\"data_offsets\":[80", "\"I64\",\"shape\":[1],"
	  "\"data_offsets\":[80", "'bn1.weight' is [1]" },
	{ "F32", "C64", "'conv1.weight' has dtype C64; F8, BF16, F16, F32, "
	  "F64, BOOL and whole numbers can be read: save it as F32" },
	/* Lies. */
	{ "[8,80]", "[8,76]", "[2, 1, 3, 3] of F32, takes 72 bytes, but its "
	  "data_offsets have 68" },
	{ "F32", "BF16", "takes 36 bytes, but its data_offsets have 72" },
	{ "[2,1,3,3]", "[2,1,3,4]", "takes 96 bytes" },
	{ "[208,220]", "[212,224]", "cut short: the data of its tensor "
	  "'fc.bias' end at byte 224 of 220" },
	{ "[208,220]", "[204,216]", "'fc.bias' begin at byte 204, before the "
	  "end of the previous tensor, at 208" },
	{ "[88,96]", "[80,88]", "begin at byte 80, before the end of" },
	{ "\"fc.bias\":{\"dtype\":\"F32\",\"shape\":[3],\"data_offsets\":"
	  "[208,220]}", "\"fc.bias\":{\"dtype\":\"F32\",\"shape\":[2],"
	  "\"data_offsets\":[212,220]}", "begin at byte 212, not at the end "
	  "of" },
	{ "[3],\"data_offsets\":[208,220]", "[2],\"data_offsets\":[208,216]",
	  "longer than its header says: tensors have 216 of 220 bytes" },
	{ "[8,80]", "[80,8]", "no data_offsets with a beginning" },
	{ "[8,80]", "[-8,64]", "no data_offsets with a beginning" },
	{ "[8,80]", "[8]", "no data_offsets with a beginning" },
	{ "[8,80]", "[8,80,80]", "no data_offsets with a beginning" },
	{ "[8,80]", "[8,80.0]", "no data_offsets with a beginning" },
	{ "[8,80]", "[8,9223372036854775807]", "cut short: the data" },
	{ "[8,80]", "[8,9223372036854775808]", "too big integer" },
	{ "[8,80]", "{}", "no data_offsets with a beginning" },
	{ "[2,1,3,3]", "[4294967296,4294967296]", "larger than any file" },
	{ "[2,1,3,3]", "[4611686018427387904,2]", "larger than any file" },
	{ "[2,1,3,3]", "[2,-1,3,3]", "its shape has an invalid size" },
	{ "[2,1,3,3]", "[2,\"1\",3,3]", "its shape has an invalid size" },
	{ "[2,1,3,3]", "[1,1,1,1,1,1,1,1,1]", "at most 8 sizes" },
	{ "[2,1,3,3]", "18", "no shape of at most 8 sizes" },
	{ "\"F32\"", "32", "no text dtype" },
	{ "\"dtype\"", "\"type\"", "no text dtype" },
	{ "\"shape\"", "\"more\":1,\"shape\"", "an object of dtype, shape and "
	  "data_offsets expected" },
	{ "\"__metadata__\":{\"format\":\"pt\"}", "\"__metadata__\":[]",
	  "'__metadata__': an object" },
	{ "\"bn1.bias\"", "\"bn1.weight\"", "duplicate object key" },
	{ "\"shape\"", "\"dtype\":\"F32\",\"shape\"", "duplicate object key" },
	/* No JSON. */
	{ "{", "", "is not JSON at byte" },
	{ "}}", "}", "is not JSON at byte" },
	{ "}}", "}}x", "is not JSON at byte" },
	{ "conv1", "conv\\u0000", "is not JSON at byte" },
	{ "conv1", "conv\xff", "is not JSON at byte" },
	{ "\"F32\"", "F32", "is not JSON at byte" },
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
	assert_int_equal(weights_check(path, &net, prefix,
				       &(struct error){ 0 }), 0);
}

/* The header of a sample with text before each name; the last of them may have
 * another one. */
static void write_prefixed(const char *path, const struct sample *sample,
			   const char *text, const char *last)
{
	char header[HEADER_MOST];
	size_t used = 0;

	for (const char *at = sample->header; *at; at++) {
		const char *more = strncmp(at, "\"conv1.", 7) &&
				   strncmp(at, "\"bn1.", 5) &&
				   strncmp(at, "\"fc.", 4) ? "" :
				   strncmp(at, "\"fc.bias", 8) ? text : last;

		snprintf(header + used, sizeof(header) - used, "%c%s", *at,
			 more);
		used += 1 + strlen(more);
	}
	write_text(path, header, sample->data, sample->data_size);
}

static void a_prefix_of_all_names_is_left_out(void **state)
{
	static const char *const texts[] = { "_orig_mod.", "module.", "",
					     "module._orig_mod.", "net.1." };
	const char *path = in_folder("prefix");
	struct sample sample;

	(void)state;
	sample_make(&sample, path);
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct weights weights;
		struct error err;

		write_prefixed(path, &sample, texts[i], texts[i]);
		if (weights_check(path, &net, prefix, &err))
			fail_msg("%s", err.message);
		assert_string_equal(prefix, texts[i]);
		if (weights_read(path, &net, &weights, &err))
			fail_msg("%s", err.message);
		assert_memory_equal(weights.parameters, sample.parameters,
				    sizeof(sample.parameters));
		assert_memory_equal(weights.buffers, sample.buffers,
				    sizeof(sample.buffers));
		weights_release(&weights);
	}
}

static void other_prefixes_are_refused(void **state)
{
	const char *path = in_folder("prefix");
	struct sample sample;
	char *shape;

	(void)state;
	sample_make(&sample, path);
	write_prefixed(path, &sample, "module.", "");
	assert_refused(path, "has no 'conv1.weight'");
	write_prefixed(path, &sample, "x", "x");
	assert_refused(path, "has no 'conv1.weight'");
	shape = strstr(sample.header, "[3,8]");
	assert_non_null(shape);
	memcpy(shape, "[8,3]", 5);
	write_prefixed(path, &sample, "module.", "module.");
	assert_refused(path, "'fc.weight' is [8, 3], but [3, 8] in "
		       "model 'net'");
	assert_refused(path, " (its names, without 'module.' before each)");
}

static void other_headers_are_refused(void **state)
{
	static const struct {
		const char *header, *words;
	} wrong[] = {
		{ "", "is not JSON" },
		{ "[]", "is not a JSON object" },
		{ "0", "is not JSON" },
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
	assert_refused(path, "its header has 1000010 values, at "
		       "most 1000000 are allowed");
	free(text);
}

static void lengths_are_not_believed(void **state)
{
	static const struct {
		uint64_t length;
		const char *words;
	} wrong[] = {
		{ 200, "cut short: its header has 200 bytes, but the "
		       "file has 2" },
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
		cmocka_unit_test(a_prefix_of_all_names_is_left_out),
		cmocka_unit_test(other_prefixes_are_refused),
		cmocka_unit_test(other_headers_are_refused),
		cmocka_unit_test(lengths_are_not_believed),
		cmocka_unit_test(counters_may_be_missing),
		cmocka_unit_test(only_regular_files),
	};

	return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
