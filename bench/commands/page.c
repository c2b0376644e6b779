#include "bench/commands/page.h"

#include <string.h>

/* Made from the files in bench/commands/, one string a line. */
static const char *const man_lines[] = {
#include "commands/bench.1.in.h"
	NULL
};
static const char *const bash_lines[] = {
#include "commands/bench.bash.h"
	NULL
};
static const char *const zsh_lines[] = {
#include "commands/bench.zsh.h"
	NULL
};
static const char *const fish_lines[] = {
#include "commands/bench.fish.h"
	NULL
};

static const struct page {
	const char *name;
	const char *const *lines;
	const struct page_part *parts;
} pages[] = {
	{ "man", man_lines, man_parts },
	{ "bash", bash_lines, NULL },
	{ "zsh", zsh_lines, NULL },
	{ "fish", fish_lines, NULL },
};

/* The part that the line stands for, or NULL. */
static const struct page_part *find_part(const struct page_part *part,
					 const char *line)
{
	const char *at = strchr(line, '@');

	for (; at && part && part->name; part++) {
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
