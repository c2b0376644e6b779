/* Rows through CSV: there and back, and everything that has to be refused. */
#include "bench/record/csv.h"

#include <locale.h>

#include "bench/system/number.h"
#include "tests/unit/rows.h"
#include "tests/kernels/skipping.h"
#include "tests/unit/toys.h"

static void good_files(void **state)
{
	static const char *const texts[] = {
		HEADER "toy/1,a,1,0.5\ntoy/1,b,,\n",
		/* CR LF, blank lines, a mark. */
		"schema,name,count,size_s\r\ntoy/1,a,1,0.5\r\ntoy/1,b,,\r\n",
		HEADER "\ntoy/1,a,1,0.5\n\n   \ntoy/1,b,,\n\n",
		"\xEF\xBB\xBF" HEADER "toy/1,a,1,0.5\ntoy/1,b,,\n",
		"\xEF\xBB\xBF\"schema\",name,count,size_s\n"
		"toy/1,a,1,0.5\ntoy/1,b,,\n",
		/* Another order, columns of a later version, quotes. */
		"size_s,new,schema,count,name\n5e-1,x,toy/1,1,a\n"
		",\"x\ny\",toy/1,,b\n",
		"schema,name,size_s\n\"toy/1\",\"a\",\"0.5\"\ntoy/1,b,\"\"\n",
	};
	struct error err = { .message = "" };
	size_t i, piece;

	(void)state;
	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		for (piece = 1; piece < 100; piece++) {
			if (feed(texts[i], strlen(texts[i]), piece, &err))
				fail_msg("text %zu: %s", i, err.message);
			assert_int_equal(taken_count, 2);
			assert_string_equal(taken[0].name, "a");
			assert_true(taken[0].size_s == .5);
			assert_true(taken[0].count == 1 || i == 6);
			assert_string_equal(taken[1].name, "b");
			assert_string_equal(taken[1].schema, "toy/1");
			assert_int_equal(torn, 0);
			assert_true(taken[1].count == CELL_NO_INT);
			assert_true(isnan(taken[1].size_s));
		}
	/* Nothing, and nothing but a header, is no error of the stream. */
	assert_int_equal(feed("", 0, 1, &err), 0);
	assert_int_equal(feed(HEADER, strlen(HEADER), 3, &err), 0);
	assert_int_equal(taken_count, 0);
}

static const struct {
	const char *text, *message;
} bad_files[] = {
	{ "name,count,size_s\na,1,2\n", "toys.csv:1:4: schema: this column is "
	  "not in the header" },
	{ "schema,name,name,size_s\n", "toys.csv:1:3: name: this column "
	  "appears twice" },
	{ HEADER "toy/2,a,1,2\n", "toys.csv:2:1: schema: expected toy/1, found "
	  "\"toy/2\"" },
	{ HEADER "toy/1,a,1,2\ntoy/1,a,x,2\n", "toys.csv:3:3: count: expected "
	  "a whole number, found \"x\"" },
	{ HEADER "toy/1,a,\033[m,2\n", "found \"\\x1B[m\"" },
	{ HEADER "toy/1,a,1.5,2\n", "toys.csv:2:3: count: " },
	{ HEADER "toy/1,a,99999999999999999999,2\n", "toys.csv:2:3: count: " },
	{ HEADER "toy/1,a,1x,2\n", "toys.csv:2:3: count: " },
	{ HEADER "toy/1,a,0x10,2\n", "toys.csv:2:3: count: " },
	{ HEADER "toy/1,a,1,nan\n", "toys.csv:2:4: size_s: expected a number, "
	  "found \"nan\"" },
	{ HEADER "toy/1,a,1,inf\n", "toys.csv:2:4: size_s: " },
	{ HEADER "toy/1,a,1,1e400\n", "toys.csv:2:4: size_s: " },
	{ HEADER "toy/1,a,1,0x1p3\n", "toys.csv:2:4: size_s: " },
	{ HEADER "toy/1,a,1,\"1,5\"\n", "toys.csv:2:4: size_s: " },
	{ HEADER "toy/1,a,1,\" 2\"\n", "toys.csv:2:4: size_s: " },
	{ HEADER "toy/1,a,1,2s\n", "toys.csv:2:4: size_s: " },
	{ HEADER "toy/1,a,1,1.5.2\n", "toys.csv:2:4: size_s: " },
	{ HEADER "toy/1,a,1-2,1\n", "toys.csv:2:3: count: " },
	{ HEADER "toy/1,a,1\n", "toys.csv:2:4: fewer cells than the header" },
	{ HEADER "toy/1,a,1,2,3\n", "toys.csv:2:5: more cells than the" },
	{ HEADER "toy/1,sixteen bytes...,1,2\n", "toys.csv:2:2: name: expected "
	  "a shorter text" },
	{ HEADER "toy/1,\"a,1,2\ntoy/1,b,1,2\n", "a quote in the wrong place, "
	  "or a missing one at the end" },
	{ HEADER "toy/1,a\"b,1,2\n", "toys.csv:2:2: a quote in the wrong" },
	{ "\n\n" HEADER "toy/1,a,1,2\n\ntoy/1,a,x,2\n", "toys.csv:6:3: " },
	/* Without an end, but refused for another reason. */
	{ HEADER "toy/1,a,x,2", "toys.csv:2:3: count: " },
	{ HEADER "toy/1,a\"b,1", "toys.csv:2:2: a quote in the wrong" },
	{ HEADER "toy/1,\"a\n\",1,2", "toys.csv:3:5: the last row has no" },
	{ HEADER "toy/1,\"a\n,1,2", "toys.csv:3:2: a quote in the wrong" },
	{ HEADER "toy/1,\"a\n\",1", "toys.csv:3:4: fewer cells than the" },
	{ "schema,name", "toys.csv:1:3: size_s: this column is not in the" },
	{ "\xEF\xBB" HEADER "toy/1,a,1,2\n", "schema: this column is not in" },
};

