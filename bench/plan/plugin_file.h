/*
 * Plug-ins: transports in shared objects (backends/parallel/plugin.h), found by
 * name and opened by the process that measures, and by no parent of it.
 */
#ifndef BENCH_PLAN_PLUGIN_FILE_H
#define BENCH_PLAN_PLUGIN_FILE_H

#include <limits.h>

#include "backends/parallel/transport.h"

/* Those that this tree has; the last one has no name. */
struct plugin_known {
	const char *name, *summary;
	const char *package; /* what builds it */
	/* The program that starts its cores, and who has that. */
	const char *launcher, *launcher_package;
	const char *library; /* that its --version names */
	int sums_natively; /* by --allreduce native */
};

extern const struct plugin_known plugins_known[];

/* NULL: not of this tree. */
const struct plugin_known *plugin_known_find(const char *name);

/*
 * Path of NAME.so: the file of --plugin, if that is its name, or one in
 * plugins/ beside this program, in ../lib/bench/ from there, or in
 * ~/.local/lib/bench/. -1: nowhere.
 */
int plugin_find(const char *name, char path[PATH_MAX]);

/* For --plugin FILE: this process finds it, and those that it starts.
 * ERROR_USAGE: there is none. */
int plugin_choose(const char *file, struct error *err);

/*
 * Opens it, for good. A process of its own does it first, so that one that
 * crashes is refused like any other: ERROR_MISSING names the file, what is
 * wrong with it, and the way out.
 */
int plugin_open(const char *name, const struct transport **transport,
		struct error *err);

/* The same in the process of its own alone: can it be opened? */
int plugin_try(const char *name, struct error *err);

#endif
