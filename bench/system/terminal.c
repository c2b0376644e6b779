#include "bench/system/terminal.h"

#include <langinfo.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/types.h>
#include <unistd.h>

#include "bench/system/text.h"

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

int terminal_columns(FILE *stream)
{
	struct winsize size;

	return ioctl(fileno(stream), TIOCGWINSZ, &size) ? 0 : size.ws_col;
}

/* Whole lines, since the stream is flushed by their ends. The last column stays
 * free: some terminals break a line that fills it. */
static ssize_t write_wrapped(void *cookie, const char *text, size_t size)
{
	FILE *stream = cookie;
	const int columns = terminal_columns(stream);
	char *lines = columns > 1 ? malloc(size + 1) : NULL, *line, *end;

	if (!lines) {
		fwrite(text, 1, size, stream);
		return ferror(stream) ? 0 : (ssize_t)size;
	}
	memcpy(lines, text, size);
	lines[size] = '\0';
	for (line = lines; (end = strchr(line, '\n')); line = end + 1) {
		*end = '\0';
		text_wrap(stream, line, columns - 1, 2);
	}
	fputs(line, stream);
	free(lines);
	return ferror(stream) ? 0 : (ssize_t)size;
}

FILE *terminal_wrapped(FILE *stream)
{
	const cookie_io_functions_t functions = { .write = write_wrapped };
	FILE *wrapped;

	if (!isatty(fileno(stream)))
		return stream;
	wrapped = fopencookie(stream, "w", functions);
	if (!wrapped)
		return stream;
	setvbuf(wrapped, NULL, _IOLBF, BUFSIZ);
	return wrapped;
}

void terminal_print_line(FILE *stream, char *text, int indent)
{
	const int columns = terminal_columns(stream);

	text_wrap(stream, text, columns > 1 ? columns - 1 : INT_MAX, indent);
}

void terminal_print_error(const struct error *err, FILE *log)
{
	char text[4 * sizeof(err->message)];

	text_clean(text, sizeof(text), err->message, TEXT_LINES);
	fprintf(log, "bench: %s\n", text);
}
