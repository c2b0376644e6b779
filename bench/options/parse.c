#include "bench/options/options.h"

#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/options/option_table.h"
#include "bench/record/time_to_accuracy.h"
#include "bench/system/suggest.h"

#define FIRST_LONG 256 /* above every character */

const char *verb_name(enum verb verb)
{
	return verb_rows[verb].name;
}

const struct options options_defaults = {
	.model = "mnist",
	.dataset = "auto",
	.epochs = OPTION_UNSET,
	.steps = OPTION_UNSET,
	.batch = OPTION_UNSET,
	.global_batch = OPTION_UNSET,
	.image_size = OPTION_UNSET,
	.test_batch = OPTION_UNSET,
	.test_steps = OPTION_UNSET,
	.count = OPTION_UNSET,
	.seed = 1,
	.warmup = 10,
	.repeat = 1,
	.timeout = OPTION_UNSET,
	.random = OPTION_UNSET,
	.bucket_mb = OPTION_UNSET,
	.latency = OPTION_UNSET,
	.bandwidth = OPTION_UNSET,
	.node_cores = OPTION_UNSET,
	.shared_cpus = OPTION_UNSET,
	.most_cores = OPTION_UNSET,
	.lr = OPTION_UNSET,
	.target_accuracy = OPTION_UNSET,
	.fail_above = OPTION_UNSET,
	.synthetic_train = 60000,
	.synthetic_test = 10000,
	.dropout = 1,
	.reshuffle = 1,
	.test = 1,
	.pad = OPTION_UNSET,
	.format = "plain",
	.progress = "auto",
	.color = "auto",
	.blocks = OPTION_UNSET,
	.order_seed = OPTION_UNSET,
	.on_inconclusive = "fail",
};

/* Refuses a number; whole is empty where any number will do. */
static int refuse_number(const struct option_row *row, const char *text,
			 const char *whole, struct error *err)
{
	return error_set(err, ERROR_USAGE, "--%s must be %s%.10g to %.10g%s, "
			 "not %s%s%s", row->name, whole, row->least, row->most,
			 !strcmp(row->argument, "PCT") ? " percent" :
			 row->kind == OPTION_TIME ? " seconds" : "",
			 *whole ? "'" : "", text, *whole ? "'" : "");
}

/* Returns the seconds of a time's unit; 0 if there is no such unit. */
static double find_unit(const char *end)
{
	static const struct {
		char letter;
		double seconds;
	} units[] = { { '\0', 1 }, { 's', 1 }, { 'm', 60 }, { 'h', 3600 } };

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (units[i].letter == *end && (!*end || !end[1]))
			return units[i].seconds;
	return 0;
}

static int set_number(const struct option_row *row, const char *text,
		      void *field, struct error *err)
{
	const char *whole = row->kind == OPTION_REAL ? "a number, " :
						       "a whole number, ";
	char *end;
	double value, unit;

	errno = 0;
	value = strtod(text, &end);
	unit = row->kind == OPTION_TIME ? find_unit(end) : !*end;
	if (end == text || unit == 0 || errno || !isfinite(value) ||
	    strpbrk(text, "xX") ||
	    (row->kind != OPTION_REAL && value * unit != floor(value * unit)))
		return row->kind == OPTION_TIME ?
			error_set(err, ERROR_USAGE, "--%s must be a time such "
				  "as 90, 90s, 5m or 2h, not '%.60s'",
				  row->name, text) :
			refuse_number(row, text, whole, err);
	value *= unit;
	if (value < row->least || value > row->most)
		return refuse_number(row, text, "", err);
	if (row->kind == OPTION_REAL)
		*(double *)field = value;
	else
		*(long *)field = (long)value;
	return 0;
}

static int set_choice(const struct option_row *row, const char *text,
		      const char **field, struct error *err)
{
	struct suggestion suggestion = { .typed = text };
	const char *guess;

	for (int i = 0; i < OPTION_MOST_CHOICES && row->choices[i]; i++) {
		if (!strcmp(row->choices[i], text)) {
			*field = row->choices[i];
			return 0;
		}
		suggest_add(&suggestion, row->choices[i]);
	}
	guess = suggestion.closest;
	return error_set(err, ERROR_USAGE,
			 "--%s must be one of %s, not '%.60s'%s%s%s", row->name,
			 suggestion.names, text, guess ? "; did you mean " : "",
			 guess ? guess : "", guess ? "?" : "");
}

