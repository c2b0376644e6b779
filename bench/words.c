#include "bench/words.h"

#include <stdlib.h>
#include <string.h>

static int is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n';
}

/* One word from *from to *to, and both behind it; -1 if a quote is open. */
static int take_word(const char **from, char **to)
{
	const char *in = *from;
	char *out = *to, quote = 0;

	for (; *in && (quote || !is_blank(*in)); in++) {
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
	return quote ? -1 : 0;
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

	if (!list)
		return error_memory(err, "a command's words");
	for (;;) {
		while (is_blank(*from))
			from++;
		if (!*from)
			break;
		list[count++] = to;
		if (take_word(&from, &to)) {
			free(list);
			return error_set(err, ERROR_USAGE,
					 "--%s: a quote has no end: %s", option,
					 text);
		}
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
