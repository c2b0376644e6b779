/*
 * Interface of a plug-in: a transport in a shared object NAME.so that defines
 * bench_plugin. It may call these functions of the program: error_set(),
 * error_memory(), group_slice(), buckets_number(), bucket_slice() and
 * meeting_blame().
 */
#ifndef BACKENDS_PARALLEL_PLUGIN_H
#define BACKENDS_PARALLEL_PLUGIN_H

#include "backends/parallel/transport.h"

/* Incremented with every change of the interface: all of transport.h,
 * meeting.h, contract/error.h and contract/allocator.h. */
#define PLUGIN_VERSION 2
#define PLUGIN_SYMBOL "bench_plugin"

struct plugin {
	int version; /* PLUGIN_VERSION; the first member in all versions */
	const struct transport *transport; /* named as its file */
};

extern const struct plugin bench_plugin;

#endif
