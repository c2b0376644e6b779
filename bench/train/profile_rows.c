#include "bench/train/profile_rows.h"

#include <math.h>
#include <string.h>

#include "bench/report/table_format.h"
#include "bench/system/number.h"

DEFINE_ROWS(profile_rows, struct profile_row, PROFILE_COLUMNS);

#define AT(member) offsetof(struct profile_row, member)

static const struct {
	const char *head;
	size_t offset;
	double factor;
	int decimals;
	const char *unit;
	double usual; /* not shown while no part has more */
	const char *note; /* NULL: it needs none, or has a number in it */
} quantities[] = {
	{ "share", AT(share_pct), 1, 1, "%", -INFINITY, NULL },
	{ "ms", AT(elapsed_s), 1e3, 3, "", -INFINITY, NULL },
	{ "dense", AT(dense_gflops), 1, 1, "", -INFINITY,
	  "dense: GFLOP/s by the layers' definitions" },
	{ "done", AT(done_gflops), 1, 1, "", -INFINITY,
	  "done: GFLOP/s by what was done without transforms" },
	{ "of peak", AT(peak_pct), 1, 1, "%", -INFINITY, NULL },
	{ "GB/s", AT(moved_gbs), 1, 1, "", -INFINITY,
	  "GB/s: if each value moves once" },
	{ "not 0", AT(nonzero_pct), 1, 1, "%", -INFINITY,
	  "not 0: of the factors from inputs or gradients" },
	{ "launches", AT(launches), 1, 0, "", 1, NULL },
};

#undef AT

#define QUANTITIES (int)(sizeof(quantities) / sizeof(quantities[0]))

static double value_of(const struct profile_row *row, int quantity)
{
	const char *at = (const char *)row + quantities[quantity].offset;

	return *(const double *)(const void *)at;
}

/* Writes the quantities that some part has to shown and returns their number.
 * The last row is the sum, not a part. */
static int find_shown(const struct profile_row *rows, int count,
		      int shown[QUANTITIES])
{
	int found = 0;

	for (int q = 0; q < QUANTITIES; q++) {
		int r = 0;

		while (r < count - 1 &&
		       !(value_of(&rows[r], q) > quantities[q].usual))
			r++;
		if (r < count - 1)
			shown[found++] = q;
	}
	return found;
}

static void fill_cell(char text[GRID_TEXT], const struct profile_row *row,
		      int quantity)
{
	const double value = value_of(row, quantity);
	char number[NUMBER_SIZE];

	if (!isfinite(value))
		return;
	number_print_fixed(number, value * quantities[quantity].factor,
			   quantities[quantity].decimals);
	snprintf(text, GRID_TEXT, "%s%s", number, quantities[quantity].unit);
}

/* The row of the sum names the launches of all parts. */
static void fill_label(char text[GRID_TEXT], const struct profile_row *row,
		       int is_whole, const struct table_options *options)
{
	char name[GRID_TEXT];

	clean_text(name, sizeof(name), row->part, options);
	if (is_whole && row->launches > 0)
		snprintf(text, GRID_TEXT, "%.80s (%.0f launches)", name,
			 row->launches);
	else
		memcpy(text, name, sizeof(name));
}

static void print_notes(FILE *out, const struct profile_row *row,
			const int *shown, int columns,
			const struct table_options *options)
{
	char peak[NUMBER_SIZE];

	if (row->cores > 1)
		print_note(out, options, "core %ld of %ld, in elapsed time: "
			   "where cores share CPUs, parts include waiting for "
			   "one", row->core, row->cores);
	print_note(out, options, "means over the middle half, by length, of "
		   "%ld iterations of %ld samples", row->iterations,
		   row->samples);
	for (int c = 0; c < columns; c++)
		if (quantities[shown[c]].note)
			print_note(out, options, "%s",
				   quantities[shown[c]].note);
	number_print_fixed(peak, row->peak_gflops, 1);
	if (isfinite(row->peak_gflops))
		print_note(out, options, "of peak: done divided by the %s "
			   "GFLOP/s of one core's fp32 vectors, which bf16 may "
			   "exceed", peak);
	if (row->launches > 0)
		print_note(out, options, "launches: kernels and transfers "
			   "given to the device in a part");
}

int profile_print(FILE *out, const struct profile_row *rows, int count,
		  struct error *err)
{
	const struct table_options options = { .format = TABLE_PLAIN };
	int shown[QUANTITIES];
	const int columns = find_shown(rows, count, shown);
	struct grid grid;

	if (!count)
		return 0;
	if (grid_make(&grid, NULL, columns, count, err))
		return -1;
	snprintf(grid.title, sizeof(grid.title), "An iteration of %s",
		 rows[0].target);
	for (int c = 0; c < columns; c++)
		snprintf(grid.heads[c], GRID_TEXT, "%s",
			 quantities[shown[c]].head);
	for (int r = 0; r < count; r++) {
		fill_label(grid.labels[r], &rows[r], r == count - 1, &options);
		for (int c = 0; c < columns; c++)
			fill_cell(grid_at(&grid, r, c)->text, &rows[r],
				  shown[c]);
	}
	grid_end(&grid, &options, out);
	print_notes(out, &rows[count - 1], shown, columns, &options);
	return 0;
}
