#include "bench/report/pictures/plot_svg.h"

#include <stdlib.h>
#include <string.h>

/*
 * The colours of plot/style.gp, which are for paper and light pages, and what
 * stands for them on dark ones. Both have a contrast of 3:1 to their ground,
 * and neighbours differ for the colour-blind, too.
 */
static const struct {
	const char *light, *dark;
} colours[] = {
	{ "#222222", "#e8e8e8" }, /* text, axes */
	{ "#6b6b6b", "#a3a3a3" }, /* secondary text */
	{ "#d4d4d4", "#3f444b" }, /* the grid */
	{ "#0072b2", "#56b4e9" }, /* the targets */
	{ "#d55e00", "#ff8f4a" },
	{ "#00805e", "#2fd0a2" },
	{ "#b0508c", "#f0a0cf" },
	{ "#856a00", "#e6c300" },
	{ "#5a4fcf", "#a99cff" },
};

enum { COLOURS = sizeof(colours) / sizeof(colours[0]) };

void plot_svg_print_style(FILE *out)
{
	static const char *const attributes[] = { "stroke", "fill", "color" };

	fputs("@media (prefers-color-scheme: dark) {\n", out);
	for (int i = 0; i < COLOURS; i++)
		for (int a = 0; a < 3; a++)
			fprintf(out, "svg [%s=\"%s\"] { %s: %s }\n",
				attributes[a], colours[i].light, attributes[a],
				colours[i].dark);
	fputs("}\n", out);
}

int plot_svg_check(const struct plot_svg *svg, struct error *err)
{
	const char *end = strstr(svg->text, "</svg>");

	/* Nothing follows the end. */
	if (strlen(svg->text) == svg->size && end &&
	    !end[6 + strspn(end + 6, "\n")] &&
	    strstr(svg->text, "viewBox=\"") &&
	    strstr(svg->text, "<g id=\"gnuplot_canvas\">") &&
	    !strcasestr(svg->text, "<script"))
		return 0;
	return error_set(err, ERROR_FAILED, "gnuplot succeeded, but its output "
			 "for %s is not the expected picture (%zu bytes)",
			 svg->name, svg->size);
}

/* Returns the position after the first end in text, or after text. */
static const char *behind(const char *text, const char *end)
{
	const char *at = strstr(text, end);

	return at ? at + strlen(end) : text + strlen(text);
}

static int begins(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

/* Returns the end of an empty group, or NULL. gnuplot writes many, which have
 * no effect. */
static const char *empty_group(const char *text)
{
	const char *inside;

	if (!begins(text, "<g fill="))
		return NULL;
	inside = behind(text, ">");
	inside += strspn(inside, " \t\n");
	return begins(inside, "</g>") ? inside + 4 : NULL;
}

/* "rgb( 34,  34,  34)" as #222222. Returns where it ends. */
static const char *print_colour(FILE *out, const char *text)
{
	char *end = NULL;

	text += strlen("rgb(");
	fputc('#', out);
	for (int i = 0; i < 3; i++) {
		fprintf(out, "%02lx", strtoul(text, &end, 10) & 0xFF);
		text = end + (*end == ',' || *end == ')');
	}
	return text;
}

/* Prints a character that plot.c replaced, and returns its end;
 * NULL for other text. */
static const char *print_private(FILE *out, const char *text)
{
	const unsigned char *bytes = (const unsigned char *)text;
	int number;

	if (bytes[0] != 0xEE || (bytes[1] & 0xFE) != 0x80 ||
	    (bytes[2] & 0xC0) != 0x80)
		return NULL;
	number = (bytes[1] & 1) << 6 | (bytes[2] & 0x3F);
	if (strchr("<>&\"'", number) || number < ' ' || number == 0x7F)
		fprintf(out, "&#%d;", number < ' ' || number == 0x7F ? '?' :
								       number);
	else
		fputc(number, out);
	return text + 3;
}

/* One thing that is changed or left out; NULL where text stays. */
static const char *print_changed(FILE *out, const struct plot_svg *svg,
				 const char *text)
{
	const char *end = empty_group(text);

	if (end)
		return end;
	if (begins(text, "<title>"))
		return behind(text, "</title>");
	if (begins(text, "<filter"))
		return behind(text, "</filter>");
	if (begins(text, "xlink:href='#")) {
		fprintf(out, "href='#%s-", svg->name);
		return text + strlen("xlink:href='#");
	}
	if (begins(text, " id=")) {
		fprintf(out, " id=%c%s-", text[4], svg->name);
		return text + 5;
	}
	if (begins(text, "rgb("))
		return print_colour(out, text);
	return print_private(out, text);
}

static void print_content(FILE *out, const struct plot_svg *svg)
{
	const char *text = strstr(svg->text, "<g id=\"gnuplot_canvas\">");

	while (*text) {
		const char *next = print_changed(out, svg, text);
		const int gap = *text == '\n' || *text == '\t';

		if (next) {
			text = next;
			continue;
		}
		fputc(*text++, out);
		/* A line is enough between two elements. */
		text += gap ? strspn(text, "\n\t ") : 0;
	}
}

static void print(FILE *out, const struct plot_svg *svg, const char *space,
		  int with_style)
{
	const char *box = behind(svg->text, "viewBox=\"");

	fprintf(out, "<svg%s viewBox=\"%.*s\" role=\"img\" "
		"aria-labelledby=\"%s-title\">\n<title id=\"%s-title\">%s"
		"</title>\n", space, (int)strcspn(box, "\""), box, svg->name,
		svg->name, svg->title);
	if (with_style) {
		/* A viewer may have a white page and wish for dark ones. */
		fputs("<style>\nsvg { background: #ffffff }\n"
		      "@media (prefers-color-scheme: dark) "
		      "{ svg { background: #15181c } }\n", out);
		plot_svg_print_style(out);
		fputs("</style>\n", out);
	}
	print_content(out, svg);
}

void plot_svg_print_file(FILE *out, const struct plot_svg *svg)
{
	print(out, svg, " xmlns=\"http://www.w3.org/2000/svg\"", 1);
}

void plot_svg_print_element(FILE *out, const struct plot_svg *svg)
{
	print(out, svg, "", 0);
}
