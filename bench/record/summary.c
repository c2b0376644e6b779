#include "bench/record/summary.h"

#define TEXT(member, meaning) COLUMN_TEXT(summary, member, meaning, 0)
#define INT(member, meaning) COLUMN_INT(summary, member, meaning, 0)
#define REAL(member, meaning) COLUMN_REAL(summary, member, meaning, 0)
#define NEEDED(member, meaning) COLUMN_TEXT(summary, member, meaning, 1)

static const struct column columns[] = {
	NEEDED(schema, "version of the columns"),
	NEEDED(campaign_id, "the invocation of bench run"),
	TEXT(label, "--label of that invocation"),
	NEEDED(target, "what was timed"),
	INT(cores, "emulated cores"),
	NEEDED(metric, "see the list of metrics"),
	TEXT(unit, "of mean to ci95_hi"),
	INT(n_runs, "processes in the row"),
	INT(n_obs, "intervals in the row, of all its processes"),
	INT(n_warmup_excluded, "warm-up steps left out of iterations; 0 with "
	    "--include-warmup; empty: not about iterations"),
	COLUMN_REAL(summary, mean, "of all intervals, or of the runs' means",
		    1),
	REAL(std, "population standard deviation (divided by n)"),
	REAL(median, "50th percentile"),
	REAL(q1, "25th percentile"),
	REAL(q3, "75th percentile"),
	REAL(min, "smallest"),
	REAL(max, "largest"),
	REAL(ci95_lo, "Student's t interval of the mean across runs; empty "
	     "for one run"),
	REAL(ci95_hi, "its upper end"),
	REAL(first_iter_s, "iter_s of one run: the very first step, warm-up "
	     "or not"),
	TEXT(run_id, "the one process; empty: the target"),
	TEXT(spread, "std to max are over: iterations, epochs, runs; empty: "
	     "one number"),
	TEXT(algorithm, "fast, dense: see runs.csv"),
	TEXT(precision, "fp32, bf16, fp64"),
	TEXT(device_class, "cpu, gpu: of the device's kernels; empty: there "
	     "are no classes"),
	TEXT(resident, "yes, no: whether the device held the data set; empty: "
	     "it is none that could"),
	TEXT(sync, "step, epoch: how often the device was waited for"),
	INT(batch, "samples per core and iteration; empty: they differ"),
};

const struct row_kind summary_rows = {
	.schema = "bench/1",
	.columns = columns,
	.column_count = sizeof(columns) / sizeof(columns[0]),
	.row_size = sizeof(struct summary),
};
