#include "bench/system/terminal.h"

#include <langinfo.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int terminal_is_utf8(void)
{
	return !strcmp(nl_langinfo(CODESET), "UTF-8");
}

int terminal_uses_color(const char *when, FILE *stream)
{
	const char *term = getenv("TERM"), *no = getenv("NO_COLOR");

	if (strcmp(when, "auto"))
		return !strcmp(when, "always");
	return !(no && *no) && term && strcmp(term, "dumb") &&
	       isatty(fileno(stream));
}
