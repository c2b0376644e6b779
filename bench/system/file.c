#include "bench/system/file.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench/system/clock.h"
#include "bench/system/file_id.h"
#include "bench/system/hash.h"

enum {
	MODE = 0666,	  /* less the umask */
	OPEN_FOLDERS = 16 /* at a time, while a tree is removed */
};

static int output_error(const char *path, int number, struct error *err)
{
	return error_set(err, ERROR_OUTPUT, "cannot write %s: %s", path,
			 strerror(number));
}

int file_write_all(int fd, const char *bytes, size_t count)
{
	ssize_t written;

	while (count > 0) {
		written = write(fd, bytes, count);
		if (written < 0 && errno == EINTR)
			continue;
		if (written < 0)
			return errno;
		if (written == 0)
			return EIO;
		bytes += written;
		count -= (size_t)written;
	}
	return 0;
}

/* Returns a copy of our open descriptor, which shares its position in the file.
 * If the path were opened again, both would overwrite each other. */
static int open_straight(const char *path)
{
	int fd = -1;

	if (!strcmp(path, "/dev/stdout"))
		fd = 1;
	else if (!strcmp(path, "/dev/stderr"))
		fd = 2;
	else if (sscanf(path, "/dev/fd/%d", &fd) != 1)
		sscanf(path, "/proc/self/fd/%d", &fd);
	if (fd >= 0)
		return fcntl(fd, F_DUPFD_CLOEXEC, 0);
	return open(path, O_WRONLY | O_CREAT | O_APPEND | O_NOCTTY | O_CLOEXEC,
		    MODE);
}

/* Writes to a file without old content: a device, a pipe, a dangling link. It
 * is not truncated: /dev/stdout may be a file with content. */
static int write_straight(const char *path, const char *bytes, size_t count)
{
	int fd, number;

	fd = open_straight(path);
	if (fd < 0)
		return errno;
	number = file_write_all(fd, bytes, count);
	if (close(fd) && !number)
		number = errno;
	return number;
}

static int check_straight(const char *path)
{
	struct stat status;

	if (stat(path, &status) == 0 && S_ISDIR(status.st_mode))
		return EISDIR;
	return access(path, W_OK) && errno != ENOENT ? errno : 0;
}

/* A new file in the folder of the file to be replaced. */
struct file_draft {
	int folder, fd;
	int number; /* errno of what could not be printed */
	char name[NAME_MAX + 1], temporary[NAME_MAX + 1];
};