static int add_text(const struct option_row *row, const char *text,
		    const char **field, struct error *err)
{
	for (int i = 0; i < OPTION_MOST_TIMES; i++)
		if (!field[i]) {
			field[i] = text;
			return 0;
		}
	return error_set(err, ERROR_USAGE, "--%s was given more than %d times",
			 row->name, OPTION_MOST_TIMES);
}

static int refuse_length(const struct option_row *row, const char *text,
			 struct error *err)
{
	return error_set(err, ERROR_USAGE, "--%s: %zu bytes, at most %.0f are "
			 "allowed; shorten '%.100s'", row->name, strlen(text),
			 row->most, text);
}

int option_set(struct options *options, const struct option_row *row,
	       const char *text, struct error *err)
{
	void *field = (char *)options + row->offset;

	switch (row->kind) {
	case OPTION_FLAG:
		*(int *)field = 1;
		return 0;
	case OPTION_ON_OFF:
		if (strcmp(text, "on") && strcmp(text, "off"))
			return error_set(err, ERROR_USAGE,
					 "--%s must be on or off, not '%.60s'",
					 row->name, text);
		*(int *)field = !strcmp(text, "on");
		return 0;
	case OPTION_TEXT:
	case OPTION_LIST:
		if (!*text)
			return error_set(err, ERROR_USAGE,
					 "--%s must not be empty",
					 row->name);
		if (row->most > 0 && strlen(text) > (size_t)row->most)
			return refuse_length(row, text, err);
		if (row->kind == OPTION_LIST)
			return add_text(row, text, field, err);
		*(const char **)field = text;
		return 0;
	case OPTION_CHOICE:
		return set_choice(row, text, field, err);
	default:
		return set_number(row, text, field, err);
	}
}

/* Makes getopt's lists: short letters and long names of this verb's options. */
static void describe_options(enum verb verb, struct option *longs,
			     char *letters)
{
	int count = 0;

	/* Colon first: it distinguishes a missing argument from an unknown
	 * option. */
	*letters++ = ':';
	for (int i = 0; i < option_row_count; i++) {
		const struct option_row *row = &option_rows[i];
		int takes = row->kind != OPTION_FLAG;

		if (!verb_knows(verb, row))
			continue;
		longs[count++] = (struct option){
			row->name, takes ? required_argument : no_argument,
			NULL, FIRST_LONG + i
		};
		if (row->letter) {
			*letters++ = row->letter;
			if (takes)
				*letters++ = ':';
		}
	}
	longs[count] = (struct option){ 0 };
	*letters = '\0';
}

static const struct option_row *find_row(int value)
{
	if (value >= FIRST_LONG)
		return &option_rows[value - FIRST_LONG];
	for (int i = 0; i < option_row_count; i++)
		if (option_rows[i].letter == value)
			return &option_rows[i];
	return NULL;
}

#define TIMES_OF_ANOTHER_DAY "bench compare DIR DIR compares two folders of " \
	"bench run --repeat, and bench check --base-ref measures a base now"
#define NOISE "bench check --control on shows how noisy a machine is"

/* Verbs and options that a script may still pass. */
static const struct {
	const char *name, *instead;
} withdrawn[] = {
	{ "baseline", TIMES_OF_ANOTHER_DAY },
	{ "calibrate", NOISE },
	{ "selftest", "tests/tools/gate-works, in the source tree, shows "
	  "that the gate works" },
	{ "--baseline", TIMES_OF_ANOTHER_DAY },
	{ "--floors", NOISE },
	{ "--log", "plain lines of progress have the rates: redirect standard "
	  "error (2>FILE)" },
	{ "--trust-host", TIMES_OF_ANOTHER_DAY },
};

static int explain_withdrawn(const char *name, struct error *err)
{
	for (size_t i = 0; i < sizeof(withdrawn) / sizeof(*withdrawn); i++)
		if (!strcmp(withdrawn[i].name, name))
			return error_set(err, ERROR_USAGE, "%s was removed: "
					 "%s", name, withdrawn[i].instead);
	return 0;
}

/* Refuses a prefix of several options of the verb. */
static int refuse_ambiguous(enum verb verb, const char *tried, size_t length,
			    struct error *err)
{
	char names[256] = "", name[64];
	int count = 0;

	for (int i = 0; i < option_row_count; i++) {
		if (!verb_knows(verb, &option_rows[i]) ||
		    strncmp(option_rows[i].name, tried, length))
			continue;
		snprintf(name, sizeof(name), "--%s", option_rows[i].name);
		error_list(names, sizeof(names), name);
		count++;
	}
	return count < 2 ? 0 :
		error_set(err, ERROR_USAGE, "--%.*s may be any of %s",
			  (int)length, tried, names);
}

