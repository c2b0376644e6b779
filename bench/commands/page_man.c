#include "bench/commands/page.h"

#include <ctype.h>
#include <string.h>

#include "backends/contract/backend.h"
#include "backends/parallel/transport.h"
#include "bench/commands/argument.h"
#include "bench/data/dataset.h"
#include "bench/plan/plugin_file.h"
#include "bench/record/machine.h"
#include "models/model.h"

#define WIDTH 78

/* One word as roff prints it; returns how many columns it took. */
static int print_word(FILE *out, const char *word, int length)
{
	static const struct {
		char character;
		const char *escape;
	} escapes[] = {
		{ '\\', "\\e" }, { '-', "\\-" }, { '^', "\\(ha" },
		{ '~', "\\(ti" }, { '`', "\\(ga" },
	};
	int columns = 0;

	/* roff takes a line that starts with them for a request. */
	if (*word == '.' || *word == '\'')
		columns += fprintf(out, "\\&");
	for (int i = 0; i < length; i++) {
		char plain[2] = { word[i], '\0' };
		const char *text = plain;

		for (size_t e = 0; e < sizeof(escapes) / sizeof(escapes[0]);
		     e++)
			if (escapes[e].character == word[i])
				text = escapes[e].escape;
		columns += fprintf(out, "%s", text);
	}
	return columns;
}

/* Prints words from a column on; returns the column of their end. */
static int print_words(FILE *out, int column, const char *text)
{
	while (*text) {
		const int length = (int)strcspn(text, " ");

		if (column && column + 1 + length > WIDTH) {
			fputc('\n', out);
			column = 0;
		}
		if (column)
			column += fprintf(out, " ");
		column += print_word(out, text, length);
		text += length + strspn(text + length, " ");
	}
	return column;
}

/* "BEGIN PREFIXname, PREFIXname." */
static void print_list(FILE *out, const char *begin, const char *prefix,
		       const char *const *names, int count)
{
	int column = print_words(out, 0, begin);
	char word[64];

	for (int i = 0; i < count; i++) {
		snprintf(word, sizeof(word), "%s%s%s", prefix, names[i],
			 i + 1 < count ? "," : ".");
		column = print_words(out, column, word);
	}
	fputc('\n', out);
}

/* The texts of tables have neither a capital nor a full stop. */
static void print_sentence(FILE *out, const char *text)
{
	const size_t size = strlen(text) + 2;
	char sentence[size];

	snprintf(sentence, size, "%s.", text);
	sentence[0] = (char)toupper((unsigned char)sentence[0]);
	print_words(out, 0, sentence);
	fputc('\n', out);
}

static void print_entry(FILE *out, const char *name, const char *text)
{
	fputs(".TP\n\\fB", out);
	print_word(out, name, (int)strlen(name));
	fputs("\\fR\n", out);
	print_sentence(out, text);
}

/*
 * A blank and text, unless it is empty: names in italics, words that stand for
 * themselves in bold, as in "[N|on]".
 */
static void print_arguments(FILE *out, const char *text)
{
	if (*text)
		fputc(' ', out);
	while (*text) {
		int length = (int)strspn(text, " []|.");

		print_word(out, text, length);
		text += length;
		length = (int)strcspn(text, " []|.");
		if (!length)
			continue;
		fputs(isupper((unsigned char)*text) ? "\\fI" : "\\fB", out);
		print_word(out, text, length);
		fputs("\\fR", out);
		text += length;
	}
}

static void print_title(FILE *out)
{
	fprintf(out, ".TH BENCH 1 %s \"bench %s\" \"User Commands\"\n",
		machine_date(), machine_version());
}

static void print_synopsis(FILE *out)
{
	for (int v = 0; v < VERB_COUNT; v++) {
		fprintf(out, "%s\\fBbench %s\\fR", v ? ".br\n" : "",
			verb_rows[v].name);
		print_arguments(out, verb_rows[v].arguments);
		print_arguments(out, "[OPTION ...]");
		fputc('\n', out);
	}
}

static void print_verbs(FILE *out)
{
	for (int v = 0; v < VERB_COUNT; v++) {
		const struct verb_row *verb = &verb_rows[v];
		const char *names[OPTION_MOST_ROWS];
		int count = 0;

		for (int i = 0; i < option_row_count; i++)
			if (verb_knows((enum verb)v, &option_rows[i]))
				names[count++] = option_rows[i].name;
		fprintf(out, ".TP\n\\fB%s\\fR", verb->name);
		print_arguments(out, verb->arguments);
		fputc('\n', out);
		print_sentence(out, verb->summary);
		print_list(out, "Options:", "--", names, count);
	}
}