static void bad_files_are_refused(void **state)
{
	struct error err;
	const char *text;
	size_t i, piece;

	(void)state;
	for (i = 0; i < sizeof(bad_files) / sizeof(bad_files[0]); i++)
		for (piece = 1; piece < 80; piece += 13) {
			text = bad_files[i].text;
			if (!feed(text, strlen(text), piece, &err))
				fail_msg("taken: %s", text);
			assert_int_equal(err.kind, ERROR_INPUT);
			if (!strstr(err.message, bad_files[i].message))
				fail_msg("%s: says %s", text, err.message);
		}
}

/* Wherever a process is ended while it writes a row. */
static void torn_lines_are_passed_over(void **state)
{
	/* Nothing of the last number shows that some of it is missing. */
	static const char text[] = HEADER "toy/1,a,1,0.5\n\n"
				   "toy/1,\"b,\"\"\",2,1.5e-3";
	const size_t begin = strlen(HEADER "toy/1,a,1,0.5\n\n");
	struct error err = { .message = "" };
	size_t length, piece;

	(void)state;
	for (length = begin; length <= strlen(text); length++)
		for (piece = 1; piece < 100; piece += 7) {
			if (feed(text, length, piece, &err))
				fail_msg("%.*s: %s", (int)length, text,
					 err.message);
			assert_int_equal(taken_count, 1);
			assert_int_equal(torn, length == begin ? 0 : 4);
		}
}

static void nul_bytes_are_refused(void **state)
{
	static const char inside[] = HEADER "toy/1,a\0b,1,2\n";
	static const char wide[] = "s\0c\0h\0e\0m\0a\0\n\0";
	struct error err;

	(void)state;
	for (size_t piece = 1; piece < 60; piece++) {
		assert_int_equal(feed(inside, sizeof(inside) - 1, piece, &err),
				 -1);
		assert_non_null(strstr(err.message, "toys.csv:2:2: a NUL"));
	}
	assert_int_equal(feed(wide, sizeof(wide) - 1, 100, &err), -1);
}

/* A cell of 60 KiB passes, one of 70 KiB does not, however long it goes on. */
static void cells_are_capped(void **state)
{
	const size_t most = 16 << 20;
	char *text = malloc(most);
	struct error err;
	int length;

	(void)state;
	assert_non_null(text);
	memset(text, 'x', most);
	length = snprintf(text, 100, "schema,name,size_s,junk\ntoy/1,a,1,\"");
	text[length] = 'x';
	memcpy(text + 60 * 1024, "\"\n", 2);
	assert_int_equal(feed(text, 60 * 1024 + 2, 4096, &err), 0);
	assert_int_equal(taken_count, 1);
	memcpy(text + 60 * 1024, "xx", 2);
	assert_int_equal(feed(text, most, 4096, &err), -1);
	assert_non_null(strstr(err.message, "toys.csv:2:4: a cell longer"));
	free(text);
}

