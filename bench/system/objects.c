#include "bench/system/objects.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench/system/clock.h"
#include "bench/system/file.h"
#include "bench/system/memory.h"

#define VARIABLE "BENCH_OBJECTS"
/* No file system's times are coarser. */
#define SETTLED_S 2

/* Returns the path, with the line's end, in a line "from-to rwxp offset device
 * inode path" of a private mapping. Returns NULL if the mapping has no file, or
 * is shared, as for memory and devices. */
static const char *find_path(const char *line)
{
	char access[5];
	int at = 0;

	if (sscanf(line, "%*s %4s %*s %*s %*s %n", access, &at) != 1 ||
	    access[3] != 'p' || line[at] != '/')
		return NULL;
	return line + at;
}

static int print_paths(FILE *out, const void *context, struct error *err)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	char *line = NULL;
	size_t room = 0;

	(void)context;
	if (!maps)
		return error_set(err, ERROR_MISSING, "no /proc/self/maps");
	while (getline(&line, &room, maps) > 0) {
		const char *path = find_path(line);

		if (path)
			fputs(path, out);
	}
	free(line);
	fclose(maps);
	return 0;
}

/* An empty report is what a parent sees of a failure. */
void objects_report(void)
{
	const char *where = getenv(VARIABLE);
	struct error ignored;
	char *text;
	size_t size;
	int fd;

	if (!where || memory_print(&text, &size, print_paths, NULL,
				   "the mapped files", &ignored))
		return;
	fd = open(where, O_WRONLY | O_APPEND | O_NOCTTY | O_CLOEXEC);
	if (fd >= 0) {
		file_write_all(fd, text, size);
		close(fd);
	}
	free(text);
}

int objects_open(struct objects *objects, struct error *err)
{
	const int fd = memfd_create("bench-objects", MFD_CLOEXEC);

	objects->reports = fd < 0 ? NULL : fdopen(fd, "r");
	if (objects->reports) {
		snprintf(objects->variable, sizeof(objects->variable),
			 VARIABLE "=/proc/%ld/fd/%d", (long)getpid(), fd);
		return 0;
	}
	error_set(err, ERROR_FAILED, "no memory for the mapped files: %s",
		  strerror(errno));
	if (fd >= 0)
		close(fd);
	return -1;
}

static int compare(const void *left, const void *right)
{
	return strcmp(*(char *const *)left, *(char *const *)right);
}

/* Reads all reports and empties the file. */
static int take_text(struct objects *objects, struct error *err)
{
	const int fd = fileno(objects->reports);
	struct stat about;
	size_t used = 0;
	ssize_t count = 1;

	if (fstat(fd, &about))
		return error_set(err, ERROR_FAILED, "the mapped files cannot "
				 "be read: %s", strerror(errno));
	objects->text = malloc((size_t)about.st_size + 1);
	if (!objects->text)
		return error_memory(err, "the mapped files");
	while (count > 0 && used < (size_t)about.st_size) {
		count = pread(fd, objects->text + used,
			      (size_t)about.st_size - used, (off_t)used);
		used += count > 0 ? (size_t)count : 0;
	}
	objects->text[used] = '\0';
	if (ftruncate(fd, 0))
		return error_set(err, ERROR_FAILED, "the mapped files cannot "
				 "be read: %s", strerror(errno));
	return 0;
}

int objects_read(struct objects *objects, struct error *err)
{
	size_t lines = 0, kept = 0;
	char *next;

	free(objects->text);
	free(objects->paths);
	objects->text = NULL;
	objects->paths = NULL;
	objects->count = 0;
	if (take_text(objects, err))
		return -1;
	for (next = objects->text; (next = strchr(next, '\n')); next++)
		lines++;
	objects->paths = malloc((lines + 1) * sizeof(*objects->paths));
	if (!objects->paths)
		return error_memory(err, "the mapped files");
	next = objects->text;
	for (size_t i = 0; i < lines; i++) {
		objects->paths[i] = next;
		next = strchr(next, '\n');
		*next++ = '\0';
	}
	qsort(objects->paths, lines, sizeof(*objects->paths), compare);
	for (size_t i = 0; i < lines; i++)
		if (!kept || strcmp(objects->paths[kept - 1],
				    objects->paths[i]))
			objects->paths[kept++] = objects->paths[i];
	objects->count = kept;
	return 0;
}

void objects_close(struct objects *objects)
{
	if (objects->reports)
		fclose(objects->reports);
	free(objects->text);
	free(objects->paths);
	*objects = (struct objects){ 0 };
}

int object_stamp(const char *path, char stamp[OBJECT_STAMP_SIZE])
{
	struct stat about;

	stamp[0] = '\0';
	if (stat(path, &about) || !S_ISREG(about.st_mode))
		return -1;
	snprintf(stamp, OBJECT_STAMP_SIZE, "%lld.%llx.%llu.%lld.%09ld",
		 (long long)about.st_size, (unsigned long long)about.st_dev,
		 (unsigned long long)about.st_ino,
		 (long long)about.st_ctim.tv_sec, about.st_ctim.tv_nsec);
	return clock_wall() - (double)about.st_ctim.tv_sec < SETTLED_S;
}
