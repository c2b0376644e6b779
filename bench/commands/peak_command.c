#include "bench/commands/commands.h"

#include <stdlib.h>
#include <string.h>

#include "bench/record/csv.h"
#include "bench/system/cpus.h"
#include "bench/system/file.h"
#include "bench/train/peaks.h"

int peak_command(const char *path, FILE *out, struct error *err)
{
	const int here = path && !strcmp(path, "-");
	struct peak_row *rows = NULL;
	char cpu[16];
	int failed, count = 0;

	/* Stays on one CPU, as a timed core does. */
	if (cpus_confine(1, cpu, sizeof(cpu), err) < 0)
		return -1;
	failed = peaks_measure(&rows, &count, err);
	if (!failed && here)
		csv_write_rows(out, &peak_rows, rows, (size_t)count);
	if (!failed && !here) {
		fputc('\n', out);
		failed = peaks_print(out, rows, count, err);
	}
	if (!failed && path && !here)
		failed = csv_write_file(path, &peak_rows, rows, (size_t)count,
					err);
	free(rows);
	return failed;
}
