#include "bench/record/campaign.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench/record/csv.h"
#include "bench/record/summary.h"
#include "bench/system/append.h"
#include "bench/system/file.h"
#include "bench/system/memory.h"
#include "bench/system/text.h"

#define OTHER_PLACE "; --out DIR names another place"

enum { MOST_TRIES = 100 };

/* The files of a folder that have its numbers. */
static const char *const halves[] = { "observations.csv", "runs.csv" };

static int add_observation(const void *row, void *context, struct error *err)
{
	const struct observation *observation = row;

	if (observation->elapsed_s < 0)
		return error_set(err, ERROR_INPUT, "elapsed_s: expected a time "
				 "of 0 or more, found %g",
				 observation->elapsed_s);
	return campaign_keep(context, observation, err);
}

static int add_run(const void *row, void *context, struct error *err)
{
	return campaign_keep_run(context, row, err);
}

/* Reads one file; a torn line is a note in log. */
static int load_file(const char *path, const struct csv_sink *sinks, int count,
		     size_t *rows, FILE *log, struct error *err)
{
	struct csv_found found;

	if (csv_scan(path, sinks, count, &found, err))
		return -1;
	*rows += found.rows;
	if (found.torn_line && log)
		fprintf(log, "note: %s:%ld: the last line is incomplete, as "
			"after a process was killed: skipped\n", path,
			found.torn_line);
	return 0;
}

/* Runs from this one on that have no observation, though they ended well. */
static void note_without(const struct campaign *campaign, size_t first,
			 const char *path, FILE *log)
{
	size_t count = 0;

	for (size_t i = first; i < campaign->run_count; i++)
		count += strcmp(campaign->runs[i].status, "ok") == 0;
	if (count && log)
		fprintf(log, "note: %s has no rows of the %zu run%s that "
			"runs.csv has: their times are not known\n", path,
			count, count == 1 ? "" : "s");
}

/* The files of a folder; each may be missing. */
static int load_folder(struct campaign *campaign, const char *dir,
		       size_t *rows, FILE *log, struct error *err)
{
	const struct csv_sink rows_of = { &observation_rows, add_observation,
					  campaign };
	const struct {
		const char *name;
		struct csv_sink sink;
	} files[] = {
		{ campaign_files[CAMPAIGN_MEASURED], rows_of },
		{ campaign_files[CAMPAIGN_MODELLED], rows_of },
		{ "runs.csv", { &run_rows, add_run, campaign } },
	};
	const size_t runs = campaign->run_count;
	size_t measured = campaign->observation_count;
	char path[CAMPAIGN_PATH_SIZE];
	struct stat status;
	char header[CSV_HEADER_SIZE];
	int i;

	for (i = 0; i < (int)(sizeof(files) / sizeof(files[0])); i++) {
		campaign_path(path, dir, files[i].name);
		if (stat(path, &status) && errno == ENOENT)
			continue;
		csv_print_header(header, files[i].sink.kind);
		if (!append_is_begun(path, header) &&
		    load_file(path, &files[i].sink, 1, rows, log, err))
			return -1;
	}
	for (; measured < campaign->observation_count; measured++)
		if (!observation_is_modelled(
			    &campaign->observations[measured]))
			return 0;
	campaign_path(path, dir, campaign_files[CAMPAIGN_MEASURED]);
	if (stat(path, &status) == 0)
		note_without(campaign, runs, path, log);
	return 0;
}

static int refuse_summary(const void *row, void *context, struct error *err)
{
	(void)row, (void)context;
	return error_set(err, ERROR_INPUT, "this is a summary, but tables are "
			 "made from rows: name its folder, or observations.csv "
			 "and runs.csv");
}

static int has_rows(const char *folder, const char *name)
{
	char path[PATH_MAX];
	int found = 0;

	for (int half = 0; half < 2; half++)
		if (snprintf(path, sizeof(path), "%s/%s/%s", folder, name,
			     halves[half]) < PATH_MAX)
			found |= !access(path, R_OK);
	return found;
}

