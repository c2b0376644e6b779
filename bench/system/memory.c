#include "bench/system/memory.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

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

/*
 * The C library's open_memstream() sets no error without memory: the text is
 * silently cut or missing.
 *
 * Writes for a stream: returns the bytes taken, 0 on failure.
 */
static ssize_t write_memory(void *cookie, const char *bytes, size_t count)
{
	struct memory_text *memory = cookie;
	size_t room = memory->room ? memory->room : 4096;
	char *grown;

	while (room - memory->size < count)
		room *= 2;
	if (room > memory->room && !memory->failed) {
		grown = realloc(memory->text, room);
		memory->failed = !grown;
		memory->text = grown ? grown : memory->text;
		memory->room = grown ? room : memory->room;
	}
	if (memory->failed)
		return 0;
	memcpy(memory->text + memory->size, bytes, count);
	memory->size += count;
	return (ssize_t)count;
}

struct memory_text *memory_open(const char *what, struct error *err)
{
	struct memory_text *memory = calloc(1, sizeof(*memory));

	if (memory)
		memory->out = fopencookie(memory, "w",
					  (cookie_io_functions_t){
						  .write = write_memory });
	if (memory && memory->out)
		return memory;
	free(memory);
	error_memory(err, what);
	return NULL;
}

int memory_close(struct memory_text *memory, char **text, size_t *size,
		 const char *what, struct error *err)
{
	/* The last bytes come when it is closed, and then the NUL. */
	const int failed = fclose(memory->out) || !write_memory(memory, "", 1);

	*text = failed ? NULL : memory->text;
	*size = failed ? 0 : memory->size - 1;
	if (failed)
		free(memory->text);
	free(memory);
	return failed ? error_memory(err, what) : 0;
}

int memory_print(char **text, size_t *size, memory_printer *print,
		 const void *context, const char *what, struct error *err)
{
	struct memory_text *memory = memory_open(what, err);
	struct error other;
	int failed;

	*text = NULL;
	*size = 0;
	if (!memory)
		return -1;
	failed = print(memory->out, context, err);
	if (memory_close(memory, text, size, what, failed ? &other : err))
		return -1;
	if (failed) {
		free(*text);
		*text = NULL;
	}
	return failed ? -1 : 0;
}

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
