#include "bench/plan/plugin_file.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backends/parallel/plugin.h"
#include "bench/system/interrupt.h"
#include "bench/system/process.h"

#define CHOSEN "BENCH_PLUGIN" /* the file of --plugin */
#define LIMIT_S 20	      /* to open one, without waits for a CPU */
#define WAY_OUT "build it again with the headers of this bench, or leave out " \
		"its targets"

const struct plugin_known plugins_known[] = {
	{ "mpi", "one rank of MPI per core, on one host or several (plug-in)",
	  "libopenmpi-dev", "mpirun", "openmpi-bin", "Open MPI", 1 },
	{ .name = NULL },
};

const struct plugin_known *plugin_known_find(const char *name)
{
	for (const struct plugin_known *known = plugins_known; known->name;
	     known++)
		if (!strcmp(known->name, name))
			return known;
	return NULL;
}

/* Returns 1 if the last part of path is NAME.so. */
static int is_called(const char *path, const char *name)
{
	const char *slash = strrchr(path, '/');
	const char *file = slash ? slash + 1 : path;
	const size_t length = strlen(name);

	return !strncmp(file, name, length) && !strcmp(file + length, ".so");
}

static int is_there(const char *folder, const char *below, const char *name,
		    char path[PATH_MAX])
{
	const int length = snprintf(path, PATH_MAX, "%s/%s/%s.so", folder,
				    below, name);

	return length > 0 && length < PATH_MAX && !access(path, R_OK);
}

int plugin_find(const char *name, char path[PATH_MAX])
{
	const char *chosen = getenv(CHOSEN), *home = getenv("HOME");
	char folder[PATH_MAX];
	const ssize_t length = readlink("/proc/self/exe", folder,
					sizeof(folder) - 1);

	if (!*name || strchr(name, '/'))
		return -1;
	if (chosen && is_called(chosen, name)) {
		snprintf(path, PATH_MAX, "%s", chosen);
		return 0;
	}
	folder[length > 0 ? length : 0] = '\0';
	if (strrchr(folder, '/'))
		*strrchr(folder, '/') = '\0';
	return is_there(folder, "plugins", name, path) ||
	       is_there(folder, "../lib/bench", name, path) ||
	       (home && is_there(home, ".local/lib/bench", name, path)) ?
		       0 : -1;
}

int plugin_choose(const char *file, struct error *err)
{
	char path[PATH_MAX];
	const char *end;

	if (!realpath(file, path) || access(path, R_OK))
		return error_set(err, ERROR_MISSING, "--plugin %s: %s", file,
				 strerror(errno));
	end = strrchr(path, '.');
	if (!end || strcmp(end, ".so"))
		return error_set(err, ERROR_USAGE, "--plugin %s: a plug-in is "
				 "called NAME.so, and its targets cpu-2@NAME",
				 file);
	return process_set(CHOSEN, path, err);
}

static int refuse(const char *path, const char *what, const char *way_out,
		  struct error *err)
{
	return error_set(err, ERROR_MISSING, "plug-in %s %.500s; %s", path,
			 what, way_out);
}

static int check_transport(const char *path, const char *name,
			   const struct transport *transport, struct error *err)
{
	char what[160];

	snprintf(what, sizeof(what), "has no transport '%s'", name);
	if (!transport || !transport->name || strcmp(transport->name, name))
		return refuse(path, what, "the file must have the name of its "
			      "transport: rename it, or leave out its targets",
			      err);
	if (!transport->launch || !transport->gather || !transport->offer ||
	    !transport->reduce_scatter || !transport->all_gather ||
	    !transport->join != !transport->leave)
		return refuse(path, "lacks a function of struct transport",
			      "backends/parallel/transport.h has all", err);
	return 0;
}

/* The object is never closed: pointers to its code may be anywhere. */
static int load(const char *path, const char *name,
		const struct transport **transport, struct error *err)
{
	void *object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	const struct plugin *plugin;
	char what[560];

	if (!object) {
		snprintf(what, sizeof(what), "cannot be loaded: %s", dlerror());
		return refuse(path, what, "install the library that it names, "
			      "or " WAY_OUT, err);
	}
	plugin = dlsym(object, PLUGIN_SYMBOL);
	if (!plugin)
		return refuse(path, "has no symbol " PLUGIN_SYMBOL, "it is no "
			      "plug-in of bench: leave out its targets", err);
	if (plugin->version != PLUGIN_VERSION) {
		snprintf(what, sizeof(what), "has version %d, but this bench "
			 "needs version %d", plugin->version, PLUGIN_VERSION);
		return refuse(path, what, WAY_OUT, err);
	}
	*transport = plugin->transport;
	return check_transport(path, name, plugin->transport, err);
}

struct plugin_trial {
	const char *path, *name;
};

static int try_alone(struct group *group, void *context, struct error *err)
{
	const struct plugin_trial *trial = context;
	const struct transport *transport;

	(void)group;
	interrupt_after(LIMIT_S);
	return load(trial->path, trial->name, &transport, err);
}

static int find_and_try(const char *name, char path[PATH_MAX],
			struct error *err)
{
	struct plugin_trial trial = { path, name };
	const struct group_job job = { .body = try_alone,
				       .context = &trial,
				       .context_size = sizeof(trial) };
	struct error cause;

	if (plugin_find(name, path))
		return error_set(err, ERROR_MISSING, "there is no plug-in "
				 "%s.so", name);
	if (!group_launch(transport_find("fork"), 1, &job, &cause))
		return 0;
	if (cause.kind == ERROR_FAILED && !cause.memory) {
		char what[560];

		snprintf(what, sizeof(what), "crashes the process that loads "
					     "it: %.500s",
			 cause.message);
		return refuse(path, what, WAY_OUT, err);
	}
	*err = cause;
	return -1;
}

int plugin_open(const char *name, const struct transport **transport,
		struct error *err)
{
	char path[PATH_MAX];

	return find_and_try(name, path, err) ||
			       load(path, name, transport, err) ? -1 : 0;
}

int plugin_try(const char *name, struct error *err)
{
	char path[PATH_MAX];

	return find_and_try(name, path, err);
}