/* Splits real into the open folder and the name in it. */
static int draft_open_folder(struct file_draft *draft, char *real)
{
	char *slash = strrchr(real, '/');

	if (strlen(slash + 1) > NAME_MAX)
		return ENAMETOOLONG;
	snprintf(draft->name, sizeof(draft->name), "%s", slash + 1);
	slash[slash == real] = '\0';
	draft->folder = open(real, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return draft->folder < 0 ? errno : 0;
}

unsigned file_unique(void)
{
	unsigned number;

	/* A system that has just started may have nothing random yet. */
	if (getrandom(&number, sizeof(number), GRND_NONBLOCK) !=
	    sizeof(number))
		number = (unsigned)(unsigned long long)(clock_now() * 1e9) ^
			 (unsigned)getpid() << 16;
	return number;
}

static int draft_open(struct file_draft *draft)
{
	int tries;

	for (tries = 0; tries < 100; tries++) {
		snprintf(draft->temporary, sizeof(draft->temporary),
			 ".%.200s.tmp.%ld.%08x", draft->name, (long)getpid(),
			 file_unique());
		draft->fd = openat(draft->folder, draft->temporary,
				   O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW |
					   O_CLOEXEC,
				   MODE);
		if (draft->fd >= 0 || errno != EEXIST)
			break;
	}
	return draft->fd < 0 ? errno : 0;
}

/* The new file may be read and written by whom the old one could be. */
static void draft_copy_mode(struct file_draft *draft)
{
	struct stat old;

	if (fstatat(draft->folder, draft->name, &old, 0))
		return;
	/* Only root can give files away; the mode is kept in any case. */
	if (fchown(draft->fd, old.st_uid, old.st_gid) == 0 ||
	    old.st_uid == geteuid())
		(void)fchmod(draft->fd, old.st_mode & 07777);
}

static void draft_drop(struct file_draft *draft)
{
	close(draft->fd);
	unlinkat(draft->folder, draft->temporary, 0);
}

/* The draft takes the place of the file, unless its writing failed (number). */
static int draft_finish(struct file_draft *draft, int number)
{
	if (!number)
		draft_copy_mode(draft);
	if (!number && fsync(draft->fd))
		number = errno;
	if (close(draft->fd) && !number)
		number = errno;
	if (!number && renameat(draft->folder, draft->temporary, draft->folder,
				draft->name))
		number = errno;
	if (number) {
		unlinkat(draft->folder, draft->temporary, 0);
		return number;
	}
	/* The file is whole by now; some file systems cannot sync a folder. */
	if (fsync(draft->folder) && errno != EINVAL && errno != EBADF)
		number = errno;
	return number;
}

/* Sets real to the path without links, of a file that exists or can be created.
 * *straight: a rename could not replace it. Returns errno. */
static int resolve(const char *path, char real[PATH_MAX], int *straight)
{
	char folder[PATH_MAX];
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	struct stat status;
	size_t length = slash ? (size_t)(slash - path) + 1 : 0;

	*straight = 0;
	if (realpath(path, real)) {
		if (stat(real, &status))
			return errno;
		*straight = !S_ISREG(status.st_mode) ||
			    file_is_special(path);
		return *straight || access(real, W_OK) == 0 ? 0 : errno;
	}
	if (errno != ENOENT || !*name)
		return *name ? errno : EISDIR;
	if (lstat(path, &status) == 0) {
		*straight = 1;
		return 0;
	}
	if (length >= sizeof(folder))
		return ENAMETOOLONG;
	memcpy(folder, path, length);
	folder[length] = '\0';
	if (!realpath(length ? folder : ".", real))
		return errno;
	length = strlen(real);
	if (length + strlen(name) + 2 > PATH_MAX)
		return ENAMETOOLONG;
	snprintf(real + length, PATH_MAX - length, "%s%s",
		 length > 1 ? "/" : "", name);
	return 0;
}

/* Writes as file_replace() does; without bytes it only tries to, as
 * file_check() does. */
static int replace(const char *path, const char *bytes, size_t count,
		   struct error *err)
{
	struct file_draft draft = { .folder = -1, .fd = -1 };
	char real[PATH_MAX];
	int straight, number;

	number = resolve(path, real, &straight);
	if (!number && straight) {
		number = bytes ? write_straight(path, bytes, count) :
				 check_straight(path);
	} else if (!number) {
		number = draft_open_folder(&draft, real);
		if (!number)
			number = draft_open(&draft);
		if (!number && bytes)
			number = draft_finish(&draft,
					      file_write_all(draft.fd, bytes,
							     count));
		else if (!number)
			draft_drop(&draft);
		if (draft.folder >= 0)
			close(draft.folder);
	}
	return number ? output_error(path, number, err) : 0;
}

int file_replace(const char *path, const char *bytes, size_t count,
		 struct error *err)
{
	return replace(path, bytes, count, err);
}

int file_check(const char *path, struct error *err)
{
	return replace(path, NULL, 0, err);
}

/* Writes for a stream: returns the bytes taken, 0 on failure. */
static ssize_t write_draft(void *cookie, const char *bytes, size_t count)
{
	struct file_draft *draft = cookie;

	if (!draft->number)
		draft->number = file_write_all(draft->fd, bytes, count);
	return draft->number ? 0 : (ssize_t)count;
}

/* Prints in pieces, so that a large file needs little memory. */
static int draft_print(struct file_draft *draft, memory_printer *print,
		       const void *context, const char *path,
		       struct error *err)
{
	FILE *out = fopencookie(draft, "w", (cookie_io_functions_t){
						    .write = write_draft });
	int failed, lost;

	if (!out) {
		draft_drop(draft);
		return error_memory(err, path);
	}
	failed = print(out, context, err);
	/* The last bytes come when it is closed. */
	lost = ferror(out);
	if ((fclose(out) || lost) && !draft->number)
		draft->number = EIO;
	if (failed && !draft->number) {
		draft_drop(draft);
		return -1;
	}
	draft->number = draft_finish(draft, draft->number);
	return draft->number ? output_error(path, draft->number, err) : 0;
}

static int print_straight(const char *path, memory_printer *print,
			  const void *context, struct error *err)
{
	char *text;
	size_t size;
	int rc = memory_print(&text, &size, print, context, path, err);

	if (!rc)
		rc = file_replace(path, text, size, err);
	free(text);
	return rc;
}

int file_replace_with(const char *path, memory_printer *print,
		      const void *context, struct error *err)
{
	struct file_draft draft = { .folder = -1, .fd = -1 };
	char real[PATH_MAX];
	int straight, rc = 0, number = resolve(path, real, &straight);

	if (!number && straight)
		return print_straight(path, print, context, err);
	if (!number)
		number = draft_open_folder(&draft, real);
	if (!number)
		number = draft_open(&draft);
	if (!number)
		rc = draft_print(&draft, print, context, path, err);
	if (draft.folder >= 0)
		close(draft.folder);
	return number ? output_error(path, number, err) : rc;
}

int file_make_folder(const char *path, struct error *err)
{
	char part[PATH_MAX];
	struct stat status;
	size_t i, length = strlen(path);

	if (length == 0 || length >= sizeof(part))
		return output_error(path, length ? ENAMETOOLONG : ENOENT, err);
	for (i = 1; i <= length; i++) {
		if (path[i] != '/' && path[i] != '\0')
			continue;
		memcpy(part, path, i);
		part[i] = '\0';
		if (mkdir(part, 0777) && errno != EEXIST)
			return output_error(part, errno, err);
	}
	if (stat(path, &status))
		return output_error(path, errno, err);
	if (!S_ISDIR(status.st_mode))
		return output_error(path, ENOTDIR, err);
	return 0;
}

int file_make_scratch(char *path, size_t size, const char *name,
		      struct error *err)
{
	const char *base = getenv("TMPDIR");
	const int written = snprintf(path, size, "%s/%s-XXXXXX",
				     base && *base ? base : "/tmp", name);

	if (written < 0 || (size_t)written >= size)
		errno = ENAMETOOLONG;
	else if (mkdtemp(path))
		return 0;
	output_error(path, errno, err);
	path[0] = '\0';
	return -1;
}

static int remove_entry(const char *path, const struct stat *status, int kind,
			struct FTW *at)
{
	(void)status, (void)kind, (void)at;
	remove(path);
	return 0; /* on to the next one, in any case */
}

void file_remove_tree(const char *path)
{
	nftw(path, remove_entry, OPEN_FOLDERS, FTW_DEPTH | FTW_PHYS);
}

/* The XDG Base Directory Specification ignores relative ones. */
void kept_cache(char path[PATH_MAX])
{
	const char *cache = getenv("XDG_CACHE_HOME");
	const char *home = getenv("HOME");
	int written = 0;

	if (cache && *cache == '/')
		written = snprintf(path, PATH_MAX, "%s/bench", cache);
	else if (home && *home)
		written = snprintf(path, PATH_MAX, "%s/.cache/bench", home);
	if (written <= 0 || written >= PATH_MAX)
		path[0] = '\0';
}

/* The folder and, below it, the file of this question. Returns 1 if there can
 * be none. */
static int find_place(const char *folder, const char *question,
		      char dir[PATH_MAX], char path[PATH_MAX])
{
	char cache[PATH_MAX], hex[HASH_SHA256_SIZE];

	kept_cache(cache);
	hash_sha256(NULL, 0, question, strlen(question), hex);
	return !cache[0] ||
	       snprintf(dir, PATH_MAX, "%s/%s", cache, folder) >= PATH_MAX ||
	       snprintf(path, PATH_MAX, "%s/%s", dir, hex) >= PATH_MAX;
}

/* A file that only this user could have written. */
static int is_ours(const char *path)
{
	struct stat about;

	return !lstat(path, &about) && S_ISREG(about.st_mode) &&
	       about.st_uid == geteuid() &&
	       !(about.st_mode & (S_IWGRP | S_IWOTH));
}

/* The answer within text, all of a file; NULL: it is not whole. */
static char *find_answer(char *text, const char *question)
{
	const size_t length = strlen(question);
	char hex[HASH_SHA256_SIZE], *body = strchr(text, '\n');

	if (!body)
		return NULL;
	*body++ = '\0';
	hash_sha256(NULL, 0, body, strlen(body), hex);
	return strcmp(text, hex) || strncmp(body, question, length) ?
		       NULL : body + length;
}

char *kept_find(const char *folder, const char *question)
{
	char dir[PATH_MAX], path[PATH_MAX], *text = NULL, *answer = NULL;
	size_t room = 0;
	FILE *file;

	if (find_place(folder, question, dir, path) || !is_ours(path))
		return NULL;
	file = fopen(path, "re");
	if (!file)
		return NULL;
	if (getdelim(&text, &room, '\0', file) > 0)
		answer = find_answer(text, question);
	fclose(file);
	if (answer)
		answer = strdup(answer);
	free(text);
	return answer;
}

struct pair {
	const char *question, *answer;
};

static int print_pair(FILE *out, const void *context, struct error *err)
{
	const struct pair *pair = context;
	char hex[HASH_SHA256_SIZE];

	(void)err;
	hash_sha256(pair->question, strlen(pair->question), pair->answer,
		    strlen(pair->answer), hex);
	fprintf(out, "%s\n%s%s", hex, pair->question, pair->answer);
	return 0;
}

int kept_add(const char *folder, const char *question, const char *answer,
	     struct error *err)
{
	const struct pair pair = { question, answer };
	char dir[PATH_MAX], path[PATH_MAX];

	if (find_place(folder, question, dir, path))
		return error_set(err, ERROR_OUTPUT, "there is no cache folder: "
				 "neither XDG_CACHE_HOME nor HOME names one");
	if (file_make_folder(dir, err))
		return -1;
	/* Any file or link of this name is useless. */
	unlink(path);
	if (file_replace_with(path, print_pair, &pair, err))
		return -1;
	/* kept_find() would reject a file that others may write by the
	 * umask. */
	if (chmod(path, S_IRUSR | S_IWUSR))
		return error_set(err, ERROR_OUTPUT, "cannot write %.900s",
				 path);
	return 0;
}
