#include "bench/system/command_line.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/system/text.h"

static int is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n';
}

/* Returns 1 if a shell would interpret the start of text. */
static int is_of_shell(const char *text)
{
	return strchr("|;&<>`", *text) || (text[0] == '$' && text[1] == '(');
}

/* Copies one word and moves *from and *to past it. Returns 0, or the character
 * that prevents it: an open quote, or one for a shell. */
static char copy_word(const char **from, char **to)
{
	const char *in = *from;
	char *out = *to, quote = 0;

	for (; *in && (quote || !is_blank(*in)); in++) {
		if (!quote && is_of_shell(in))
			return *in;
		if (!quote && (*in == '\'' || *in == '"'))
			quote = *in;
		else if (*in == quote)
			quote = 0;
		else if (*in == '\\' && in[1] &&
			 (!quote || (quote == '"' &&
				     (in[1] == '"' || in[1] == '\\'))))
			*out++ = *++in;
		else
			*out++ = *in;
	}
	*out++ = '\0';
	*from = in;
	*to = out;
	return quote;
}

static int refuse(char what, const char *text, const char *option,
		  struct error *err)
{
	if (what == '\'' || what == '"')
		return error_set(err, ERROR_USAGE,
				 "--%s: a quote is not closed: %s", option,
				 text);
	return error_set(err, ERROR_USAGE, "--%s is run without a shell, but "
			 "has %s, which only a shell understands. Use sh -c "
			 "'...', or quote it to pass it on: %s", option,
			 what == '\n' ? "the end of a line" :
			 what == '$' ? "$(" : (const char[]){ what, '\0' },
			 text);
}

/* Moves *from past blanks and line ends. Returns 0, or '\n' if a second line
 * follows. */
static char skip_blanks(const char **from, size_t words)
{
	char ended = 0;

	for (; is_blank(**from); (*from)++)
		if (**from == '\n')
			ended = '\n';
	return **from && words ? ended : 0;
}

int command_line_split(const char *text, const char *option, char ***words,
		       struct error *err)
{
	/* A word and its blank take as many bytes as the word and its
	 * terminator. */
	const size_t size = strlen(text) + 1, most = size / 2 + 2;
	char **list = malloc(most * sizeof(*list) + size);
	char *to = (char *)(list + most);
	const char *from = text;
	size_t count = 0;
	char wrong;

	if (!list)
		return error_memory(err, "a command's words");
	while (!(wrong = skip_blanks(&from, count)) && *from) {
		list[count++] = to;
		wrong = copy_word(&from, &to);
		if (wrong)
			break;
	}
	if (wrong) {
		free(list);
		return refuse(wrong, text, option, err);
	}
	list[count] = NULL;
	if (!count || !list[0][0]) {
		free(list);
		return error_set(err, ERROR_USAGE,
				 "--%s: no command in '%s'", option,
				 text);
	}
	*words = list;
	return 0;
}

/* Letters beyond ASCII mean nothing to a shell. */
static int is_plain(const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyz"
				    "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789%+,-./:=@_";

	for (const char *at = word; *at; at++)
		if (!(*at & 0x80) && !strchr(plain, *at))
			return 0;
	return *word != '\0';
}

void command_line_append(char *text, size_t size, const char *word)
{
	text_append(text, size, "%s", text[0] ? " " : "");
	if (is_plain(word)) {
		text_append(text, size, "%s", word);
		return;
	}
	text_append(text, size, "'");
	for (; *word; word++)
		text_append(text, size, *word == '\'' ? "'\\%c'" : "%c", *word);
	text_append(text, size, "'");
}

void command_line_hint(char *text, size_t size, const char *words,
		       const char *argument)
{
	text[0] = '\0';
	command_line_append(text, size, program_invocation_name);
	text_append(text, size, " %s", words);
	if (argument)
		command_line_append(text, size, argument);
}
