#include "bench/record/observation.h"

#include <string.h>

#define TEXT(member, meaning, required)                                        \
	COLUMN_TEXT(observation, member, meaning, required)
#define INT(member, meaning, required)                                         \
	COLUMN_INT(observation, member, meaning, required)
#define REAL(member, meaning, required)                                        \
	COLUMN_REAL(observation, member, meaning, required)

static const struct column columns[] = {
	TEXT(schema, "version of the columns", 1),
	TEXT(run_id, "the process, as in runs.csv", 1),
	TEXT(target, "what was timed: cpu-8, opencl:1", 1),
	INT(cores, "emulated cores of the target", 0),
	INT(core, "rank from 0; empty: the target, its slowest core's time", 1),
	TEXT(phase, "setup, loader, step, steps, compute, wait, reduce, "
	     "update, test, epoch or loop", 1),
	INT(epoch, "from 1; 0 is warm-up; empty: not in an epoch", 1),
	INT(iter, "from 1 in each epoch; of steps how many they are; empty: "
	    "not one iteration", 1),
	INT(is_warmup, "1 in warm-up, else 0", 1),
	REAL(elapsed_s, "time of the row's clock; empty: a step that nobody "
	     "waited for (--sync epoch), its time is in steps", 1),
	REAL(cpu_s, "CPU time of the core's thread; of a target's step and "
	     "test of all cores' threads, else of all its processes", 0),
	INT(samples, "samples in the interval", 0),
	REAL(loss, "mean over the samples", 0),
	REAL(accuracy_pct, "samples classified rightly", 0),
	TEXT(status, "ok, partial, error or skipped", 1),
	TEXT(reason, "why not ok", 0),
	TEXT(clock, "wall: what this host took; model: what one with a free "
	     "CPU for each core would take, see modelled.csv", 0),
	INT(voluntary_switches, "times that threads of cores gave up their CPU "
	    "in an epoch, to wait", 0),
	INT(involuntary_switches, "times that they lost it to others", 0),
};

int observation_is_modelled(const struct observation *row)
{
	return strcmp(row->clock, "model") == 0;
}

const struct row_kind observation_rows = {
	.schema = "bench/1",
	.columns = columns,
	.column_count = sizeof(columns) / sizeof(columns[0]),
	.row_size = sizeof(struct observation),
};