/* Prints the verbs that have the option. */
static void print_verbs_of(FILE *out, const struct option_row *row)
{
	const char *names[VERB_COUNT];
	int count = 0;

	for (int v = 0; v < VERB_COUNT; v++)
		if (verb_knows((enum verb)v, row))
			names[count++] = verb_rows[v].name;
	if (verb_knows(VERB_COUNT, row))
		fputs("Verbs: all; also without a verb.\n", out);
	else
		print_list(out, "Verbs:", "", names, count);
}

/* Prints the help of verbs for which the option means something else. */
static void print_exceptions(FILE *out, const struct option_row *row)
{
	for (const struct option_words *own = option_words; own->name; own++) {
		const char *verb = verb_rows[own->verb].name;
		const size_t size = strlen("with : ") + strlen(verb) +
				    strlen(own->help) + 1;
		char text[size];

		if (strcmp(own->name, row->name))
			continue;
		snprintf(text, size, "with %s: %s", verb, own->help);
		print_sentence(out, text);
	}
}

/* Begins a line with each sentence, for the spaces between them. */
static void print_details(FILE *out, const char *text)
{
	while (text && *text) {
		const char *end = strstr(text, ". ");
		const int length = end ? (int)(end + 1 - text) :
					 (int)strlen(text);
		char sentence[length + 1];

		snprintf(sentence, sizeof(sentence), "%s", text);
		print_words(out, 0, sentence);
		fputc('\n', out);
		text += length + (end != NULL);
	}
}

static void print_option(FILE *out, const struct option_row *row)
{
	const size_t size = option_explain(row, VERB_COUNT, NULL, 0) + 1;
	char text[size], range[80];

	fputs(".TP\n", out);
	if (row->letter)
		fprintf(out, "\\fB\\-%c\\fR, ", row->letter);
	fputs("\\fB\\-\\-", out);
	print_word(out, row->name, (int)strlen(row->name));
	fputs("\\fR", out);
	print_arguments(out, row->argument ? row->argument : "");
	fputc('\n', out);
	option_explain(row, VERB_COUNT, text, size);
	print_sentence(out, text);
	print_exceptions(out, row);
	print_details(out, row->details);
	if (row->kind == OPTION_INT || row->kind == OPTION_TIME) {
		snprintf(range, sizeof(range), "from %.10g to %.10g%s",
			 row->least, row->most,
			 row->kind == OPTION_TIME ? " seconds" : "");
		print_sentence(out, range);
	}
	print_verbs_of(out, row);
}

static void print_options(FILE *out)
{
	for (int group = 0; group < OPTION_GROUPS; group++) {
		fprintf(out, ".SS %s\n", option_groups[group]);
		for (int i = 0; i < option_row_count; i++)
			if (option_rows[i].group == group)
				print_option(out, &option_rows[i]);
	}
}

static void print_recorded(FILE *out)
{
	int count = 0;

	while (machine_variables[count])
		count++;
	print_list(out, "A run records the variables that may change its speed "
		   "or its results. Their names begin with",
		   "", machine_variables, count);
}

static void print_backends(FILE *out)
{
	const struct backend *backend = NULL;

	while ((backend = backend_next(backend)))
		print_entry(out, backend->name, backend->summary);
}

static void print_transports(FILE *out)
{
	const struct transport *transport = NULL;

	while ((transport = transport_next(transport)))
		print_entry(out, transport->name, transport->summary);
	for (const struct plugin_known *known = plugins_known; known->name;
	     known++)
		print_entry(out, known->name, known->summary);
}

static void print_models(FILE *out)
{
	const struct model *model = NULL;

	while ((model = model_next(model)))
		print_entry(out, model->name, model->summary);
}

static void print_sets(FILE *out)
{
	const struct dataset_name *each;

	for (each = dataset_names; each->name; each++)
		print_entry(out, each->name, each->summary);
}

const struct page_part man_parts[] = {
	{ "title", print_title },
	{ "synopsis", print_synopsis },
	{ "verbs", print_verbs },
	{ "options", print_options },
	{ "backends", print_backends },
	{ "transports", print_transports },
	{ "models", print_models },
	{ "sets", print_sets },
	{ "recorded", print_recorded },
	{ NULL, NULL },
};
