/*
 * A results folder and its rows. observations.csv has one row per measured
 * interval, modelled.csv estimates for a free CPU per core, runs.csv one row
 * per process. summary.csv and tables.md are computed from them.
 *
 * campaign_save() writes rows to their file, so that a campaign that is killed
 * keeps them. campaign_end_run() also waits for the disk.
 */
#ifndef BENCH_RECORD_CAMPAIGN_H
#define BENCH_RECORD_CAMPAIGN_H

#include <stddef.h>
#include <stdio.h>

#include "backends/contract/error.h"
#include "bench/record/observation.h"
#include "bench/record/run.h"

/* Files of observations, by clock. */
enum campaign_file { CAMPAIGN_MEASURED, CAMPAIGN_MODELLED, CAMPAIGN_FILES };

struct campaign {
	char dir[1024]; /* empty = loaded from single files */
	char id[48];	/* campaign_id of each run */
	char label[64];
	/* All observations in the folder, also of older campaigns. Rows of
	 * single cores are kept only for whole epochs, and only with
	 * with_cores. */
	struct observation *observations;
	size_t observation_count, observation_room;
	int with_cores;
	struct observation *core_rows;
	size_t core_row_count, core_row_room;
	struct run *runs;
	size_t run_count, run_room;
	/* Number of rows at the start that the folder had before. */
	size_t earlier_runs, earlier_observations;
	size_t named_runs; /* by campaign_name_run() */

	int in_use; /* descriptor + 1 of append_share(); 0 = none */
	/* Rows to be saved, as text; NULL = none. */
	struct memory_text *unsaved[CAMPAIGN_FILES];
	int lost;	  /* 1: rows of this run are missing in their file */
	int forgot; /* 1: rows of this run were dropped for lack of memory */
	char notice[2600]; /* a note for the user; the reader clears it */
};

struct campaign_request {
	const char *dir;	 /* --out; NULL = results/<stamp>-<label> */
	const char *label;	 /* --label; NULL or empty = none */
	const char *started_utc; /* 2026-01-31T23:59:59Z: see clock.h */
};

/*
 * Creates the folder. If it has results, they stay: new rows are appended, and
 * the tables get another line. Fails if files cannot be written or read, before
 * anything is measured. Release campaign also after a failure; notice may then
 * say what was changed.
 */
int campaign_create(struct campaign *campaign,
		    const struct campaign_request *request, struct error *err);

enum { CAMPAIGN_RUN_ID = sizeof(((struct run *)0)->run_id) };

/* Writes the run_id of the campaign's next run: its id and a number that counts
 * on from the runs in the folder. */
void campaign_name_run(struct campaign *campaign, char run_id[CAMPAIGN_RUN_ID]);

/*
 * campaign_add() keeps a row of a running process; campaign_save() writes the
 * rows to the files of their clocks. If that fails, the rows wait for the next
 * call. If another process has locked the file, they wait too, without an
 * error: the reader of a child must not block.
 */
int campaign_add(struct campaign *campaign, const struct observation *row,
		 struct error *err);
int campaign_save(struct campaign *campaign, struct error *err);
int campaign_has_unsaved(const struct campaign *campaign);

/*
 * Saves the rows and the process's row, and waits for the disk. Sets
 * campaign_id and label if run has none. If rows could not be saved, they stay
 * in memory and in the tables; the status in the file is then partial.
 */
int campaign_end_run(struct campaign *campaign, const struct run *run,
		     struct error *err);

/* Returns the campaign without the rows that its folder had before. The result
 * borrows its rows. */
struct campaign campaign_own(const struct campaign *campaign);

/*
 * Reads folders and CSV files of observations or runs, recognised by their
 * columns. campaign_id keeps campaigns apart. A torn last line
 * (bench/record/csv.h) is skipped with a note in log, which may be NULL.
 */
int campaign_load(struct campaign *campaign, const char *const *paths,
		  int count, int with_cores, FILE *log, struct error *err);

/* Sets folder to the folder of the file at path, with a slash, or to ".". */
void campaign_folder_of(const char *path, char folder[PATH_MAX]);

/* Returns the other of runs.csv and observations.csv if it is next to path;
 * otherwise NULL. Each file has half of a run's numbers. */
const char *campaign_other_half(const char *path);

void campaign_release(struct campaign *campaign); /* all zero is allowed */

/* For code that makes, loads and finishes folders. */

extern const char *const campaign_files[CAMPAIGN_FILES];
enum campaign_file campaign_file_of(const struct observation *row);

enum { CAMPAIGN_PATH_SIZE = sizeof(((struct campaign *)0)->dir) + 24 };

/* Sets path to the file name in folder dir. */
void campaign_path(char path[CAMPAIGN_PATH_SIZE], const char *dir,
		   const char *name);

/* Keep rows in memory only; of single cores, the rows that campaign needs. */
int campaign_keep(struct campaign *campaign, const struct observation *row,
		  struct error *err);
int campaign_keep_run(struct campaign *campaign, const struct run *run,
		      struct error *err);

/* Creates missing files with their header, to see whether they can be written.
 * Removes an incomplete last line of a killed writer, with a notice. */
int campaign_begin_files(struct campaign *campaign, struct error *err);

void campaign_drop_unsaved(struct campaign *campaign);

/* Collects all rows in the folder and those in memory. Release all also after a
 * failure. */
int campaign_gather(struct campaign *all, const struct campaign *campaign,
		    struct error *err);

/* Ends append_share(): other processes may take the campaign for ended. */
void campaign_leave(struct campaign *campaign);

#endif