static int no_rows(const char *folder, struct error *err)
{
	const struct dirent *entry;
	char meant[NAME_MAX + 1] = "";
	DIR *dir = opendir(folder);

	/* The last by name, because names begin with the time. */
	while (dir && (entry = readdir(dir)))
		if (entry->d_name[0] != '.' &&
		    strcmp(entry->d_name, meant) > 0 &&
		    has_rows(folder, entry->d_name))
			snprintf(meant, sizeof(meant), "%s", entry->d_name);
	if (dir)
		closedir(dir);
	if (!meant[0])
		return error_set(err, ERROR_INPUT, "%s: no rows: expected "
				 "observations.csv and runs.csv of a bench run "
				 "in it", folder);
	return error_set(err, ERROR_INPUT, "%.400s: no rows: expected "
			 "observations.csv and runs.csv of a bench run in it; "
			 "choose a folder in it, such as %.400s/%s",
			 folder, folder, meant);
}

static int refuse_again(const char *path, const char *run_id, struct error *err)
{
	return error_set(err, ERROR_INPUT, "%s: run %s was read before: give "
			 "each folder and file once", path, run_id);
}

/* Adds a run_id of a file to names. A number below first means that an earlier
 * file has the run_id. Two processes of one name would be taken for one, or
 * rows counted twice. */
static int add_name(struct names *names, int first, const char *run_id,
		    const char *path, struct error *err)
{
	const int number = names_number(names, run_id, err);

	if (number < 0)
		return -1;
	return number < first ? refuse_again(path, run_id, err) : 0;
}

/* Each file has its own. */
struct read_before {
	struct names runs, observations[CAMPAIGN_FILES];
};

/* Adds the run_ids of rows that were read from path, from these indices on. A
 * run has one row in runs.csv; its observations of a clock are in one file. */
static int read_add(struct read_before *names, const struct campaign *campaign,
		    size_t first_observation, size_t first_run,
		    const char *path, struct error *err)
{
	const char *last[CAMPAIGN_FILES] = { NULL };
	int first[CAMPAIGN_FILES];
	size_t i;

	for (i = first_run; i < campaign->run_count; i++)
		if (add_name(&names->runs, names->runs.count,
			     campaign->runs[i].run_id, path, err))
			return -1;
	for (int file = 0; file < CAMPAIGN_FILES; file++)
		first[file] = names->observations[file].count;
	for (i = first_observation; i < campaign->observation_count; i++) {
		const struct observation *row = &campaign->observations[i];
		const int file = campaign_file_of(row);

		if ((!last[file] || strcmp(row->run_id, last[file])) &&
		    add_name(&names->observations[file], first[file],
			     row->run_id, path, err))
			return -1;
		last[file] = row->run_id;
	}
	return 0;
}

static void read_free(struct read_before *names)
{
	names_free(&names->runs);
	for (int file = 0; file < CAMPAIGN_FILES; file++)
		names_free(&names->observations[file]);
}

static int load_path(struct campaign *campaign, const char *path,
		     struct read_before *names, FILE *log, struct error *err)
{
	const struct csv_sink sinks[] = {
		{ &observation_rows, add_observation, campaign },
		{ &run_rows, add_run, campaign },
		{ &summary_rows, refuse_summary, NULL },
	};
	size_t observations = campaign->observation_count;
	size_t runs = campaign->run_count, rows = 0;
	struct stat status;
	int rc, is_folder;

	is_folder = stat(path, &status) == 0 && S_ISDIR(status.st_mode);
	if (is_folder && strlen(path) >= sizeof(campaign->dir))
		return error_set(err, ERROR_USAGE, "this name is too long: %s",
				 path);
	rc = is_folder ? load_folder(campaign, path, &rows, log, err) :
			 load_file(path, sinks, 3, &rows, log, err);
	if (rc)
		return -1;
	if (rows == 0)
		return is_folder ? no_rows(path, err) :
				   error_set(err, ERROR_INPUT, "%s: no rows",
					     path);
	return read_add(names, campaign, observations, runs, path, err);
}

