#include "bench/record/column.h"

#include <stdio.h>
#include <string.h>

void row_clear(const struct row_kind *kind, void *row)
{
	memset(row, 0, kind->row_size);
	for (int i = 0; i < kind->column_count; i++) {
		const struct column *column = &kind->columns[i];
		char *cell = (char *)row + column->offset;

		if (column->kind == CELL_INT)
			*(long *)(void *)cell = CELL_NO_INT;
		else if (column->kind == CELL_REAL)
			*(double *)(void *)cell = CELL_NO_REAL;
	}
	snprintf((char *)row + kind->columns[0].offset, kind->columns[0].size,
		 "%s", kind->schema);
}

const struct column *row_column(const struct row_kind *kind, const char *name)
{
	for (int i = 0; i < kind->column_count; i++)
		if (!strcmp(kind->columns[i].name, name))
			return &kind->columns[i];
	return NULL;
}

void row_describe(const struct row_kind *kind, void *row,
		  const struct row_kind *from_kind, const void *from)
{
	for (int i = 0; i < kind->column_count; i++) {
		const struct column *to = &kind->columns[i];
		const struct column *source = row_column(from_kind, to->name);
		char *cell = (char *)row + to->offset;

		if (!source || source->kind != to->kind)
			continue;
		if (to->kind == CELL_TEXT)
			snprintf(cell, to->size, "%s", cell_text(source, from));
		else if (to->kind == CELL_INT)
			memcpy(cell, (const char *)from + source->offset,
			       to->size);
	}
}

const char *cell_text(const struct column *column, const void *row)
{
	return (const char *)row + column->offset;
}

long cell_int(const struct column *column, const void *row)
{
	long value;

	memcpy(&value, (const char *)row + column->offset, sizeof(value));
	return value;
}

double cell_real(const struct column *column, const void *row)
{
	double value;

	memcpy(&value, (const char *)row + column->offset, sizeof(value));
	return value;
}

const char *cell_format(const struct column *column, const void *row,
			char number[NUMBER_SIZE])
{
	number[0] = '\0';
	if (column->kind == CELL_TEXT)
		return cell_text(column, row);
	if (column->kind == CELL_REAL)
		number_print(number, cell_real(column, row));
	else if (cell_int(column, row) != CELL_NO_INT)
		snprintf(number, NUMBER_SIZE, "%ld", cell_int(column, row));
	return number;
}

void cell_set_real(const struct column *column, void *row, double value)
{
	memcpy((char *)row + column->offset, &value, sizeof(value));
}
