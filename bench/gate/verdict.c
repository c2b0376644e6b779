#include "bench/gate/verdict.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/record/csv.h"
#include "bench/record/json.h"
#include "bench/system/append.h"
#include "bench/system/file.h"
#include "bench/system/memory.h"

DEFINE_ROWS(verdict_rows, struct verdict, VERDICT_COLUMNS);

static int print_header(FILE *out, const void *context, struct error *err)
{
	(void)context, (void)err;
	csv_write_header(out, &verdict_rows);
	return 0;
}

static int print_rows(FILE *out, const void *context, struct error *err)
{
	const struct verdicts *verdicts = context;

	(void)err;
	for (size_t i = 0; i < verdicts->count; i++)
		csv_write_row(out, &verdict_rows, &verdicts->rows[i]);
	return 0;
}

static int print_csv(FILE *out, const void *verdicts, struct error *err)
{
	return print_header(out, NULL, err) || print_rows(out, verdicts, err);
}

static int print_json(FILE *out, const void *context, struct error *err)
{
	const struct verdicts *verdicts = context;

	(void)err;
	fputs("{\n  \"schema\": \"bench/1\",\n  \"verdicts\": [", out);
	for (size_t i = 0; i < verdicts->count; i++) {
		fputs(i ? ",\n    " : "\n    ", out);
		json_write_row(out, &verdict_rows, &verdicts->rows[i], NULL);
	}
	fputs("\n  ]\n}\n", out);
	return 0;
}

static int print_markdown(FILE *out, const void *verdicts, struct error *err)
{
	const struct table_options github = { .format = TABLE_GITHUB,
					      .utf8 = 1 };

	return verdicts_print(verdicts, &github, out, err);
}

int verdicts_export(const struct verdicts *verdicts,
		    const struct options *options, FILE *out,
		    struct error *err)
{
	static memory_printer *const printers[EXPORTS] = {
		print_csv, print_json, print_markdown
	};

	return export_print(options, printers, verdicts, out, err);
}

int verdicts_append(const char *dir, const struct verdicts *verdicts,
		    struct error *err)
{
	char path[CAMPAIGN_PATH_SIZE], *header = NULL, *text = NULL;
	struct append_note note;
	size_t size;
	int failed;

	campaign_path(path, dir, "verdicts.csv");
	failed = memory_print(&header, &size, print_header, NULL, "a header",
			      err) ||
		 memory_print(&text, &size, print_rows, verdicts, "verdicts",
			      err) ||
		 append_rows(path, header, text, size, 1, &note, err) ||
		 append_sync(path, err);
	free(header);
	free(text);
	return failed ? -1 : 0;
}

int verdicts_read(struct verdicts *verdicts, const char *dir, struct error *err)
{
	char path[CAMPAIGN_PATH_SIZE];
	struct verdict *grown;
	size_t count;
	void *rows;

	campaign_path(path, dir, "verdicts.csv");
	if (access(path, F_OK))
		return 0;
	if (csv_read(path, &verdict_rows, &rows, &count, err))
		return -1;
	grown = realloc(verdicts->rows,
			(verdicts->count + count + 1) * sizeof(*grown));
	if (grown && count)
		memcpy(grown + verdicts->count, rows, count * sizeof(*grown));
	free(rows);
	if (!grown)
		return error_memory(err, "verdicts");
	verdicts->rows = grown;
	verdicts->count += count;
	return 0;
}

void verdicts_release(struct verdicts *verdicts)
{
	free(verdicts->rows);
	*verdicts = (struct verdicts){ 0 };
}
