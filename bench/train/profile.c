#include "bench/train/profile.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/statistics/stats.h"
#include "bench/system/clock.h"
#include "bench/system/memory.h"
#include "bench/train/peaks.h"

#define PEAK_S .1
#define COUNTED_EVERY 16 /* iterations: counting reads all gradients */

/* Intervals that the backend does not number. */
enum {
	WAIT = PROFILE_MOST_PARTS,
	REDUCE,
	OTHER,
	INTERVALS
};

/* One iteration. */
struct iteration {
	double total_s;
	double s[INTERVALS];
};

struct profile {
	struct profile_observer observer; /* first: it is the profile */
	struct program *program;
	const struct profile_subject *subject;
	double peak_flops; /* 0: not known */
	double last_s;
	struct iteration now;
	struct iteration *kept;
	size_t count, room;
	int samples;
	/* Sums over the iterations that were counted. */
	struct profile_part parts[PROFILE_MOST_PARTS];
	int part_count;
	long counted;
};

static void end_interval(struct profile *profile, int interval)
{
	const double now = clock_now();

	profile->now.s[interval] += now - profile->last_s;
	profile->last_s = now;
}

static void part_ended(struct profile_observer *observer, int part)
{
	end_interval((struct profile *)observer, part);
}

/* The device spent the time: subtracts it from the next interval. */
static void part_spent(struct profile_observer *observer, int part,
		       double elapsed_s)
{
	struct profile *profile = (struct profile *)observer;

	profile->now.s[part] += elapsed_s;
	profile->last_s += elapsed_s;
}

struct profile *profile_open(struct program *program,
			     const struct profile_subject *subject,
			     struct error *err)
{
	const struct peak *peak = backend_fp32_peak(program->device->backend);
	struct profile *profile = calloc(1, sizeof(*profile));

	if (!profile) {
		error_memory(err, "the profile");
		return NULL;
	}
	profile->observer.ended = part_ended;
	profile->observer.spent = part_spent;
	profile->program = program;
	profile->subject = subject;
	if (program_observe(program, &profile->observer, err)) {
		free(profile);
		return NULL;
	}
	if (peak)
		profile->peak_flops = peak_measure(peak, NULL, 0, PEAK_S).best;
	return profile;
}

void profile_close(struct profile *profile)
{
	if (!profile)
		return;
	profile->program->observer = NULL;
	free(profile->kept);
	free(profile);
}

void profile_begin(struct profile *profile)
{
	memset(&profile->now, 0, sizeof(profile->now));
	profile->last_s = clock_now();
}

void profile_end_other(struct profile *profile)
{
	end_interval(profile, OTHER);
}

void profile_end_phase(struct profile *profile, enum replica_phase phase)
{
	static const int intervals[REPLICA_PHASES] = {
		[REPLICA_COMPUTE] = OTHER,
		[REPLICA_WAIT] = WAIT,
		[REPLICA_REDUCE] = REDUCE,
		[REPLICA_UPDATE] = OTHER,
	};

	/* A single core waits for no other. */
	end_interval(profile, profile->subject->cores > 1 ? intervals[phase] :
							    OTHER);
}

static void add_part(struct profile_part *sum, const struct profile_part *part)
{
	sum->dense += part->dense;
	sum->done += part->done;
	sum->bytes += part->bytes;
	sum->nonzero += part->nonzero;
	sum->launches += part->launches;
}

static void count_work(struct profile *profile)
{
	struct profile_part parts[PROFILE_MOST_PARTS];
	const int count = program_profile(profile->program, parts);

	for (int p = 0; p < count; p++)
		if (profile->counted)
			add_part(&profile->parts[p], &parts[p]);
		else
			profile->parts[p] = parts[p];
	profile->part_count = count;
	profile->counted++;
}

int profile_keep(struct profile *profile, int samples, struct error *err)
{
	void *kept = profile->kept;

	end_interval(profile, OTHER);
	if (profile->count && samples != profile->samples)
		return 0;
	profile->samples = samples;
	if (array_make_room(&kept, profile->count, &profile->room,
			    sizeof(profile->now), "the profile", err))
		return -1;
	profile->kept = kept;
	for (int i = 0; i < INTERVALS; i++)
		profile->now.total_s += profile->now.s[i];
	if (profile->count % COUNTED_EVERY == 0)
		count_work(profile);
	profile->kept[profile->count++] = profile->now;
	return 0;
}

/* Rows that are made, and the iterations in the order of their length. */
struct build {
	const struct profile *profile;
	const struct iteration **order;
	double *values;
	struct profile_row *rows;
	int count;
};

static double interval_of(const struct iteration *iteration, int interval)
{
	return interval == INTERVALS ? iteration->total_s :
				       iteration->s[interval];
}

