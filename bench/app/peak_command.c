#include "bench/app/peak_command.h"

#include <stdlib.h>
#include <string.h>

#include "bench/system/cpus.h"
#include "bench/run/peaks.h"
#include "bench/record/csv.h"
#include "bench/system/file.h"

struct peaks {
	struct peak_row *rows;
	int count;
};

static int print_csv(FILE *out, const void *context, struct error *err)
{
	const struct peaks *peaks = context;

	(void)err;
	csv_write_header(out, &peak_rows);
	for (int r = 0; r < peaks->count; r++)
		csv_write_row(out, &peak_rows, &peaks->rows[r]);
	return 0;
}

int peak_command(const char *path, FILE *out, struct error *err)
{
	const int here = path && !strcmp(path, "-");
	struct peaks peaks = { NULL, 0 };
	char cpu[16];
	int failed;

	/* As a core that is timed: it does not wander. */
	if (cpus_confine(1, cpu, sizeof(cpu), err) < 0)
		return -1;
	failed = peaks_measure(&peaks.rows, &peaks.count, err);
	if (!failed && !here)
		fputc('\n', out);
	if (!failed)
		failed = here ? print_csv(out, &peaks, err) :
				peaks_print(out, peaks.rows, peaks.count, err);
	if (!failed && path && !here)
		failed = file_replace_with(path, print_csv, &peaks, err);
	free(peaks.rows);
	return failed;
}
