/*
 * The options that say what a run does, beside the columns of runs.csv that
 * say what it did: how a run is made again, whether two did the same, and in
 * which of them they differ. Adding such an option is adding a row.
 */
#ifndef BENCH_OPTIONS_RUN_SETTINGS_H
#define BENCH_OPTIONS_RUN_SETTINGS_H

#include "bench/options/options.h"
#include "bench/record/run.h"
#include "bench/system/number.h"

enum run_setting_flag {
	SETTING_DATA = 1,      /* of the data set, not of what is done to it */
	SETTING_OPEN = 2,      /* the column may have what no option says */
	SETTING_SYNTHETIC = 4, /* the option is of synthetic data alone */
	SETTING_CAPPED = 8,    /* the column has at most a whole epoch */
	SETTING_LATER = 16,    /* runs of older versions do not say: an empty
				  cell differs from nothing */
	SETTING_DEVICE = 32    /* empty where the target has no such device, and
				  others do not take the option */
};

struct run_setting {
	const char *option, *column; /* option NULL: none says it */
	unsigned flags;		     /* of enum run_setting_flag */
	const char *usual; /* of SETTING_DEVICE: what is meant without the
			      option; NULL: nothing is */
};

extern const struct run_setting run_settings[];
extern const int run_setting_count;

/* Does this verb take the setting's option? */
int run_setting_is_of(const struct run_setting *setting, enum verb verb);

/* Is the option one of this run's, which has its data set? */
int run_setting_concerns(const struct run_setting *setting,
			 const struct run *run);

/*
 * What the run's row says, as the option takes it; empty if it says nothing.
 * It is in run, or constant, or in number.
 */
const char *run_setting_text(const struct run_setting *setting,
			     const struct run *run, char number[NUMBER_SIZE]);

/* The cell of runs.csv in this column, which there is, likewise. */
const char *run_cell_text(const struct run *run, const char *column,
			  char number[NUMBER_SIZE]);

#endif
