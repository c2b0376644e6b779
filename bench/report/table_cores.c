/* Prints the time and the loss of each core of a run. */
#include <math.h>
#include <string.h>

#include "backends/parallel/transport.h"
#include "bench/record/result.h"
#include "bench/record/run.h"
#include "bench/report/table.h"
#include "bench/report/table_view.h"
#include "bench/system/number.h"

enum kind { WALL, CPU_TIME, SWITCHES, LOSS };

/* Per epoch: seconds, switches of its thread, or a mean loss. */
static const struct {
	const char *head, *phase;
	enum kind kind;
} quantities[] = {
	{ "compute", "compute", WALL },
	{ "wait", "wait", WALL },
	{ "reduce", "reduce", WALL },
	{ "overlap", "overlap", WALL },
	{ "update", "update", WALL },
	{ "loader", "loader", WALL },
	{ "test", "test", WALL },
	{ "CPU", "epoch", CPU_TIME },
	{ "switch", "epoch", SWITCHES },
	{ "training\nloss", "epoch", LOSS },
	{ "test\nloss", "test", LOSS },
};

enum { COLUMNS = sizeof(quantities) / sizeof(quantities[0]) };

/* The cores of one run: sums over its epochs, and losses of the last one. */
struct cores {
	const struct observation *first; /* row */
	double sums[GROUP_MAX_SIZE][COLUMNS];
	long epochs[GROUP_MAX_SIZE];
	int count;
	/* Sums of the epoch that is being read: its rows may be incomplete. */
	double epoch_sums[COLUMNS];
	long epoch, core;
};

static double quantity_of(const struct observation *row, int column)
{
	switch (quantities[column].kind) {
	case WALL:
		return row->elapsed_s;
	case CPU_TIME:
		return row->cpu_s;
	case SWITCHES:
		if (row->voluntary_switches == CELL_NO_INT ||
		    row->involuntary_switches == CELL_NO_INT)
			return NAN;
		return (double)row->voluntary_switches +
		       (double)row->involuntary_switches;
	case LOSS:
		return row->loss;
	}
	return NAN;
}

/* A loss is missing until its row is read, or if there is no test. */
static void begin_epoch(struct cores *cores, const struct observation *row)
{
	for (int c = 0; c < COLUMNS; c++)
		cores->epoch_sums[c] = quantities[c].kind == LOSS ? NAN : 0;
	cores->core = row->core;
	cores->epoch = row->epoch;
}

static void add_row(struct cores *cores, const struct observation *row)
{
	if (row->core < 0 || row->core >= GROUP_MAX_SIZE)
		return;
	if (row->core != cores->core || row->epoch != cores->epoch)
		begin_epoch(cores, row);
	for (int c = 0; c < COLUMNS; c++) {
		if (strcmp(row->phase, quantities[c].phase))
			continue;
		if (quantities[c].kind == LOSS)
			cores->epoch_sums[c] = 0;
		cores->epoch_sums[c] += quantity_of(row, c);
	}
	/* The last row of a core's epoch shows that it is complete. */
	if (strcmp(row->phase, "epoch") || strcmp(row->status, "ok"))
		return;
	if (row->core >= cores->count)
		cores->count = (int)row->core + 1;
	cores->epochs[row->core]++;
	for (int c = 0; c < COLUMNS; c++)
		cores->sums[row->core][c] = cores->epoch_sums[c] +
			(quantities[c].kind == LOSS ? 0 :
			 cores->sums[row->core][c]);
}

/* Means over epochs; the largest and smallest of any core, and their mean. */
struct extremes {
	double most, least, mean;
	int slowest; /* -1: no core has more than others */
};

static double mean_of(const struct cores *cores, int core, int column)
{
	const double epochs = (double)cores->epochs[core];
	const double sum = cores->sums[core][column];

	if (!cores->epochs[core])
		return NAN;
	return quantities[column].kind == LOSS ? sum : sum / epochs;
}

static struct extremes extremes_of(const struct cores *cores, int column)
{
	struct extremes found = { -INFINITY, INFINITY, 0, -1 };

	for (int r = 0; r < cores->count; r++) {
		const double value = mean_of(cores, r, column);

		if (value > found.most) {
			found.most = value;
			found.slowest = r;
		}
		found.least = fmin(found.least, value);
		found.mean += value / cores->count;
	}
	/* No core had the phase, or all values are equal. */
	if (!(found.most > found.least))
		found.slowest = -1;
	return found;
}

/* Prints the core with the largest value, and the spread over the cores. */
static void fill_extremes(struct grid *grid, const struct cores *cores,
			  int column, int at)
{
	const struct extremes found = extremes_of(cores, column);
	const double spread = 100 * (found.most - found.least) / found.mean;

	if (found.slowest >= 0)
		snprintf(grid_at(grid, cores->count, at)->text, GRID_TEXT,
			 "core %d", found.slowest);
	if (found.mean > 0)
		snprintf(grid_at(grid, cores->count + 1, at)->text,
			 GRID_TEXT, "%s%%", fixed_text(spread, 1).text);
}

