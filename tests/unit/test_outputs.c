/* No output replaces a file of the same command, whatever option names it. */
#include "bench/commands/outputs.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench/commands/argument.h"
#include "bench/system/file.h"
#include "tests/cmocka.h"

static char folder[256];

static void put(const char *path)
{
	struct error err;

	assert_int_equal(file_replace(path, "x", 1, &err), 0);
}

/* The working folder, with a campaign in "made" and a file by three names. */
static int begin(void **state)
{
	struct error err;

	(void)state;
	assert_int_equal(file_make_scratch(folder, sizeof(folder), "outputs",
					   &err), 0);
	assert_int_equal(chdir(folder), 0);
	assert_int_equal(mkdir("made", 0777), 0);
	put("made/observations.csv");
	put("made/runs.csv");
	put("file");
	assert_int_equal(link("file", "hard"), 0);
	assert_int_equal(symlink("file", "soft"), 0);
	assert_int_equal(symlink("new", "dangling"), 0);
	assert_int_equal(link("made/runs.csv", "runs"), 0);
	return 0;
}

static int end(void **state)
{
	(void)state;
	file_remove_tree(folder);
	return 0;
}

static void set(struct options *options, const struct option_row *row,
		const char *value)
{
	struct error err;

	assert_int_equal(option_set(options, row, value, &err), 0);
}

static struct options of_verb(int verb)
{
	struct options options = options_defaults;

	options.verb = (enum verb)verb;
	return options;
}

/* words: of the message, or NULL: nothing is refused. */
static void check(const struct options *options, const char *word,
		  const char *other)
{
	struct error err = { .message = "" };
	const int failed = outputs_check(options, &err);

	if (!word && failed)
		fail_msg("bench %s: %s", verb_name(options->verb), err.message);
	if (word && (!failed || err.kind != ERROR_USAGE ||
		     !strstr(err.message, word) || !strstr(err.message, other)))
		fail_msg("bench %s, %s and %s: '%s'", verb_name(options->verb),
			 word, other, err.message);
}

static enum offer offer_of(const struct option_row *row)
{
	struct argument argument;

	return option_argument(row, &argument) ? argument_offer(&argument) :
						 OFFER_NOTHING;
}

/* A new option is forgotten nowhere: whoever names a file says what for. */
static void options_say_what_files_are_for(void **state)
{
	(void)state;
	for (int i = 0; i < option_row_count; i++) {
		const struct option_row *row = &option_rows[i];
		const int has_file = offer_of(row) >= OFFER_FOLDERS;

		if (((row->reads | row->writes) & row->verbs) !=
		    (has_file ? row->verbs : 0))
			fail_msg("--%s %s: .reads and .writes in the table",
				 row->name, row->argument);
		if (has_file && row->kind != OPTION_TEXT)
			fail_msg("--%s: bench/commands/outputs.c reads texts",
				 row->name);
	}
}

static int writes(int verb, const struct option_row *row)
{
	return verb_knows((enum verb)verb, row) && row->writes >> verb & 1;
}

static int has_file(int verb, const struct option_row *row)
{
	return verb_knows((enum verb)verb, row) &&
	       offer_of(row) == OFFER_FILES;
}

/* One file by two names, which may not be there yet. */
static const char *const pairs[][2] = {
	{ "file", "file" }, { "file", "./file" }, { "file", "hard" },
	{ "file", "soft" }, { "hard", "soft" }, { "soft", "file" },
	{ "new", "made//../new" }, { "new", "dangling" },
	{ "none/new", "none/./new" },
};

static void try_pairs(int verb, const struct option_row *row,
		      const struct option_row *other)
{
	char name[64], second[64];

	snprintf(name, sizeof(name), "--%s", row->name);
	snprintf(second, sizeof(second), "--%s", other->name);
	for (size_t p = 0; p < sizeof(pairs) / sizeof(pairs[0]); p++) {
		struct options options = of_verb(verb);

		set(&options, row, pairs[p][0]);
		set(&options, other, "elsewhere");
		check(&options, NULL, NULL);
		set(&options, other, pairs[p][1]);
		check(&options, name, second);
	}
}

static void no_two_options_share_a_file(void **state)
{
	int tried = 0;

	(void)state;
	for (int verb = 0; verb < VERB_COUNT; verb++)
		for (int i = 0; i < option_row_count; i++)
			for (int o = 0; o < option_row_count; o++) {
				const struct option_row *row = &option_rows[i];
				const struct option_row *other =
					&option_rows[o];

				if (i == o || !writes(verb, row) ||
				    !has_file(verb, row) ||
				    !has_file(verb, other))
					continue;
				try_pairs(verb, row, other);
				tried++;
			}
	assert_true(tried > 50);
}

/* A folder of an option, or of an argument of the verb. */
static void try_folder(struct options *options, const char *name)
{
	static const char *const paths[] = { "made/observations.csv",
					     "made/../made/runs.csv", "runs",
					     "made/tables.md" };

	for (int i = 0; i < option_row_count; i++) {
		const struct option_row *row = &option_rows[i];
		char own[64];

		if (!writes(options->verb, row) || offer_of(row) != OFFER_FILES)
			continue;
		snprintf(own, sizeof(own), "--%s", row->name);
		for (size_t p = 0; p < sizeof(paths) / sizeof(*paths); p++) {
			set(options, row, paths[p]);
			check(options, own, name);
		}
		option_reset(options, row);
		check(options, NULL, NULL);
	}
}

