#include "bench/record/json.h"

#include <string.h>

#include "bench/system/number.h"
#include "bench/system/text.h"

void json_write_string(FILE *out, const char *text)
{
	unsigned number;
	int size;

	fputc('"', out);
	for (; *text; text += size) {
		size = text_decode(text, &number);
		if (size == 1 && number >= 0x80)
			fputs("\\ufffd", out);
		else if (number == '"' || number == '\\')
			fprintf(out, "\\%c", *text);
		else if (number < ' ')
			fprintf(out, "\\u%04x", number);
		else
			fwrite(text, 1, (size_t)size, out);
	}
	fputc('"', out);
}

static int is_wanted(const char *name, const char *const *names)
{
	if (!names)
		return 1;
	for (; *names; names++)
		if (strcmp(*names, name) == 0)
			return 1;
	return 0;
}

void json_write_row(FILE *out, const struct row_kind *kind, const void *row,
		    const char *const *names)
{
	const char *gap = "";

	fputc('{', out);
	for (int i = 0; i < kind->column_count; i++) {
		const struct column *column = &kind->columns[i];
		char number[NUMBER_SIZE];
		const char *text = cell_format(column, row, number);

		if (!is_wanted(column->name, names))
			continue;
		fprintf(out, "%s\"%s\": ", gap, column->name);
		gap = ", ";
		if (column->kind == CELL_TEXT && text[0])
			json_write_string(out, text);
		else
			fputs(text[0] ? text : "null", out);
	}
	fputc('}', out);
}
