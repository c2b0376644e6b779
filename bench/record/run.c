#include "bench/record/run.h"

#include <string.h>

#define ROW struct run
static const struct column columns[] = {
	RUN_COLUMNS(TEXT_COLUMN, INT_COLUMN, REAL_COLUMN)
};

const struct row_kind run_rows = ROW_KIND("bench/1", columns);

const char *run_asked_resident(const struct run *run)
{
	if (!run->resident[0])
		return "";
	/* With a reason it was allowed to. */
	return !strcmp(run->resident, "no") && !run->not_resident_reason[0] ?
		       "no" : "auto";
}

const char *run_odd_precision(const struct run *run)
{
	return strcmp(run->precision, "fp32") ? run->precision : "";
}

int run_is_ahead(const struct run *run)
{
	return strcmp(run->sync, "epoch") == 0;
}
