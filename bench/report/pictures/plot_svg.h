/*
 * Prepares gnuplot's drawings for a file, or for a page with several of them.
 * Colours become variables of plot_svg_print_style(), which follow the reader's
 * light or dark mode. Identifiers get the picture's name as a prefix; labels
 * are restored and escaped; empty elements are left out.
 */
#ifndef BENCH_REPORT_PICTURES_PLOT_SVG_H
#define BENCH_REPORT_PICTURES_PLOT_SVG_H

#include <stddef.h>
#include <stdio.h>

#include "backends/contract/error.h"

struct plot_svg {
	const char *name;  /* prefix of its identifiers: epochs */
	const char *title; /* plain ASCII text without markup */
	const char *text;  /* as gnuplot wrote it */
	size_t size;
};

/* Fails with ERROR_FAILED if text is not gnuplot's. */
int plot_svg_check(const struct plot_svg *svg, struct error *err);

/* Print a drawing that passed the check: as a file, or as an element of a page
 * that has the style. */
void plot_svg_print_file(FILE *out, const struct plot_svg *svg);
void plot_svg_print_element(FILE *out, const struct plot_svg *svg);

/* Prints the CSS rules that elements of all pictures share. */
void plot_svg_print_style(FILE *out);

#endif
