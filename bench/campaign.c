#include "bench/campaign.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "bench/csv.h"
#include "bench/file.h"
#include "bench/summary.h"
#include "bench/table.h"

enum { PATH_SIZE = sizeof(((struct campaign *)0)->dir) + 24, MOST_TRIES = 100 };

/* Room for one more row of size bytes. */
static int make_room(void **rows, size_t count, size_t *room, size_t size,
		     struct error *err)
{
	size_t more = *room ? 2 * *room : 64;
	void *grown;

	if (count < *room)
		return 0;
	grown = realloc(*rows, more * size);
	if (!grown)
		return error_memory(err, "the rows of a campaign");
	*rows = grown;
	*room = more;
	return 0;
}

static int keep_core_row(struct campaign *campaign,
			 const struct observation *observation,
			 struct error *err)
{
	void *rows = campaign->core_rows;

	if (!campaign->with_cores || observation->iter != CELL_NO_INT)
		return 0;
	if (make_room(&rows, campaign->core_row_count,
		      &campaign->core_row_room, sizeof(*observation), err))
		return -1;
	campaign->core_rows = rows;
	campaign->core_rows[campaign->core_row_count++] = *observation;
	return 0;
}

static int keep_observation(struct campaign *campaign,
			    const struct observation *observation,
			    struct error *err)
{
	void *rows = campaign->observations;

	if (observation->core != CELL_NO_INT)
		return keep_core_row(campaign, observation, err);
	if (make_room(&rows, campaign->observation_count,
		      &campaign->observation_room, sizeof(*observation), err))
		return -1;
	campaign->observations = rows;
	campaign->observations[campaign->observation_count++] = *observation;
	return 0;
}

static int add_observation(const void *row, void *context, struct error *err)
{
	const struct observation *observation = row;

	if (observation->elapsed_s < 0)
		return error_set(err, ERROR_INPUT, "elapsed_s: expected a time "
				 "of 0 or more, found %g",
				 observation->elapsed_s);
	return keep_observation(context, observation, err);
}

static int add_run(const void *row, void *context, struct error *err)
{
	struct campaign *campaign = context;
	const struct run *run = row;
	void *rows = campaign->runs;

	if (make_room(&rows, campaign->run_count, &campaign->run_room,
		      sizeof(*run), err))
		return -1;
	campaign->runs = rows;
	campaign->runs[campaign->run_count++] = *run;
	return 0;
}

/* Two processes of one name would be taken for one: the same rows twice. */
static int check_names(const struct campaign *campaign, size_t old_observations,
		       size_t old_runs, const char *path, struct error *err)
{
	const struct observation *rows = campaign->observations;
	const char *name = "", *twice = NULL;
	size_t i, old;

	for (i = old_runs; i < campaign->run_count; i++)
		for (old = 0; old < i; old++)
			if (strcmp(campaign->runs[i].run_id,
				   campaign->runs[old].run_id) == 0)
				twice = campaign->runs[i].run_id;
	for (i = old_observations; i < campaign->observation_count; i++) {
		if (strcmp(rows[i].run_id, name) == 0)
			continue;
		name = rows[i].run_id;
		for (old = 0; old < old_observations; old++)
			if (strcmp(rows[old].run_id, name) == 0)
				twice = name;
	}
	if (!twice)
		return 0;
	return error_set(err, ERROR_INPUT, "%s: run %s was read before: give "
			 "each folder and file once", path, twice);
}

static void folder_path(char path[PATH_SIZE], const char *dir, const char *name)
{
	snprintf(path, PATH_SIZE, "%s/%s", dir, name);
}

/* Both files of a folder; either may be missing. */
static int load_folder(struct campaign *campaign, const char *dir,
		       size_t *rows, struct error *err)
{
	const struct csv_sink observations = { &observation_rows,
					       add_observation, campaign };
	const struct csv_sink runs = { &run_rows, add_run, campaign };
	char path[PATH_SIZE];
	struct stat status;
	size_t read;
	int i;

	*rows = 0;
	for (i = 0; i < 2; i++) {
		folder_path(path, dir, i ? "runs.csv" : "observations.csv");
		if (stat(path, &status) && errno == ENOENT)
			continue;
		if (csv_scan(path, i ? &runs : &observations, 1, &read, err))
			return -1;
		*rows += read;
	}
	return 0;
}

