#include "bench/app/argument.h"
#include "bench/app/page_parts.h"

/* " -d 'TEXT'", and the end of the line. */
static void print_description(FILE *out, const char *text)
{
	fputs(" -d '", out);
	print_quoted(out, text, "\\", "\\'");
	fputs("'\n", out);
}

/* What complete wants for an argument; -f: no files. */
static void print_offer(FILE *out, const struct argument *argument)
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

static void print_verbs(FILE *out)
{
	for (int v = 0; v < VERB_COUNT; v++) {
		fprintf(out, "complete -c bench -n __bench_no_verb -f -a %s",
			verb_rows[v].name);
		print_description(out, verb_rows[v].summary);
	}
}

static void print_option(FILE *out, const struct option_row *row)
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
		print_offer(out, &argument);
	}
	print_description(out, row->help);
}

static void print_options(FILE *out)
{
	for (int i = 0; i < option_row_count; i++)
		print_option(out, &option_rows[i]);
}

/* Options whose argument may be the next word. */
static void print_values(FILE *out)
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

static void print_arguments(FILE *out)
{
	for (int v = 0; v < VERB_COUNT; v++) {
		struct argument argument;

		for (int at = 0; verb_argument((enum verb)v, at, &argument);
		     at++) {
			fprintf(out, "complete -c bench -n '__bench_at %s",
				verb_rows[v].name);
			if (!argument.repeats)
				fprintf(out, " %d", at);
			fputc('\'', out);
			print_offer(out, &argument);
			fputc('\n', out);
		}
	}
}

const struct page_part fish_parts[] = {
	{ "verbs", print_verbs },
	{ "options", print_options },
	{ "values", print_values },
	{ "arguments", print_arguments },
	{ NULL, NULL },
};
