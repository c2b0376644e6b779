/*
 * The columns of runs.csv that describe the work of a run and its place, with
 * the option that sets each. They serve to repeat a run and to compare two
 * runs. A new option or column needs a new row.
 */
#ifndef BENCH_OPTIONS_RUN_SETTINGS_H
#define BENCH_OPTIONS_RUN_SETTINGS_H

#include "bench/options/options.h"
#include "bench/record/run.h"
#include "bench/system/number.h"

enum run_setting_flag {
	SETTING_SYNTHETIC = 1, /* the option applies to synthetic data only */
	SETTING_DEVICE = 2     /* empty if the target has no such device; other
				  targets do not take the option */
};

struct run_setting {
	const char *group; /* heading in a comparison of two campaigns */
	const char *option, *column; /* option NULL = no option sets it */
	unsigned flags;		     /* bits of enum run_setting_flag */
	const char *usual; /* SETTING_DEVICE: the value without the option; NULL
			      = none */
};

extern const struct run_setting run_settings[];
extern const int run_setting_count;

/* Returns 1 if this verb takes the setting's option. */
int run_setting_is_of(const struct run_setting *setting, enum verb verb);

/* Returns 1 if the option applies to this run and its data set. */
int run_setting_concerns(const struct run_setting *setting,
			 const struct run *run);

/* Returns the value in the run's row, as the option takes it; empty if unknown.
 * It is stored in run, in number, or constant. */
const char *run_setting_text(const struct run_setting *setting,
			     const struct run *run, char number[NUMBER_SIZE]);

/* Returns the cell of an existing column of runs.csv, stored in run or in
 * number. */
const char *run_cell_text(const struct run *run, const char *column,
			  char number[NUMBER_SIZE]);

#endif
