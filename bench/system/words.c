#include "bench/system/words.h"

#include <stdlib.h>
#include <string.h>

static int is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n';
}

/* Would a shell do something with what begins here? */
static int is_of_shell(const char *text)
{
	return strchr("|;&<>`", *text) || (text[0] == '$' && text[1] == '(');
}

/* One word from *from to *to, and both behind it. 0, or what is in the way:
 * a quote that has no end, or what is of a shell. */
static char take_word(const char **from, char **to)
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
		return error_set(err, ERROR_USAGE, "--%s: a quote has no end: "
				 "%s", option, text);
	return error_set(err, ERROR_USAGE, "--%s: no shell reads this, but %s "
			 "is for one: a line of shell is sh -c '...'; quoted, "
			 "it is passed on: %s", option,
			 what == '\n' ? "the end of a line" :
			 what == '$' ? "$(" : (const char[]){ what, '\0' },
			 text);
}

/* Behind the blanks, among which a line may end; 0, or '\n' if a second line
 * follows there. */
static char skip_blanks(const char **from, size_t words)
{
	char ended = 0;

	for (; is_blank(**from); (*from)++)
		if (**from == '\n')
			ended = '\n';
	return **from && words ? ended : 0;
}

int words_split(const char *text, const char *option, char ***words,
		struct error *err)
{
	/* A word and the blank behind it are as long as the word and its 0. */
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
		wrong = take_word(&from, &to);
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
				 "--%s: there is no command in '%s'", option,
				 text);
	}
	*words = list;
	return 0;
}