/* Returns 1 if tried is this option: -x, or --name up to a '='. */
static int is_tried(const struct option_row *row, const char *tried)
{
	const size_t length = strcspn(tried, "=");

	return tried[1] == '-' ?
		       !strncmp(row->name, tried + 2, length - 2) &&
			       !row->name[length - 2] :
		       row->letter && row->letter == tried[1];
}

/* Returns the verb's replacement for another verb's option, or NULL. */
static const char *find_counterpart(enum verb verb,
				    const struct option_row *row)
{
	return verb == VERB_INFER && !strcmp(row->name, "steps") ?
		       "--count N sets the number of forward passes" :
		       NULL;
}

/* Refuses an option: names the verbs that support it, or a similar one. tried
 * is the word as typed, or a letter after a '-'. */
static int not_an_option(enum verb verb, const char *tried, struct error *err)
{
	const int length = (int)strcspn(tried, "=");
	const int is_long = tried[1] == '-';
	const char *name = verb_rows[verb].name, *counterpart = NULL;
	char others[128] = "", word[64];
	struct suggestion suggestion = { .typed = word };

	snprintf(word, sizeof(word), "%.*s", length, tried);
	if (is_long && (explain_withdrawn(word, err) ||
			refuse_ambiguous(verb, word + 2, strlen(word + 2),
					 err)))
		return -1;
	suggestion.typed = word + 2;
	for (int i = 0; i < option_row_count; i++) {
		if (is_long && verb_knows(verb, &option_rows[i]))
			suggest_add(&suggestion, option_rows[i].name);
		if (!is_tried(&option_rows[i], tried))
			continue;
		counterpart = find_counterpart(verb, &option_rows[i]);
		for (int v = 0; v < VERB_COUNT; v++)
			if (verb_knows((enum verb)v, &option_rows[i]))
				error_list(others, sizeof(others),
					   verb_rows[v].name);
	}
	if (counterpart)
		return error_set(err, ERROR_USAGE, "bench %s has no option %s; "
				 "%s", name, word, counterpart);
	if (*others)
		return error_set(err, ERROR_USAGE, "bench %s has no option %s; "
				 "it is an option of %s", name, word, others);
	if (suggestion.closest)
		return error_set(err, ERROR_USAGE, "bench %s has no option %s; "
				 "did you mean --%s?", name, word,
				 suggestion.closest);
	return error_set(err, ERROR_USAGE,
			 "unknown option %s; see bench %s --help", word, name);
}

static int find_verb(const char *name, enum verb *verb, struct error *err)
{
	struct suggestion suggestion = { .typed = name };

	for (int v = 0; v < VERB_COUNT; v++) {
		if (!strcmp(verb_rows[v].name, name)) {
			*verb = (enum verb)v;
			return 0;
		}
		suggest_add(&suggestion, verb_rows[v].name);
	}
	if (explain_withdrawn(name, err))
		return -1;
	if (name[0] == '-')
		return error_set(err, ERROR_USAGE, "unknown option %.40s "
				 "before a verb; %s", name,
				 suggest_text(&suggestion));
	return error_set(err, ERROR_USAGE, "unknown verb '%.40s'; %s", name,
			 suggest_text(&suggestion));
}

/* Times to an accuracy compare what makes the same updates. */
static int settle_accuracy(struct options *options, struct error *err)
{
	if (options->target_accuracy < 0)
		return 0;
	if (options->batch != OPTION_UNSET)
		return error_set(err, ERROR_USAGE,
				 "--target-accuracy needs the same global "
				 "batch on every target, and --batch is per "
				 "core: use --global-batch");
	if (!options->test)
		return error_set(err, ERROR_USAGE,
				 "--target-accuracy needs the test set, which "
				 "--test off leaves out");
	if (options->global_batch == OPTION_UNSET)
		options->global_batch = CLOSED_GLOBAL_BATCH;
	return 0;
}

/* The last repetition's seed must be valid too. */
static int settle_seed(const struct options *options, struct error *err)
{
	const long most = SEED_MOST - SEED_STRIDE * (options->repeat - 1);

	if (options->seed <= most)
		return 0;
	return error_set(err, ERROR_USAGE,
			 "--seed %ld with --repeat %ld: repetition r (from 0) "
			 "uses seed + %ld r, which must not exceed %ld; the "
			 "largest --seed here is %ld", options->seed,
			 options->repeat, SEED_STRIDE, SEED_MOST, most);
}

