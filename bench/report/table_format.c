#include "bench/report/table_format.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "bench/record/column.h"
#include "bench/system/text.h"

enum { WIDTH = 80, GAP = 2, MOST_DECIMALS = 9 };

int table_format_find(const char *name, enum table_format *format)
{
	static const char *const names[] = {
		[TABLE_PLAIN] = "plain",
		[TABLE_GITHUB] = "github",
		[TABLE_POST] = "post",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(names[i], name) == 0) {
			*format = (enum table_format)i;
			return 0;
		}
	return -1;
}

static void grid_free(struct grid *grid)
{
	free(grid->heads);
	free(grid->labels);
	free(grid->widths);
	free(grid->cells);
	*grid = (struct grid){ 0 };
}

int grid_make(struct grid *grid, const char *const *heads, int columns,
	      int rows, struct error *err)
{
	const size_t cells = (size_t)columns * (size_t)rows;

	*grid = (struct grid){ .columns = columns, .rows = rows };
	grid->heads = calloc((size_t)columns + 1, sizeof(*grid->heads));
	grid->labels = calloc((size_t)rows + 1, sizeof(*grid->labels));
	grid->widths = calloc((size_t)columns + 1, sizeof(*grid->widths));
	grid->cells = calloc(cells + 1, sizeof(*grid->cells));
	if (!grid->heads || !grid->labels || !grid->widths || !grid->cells) {
		grid_free(grid);
		return error_memory(err, "a table");
	}
	for (size_t i = 0; i < cells; i++)
		grid->cells[i] = (struct grid_cell){ "-", NAN, NAN, 0 };
	for (int c = 0; heads && c < columns; c++)
		snprintf(grid->heads[c], GRID_TEXT, "%s", heads[c]);
	return 0;
}

struct grid_cell *grid_at(const struct grid *grid, int row, int column)
{
	return &grid->cells[row * grid->columns + column];
}

void grid_set_number(const struct grid *grid, int row, int column, double value,
		     int decimals)
{
	if (isfinite(value))
		snprintf(grid_at(grid, row, column)->text, GRID_TEXT, "%s",
			 fixed_text(value, decimals).text);
}

void grid_set_count(const struct grid *grid, int row, int column, long count)
{
	if (count != CELL_NO_INT)
		snprintf(grid_at(grid, row, column)->text, GRID_TEXT, "%ld",
			 count);
}

void grid_mark_best(const struct grid *grid, int row, int sign)
{
	struct grid_cell *cells = grid_at(grid, row, 0), *best = NULL;
	int rivals = 0;

	for (int c = 0; c < grid->columns; c++)
		if (isfinite(cells[c].value) &&
		    (!best || cells[c].value * sign > best->value * sign))
			best = &cells[c];
	for (int c = 0; c < grid->columns && best; c++) {
		if (&cells[c] == best || isnan(cells[c].value))
			continue;
		rivals++;
		/* An interval that is not known overlaps. */
		if (!((best->value - cells[c].value) * sign >
		      best->half + cells[c].half))
			return;
	}
	if (rivals)
		best->best = 1;
}

void clean_text(char *to, size_t size, const char *from,
		const struct table_options *options)
{
	static const int rules[] = {
		[TABLE_PLAIN] = 0,
		[TABLE_GITHUB] = TEXT_MARKDOWN,
		[TABLE_POST] = TEXT_MARKDOWN,
		[TABLE_HTML] = 0, /* escaped when it is printed, uncut */
	};

	text_clean(to, size, from, rules[options->format] |
					   (options->utf8 ? 0 : TEXT_ASCII));
}

const char *plus_minus(const struct table_options *options)
{
	return options->utf8 ? "\xC2\xB1" : "+-";
}

struct number_text fixed_text(double value, int decimals)
{
	struct number_text number;

	number_print_fixed(number.text, value, decimals);
	return number;
}

struct interval_text interval_text(double low, double high, int decimals)
{
	struct interval_text interval;

	snprintf(interval.text, sizeof(interval.text), "[%s, %s]",
		 fixed_text(low, decimals).text,
		 fixed_text(high, decimals).text);
	return interval;
}

int decimals_of(double shown, int most)
{
	for (double digits = shown * pow(10, most); digits > 0 && digits < 10 &&
	     most < MOST_DECIMALS; most++)
		digits *= 10;
	return shown >= 100 ? 0 : shown >= 10 ? 1 : shown >= 1 ? 2 : most;
}

int is_skewed(const struct stats *stats)
{
	return stats->std > stats->mean;
}

