#include "bench/data/targets.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csv.h>

#include "bench/data/fold.h"
#include "bench/system/text.h"
#include "models/model.h"

#define COLUMNS "columns path and group, and one of 0 and 1 per label"
#define MARK "\357\273\277" /* of a byte order, which is no part of a name */
#define FIXED 2 /* columns in front of the labels */

struct target_row {
	size_t path, group; /* places in the text */
	long line;
};

struct targets_file {
	const char *name; /* of the file */
	long line;
	int cell;    /* of the row that is read, from 0 */
	int columns; /* 0: the header is read */
	struct target_row *rows;
	int count, room;
	char *text;
	size_t text_size, text_room;
	uint8_t *targets; /* [room][columns - FIXED] */
	int *order;   /* of rows, by group */
	int *is_test; /* of rows */
	int failed;
	struct error *err;
};

static void lack_memory(struct targets_file *table)
{
	table->failed = 1;
	error_memory(table->err, table->name);
}

/* Only the first counts: the parser does not stop inside a line. */
static void refuse_cell(struct targets_file *table, const char *expected,
			const char *found)
{
	char clean[64];

	if (table->failed)
		return;
	table->failed = 1;
	text_clean(clean, sizeof(clean), found, 0);
	error_set(table->err, ERROR_INPUT, "%.600s:%ld:%d: expected %s, found "
		  "\"%s\"", table->name, table->line, table->cell + 1,
		  expected, clean);
}

static void refuse_line(struct targets_file *table, const char *why)
{
	if (table->failed)
		return;
	table->failed = 1;
	error_set(table->err, ERROR_INPUT, "%.600s:%ld: %s", table->name,
		  table->line, why);
}

/* Makes room for a row more, once the columns are known. */
static int grow_rows(struct targets_file *table)
{
	const size_t labels = (size_t)(table->columns - FIXED);
	const int room = table->room ? 2 * table->room : 64;
	void *grown;

	if (table->count < table->room)
		return 0;
	grown = realloc(table->rows, (size_t)room * sizeof(*table->rows));
	if (!grown)
		return -1;
	table->rows = grown;
	grown = realloc(table->targets, (size_t)room * labels);
	if (!grown)
		return -1;
	table->targets = grown;
	table->room = room;
	return 0;
}

/* Returns the offset of the stored text. */
static size_t keep_text(struct targets_file *table, const char *text,
			size_t length)
{
	const size_t place = table->text_size;

	while (table->text_room - place < length + 1) {
		const size_t room = table->text_room ? 2 * table->text_room :
						       8192;
		char *grown = realloc(table->text, room);

		if (!grown) {
			lack_memory(table);
			return 0;
		}
		table->text = grown;
		table->text_room = room;
	}
	memcpy(table->text + place, text, length + 1);
	table->text_size += length + 1;
	return place;
}

static void read_name(struct targets_file *table, const char *name)
{
	static const char *const fixed[FIXED] = { "path", "group" };

	if (table->cell < FIXED && strcmp(name, fixed[table->cell]))
		refuse_cell(table, table->cell ?
			    "the column group (then one per label)" :
			    "the column path (then group, and one per label)",
			    name);
	if (table->cell >= FIXED + MODEL_MAX_CLASSES)
		refuse_line(table, "more labels than a model has at most");
}

static void read_value(struct targets_file *table, const char *value,
		       size_t length)
{
	const size_t labels = (size_t)(table->columns - FIXED);
	struct target_row *row;

	if (table->cell == table->columns) {
		refuse_line(table, "more cells than the header has: " COLUMNS);
		return;
	}
	if (!table->cell && grow_rows(table)) {
		lack_memory(table);
		return;
	}
	row = &table->rows[table->count];
	if (table->cell >= FIXED) {
		if (strcmp(value, "0") && strcmp(value, "1"))
			refuse_cell(table, "0 or 1", value);
		table->targets[(size_t)table->count * labels +
			       (size_t)table->cell - FIXED] = *value == '1';
	} else if (table->cell) {
		row->group = keep_text(table, value, length);
	} else {
		if (!*value)
			refuse_cell(table, "the path of an image", value);
		row->line = table->line;
		row->path = keep_text(table, value, length);
	}
}

static void on_cell(void *text, size_t length, void *context)
{
	struct targets_file *table = context;
	const char *value = text;

	if (table->failed)
		return;
	if (strlen(value) != length)
		refuse_line(table, "a NUL byte: this is not text");
	else if (!table->columns)
		read_name(table, value);
	else
		read_value(table, value, length);
	table->cell++;
}

