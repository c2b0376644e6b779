/* The command line: what is understood, and what is refused in which words. */
#include "bench/options/options.h"

#include <ctype.h>

#include "bench/commands/page.h"
#include "bench/options/option_table.h"
#include "tests/cmocka.h"

#define MOST_WORDS 16

/* The words of line, split at '|', follow the program's name. */
struct words {
	char text[256];
	char *argv[MOST_WORDS + 1];
	int argc;
};

static void split(struct words *words, const char *line)
{
	char *rest = words->text, *word;

	snprintf(words->text, sizeof(words->text), "%s", line);
	words->argv[0] = (char *)"bench";
	words->argc = 1;
	if (!*line)
		return;
	while ((word = strsep(&rest, "|")) && words->argc < MOST_WORDS)
		words->argv[words->argc++] = word;
	words->argv[words->argc] = NULL;
}

static struct options parse(struct words *words, const char *line)
{
	struct options options;
	struct error err;

	split(words, line);
	if (options_parse(&options, words->argc, words->argv, &err))
		fail_msg("%s: %s", line, err.message);
	return options;
}

static void defaults_are_the_documented_ones(void **state)
{
	struct words words;
	struct options options = parse(&words, "run");

	(void)state;
	assert_int_equal(options.verb, VERB_RUN);
	assert_int_equal(options.argument_count, 0);
	assert_string_equal(options.model, "mnist");
	assert_string_equal(options.dataset, "auto");
	assert_string_equal(options.format, "plain");
	assert_string_equal(options.progress, "auto");
	assert_string_equal(options.color, "auto");
	assert_int_equal(options.epochs, OPTION_UNSET);
	assert_int_equal(options.steps, OPTION_UNSET);
	assert_int_equal(options.batch, OPTION_UNSET);
	assert_int_equal(options.global_batch, OPTION_UNSET);
	assert_int_equal(options.timeout, OPTION_UNSET);
	assert_true(options.lr == OPTION_UNSET);
	assert_int_equal(options.test_batch, OPTION_UNSET);
	assert_int_equal(options.seed, 1);
	assert_int_equal(options.warmup, 10);
	assert_int_equal(options.repeat, 1);
	assert_int_equal(options.synthetic_train, 60000);
	assert_int_equal(options.synthetic_test, 10000);
	assert_true(options.dropout && options.reshuffle && options.test);
	assert_false(options.quick || options.dry_run || options.quiet ||
		     options.help || options.include_warmup);
	assert_null(options.data_dir);
	assert_null(options.out);
	assert_null(options.label);
	options_release(&options);
}

static void options_stand_anywhere(void **state)
{
	struct words words;
	struct options options =
		parse(&words, "run|-e3|cpu-1|--seed=7|--lr|.5|cpu-8|-s|4|"
			      "--dropout=off|--|--odd");

	(void)state;
	assert_int_equal(options.argument_count, 3);
	assert_string_equal(options.arguments[0], "cpu-1");
	assert_string_equal(options.arguments[1], "cpu-8");
	assert_string_equal(options.arguments[2], "--odd");
	assert_int_equal(options.epochs, 3);
	assert_int_equal(options.seed, 7);
	assert_int_equal(options.steps, 4);
	assert_true(options.lr == .5);
	assert_int_equal(options.dropout, 0);
	options_release(&options);
}