static int load_path(struct campaign *campaign, const char *path,
		     struct error *err)
{
	const struct csv_sink sinks[] = {
		{ &observation_rows, add_observation, campaign },
		{ &run_rows, add_run, campaign },
	};
	size_t observations = campaign->observation_count;
	size_t runs = campaign->run_count, rows;
	struct stat status;
	int rc, is_folder;

	is_folder = stat(path, &status) == 0 && S_ISDIR(status.st_mode);
	if (is_folder && strlen(path) >= sizeof(campaign->dir))
		return error_set(err, ERROR_USAGE, "this name is too long: %s",
				 path);
	rc = is_folder ? load_folder(campaign, path, &rows, err) :
			 csv_scan(path, sinks, 2, &rows, err);
	if (rc)
		return -1;
	if (rows == 0)
		return error_set(err, ERROR_INPUT, "%s: no rows%s", path,
				 is_folder ? ": expected observations.csv and "
				 "runs.csv of a bench run in it" : "");
	return check_names(campaign, observations, runs, path, err);
}

int campaign_load(struct campaign *campaign, const char *const *paths,
		  int count, int with_cores, struct error *err)
{
	int i;

	*campaign = (struct campaign){ .with_cores = with_cores };
	for (i = 0; i < count; i++)
		if (load_path(campaign, paths[i], err))
			return -1;
	return 0;
}

/* <stamp>-<label>, with only such characters as need no quoting. */
static void make_id(struct campaign *campaign,
		    const struct campaign_request *request, int try)
{
	const char *from;
	char *to = campaign->id;
	/* Of 48 bytes some are kept for "-2", the second of that name. */
	char *end = to + sizeof(campaign->id) - 12;

	for (from = request->started_utc; *from && to < end; from++)
		if (*from != '-' && *from != ':')
			*to++ = *from;
	if (campaign->label[0] && to < end)
		*to++ = '-';
	for (from = campaign->label; *from && to < end; from++) {
		if ((*from >= '0' && *from <= '9') || *from == '.' ||
		    (*from >= 'a' && *from <= 'z') || *from == '_' ||
		    (*from >= 'A' && *from <= 'Z'))
			*to++ = *from;
		else if (to > campaign->id && to[-1] != '-')
			*to++ = '-';
	}
	while (to > campaign->id && to[-1] == '-')
		to--;
	*to = '\0';
	if (try > 1)
		snprintf(to, 12, "-%d", try);
}

/* A folder that was not there before, so that two campaigns of one second do
 * not meet. */
static int make_own_folder(struct campaign *campaign,
			   const struct campaign_request *request,
			   struct error *err)
{
	int try;

	if (file_make_folder("results", err))
		return -1;
	for (try = 1; try < MOST_TRIES; try++) {
		make_id(campaign, request, try);
		snprintf(campaign->dir, sizeof(campaign->dir), "results/%s",
			 campaign->id);
		if (mkdir(campaign->dir, 0777) == 0)
			return 0;
		if (errno != EEXIST)
			break;
	}
	return error_set(err, ERROR_OUTPUT, "cannot make the folder %s: %s",
			 campaign->dir, strerror(errno));
}

static int has_id(const struct campaign *campaign)
{
	size_t i;

	for (i = 0; i < campaign->run_count; i++)
		if (strcmp(campaign->runs[i].campaign_id, campaign->id) == 0)
			return 1;
	return 0;
}

static int use_folder(struct campaign *campaign,
		      const struct campaign_request *request, struct error *err)
{
	size_t rows;
	int try = 1;

	if (strlen(request->dir) >= sizeof(campaign->dir))
		return error_set(err, ERROR_USAGE, "--out: this name is too "
				 "long: %s", request->dir);
	snprintf(campaign->dir, sizeof(campaign->dir), "%s", request->dir);
	if (file_make_folder(campaign->dir, err) ||
	    load_folder(campaign, campaign->dir, &rows, err))
		return -1;
	do
		make_id(campaign, request, try++);
	while (has_id(campaign) && try < MOST_TRIES);
	return 0;
}

