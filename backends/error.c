#include "backends/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int error_set(struct error *err, enum error_kind kind, const char *format, ...)
{
	va_list arguments;

	err->kind = kind;
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

static const char memory_words[] = "out of memory for ";

int error_memory(struct error *err, const char *what)
{
	return error_set(err, ERROR_FAILED, "%s%s", memory_words, what);
}

int error_is_memory(const struct error *err)
{
	return err->kind == ERROR_FAILED && strstr(err->message, memory_words);
}