/* Means over the same iterations, so that they add up. */
static double mean_of(const struct build *build, int interval)
{
	const size_t count = build->profile->count;
	const size_t first = count / 4, last = count - count / 4;
	double sum = 0;

	for (size_t i = first; i < last; i++)
		sum += interval_of(build->order[i], interval);
	return sum / (double)(last - first);
}

static double median_of(const struct build *build, int interval)
{
	const size_t count = build->profile->count;

	for (size_t i = 0; i < count; i++)
		build->values[i] = interval_of(build->order[i], interval);
	return stats_compute(build->values, count).median;
}

static double rate(double amount, double elapsed_s)
{
	return amount > 0 && elapsed_s > 0 ? amount / elapsed_s / 1e9 :
					     CELL_NO_REAL;
}

/* Fills the columns that are equal in all rows. */
static void start_row(const struct profile *profile, struct profile_row *row)
{
	const struct profile_subject *subject = profile->subject;
	const struct program *program = profile->program;

	row_clear(&profile_rows, row);
	snprintf(row->run_id, sizeof(row->run_id), "%s", subject->run_id);
	snprintf(row->target, sizeof(row->target), "%s", subject->target);
	snprintf(row->model, sizeof(row->model), "%s", program->model->name);
	snprintf(row->algorithm, sizeof(row->algorithm), "%s",
		 algorithm_name(program->options.algorithm));
	snprintf(row->precision, sizeof(row->precision), "%s",
		 precision_name(program->options.precision));
	row->cores = subject->cores;
	row->core = subject->core;
	row->iterations = (long)profile->count;
	row->samples = profile->samples;
	if (profile->peak_flops > 0)
		row->peak_gflops = profile->peak_flops / 1e9;
}

/* part is the sum over the iterations that were counted. */
static void add_work(struct profile_row *row, const struct profile_part *part,
		     double counted)
{
	row->dense_flop = 2 * part->dense / counted;
	row->done_flop = 2 * part->done / counted;
	row->moved_bytes = part->bytes / counted;
	row->nonzero_pct = 100 * part->nonzero / counted;
	if (part->launches)
		row->launches = part->launches / counted;
	row->dense_gflops = rate(row->dense_flop, row->elapsed_s);
	row->done_gflops = rate(row->done_flop, row->elapsed_s);
	row->moved_gbs = rate(row->moved_bytes, row->elapsed_s);
	row->peak_pct = 100 * row->done_gflops / row->peak_gflops;
}

/* part: NULL if nothing is known of its work. */
static void add_row(struct build *build, const char *name, int interval,
		    const struct profile_part *part)
{
	const struct profile *profile = build->profile;
	struct profile_row *row = &build->rows[build->count++];

	start_row(profile, row);
	snprintf(row->part, sizeof(row->part), "%s", name);
	row->elapsed_s = mean_of(build, interval);
	row->share_pct = 100 * row->elapsed_s / mean_of(build, INTERVALS);
	row->median_s = median_of(build, interval);
	if (part)
		add_work(row, part, (double)profile->counted);
}

static void add_rows(struct build *build)
{
	const struct profile *profile = build->profile;
	struct profile_part all = { .nonzero = NAN };

	for (int p = 0; p < profile->part_count; p++) {
		const struct profile_part *part = &profile->parts[p];

		if (!part->name[0])
			continue;
		add_row(build, part->name, p, part);
		add_part(&all, part);
	}
	if (profile->subject->cores > 1) {
		add_row(build, "wait", WAIT, NULL);
		add_row(build, "reduce", REDUCE, NULL);
	}
	add_row(build, "other", OTHER, NULL);
	add_row(build, "iteration", INTERVALS, &all);
}

static int compare_totals(const void *a, const void *b)
{
	const double left = (*(const struct iteration *const *)a)->total_s;
	const double right = (*(const struct iteration *const *)b)->total_s;

	return (left > right) - (left < right);
}

int profile_build(const struct profile *profile,
		  struct profile_row rows[PROFILE_MOST_ROWS],
		  struct error *err)
{
	struct build build = { .profile = profile, .rows = rows };
	int failed = 0;

	if (!profile->count)
		return 0;
	build.order = malloc(profile->count * sizeof(*build.order));
	build.values = malloc(profile->count * sizeof(*build.values));
	if (!build.order || !build.values) {
		failed = error_memory(err, "the profile");
		goto out;
	}
	for (size_t i = 0; i < profile->count; i++)
		build.order[i] = &profile->kept[i];
	qsort(build.order, profile->count, sizeof(*build.order),
	      compare_totals);
	add_rows(&build);
out:
	free(build.order);
	free(build.values);
	return failed ? -1 : build.count;
}
