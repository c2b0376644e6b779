#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "bench/options/option_table.h"
#include "bench/system/text.h"

#define WIDTH 79
#define INDENT 31 /* where the explanations begin */
#define VERB_ROOM 22 /* of the arguments of verbs */
#define VERB_INDENT (18 + VERB_ROOM + 1)

const char *option_help(const struct option_row *row, enum verb verb)
{
	for (const struct option_words *own = option_words; own->name; own++)
		if (own->verb == verb && !strcmp(own->name, row->name))
			return own->help;
	return row->help;
}

size_t option_explain(const struct option_row *row, enum verb verb, char *text,
		      size_t size)
{
	const char *help = option_help(row, verb);
	const char *preset = row->choices[0] ? strrchr(help, '(') : NULL;
	const int before = (int)(preset ? preset - 1 - help :
					  (ptrdiff_t)strlen(help));
	char choices[128] = "";

	for (int i = 0; i < OPTION_MOST_CHOICES && row->choices[i]; i++)
		text_append(choices, sizeof(choices), "%s%s", i ? ", " : ": ",
			    row->choices[i]);
	return (size_t)snprintf(text, size, "%.*s%s%s%s", before, help, choices,
				preset ? " " : "", preset ? preset : "");
}

static void print_row(FILE *out, const struct option_row *row, enum verb verb)
{
	const size_t size = option_explain(row, verb, NULL, 0) + 1;
	char left[64], letter[8] = "    ", text[size], line[INDENT + size];

	if (row->letter)
		snprintf(letter, sizeof(letter), "-%c, ", row->letter);
	snprintf(left, sizeof(left), "  %s--%s%s%s", letter, row->name,
		 row->argument ? " " : "", row->argument ? row->argument : "");
	option_explain(row, verb, text, size);
	/* Long names push their explanation to the next line. */
	if (strlen(left) > INDENT - 1) {
		fprintf(out, "%s\n", left);
		left[0] = '\0';
	}
	snprintf(line, INDENT + size, "%-*s%s", INDENT, left, text);
	text_wrap(out, line, WIDTH, INDENT);
}

static void print_options(FILE *out, enum verb verb)
{
	for (int group = 0; group < OPTION_GROUPS; group++) {
		int printed = 0;

		for (int i = 0; i < option_row_count; i++) {
			if (option_rows[i].group != group ||
			    !verb_knows(verb, &option_rows[i]))
				continue;
			if (!printed++)
				fprintf(out, "\n%s\n",
					option_heading(group, verb));
			print_row(out, &option_rows[i], verb);
		}
	}
}

static void print_verb(FILE *out, const struct verb_row *verb)
{
	fprintf(out, "  bench %-9s %-*s", verb->name, VERB_ROOM,
		verb->arguments);
	/* As for long names of options. */
	if (strlen(verb->arguments) > VERB_ROOM)
		fprintf(out, "\n%*s", VERB_INDENT - 1, "");
	fprintf(out, " %s\n", verb->summary);
}

static void print_overview(FILE *out)
{
	fputs("Trains one network on one emulated core, on eight and on an "
	      "OpenCL device,\nchecks that the results agree, and reports "
	      "the cost of an iteration and of an\nepoch.\n\n", out);
	for (int v = 0; v < VERB_COUNT; v++)
		print_verb(out, &verb_rows[v]);
	fputs("\nExamples\n"
	      "  bench run --quick           a first look, in a minute or two\n"
	      "  bench run                   the post's runs, ten epochs\n"
	      "  bench measure cpu-4 -e 1    one run; its rows as CSV\n"
	      "  bench check --base-ref main is this branch slower?\n"
	      "\nA TARGET is BACKEND[-CORES][@TRANSPORT][:DEVICE]: cpu-8, "
	      "cpu-4@threads,\nopencl:1; bench run defaults to cpu-1, "
	      "cpu-8 and opencl.\n\n"
	      "Exit: 0 done, 1 a backend is wrong or a slowdown confirmed, "
	      "2 usage,\n3 no verdict, 4 something is missing, 5 bad input, "
	      "6 a run failed,\n7 a result could not be written, 130/143 "
	      "interrupted.\n"
	      "bench VERB --help lists the options of a verb.\n", out);
}

void options_print_help(FILE *out, const struct options *options)
{
	const enum verb verb = options->verb;

	if (verb == VERB_COUNT) {
		fputs("usage: bench VERB [OPTION ...]\n\n", out);
		print_overview(out);
		return;
	}
	fprintf(out, "usage: bench %s %s%s[OPTION ...]\n\n%c%s.\n",
		verb_rows[verb].name, verb_rows[verb].arguments,
		*verb_rows[verb].arguments ? " " : "",
		toupper((unsigned char)*verb_rows[verb].summary),
		verb_rows[verb].summary + 1);
	print_options(out, verb);
}
