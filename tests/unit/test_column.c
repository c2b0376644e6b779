/* The kinds of rows: no member without a column, and what is made of them. */
#include "bench/record/column.h"

#include "bench/system/text.h"
#include "bench/train/peaks.h"
#include "bench/record/result_rows.h"
#include "bench/train/profile_rows.h"
#include "bench/record/post.h"
#include "bench/record/csv.h"
#include "bench/record/json.h"
#include "bench/record/observation.h"
#include "bench/record/run.h"
#include "tests/cmocka.h"

/* Each member of a row has its column: no gap that a number would fit in. */
static void check_kind(const struct row_kind *kind)
{
	const struct column *column = kind->columns;
	char header[CSV_HEADER_SIZE];
	size_t end = 0;
	int i, other;

	for (i = 0; i < kind->column_count; i++, column++) {
		if (column->offset < end || column->offset - end >= 8)
			fail_msg("%s: not all members before it are columns",
				 column->name);
		end = column->offset + column->size;
		for (other = 0; other < i; other++)
			assert_string_not_equal(kind->columns[other].name,
						column->name);
		assert_true(column->meaning[0] != '\0');
	}
	assert_true(kind->row_size - end < 8);
	csv_print_header(header, kind);
	assert_int_equal(header[strlen(header) - 1], '\n'); /* it fits */
	assert_string_equal(kind->columns[0].name, "schema");
}

static void columns_are_complete(void **state)
{
	struct run run;

	(void)state;
	check_kind(&observation_rows);
	check_kind(&run_rows);
	check_kind(&summary_rows);
	check_kind(&post_rows);
	check_kind(&export_rows);
	check_kind(&profile_rows);
	check_kind(&peak_rows);
	row_clear(&run_rows, &run);
	assert_string_equal(run.schema, "bench/1");
	assert_string_equal(run.label, "");
	assert_true(run.seed == CELL_NO_INT && isnan(run.loop_s));
}

/* What describes goes from row to row by its name, what was measured not. */
static void description_is_copied(void **state)
{
	struct summary summary;
	struct run run;

	(void)state;
	row_clear(&run_rows, &run);
	row_clear(&summary_rows, &summary);
	snprintf(run.sync, sizeof(run.sync), "epoch");
	memset(run.target, 'x', sizeof(run.target) - 1);
	run.cores = 8;
	run.loop_s = 1;
	summary.n_obs = 3;
	summary.mean = 2;
	row_describe(&summary_rows, &summary, &run_rows, &run);
	assert_string_equal(summary.sync, "epoch");
	assert_int_equal(strlen(summary.target), sizeof(summary.target) - 1);
	assert_true(summary.cores == 8 && summary.batch == CELL_NO_INT);
	assert_true(summary.n_obs == 3 && summary.mean == 2);
	assert_non_null(row_column(&run_rows, "loop_s"));
	assert_null(row_column(&run_rows, "loop"));
}

static void json_is_valid(void **state)
{
	static const char *const texts[][2] = {
		{ "a\"b\\c", "\"a\\\"b\\\\c\"" },
		{ "\x01\n", "\"\\u0001\\u000a\"" },
		{ "\xC2\xB1", "\"\xC2\xB1\"" },
		{ "\xFF" "a", "\"\\ufffda\"" },
		{ "\xC3", "\"\\ufffd\"" },
		{ "\xED\xA0\x80", "\"\\ufffd\\ufffd\\ufffd\"" },
	};
	static const char *const wanted[] = { "status", "exit_code", "lr",
					      NULL };
	struct run run;
	char text[512];
	FILE *file;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		file = fmemopen(text, sizeof(text), "w");
		json_write_string(file, texts[i][0]);
		fclose(file);
		assert_string_equal(text, texts[i][1]);
	}
	row_clear(&run_rows, &run);
	file = fmemopen(text, sizeof(text), "w");
	json_write_row(file, &run_rows, &run, wanted);
	fclose(file);
	assert_string_equal(text, "{\"status\": null, \"exit_code\": null, "
			    "\"lr\": null}");
	run.exit_code = -3;
	run.lr = 1e-6;
	snprintf(run.status, sizeof(run.status), "\"");
	file = fmemopen(text, sizeof(text), "w");
	json_write_row(file, &run_rows, &run, wanted);
	fclose(file);
	assert_string_equal(text, "{\"status\": \"\\\"\", "
			    "\"exit_code\": -3, \"lr\": 1e-06}");
}

