#include "bench/system/array.h"

#include <stdlib.h>

int array_make_room(void **items, size_t count, size_t *room, size_t size,
		    const char *what, struct error *err)
{
	const size_t more = *room ? 2 * *room : 64;
	void *grown;

	if (count < *room)
		return 0;
	grown = realloc(*items, more * size);
	if (!grown)
		return error_memory(err, what);
	*items = grown;
	*room = more;
	return 0;
}
