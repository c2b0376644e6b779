/* Arrays that grow by one item after the other. */
#ifndef BENCH_SYSTEM_ARRAY_H
#define BENCH_SYSTEM_ARRAY_H

#include <stddef.h>

#include "backends/contract/error.h"

/*
 * Has room for one more item of size bytes behind the count that are there.
 * *room is for how many there is; it and *items, which may be NULL, change
 * where that was not enough. what is named where memory is lacking; items are
 * then as they were.
 */
int array_make_room(void **items, size_t count, size_t *room, size_t size,
		    const char *what, struct error *err);

#endif