static void assert_prints(const char *from, int rules, const char *clean)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	text_print(out, from, rules);
	fclose(out);
	assert_string_equal(text, clean);
	free(text);
}

static void text_is_harmless(void **state)
{
	static const struct {
		const char *from;
		int rules;
		const char *clean;
	} known[] = {
		{ "plain", 0, "plain" },
		{ "\x1B[31mred\n", 0, "\\x1B[31mred\\x0A" },
		{ "\xC2\x9B" "1m", 0, "\\x9B1m" },
		{ "\xFFx\xC3", 0, "\\xFFx\\xC3" },
		{ "a\xE2\x80\xAE" "b\xE2\x81\xA9", 0, "a\\u202Eb\\u2069" },
		{ "\xE2\x80\xAA", TEXT_MARKDOWN, "\\\\u202A" },
		{ "\xD7\x90\xE2\x80\xA9", 0, "\xD7\x90\xE2\x80\xA9" },
		/* Too long a form, half a pair, no character, too large. */
		{ "\xE0\x80\xAF", 0, "\\xE0\\x80\\xAF" },
		{ "\xED\xA0\x80", 0, "\\xED\\xA0\\x80" },
		{ "\xEF\xBF\xBF", 0, "\\xEF\\xBF\\xBF" },
		{ "\xF4\x90\x80\x80", 0, "\\xF4\\x90\\x80\\x80" },
		{ "\xF4\x8F\xBF\xBD", 0, "\xF4\x8F\xBF\xBD" },
		{ "\xC2\xB1 \xED\x95\x9C", 0, "\xC2\xB1 \xED\x95\x9C" },
		{ "\xC2\xB1 \xED\x95\x9C", TEXT_ASCII, "? ?" },
		{ "a|b<c`d`*_$", TEXT_MARKDOWN,
		  "a\\|b&lt;c\\`d\\`\\*\\_\\$" },
		{ "<a b='c'>\"&\x01", TEXT_HTML,
		  "&#60;a b=&#39;c&#39;&#62;&#34;&#38;\\x01" },
	};
	char text[64];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		text_clean(text, sizeof(text), known[i].from, known[i].rules);
		assert_string_equal(text, known[i].clean);
		assert_prints(known[i].from, known[i].rules, known[i].clean);
	}
	text_clean(text, 4, "a\xED\x95\x9C", 0); /* whole characters only */
	assert_string_equal(text, "a");
}

static void width_and_cut(void **state)
{
	char text[64] = "wide \xED\x95\x9C\xEA\xB5\xAD end";

	(void)state;
	assert_int_equal(text_width("abc"), 3);
	assert_int_equal(text_width("\xC2\xB1"), 1);
	assert_int_equal(text_width(text), 13);
	text_cut(text, 13);
	assert_int_equal(text_width(text), 13);
	text_cut(text, 10); /* the second of the two would not fit */
	assert_string_equal(text, "wide \xED\x95\x9C..");
}

/* The embedded table and results/post-002.csv are the same figures. */
static void post_file_is_current(void **state)
{
	const struct post_figure *rows;
	struct error err;
	size_t count;
	void *read;
	int i;

	(void)state;
	if (csv_read("results/post-002.csv", &post_rows, &read, &count, &err))
		fail_msg("%s", err.message);
	rows = read;
	assert_int_equal(count, post_figure_count);
	for (i = 0; i < post_figure_count; i++) {
		assert_string_equal(rows[i].setup, post_figures[i].setup);
		assert_string_equal(rows[i].target, post_figures[i].target);
		assert_string_equal(rows[i].device, post_figures[i].device);
		assert_memory_equal(&rows[i].loop_s, &post_figures[i].loop_s,
				    sizeof(rows[i]) -
				    offsetof(struct post_figure, loop_s));
	}
	free(read);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(columns_are_complete),
		cmocka_unit_test(description_is_copied),
		cmocka_unit_test(json_is_valid),
		cmocka_unit_test(text_is_harmless),
		cmocka_unit_test(width_and_cut),
		cmocka_unit_test(post_file_is_current),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
