/*
 * What gnuplot has drawn, made fit to be shown: for a file of its own, and for
 * a page that has several in it. Colours become those that
 * plot_svg_print_style() knows, which follow the reader's light or dark; names
 * are made the picture's own; labels are put back as they were, escaped; what
 * is empty is left out.
 */
#ifndef BENCH_REPORT_PLOT_SVG_H
#define BENCH_REPORT_PLOT_SVG_H

#include <stddef.h>
#include <stdio.h>

#include "backends/contract/error.h"

struct plot_svg {
	const char *name;  /* in front of its names: epochs */
	const char *title; /* plain ASCII text, and no markup */
	const char *text;  /* as gnuplot wrote it */
	size_t size;
};

/* Fails (ERROR_FAILED) if it is not what gnuplot writes. */
int plot_svg_check(const struct plot_svg *svg, struct error *err);

/* One of those that pass the check: as a file, or as an element of a page that
 * has the style. */
void plot_svg_print_file(FILE *out, const struct plot_svg *svg);
void plot_svg_print_element(FILE *out, const struct plot_svg *svg);

/* Rules of CSS for what elements of all pictures have in common. */
void plot_svg_print_style(FILE *out);

#endif
