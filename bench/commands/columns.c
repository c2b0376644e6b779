#include "bench/commands/columns.h"

#include "bench/gate/verdict.h"
#include "bench/record/network.h"
#include "bench/record/observation.h"
#include "bench/record/post.h"
#include "bench/record/result_rows.h"
#include "bench/record/run.h"
#include "bench/report/compare.h"
#include "bench/report/scale.h"
#include "bench/train/peaks.h"
#include "bench/train/profile_rows.h"

static const struct file_kind {
	const char *name, *holds;
	const struct row_kind *rows;
} files[] = {
	{ "observations.csv", "One row per measured interval.\n\nA row with an "
	  "empty `core` describes the target: the time of the slowest "
	  "core\nand the loss over the global batch. If a target has several "
	  "cores, each core\nalso has its own rows. `step` has one row per "
	  "iteration. `loader`, `compute`,\n`wait`, `reduce`, `update` and "
	  "`test` have one row per epoch, which is a sum.\nThe host waits for "
	  "a single device, such as `opencl`, only at the end of "
	  "an\niteration. `update` then has the device's work, and `compute` "
	  "the time of its\nsubmission.\n\nWith `--sync epoch` the host does "
	  "not wait for each iteration. `step` rows then\nhave a loss and no "
	  "time, and one `steps` row per epoch has the time of "
	  "all\niterations. `update` repeats that time, `compute`, `wait` and "
	  "`reduce` are 0,\nand `loader` is the wait for the first batch of "
	  "the epoch.", &observation_rows },
	{ "modelled.csv", "Estimated intervals on a host with a free CPU per "
	  "core; nothing is measured. The\ncolumns equal `observations.csv`, "
	  "`clock` is `model`, and all rows describe the\ntarget. Older "
	  "folders have these rows in `observations.csv`; `bench "
	  "measure`\nprints them with the others.", NULL },
	{ "runs.csv", "One row per process: its options, its totals, the "
	  "machine, the build and the\nlibraries. `run_id` joins "
	  "`observations.csv`.", &run_rows },
	{ "summary.csv", "One row per target and metric. A row without "
	  "`run_id` describes the target in\nits campaign. If the target has "
	  "several processes, these rows are over the\nprocesses' means, and "
	  "each process has rows with its `run_id`.", &summary_rows },
	{ "verdicts.csv", "One row per target of a `bench check`. Its "
	  "processes are the rows of `runs.csv`\nthat have an `arm`; only the "
	  "check's own table shows them.", &verdict_rows },
	{ "--export-csv FILE", "One row per target, with the numbers of all "
	  "four tables.", &export_rows },
	{ "compare --export-csv FILE", "One row per target and metric that "
	  "both campaigns of `bench compare` have.", &compare_rows },
	{ "scale.csv", "One row per number of cores that `bench scale` "
	  "predicts. Nothing is measured.", &scale_rows },
	{ "measure --profile FILE", "One row per part of an iteration. The "
	  "last row is the whole iteration, the sum\nof the others.",
	  &profile_rows },
	{ "env --peak --export-csv FILE", "One row per loop of `bench env "
	  "--peak`: the most that one core can do.", &peak_rows },
	{ "env --network --export-csv FILE", "One row per transport and size "
	  "of vector: the all-reduce that `bench env\n--network` measures.",
	  &network_rows },
	{ "post-002.csv", "The figures that post 002 published, in the columns "
	  "of the corresponding targets\n(`--with-post`).", &post_rows },
};

static void print_rows(FILE *out, const struct row_kind *kind)
{
	const struct column *column;
	int i;

	fputs("\n| column | type | required | meaning |\n"
	      "| :--- | :--- | :--- | :--- |\n", out);
	for (i = 0; i < kind->column_count; i++) {
		column = &kind->columns[i];
		fprintf(out, "| `%s` | ", column->name);
		if (column->kind == CELL_TEXT)
			fprintf(out, "text, at most %zu bytes",
				column->size - 1);
		else
			fputs(column->kind == CELL_INT ? "integer" : "number",
			      out);
		fprintf(out, " | %s | %s |\n", column->required ? "yes" : "",
			column->meaning);
	}
}

