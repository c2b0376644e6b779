#include "bench/train/peaks.h"

#include <stdlib.h>
#include <string.h>

#include "backends/contract/backend.h"
#include "bench/record/machine.h"
#include "bench/record/run.h"
#include "bench/report/table_format.h"
#include "bench/statistics/stats.h"
#include "bench/system/clock.h"
#include "bench/system/cpus.h"
#include "bench/system/memory.h"

#define MOST_RUNS 64
#define LEAST_RUNS 3
#define RUN_S 5e-3 /* an interrupt meets few of them */
#define SECONDS .25 /* for each row */
#define MIB (1024. * 1024)
#define CACHES 3
#define LAST_CACHE_MOST (32u << 20) /* others may use it, too */
#define MEMORY_LEAST (64u << 20)
#define MEMORY_MOST (1024u << 20)

DEFINE_ROWS(peak_rows, struct peak_row, PEAK_COLUMNS);

static double run(const struct peak *peak, const float *memory, size_t bytes,
		  long rounds, double *elapsed_s)
{
	const double began_s = clock_now();
	float result = .5f;
	const double work = peak->work(memory, bytes, rounds, &result);

	*elapsed_s = clock_now() - began_s;
	/* The result is used, so that the compiler keeps the loop. */
	return result == result ? work : 0;
}

struct peak_rate peak_measure(const struct peak *peak, const float *memory,
			      size_t bytes, double seconds)
{
	const double began_s = clock_now();
	double rates[MOST_RUNS], elapsed_s;
	struct stats stats;
	long rounds = 1;
	size_t count = 0;

	/* Caches and clock rate get used to it meanwhile. */
	for (;;) {
		run(peak, memory, bytes, rounds, &elapsed_s);
		if (elapsed_s >= RUN_S / 2)
			break;
		rounds *= 2;
	}
	while (count < MOST_RUNS &&
	       (count < LEAST_RUNS || clock_now() - began_s < seconds)) {
		const double work = run(peak, memory, bytes, rounds,
					&elapsed_s);

		rates[count++] = work / elapsed_s;
	}
	stats = stats_compute(rates, count);
	return (struct peak_rate){ stats.max, stats.median };
}

/* The memory levels to read from, and memory for the largest. */
struct levels {
	struct cache_level {
		char name[12];
		size_t bytes;
	} list[CACHES + 1];
	int count;
	float *memory;
};

static void add_level(struct levels *levels, const char *name, size_t bytes)
{
	struct cache_level *level = &levels->list[levels->count];

	level->bytes = bytes / PEAK_BLOCK * PEAK_BLOCK;
	if (!level->bytes)
		return;
	snprintf(level->name, sizeof(level->name), "%s", name);
	levels->count++;
}

