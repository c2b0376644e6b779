#include "bench/system/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Returns 1 if size bytes may encode this number, also in XML. Rejects numbers
 * that need fewer bytes, halves of a UTF-16 pair, numbers beyond Unicode, and
 * its two non-characters. */
static int is_character(unsigned number, int size)
{
	static const unsigned least[] = { 0, 0, 0x80, 0x800, 0x10000 };

	return number >= least[size] && number <= 0x10FFFF &&
	       (number < 0xD800 || number > 0xDFFF) && number != 0xFFFE &&
	       number != 0xFFFF;
}

int text_decode(const char *text, unsigned *number)
{
	unsigned first = (unsigned char)*text;
	int size = first < 0xC2 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
	unsigned all = first & (0x7FU >> size);
	int i = 1;

	*number = first;
	while (i < size && (text[i] & 0xC0) == 0x80)
		all = all << 6 | ((unsigned char)text[i++] & 0x3F);
	if (size == 1 || i < size || !is_character(all, size))
		return 1;
	*number = all;
	return size;
}

static int is_wide(unsigned number)
{
	static const unsigned ranges[][2] = {
		{ 0x1100, 0x115F },   { 0x2E80, 0xA4CF },
		{ 0xAC00, 0xD7A3 },   { 0xF900, 0xFAFF },
		{ 0xFE30, 0xFE6F },   { 0xFF00, 0xFF60 },
		{ 0xFFE0, 0xFFE6 },   { 0x1F300, 0x1FAFF },
		{ 0x20000, 0x3FFFD },
	};
	size_t i;

	for (i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++)
		if (number >= ranges[i][0] && number <= ranges[i][1])
			return 1;
	return 0;
}

int text_width(const char *text)
{
	unsigned number;
	int width = 0;

	while (*text) {
		text += text_decode(text, &number);
		width += 1 + is_wide(number);
	}
	return width;
}

void text_wrap(FILE *out, char *text, int width, int indent)
{
	int at = 0;

	while (*text) {
		const int blanks = (int)strspn(text, " ");
		char *word = text + blanks, *end = word + strcspn(word, " ");
		const char after = *end;
		int columns;

		*end = '\0';
		columns = text_width(word);
		if (at > 0 && at + blanks + columns > width) {
			fprintf(out, "\n%*s%s", indent, "", word);
			at = indent + columns;
		} else {
			fputs(text, out);
			at += blanks + columns;
		}
		*end = after;
		text = end;
	}
	fputc('\n', out);
}

void text_cut(char *text, int columns)
{
	unsigned number;
	int at = 0, size, width;

	if (text_width(text) <= columns)
		return;
	for (;;) {
		size = text_decode(text, &number);
		width = 1 + is_wide(number);
		if (at + width > columns - 2)
			break;
		at += width;
		text += size;
	}
	memcpy(text, "..", 3);
}

enum { CLEAN_SIZE = 8 };

/* Embeddings, overrides and isolates of directions also affect the text after
 * them, which would be read backwards. */
static int is_direction(unsigned number)
{
	return (number >= 0x202A && number <= 0x202E) ||
	       (number >= 0x2066 && number <= 0x2069);
}

static void clean_character(char to[CLEAN_SIZE], const char *from, int size,
			    unsigned number, int rules)
{
	int markdown = rules & TEXT_MARKDOWN;

	if ((rules & TEXT_LINES) && (number == '\n' || number == '\t')) {
		snprintf(to, CLEAN_SIZE, "%c", (int)number);
		return;
	}
	/* Control characters of ASCII and of Latin-1, and stray bytes. */
	if (number < ' ' || (number >= 0x7F && number < 0xA0) ||
	    (size == 1 && number >= 0x80))
		snprintf(to, CLEAN_SIZE, "%s\\x%02X", markdown ? "\\" : "",
			 number & 0xFF);
	else if (is_direction(number))
		snprintf(to, CLEAN_SIZE, "%s\\u%04X", markdown ? "\\" : "",
			 number);
	else if ((rules & TEXT_HTML) && number < 0x80 &&
		 strchr("<>&\"'", (int)number))
		snprintf(to, CLEAN_SIZE, "&#%u;", number);
	else if (size > 1 && (rules & TEXT_ASCII))
		snprintf(to, CLEAN_SIZE, "?");
	else if (markdown && number == '<')
		snprintf(to, CLEAN_SIZE, "&lt;");
	else if (markdown && number < 0x80 && strchr("\\`*_|[]$", (int)number))
		snprintf(to, CLEAN_SIZE, "\\%c", (int)number);
	else
		snprintf(to, CLEAN_SIZE, "%.*s", size, from);
}

void text_clean(char *to, size_t size, const char *from, int rules)
{
	char clean[CLEAN_SIZE];
	unsigned number;
	size_t length;
	int bytes;

	while (*from) {
		bytes = text_decode(from, &number);
		clean_character(clean, from, bytes, number, rules);
		length = strlen(clean);
		if (length >= size)
			break;
		memcpy(to, clean, length);
		to += length;
		size -= length;
		from += bytes;
	}
	*to = '\0';
}

void text_print(FILE *out, const char *text, int rules)
{
	char clean[CLEAN_SIZE];
	unsigned number;
	int bytes;

	for (; *text; text += bytes) {
		bytes = text_decode(text, &number);
		clean_character(clean, text, bytes, number, rules);
		fputs(clean, out);
	}
}

void text_append(char *text, size_t size, const char *format, ...)
{
	const size_t used = strlen(text);
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text + used, size - used, format, arguments);
	va_end(arguments);
}

void text_list(char *text, size_t size, const char *first, const char *comma,
	       const char *format, ...)
{
	va_list arguments;
	size_t used;

	text_append(text, size, "%s", text[0] ? comma : first);
	used = strlen(text);
	va_start(arguments, format);
	vsnprintf(text + used, size - used, format, arguments);
	va_end(arguments);
}