/* The last one counts, and a flag needs nothing. */
static void options_are_taken(void **state)
{
	struct words words;
	struct options options;

	(void)state;
	options = parse(&words, "measure|--batch|5|--batch=6|--warmup=0|"
				"--test=off|--reshuffle|off|-q|cpu-2");
	assert_int_equal(options.verb, VERB_MEASURE);
	assert_int_equal(options.batch, 6);
	assert_int_equal(options.warmup, 0);
	assert_int_equal(options.test, 0);
	assert_int_equal(options.reshuffle, 0);
	assert_int_equal(options.quiet, 1);
	options_release(&options);
	options = parse(&words, "measure|--global-batch=128|--test=on|"
				"--dataset=synthetic|--save-parameters=p");
	assert_int_equal(options.global_batch, 128);
	assert_string_equal(options.dataset, "synthetic");
	assert_string_equal(options.save_parameters, "p");
	options_release(&options);
	options = parse(&words, "table|--format=github|a|b");
	assert_int_equal(options.verb, VERB_TABLE);
	assert_string_equal(options.format, "github");
	assert_int_equal(options.argument_count, 2);
	options_release(&options);
	options = parse(&words, "run|--seed=0|--lr=0|--seed=4294967295");
	assert_true(options.seed == 4294967295 && options.lr == 0);
	options_release(&options);
}

/* What trains alike can be compared; 100 % are all that there are. */
static void an_accuracy_sets_the_global_batch(void **state)
{
	struct words words;
	struct options options = parse(&words, "run|--target-accuracy=99");

	(void)state;
	assert_true(options.target_accuracy == 99);
	assert_int_equal(options.global_batch, 128);
	options_release(&options);
	options = parse(&words, "measure|--target-accuracy|97.5|"
				"--global-batch|64");
	assert_int_equal(options.global_batch, 64);
	options_release(&options);
	options = parse(&words, "run");
	assert_true(options.target_accuracy == OPTION_UNSET);
	options_release(&options);
}

static void times_have_units(void **state)
{
	static const struct {
		const char *line;
		long seconds;
	} times[] = {
		{ "run|--timeout=90", 90 },    { "run|--timeout=90s", 90 },
		{ "plot|--timeout=5m", 300 },  { "check|--timeout=2h", 7200 },
		{ "run|--timeout=1.5h", 5400 },
	};
	struct words words;

	(void)state;
	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
		struct options options = parse(&words, times[i].line);
		char text[32];

		assert_int_equal(options.timeout, times[i].seconds);
		/* As it is passed on to a program of another version. */
		option_print(&options, option_find("timeout"), text,
			     sizeof(text));
		assert_int_equal(strtol(text, NULL, 10), times[i].seconds);
		assert_null(strpbrk(text, "smh"));
		options_release(&options);
	}
}

static void help_is_of_a_verb_or_generated(void **state)
{
	struct words words;
	struct options options = parse(&words, "help");

	(void)state;
	assert_int_equal(options.verb, VERB_COUNT);
	options_release(&options);
	options = parse(&words, "help|table");
	assert_int_equal(options.verb, VERB_TABLE);
	options_release(&options);
	options = parse(&words, "help|--help");
	assert_int_equal(options.verb, VERB_HELP);
	options_release(&options);
	options = parse(&words, "help|--generate|zsh");
	assert_int_equal(options.help, 0);
	assert_string_equal(options.generate, "zsh");
	options_release(&options);
}

static void quick_is_one_short_epoch(void **state)
{
	struct words words;
	struct options options = parse(&words, "run|--quick");

	(void)state;
	assert_int_equal(options.epochs, 1);
	assert_int_equal(options.steps, OPTION_UNSET);
	options_release(&options);
	/* What --quick sets may be said as well. */
	options = parse(&words, "run|-e|1|--quick");
	assert_int_equal(options.epochs, 1);
	options_release(&options);
	options = parse(&words, "run|--steps=7|--quick");
	assert_int_equal(options.steps, 7);
	options_release(&options);
}

/* Help comes before anything that is wrong. */
static void help_is_always_to_be_had(void **state)
{
	static const char *const lines[] = { "", "--help", "-h",
					     "run|--help", "table|-h",
					     "help", "help|run", "help|-h",
					     "run|-h|-b2|--global-batch=3" };
	struct words words;

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		struct options options = parse(&words, lines[i]);

		assert_int_equal(options.help, 1);
		options_release(&options);
	}
	for (int i = 0; i < 2; i++) {
		struct options options = parse(&words, i ? "-V" : "--version");

		assert_int_equal(options.version, 1);
		options_release(&options);
	}
}

