#include "bench/commands/commands.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/launch/allreduce_bench.h"
#include "bench/plan/plugin_file.h"
#include "bench/plan/ranks.h"
#include "bench/plan/target.h"
#include "bench/record/csv.h"
#include "bench/record/network.h"
#include "bench/report/table_format.h"
#include "bench/system/interrupt.h"
#include "bench/system/process.h"

#define MOST_TARGETS 24

/* The requested targets and their rows. */
struct networks {
	struct target targets[MOST_TARGETS];
	struct network_row rows[MOST_TARGETS][ALLREDUCE_SIZES];
	int count;
};

static int add_target(struct networks *networks, const char *name,
		      struct error *err)
{
	struct target *target = &networks->targets[networks->count];

	if (networks->count == MOST_TARGETS)
		return error_set(err, ERROR_USAGE, "at most %d targets: %s is "
				 "one too many", MOST_TARGETS, name);
	if (target_parse(target, name, err))
		return -1;
	if (target->cores < 2)
		return error_set(err, ERROR_USAGE, "%s has one core, but a sum "
				 "needs two: name a target such as cpu-2",
				 name);
	networks->count++;
	return 0;
}

/* Adds 2, 4 and 8 cores by each transport that exists. */
static int add_usual(struct networks *networks, const struct options *options,
		     FILE *log, struct error *err)
{
	static const char *const transports[] = { "threads", "fork", "mpi" };
	const struct plugin_known *mpi = plugin_known_find("mpi");
	const int has_mpi = !plugin_find("mpi", (char[PATH_MAX]){ 0 }) &&
			    process_find_program(mpi->launcher);
	char name[32];

	if (!has_mpi)
		fprintf(log, "note: mpi is skipped: bench env prints what it "
			"needs\n");
	for (int t = options->hosts ? 2 : 0; t < 2 + has_mpi; t++)
		for (int n = 2; n <= 8; n *= 2) {
			snprintf(name, sizeof(name), "cpu-%d@%s", n,
				 transports[t]);
			if (add_target(networks, name, err))
				return -1;
		}
	return networks->count ? 0 :
		error_set(err, ERROR_MISSING, "--hosts needs mpi: bench env "
			  "prints what is missing");
}

static int find_targets(struct networks *networks,
			const struct options *options, FILE *log,
			struct error *err)
{
	for (int a = 0; a < options->argument_count; a++)
		if (add_target(networks, options->arguments[a], err))
			return -1;
	if (!networks->count && add_usual(networks, options, log, err))
		return -1;
	return target_refuse_twice(networks->targets, networks->count,
				   "the rows of several calls", err) ||
			       target_options_check(options, networks->targets,
						    networks->count, log, err) ?
		       -1 : 0;
}

/* Keeps one failure in *err, a stop before all others, and logs the others. */
static void add_failure(const struct error *why, int *failed, FILE *log,
			struct error *err)
{
	const int replaces = !*failed || why->kind == ERROR_STOPPED;

	if (*failed)
		fprintf(log, "%s\n", replaces ? err->message : why->message);
	if (replaces)
		*err = *why;
	*failed = -1;
}

/* Leaves the rows of the targets that could be measured. Fails if a target
 * could not be, or after a signal; the log has every failure but *err. */
static int measure(struct networks *networks, const struct options *options,
		   FILE *log, struct error *err)
{
	const int targets = networks->count;
	struct error why;
	int failed = 0;

	interrupt_install(1);
	networks->count = 0;
	for (int t = 0; t < targets && !interrupt_signal(); t++) {
		struct options own = *options;

		target_options_trim(&own, &networks->targets[t]);
		if (!allreduce_bench_start(&networks->targets[t], own.hosts,
				 networks->rows[networks->count], &why)) {
			networks->count++;
			continue;
		}
		add_failure(&why, &failed, log, err);
	}
	if (interrupt_signal() && !failed)
		failed = error_set(err, ERROR_STOPPED, "interrupted");
	return failed;
}

