#include "bench/gate/verdict.h"

#include <stdlib.h>
#include <unistd.h>

#include "bench/record/csv.h"
#include "bench/record/json.h"
#include "bench/system/append.h"
#include "bench/system/memory.h"

#define ROW struct verdict
static const struct column columns[] = {
	VERDICT_COLUMNS(TEXT_COLUMN, INT_COLUMN, REAL_COLUMN)
};

const struct row_kind verdict_rows = ROW_KIND("bench/1", columns);

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

int verdicts_print_csv(FILE *out, const void *verdicts, struct error *err)
{
	return print_header(out, NULL, err) || print_rows(out, verdicts, err);
}

int verdicts_print_json(FILE *out, const void *context, struct error *err)
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
	void *rows;

	*verdicts = (struct verdicts){ 0 };
	campaign_path(path, dir, "verdicts.csv");
	if (access(path, F_OK))
		return 0;
	if (csv_read(path, &verdict_rows, &rows, &verdicts->count, err))
		return -1;
	verdicts->rows = rows;
	return 0;
}

void verdicts_release(struct verdicts *verdicts)
{
	free(verdicts->rows);
	*verdicts = (struct verdicts){ 0 };
}
