/*
 * The columns of runs.csv that say what a run did and where, each with the
 * option that asks for it: how a run is made again, and in which columns two
 * runs differ. Adding such an option or column is adding a row.
 */
#ifndef BENCH_OPTIONS_RUN_SETTINGS_H
#define BENCH_OPTIONS_RUN_SETTINGS_H

#include "bench/options/options.h"
#include "bench/record/run.h"
#include "bench/system/number.h"

enum run_setting_flag {
	SETTING_SYNTHETIC = 1, /* the option is of synthetic data alone */
	SETTING_DEVICE = 2     /* empty where the target has no such device, and
				  others do not take the option */
};

struct run_setting {
	const char *group; /* heading of the differences of two campaigns */
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