static void print_metrics(FILE *out)
{
	int i;

	fputs("\nThe metrics of `summary.csv`:\n\n"
	      "| metric | unit | meaning | in older folders |\n"
	      "| :--- | :--- | :--- | :--- |\n", out);
	for (i = 0; i < METRIC_COUNT; i++) {
		const struct metric_kind *kind = &metric_kinds[i];
		const char *quote = kind->before ? "`" : "";

		fprintf(out, "| `%s` | %s | %s | %s%s%s |\n", kind->name,
			kind->unit, kind->meaning, quote,
			kind->before ? kind->before : "", quote);
	}
}

/* The tables' mean of iterations in two tools; tests run both. */
static const char queries[] =
	"\n## Queries\n\n"
	"The tables' mean iteration of a run is the mean of its `step` rows "
	"with an empty\n`core`, without warm-up. Rows of single cores are "
	"other times. `clock` excludes\nthe estimates of older folders. For "
	"several runs, take the mean of the runs'\nmeans. Under `--sync "
	"epoch`, divide `elapsed_s` of the `steps` rows by `iter`.\n\n"
	"With DuckDB, in the folder:\n\n"
	"```sql\n"
	"SELECT target, run_id,\n"
	"       count(elapsed_s) FILTER (phase = 'step') AS iterations,\n"
	"       avg(elapsed_s) FILTER (phase = 'step') AS iter_s,\n"
	"       stddev_pop(elapsed_s) FILTER (phase = 'step') AS iter_std_s,\n"
	"       avg(elapsed_s) FILTER (phase = 'epoch') AS epoch_s\n"
	"FROM 'observations.csv'\n"
	"WHERE core IS NULL AND is_warmup = 0 AND status = 'ok'\n"
	"      AND clock = 'wall'\n"
	"GROUP BY target, run_id\n"
	"ORDER BY target, run_id;\n"
	"```\n\n"
	"With pandas:\n\n"
	"```python\n"
	"import pandas as pd\n"
	"\n"
	"rows = pd.read_csv(\"observations.csv\")\n"
	"rows = rows[rows.core.isna() & (rows.is_warmup == 0)\n"
	"            & (rows.status == \"ok\") & (rows.clock == \"wall\")]\n"
	"runs = [\"target\", \"run_id\"]\n"
	"steps = rows[rows.phase == \"step\"].groupby(runs).elapsed_s\n"
	"epochs = rows[rows.phase == \"epoch\"].groupby(runs).elapsed_s\n"
	"result = pd.DataFrame({\"iterations\": steps.count(),\n"
	"                       \"iter_s\": steps.mean(),\n"
	"                       \"iter_std_s\": steps.std(ddof=0),\n"
	"                       \"epoch_s\": epochs.mean()})\n"
	"print(result)\n"
	"```\n";

void columns_print(FILE *out)
{
	size_t i;

	fputs("# Results\n"
	      "\n"
	      "**What do the files of a results folder contain?**\n"
	      "\n"
	      "Each `bench run` creates a folder here, `<UTC time>-<label>`, "
	      "with\n`observations.csv`, `modelled.csv`, `runs.csv`, "
	      "`summary.csv` and `tables.md`.\n`bench check` also writes "
	      "`verdicts.csv` and `verdicts.md`. `bench table FOLDER`\nprints "
	      "the table of the run again, and all tables with `--details`. "
	      "`bench table\n--columns` prints this page.\n"
	      "\n"
	      "All files are CSV as in RFC 4180: UTF-8, lines end in `\\n`, "
	      "the header is the\nfirst line, `.` is the decimal point. A "
	      "missing number is an empty cell, never\n0, `nan` or `inf`. "
	      "Names end in their unit: `_s` seconds, `_pct` "
	      "percent,\n`_bytes` bytes. A failed or skipped run has a row, "
	      "with `status` and `reason`.\nText that starts with `=`, `+`, "
	      "`-` or `@` has a `'` in front, so that no\nspreadsheet "
	      "evaluates it. New columns are added at the end only. Find "
	      "columns by\nname, and skip unknown ones.\n", out);
	for (i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		fprintf(out, "\n## %s\n\n%s\n", files[i].name, files[i].holds);
		if (files[i].rows)
			print_rows(out, files[i].rows);
		if (files[i].rows == &summary_rows)
			print_metrics(out);
	}
	fputs(queries, out);
}
