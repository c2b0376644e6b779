#include "bench/record/json.h"

#include <string.h>

#include "bench/system/number.h"

/* Bytes of the well-formed character that starts here (RFC 3629: no overlong
 * form, no surrogate, nothing above U+10FFFF); 0 if there is none. */
static int utf8_size(const unsigned char *text)
{
	unsigned char first = text[0], low = 0x80, high = 0xBF;
	int size, i;

	if (first < 0x80)
		return 1;
	if (first < 0xC2 || first > 0xF4)
		return 0;
	size = first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
	if (first == 0xE0)
		low = 0xA0;
	if (first == 0xED)
		high = 0x9F;
	if (first == 0xF0)
		low = 0x90;
	if (first == 0xF4)
		high = 0x8F;
	if (text[1] < low || text[1] > high)
		return 0;
	for (i = 2; i < size; i++)
		if ((text[i] & 0xC0) != 0x80)
			return 0;
	return size;
}

void json_write_string(FILE *out, const char *text)
{
	const unsigned char *at = (const unsigned char *)text;
	int size;

	fputc('"', out);
	for (; *at; at += size ? size : 1) {
		size = utf8_size(at);
		if (size == 0)
			fputs("\\ufffd", out);
		else if (*at == '"' || *at == '\\')
			fprintf(out, "\\%c", *at);
		else if (*at < ' ')
			fprintf(out, "\\u%04x", *at);
		else
			fwrite(at, 1, (size_t)size, out);
	}
	fputc('"', out);
}

void json_write_real(FILE *out, double value)
{
	char number[NUMBER_SIZE];

	number_print(number, value);
	fputs(number[0] ? number : "null", out);
}

void json_write_int(FILE *out, long value)
{
	if (value == CELL_NO_INT)
		fputs("null", out);
	else
		fprintf(out, "%ld", value);
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
	const struct column *column;
	const char *gap = "";
	int i;

	fputc('{', out);
	for (i = 0; i < kind->column_count; i++) {
		column = &kind->columns[i];
		if (!is_wanted(column->name, names))
			continue;
		fprintf(out, "%s\"%s\": ", gap, column->name);
		gap = ", ";
		if (column->kind == CELL_INT)
			json_write_int(out, cell_int(column, row));
		else if (column->kind == CELL_REAL)
			json_write_real(out, cell_real(column, row));
		else if (cell_text(column, row)[0])
			json_write_string(out, cell_text(column, row));
		else
			fputs("null", out);
	}
	fputc('}', out);
}
