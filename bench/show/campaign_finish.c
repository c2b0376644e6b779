#include "bench/show/campaign_finish.h"

#include <unistd.h>

#include "bench/record/result_rows.h"
#include "bench/system/append.h"
#include "bench/system/file.h"
#include "bench/show/table.h"

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

static int write_reports(const struct campaign *campaign, int include_warmup,
			 struct error *err)
{
	const struct report report = { campaign, include_warmup };
	char path[CAMPAIGN_PATH_SIZE];
	struct error other;
	int rc;

	campaign_path(path, campaign->dir, "summary.csv");
	rc = file_replace_with(path, print_summary, &report, err);
	campaign_path(path, campaign->dir, "tables.md");
	if (file_replace_with(path, print_tables, &report, rc ? &other : err))
		rc = -1;
	return rc;
}

int campaign_finish(struct campaign *campaign, int include_warmup,
		    struct error *err)
{
	char path[CAMPAIGN_PATH_SIZE];
	struct campaign all;
	struct error ignored;
	int lock, failed;

	campaign_path(path, campaign->dir, "runs.csv");
	lock = append_lock(path);
	failed = campaign_gather(&all, campaign, &ignored);
	failed = write_reports(failed ? campaign : &all, include_warmup, err);
	campaign_release(&all);
	/* Before the next one may look whether it is alone. */
	campaign_leave(campaign);
	if (lock >= 0)
		close(lock);
	return failed;
}