/* What is wrong, and two things that the message says. */
static const struct {
	const char *line, *says, *too;
} bad_lines[] = {
	{ "frobnicate", "frobnicate",
	  "data, complete, help" },
	{ "--quick", "--quick", "run, infer, measure" },
	{ "-x", "unknown option -x before a verb", "run, infer, measure" },
	{ "rnu", "unknown verb 'rnu'", "did you mean 'run'?" },
	{ "help|tabel", "unknown verb 'tabel'", "did you mean 'table'?" },
	{ "run|--frob", "unknown option --frob;", "bench run --help" },
	{ "run|--frob=3", "unknown option --frob;", "bench run --help" },
	{ "run|--epohs", "no option --epohs;", "did you mean --epochs?" },
	{ "run|--epcohs=3", "no option --epcohs;", "did you mean --epochs?" },
	{ "run|--exp=x", "--exp may be any of",
	  "--export-csv, --export-json, --export-markdown" },
	{ "run|-Z", "unknown option -Z;", "bench run --help" },
	{ "run|-qZ", "unknown option -Z;", "bench run --help" },
	{ "table|-e3", "no option -e;", "run, measure" },
	/* The verbs that take the option are named. */
	{ "run|--dump-masks=x", "dump-masks", "measure" },
	{ "table|--epochs=3", "epochs", "run, measure" },
	{ "verify|--global-batch=3", "global-batch", "run, measure" },
	{ "infer|--steps=5", "no option --steps;", "--count N sets" },
	{ "infer|-s5", "no option -s;", "--count N sets" },
	{ "run|--quiet=3", "--quiet", "no argument" },
	{ "run|--epochs", "--epochs", "argument" },
	{ "run|-e", "-e", "argument" },
	{ "run|--epochs=", "--epochs", "whole number" },
	{ "run|--epochs=ten", "--epochs", "'ten'" },
	{ "run|--epochs=1.5", "--epochs", "whole number" },
	{ "run|--epochs=3x", "--epochs", "'3x'" },
	{ "run|--epochs=0x3", "--epochs", "'0x3'" },
	{ "run|--epochs=0", "--epochs", "must be 1 to 100000, not " },
	{ "run|--epochs=-1", "--epochs", "must be 1 to 100000, not " },
	{ "run|--epochs=100001", "--epochs", "must be 1 to 100000, not " },
	{ "run|--epochs=nan", "--epochs", "'nan'" },
	{ "run|--seed=4294967296", "--seed", "4294967295" },
	{ "run|--seed=-3", "--seed must be 0 to 4294967295,", "not -3" },
	{ "run|--timeout=5x", "--timeout must be a time", "not '5x'" },
	{ "run|--timeout=5ms", "--timeout must be a time", "not '5ms'" },
	{ "run|--timeout=m", "--timeout must be a time", "not 'm'" },
	{ "run|--timeout=0.5", "--timeout must be a time", "not '0.5'" },
	{ "run|--timeout=0s", "1 to 1000000000 seconds", "not 0s" },
	{ "run|--epochs=3m", "--epochs must be a whole number", "'3m'" },
	{ "run|--lr=-1", "--lr must be 0 to", "not -1" },
	{ "run|--lr=nan", "--lr", "'nan'" },
	{ "run|--lr=inf", "--lr", "'inf'" },
	{ "run|--lr=1e999", "--lr", "'1e999'" },
	{ "run|--lr=1,5", "--lr", "'1,5'" },
	{ "run|--target-accuracy=101", "--target-accuracy",
	  "1 to 100 percent, not 101" },
	{ "run|--target-accuracy=0.9", "not 0.9", "percent" },
	{ "run|--target-accuracy=9|-b3", "--batch", "--global-batch" },
	{ "run|--target-accuracy=9|--test=off", "--test off", "the test set" },
	{ "run|--dropout=maybe", "--dropout", "must be on or off, not" },
	{ "run|--dropout=", "--dropout", "must be on or off, not" },
	{ "run|--dataset=cifar", "cifar",
	  "auto, mnist, fashion-mnist, fashion-scenes, folder, synthetic, "
	  "fake" },
	{ "run|--format=html", "html", "plain, github, post" },
	{ "run|--format=plan", "not 'plan'", "did you mean plain?" },
	{ "run|--progress=no", "--progress", "auto, always, never" },
	{ "run|--out=", "--out", "empty" },
	{ "help|frobnicate", "frobnicate", "run, infer, measure" },
	{ "help|run|table", "one VERB", "--generate" },
	{ "help|--generate=man|run", "one VERB", "--generate" },
	{ "help|--generate=html", "html", "man, bash, zsh, fish" },
	{ "run|--quick|--epochs=2", "--quick", "--epochs" },
	{ "run|--batch=2|--global-batch=3", "--batch",
	  "--global-batch" },
	{ "measure|--global-batch=3|cpu-1|-b2", "--batch",
	  "--global-batch" },
};

