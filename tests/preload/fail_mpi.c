/*
 * For tests, as LD_PRELOAD: a call of MPI that fails on one rank.
 *
 *   FAIL_MPI=,FUNCTION,FUNCTION,
 *                      each one of those below, which returns MPI_ERR_OTHER ...
 *   FAIL_RANK=RANK     ... on this rank, and does nothing, ...
 *   FAIL_AT=N          ... the N-th time
 *   FAIL_REPORT=FILE   is made then
 *
 * Without mpi.h: all arguments of these functions are pointers and integers; a
 * call passes at most eight.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ERR_OTHER 16 /* of Open MPI's mpi.h */

typedef int call(long a, long b, long c, long d, long e, long f, long g,
		 long h);

static int must_fail(const char *name, atomic_long *calls)
{
	const char *wanted = getenv("FAIL_MPI"), *rank = getenv("FAIL_RANK");
	const char *own = getenv("OMPI_COMM_WORLD_RANK");
	const char *at = getenv("FAIL_AT"), *report = getenv("FAIL_REPORT");
	char listed[64];

	snprintf(listed, sizeof(listed), ",%s,", name);
	if (!wanted || !rank || !own || !at || !strstr(wanted, listed) ||
	    strcmp(rank, own) ||
	    atomic_fetch_add(calls, 1) + 1 != strtol(at, NULL, 10))
		return 0;
	if (report)
		close(open(report, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
	return 1;
}

/* The library is the plug-in's, whom alone the program looks it up for. */
static int find_library(struct dl_phdr_info *module, size_t size, void *found)
{
	(void)size;
	if (!strstr(module->dlpi_name, "/libmpi.so"))
		return 0;
	*(void **)found = dlopen(module->dlpi_name, RTLD_LAZY | RTLD_NOLOAD);
	return 1;
}

static void *look_up(const char *name)
{
	void *library = NULL;

	dl_iterate_phdr(find_library, &library);
	return library ? dlsym(library, name) : NULL;
}

#define CALL(name) \
	call name; \
	int name(long a, long b, long c, long d, long e, long f, long g, \
		 long h) \
	{ \
		static atomic_long calls; \
		call *real; \
\
		*(void **)&real = look_up(#name); \
		return !real || must_fail(#name, &calls) ? \
			       ERR_OTHER : real(a, b, c, d, e, f, g, h); \
	}

CALL(MPI_Abort)
CALL(MPI_Allgather)
CALL(MPI_Allreduce)
CALL(MPI_Cancel)
CALL(MPI_Comm_free)
CALL(MPI_Comm_rank)
CALL(MPI_Comm_set_errhandler)
CALL(MPI_Comm_size)
CALL(MPI_Comm_split_type)
CALL(MPI_Error_string)
CALL(MPI_Finalize)
CALL(MPI_Get_processor_name)
CALL(MPI_Iallgather)
CALL(MPI_Init_thread)
CALL(MPI_Iprobe)
CALL(MPI_Irecv)
CALL(MPI_Isend)
CALL(MPI_Query_thread)
CALL(MPI_Recv)
CALL(MPI_Request_free)
CALL(MPI_Test)
CALL(MPI_Testall)
CALL(MPI_Win_allocate_shared)
CALL(MPI_Win_free)
CALL(MPI_Win_shared_query)
