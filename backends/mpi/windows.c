#include "backends/mpi/windows.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>

#include "backends/contract/allocator.h"
#include "backends/mpi/check.h"

struct window {
	struct window *before;
	MPI_Win handle;
	size_t bytes; /* of this rank's part */
	char *parts[GROUP_MAX_SIZE];
};

int windows_one_host(void)
{
	MPI_Comm host;
	int all, here;

	mpi_must(MPI_Comm_size(MPI_COMM_WORLD, &all), "MPI_Comm_size");
	mpi_must(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0,
				     MPI_INFO_NULL, &host),
		 "MPI_Comm_split_type");
	mpi_must(MPI_Comm_size(host, &here), "MPI_Comm_size");
	mpi_must(MPI_Comm_free(&host), "MPI_Comm_free");
	return here == all;
}

/* Aligns a part: pages have other addresses in each rank, but equal offsets. */
static char *align(char *part)
{
	return part + (CACHE_LINE - (uintptr_t)part % CACHE_LINE) % CACHE_LINE;
}

int windows_prepare(struct windows *windows, struct error *err)
{
	if (!windows->next)
		windows->next = malloc(sizeof(*windows->next));
	return windows->next ? 0 : error_memory(err, "what the cores share");
}

/* bytes: of this rank's part. Open MPI's shared memory is files in a folder
 * that is small in containers. */
_Noreturn static void end_without_room(int code, size_t bytes)
{
	const char *folder = getenv("OMPI_MCA_osc_sm_backing_directory");
	char text[MPI_MAX_ERROR_STRING];
	struct statvfs about;
	struct error err;

	folder = folder ? folder : "/dev/shm";
	if (statvfs(folder, &about))
		about = (struct statvfs){ .f_bavail = 0 };
	error_set(&err, ERROR_MISSING, "MPI_Win_allocate_shared: %.100s; this "
		  "core needs %.2f MB of %.100s, which has %.2f MB left for "
		  "all cores: enlarge it, as by docker run --shm-size=1g",
		  mpi_error_text(code, text), (double)bytes * 1e-6, folder,
		  (double)about.f_bavail * (double)about.f_frsize * 1e-6);
	mpi_end_all(&err);
}

void *windows_add(struct windows *windows, size_t bytes, int owner)
{
	const size_t room = bytes ? bytes + CACHE_LINE : 0;
	struct window *window = windows->next;
	MPI_Aint size;
	char *part;
	int unit, code;

	code = MPI_Win_allocate_shared((MPI_Aint)room, 1, MPI_INFO_NULL,
				       windows->ranks, &part, &window->handle);
	if (code)
		end_without_room(code, room);
	windows->next = NULL;
	window->before = windows->last;
	window->bytes = room;
	windows->last = window;
	if (room)
		memset(part, 0, room);
	for (int r = 0; r < windows->size; r++) {
		mpi_must(MPI_Win_shared_query(window->handle, r, &size, &unit,
					      &part), "MPI_Win_shared_query");
		window->parts[r] = align(part);
	}
	return window->parts[owner];
}

int windows_find(const struct windows *windows, const float *values,
		 float *theirs[GROUP_MAX_SIZE])
{
	const struct window *window = windows->last;

	for (; window; window = window->before) {
		const char *own = window->parts[windows->rank];
		const uintptr_t at = (uintptr_t)values - (uintptr_t)own;

		if ((uintptr_t)values < (uintptr_t)own || at >= window->bytes)
			continue;
		for (int r = 0; r < windows->size; r++)
			theirs[r] = (float *)(void *)(window->parts[r] + at);
		return 1;
	}
	return 0;
}

void windows_release(struct windows *windows)
{
	while (windows->last) {
		struct window *window = windows->last;

		windows->last = window->before;
		mpi_must(MPI_Win_free(&window->handle), "MPI_Win_free");
		free(window);
	}
	free(windows->next);
}
