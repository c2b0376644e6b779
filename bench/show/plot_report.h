/*
 * report.html: the tables, the pictures, the machine and how to measure it
 * again, in one file that needs no other. It is well-formed XML as well as
 * HTML; all text from outside is escaped, and no script would be run.
 */
#ifndef BENCH_SHOW_PLOT_REPORT_H
#define BENCH_SHOW_PLOT_REPORT_H

#include <stdio.h>

#include "bench/show/plot.h"
#include "bench/show/plot_svg.h"

struct report {
	const struct plot *plot;
	const struct plot_svg *svgs;   /* [PLOT_PICTURES]; text NULL: none */
	const struct plot_note *notes; /* [PLOT_PICTURES] */
	const char *name;	       /* of the campaign's folder */
};

int report_write(const char *path, const struct report *report,
		 struct error *err);

#endif
