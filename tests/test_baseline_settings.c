/* Baselines: what their processes were told, and are told again. */
#include "bench/gate/baseline_settings.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "bench/options/option_table.h"
#include "bench/options/run_settings.h"
#include "tests/baseline_rows.h"

static struct error err;

/* What the command line says. */
static void parse(struct options *options, const char *line)
{
	static char text[512];
	char *argv[32], *rest = text;
	int argc = 0;

	snprintf(text, sizeof(text), "bench check --base x %s", line);
	while ((argv[argc] = strsep(&rest, " ")))
		if (*argv[argc])
			argc++;
	if (options_parse(options, argc, argv, &err))
		fail_msg("%s", err.message);
}

static void options_come_from_the_row(void **state)
{
	struct options options;
	struct made made;

	(void)state;
	process(&made, "a", "cpu-2", "", 1);
	assert_int_equal(settings_check(&made.run, &err), 0);
	parse(&options, "--timeout 5 --batch 4");
	settings_repeat(&options, &made.run);
	assert_string_equal(options.model, "tiny");
	assert_string_equal(options.dataset, "synthetic");
	assert_int_equal(options.synthetic_train, 70);
	assert_int_equal(options.synthetic_test, 40);
	assert_int_equal(options.steps, 2);
	assert_int_equal(options.batch, OPTION_UNSET);
	assert_int_equal(options.global_batch, 32);
	assert_int_equal(options.seed, 7);
	assert_true(options.lr == .25);
	assert_int_equal(options.dropout, 0);
	assert_int_equal(options.reshuffle, 1);
	assert_int_equal(options.warmup, 3);
	assert_int_equal(options.timeout, 5);
	options_release(&options);
}

/* Images that have no name are what the options say they are. */
static void data_without_a_name(void **state)
{
	struct options options;
	struct made made;

	(void)state;
	process(&made, "a", "cpu-2", "", 1);
	snprintf(made.run.dataset, sizeof(made.run.dataset), "unknown-12ab");
	parse(&options, "--data-dir here");
	assert_int_equal(settings_agree(&options, &made.run, &err), 0);
	settings_repeat(&options, &made.run);
	assert_string_equal(options.dataset, "auto");
	assert_string_equal(options.data_dir, "here");
	assert_int_equal(options.synthetic_train, 60000);
	options_release(&options);
}

static void disagrees(const char *text, const struct run *run,
		      const char *says)
{
	struct options options;

	parse(&options, text);
	assert_int_equal(settings_agree(&options, run, &err), -1);
	assert_int_equal(err.kind, ERROR_USAGE);
	assert_non_null(strstr(err.message, says));
	options_release(&options);
}

static void only_what_was_given_can_disagree(void **state)
{
	struct options options;
	struct made made;

	(void)state;
	process(&made, "a", "cpu-2", "", 1);
	parse(&options, "");
	assert_int_equal(settings_agree(&options, &made.run, &err), 0);
	options_release(&options);
	parse(&options, "--lr 0.250 --seed 7 --batch 16 --dropout off -w 3");
	assert_int_equal(settings_agree(&options, &made.run, &err), 0);
	options_release(&options);
	/* The default, and not the baseline's. */
	disagrees("--seed 1", &made.run, "--seed 1, but the baseline has 7");
	/* More iterations than there are: of 70 samples these are not all. */
	parse(&options, "--steps 9");
	assert_int_equal(settings_agree(&options, &made.run, &err), -1);
	made.run.steps = 3;
	assert_int_equal(settings_agree(&options, &made.run, &err), 0);
	options_release(&options);
}

/* Where the data set was is told by what came of the option. */
static void residence_is_repeated(void **state)
{
	struct options options;
	struct made made;

	(void)state;
	process(&made, "a", "opencl", "", 1);
	parse(&options, "--resident auto");
	/* Cores beside a device have no such thing. */
	assert_int_equal(settings_agree(&options, &made.run, &err), 0);
	snprintf(made.run.resident, sizeof(made.run.resident), "no");
	disagrees("--resident auto", &made.run, "but the baseline has no");
	settings_repeat(&options, &made.run);
	assert_string_equal(options.resident, "no");
	/* It did not fit. */
	snprintf(made.run.not_resident_reason,
		 sizeof(made.run.not_resident_reason), "too much");
	disagrees("--resident no", &made.run, "but the baseline has auto");
	settings_repeat(&options, &made.run);
	assert_string_equal(options.resident, "auto");
	options_release(&options);
}

/* Those of older versions, and of backends without classes, do not say it. */
static void classes_are_repeated(void **state)
{
	struct options options;
	struct made made;

	(void)state;
	process(&made, "a", "opencl", "", 1);
	parse(&options, "--device-class cpu");
	assert_int_equal(settings_check(&made.run, &err), 0);
	assert_int_equal(settings_agree(&options, &made.run, &err), 0);
	snprintf(made.run.device_class, sizeof(made.run.device_class), "gpu");
	disagrees("--device-class cpu", &made.run, "but the baseline has gpu");
	settings_repeat(&options, &made.run);
	assert_string_equal(options.device_class, "gpu");
	options_release(&options);
	snprintf(made.run.device_class, sizeof(made.run.device_class), "dsp");
	assert_int_equal(settings_check(&made.run, &err), -1);
}

static void what_differs_is_listed(void **state)
{
	struct made one, other;
	char text[200];

	(void)state;
	process(&one, "a", "cpu-2", "", 1);
	process(&other, "b", "cpu-2", "", 2);
	assert_int_equal(settings_compare(&one.run, &other.run, text,
					  sizeof(text)), 0);
	assert_string_equal(text, "");
	other.run.lr = .5;
	other.run.seed = CELL_NO_INT;
	assert_int_equal(settings_compare(&one.run, &other.run, text,
					  sizeof(text)), 2);
	assert_string_equal(text, "seed: 7, then -; lr: 0.25, then 0.5");
	/* The one is of an older version, which had but one. */
	snprintf(other.run.algorithm, sizeof(other.run.algorithm), "dense");
	assert_int_equal(settings_compare(&one.run, &other.run, text,
					  sizeof(text)), 2);
	snprintf(one.run.algorithm, sizeof(one.run.algorithm), "fast");
	assert_int_equal(settings_compare(&one.run, &other.run, text,
					  sizeof(text)), 3);
	one.run.algorithm[0] = '\0';
	/* What does not fit is cut. */
	assert_int_equal(settings_compare(&one.run, &other.run, text, 8), 2);
	assert_string_equal(text, "seed: 7");
}

/* Or a look-up by name would have no end. */
static void every_setting_has_its_option_and_column(void **state)
{
	(void)state;
	for (int s = 0; s < run_setting_count; s++) {
		const struct run_setting *setting = &run_settings[s];
		int options = !setting->option, columns = 0;

		for (int i = 0; i < option_row_count && !options; i++)
			options = !strcmp(option_rows[i].name, setting->option);
		for (int i = 0; i < run_rows.column_count && !columns; i++)
			columns = !strcmp(run_rows.columns[i].name,
					  setting->column);
		if (!options || !columns)
			fail_msg("%s, %s", setting->option, setting->column);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(options_come_from_the_row),
		cmocka_unit_test(data_without_a_name),
		cmocka_unit_test(only_what_was_given_can_disagree),
		cmocka_unit_test(residence_is_repeated),
		cmocka_unit_test(classes_are_repeated),
		cmocka_unit_test(what_differs_is_listed),
		cmocka_unit_test(every_setting_has_its_option_and_column),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
