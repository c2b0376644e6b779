/* The rows of a campaign, in memory and in the files of its folder. */
#include "bench/record/campaign.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/record/csv.h"
#include "bench/system/append.h"
#include "bench/system/memory.h"
#include "bench/system/text.h"

const char *const campaign_files[CAMPAIGN_FILES] = {
	[CAMPAIGN_MEASURED] = "observations.csv",
	[CAMPAIGN_MODELLED] = "modelled.csv",
};

enum campaign_file campaign_file_of(const struct observation *row)
{
	return observation_is_modelled(row) ? CAMPAIGN_MODELLED :
					      CAMPAIGN_MEASURED;
}

static const char runs_name[] = "runs.csv";
static const char rows_kept[] = "the rows of a campaign";
static const char rows_of_a_run[] = "the rows of a run";

void campaign_path(char path[CAMPAIGN_PATH_SIZE], const char *dir,
		   const char *name)
{
	snprintf(path, CAMPAIGN_PATH_SIZE, "%s/%s", dir, name);
}

static int keep_row(struct observation **rows, size_t *count, size_t *room,
		    const struct observation *row, struct error *err)
{
	void *items = *rows;

	if (array_make_room(&items, *count, room, sizeof(*row), rows_kept, err))
		return -1;
	*rows = items;
	(*rows)[(*count)++] = *row;
	return 0;
}

int campaign_keep(struct campaign *campaign, const struct observation *row,
		  struct error *err)
{
	if (row->core == CELL_NO_INT)
		return keep_row(&campaign->observations,
				&campaign->observation_count,
				&campaign->observation_room, row, err);
	if (!campaign->with_cores || row->iter != CELL_NO_INT)
		return 0;
	return keep_row(&campaign->core_rows, &campaign->core_row_count,
			&campaign->core_row_room, row, err);
}

int campaign_keep_run(struct campaign *campaign, const struct run *run,
		      struct error *err)
{
	void *rows = campaign->runs;

	if (array_make_room(&rows, campaign->run_count, &campaign->run_room,
			    sizeof(*run), rows_kept, err))
		return -1;
	campaign->runs = rows;
	campaign->runs[campaign->run_count++] = *run;
	return 0;
}

static void notice_cut(struct campaign *campaign, const char *path,
		       const struct append_note *note)
{
	if (note->cut)
		text_append(campaign->notice, sizeof(campaign->notice),
			    "%s%s: the last line was incomplete, its %zu bytes "
			    "were removed; the process that wrote it was "
			    "killed",
			    campaign->notice[0] ? "; " : "", path, note->cut);
}

static int append(struct campaign *campaign, const char *name,
		  const struct row_kind *kind, const char *rows, size_t size,
		  int wait, struct append_note *note, struct error *err)
{
	char path[CAMPAIGN_PATH_SIZE], header[CSV_HEADER_SIZE];
	int failed;

	campaign_path(path, campaign->dir, name);
	csv_print_header(header, kind);
	failed = append_rows(path, header, rows, size, wait, note, err);
	notice_cut(campaign, path, note);
	return failed;
}

int campaign_begin_files(struct campaign *campaign, struct error *err)
{
	struct append_note note;
	int file;

	for (file = 0; file < CAMPAIGN_FILES; file++)
		if (append(campaign, campaign_files[file], &observation_rows,
			   "", 0, 1, &note, err))
			return -1;
	if (append(campaign, runs_name, &run_rows, "", 0, 1, &note, err))
		return -1;
	if (note.unlocked)
		text_append(campaign->notice, sizeof(campaign->notice),
			    "%sthe file system of %s has no locks: let no "
			    "other process add rows there meanwhile",
			    campaign->notice[0] ? "; " : "", campaign->dir);
	return 0;
}

/* The text of the rows that wait starts with these bytes. */
static int begin_unsaved(struct memory_text **unsaved, const char *text,
			 size_t size, struct error *err)
{
	*unsaved = memory_open(rows_of_a_run, err);
	if (!*unsaved)
		return -1;
	fwrite(text, 1, size, (*unsaved)->out);
	return 0;
}

int campaign_add(struct campaign *campaign, const struct observation *row,
		 struct error *err)
{
	struct memory_text **unsaved =
		&campaign->unsaved[campaign_file_of(row)];

	if (campaign_keep(campaign, row, err))
		return -1;
	if (!*unsaved && begin_unsaved(unsaved, "", 0, err))
		return -1;
	csv_write_row((*unsaved)->out, &observation_rows, row);
	return 0;
}