static void on_row(int end, void *context)
{
	struct targets_file *table = context;

	(void)end;
	if (table->failed)
		return;
	if (!table->columns && table->cell <= FIXED)
		refuse_line(table, "a header of too few columns: " COLUMNS);
	else if (!table->columns)
		table->columns = table->cell;
	else if (table->cell < table->columns)
		refuse_line(table, "fewer cells than the header has: " COLUMNS);
	else if (table->count == INT32_MAX / 2)
		refuse_line(table, "more images than can be counted");
	else
		table->count++;
	table->cell = 0;
}

/* Line by line, because the parser does not count lines. */
static void parse(struct targets_file *table, FILE *in,
		  struct csv_parser *parser)
{
	char *line = NULL;
	size_t room = 0;
	ssize_t length;

	while (!table->failed && (length = getline(&line, &room, in)) > 0) {
		const char *text = line;
		size_t count = (size_t)length;

		if (!table->line++ && !strncmp(line, MARK, strlen(MARK))) {
			text += strlen(MARK);
			count -= strlen(MARK);
		}
		if (csv_parse(parser, text, count, on_cell, on_row, table) ==
		    count)
			continue;
		if (csv_error(parser) == CSV_EPARSE)
			refuse_line(table, "a quote in the wrong place");
		else if (!table->failed)
			lack_memory(table);
	}
	free(line);
	if (table->failed)
		return;
	if (!feof(in) && errno == ENOMEM)
		lack_memory(table);
	else if (!feof(in))
		refuse_line(table, strerror(errno));
	else if (csv_fini(parser, on_cell, on_row, table))
		refuse_line(table, "a quote that is never closed");
	else if (!table->count && !table->failed)
		refuse_line(table, "no images; expected one row per image, "
				   "after a header of "
			    COLUMNS);
}