/* No backend computes with both, so no process need be started for it. */
static int settle_precision(const struct options *options, struct error *err)
{
	if (!options->algorithm || strcmp(options->algorithm, "dense") ||
	    !options->precision || strcmp(options->precision, "bf16"))
		return 0;
	return error_set(err, ERROR_USAGE, "--precision bf16: the dense "
			 "algorithm computes in fp32 only; leave out one of "
			 "the two options");
}

static int settle(struct options *options, struct error *err)
{
	const struct verb_row *verb = &verb_rows[options->verb];

	if (!*verb->arguments && options->argument_count)
		return error_set(err, ERROR_USAGE,
				 "bench %s takes no arguments, found '%.60s'",
				 verb->name, options->arguments[0]);
	if (options->batch != OPTION_UNSET &&
	    options->global_batch != OPTION_UNSET)
		return error_set(err, ERROR_USAGE,
				 "--batch (per core) and --global-batch (all "
				 "cores) exclude each other");
	if (options->quick && options->epochs != OPTION_UNSET &&
	    options->epochs != 1)
		return error_set(err, ERROR_USAGE, "--quick sets --epochs to "
				 "1: leave out --quick or --epochs %ld",
				 options->epochs);
	if (options->quick &&
	    verb_knows(options->verb, option_find("epochs")))
		options->epochs = 1;
	return settle_seed(options, err) || settle_precision(options, err) ||
			       settle_accuracy(options, err) ?
		       -1 : 0;
}

static int settle_help(struct options *options, struct error *err)
{
	if (options->argument_count > !options->generate)
		return error_set(err, ERROR_USAGE,
				 "bench help takes one VERB, or --generate");
	if (options->generate)
		return 0;
	options->help = 1;
	options->verb = VERB_COUNT;
	return options->argument_count ?
		       find_verb(options->arguments[0], &options->verb, err) :
		       0;
}

static int parse_rest(struct options *options, int argc, char **argv,
		      struct error *err)
{
	struct option longs[OPTION_MOST_ROWS + 1];
	char letters[3 * OPTION_MOST_ROWS];
	int value;

	describe_options(options->verb, longs, letters);
	opterr = 0;
	optind = 0;
	while ((value = getopt_long(argc, argv, letters, longs, NULL)) != -1) {
		if (value == ':')
			return error_set(err, ERROR_USAGE,
					 "%.60s needs an argument",
					 argv[optind - 1]);
		if (value == '?' && optopt >= FIRST_LONG)
			return error_set(err, ERROR_USAGE,
					 "--%s takes no argument",
					 find_row(optopt)->name);
		if (value == '?')
			return not_an_option(options->verb, optopt ?
					     (char[]){ '-', (char)optopt, 0 } :
					     argv[optind - 1], err);
		if (option_set(options, find_row(value), optarg, err))
			return -1;
		options->given[find_row(value) - option_rows] = 1;
	}
	for (int i = optind; i < argc; i++)
		options->arguments[options->argument_count++] = argv[i];
	return 0;
}

/* Returns 1 if a campaign started this process: its run file is then in the
 * campaign's process (bench/launch/child.c), which no user writes. */
static int has_parent(const struct options *options)
{
	int length = 0;

	if (options->campaign_id && options->run_file)
		sscanf(options->run_file, "/proc/%*d/fd/%*d%n", &length);
	return length > 0;
}

int options_parse(struct options *options, int argc, char **argv,
		  struct error *err)
{
	int failed;

	*options = options_defaults;
	options->verb = VERB_COUNT;
	if (argc < 2 || !strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")) {
		options->help = 1;
		return 0;
	}
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V")) {
		options->version = 1;
		return 0;
	}
	if (find_verb(argv[1], &options->verb, err))
		return -1;
	options->arguments = calloc((size_t)argc, sizeof(char *));
	if (!options->arguments)
		return error_memory(err, "the arguments");
	failed = parse_rest(options, argc - 1, argv + 1, err);
	options->has_parent = has_parent(options);
	if (failed)
		return -1;
	if (options->help || options->version)
		return 0;
	if (options->verb == VERB_HELP)
		return settle_help(options, err);
	return settle(options, err);
}

void options_release(struct options *options)
{
	free(options->arguments);
	options->arguments = NULL;
}
