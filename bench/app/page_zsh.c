#include "bench/app/argument.h"
#include "bench/app/page_parts.h"

/* What a description has between brackets. */
static void print_description(FILE *out, const char *text)
{
	print_quoted(out, text, "[]\\", "'\\''");
}

/* ":NAME:ACTION" of _arguments. */
static void print_action(FILE *out, const struct argument *argument)
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
static void print_option(FILE *out, const struct option_row *row,
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
	print_description(out, option_help(row, verb));
	fputc(']', out);
	if (takes)
		print_action(out, &argument);
	fputs("'\n", out);
}

static void print_arguments(FILE *out, enum verb verb)
{
	struct argument argument;

	for (int at = 0; verb_argument(verb, at, &argument); at++) {
		fputs("\t\t\t'", out);
		if (argument.repeats)
			fputc('*', out);
		else
			fprintf(out, "%d", at + 1);
		print_action(out, &argument);
		fputs("'\n", out);
	}
}

static void print_cases(FILE *out)
{
	for (int v = 0; v < VERB_COUNT; v++) {
		fprintf(out, "\t%s)\n\t\tspecs=(\n", verb_rows[v].name);
		for (int i = 0; i < option_row_count; i++)
			if (verb_knows((enum verb)v, &option_rows[i]))
				print_option(out, &option_rows[i],
					     (enum verb)v);
		print_arguments(out, (enum verb)v);
		fputs("\t\t) ;;\n", out);
	}
}

/* What goes without a verb. */
static void print_common(FILE *out)
{
	for (int i = 0; i < option_row_count; i++)
		if (verb_knows(VERB_COUNT, &option_rows[i]))
			print_option(out, &option_rows[i], VERB_COUNT);
}

static void print_verbs(FILE *out)
{
	for (int v = 0; v < VERB_COUNT; v++) {
		fprintf(out, "\t\t'%s:", verb_rows[v].name);
		print_quoted(out, verb_rows[v].summary, ":\\", "'\\''");
		fputs("'\n", out);
	}
}

const struct page_part zsh_parts[] = {
	{ "verbs", print_verbs },
	{ "common", print_common },
	{ "cases", print_cases },
	{ NULL, NULL },
};
