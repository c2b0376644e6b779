/*
 * What a plug-in is: a transport in a shared object of its own, NAME.so, which
 * defines bench_plugin. Of the program it may call error_set(), error_memory(),
 * group_slice(), buckets_number(), bucket_slice() and meeting_blame().
 */
#ifndef BACKENDS_PARALLEL_PLUGIN_H
#define BACKENDS_PARALLEL_PLUGIN_H

#include "backends/parallel/transport.h"

/* Raised by every change of what transports and the program have in common: all
 * of transport.h, and meeting.h, contract/error.h and contract/allocator.h. */
#define PLUGIN_VERSION 2
#define PLUGIN_SYMBOL "bench_plugin"

struct plugin {
	int version; /* PLUGIN_VERSION; it is the first in all versions */
	const struct transport *transport; /* called as its file is */
};

extern const struct plugin bench_plugin;

#endif
