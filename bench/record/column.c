#include "bench/record/column.h"

#include <stdio.h>
#include <string.h>

void row_clear(const struct row_kind *kind, void *row)
{
	const struct column *column;
	char *cell;
	int i;

	memset(row, 0, kind->row_size);
	for (i = 0; i < kind->column_count; i++) {
		column = &kind->columns[i];
		cell = (char *)row + column->offset;
		if (column->kind == CELL_INT)
			*(long *)(void *)cell = CELL_NO_INT;
		else if (column->kind == CELL_REAL)
			*(double *)(void *)cell = CELL_NO_REAL;
	}
	snprintf((char *)row + kind->columns[0].offset, kind->columns[0].size,
		 "%s", kind->schema);
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