static const struct run *run_of(const struct campaign *campaign,
				const char *run_id)
{
	for (size_t i = 0; i < campaign->run_count; i++)
		if (strcmp(campaign->runs[i].run_id, run_id) == 0)
			return &campaign->runs[i];
	return NULL;
}

static void print_notes(const struct view *view, const struct run *run,
			const struct cores *cores)
{
	const struct extremes compute = extremes_of(cores, 0);
	const double cpus = run ? run_cpus(run) : NAN;
	char slowdown[200] = "";

	if (run && isfinite(cpus))
		view_note(view, "%d %s on %s CPU%s", cores->count,
			  run_cores_name(run),
			  fixed_text(cpus, cpus == floor(cpus) ? 0 : 2).text,
			  cpus == 1 ? "" : "s");
	if (run && run_is_on_devices(run) && !strcmp(run->transport, "threads"))
		view_note(view, "CPU: the time of the process, divided "
			  "equally, because a device's work belongs to no "
			  "core");
	if (run && run->overlapped_s > 0)
		view_note(view, "overlap: of compute, while parts of the "
			  "gradient were under way between hosts");
	if (run)
		run_explain_slowdown(run, slowdown, sizeof(slowdown));
	if (slowdown[0])
		view_note(view, "%s", slowdown);
	if (compute.slowest >= 0)
		view_note(view, "core %d computes longest, %.3f s an epoch",
			  compute.slowest, compute.most);
}

/* Lists the columns. Most runs have no overlap. */
static int list_columns(const struct cores *cores, int columns[COLUMNS])
{
	int count = 0;

	for (int c = 0; c < COLUMNS; c++)
		if (strcmp(quantities[c].phase, "overlap") ||
		    extremes_of(cores, c).most > 0)
			columns[count++] = c;
	return count;
}

static int draw(const struct view *view, const struct campaign *campaign,
		const struct cores *cores, struct error *err)
{
	static const int decimals[] = {
		[WALL] = 3, [CPU_TIME] = 3, [SWITCHES] = 0, [LOSS] = 4,
	};
	int columns[COLUMNS];
	const int count = list_columns(cores, columns);
	struct grid grid;

	if (grid_make(&grid, NULL, count, cores->count + 2, err))
		return -1;
	snprintf(grid.title, GRID_TEXT, "Cores of %.50s, run %.48s (s/epoch)",
		 cores->first->target, cores->first->run_id);
	for (int i = 0; i < count; i++) {
		const int c = columns[i];

		snprintf(grid.heads[i], GRID_TEXT, "%s", quantities[c].head);
		for (int r = 0; r < cores->count; r++)
			grid_set_number(&grid, r, i, mean_of(cores, r, c),
					decimals[quantities[c].kind]);
		fill_extremes(&grid, cores, c, i);
	}
	for (int r = 0; r < cores->count; r++)
		snprintf(grid.labels[r], GRID_TEXT, "core %d", r);
	snprintf(grid.labels[cores->count], GRID_TEXT, "most");
	snprintf(grid.labels[cores->count + 1], GRID_TEXT, "spread");
	grid_end(&grid, view->options, view->out);
	print_notes(view, run_of(campaign, cores->first->run_id), cores);
	fputc('\n', view->out);
	return 0;
}

int table_print_cores(const struct campaign *campaign,
		      const struct table_options *options, FILE *out,
		      struct error *err)
{
	const struct observation *rows = campaign->core_rows;
	const struct view view = { .options = options, .out = out };
	const size_t count = campaign->core_row_count;
	int drawn = 0;
	size_t next;

	for (size_t at = 0; at < count; at = next) {
		struct cores cores = { .first = &rows[at], .core = -1 };

		for (next = at; next < count &&
				!strcmp(rows[next].run_id, rows[at].run_id);
		     next++)
			add_row(&cores, &rows[next]);
		drawn += cores.count;
		if (cores.count && draw(&view, campaign, &cores, err))
			return -1;
	}
	if (!drawn)
		return error_set(err, ERROR_INPUT, "no rows of single cores: "
				 "only runs of several cores, such as cpu-8, "
				 "that finish an epoch have them");
	view_note(&view, "compute, reduce, update: wall time; where cores "
		  "share CPUs, waiting for a CPU is included");
	view_note(&view, "means over epochs; switch: context switches, "
		  "voluntary (to wait) and involuntary (CPU lost to others); "
		  "spread: largest less smallest, divided by the mean");
	view_note(&view, "losses: means over the last epoch's samples of that "
		  "core, and over its part of the last test");
	return 0;
}
