/* Runs that come to nothing, and how they say so. */
#include "bench/commands/commands.h"

#include "tests/unit/runs.h"

static void what_is_not_a_number_ends_the_run(void **state)
{
	static const char *const lines[] = {
		"cpu-1 -e2 --lr=1e30", "cpu-3 -e2 --lr=1e30 --global-batch=32",
		"cpu-3@fork -e2 --lr=1e30 --global-batch=32",
	};

	(void)state;
	for (int i = 0; i < 3; i++) {
		const struct observation *row;
		struct outcome outcome;

		measure(&outcome, lines[i]);
		assert_int_equal(outcome.failed, -1);
		assert_int_equal(outcome.err.kind, ERROR_FAILED);
		assert_non_null(strstr(outcome.err.message,
				       "epoch 1, iteration 2"));
		assert_null(outcome.parameters);
		assert_string_equal(outcome.run.status, "error");
		assert_int_equal(outcome.run.exit_code, ERROR_FAILED);
		assert_non_null(strstr(outcome.run.reason, "iteration 2"));
		row = find_step(&outcome, 1, 2);
		assert_string_equal(row->status, "error");
		assert_true(isnan(row->loss) && isnan(row->elapsed_s));
		row = find_row(&outcome, "epoch", 1);
		assert_string_equal(row->status, "partial");
		assert_int_equal(row->samples, BATCH);
		release(&outcome);
	}
}

static void assert_refused(const char *line, const char *says)
{
	char text[512], *argv[MOST_WORDS], *rest = text;
	FILE *out = fopen(in_folder("refused"), "w");
	struct options options;
	struct error err;
	int argc = 1;

	assert_non_null(out);
	snprintf(text, sizeof(text), "measure -q -d synthetic %s", line);
	while ((argv[argc] = strsep(&rest, " ")) && argc < MOST_WORDS - 1)
		argc++;
	argv[0] = argv[1];
	must(options_parse(&options, argc, argv, &err), &err);
	assert_int_equal(measure_command(&options, out, stderr, &err), -1);
	assert_int_equal(err.kind, ERROR_USAGE);
	if (!strstr(err.message, says))
		fail_msg("'%s' does not say '%s'", err.message, says);
	/* Not even a header, for who reads rows. */
	assert_int_equal(ftell(out), 0);
	fclose(out);
	options_release(&options);
}

static void what_makes_no_sense_is_refused(void **state)
{
	(void)state;
	assert_refused("-m tiny cpu-1 cpu-2", "one TARGET");
	assert_refused("-m tiny --steps=3", "one TARGET");
	assert_refused("-m vgg cpu-1",
		       "mnist, mnist-example, xla-mnist, mnist-2019, alexnet, "
		       "ddp-toy, resnet34, resnet50, tiny");
	assert_refused("-m tiny gpu", "unknown backend 'gpu'");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_not_a_number_ends_the_run),
		cmocka_unit_test(what_makes_no_sense_is_refused),
	};

	return cmocka_run_group_tests_name("measure", tests, folder_make,
					   folder_remove);
}
