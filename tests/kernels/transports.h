/* For tests: the transports, and a launch of cores on one. */
#ifndef TESTS_TRANSPORTS_H
#define TESTS_TRANSPORTS_H

#include "backends/parallel/transport.h"
#include "tests/cmocka.h"

#define MOST 8 /* cores */

static const char *const names[] = { "self", "threads", "fork" };

#define TRANSPORTS (int)(sizeof(names) / sizeof(names[0]))

static inline const struct transport *find(const char *name)
{
	const struct transport *transport = transport_find(name);

	assert_non_null(transport);
	return transport;
}

/* Returns the largest number of cores of a transport, at most MOST. */
static inline int most_cores(const char *name)
{
	const int most = find(name)->max_size;

	return most < MOST ? most : MOST;
}

/* Cores that are processes share only the bytes of the context. */
static inline int launch(const char *name, int size, group_body *body,
			 void *context, size_t context_size, struct error *err)
{
	const struct group_job job = { body, context, context_size, NULL };

	return group_launch(find(name), size, &job, err);
}

#endif