static void no_option_has_a_file_of_a_folder(void **state)
{
	const char *made = "made";
	struct argument argument;

	(void)state;
	for (int verb = 0; verb < VERB_COUNT; verb++) {
		struct options options = of_verb(verb);
		char name[64];

		for (int i = 0; i < option_row_count; i++) {
			const struct option_row *row = &option_rows[i];

			if (!verb_knows((enum verb)verb, row) ||
			    offer_of(row) != OFFER_FOLDERS ||
			    !strcmp(row->name, "data-dir"))
				continue;
			snprintf(name, sizeof(name), "--%s", row->name);
			set(&options, row, made);
			try_folder(&options, name);
			option_reset(&options, row);
		}
		if (!verb_argument((enum verb)verb, 0, &argument) ||
		    argument_offer(&argument) < OFFER_FOLDERS)
			continue;
		snprintf(name, sizeof(name), "bench %s", verb_rows[verb].name);
		options.arguments = &made;
		options.argument_count = 1;
		try_folder(&options, name);
	}
}

static void files_of_arguments_stay(void **state)
{
	const char *half[] = { "made/observations.csv" };
	const char *second[] = { "elsewhere", "file" };
	struct options options = of_verb(VERB_TABLE);

	(void)state;
	options.arguments = half;
	options.argument_count = 1;
	options.export_csv = "made/runs.csv";
	check(&options, "--export-csv", "bench table");
	options.arguments = second;
	options.argument_count = 2;
	check(&options, NULL, NULL);
	options.export_csv = "hard";
	check(&options, "hard of --export-csv is file", "bench table");
}

/* A picture's data are not taken for the campaign's. */
static void pictures_stay_apart(void **state)
{
	const char *argument = "plot";
	struct options options = of_verb(VERB_PLOT);

	(void)state;
	assert_int_equal(mkdir("plot", 0777), 0);
	put("plot/scale.csv");
	options.arguments = &argument;
	options.argument_count = 1;
	options.out = "pictures";
	check(&options, NULL, NULL);
	options.out = ".";
	check(&options, "--out", "plot/scale.csv");
}

static void data_sets_stay(void **state)
{
	struct options options = of_verb(VERB_MEASURE);

	(void)state;
	assert_int_equal(mkdir("data", 0777), 0);
	assert_int_equal(mkdir("data/train", 0777), 0);
	put("data/train/a.png");
	put("data/train/train-labels.idx1-ubyte.gz");
	put("data/note");
	options.data_dir = "data";
	options.trace = "data/train/a.png";
	check(&options, "--trace", "data set");
	options.trace = "data/train/train-labels.idx1-ubyte.gz";
	check(&options, "--trace", "data set");
	options.trace = "data/note";
	check(&options, NULL, NULL);
	options.data_dir = NULL;
	options.trace = "data/train/a.png";
	check(&options, NULL, NULL);
	setenv("BENCH_DATA_DIR", "./data", 1);
	check(&options, "--trace", "data set");
	unsetenv("BENCH_DATA_DIR");
}

/* What is added to, or kept nowhere, may be given to all. */
static void devices_may_be_shared(void **state)
{
	static const char *const paths[] = { "/dev/null", "/dev/stdout",
					     "/dev/fd/9", "pipe" };
	const int fd = open("file", O_WRONLY | O_APPEND);

	(void)state;
	assert_int_equal(mkfifo("pipe", 0600), 0);
	assert_int_equal(dup2(fd, 9), 9);
	for (int verb = 0; verb < VERB_COUNT; verb++)
		for (size_t p = 0; p < sizeof(paths) / sizeof(*paths); p++) {
			struct options options = of_verb(verb);

			for (int i = 0; i < option_row_count; i++)
				if (writes(verb, &option_rows[i]) &&
				    has_file(verb, &option_rows[i]))
					set(&options, &option_rows[i],
					    paths[p]);
			check(&options, NULL, NULL);
		}
	close(fd);
	close(9);
}

static void the_best_weights_are_a_file(void **state)
{
	struct options options = of_verb(VERB_MEASURE);

	(void)state;
	options.save_weights = "file:best";
	options.profile = "file:best";
	check(&options, NULL, NULL);
	options.profile = "soft";
	check(&options, "file of --save-weights is soft, which --profile",
	      "name another file");
	options.profile = NULL;
	options.weights = "file";
	check(&options, "--save-weights", "which --weights reads");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(options_say_what_files_are_for),
		cmocka_unit_test(no_two_options_share_a_file),
		cmocka_unit_test(no_option_has_a_file_of_a_folder),
		cmocka_unit_test(files_of_arguments_stay),
		cmocka_unit_test(pictures_stay_apart),
		cmocka_unit_test(data_sets_stay),
		cmocka_unit_test(devices_may_be_shared),
		cmocka_unit_test(the_best_weights_are_a_file),
	};

	return cmocka_run_group_tests_name("outputs", tests, begin, end);
}