static size_t least_of(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Half of each cache, where that is more than fits into the one before. */
static void choose_levels(struct levels *levels)
{
	size_t last = 0, most = memory_free_bytes() / 4;
	char name[12];

	for (int l = 1; l <= CACHES; l++) {
		const size_t bytes = cache_bytes(l);

		snprintf(name, sizeof(name), "L%d", l);
		if (bytes / 2 > last)
			add_level(levels, name,
				  l == CACHES ? least_of(bytes / 2,
							 LAST_CACHE_MOST) :
						bytes / 2);
		last = bytes > last ? bytes : last;
	}
	last = 4 * last > MEMORY_LEAST ? 4 * last : MEMORY_LEAST;
	add_level(levels, "memory",
		  least_of(least_of(last, MEMORY_MOST), most));
}

/* Untouched pages would all be the same one, of zeros. */
static int fill_memory(struct levels *levels, struct error *err)
{
	size_t most = PEAK_BLOCK;

	for (int l = 0; l < levels->count; l++)
		if (levels->list[l].bytes > most)
			most = levels->list[l].bytes;
	levels->memory = aligned_alloc(PEAK_BLOCK, most);
	if (!levels->memory)
		return error_memory(err, "what is read");
	for (size_t i = 0; i < most / sizeof(float); i++)
		levels->memory[i] = 1;
	return 0;
}

struct found {
	struct peak_row *rows;
	size_t count, room;
	struct peak_row start;
};

static int measure_one(struct found *found, const struct peak *peak,
		       const struct cache_level *level, const float *memory,
		       struct error *err)
{
	const struct peak_rate rate =
		peak_measure(peak, memory, level ? level->bytes : 0, SECONDS);
	struct peak_row row = found->start;
	void *rows = found->rows;

	if (array_make_room(&rows, found->count, &found->room, sizeof(row),
			    "the peaks", err))
		return -1;
	found->rows = rows;
	snprintf(row.name, sizeof(row.name), "%s", peak->name);
	snprintf(row.isa, sizeof(row.isa), "%s", peak->isa);
	if (level) {
		snprintf(row.level, sizeof(row.level), "%s", level->name);
		row.memory_bytes = (long)level->bytes;
	}
	snprintf(row.unit, sizeof(row.unit), level ? "GB/s" : "GFLOP/s");
	row.best = rate.best / 1e9;
	row.median = rate.median / 1e9;
	found->rows[found->count++] = row;
	return 0;
}

/* Measures the loops that read, from each level, or the loops that do not. */
static int measure_some(struct found *found, const struct levels *levels,
			int reads, struct error *err)
{
	const struct backend *backend = NULL;
	const struct peak *peak;

	while ((backend = backend_next(backend)))
		for (int p = 0; (peak = backend_peak(backend, p)); p++) {
			if (peak->reads != reads)
				continue;
			if (!reads && measure_one(found, peak, NULL, NULL, err))
				return -1;
			for (int l = 0; reads && l < levels->count; l++)
				if (measure_one(found, peak, &levels->list[l],
						levels->memory, err))
					return -1;
		}
	return 0;
}

/* Machine and build, the same in all rows. */
static void describe(struct peak_row *row)
{
	struct run run;

	row_clear(&run_rows, &run);
	machine_describe(&run);
	row_clear(&peak_rows, row);
	clock_stamp(row->started_utc, sizeof(row->started_utc));
	memcpy(row->host_key, run.host_key, sizeof(row->host_key));
	memcpy(row->cpu_model, run.cpu_model, sizeof(row->cpu_model));
	memcpy(row->version, run.version, sizeof(row->version));
	memcpy(row->git_commit, run.git_commit, sizeof(row->git_commit));
}

int peaks_measure(struct peak_row **rows, int *count, struct error *err)
{
	struct levels levels = { .count = 0 };
	struct found found = { NULL, 0, 0, { .schema = "" } };
	int failed;

	describe(&found.start);
	choose_levels(&levels);
	if (fill_memory(&levels, err))
		return -1;
	failed = measure_some(&found, &levels, 0, err) ||
				 measure_some(&found, &levels, 1, err) ?
			 -1 : 0;
	free(levels.memory);
	*rows = found.rows;
	*count = (int)found.count;
	return failed;
}

static void label_row(char *text, size_t size, const struct peak_row *row)
{
	const double mib = (double)row->memory_bytes / MIB;

	if (!row->level[0])
		snprintf(text, size, "%s, %s", row->name, row->isa);
	else if (mib < 1)
		snprintf(text, size, "%s %s, %.0f KiB", row->name, row->level,
			 mib * 1024);
	else
		snprintf(text, size, "%s %s, %.0f MiB", row->name, row->level,
			 mib);
}

int peaks_print(FILE *out, const struct peak_row *rows, int count,
		struct error *err)
{
	const struct table_options options = { .format = TABLE_PLAIN };
	static const char *const heads[] = { "best", "median", "unit" };
	struct grid grid;

	if (grid_make(&grid, heads, 3, count, err))
		return -1;
	snprintf(grid.title, sizeof(grid.title), "Peaks of one core");
	for (int r = 0; r < count; r++) {
		label_row(grid.labels[r], GRID_TEXT, &rows[r]);
		grid_set_number(&grid, r, 0, rows[r].best, 1);
		grid_set_number(&grid, r, 1, rows[r].median, 1);
		snprintf(grid_at(&grid, r, 2)->text, GRID_TEXT, "%s",
			 rows[r].unit);
	}
	grid_end(&grid, &options, out);
	return 0;
}