static void fill_line(const struct grid *grid, int at,
		      const struct network_row *rows)
{
	struct network_point points[ALLREDUCE_SIZES];
	struct network_fit fit;

	for (int s = 0; s < ALLREDUCE_SIZES; s++)
		points[s] = (struct network_point){
			(double)rows[s].vector_bytes, rows[s].median_s };
	fit = network_fit(points, ALLREDUCE_SIZES);
	snprintf(grid->labels[at], GRID_TEXT, "%s, %ld ranks",
		 rows->transport, rows->ranks);
	grid_set_number(grid, at, 0, 1e6 * fit.link.latency_s, 1);
	grid_set_number(grid, at, 1, 1e-9 * fit.link.bytes_per_s, 3);
	grid_set_number(grid, at, 2, 100 * fit.error, 0);
	grid_set_number(grid, at, 3, 1e6 * rows[0].median_s, 0);
	rows += ALLREDUCE_SIZES;
	grid_set_number(grid, at, 4, 1e3 * rows[-5].median_s, 2);
	grid_set_number(grid, at, 5, 1e3 * rows[-1].median_s, 1);
}

static int print_table(FILE *out, const struct networks *networks,
		       const char *hosts, struct error *err)
{
	static const char *const heads[] = { "latency\n(us)", "rate\n(GB/s)",
					     "error\n(%)", "4 KiB\n(us)",
					     "1 MiB\n(ms)", "16 MiB\n(ms)" };
	const struct table_options table = { .format = TABLE_PLAIN };
	struct grid grid;

	if (grid_make(&grid, heads, 6, networks->count, err))
		return -1;
	snprintf(grid.title, sizeof(grid.title), "All-reduce of %s%s",
		 hosts ? "ranks on " : "ranks on this host",
		 hosts ? hosts : "");
	for (int t = 0; t < networks->count; t++)
		fill_line(&grid, t, networks->rows[t]);
	fputc('\n', out);
	grid_end(&grid, &table, out);
	print_note(out, &table, "the sum that training makes, in the order "
		   "of ranks: medians of the slowest rank; vectors of 4 KiB to "
		   "16 MiB");
	print_note(out, &table, "a vector of n bytes takes latency + n / rate; "
		   "error: root mean square error of that line over the sizes. "
		   "--export-csv FILE writes the rows for bench scale --sweep "
		   "FILE");
	return 0;
}

/* Measures in this process, which is one of the ranks. */
static int measure_here(struct networks *networks, const char *hosts, FILE *out,
			struct error *err)
{
	struct target *target = &networks->targets[0];
	const int rank = ranks_own(target);

	if (allreduce_bench_measure(target, hosts, networks->rows[0], err))
		return -1;
	if (!rank)
		csv_write_rows(out, &network_rows, networks->rows[0],
			       ALLREDUCE_SIZES);
	return 0;
}

/* Before the first of them is measured. */
static int check_launchers(const struct networks *networks,
			   const struct options *options, struct error *err)
{
	for (int t = 0; t < networks->count; t++)
		if (ranks_check_launcher(&networks->targets[t], options->hosts,
					 err))
			return -1;
	return 0;
}

static int publish(const struct networks *networks,
		   const struct options *options, FILE *out, struct error *err)
{
	const char *path = options->export_csv;
	const size_t rows = (size_t)networks->count * ALLREDUCE_SIZES;

	if (path && !strcmp(path, "-"))
		csv_write_rows(out, &network_rows, networks->rows, rows);
	else if (print_table(out, networks, options->hosts, err) ||
		 (path && csv_write_file(path, &network_rows, networks->rows,
					 rows, err)))
		return -1;
	return 0;
}

static int run(struct networks *networks, const struct options *options,
	       FILE *out, FILE *log, struct error *err)
{
	const char *path = options->export_csv;
	struct error why;
	int failed;

	if (path && !strcmp(path, "-") && networks->count == 1 &&
	    !ranks_check_started(&networks->targets[0], &why))
		return measure_here(networks, options->hosts, out, err);
	if (check_launchers(networks, options, err))
		return -1;
	failed = measure(networks, options, log, &why);
	if (networks->count && publish(networks, options, out, err)) {
		if (failed)
			fprintf(log, "%s\n", why.message);
		return -1;
	}
	if (failed)
		*err = why;
	return failed;
}

int network_command(const struct options *options, FILE *out, FILE *log,
		    struct error *err)
{
	struct networks *networks = calloc(1, sizeof(*networks));
	int failed;

	if (!networks)
		return error_memory(err, "a sweep of networks");
	failed = find_targets(networks, options, log, err) ||
		 run(networks, options, out, log, err);
	free(networks);
	return failed ? -1 : 0;
}