void format_spread(char text[GRID_TEXT], double value, double spread,
		   int decimals, const struct table_options *options)
{
	const struct number_text number = fixed_text(value, decimals);
	const struct number_text deviation = fixed_text(spread, decimals);

	if (!isfinite(value))
		snprintf(text, GRID_TEXT, "-");
	else if (!isfinite(spread))
		snprintf(text, GRID_TEXT, "%s", number.text);
	else if (options->format == TABLE_POST)
		snprintf(text, GRID_TEXT, "$%s(\\pm %s)$", number.text,
			 deviation.text);
	else
		snprintf(text, GRID_TEXT, "%s (%s%s%s)", number.text,
			 plus_minus(options),
			 options->format == TABLE_PLAIN ? "" : " ",
			 deviation.text);
}

void format_quartiles(char text[GRID_TEXT], const struct stats *stats,
		      double factor, int decimals,
		      const struct table_options *options)
{
	const char *mark = options->format == TABLE_POST ? "$" : "";

	snprintf(text, GRID_TEXT, "%s%s %s%s", mark,
		 fixed_text(stats->median * factor, decimals).text,
		 interval_text(stats->q1 * factor, stats->q3 * factor,
			       decimals).text, mark);
}

/* One of the two lines of a head; what is one line is the first. */
static void head_line(char line[GRID_TEXT], const char *head, int second)
{
	const char *split = strchr(head, '\n');

	if (split && !second)
		snprintf(line, GRID_TEXT, "%.*s", (int)(split - head), head);
	else
		snprintf(line, GRID_TEXT, "%s", split ? split + 1 :
						second ? "" : head);
}

static int wider(int width, const char *text)
{
	return text_width(text) > width ? text_width(text) : width;
}

/* Room for the mark of the best is part of the column. */
static int column_width(const struct grid *grid, int column)
{
	char part[GRID_TEXT];
	int width = 0;

	for (int second = 0; second < 2; second++) {
		head_line(part, grid->heads[column], second);
		width = wider(width, part);
	}
	for (int row = 0; row < grid->rows; row++)
		width = wider(width, grid_at(grid, row, column)->text);
	return width + !grid->unmarked;
}

static int label_width(const struct grid *grid)
{
	int width = text_width(grid->corner);

	for (int row = 0; row < grid->rows; row++)
		width = wider(width, grid->labels[row]);
	return width;
}

static void pad(FILE *out, int count, char with)
{
	while (count-- > 0)
		fputc(with, out);
}

static void plain_heads(const struct grid *grid, int first, int last, int label,
			FILE *out)
{
	char part[GRID_TEXT];
	int two = 0;

	for (int column = first; column < last; column++)
		two |= strchr(grid->heads[column], '\n') != NULL;
	for (int second = 0; second <= two; second++) {
		int gap = label - (second ? 0 : text_width(grid->corner));

		fputs(second ? "" : grid->corner, out);
		for (int column = first; column < last; column++) {
			head_line(part, grid->heads[column], second);
			gap += GAP + grid->widths[column];
			if (!part[0])
				continue;
			pad(out, gap - !grid->unmarked - text_width(part),
			    ' ');
			fputs(part, out);
			gap = !grid->unmarked;
		}
		fputc('\n', out);
	}
}

#define BOLD "\033[1m"
#define NORMAL "\033[0m"

static void plain_block(const struct grid *grid, int first, int last, int label,
			int color, FILE *out)
{
	const struct grid_cell *cell;
	int mark = !grid->unmarked, total = label;

	for (int column = first; column < last; column++)
		total += GAP + grid->widths[column];
	plain_heads(grid, first, last, label, out);
	pad(out, total, '-');
	fputc('\n', out);
	for (int row = 0; row < grid->rows; row++) {
		fputs(grid->labels[row], out);
		pad(out, label - text_width(grid->labels[row]), ' ');
		for (int column = first; column < last; column++) {
			cell = grid_at(grid, row, column);
			pad(out, GAP + grid->widths[column] - mark -
					 text_width(cell->text), ' ');
			if (cell->best)
				fprintf(out, "%s%s*%s", color ? BOLD : "",
					cell->text, color ? NORMAL : "");
			else
				fprintf(out, "%s%s", cell->text,
					mark && column + 1 < last ? " " : "");
		}
		fputc('\n', out);
	}
}

static int columns_of(const struct table_options *options)
{
	return options->width ? options->width : WIDTH;
}

/* Columns come closer where that keeps all of them side by side. */
static void find_widths(const struct grid *grid, int label, int most)
{
	int total = label;

	for (int column = 0; column < grid->columns; column++) {
		grid->widths[column] = column_width(grid, column);
		total += GAP + grid->widths[column];
	}
	if (!grid->unmarked || total <= most || total - grid->columns > most)
		return;
	for (int column = 0; column < grid->columns; column++)
		grid->widths[column]--;
}

