#include "bench/app/page.h"

#include <string.h>

#include "bench/app/argument.h"

/*
 * Text between single quotes of a shell. Before each character of special
 * comes a backslash; quote is how a single quote is written.
 */
static void print_quoted(FILE *out, const char *text, const char *special,
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

/* What a verb takes besides options, from the position 0 on. */
static void print_each_argument(FILE *out, enum verb verb,
				void (*print)(FILE *out, enum verb verb, int at,
					      const struct argument *argument))
{
	struct argument argument;

	for (int at = 0; verb_argument(verb, at, &argument); at++)
		print(out, verb, at, &argument);
}

/* Sets what bench/app/bench.bash asks for. */
static void print_bash_offer(FILE *out, const struct argument *argument)
{
	switch (argument_offer(argument)) {
	case OFFER_FILES:
		fputs("offer=files ;;\n", out);
		break;
	case OFFER_FOLDERS:
		fputs("offer=folders ;;\n", out);
		break;
	case OFFER_WORDS:
		fputs("offer=words words='", out);
		argument_print_words(out, argument);
		fputs("' ;;\n", out);
		break;
	default:
		fputs(";;\n", out);
	}
}

static void print_bash_values(FILE *out)
{
	for (int i = 0; i < option_row_count; i++) {
		const struct option_row *row = &option_rows[i];
		struct argument argument;

		if (!option_argument(row, &argument))
			continue;
		fputc('\t', out);
		if (row->letter)
			fprintf(out, "-%c | ", row->letter);
		fprintf(out, "--%s) ", row->name);
		print_bash_offer(out, &argument);
	}
}

/* Those of no verb are those that all have. */
static void print_bash_options(FILE *out)
{
	for (int v = 0; v <= VERB_COUNT; v++) {
		fprintf(out, "\t%s) words='",
			v < VERB_COUNT ? verb_rows[v].name : "''");
		for (int i = 0; i < option_row_count; i++) {
			const struct option_row *row = &option_rows[i];

			if (verb_knows((enum verb)v, row))
				option_print_words(out, row);
		}
		fputs("' ;;\n", out);
	}
}

static void print_bash_argument(FILE *out, enum verb verb, int at,
				const struct argument *argument)
{
	fprintf(out, "\t%s:", verb_name(verb));
	if (argument->repeats)
		fputs("*) ", out);
	else
		fprintf(out, "%d) ", at);
	print_bash_offer(out, argument);
}

static void print_bash_arguments(FILE *out)
{
	for (int v = 0; v < VERB_COUNT; v++)
		print_each_argument(out, (enum verb)v, print_bash_argument);
}

static void print_bash_verbs(FILE *out)
{
	fputs("\t\twords='", out);
	verb_print_words(out);
	fputs("'\n", out);
}

static const struct page_part bash_parts[] = {
	{ "values", print_bash_values },
	{ "options", print_bash_options },
	{ "arguments", print_bash_arguments },
	{ "verbs", print_bash_verbs },
	{ NULL, NULL },
};

/* What a description has between brackets. */
static void print_zsh_description(FILE *out, const char *text)
{
	print_quoted(out, text, "[]\\", "'\\''");
}

/* ":NAME:ACTION" of _arguments. */
static void print_zsh_action(FILE *out, const struct argument *argument)
{
	fprintf(out, ":%.*s:", argument->length, argument->text);
	switch (argument_offer(argument)) {
	case OFFER_FILES:
		fputs("_files", out);
		break;
	case OFFER_FOLDERS:
		fputs("_files -/", out);
		break;
	case OFFER_WORDS:
		fputs("_bench_words", out);
		argument_print_words(out, argument);
		break;
	default:
		fputc(' ', out);
	}
}

/* One option, in both of its forms, which exclude each other. */
static void print_zsh_option(FILE *out, const struct option_row *row,
			 enum verb verb)
{
	struct argument argument;
	const int takes = option_argument(row, &argument);
	const char *equals = takes ? "=" : "";

	fputs("\t\t\t", out);
	if (row->letter)
		fprintf(out, "'(-%c --%s)'{-%c%s,--%s%s}'[", row->letter,
			row->name, row->letter, takes ? "+" : "", row->name,
			equals);
	else
		fprintf(out, "'--%s%s[", row->name, equals);
	print_zsh_description(out, option_help(row, verb));
	fputc(']', out);
	if (takes)
		print_zsh_action(out, &argument);
	fputs("'\n", out);
}

static void print_zsh_argument(FILE *out, enum verb verb, int at,
			       const struct argument *argument)
{
	(void)verb;
	fputs("\t\t\t'", out);
	if (argument->repeats)
		fputc('*', out);
	else
		fprintf(out, "%d", at + 1);
	print_zsh_action(out, argument);
	fputs("'\n", out);
}

static void print_zsh_cases(FILE *out)
{
	for (int v = 0; v < VERB_COUNT; v++) {
		fprintf(out, "\t%s)\n\t\tspecs=(\n", verb_rows[v].name);
		for (int i = 0; i < option_row_count; i++)
			if (verb_knows((enum verb)v, &option_rows[i]))
				print_zsh_option(out, &option_rows[i],
					     (enum verb)v);
		print_each_argument(out, (enum verb)v, print_zsh_argument);
		fputs("\t\t) ;;\n", out);
	}
}

/* What goes without a verb. */
static void print_zsh_common(FILE *out)
{
	for (int i = 0; i < option_row_count; i++)
		if (verb_knows(VERB_COUNT, &option_rows[i]))
			print_zsh_option(out, &option_rows[i], VERB_COUNT);
}

static void print_zsh_verbs(FILE *out)
{
	for (int v = 0; v < VERB_COUNT; v++) {
		fprintf(out, "\t\t'%s:", verb_rows[v].name);
		print_quoted(out, verb_rows[v].summary, ":\\", "'\\''");
		fputs("'\n", out);
	}
}

static const struct page_part zsh_parts[] = {
	{ "verbs", print_zsh_verbs },
	{ "common", print_zsh_common },
	{ "cases", print_zsh_cases },
	{ NULL, NULL },
};

/* " -d 'TEXT'", and the end of the line. */
static void print_fish_description(FILE *out, const char *text)
{
	fputs(" -d '", out);
	print_quoted(out, text, "\\", "\\'");
	fputs("'\n", out);
}

/* What complete wants for an argument; -f: no files. */
static void print_fish_offer(FILE *out, const struct argument *argument)
{
	switch (argument_offer(argument)) {
	case OFFER_FILES:
		fputs(" -F", out);
		break;
	case OFFER_FOLDERS:
		fputs(" -f -a '(__fish_complete_directories)'", out);
		break;
	case OFFER_WORDS:
		fputs(" -f -a '(__bench_words", out);
		argument_print_words(out, argument);
		fputs(")'", out);
		break;
	default:
		fputs(" -f", out);
	}
}

static void print_fish_verbs(FILE *out)
{
	for (int v = 0; v < VERB_COUNT; v++) {
		fprintf(out, "complete -c bench -n __bench_no_verb -f -a %s",
			verb_rows[v].name);
		print_fish_description(out, verb_rows[v].summary);
	}
}

static void print_fish_option(FILE *out, const struct option_row *row)
{
	const int needs_verb = !verb_knows(VERB_COUNT, row);
	struct argument argument;

	fputs("complete -c bench", out);
	if (needs_verb)
		fputs(" -n '__bench_verb", out);
	for (int v = 0; needs_verb && v < VERB_COUNT; v++)
		if (verb_knows((enum verb)v, row))
			fprintf(out, " %s", verb_rows[v].name);
	fprintf(out, "%s -l %s", needs_verb ? "'" : "", row->name);
	if (row->letter)
		fprintf(out, " -s %c", row->letter);
	if (option_argument(row, &argument)) {
		fputs(" -r", out);
		print_fish_offer(out, &argument);
	}
	print_fish_description(out, row->help);
}

static void print_fish_options(FILE *out)
{
	for (int i = 0; i < option_row_count; i++)
		print_fish_option(out, &option_rows[i]);
}

/* Options whose argument may be the next word. */
static void print_fish_values(FILE *out)
{
	fputs("set -g __bench_values", out);
	for (int i = 0; i < option_row_count; i++) {
		const struct option_row *row = &option_rows[i];
		struct argument argument;

		if (option_argument(row, &argument))
			option_print_words(out, row);
	}
	fputc('\n', out);
}

static void print_fish_argument(FILE *out, enum verb verb, int at,
				const struct argument *argument)
{
	fprintf(out, "complete -c bench -n '__bench_at %s", verb_name(verb));
	if (!argument->repeats)
		fprintf(out, " %d", at);
	fputc('\'', out);
	print_fish_offer(out, argument);
	fputc('\n', out);
}

static void print_fish_arguments(FILE *out)
{
	for (int v = 0; v < VERB_COUNT; v++)
		print_each_argument(out, (enum verb)v, print_fish_argument);
}

static const struct page_part fish_parts[] = {
	{ "verbs", print_fish_verbs },
	{ "options", print_fish_options },
	{ "values", print_fish_values },
	{ "arguments", print_fish_arguments },
	{ NULL, NULL },
};

/* Made from the files in bench/app/, one string a line. */
static const char *const man_lines[] = {
#include "app/bench.1.in.h"
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
