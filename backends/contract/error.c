#include "backends/contract/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int error_set(struct error *err, enum error_kind kind, const char *format, ...)
{
	va_list arguments;

	err->kind = kind;
	err->memory = 0;
	va_start(arguments, format);
	vsnprintf(err->message, sizeof(err->message), format, arguments);
	va_end(arguments);
	return -1;
}

void error_list(char *list, size_t size, const char *name)
{
	const size_t used = strlen(list);

	snprintf(list + used, size - used, "%s%s", used ? ", " : "", name);
}

int error_memory(struct error *err, const char *what)
{
	error_set(err, ERROR_FAILED, "out of memory for %s", what);
	err->memory = 1;
	return -1;
}