/* Draws as many columns side by side as fit, the rest below. */
static void draw_plain(const struct grid *grid, int color, int most, FILE *out)
{
	const int label = label_width(grid);
	char title[GRID_TITLE];

	find_widths(grid, label, most);
	snprintf(title, sizeof(title), "%s", grid->title);
	text_wrap(out, title, most, 0);
	fputc('\n', out);
	for (int first = 0, last; first < grid->columns; first = last) {
		int width = label;

		for (last = first; last < grid->columns; last++) {
			width += GAP + grid->widths[last];
			if (width > most && last > first)
				break;
		}
		if (first > 0)
			fputc('\n', out);
		plain_block(grid, first, last, label, color, out);
	}
}

static void draw_markdown(const struct grid *grid, int is_post, FILE *out)
{
	const char *best[] = { "**", "**" };

	if (is_post) {
		best[0] = "<span style=\"color:red\">";
		best[1] = "</span>";
	} else {
		fprintf(out, "**%s**\n\n", grid->title);
	}
	fprintf(out, "| %s |", grid->corner);
	for (int c = 0; c < grid->columns; c++)
		fprintf(out, " %s |", grid->heads[c]);
	fprintf(out, "\n| %s |", is_post ? ":---:" : ":---");
	for (int c = 0; c < grid->columns; c++)
		fprintf(out, " %s |", is_post ? ":---:" : "---:");
	fputc('\n', out);
	for (int row = 0; row < grid->rows; row++) {
		fprintf(out, "| %s |", grid->labels[row]);
		for (int c = 0; c < grid->columns; c++) {
			const struct grid_cell *cell = grid_at(grid, row, c);

			fprintf(out, " %s%s%s |", cell->best ? best[0] : "",
				cell->text, cell->best ? best[1] : "");
		}
		fputc('\n', out);
	}
}

void print_html(FILE *out, const char *before, const char *text,
		const char *after)
{
	fputs(before, out);
	text_print(out, text, TEXT_HTML);
	fputs(after, out);
}

/* A table that is wider than the page is moved within it, by keys, too. */
static void draw_html(const struct grid *grid, FILE *out)
{
	print_html(out, "<div class=\"wide\" role=\"region\" "
		     "tabindex=\"0\" aria-label=\"", grid->title, "\">\n");
	print_html(out, "<table>\n<caption>", grid->title, "</caption>\n"
		     "<thead><tr>");
	if (grid->corner[0])
		print_html(out, "<th scope=\"col\">", grid->corner, "</th>");
	else
		fputs("<td></td>", out);
	for (int c = 0; c < grid->columns; c++)
		print_html(out, "<th scope=\"col\">", grid->heads[c], "</th>");
	fputs("</tr></thead>\n<tbody>\n", out);
	for (int row = 0; row < grid->rows; row++) {
		print_html(out, "<tr><th scope=\"row\">", grid->labels[row],
			     "</th>");
		for (int c = 0; c < grid->columns; c++) {
			const struct grid_cell *cell = grid_at(grid, row, c);

			print_html(out, cell->best ? "<td><b>" : "<td>",
				   cell->text,
				   cell->best ? "</b></td>" : "</td>");
		}
		fputs("</tr>\n", out);
	}
	fputs("</tbody>\n</table>\n</div>\n", out);
}

/* A head of two parts, "OpenCL: PoCL, 2 CPUs", takes two lines of a terminal;
 * elsewhere it takes one. */
static void break_heads(const struct grid *grid, int is_plain)
{
	for (int column = 0; column < grid->columns; column++) {
		char *head = grid->heads[column];
		char *line = strchr(head, '\n'), *part = strstr(head, ": ");

		if (is_plain && !line && part)
			part[1] = '\n';
		else if (!is_plain && line)
			*line = ' ';
	}
}

void grid_end(struct grid *grid, const struct table_options *options,
	      FILE *out)
{
	break_heads(grid, options->format == TABLE_PLAIN);
	if (options->format == TABLE_PLAIN)
		draw_plain(grid, options->color, columns_of(options), out);
	else if (options->format == TABLE_HTML)
		draw_html(grid, out);
	else
		draw_markdown(grid, options->format == TABLE_POST, out);
	fputc('\n', out);
	grid_free(grid);
}

void print_line(FILE *out, const struct table_options *options,
		const char *before, const char *format, ...)
{
	char text[2048], clean[4096];
	const int length = snprintf(clean, sizeof(clean), "%s", before);
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	clean_text(clean + length, sizeof(clean) - (size_t)length, text,
		   options);
	if (options->format == TABLE_PLAIN)
		text_wrap(out, clean, columns_of(options), length);
	else if (options->format == TABLE_HTML)
		print_html(out, "<p class=\"note\">", clean + length,
			   "</p>\n");
	else
		fprintf(out, "%s\n", clean);
}
