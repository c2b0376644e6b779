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
	{ "observations.csv", "One measured interval a row.\n\n"
	  "A row whose `core` is empty is the target's: the slowest core's "
	  "time, the loss\nover the global batch. With several cores each of "
	  "them also has its own\n`step` rows. `step` rows are one an "
	  "iteration; of `loader`, `compute`, `wait`,\n`reduce`, `update` and "
	  "`test` there is one an epoch, the sum. A device alone, as\n"
	  "`opencl`, is waited for at the end of an iteration: its work is in "
	  "`update`, and\n`compute` is the time the host took to submit it.\n\n"
	  "With `--sync epoch` no iteration is waited for: `step` rows then "
	  "have a loss and\nno time, and one row `steps` an epoch has the "
	  "time of all of them. `update` is\nthe same time again, `compute`, "
	  "`wait` and `reduce` are 0, and `loader` is the\nwait for the "
	  "epoch's first batch.",
	  &observation_rows },
	{ "modelled.csv", "What intervals would take on a host with a free CPU "
	  "for each core: an estimate,\nnot measured. The columns are those "
	  "of `observations.csv`, `clock` is `model`, and\nall rows are the "
	  "target's. Older folders have these rows in `observations.csv`;\n"
	  "`bench measure` prints them among the others.", NULL },
	{ "runs.csv", "One process a row: what it was asked, what it measured "
	  "as a whole, and the\nmachine, the build and the libraries it ran "
	  "with. `run_id` joins\n`observations.csv`.", &run_rows },
	{ "summary.csv", "One number of one target a row. Without `run_id` it "
	  "is the target's in its\ncampaign; with several processes that is "
	  "over their means, and each process also\nhas rows with its "
	  "`run_id`.", &summary_rows },
	{ "verdicts.csv", "One target of a `bench check` a row. Its processes "
	  "are in `runs.csv`, where `arm`\nis not empty, and in no table but "
	  "the check's.", &verdict_rows },
	{ "--export-csv FILE", "One target a row, with the numbers of all four "
	  "tables.", &export_rows },
	{ "compare --export-csv FILE", "One metric of one target that two "
	  "campaigns have a row, see `bench compare`.", &compare_rows },
	{ "scale.csv", "What `bench scale` predicts for one number of cores a "
	  "row: a model, nothing\nof it is measured.", &scale_rows },
	{ "measure --profile FILE", "One part of an iteration a row; the last "
	  "row is the whole, which the others add\nup to.", &profile_rows },
	{ "env --peak --export-csv FILE", "What one core can do at most, one "
	  "loop a row, see `bench env --peak`.", &peak_rows },
	{ "env --network --export-csv FILE", "The all-reduce of one size of "
	  "vector by one transport a row, see\n`bench env --network`.",
	  &network_rows },
	{ "post-002.csv", "The figures that post 002 published, in the columns "
	  "of the targets that stand in\ntheir place (`--with-post`).",
	  &post_rows },
};

static void print_rows(FILE *out, const struct row_kind *kind)
{
	const struct column *column;
	int i;

	fputs("\n| column | holds | needed | meaning |\n"
	      "| :--- | :--- | :--- | :--- |\n", out);
	for (i = 0; i < kind->column_count; i++) {
		column = &kind->columns[i];
		fprintf(out, "| `%s` | ", column->name);
		if (column->kind == CELL_TEXT)
			fprintf(out, "text, %zu bytes at most",
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

/* The same with two tools; tests run them. */
static const char queries[] =
	"\n## Queries\n\n"
	"The mean of a run's iterations, as in the tables, is that of the "
	"`step` rows with\nan empty `core` that are no warm-up; those of "
	"single cores are other times, and\n`clock` tells an older folder's "
	"modelled rows apart. Of several runs it is the\nmean of theirs. "
	"Under `--sync epoch` it is, of the `steps` rows, `elapsed_s`\nover "
	"`iter`.\n\n"
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
	      "Each `bench run` makes a folder here, `<UTC time>-<label>`, "
	      "with\n`observations.csv`, `modelled.csv`, `runs.csv`, "
	      "`summary.csv` and `tables.md`.\nA `bench check` also "
	      "leaves `verdicts.csv` and `verdicts.md`. `bench\ntable "
	      "FOLDER` prints what the run ended with, and with `--details` "
	      "all\ntables. This page is what `bench table --columns` "
	      "prints.\n"
	      "\n"
	      "All files are CSV as in RFC 4180: UTF-8, lines end in `\\n`, "
	      "the header comes\nfirst, `.` is the decimal point. A cell is "
	      "empty where a number is missing:\nnever 0, `nan` or `inf`. "
	      "Units are part of the names: `_s` seconds, `_pct`\npercent, "
	      "`_bytes` bytes. What failed or was skipped has a row too, with\n"
	      "`status` and `reason`. Text that starts with `=`, `+`, `-` or "
	      "`@` gets a `'` in\nfront, so that no spreadsheet computes it. "
	      "Columns are only ever added, at the\nend, and are looked up by "
	      "name: programs should skip those they do not know.\n", out);
	for (i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		fprintf(out, "\n## %s\n\n%s\n", files[i].name, files[i].holds);
		if (files[i].rows)
			print_rows(out, files[i].rows);
		if (files[i].rows == &summary_rows)
			print_metrics(out);
	}
	fputs(queries, out);
}
