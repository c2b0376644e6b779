#include "bench/show/table_cores.h"

#include <math.h>
#include <string.h>

#include "backends/group/transport.h"
#include "bench/system/number.h"
#include "bench/record/result.h"
#include "bench/record/run.h"
#include "bench/show/table_format.h"

enum { SWITCHES = 7, COLUMNS };

/* Seconds of an epoch, or how often its thread left its CPU. */
static const struct {
	const char *head, *phase;
	int is_cpu;
} quantities[COLUMNS] = {
	{ "compute", "compute", 0 }, { "wait", "wait", 0 },
	{ "reduce", "reduce", 0 },   { "update", "update", 0 },
	{ "loader", "loader", 0 },   { "test", "test", 0 },
	{ "CPU", "epoch", 1 },	     [SWITCHES] = { "switch", "epoch", 0 },
};

/* The cores of one run: sums over its epochs. */
struct cores {
	const struct observation *first; /* row */
	double sums[GROUP_MAX_SIZE][COLUMNS];
	long epochs[GROUP_MAX_SIZE];
	int count;
	/* Of the epoch that is being read: its rows may end in the middle. */
	double epoch_sums[COLUMNS];
	long epoch, core;
};

static double quantity_of(const struct observation *row, int column)
{
	if (column == SWITCHES && (row->voluntary_switches == CELL_NO_INT ||
				   row->involuntary_switches == CELL_NO_INT))
		return NAN;
	if (column == SWITCHES)
		return (double)row->voluntary_switches +
		       (double)row->involuntary_switches;
	return quantities[column].is_cpu ? row->cpu_s : row->elapsed_s;
}

static void add_row(struct cores *cores, const struct observation *row)
{
	if (row->core < 0 || row->core >= GROUP_MAX_SIZE)
		return;
	if (row->core != cores->core || row->epoch != cores->epoch)
		memset(cores->epoch_sums, 0, sizeof(cores->epoch_sums));
	cores->core = row->core;
	cores->epoch = row->epoch;
	for (int c = 0; c < COLUMNS; c++)
		if (strcmp(row->phase, quantities[c].phase) == 0)
			cores->epoch_sums[c] += quantity_of(row, c);
	/* The last row of a core's epoch says that it is whole. */
	if (strcmp(row->phase, "epoch") || strcmp(row->status, "ok"))
		return;
	if (row->core >= cores->count)
		cores->count = (int)row->core + 1;
	cores->epochs[row->core]++;
	for (int c = 0; c < COLUMNS; c++)
		cores->sums[row->core][c] += cores->epoch_sums[c];
}

/* Means over epochs; the largest and smallest of any core, and their mean. */
struct extremes {
	double most, least, mean;
	int slowest;
};

static double mean_of(const struct cores *cores, int core, int column)
{
	return cores->epochs[core] ?
		       cores->sums[core][column] / (double)cores->epochs[core] :
		       NAN;
}

static struct extremes extremes_of(const struct cores *cores, int column)
{
	struct extremes found = { -INFINITY, INFINITY, 0, 0 };

	for (int r = 0; r < cores->count; r++) {
		const double value = mean_of(cores, r, column);

		if (value > found.most) {
			found.most = value;
			found.slowest = r;
		}
		found.least = fmin(found.least, value);
		found.mean += value / cores->count;
	}
	return found;
}

/* What a core has most of, and how far the cores are apart. */
static void fill_extremes(struct grid *grid, const struct cores *cores,
			  int column)
{
	const struct extremes found = extremes_of(cores, column);
	char *spread = grid_at(grid, cores->count + 1, column)->text;
	char number[NUMBER_SIZE];

	snprintf(grid_at(grid, cores->count, column)->text, GRID_TEXT,
		 "core %d", found.slowest);
	if (!(found.mean > 0))
		return;
	number_print_fixed(number,
			   100 * (found.most - found.least) / found.mean, 1);
	snprintf(spread, GRID_TEXT, "%s%%", number);
}

static const struct run *run_of(const struct campaign *campaign,
				const char *run_id)
{
	for (size_t i = 0; i < campaign->run_count; i++)
		if (strcmp(campaign->runs[i].run_id, run_id) == 0)
			return &campaign->runs[i];
	return NULL;
}

static void print_notes(const struct campaign *campaign,
			const struct cores *cores, FILE *out,
			const struct table_options *options)
{
	const struct run *run = run_of(campaign, cores->first->run_id);
	const struct extremes compute = extremes_of(cores, 0);
	char slowdown[200] = "";

	if (run && run->cpus != CELL_NO_INT)
		print_note(out, options, "%d %s on %ld CPU%s", cores->count,
			   run_cores_name(run), run->cpus,
			   run->cpus == 1 ? "" : "s");
	if (run && run_is_on_devices(run) && !strcmp(run->transport, "threads"))
		print_note(out, options, "CPU: of the process, in equal parts: "
			   "nobody knows for whom a device computes");
	if (run)
		slowdown_explain(run, slowdown, sizeof(slowdown));
	if (slowdown[0])
		print_note(out, options, "%s", slowdown);
	if (isfinite(compute.most))
		print_note(out, options,
			   "core %d computes longest, %.3f s an epoch",
			   compute.slowest, compute.most);
}

static int draw(const struct campaign *campaign, const struct cores *cores,
		const struct table_options *options, FILE *out,
		struct error *err)
{
	struct grid grid;

	if (grid_make(&grid, COLUMNS, cores->count + 2, err))
		return -1;
	snprintf(grid.title, GRID_TEXT, "Cores of %.50s, run %.48s (s/epoch)",
		 cores->first->target, cores->first->run_id);
	for (int c = 0; c < COLUMNS; c++) {
		snprintf(grid.heads[c], GRID_TEXT, "%s", quantities[c].head);
		for (int r = 0; r < cores->count; r++)
			format_spread(grid_at(&grid, r, c)->text,
				      mean_of(cores, r, c), NAN,
				      c == SWITCHES ? 0 : 3, options);
		fill_extremes(&grid, cores, c);
	}
	for (int r = 0; r < cores->count; r++)
		snprintf(grid.labels[r], GRID_TEXT, "core %d", r);
	snprintf(grid.labels[cores->count], GRID_TEXT, "most");
	snprintf(grid.labels[cores->count + 1], GRID_TEXT, "spread");
	grid_draw(&grid, options, out);
	grid_free(&grid);
	print_notes(campaign, cores, out, options);
	fputc('\n', out);
	return 0;
}

int table_print_cores(const struct campaign *campaign,
		      const struct table_options *options, FILE *out,
		      struct error *err)
{
	const struct observation *rows = campaign->core_rows;
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
		if (cores.count && draw(campaign, &cores, options, out, err))
			return -1;
	}
	if (!drawn)
		return error_set(err, ERROR_INPUT, "no rows of single cores: "
				 "they come from runs of several cores, as "
				 "cpu-8, that finished an epoch");
	print_note(out, options, "compute, reduce, update: as the host saw "
		   "them; where cores share CPUs the time without one is in "
		   "them");
	print_note(out, options, "means over epochs; switch: changes of "
		   "context, voluntary (to wait) and not (CPU lost to others); "
		   "spread: largest less smallest, over the mean");
	return 0;
}
