/*
 * For tests, as LD_PRELOAD: calls of the program that fail on demand.
 *
 *   FAIL_AT=N         the N-th such call fails, counted from 1
 *   FAIL_STICKY=1     and all after it
 *   FAIL_KIND=KIND    which are counted: memory (the default), threads,
 *                     processes (and pipes to them) or locks (of files)
 *   FAIL_ERRNO=N      what a lock fails with
 *   FAIL_VERB=VERB    only in processes whose first argument this is
 *   FAIL_REPORT=FILE  gets a line when a call fails: what, and where from
 *
 * Only calls of the program itself fail, because drivers and compilers abort
 * when theirs do. What a library allocates on behalf of the program, to open
 * a file or to read a compressed one, is the program's: the stack is read up
 * to the first caller that is none of these libraries.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <unistd.h>
#include <unwind.h>

#define MOST_RANGES 64

enum kind { MEMORY, THREADS, PROCESSES, LOCKS, KINDS };

/* Of the machine code of the program (ours) and of what acts for it. */
struct range {
	uintptr_t from, to;
	int ours;
};

static struct range ranges[MOST_RANGES];
static int range_count;
static enum kind kind;
static long at; /* 0: nothing fails */
static int sticky, lock_errno;
static const char *report;
static atomic_long calls;
static _Thread_local int busy;

static const struct range *find_range(uintptr_t address)
{
	for (int i = 0; i < range_count; i++)
		if (address >= ranges[i].from && address < ranges[i].to)
			return &ranges[i];
	return NULL;
}

/* Takes the address of the first caller that acts for nobody else. */
static _Unwind_Reason_Code skip_helpers(struct _Unwind_Context *frame,
					void *found)
{
	const uintptr_t address = _Unwind_GetIP(frame);
	const struct range *range = find_range(address);

	if (range && !range->ours)
		return _URC_NO_REASON;
	*(uintptr_t *)found = address;
	return _URC_END_OF_STACK;
}

/* Where in the program a call comes from, or 0 if it is not the program's. */
static uintptr_t find_caller(uintptr_t address)
{
	const struct range *range = find_range(address);

	if (range && !range->ours) {
		address = 0;
		_Unwind_Backtrace(skip_helpers, &address);
		range = find_range(address);
	}
	return range && range->ours ? address : 0;
}

static void write_report(const char *name, uintptr_t address)
{
	char line[128];
	int fd = open(report, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
	int length = snprintf(line, sizeof(line), "%s %#lx\n", name,
			      (unsigned long)(address - ranges[0].from));

	if (fd < 0)
		return;
	/* Without a report the test takes this for the last call. */
	if (write(fd, line, (size_t)length) != length)
		unlink(report);
	close(fd);
}

static int must_fail(enum kind which, const char *name, void *return_address)
{
	uintptr_t caller;
	long number;
	int fails = 0;

	if (!at || which != kind || busy)
		return 0;
	busy = 1;
	caller = find_caller((uintptr_t)return_address);
	if (caller) {
		number = atomic_fetch_add(&calls, 1) + 1;
		fails = number == at || (sticky && number > at);
		if (fails && number == at && report)
			write_report(name, caller);
	}
	busy = 0;
	return fails;
}

/* Libraries that work for whoever calls them. */
static int is_helper(const char *path)
{
	static const char *const names[] = {
		"libc.so", "ld-linux", "libz.so", "libcsv.so", "libnettle.so",
		"libjansson.so", "libjpeg.so", "libpng16.so", "libgcc_s.so",
		"libasan.so", "libubsan.so", "fail_calls.so",
	};
	const char *name = strrchr(path, '/');

	name = name ? name + 1 : path;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strncmp(name, names[i], strlen(names[i])))
			return 1;
	return 0;
}

/* The program comes first, without a name. */
static int add_module(struct dl_phdr_info *module, size_t size, void *context)
{
	const int ours = range_count == 0;
	uintptr_t end = 0;

	(void)size;
	(void)context;
	if ((!ours && !is_helper(module->dlpi_name)) ||
	    range_count == MOST_RANGES)
		return 0;
	for (int i = 0; i < module->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &module->dlpi_phdr[i];

		if (part->p_type == PT_LOAD && part->p_vaddr + part->p_memsz >
						       end)
			end = part->p_vaddr + part->p_memsz;
	}
	ranges[range_count++] = (struct range){
		module->dlpi_addr, module->dlpi_addr + end, ours };
	return 0;
}

