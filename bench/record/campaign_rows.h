/*
 * The rows of a campaign, in memory and in the files of its folder; for those
 * who make, load and finish folders.
 */
#ifndef BENCH_RECORD_CAMPAIGN_ROWS_H
#define BENCH_RECORD_CAMPAIGN_ROWS_H

#include "bench/record/campaign.h"

extern const char *const campaign_files[CAMPAIGN_FILES];

enum { CAMPAIGN_PATH_SIZE = sizeof(((struct campaign *)0)->dir) + 24 };

/* The path of a file in the folder dir. */
void campaign_path(char path[CAMPAIGN_PATH_SIZE], const char *dir,
		   const char *name);

/* In memory only; of a single core's what the campaign asks for. */
int campaign_keep(struct campaign *campaign, const struct observation *row,
		  struct error *err);
int campaign_keep_run(struct campaign *campaign, const struct run *run,
		      struct error *err);

/* Whether path has not even a whole header: 1 or 0, -1 without memory. */
int campaign_is_begun(const char *path, const struct row_kind *kind,
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
