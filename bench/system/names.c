#include "bench/system/names.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

struct name {
	const char *text; /* first, so that a text alone can be compared */
	int number;
	char copy[];
};

static int compare(const void *left, const void *right)
{
	return strcmp(((const struct name *)left)->text,
		      ((const struct name *)right)->text);
}

int names_find(const struct names *names, const char *text)
{
	const struct name wanted = { .text = text };
	struct name *const *found = tfind(&wanted, &names->tree, compare);

	return found ? (*found)->number : -1;
}

int names_number(struct names *names, const char *text, struct error *err)
{
	const size_t size = strlen(text) + 1;
	int number = names_find(names, text);
	struct name *name;

	if (number >= 0)
		return number;
	name = malloc(sizeof(*name) + size);
	if (!name)
		return error_memory(err, "names");
	memcpy(name->copy, text, size);
	name->text = name->copy;
	name->number = names->count;
	if (!tsearch(name, &names->tree, compare)) {
		free(name);
		return error_memory(err, "names");
	}
	return names->count++;
}

void names_free(struct names *names)
{
	tdestroy(names->tree, free);
	*names = (struct names){ 0 };
}