/* Is this the verb that FAIL_VERB names, if it names one? */
static int is_meant(void)
{
	const char *verb = getenv("FAIL_VERB");
	char line[256];
	const char *first;
	ssize_t length;
	int fd;

	if (!verb)
		return 1;
	fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
	length = fd < 0 ? -1 : read(fd, line, sizeof(line) - 1);
	if (fd >= 0)
		close(fd);
	if (length <= 0)
		return 0;
	line[length] = '\0';
	first = line + strlen(line) + 1;
	return first < line + length && !strcmp(first, verb);
}

__attribute__((constructor)) static void begin(void)
{
	static const char *const kinds[KINDS] = { "memory", "threads",
						  "processes", "locks" };
	const char *number = getenv("FAIL_AT"), *name = getenv("FAIL_KIND");
	const char *why = getenv("FAIL_ERRNO");

	if (!number || !is_meant())
		return;
	for (int i = 0; name && i < KINDS; i++)
		if (!strcmp(name, kinds[i]))
			kind = (enum kind)i;
	lock_errno = why ? (int)strtol(why, NULL, 10) : ENOLCK;
	report = getenv("FAIL_REPORT");
	sticky = getenv("FAIL_STICKY") != NULL;
	dl_iterate_phdr(add_module, NULL);
	at = strtol(number, NULL, 10);
}

/*
 * The real function, kept in known once it was found: others begin before the
 * constructor above. What asks for memory to look it up gets none, and makes
 * do without; another thread looks for itself.
 */
static _Thread_local int looking_up;

static void *look_up(const char *name, void *_Atomic *known)
{
	void *found = atomic_load(known);

	if (found || looking_up)
		return found;
	looking_up = 1;
	found = dlsym(RTLD_NEXT, name);
	looking_up = 0;
	if (found)
		atomic_store(known, found);
	return found;
}

/* ISO C has no way from void * to a function; POSIX promises this one. */
#define REAL(name) \
	static void *_Atomic known; \
	__typeof__(&name) real; \
	*(void **)&real = look_up(#name, &known)

#define FAILS(kind, name) must_fail(kind, name, __builtin_return_address(0))

void *malloc(size_t size)
{
	REAL(malloc);
	if (!real || FAILS(MEMORY, "malloc")) {
		errno = ENOMEM;
		return NULL;
	}
	return real(size);
}

void *calloc(size_t count, size_t size)
{
	REAL(calloc);
	if (!real || FAILS(MEMORY, "calloc")) {
		errno = ENOMEM;
		return NULL;
	}
	return real(count, size);
}

void *realloc(void *memory, size_t size)
{
	REAL(realloc);
	if (!real || (size && FAILS(MEMORY, "realloc"))) {
		errno = ENOMEM;
		return NULL;
	}
	return real(memory, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
	REAL(aligned_alloc);
	if (!real || FAILS(MEMORY, "aligned_alloc")) {
		errno = ENOMEM;
		return NULL;
	}
	return real(alignment, size);
}

int posix_memalign(void **memory, size_t alignment, size_t size)
{
	REAL(posix_memalign);
	if (!real || FAILS(MEMORY, "posix_memalign"))
		return ENOMEM;
	return real(memory, alignment, size);
}

void *mmap(void *address, size_t length, int protection, int flags, int fd,
	   off_t offset)
{
	REAL(mmap);
	if (!real || FAILS(MEMORY, "mmap")) {
		errno = ENOMEM;
		return MAP_FAILED;
	}
	return real(address, length, protection, flags, fd, offset);
}

int memfd_create(const char *name, unsigned int flags)
{
	REAL(memfd_create);
	if (!real || FAILS(MEMORY, "memfd_create")) {
		errno = ENOMEM;
		return -1;
	}
	return real(name, flags);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
		   void *(*body)(void *), void *argument)
{
	REAL(pthread_create);
	if (!real || FAILS(THREADS, "pthread_create"))
		return EAGAIN;
	return real(thread, attributes, body, argument);
}

int pipe2(int ends[2], int flags)
{
	REAL(pipe2);
	if (!real || FAILS(PROCESSES, "pipe2")) {
		errno = EMFILE;
		return -1;
	}
	return real(ends, flags);
}

pid_t fork(void)
{
	REAL(fork);
	if (!real || FAILS(PROCESSES, "fork")) {
		errno = EAGAIN;
		return -1;
	}
	return real();
}

int posix_spawnp(pid_t *pid, const char *path,
		 const posix_spawn_file_actions_t *files,
		 const posix_spawnattr_t *attributes, char *const argv[],
		 char *const environment[])
{
	REAL(posix_spawnp);
	if (!real || FAILS(PROCESSES, "posix_spawnp"))
		return EAGAIN;
	return real(pid, path, files, attributes, argv, environment);
}

int flock(int fd, int operation)
{
	REAL(flock);
	if (!real || FAILS(LOCKS, "flock")) {
		errno = lock_errno;
		return -1;
	}
	return real(fd, operation);
}