static void bad_lines_are_told_why(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(bad_lines) / sizeof(bad_lines[0]); i++) {
		const char *says = bad_lines[i].says, *too = bad_lines[i].too;
		struct words words;
		struct options options;
		struct error err = { .message = "" };

		split(&words, bad_lines[i].line);
		if (!options_parse(&options, words.argc, words.argv, &err))
			fail_msg("'%s' is understood", bad_lines[i].line);
		assert_int_equal(err.kind, ERROR_USAGE);
		if (!strstr(err.message, says) || !strstr(err.message, too))
			fail_msg("'%s' does not say both '%s' and '%s'",
				 err.message, says, too);
		options_release(&options);
	}
}

/* The table itself: parsing and help rely on it. */
static void rows_make_sense(void **state)
{
	(void)state;
	for (int i = 0; i < option_row_count; i++) {
		const struct option_row *row = &option_rows[i];

		assert_true(row->verbs && row->help && *row->help);
		assert_true(row->offset < sizeof(struct options));
		assert_in_range(row->group, 0, OPTION_GROUPS - 1);
		assert_true((row->kind == OPTION_CHOICE) ==
			    (row->choices[0] != NULL));
		assert_true((row->kind == OPTION_FLAG) == !row->argument);
		if (row->kind == OPTION_INT || row->kind == OPTION_TIME ||
		    row->kind == OPTION_REAL)
			assert_true(row->least < row->most);
		for (int j = 0; j < i; j++) {
			assert_string_not_equal(row->name,
						option_rows[j].name);
			assert_true(!row->letter ||
				    row->letter != option_rows[j].letter);
			assert_int_not_equal(row->offset,
					     option_rows[j].offset);
		}
	}
	for (int v = 0; v < VERB_COUNT; v++)
		assert_string_equal(verb_name((enum verb)v),
				    verb_rows[v].name);
}

static void print_help(const char *line, char *text, size_t size)
{
	FILE *out = fmemopen(text, size, "w");
	struct words words;
	struct options options = parse(&words, line);

	assert_non_null(out);
	options_print_help(out, &options);
	assert_int_equal(fclose(out), 0);
	options_release(&options);
}

/* A heading for each group that the verb has options of, and for no other. */
static void check_headings(enum verb verb, const char *text)
{
	for (int group = 0; group < OPTION_GROUPS; group++) {
		char line[64];
		int known = 0;

		for (int i = 0; i < option_row_count; i++)
			known |= option_rows[i].group == group &&
				 verb_knows(verb, &option_rows[i]);
		snprintf(line, sizeof(line), "\n\n%s\n  ",
			 option_heading(group, verb));
		assert_int_equal(strstr(text, line) != NULL, known);
	}
}