int campaign_load(struct campaign *campaign, const char *const *paths,
		  int count, int with_cores, FILE *log, struct error *err)
{
	struct read_before names = { 0 };
	int i, failed = 0;

	*campaign = (struct campaign){ .with_cores = with_cores };
	for (i = 0; i < count && !failed; i++)
		failed = load_path(campaign, paths[i], &names, log, err);
	read_free(&names);
	return failed;
}

void campaign_folder_of(const char *path, char folder[PATH_MAX])
{
	const char *slash = strrchr(path, '/');
	const int length = slash ? (int)(slash - path) + 1 : 0;

	snprintf(folder, PATH_MAX, "%.*s", length ? length : 1,
		 length ? path : ".");
}

const char *campaign_other_half(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	char other[PATH_MAX];

	for (int half = 0; half < 2; half++)
		if (!strcmp(name, halves[half]) &&
		    snprintf(other, sizeof(other), "%.*s%s",
			     (int)(name - path), path,
			     halves[!half]) < PATH_MAX && !access(other, R_OK))
			return halves[!half];
	return NULL;
}

/* Makes <stamp>-<label> of characters that need no quoting. */
static void make_name(struct campaign *campaign,
		      const struct campaign_request *request)
{
	const char *from;
	char *to = campaign->id;
	/* Some bytes are kept for what make_id() adds, and for the number of
	 * each run. */
	char *end = to + sizeof(campaign->id) - 16;

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
}

/* Adds a unique number to the name: campaigns of one second on several hosts
 * may be shown together, or become one. */
static void make_id(struct campaign *campaign,
		    const struct campaign_request *request)
{
	make_name(campaign, request);
	text_append(campaign->id, sizeof(campaign->id), "-%08x", file_unique());
}

void campaign_name_run(struct campaign *campaign, char run_id[CAMPAIGN_RUN_ID])
{
	snprintf(run_id, CAMPAIGN_RUN_ID, "%.42s-%03zu", campaign->id,
		 campaign->earlier_runs + ++campaign->named_runs);
}

/* A folder that was not there before, so that two campaigns of one second do
 * not meet. */
static int make_own_folder(struct campaign *campaign,
			   const struct campaign_request *request,
			   struct error *err)
{
	int try;

	if (file_make_folder("results", err)) {
		text_append(err->message, sizeof(err->message), OTHER_PLACE);
		return -1;
	}
	make_name(campaign, request);
	for (try = 1; try < MOST_TRIES; try++) {
		snprintf(campaign->dir, sizeof(campaign->dir), "results/%s",
			 campaign->id);
		if (try > 1)
			text_append(campaign->dir, sizeof(campaign->dir), "-%d",
				    try);
		if (mkdir(campaign->dir, 0777) == 0) {
			make_id(campaign, request);
			return 0;
		}
		if (errno != EEXIST)
			break;
	}
	return error_set(err, ERROR_OUTPUT, "cannot make the folder %s: %s"
			 OTHER_PLACE, campaign->dir, strerror(errno));
}

/* The runs of the campaign id, or all for NULL. */
static int name_runs(struct names *names, const struct campaign *campaign,
		     const char *id, struct error *err)
{
	size_t i;

	for (i = 0; i < campaign->run_count; i++)
		if ((!id || !strcmp(campaign->runs[i].campaign_id, id)) &&
		    names_number(names, campaign->runs[i].run_id, err) < 0)
			return -1;
	return 0;
}

/* Keeps the runs in names with their rows, or all others. */
static void keep_runs(struct campaign *campaign, const struct names *names,
		      int those)
{
	struct observation *rows = campaign->observations;
	struct run *runs = campaign->runs;
	size_t i, kept = 0;

	for (i = 0; i < campaign->observation_count; i++)
		if ((names_find(names, rows[i].run_id) >= 0) == those)
			rows[kept++] = rows[i];
	campaign->observation_count = kept;
	kept = 0;
	for (i = 0; i < campaign->run_count; i++)
		if ((names_find(names, runs[i].run_id) >= 0) == those)
			runs[kept++] = runs[i];
	campaign->run_count = kept;
}

