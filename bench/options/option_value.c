/* Values of options as text. */
#include <stdio.h>
#include <string.h>

#include "bench/options/option_table.h"

const struct option_row *option_find(const char *name)
{
	const struct option_row *row = option_rows;

	while (strcmp(row->name, name))
		row++;
	return row;
}

int option_is_given(const struct options *options,
		    const struct option_row *row)
{
	return options->given[row - option_rows];
}

void option_print(const struct options *options, const struct option_row *row,
		  char *text, size_t size)
{
	const void *field = (const char *)options + row->offset;
	const char *value = NULL;

	text[0] = '\0';
	switch (row->kind) {
	case OPTION_FLAG:
	case OPTION_LIST: /* several */
		return;
	case OPTION_ON_OFF:
		value = *(const int *)field ? "on" : "off";
		break;
	case OPTION_INT:
		if (*(const long *)field != OPTION_UNSET)
			snprintf(text, size, "%ld", *(const long *)field);
		return;
	case OPTION_REAL:
		if (*(const double *)field >= 0)
			snprintf(text, size, "%.17g", *(const double *)field);
		return;
	default:
		value = *(const char *const *)field;
	}
	if (value)
		snprintf(text, size, "%s", value);
}