static void help_names_everything(void **state)
{
	char text[16384], word[64];

	(void)state;
	print_help("--help", text, sizeof(text));
	for (int v = 0; v < VERB_COUNT; v++) {
		snprintf(word, sizeof(word), "bench %s", verb_rows[v].name);
		assert_non_null(strstr(text, word));
	}
	for (int v = 0; v < VERB_COUNT; v++) {
		snprintf(word, sizeof(word), "%s|--help", verb_rows[v].name);
		print_help(word, text, sizeof(text));
		for (int i = 0; i < option_row_count; i++) {
			const int known = option_rows[i].verbs >> v & 1;

			snprintf(word, sizeof(word), "--%s ",
				 option_rows[i].name);
			if ((strstr(text, word) != NULL) != known)
				fail_msg("%s --help and %s", verb_rows[v].name,
					 word);
		}
		check_headings((enum verb)v, text);
	}
	/* What only passes forward trains nothing. */
	print_help("infer|--help", text, sizeof(text));
	assert_null(strstr(text, "Training"));
	assert_null(strstr(text, "to train"));
	assert_null(strstr(text, "dropout"));
}

/* Takes out line breaks, indents, and the backslashes that roff has. */
static void unwrap(char *text)
{
	char *to = text;

	for (const char *from = text; *from; from++)
		if (*from != '\\' && *from != '&' &&
		    (!isspace((unsigned char)*from) ||
		     (to > text && to[-1] != ' ')))
			*to++ = isspace((unsigned char)*from) ? ' ' : *from;
	*to = '\0';
}

/* The whole help of the row, but its first letter, which may be a capital. */
static void check_explained(const char *text, const struct option_row *row,
			    enum verb verb)
{
	char whole[512];

	assert_in_range(option_explain(row, verb, whole, sizeof(whole)), 2,
			sizeof(whole) - 1);
	for (int i = 0; i < OPTION_MOST_CHOICES && row->choices[i]; i++)
		assert_non_null(strstr(whole, row->choices[i]));
	unwrap(whole);
	if (!strstr(text, whole + 1))
		fail_msg("--%s is not explained by '%s'", row->name, whole);
}

static void no_help_is_cut(void **state)
{
	const int size = 1 << 18;
	char *text = malloc((size_t)size), word[64];
	FILE *out;

	(void)state;
	assert_non_null(text);
	for (int v = 0; v < VERB_COUNT; v++) {
		snprintf(word, sizeof(word), "%s|--help", verb_rows[v].name);
		print_help(word, text, (size_t)size);
		unwrap(text);
		for (int i = 0; i < option_row_count; i++)
			if (verb_knows((enum verb)v, &option_rows[i]))
				check_explained(text, &option_rows[i],
						(enum verb)v);
	}
	out = fmemopen(text, (size_t)size, "w");
	assert_non_null(out);
	page_print(out, "man");
	assert_int_equal(fclose(out), 0);
	unwrap(text);
	for (int i = 0; i < option_row_count; i++)
		check_explained(text, &option_rows[i], VERB_COUNT);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(defaults_are_the_documented_ones),
		cmocka_unit_test(options_stand_anywhere),
		cmocka_unit_test(options_are_taken),
		cmocka_unit_test(an_accuracy_sets_the_global_batch),
		cmocka_unit_test(times_have_units),
		cmocka_unit_test(help_is_of_a_verb_or_generated),
		cmocka_unit_test(quick_is_one_short_epoch),
		cmocka_unit_test(help_is_always_to_be_had),
		cmocka_unit_test(bad_lines_are_told_why),
		cmocka_unit_test(rows_make_sense),
		cmocka_unit_test(help_names_everything),
		cmocka_unit_test(no_help_is_cut),
	};

	return cmocka_run_group_tests_name("options", tests, NULL, NULL);
}
