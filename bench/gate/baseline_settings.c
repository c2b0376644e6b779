#include "bench/gate/baseline_settings.h"

#include <stdio.h>
#include <string.h>

#include "bench/system/number.h"
#include "bench/options/option_table.h"

enum {
	OPEN = 1,     /* the run may have what no option says */
	SYNTHETIC = 2, /* only of that data set */
	CAPPED = 4,   /* the run has what it could do of it */
	LATER = 8,    /* runs of older versions do not say */
	DEVICES = 16, /* empty: no device could be told */
	RESIDENT = 32 /* the column has what came of it */
};

static const struct setting {
	const char *option, *column; /* NULL: only the other */
	int flags;
} settings[] = {
	{ "model", "model", 0 },
	{ "dataset", "dataset", OPEN },
	{ NULL, "dataset_sha256", 0 },
	{ "synthetic-train", "train_samples", SYNTHETIC },
	{ "synthetic-test", "test_samples", SYNTHETIC },
	{ "steps", "steps", CAPPED },
	{ "global-batch", "global_batch", 0 },
	{ "batch", "batch", OPEN },
	{ "seed", "seed", 0 },
	{ "lr", "lr", 0 },
	{ "dropout", "dropout", 0 },
	{ "algorithm", "algorithm", LATER },
	{ "precision", "precision", LATER },
	{ "resident", "resident", LATER | DEVICES | RESIDENT },
	{ "device-class", "device_class", LATER | DEVICES },
	{ "reshuffle", "reshuffle", 0 },
	{ "warmup", "warmup", 0 },
};

#define SETTINGS (sizeof(settings) / sizeof(settings[0]))
#define TEXT 80

static const struct column *find_column(const char *name)
{
	const struct column *column = run_rows.columns;

	while (strcmp(column->name, name))
		column++;
	return column;
}

/* Stays as long as run. */
static const char *text_of(const struct setting *setting, const struct run *run)
{
	return setting->flags & RESIDENT ?
		       run_asked_resident(run) :
		       cell_text(find_column(setting->column), run);
}

/* What the run's row says, as an option does. */
static void print_cell(const struct setting *setting, const struct run *run,
		       char text[TEXT])
{
	const struct column *column = find_column(setting->column);

	text[0] = '\0';
	if (column->kind == CELL_TEXT)
		snprintf(text, TEXT, "%s", text_of(setting, run));
	else if (column->kind == CELL_REAL)
		number_print(text, cell_real(column, run));
	else if (cell_int(column, run) != CELL_NO_INT)
		snprintf(text, TEXT, "%ld", cell_int(column, run));
}

static int concerns(const struct setting *setting, const struct run *run)
{
	return setting->option && (!(setting->flags & SYNTHETIC) ||
				   !strcmp(run->dataset, "synthetic"));
}

/* text stays as long as run where the option keeps it. */
static int set(struct options *options, const struct setting *setting,
	       const struct run *run, struct error *err)
{
	const struct option_row *row = option_find(setting->option);
	const struct column *column = find_column(setting->column);
	char text[TEXT];

	print_cell(setting, run, text);
	return option_set(options, row, column->kind == CELL_TEXT ?
			  text_of(setting, run) : text, err);
}

int settings_check(const struct run *run, struct error *err)
{
	struct options scratch = { 0 };
	struct error wrong;
	char text[TEXT];

	for (size_t i = 0; i < SETTINGS; i++) {
		const struct setting *setting = &settings[i];

		print_cell(setting, run, text);
		if (setting->flags & OPEN ||
		    (setting->flags & LATER && !text[0]))
			continue;
		if (!text[0])
			return error_set(err, ERROR_INPUT, "%s: expected what "
					 "the process was told to do, found "
					 "nothing", setting->column);
		if (concerns(setting, run) &&
		    set(&scratch, setting, run, &wrong))
			return error_set(err, ERROR_INPUT, "%s: expected what "
					 "an option can say: %s",
					 setting->column, wrong.message);
	}
	return 0;
}

/* What was given, as print_cell() prints it; empty if nothing was. */
static void print_given(const struct options *options,
			const struct setting *setting, char text[TEXT])
{
	const struct option_row *row = option_find(setting->option);
	double value;

	text[0] = '\0';
	if (!option_is_given(options, row))
		return;
	option_print(options, row, text, TEXT);
	if (row->kind == OPTION_REAL && !number_parse_real(text, &value))
		number_print(text, value);
}

/* Fewer iterations than were asked for are all of an epoch's. */
static int is_whole_epoch(const struct run *run)
{
	return run->global_batch > 0 &&
	       run->steps == (run->train_samples + run->global_batch - 1) /
				     run->global_batch;
}

static int agrees(const struct options *options, const struct setting *setting,
		  const struct run *run, const char *given, const char *saved)
{
	return !given[0] || !strcmp(given, saved) ||
	       (setting->flags & OPEN && !strcmp(given, "auto")) ||
	       (setting->flags & DEVICES && !saved[0]) ||
	       (setting->flags & CAPPED && options->steps > run->steps &&
		is_whole_epoch(run));
}

int settings_agree(const struct options *options, const struct run *run,
		   struct error *err)
{
	char given[TEXT], saved[TEXT], list[512] = "";
	int count = 0;

	for (size_t i = 0; i < SETTINGS; i++) {
		const struct setting *setting = &settings[i];
		const size_t used = strlen(list);

		if (!setting->option)
			continue;
		print_given(options, setting, given);
		print_cell(setting, run, saved);
		if (agrees(options, setting, run, given, saved))
			continue;
		snprintf(list + used, sizeof(list) - used,
			 "%s--%s %s, and the baseline has %s",
			 count++ ? "; " : "", setting->option, given,
			 saved[0] ? saved : "none");
	}
	return count ? error_set(err, ERROR_USAGE, "%s: other work than the "
				 "baseline's: %s; leave it out, or save a "
				 "baseline of that", run->target, list) : 0;
}

void settings_repeat(struct options *options, const struct run *run)
{
	struct error ignored;

	for (size_t i = 0; i < SETTINGS; i++)
		/* Of a data set that has no name the options say what it is;
		 * that it is the same one is seen by its content. */
		if (concerns(&settings[i], run))
			(void)set(options, &settings[i], run, &ignored);
	/* The same, whether it was asked for by core or by all. */
	options->batch = OPTION_UNSET;
}

int settings_compare(const struct run *was, const struct run *is, char *text,
		     size_t size)
{
	char before[TEXT], after[TEXT];
	int count = 0;

	text[0] = '\0';
	for (size_t i = 0; i < SETTINGS; i++) {
		const size_t used = strlen(text);

		print_cell(&settings[i], was, before);
		print_cell(&settings[i], is, after);
		if (strcmp(before, after) &&
		    (!(settings[i].flags & LATER) || (before[0] && after[0])))
			snprintf(text + used, size - used,
				 "%s%s: %s, then %s", count++ ? "; " : "",
				 settings[i].column, before[0] ? before : "-",
				 after[0] ? after : "-");
	}
	return count;
}