int campaign_has_unsaved(const struct campaign *campaign)
{
	int file = 0;

	while (file < CAMPAIGN_FILES && !campaign->unsaved[file])
		file++;
	return file < CAMPAIGN_FILES;
}

static int save_file(struct campaign *campaign, int file, int wait,
		     struct error *err)
{
	struct memory_text **unsaved = &campaign->unsaved[file];
	struct append_note note = { 0 };
	struct error other;
	char *text;
	size_t size;
	int failed;

	if (!*unsaved)
		return 0;
	failed = memory_close(*unsaved, &text, &size, rows_of_a_run, err);
	*unsaved = NULL;
	campaign->forgot |= failed != 0;
	if (!failed)
		failed = append(campaign, campaign_files[file],
				&observation_rows, text, size, wait, &note,
				err);
	/* The rows wait for the next call, unless they would be written
	 * twice. */
	if (failed && text && !note.stuck &&
	    begin_unsaved(unsaved, text, size, &other))
		campaign->forgot = 1;
	campaign->lost |= note.stuck;
	free(text);
	return failed && (wait || !note.busy) ? -1 : 0;
}

/* Saves both files, even if one of them fails. */
static int save(struct campaign *campaign, int wait, struct error *err)
{
	struct error other;
	int file, failed = 0;

	for (file = 0; file < CAMPAIGN_FILES; file++)
		if (save_file(campaign, file, wait, failed ? &other : err))
			failed = -1;
	return failed;
}

int campaign_save(struct campaign *campaign, struct error *err)
{
	return save(campaign, 0, err);
}

void campaign_drop_unsaved(struct campaign *campaign)
{
	struct error ignored;
	size_t size;
	char *text;
	int file;

	for (file = 0; file < CAMPAIGN_FILES; file++) {
		if (!campaign->unsaved[file])
			continue;
		memory_close(campaign->unsaved[file], &text, &size,
			     rows_of_a_run, &ignored);
		free(text);
		campaign->unsaved[file] = NULL;
	}
}

static int print_run(FILE *out, const void *context, struct error *err)
{
	(void)err;
	csv_write_row(out, &run_rows, context);
	return 0;
}

/* Adds the line about a process, and waits for the disk. */
static int save_run(struct campaign *campaign, const struct run *run,
		    struct error *err)
{
	char path[CAMPAIGN_PATH_SIZE], *text;
	struct append_note note;
	size_t size;
	int failed;

	if (memory_print(&text, &size, print_run, run, runs_name, err))
		return -1;
	failed = append(campaign, runs_name, &run_rows, text, size, 1, &note,
			err);
	free(text);
	campaign_path(path, campaign->dir, runs_name);
	return failed || append_sync(path, err) ? -1 : 0;
}

static int save_rows(struct campaign *campaign, struct error *err)
{
	char path[CAMPAIGN_PATH_SIZE];
	int file;

	if (save(campaign, 1, err))
		return -1;
	if (campaign->forgot)
		return error_memory(err, rows_of_a_run);
	if (campaign->lost)
		return error_set(err, ERROR_OUTPUT, "%s: some rows could not "
				 "be written", campaign->dir);
	for (file = 0; file < CAMPAIGN_FILES; file++) {
		campaign_path(path, campaign->dir, campaign_files[file]);
		if (append_sync(path, err))
			return -1;
	}
	return 0;
}

/* Sets label and campaign_id if the run has none. */
static void label_run(const struct campaign *campaign, struct run *run)
{
	if (!run->campaign_id[0])
		memcpy(run->campaign_id, campaign->id,
		       sizeof(run->campaign_id));
	if (!run->label[0])
		memcpy(run->label, campaign->label, sizeof(run->label));
}

int campaign_end_run(struct campaign *campaign, const struct run *run,
		     struct error *err)
{
	struct error other;
	struct run own = *run;
	int unkept, failed;

	label_run(campaign, &own);
	/* If there is no memory, the run is in the file but not in the
	 * tables. */
	unkept = campaign_keep_run(campaign, &own, err);
	failed = save_rows(campaign, unkept ? &other : err);
	/* The file then has fewer rows of it than the tables. */
	if (failed && strcmp(own.status, "ok") == 0) {
		snprintf(own.status, sizeof(own.status), "partial");
		snprintf(own.reason, sizeof(own.reason), "%s",
			 unkept ? other.message : err->message);
	}
	campaign_drop_unsaved(campaign);
	campaign->lost = campaign->forgot = 0;
	if (save_run(campaign, &own, unkept || failed ? &other : err))
		failed = -1;
	return unkept || failed ? -1 : 0;
}
