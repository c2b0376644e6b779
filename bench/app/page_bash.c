#include "bench/app/argument.h"
#include "bench/app/page_parts.h"

/* Sets what bench/app/bench.bash asks for. */
static void print_offer(FILE *out, const struct argument *argument)
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

static void print_values(FILE *out)
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
		print_offer(out, &argument);
	}
}

/* Those of no verb are those that all have. */
static void print_options(FILE *out)
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

static void print_arguments(FILE *out)
{
	for (int v = 0; v < VERB_COUNT; v++) {
		struct argument argument;

		for (int at = 0; verb_argument((enum verb)v, at, &argument);
		     at++) {
			fprintf(out, "\t%s:", verb_rows[v].name);
			if (argument.repeats)
				fputs("*) ", out);
			else
				fprintf(out, "%d) ", at);
			print_offer(out, &argument);
		}
	}
}

static void print_verbs(FILE *out)
{
	fputs("\t\twords='", out);
	verb_print_words(out);
	fputs("'\n", out);
}

const struct page_part bash_parts[] = {
	{ "values", print_values },
	{ "options", print_options },
	{ "arguments", print_arguments },
	{ "verbs", print_verbs },
	{ NULL, NULL },
};
