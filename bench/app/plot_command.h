/* `bench plot DIR`: pictures of a campaign, and report.html with them. */
#ifndef BENCH_APP_PLOT_COMMAND_H
#define BENCH_APP_PLOT_COMMAND_H

#include <stdio.h>

#include "backends/contract/error.h"

struct plot_command {
	const char *folder; /* of a campaign; NULL: not given */
	const char *out;    /* --out: where they go; NULL: into the folder */
	int quiet;	    /* no notes */
	double seconds;	    /* --timeout: for gnuplot to draw one of them */
};

/* Names of what was made go to out, notes to log. */
int plot_command_run(const struct plot_command *command, FILE *out, FILE *log,
		     struct error *err);

#endif
