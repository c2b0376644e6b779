#include "bench/app/page.h"

#include <string.h>

#include "bench/app/page_parts.h"

/* Made from the files in bench/app/, one string a line. */
static const char *const man_lines[] = {
#include "app/bench.1.h"
	NULL
};
static const char *const bash_lines[] = {
#include "app/bench.bash.h"
	NULL
};
static const char *const zsh_lines[] = {
#include "app/bench.zsh.h"
	NULL
};
static const char *const fish_lines[] = {
#include "app/bench.fish.h"
	NULL
};

static const struct page {
	const char *name;
	const char *const *lines;
	const struct page_part *parts;
} pages[] = {
	{ "man", man_lines, man_parts },
	{ "bash", bash_lines, bash_parts },
	{ "zsh", zsh_lines, zsh_parts },
	{ "fish", fish_lines, fish_parts },
};

void print_quoted(FILE *out, const char *text, const char *special,
		  const char *quote)
{
	for (; *text; text++) {
		if (*text == '\'') {
			fputs(quote, out);
			continue;
		}
		if (strchr(special, *text))
			fputc('\\', out);
		fputc(*text, out);
	}
}

/* The part that the line stands for, or NULL. */
static const struct page_part *find_part(const struct page_part *part,
					 const char *line)
{
	const char *at = strchr(line, '@');

	for (; at && part->name; part++) {
		const size_t length = strlen(part->name);

		if (!strncmp(at + 1, part->name, length) &&
		    at[1 + length] == '@')
			return part;
	}
	return NULL;
}

static void print_page(FILE *out, const struct page *page)
{
	for (const char *const *line = page->lines; *line; line++) {
		const struct page_part *part = find_part(page->parts, *line);

		if (part)
			part->print(out);
		else
			fputs(*line, out);
	}
}

void page_print(FILE *out, const char *name)
{
	for (size_t i = 0; i < sizeof(pages) / sizeof(pages[0]); i++)
		if (!strcmp(pages[i].name, name))
			print_page(out, &pages[i]);
}