static void too_many_columns(void **state)
{
	char text[8192] = "";
	struct error err;
	size_t i;

	(void)state;
	for (i = 0; i < 2000; i++)
		memcpy(text + 2 * i, "x,", 2);
	text[2 * i] = '\n';
	assert_int_equal(feed(text, 2 * i + 1, 100, &err), -1);
	assert_non_null(strstr(err.message, "at most 1024 columns"));
}

/* A row that take refuses is named with its place. */
static int refuse(const void *row, void *context, struct error *err)
{
	(void)row, (void)context;
	return error_set(err, ERROR_INPUT, "not this one");
}

static void refusal_names_the_line(void **state)
{
	static const char text[] = HEADER "toy/1,a,1,2\n";
	struct error err;
	struct csv_reader *reader =
		csv_reader_open(&toys, "toys.csv", refuse, NULL, &err);

	(void)state;
	assert_int_equal(csv_reader_feed(reader, text, strlen(text), &err), -1);
	assert_string_equal(err.message, "toys.csv:2: not this one");
	/* And a reader that has failed stays so. */
	assert_int_equal(csv_reader_feed(reader, text, strlen(text), &err), -1);
	assert_int_equal(csv_reader_end(reader, &err), -1);
	csv_reader_close(reader);
	csv_reader_close(NULL);
}

static const char *written(const struct toy *toy)
{
	static char text[512];
	FILE *file = fmemopen(text, sizeof(text), "w");

	csv_write_row(file, &toys, toy);
	fclose(file);
	return text;
}

static void writing(void **state)
{
	static const struct {
		struct toy toy;
		const char *line;
	} known[] = {
		{ { "toy/1", "plain", 1, .5 }, "toy/1,plain,1,0.5\n" },
		{ { "toy/1", "", CELL_NO_INT, NAN }, "toy/1,,,\n" },
		{ { "toy/1", "a", 0, INFINITY }, "toy/1,a,0,\n" },
		{ { "toy/1", "a", -1, -INFINITY }, "toy/1,a,-1,\n" },
		{ { "toy/1", "a,\"b\"", 1, 1e-300 },
		  "toy/1,\"a,\"\"b\"\"\",1,1e-300\n" },
		{ { "toy/1", " a", 1, 1. / 3 },
		  "toy/1,\" a\",1,0.333333333\n" },
		{ { "toy/1", "=1+1", 1, 0 }, "toy/1,'=1+1,1,0\n" },
		{ { "toy/1", "+a", 1, 0 }, "toy/1,'+a,1,0\n" },
		{ { "toy/1", "-a", 1, 0 }, "toy/1,'-a,1,0\n" },
		{ { "toy/1", "@a", 1, 0 }, "toy/1,'@a,1,0\n" },
		{ { "toy/1", "a\n\tb\x01", 1, 0 }, "toy/1,\"a  b \",1,0\n" },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		assert_string_equal(written(&known[i].toy), known[i].line);
}

/* Cut characters, stray bytes, half of a pair of UTF-16, too long a form. */
static void text_is_utf8(void **state)
{
	static const char *const known[][2] = {
		{ "\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80",
		  "\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80" },
		{ "a\xC3", "a?" }, { "a\xE2\x82", "a??" },
		{ "\xF0\x9F\x98,", "\"???,\"" }, { "\xFFz\x80", "?z?" },
		{ "\xED\xA0\x80", "???" }, { "\xC0\xAF", "??" },
	};
	struct toy toy = { "toy/1", "", 1, 0 };
	char line[200];

	(void)state;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		snprintf(toy.name, sizeof(toy.name), "%s", known[i][0]);
		snprintf(line, sizeof(line), "toy/1,%s,1,0\n", known[i][1]);
		assert_string_equal(written(&toy), line);
	}
}