static int read_table(struct targets_file *table, struct error *err)
{
	const int fd = open(table->name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct csv_parser parser;
	struct stat about;
	FILE *in;

	if (fd < 0)
		return error_set(err, errno == ENOENT ? ERROR_MISSING :
							ERROR_INPUT,
				 "%.800s: %s", table->name, strerror(errno));
	if (fstat(fd, &about) || !S_ISREG(about.st_mode)) {
		close(fd);
		return error_set(err, ERROR_INPUT, "%.800s: a regular file "
				 "expected, with " COLUMNS, table->name);
	}
	in = fdopen(fd, "r");
	if (!in) {
		close(fd);
		return error_memory(err, table->name);
	}
	if (csv_init(&parser, CSV_STRICT | CSV_STRICT_FINI | CSV_APPEND_NULL)) {
		fclose(in);
		return error_memory(err, table->name);
	}
	parse(table, in, &parser);
	csv_free(&parser);
	fclose(in);
	return table->failed ? -1 : 0;
}

static int compare_groups(const struct targets_file *table, int a, int b)
{
	return strcmp(table->text + table->rows[a].group,
		      table->text + table->rows[b].group);
}

/* Compares rows for qsort_r by group, and within a group by their order. */
static int by_group(const void *a, const void *b, void *context)
{
	const int first = *(const int *)a, second = *(const int *)b;
	const int order = compare_groups(context, first, second);

	return order ? order : first - second;
}

/* Numbers the groups of sorted rows from 0: group[row], and the number of rows
 * of each. Returns the number of groups. */
static int number_groups(const struct targets_file *table, int *group,
			 int *sizes)
{
	int groups = 0;

	for (int i = 0; i < table->count; i++) {
		const int row = table->order[i];

		if (!i || compare_groups(table, row, table->order[i - 1]))
			sizes[groups++] = 0;
		group[row] = groups - 1;
		sizes[groups - 1]++;
	}
	return groups;
}

/* Fills is_test by folds of groups. */
static int fold_rows(struct targets_file *table, struct error *err)
{
	const size_t bytes = (size_t)table->count * sizeof(int);
	int *group = malloc(bytes), *sizes = malloc(bytes);
	uint8_t *is_test = malloc((size_t)table->count);
	int groups = 0, failed = !group || !sizes || !is_test;

	for (int i = 0; i < table->count; i++)
		table->order[i] = i;
	qsort_r(table->order, (size_t)table->count, sizeof(int), by_group,
		table);
	if (!failed)
		groups = number_groups(table, group, sizes);
	failed = failed || fold_groups(sizes, groups, is_test) ?
			 error_memory(err, table->name) : 0;
	for (int i = 0; !failed && i < table->count; i++)
		table->is_test[i] = is_test[group[i]];
	if (!failed && groups < FOLDS)
		failed = error_set(err, ERROR_INPUT, "%.600s: %d group%s, but "
				   "training and test need %d; add some, or "
				   "make folders train and val",
				   table->name, groups,
				   groups == 1 ? "" : "s", FOLDS);
	free(group);
	free(sizes);
	free(is_test);
	return failed;
}

/* Fills is_test by the first folder of each path. */
static int split_rows(struct targets_file *table, struct error *err)
{
	for (int i = 0; i < table->count; i++) {
		const char *path = table->text + table->rows[i].path;

		table->is_test[i] = strncmp(path, "train/", 6) != 0;
		if (table->is_test[i] && strncmp(path, "val/", 4) &&
		    strncmp(path, "test/", 5))
			return error_set(err, ERROR_INPUT, "%.500s:%ld: "
					 "%.300s: expected train/, val/ or "
					 "test/ at the beginning, like the "
					 "folder", table->name,
					 table->rows[i].line, path);
	}
	return 0;
}

/* Moves the rows to the folder; what is wrong with a file gets its line. */
static int add_rows(const struct targets_file *table, struct folder *folder,
		    struct error *err)
{
	struct error why;

	folder->classes = table->columns - FIXED;
	for (int i = 0; i < table->count; i++) {
		const struct folder_sample sample = {
			.path = table->text + table->rows[i].path,
			.targets = table->targets +
				   (size_t)i * (size_t)folder->classes,
		};

		if (!folder_add(folder, table->is_test[i] ? &folder->test :
							    &folder->train,
				&sample, &why))
			continue;
		*err = why;
		return why.kind != ERROR_INPUT ? -1 :
			error_set(err, ERROR_INPUT, "%.300s:%ld: %.700s",
				  table->name, table->rows[i].line,
				  why.message);
	}
	return 0;
}

/* The file of a row; a file has one identity under all its names. */
struct identity {
	dev_t device;
	ino_t inode;
	int row;
};

static int by_identity(const void *left, const void *right)
{
	const struct identity *a = left, *b = right;

	if (a->device != b->device)
		return a->device < b->device ? -1 : 1;
	if (a->inode != b->inode)
		return a->inode < b->inode ? -1 : 1;
	return a->row - b->row;
}

/* The first row whose image an earlier row has, with the latter in *earlier,
 * or -1. Sorts the files. */
static int find_repeat(struct identity *files, int count, int *earlier)
{
	int found = -1;

	qsort(files, (size_t)count, sizeof(*files), by_identity);
	for (int i = 1; i < count; i++) {
		const struct identity *file = &files[i], *before = file - 1;

		if (file->device != before->device ||
		    file->inode != before->inode ||
		    (found >= 0 && found < file->row))
			continue;
		found = file->row;
		*earlier = before->row;
	}
	return found;
}

/* An image in two rows could be in training and in the test, or have labels
 * that contradict each other. */
static int refuse_repeats(const struct targets_file *table, const char *dir,
			  struct error *err)
{
	struct identity *files = malloc((size_t)table->count * sizeof(*files));
	const struct target_row *rows = table->rows;
	int earlier = 0, repeat;

	if (!files)
		return error_memory(err, table->name);
	for (int i = 0; i < table->count; i++) {
		const char *name = table->text + rows[i].path;
		char path[PATH_MAX];
		struct stat about;

		snprintf(path, sizeof(path), "%s/%s", dir, name);
		if (stat(path, &about)) {
			free(files);
			return error_set(err, ERROR_INPUT, "%.300s:%ld: %.600s"
					 ": %s", table->name, rows[i].line,
					 path, strerror(errno));
		}
		files[i] = (struct identity){ about.st_dev, about.st_ino, i };
	}
	repeat = find_repeat(files, table->count, &earlier);
	free(files);
	return repeat < 0 ? 0 :
	       error_set(err, ERROR_INPUT, "%.300s:%ld: %.300s is the image of "
			 "line %ld (%.300s); an image has one row: remove one "
			 "of the two", table->name, rows[repeat].line,
			 table->text + rows[repeat].path, rows[earlier].line,
			 table->text + rows[earlier].path);
}

int targets_list(struct folder *folder, const char *dir, const char *path,
		 struct error *err)
{
	struct targets_file table = { .name = path, .err = err };
	int failed;

	*folder = (struct folder){ .dir = dir };
	failed = read_table(&table, err);
	if (!failed) {
		table.order = malloc((size_t)table.count * sizeof(int));
		table.is_test = malloc((size_t)table.count * sizeof(int));
		if (!table.order || !table.is_test)
			failed = error_memory(err, path);
	}
	failed = failed ||
		 (folder_is_split(folder) ? split_rows(&table, err) :
					    fold_rows(&table, err)) ||
		 add_rows(&table, folder, err) ||
		 refuse_repeats(&table, dir, err);
	free(table.rows);
	free(table.text);
	free(table.targets);
	free(table.order);
	free(table.is_test);
	return failed ? -1 : 0;
}
