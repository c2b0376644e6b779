#include "bench/gate/baseline_settings.h"

#include <stdio.h>
#include <string.h>

#include "bench/options/option_table.h"
#include "bench/options/run_settings.h"
#include "bench/system/number.h"
#include "bench/system/text.h"

/* Of those that bench baseline takes, and of what no option says, the next one
 * from *at on; NULL after the last. */
static const struct run_setting *next_setting(int *at)
{
	while (*at < run_setting_count) {
		const struct run_setting *setting = &run_settings[(*at)++];

		if (!setting->option ||
		    run_setting_is_of(setting, VERB_BASELINE))
			return setting;
	}
	return NULL;
}

/* A text stays as long as run where the option keeps it. */
static int set(struct options *options, const struct run_setting *setting,
	       const struct run *run, struct error *err)
{
	char number[NUMBER_SIZE];

	return option_set(options, option_find(setting->option),
			  run_setting_text(setting, run, number), err);
}

int settings_check(const struct run *run, struct error *err)
{
	const struct run_setting *setting;
	struct options scratch = { 0 };
	char number[NUMBER_SIZE];
	struct error wrong;
	int at = 0;

	while ((setting = next_setting(&at))) {
		const char *text = run_setting_text(setting, run, number);

		if (setting->flags & SETTING_OPEN ||
		    (setting->flags & SETTING_LATER && !text[0]))
			continue;
		if (!text[0])
			return error_set(err, ERROR_INPUT, "%s: expected the "
					 "process's setting, found nothing",
					 setting->column);
		if (run_setting_concerns(setting, run) &&
		    set(&scratch, setting, run, &wrong))
			return error_set(err, ERROR_INPUT, "%s: expected a "
					 "valid option value: %s",
					 setting->column, wrong.message);
	}
	return 0;
}

enum { GIVEN_SIZE = 80 };

/* What was given, as run_setting_text() has it; empty if nothing was. */
static void print_given(const struct options *options, const char *option,
			char text[GIVEN_SIZE])
{
	const struct option_row *row = option_find(option);
	double value;

	text[0] = '\0';
	if (!option_is_given(options, row))
		return;
	option_print(options, row, text, GIVEN_SIZE);
	if (row->kind == OPTION_REAL && !number_parse_real(text, &value))
		number_print(text, value);
}

static int agrees(const struct options *options,
		  const struct run_setting *setting, const struct run *run,
		  const char *given, const char *saved)
{
	return !given[0] || !strcmp(given, saved) ||
	       (setting->flags & SETTING_OPEN && !strcmp(given, "auto")) ||
	       (setting->flags & SETTING_DEVICE && !saved[0]) ||
	       /* Fewer iterations than were asked for are all of an epoch's. */
	       (setting->flags & SETTING_CAPPED &&
		options->steps > run->steps &&
		run->steps == run_whole_epoch(run));
}

int settings_agree(const struct options *options, const struct run *run,
		   struct error *err)
{
	char given[GIVEN_SIZE], number[NUMBER_SIZE], list[512] = "";
	const struct run_setting *setting;
	int at = 0, count = 0;

	while ((setting = next_setting(&at))) {
		const char *saved = run_setting_text(setting, run, number);

		if (!setting->option)
			continue;
		print_given(options, setting->option, given);
		if (agrees(options, setting, run, given, saved))
			continue;
		text_append(list, sizeof(list),
			    "%s--%s %s, but the baseline has %s",
			    count++ ? "; " : "", setting->option, given,
			    saved[0] ? saved : "none");
	}
	return count ? error_set(err, ERROR_USAGE, "%s: not the baseline's "
				 "workload: %s; leave it out, or save a new "
				 "baseline", run->target, list) : 0;
}

void settings_repeat(struct options *options, const struct run *run)
{
	const struct run_setting *setting;
	struct error ignored;
	int at = 0;

	while ((setting = next_setting(&at)))
		/* Of a data set that has no name the options say what it is;
		 * that it is the same one is seen by its content. */
		if (run_setting_concerns(setting, run))
			(void)set(options, setting, run, &ignored);
	/* The same, whether it was asked for by core or by all. */
	options->batch = OPTION_UNSET;
}

int settings_compare(const struct run *was, const struct run *is, char *text,
		     size_t size)
{
	char numbers[2][NUMBER_SIZE];
	const struct run_setting *setting;
	int at = 0, count = 0;

	text[0] = '\0';
	while ((setting = next_setting(&at))) {
		const char *before = run_setting_text(setting, was, numbers[0]);
		const char *after = run_setting_text(setting, is, numbers[1]);

		if (strcmp(before, after) &&
		    (!(setting->flags & SETTING_LATER) ||
		     (before[0] && after[0])))
			text_append(text, size, "%s%s: %s, then %s",
				    count++ ? "; " : "", setting->column,
				    before[0] ? before : "-",
				    after[0] ? after : "-");
	}
	return count;
}