static void there_and_back(void **state)
{
	static const char *const names[] = {
		"", "plain", "a,b", "\"", "\"a\"", " a ", "=1", "'=1", "''=1",
		"'", "'a", "it's", "\xEF\xBB\xBF-x", "\xC2\xB1", "-", ",",
		"fifteen bytes..",
	};
	struct toy toy = { "toy/1", "", -7, 0 };
	struct error err;
	char text[512];
	size_t i;

	(void)state;
	for (i = 0; i < 2 * sizeof(names) / sizeof(names[0]); i++) {
		snprintf(toy.name, sizeof(toy.name), "%s", names[i / 2]);
		toy.size_s = (double)i / 64;
		snprintf(text, sizeof(text), HEADER "%s", written(&toy));
		if (feed(text, strlen(text), i % 2 ? 1 : 100, &err))
			fail_msg("%s", err.message);
		assert_int_equal(taken_count, 1);
		assert_string_equal(taken[0].name, toy.name);
		assert_true(taken[0].count == -7);
		assert_true(taken[0].size_s == toy.size_s);
	}
}

static int set_decimal_comma(void)
{
	return setlocale(LC_NUMERIC, "de_DE.UTF-8") ||
	       setlocale(LC_NUMERIC, "fr_FR.UTF-8") ||
	       setlocale(LC_NUMERIC, "ru_RU.UTF-8");
}

static int have_decimal_comma(void)
{
	const int have = set_decimal_comma();

	setlocale(LC_NUMERIC, "C");
	return have;
}

/* Where such a locale is installed, it must not matter. */
static void decimal_comma(void **state)
{
	static const char text[] = HEADER "toy/1,a,1,0.25\n";
	const struct toy toy = { "toy/1", "a", 1, .5 };
	char number[NUMBER_SIZE];
	struct error err;
	double value;

	(void)state;
	assert_true(set_decimal_comma());
	assert_string_equal(written(&toy), "toy/1,a,1,0.5\n");
	assert_int_equal(feed(text, strlen(text), 9, &err), 0);
	assert_true(taken[0].size_s == .25);
	number_print_fixed(number, 1234.5, 3);
	assert_string_equal(number, "1234.500");
	assert_int_equal(number_parse_real("0,5", &value), -1);
	setlocale(LC_NUMERIC, "C");
}

static void whole_files(void **state)
{
	static const char text[] = HEADER "toy/1,a,1,2\ntoy/1,b,2,3\n";
	const char *path = in_folder("toys.csv");
	struct error err;
	struct toy *rows;
	size_t count;
	void *read;

	(void)state;
	assert_int_equal(csv_read(path, &toys, &read, &count, &err), -1);
	assert_int_equal(err.kind, ERROR_MISSING);
	write_file(path, "", 0);
	assert_int_equal(csv_read(path, &toys, &read, &count, &err), -1);
	assert_int_equal(err.kind, ERROR_INPUT);
	write_file(path, HEADER, strlen(HEADER));
	assert_int_equal(csv_read(path, &toys, &read, &count, &err), -1);
	assert_int_equal(err.kind, ERROR_INPUT);
	assert_non_null(strstr(err.message, "no rows"));
	write_file(path, text, strlen(text));
	assert_int_equal(csv_read(path, &toys, &read, &count, &err), 0);
	rows = read;
	assert_int_equal(count, 2);
	assert_string_equal(rows[1].name, "b");
	free(read);
	write_file(path, text, strlen(text) - 1);
	assert_int_equal(csv_read(path, &toys, &read, &count, &err), -1);
	assert_int_equal(err.kind, ERROR_INPUT);
	assert_non_null(strstr(err.message, "toys.csv:3: the last line has "
			       "no line end"));
	assert_int_equal(csv_read(folder, &toys, &read, &count, &err), -1);
	assert_int_equal(err.kind, ERROR_INPUT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(good_files),
		cmocka_unit_test(bad_files_are_refused),
		cmocka_unit_test(torn_lines_are_passed_over),
		cmocka_unit_test(nul_bytes_are_refused),
		cmocka_unit_test(cells_are_capped),
		cmocka_unit_test(too_many_columns),
		cmocka_unit_test(refusal_names_the_line),
		cmocka_unit_test(writing),
		cmocka_unit_test(text_is_utf8),
		cmocka_unit_test(there_and_back),
		unit_test_if(have_decimal_comma(), decimal_comma),
		cmocka_unit_test(whole_files),
	};

	return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
