#include "bench/report/pictures/plot.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/record/csv.h"
#include "bench/report/scale.h"

/* Writes a row. Rows of one prediction are consecutive, from one core on. */
static void write_row(FILE *out, int group, const struct scale_row *row)
{
	char name[2 * sizeof(row->target)], label[PLOT_LABEL];

	snprintf(name, sizeof(name), "%s from %s", row->model, row->target);
	plot_encode(label, sizeof(label), name);
	fprintf(out, "%d,%ld,%s,%s,%s,%s,%s\n", group, row->cores,
		plot_number(100 * row->efficiency).text,
		plot_number(100 * row->efficiency_lo).text,
		plot_number(100 * row->efficiency_hi).text,
		plot_number(100 * row->exposed_s / row->iter_s).text,
		plot_text(label));
}

int plot_write_scale(FILE *out, const struct plot *plot, struct plot_note *note,
		     struct error *err)
{
	char path[CAMPAIGN_PATH_SIZE];
	struct scale_row *rows;
	void *found = NULL;
	size_t count = 0;

	fputs("group,cores,efficiency,low,high,exposed,label\n", out);
	note->text[0] = '\0';
	if (plot->folder)
		campaign_path(path, plot->folder, "scale.csv");
	if (!plot->folder || access(path, F_OK))
		return 0;
	if (csv_read(path, &scale_rows, &found, &count, err))
		return -1;
	rows = found;
	for (size_t i = 0; i < count; i++) {
		note->rows += rows[i].cores == 1;
		if (note->rows && note->rows <= PLOT_MOST_SERIES)
			write_row(out, note->rows - 1, &rows[i]);
	}
	free(found);
	snprintf(note->text, sizeof(note->text), "%s", note->rows ?
		 "Dashed: the share of an iteration that is communication." :
		 "scale.csv has no row of one core.");
	return 0;
}