static int add_all(struct campaign *folder, const struct campaign *own,
		   const struct names *names, struct error *err)
{
	size_t i;

	for (i = 0; i < own->run_count; i++)
		if (names_find(names, own->runs[i].run_id) >= 0 &&
		    campaign_keep_run(folder, &own->runs[i], err))
			return -1;
	for (i = 0; i < own->observation_count; i++)
		if (names_find(names, own->observations[i].run_id) >= 0 &&
		    campaign_keep(folder, &own->observations[i], err))
			return -1;
	return 0;
}

/* Replaces the runs that own made in folder, which was read from files, by
 * own's. */
static int merge_rows(struct campaign *folder, const struct campaign *own,
		      struct error *err)
{
	struct names names = { 0 };
	int failed = name_runs(&names, own, own->id, err);

	if (!failed) {
		keep_runs(folder, &names, 0);
		failed = add_all(folder, own, &names, err);
	}
	names_free(&names);
	return failed;
}

/* Takes away the rows of processes that have no row about themselves yet. */
static int drop_unfinished(struct campaign *campaign, struct error *err)
{
	struct names names = { 0 };
	const int failed = name_runs(&names, campaign, NULL, err);

	if (!failed)
		keep_runs(campaign, &names, 1);
	names_free(&names);
	return failed;
}

/* Shows other processes that this campaign is running. */
static void share_folder(struct campaign *campaign)
{
	campaign->in_use = append_share(campaign->dir) + 1;
}

void campaign_leave(struct campaign *campaign)
{
	if (campaign->in_use)
		close(campaign->in_use - 1);
	campaign->in_use = 0;
}

/* Returns 1 if a process that left rows without a run was surely killed. Rows
 * of a process that may still run are left alone. */
static int is_alone(const struct campaign *campaign)
{
	return campaign->in_use && append_is_alone(campaign->in_use - 1) > 0;
}

static int use_folder(struct campaign *campaign,
		      const struct campaign_request *request, struct error *err)
{
	size_t rows = 0;

	if (strlen(request->dir) >= sizeof(campaign->dir))
		return error_set(err, ERROR_USAGE, "--out: this name is too "
				 "long: %s", request->dir);
	snprintf(campaign->dir, sizeof(campaign->dir), "%s", request->dir);
	/* A torn line is taken away, and noted, when the rest is known to
	 * be of use. */
	if (file_make_folder(campaign->dir, err))
		return -1;
	share_folder(campaign);
	if (load_folder(campaign, campaign->dir, &rows, NULL, err) ||
	    (!is_alone(campaign) && drop_unfinished(campaign, err)))
		return -1;
	campaign->earlier_runs = campaign->run_count;
	campaign->earlier_observations = campaign->observation_count;
	make_id(campaign, request);
	return 0;
}

struct campaign campaign_own(const struct campaign *campaign)
{
	struct campaign own = *campaign;

	/* Without any row there may be no array. */
	if (own.earlier_runs)
		own.runs += own.earlier_runs;
	if (own.earlier_observations)
		own.observations += own.earlier_observations;
	own.run_count -= own.earlier_runs;
	own.observation_count -= own.earlier_observations;
	return own;
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
	if (!campaign->in_use)
		share_folder(campaign);
	return campaign_begin_files(campaign, err);
}

int campaign_gather(struct campaign *all, const struct campaign *campaign,
		    struct error *err)
{
	size_t rows = 0;

	*all = (struct campaign){ 0 };
	memcpy(all->dir, campaign->dir, sizeof(all->dir));
	return load_folder(all, campaign->dir, &rows, NULL, err) ||
	       merge_rows(all, campaign, err) ||
	       (!is_alone(campaign) && drop_unfinished(all, err)) ?
		       -1 : 0;
}

void campaign_release(struct campaign *campaign)
{
	campaign_drop_unsaved(campaign);
	campaign_leave(campaign);
	free(campaign->observations);
	free(campaign->core_rows);
	free(campaign->runs);
	*campaign = (struct campaign){ 0 };
}
