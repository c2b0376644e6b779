/*
 * A results folder and the rows in it: observations.csv (one measured interval
 * a row), modelled.csv (what the intervals would be with a free CPU for each
 * core), runs.csv (one process a row), summary.csv and tables.md.
 *
 * The rows are in the file after each campaign_save, so that a campaign that is
 * killed keeps them, and on the disk after each campaign_end_run.
 */
#ifndef BENCH_RECORD_CAMPAIGN_H
#define BENCH_RECORD_CAMPAIGN_H

#include <stddef.h>
#include <stdio.h>

#include "backends/contract/error.h"
#include "bench/record/observation.h"
#include "bench/record/run.h"

/* The files that observations go into, by their clock. */
enum campaign_file { CAMPAIGN_MEASURED, CAMPAIGN_MODELLED, CAMPAIGN_FILES };

struct campaign {
	char dir[1024]; /* empty: loaded from single files */
	char id[48];	/* goes into the campaign_id of each run */
	char label[64];
	/* Of all runs in the folder, older campaigns' too. Of single cores
	 * only those of whole epochs are kept, and only if asked for. */
	struct observation *observations;
	size_t observation_count, observation_room;
	int with_cores;
	struct observation *core_rows;
	size_t core_row_count, core_row_room;
	struct run *runs;
	size_t run_count, run_room;
	/* The first of them, which the folder had before. */
	size_t earlier_runs, earlier_observations;

	int in_use; /* descriptor + 1 of append_share(); 0: none */
	/* Rows that wait, as text; NULL: none. */
	struct memory_text *unsaved[CAMPAIGN_FILES];
	int lost;	  /* of this run some rows are not in their file */
	int forgot;	  /* likewise, because there was no memory for them */
	char notice[2600]; /* what a user should know; the reader clears it */
};

struct campaign_request {
	const char *dir;	 /* --out; NULL: results/<stamp>-<label> */
	const char *label;	 /* --label; NULL or empty: none */
	const char *started_utc; /* 2026-01-31T23:59:59Z: see clock.h */
};

/*
 * Makes the folder. One that holds results already keeps them: new rows are
 * added, and the tables get a line more. What cannot be written or read is
 * found here, before anything is measured. Release it also after a failure,
 * when notice may tell what was changed before.
 */
int campaign_create(struct campaign *campaign,
		    const struct campaign_request *request, struct error *err);

/*
 * One row that a running process printed: kept in memory, and in the file of
 * its clock with the next campaign_save(). When that fails the rows wait for
 * the next one. So they do, and that is no failure, while another process has
 * the file: nobody who listens to a child may be kept waiting.
 */
int campaign_add(struct campaign *campaign, const struct observation *row,
		 struct error *err);
int campaign_save(struct campaign *campaign, struct error *err);
int campaign_has_unsaved(const struct campaign *campaign);

/*
 * Saves what waits and the line about the process, and waits for the disk.
 * Sets campaign_id and label of a run that has none. The rows stay in memory,
 * and so in the tables, even when they could not be saved; then the line in
 * the file says partial.
 */
int campaign_end_run(struct campaign *campaign, const struct run *run,
		     struct error *err);

/* The campaign without what its folder had before; borrows its rows. */
struct campaign campaign_own(const struct campaign *campaign);

/*
 * Reads folders, and CSV files of observations or runs, told apart by their
 * columns. Campaigns stay apart in the tables by their campaign_id. A torn
 * line (bench/record/csv.h) at the end of a file is passed over, with a note in
 * log, which may be NULL.
 */
int campaign_load(struct campaign *campaign, const char *const *paths,
		  int count, int with_cores, FILE *log, struct error *err);

/* The folder that the file at path is in, with its slash, or ".". */
void campaign_folder_of(const char *path, char folder[PATH_MAX]);

/* Of the runs.csv or observations.csv of a folder, each of which has half of
 * the numbers: the name of the other one, if it is there; else NULL. */
const char *campaign_other_half(const char *path);

void campaign_release(struct campaign *campaign); /* all zero is fine */

/* What follows is for those who make, load and finish folders. */

extern const char *const campaign_files[CAMPAIGN_FILES];
enum campaign_file campaign_file_of(const struct observation *row);

enum { CAMPAIGN_PATH_SIZE = sizeof(((struct campaign *)0)->dir) + 24 };

/* The path of a file in the folder dir. */
void campaign_path(char path[CAMPAIGN_PATH_SIZE], const char *dir,
		   const char *name);

/* In memory only; of a single core's what the campaign asks for. */
int campaign_keep(struct campaign *campaign, const struct observation *row,
		  struct error *err);
int campaign_keep_run(struct campaign *campaign, const struct run *run,
		      struct error *err);

/* Headers, where there is no file yet: can the files be written? What a killed
 * writer left of a last line is taken away; notice says so. */
int campaign_begin_files(struct campaign *campaign, struct error *err);

void campaign_drop_unsaved(struct campaign *campaign);

/* What the folder has by now, and what only this campaign has. Release all also
 * after a failure. */
int campaign_gather(struct campaign *all, const struct campaign *campaign,
		    struct error *err);

/* From now on others may take it for one that has ended. */
void campaign_leave(struct campaign *campaign);

#endif
