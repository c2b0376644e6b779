#include "bench/gate/floor.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/record/csv.h"
#include "bench/record/rank_test.h"
#include "bench/record/stats.h"
#include "bench/system/append.h"
#include "bench/system/file.h"
#include "models/random.h"

#define CHECKS 1000
#define CHECK_PAIRS 20

#define ROW struct floor
static const struct column columns[] = {
	FLOOR_COLUMNS(TEXT_COLUMN, INT_COLUMN, REAL_COLUMN)
};

const struct row_kind floor_rows = ROW_KIND("bench/1", columns);

const char *const floor_metrics[FLOOR_METRICS] = {
	[FLOOR_ITER] = "iter_p50_s",
	[FLOOR_SETUP] = "setup_s",
	[FLOOR_CPU] = "loop_cpu_s",
};

/* What iter_p50_s was called before. */
static void rename_metric(struct floor *floor)
{
	if (!strcmp(floor->metric, "s_iter"))
		snprintf(floor->metric, sizeof(floor->metric), "%s",
			 floor_metrics[FLOOR_ITER]);
}

int floors_read(struct floors *floors, const char *path, struct error *err)
{
	void *rows;

	*floors = (struct floors){ 0 };
	if (!path) {
		path = FLOOR_FILE;
		if (access(path, F_OK))
			return 0;
	}
	if (csv_read(path, &floor_rows, &rows, &floors->count, err))
		return -1;
	floors->rows = rows;
	for (size_t i = 0; i < floors->count; i++) {
		rename_metric(&floors->rows[i]);
		if (!(floors->rows[i].floor_pct >= 0)) {
			floors_release(floors);
			return error_set(err, ERROR_INPUT, "%s: row %zu has no "
					 "floor_pct of 0 or more", path, i + 1);
		}
	}
	return 0;
}

void floors_release(struct floors *floors)
{
	free(floors->rows);
	*floors = (struct floors){ 0 };
}

static int is_same_work(const struct floor *floor, const struct floor *other)
{
	return !strcmp(floor->target, other->target) &&
	       !strcmp(floor->model, other->model) &&
	       floor->global_batch == other->global_batch;
}

static int is_same_place(const struct floor *floor, const struct floor *other)
{
	return is_same_work(floor, other) &&
	       !strcmp(floor->host_key, other->host_key) &&
	       !strcmp(floor->device_name, other->device_name);
}

void floor_describe(struct floor *floor, const struct run *run)
{
	row_clear(&floor_rows, floor);
	floor->global_batch = run->global_batch;
#define COPY(member)                                                           \
	snprintf(floor->member, sizeof(floor->member), "%s", run->member)
	COPY(started_utc);
	COPY(campaign_id);
	COPY(host_key);
	COPY(device_name);
	COPY(target);
	COPY(model);
	COPY(dataset);
	COPY(cpu_model);
	COPY(version);
	COPY(git_commit);
#undef COPY
}

const struct floor *floors_find(const struct floors *floors,
				const struct run *run, const char *metric)
{
	const struct floor *found = NULL;
	struct floor wanted;

	floor_describe(&wanted, run);
	for (size_t i = 0; i < floors->count; i++)
		if (is_same_place(&floors->rows[i], &wanted) &&
		    !strcmp(floors->rows[i].metric, metric))
			found = &floors->rows[i];
	return found;
}

const struct floor *floors_find_elsewhere(const struct floors *floors,
					  const struct run *run)
{
	struct floor wanted;

	floor_describe(&wanted, run);
	for (size_t i = 0; i < floors->count; i++)
		if (is_same_work(&floors->rows[i], &wanted) &&
		    !is_same_place(&floors->rows[i], &wanted))
			return &floors->rows[i];
	return NULL;
}

struct replacement {
	struct floors old;
	const struct floor *rows;
	size_t count;
};

static int is_replaced(const struct floor *old,
		       const struct replacement *replacement)
{
	for (size_t i = 0; i < replacement->count; i++)
		if (is_same_place(old, &replacement->rows[i]) &&
		    !strcmp(old->metric, replacement->rows[i].metric))
			return 1;
	return 0;
}

static int print_rows(FILE *out, const void *context, struct error *err)
{
	const struct replacement *replacement = context;
	const struct floors *old = &replacement->old;

	(void)err;
	csv_write_header(out, &floor_rows);
	for (size_t i = 0; i < old->count; i++)
		if (!is_replaced(&old->rows[i], replacement))
			csv_write_row(out, &floor_rows, &old->rows[i]);
	for (size_t i = 0; i < replacement->count; i++)
		csv_write_row(out, &floor_rows, &replacement->rows[i]);
	return 0;
}

int floors_replace(const char *path, const struct floor *rows, size_t count,
		   struct error *err)
{
	struct replacement replacement = { .rows = rows, .count = count };
	struct append_guard guard;
	int failed;

	if (append_guard(&guard, path, err))
		return -1;
	failed = !access(path, F_OK) &&
		 floors_read(&replacement.old, path, err);
	if (!failed)
		failed = file_replace_with(path, print_rows, &replacement, err);
	append_guard_release(&guard);
	floors_release(&replacement.old);
	return failed ? -1 : 0;
}

size_t floor_check_pairs(size_t count)
{
	return count < CHECK_PAIRS ? count : CHECK_PAIRS;
}

static void draw_check(double *drawn, size_t pairs, const double *logs,
		       size_t count, struct mt19937 *generator)
{
	const size_t start = mt19937_next(generator) % count;

	for (size_t i = 0; i < pairs; i++) {
		const double log = logs[(start + i) % count];

		drawn[i] = mt19937_next(generator) & 1 ? -log : log;
	}
}

int floor_estimate(double *ratio, const double *logs, size_t count,
		   uint32_t seed, struct error *err)
{
	const size_t pairs = floor_check_pairs(count);
	double drawn[CHECK_PAIRS], distances[CHECKS];
	struct mt19937 generator;

	mt19937_seed(&generator, seed);
	for (int i = 0; i < CHECKS; i++) {
		struct rank_test test;

		draw_check(drawn, pairs, logs, count, &generator);
		if (signed_rank_make(&test, drawn, pairs, err))
			return -1;
		distances[i] = fabs(rank_test_estimate(&test));
		rank_test_release(&test);
	}
	stats_compute(distances, CHECKS); /* sorts them */
	*ratio = exp(stats_quantile(distances, CHECKS, .95));
	return 0;
}