/* Rows as they go into the file, and the header for an empty one. */
static int save_rows(const struct campaign *campaign, const char *name,
		     const struct row_kind *kind, const void *rows,
		     size_t count, struct error *err)
{
	char path[PATH_SIZE], *text[2] = { NULL, NULL };
	size_t size[2] = { 0, 0 }, i;
	FILE *memory;
	int part, rc = -1;

	for (part = 0; part < 2; part++) {
		memory = open_memstream(&text[part], &size[part]);
		if (!memory)
			goto no_memory;
		if (part == 0)
			csv_write_header(memory, kind);
		for (i = 0; part == 1 && i < count; i++)
			csv_write_row(memory, kind, (const char *)rows +
						    i * kind->row_size);
		if (fclose(memory))
			goto no_memory;
	}
	folder_path(path, campaign->dir, name);
	rc = file_append(path, text[0], text[1], size[1], err);
	goto out;
no_memory:
	error_memory(err, name);
out:
	free(text[0]);
	free(text[1]);
	return rc;
}

int campaign_create(struct campaign *campaign,
		    const struct campaign_request *request, struct error *err)
{
	*campaign = (struct campaign){ 0 };
	snprintf(campaign->label, sizeof(campaign->label), "%s",
		 request->label ? request->label : "");
	if (request->dir ? use_folder(campaign, request, err) :
			   make_own_folder(campaign, request, err))
		return -1;
	if (save_rows(campaign, "observations.csv", &observation_rows, NULL, 0,
		      err))
		return -1;
	return save_rows(campaign, "runs.csv", &run_rows, NULL, 0, err);
}

int campaign_append(struct campaign *campaign,
		    const struct observation *observations, size_t count,
		    const struct run *run, struct error *err)
{
	struct error other;
	struct run own;
	size_t i;
	int rc = 0;

	for (i = 0; i < count; i++)
		if (keep_observation(campaign, &observations[i], err))
			return -1;
	if (run) {
		own = *run;
		if (!own.campaign_id[0])
			memcpy(own.campaign_id, campaign->id,
			       sizeof(own.campaign_id));
		if (!own.label[0])
			memcpy(own.label, campaign->label, sizeof(own.label));
		if (add_run(&own, campaign, err))
			return -1;
	}
	if (count)
		rc = save_rows(campaign, "observations.csv", &observation_rows,
			       observations, count, err);
	if (run && save_rows(campaign, "runs.csv", &run_rows, &own, 1,
			     rc ? &other : err))
		rc = -1;
	return rc;
}

struct report {
	const struct campaign *campaign;
	int include_warmup;
};

static int print_summary(FILE *out, const void *context, struct error *err)
{
	const struct report *report = context;

	return summary_write(report->campaign, report->include_warmup, out,
			     err);
}

static int print_tables(FILE *out, const void *context, struct error *err)
{
	const struct report *report = context;
	const struct table_options options = {
		.format = TABLE_GITHUB,
		.include_warmup = report->include_warmup,
		.utf8 = 1,
	};

	return table_print(report->campaign, &options, out, err);
}

int campaign_finish(const struct campaign *campaign, int include_warmup,
		    struct error *err)
{
	const struct report report = { campaign, include_warmup };
	char path[PATH_SIZE];
	struct error other;
	int rc;

	folder_path(path, campaign->dir, "summary.csv");
	rc = file_replace_with(path, print_summary, &report, err);
	folder_path(path, campaign->dir, "tables.md");
	if (file_replace_with(path, print_tables, &report, rc ? &other : err))
		rc = -1;
	return rc;
}

void campaign_release(struct campaign *campaign)
{
	free(campaign->observations);
	free(campaign->core_rows);
	free(campaign->runs);
	*campaign = (struct campaign){ 0 };
}
