/* Plug-ins: transports in shared objects (backends/parallel/plugin.h). They are
 * found by name. Only the measuring process opens them, never its parent. */
#ifndef BENCH_PLAN_PLUGIN_FILE_H
#define BENCH_PLAN_PLUGIN_FILE_H

#include <limits.h>

#include "backends/parallel/transport.h"

/* The plug-ins of this tree. The last entry has no name. */
struct plugin_known {
	const char *name, *summary;
	const char *package; /* package that is needed to build it */
	/* program that starts its cores, and the package of that program */
	const char *launcher, *launcher_package;
	const char *library; /* name that `launcher --version` has to print */
	int sums_natively; /* 1: supports --allreduce native */
};

extern const struct plugin_known plugins_known[];

/* Returns NULL if the plug-in is not of this tree. */
const struct plugin_known *plugin_known_find(const char *name);

/*
 * Finds NAME.so. This is the file of --plugin if it has that name. Otherwise it
 * is a file in plugins/ next to this program, in ../lib/bench/ from there, or
 * in ~/.local/lib/bench/. Returns -1 if there is none.
 */
int plugin_find(const char *name, char path[PATH_MAX]);

/* Makes the FILE of --plugin known to this process and to its children. Fails
 * with ERROR_MISSING if the file cannot be read, and with ERROR_USAGE if it is
 * not called NAME.so. */
int plugin_choose(const char *file, struct error *err);

/*
 * Opens a plug-in for the rest of the process. A child process opens it first,
 * so that a plug-in that crashes is reported like any other error.
 * ERROR_MISSING names the file, its defect and the way out.
 */
int plugin_open(const char *name, const struct transport **transport,
		struct error *err);

/* Opens the plug-in in a child process only. Fails as plugin_open() does. */
int plugin_try(const char *name, struct error *err);

#endif
