/*
 * The command line: words parted by NUL bytes. Every word is tried as a target
 * as well.
 */
#include "bench/options/options.h"

#include "bench/options/option_table.h"
#include "bench/plan/plan.h"
#include "bench/plan/target.h"
#include "tests/fuzz/fuzz.h"

const char fuzz_corpus[] = "options";

enum { MOST_WORDS = 40, MOST = 4096 };

struct line {
	char text[MOST + 1];
	char *argv[MOST_WORDS + 2];
	int argc;
};

static void split(struct line *line, const uint8_t *data, size_t size)
{
	char *word = line->text, *end = line->text + size;

	memcpy(line->text, data, size);
	*end = '\0';
	line->argv[0] = (char *)(uintptr_t)"bench";
	line->argc = 1;
	while (word < end && line->argc <= MOST_WORDS) {
		line->argv[line->argc++] = word;
		word += strlen(word) + 1;
	}
	line->argv[line->argc] = NULL;
}

static int is_choice(const struct option_row *row, const char *text)
{
	for (int i = 0; i < OPTION_MOST_CHOICES && row->choices[i]; i++)
		if (row->choices[i] == text)
			return 1;
	return 0;
}

/* Is what was set allowed? Defaults may be outside. */
static void check_field(const struct options *options,
			const struct options *defaults,
			const struct option_row *row)
{
	const char *field = (const char *)options + row->offset;
	const char *usual = (const char *)defaults + row->offset;
	const char *text, *usual_text;
	double value = 0;
	int flag;

	switch (row->kind) {
	case OPTION_INT:
	case OPTION_TIME:
		if (memcmp(field, usual, sizeof(long)))
			value = (double)*(const long *)(const void *)field;
		else
			value = row->least;
		MUST(value >= row->least && value <= row->most);
		break;
	case OPTION_REAL:
		memcpy(&value, field, sizeof(value));
		MUST(!memcmp(field, usual, sizeof(value)) ||
		     (value >= row->least && value <= row->most));
		break;
	case OPTION_TEXT:
	case OPTION_CHOICE:
		memcpy(&text, field, sizeof(char *));
		memcpy(&usual_text, usual, sizeof(char *));
		MUST(!text || *text);
		MUST(text == usual_text || row->kind == OPTION_TEXT ||
		     is_choice(row, text));
		break;
	default:
		memcpy(&flag, field, sizeof(flag));
		MUST(!memcmp(field, usual, sizeof(flag)) || flag == 0 ||
		     flag == 1);
	}
}

static void check(const struct options *options, const struct line *line)
{
	char *argv[] = { (char *)(uintptr_t)"bench",
			 (char *)(uintptr_t)"run", NULL };
	struct options defaults;
	struct error err;
	char *help = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&help, &size);

	MUST(out);
	MUST(options_parse(&defaults, 2, argv, &err) == 0);
	for (int i = 0; i < option_row_count; i++)
		check_field(options, &defaults, &option_rows[i]);
	options_release(&defaults);
	MUST(options->help || options->version || options->verb < VERB_COUNT);
	MUST(options->argument_count <= line->argc);
	for (int i = 0; i < options->argument_count; i++)
		MUST(options->arguments[i] >= line->text &&
		     options->arguments[i] <= line->text + MOST);
	if (options->help)
		options_print_help(out, options);
	MUST(fclose(out) == 0);
	MUST(!options->help || size > 100);
	free(help);
}

/* A name that is understood is shown in a way that can be typed. */
static void try_target(const char *word, const struct options *options)
{
	struct target target, again;
	struct training training;
	struct error err = { .message = "" };

	if (target_parse(&target, word, &err)) {
		must_be_told(&err, ERROR_USAGE);
		return;
	}
	MUST(target.backend && target.transport && target.cores >= 1);
	MUST(target.cores <= target.transport->max_size);
	MUST(target_parse(&again, target.name, &err) == 0);
	MUST(!strcmp(again.name, target.name));
	MUST(again.backend == target.backend && again.cores == target.cores);
	MUST(again.transport == target.transport);
	MUST(!strcmp(again.device, target.device));
	if (!options || options->help || options->version)
		return;
	if (plan_run(&training, &target, options, &err))
		must_be_told(&err, ERROR_USAGE);
	else
		MUST(training.global_samples >= 1 && training.model.layers);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct error err = { .message = "" };
	struct options options;
	struct line line;
	int failed;

	if (size > MOST)
		return -1;
	split(&line, data, size);
	failed = options_parse(&options, line.argc, line.argv, &err);
	if (failed)
		must_be_told(&err, ERROR_USAGE);
	else
		check(&options, &line);
	/* getopt has put the words into another order, but lost none. */
	for (int i = 1; i < line.argc; i++) {
		MUST(line.argv[i] >= line.text &&
		     line.argv[i] <= line.text + size);
		try_target(line.argv[i], failed ? NULL : &options);
	}
	options_release(&options);
	MUST(!options.arguments);
	return 0;
}
