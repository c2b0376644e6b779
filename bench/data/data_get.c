#include "bench/data/data_get.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench/data/dataset_files.h"
#include "bench/system/file.h"
#include "bench/system/process.h"

#define MAX_BYTES 67108864 /* the largest known file has 26 million */
#define TEXT_OF(number) #number
#define TEXT(number) TEXT_OF(number)
#define CURL_WRITE_ERROR 23
#define CURL_TOO_LARGE 63

static const struct {
	int code;
	const char *words;
} curl_codes[] = {
	{ 5, "the proxy's name cannot be resolved" },
	{ 6, "the host's name cannot be resolved" },
	{ 7, "no connection" },
	{ 22, "the server returned an error" },
	{ 28, "too slow" },
	{ 35, "the TLS handshake failed" },
	{ 60, "the server's certificate is not trusted" },
	{ 63, "larger than " TEXT(MAX_BYTES) " bytes" },
};

static int is_https(const char *url)
{
	return !strncmp(url, "https://", 8);
}

/* Returns the defect of a URL, or NULL. */
static const char *check_url(const char *url)
{
	if (!is_https(url) && strncmp(url, "http://", 7))
		return "it must begin with https:// or http://";
	if (strpbrk(url, " \t\r\n?#"))
		return "it must not contain spaces, ? or #";
	return NULL;
}

static int check_curl(struct error *err)
{
	if (process_find_program("curl"))
		return 0;
	return error_set(err, ERROR_MISSING,
			 "curl was not found in $PATH; `apt-get install curl` "
			 "installs it");
}

/* Returns 1 if the file has the largest size allowed. */
static int is_full(const char *path)
{
	struct stat about;

	return !stat(path, &about) && about.st_size >= MAX_BYTES;
}

static int curl_failed(const char *url, const char *path,
		       const struct process_status *status, struct error *err)
{
	const int code = is_full(path) ? CURL_TOO_LARGE : status->code;

	if (status->signal == SIGINT || status->signal == SIGTERM)
		return error_set(err, ERROR_STOPPED, "download interrupted");
	if (status->signal && code < 0)
		return error_set(err, ERROR_FAILED,
				 "curl was ended by signal %d",
				 status->signal);
	if (code == CURL_WRITE_ERROR)
		return error_set(err, ERROR_OUTPUT,
				 "%.700s cannot be written", path);
	for (size_t i = 0; i < sizeof(curl_codes) / sizeof(curl_codes[0]); i++)
		if (curl_codes[i].code == code)
			return error_set(err, ERROR_MISSING, "%.700s: %s", url,
					 curl_codes[i].words);
	return error_set(err, ERROR_MISSING, "%.700s: curl exited with code %d",
			 url, code);
}

/*
 * Downloads url to the file at path, which is replaced. Fails with
 * ERROR_MISSING if it cannot be downloaded or is larger than 64 MiB. Fails with
 * ERROR_OUTPUT if it cannot be written, and with ERROR_STOPPED after the user's
 * Ctrl-C. The caller removes the rest at path after a failure. curl prints
 * messages of its own to standard error.
 */
static int download_file(const char *url, const char *path, struct error *err)
{
	/* A download by https is not redirected to plain http. */
	const char *protocols = is_https(url) ? "=https" : "=http,https";
	const char *const argv[] = {
		"curl",		 "--fail",	      "--location",
		"--silent",	 "--show-error",      "--globoff",
		"--proto",	 protocols,	      "--proto-redir",
		protocols,	 "--max-redirs",      "5",
		"--retry",	 "2",		      "--connect-timeout",
		"20",		 "--speed-limit",     "1000",
		"--speed-time",	 "30",		      "--max-time",
		"900",		 "--max-filesize",    TEXT(MAX_BYTES),
		"--output",	 path,		      "--url",
		url,		 NULL,
	};
	const struct process_setting setting = { .stdout_fd = -1,
						 .stderr_fd = -1 };
	struct process_status status;
	pid_t pid;

	if (process_start(argv, &setting, &pid, err))
		return -1;
	/* Before version 8.4, curl trusts the length that the server sends. */
	process_limit_files(pid, MAX_BYTES);
	if (process_wait(pid, &status, err))
		return -1;
	return status.code == 0 ? 0 : curl_failed(url, path, &status, err);
}

/* One of the four files on its way. */
struct transfer {
	const struct dataset_known *known;
	enum dataset_file file;
	const char *mirror;  /* the only mirror; NULL = the mirrors of known */
	char path[PATH_MAX]; /* final path */
	char part[PATH_MAX]; /* path until it is verified */
};

static int __attribute__((format(printf, 3, 4)))
make_name(char name[PATH_MAX], struct error *err, const char *format, ...)
{
	va_list arguments;
	int written;

	va_start(arguments, format);
	written = vsnprintf(name, PATH_MAX, format, arguments);
	va_end(arguments);
	if (written > 0 && written < PATH_MAX)
		return 0;
	return error_set(err, ERROR_USAGE,
			 "a name is empty or too long: %.100s", name);
}

/* Opens and locks the folder, so that a second download waits for the first.
 * Without locks it does not wait. */
static int lock_folder(const char *dir, FILE *log, struct error *err)
{
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0 || access(dir, W_OK)) {
		error_set(err, ERROR_OUTPUT, "%.700s cannot be written: %s",
			  dir, strerror(errno));
		if (fd >= 0)
			close(fd);
		return -1;
	}
	if (flock(fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK) {
		fprintf(log, "%s: another download is under way\n", dir);
		flock(fd, LOCK_EX);
	}
	return fd;
}

/* 0: the file at path is the known one; -1 with words when it is not. */
static int verify(const struct transfer *transfer, const char *path,
		  const char *source, char sha256[HASH_SHA256_SIZE],
		  struct error *err)
{
	const char *expected = transfer->known->sha256[transfer->file];

	if (dataset_file_hash(path, transfer->file, sha256, err))
		return -1;
	if (!strcmp(sha256, expected))
		return 0;
	return error_set(err, ERROR_INPUT,
			 "%.600s is not the file of %s: sha256 of its content "
			 "expected %s, found %s",
			 source, transfer->known->title, expected, sha256);
}

/*
 * Returns 1 if the right file exists, 0 if it can be downloaded to
 * transfer->path. A damaged file of that very name is from an interrupted
 * download and will be replaced; any other file belongs to the user.
 */
static int look_before(const struct transfer *transfer, const char *dir,
		       FILE *out, FILE *log, struct error *err)
{
	char path[PATH_MAX], sha256[HASH_SHA256_SIZE];
	struct error reason;
	struct stat about;

	if (!dataset_file_path(dir, transfer->file, path, sizeof(path)))
		return 0;
	if (!verify(transfer, path, path, sha256, &reason)) {
		fprintf(log, "already there: %s\n", path);
		fprintf(out, "%s\n", path);
		return 1;
	}
	if (!sha256[0] && !strcmp(path, transfer->path) &&
	    !stat(path, &about) && S_ISREG(about.st_mode)) {
		fprintf(log, "replacing it: %s\n", reason.message);
		return 0;
	}
	return error_set(err, ERROR_INPUT,
			 "%.800s; it is in the way: remove it, or choose "
			 "another folder with --data-dir", reason.message);
}

/* One mirror. ERROR_MISSING and ERROR_INPUT: try the next. */
static int try_mirror(const struct transfer *transfer, const char *mirror,
		      FILE *log, struct error *err)
{
	size_t length = strlen(mirror);
	char url[PATH_MAX], sha256[HASH_SHA256_SIZE];
	const char *slash = mirror[length - 1] == '/' ? "" : "/";

	if (make_name(url, err, "%s%s%s.gz", mirror, slash,
		      dataset_file_name(transfer->file)))
		return -1;
	fprintf(log, "downloading %s\n", url);
	fflush(log);
	if (download_file(url, transfer->part, err) ||
	    verify(transfer, transfer->part, url, sha256, err)) {
		unlink(transfer->part);
		return -1;
	}
	if (rename(transfer->part, transfer->path)) {
		error_set(err, ERROR_OUTPUT, "%.700s cannot be written: %s",
			  transfer->path, strerror(errno));
		unlink(transfer->part);
		return -1;
	}
	return 0;
}

/* Tries one mirror after the other. */
static int fetch(const struct transfer *transfer, FILE *log, struct error *err)
{
	const char *only[DATASET_MAX_MIRRORS] = { transfer->mirror };
	const char *const *mirrors =
		transfer->mirror ? only : transfer->known->mirrors;
	char tried[600] = "";
	int wrong = 0;

	for (int i = 0; i < DATASET_MAX_MIRRORS && mirrors[i]; i++) {
		size_t length = strlen(tried);
		struct error reason;

		if (!try_mirror(transfer, mirrors[i], log, &reason))
			return 0;
		if (reason.kind == ERROR_INPUT || !wrong)
			*err = reason;
		if (reason.kind != ERROR_INPUT && reason.kind != ERROR_MISSING)
			return -1;
		wrong |= reason.kind == ERROR_INPUT;
		fprintf(log, "%s\n", reason.message);
		snprintf(tried + length, sizeof(tried) - length, "%s%.250s",
			 length ? "; " : "", reason.message);
	}
	if (wrong)
		return -1;
	return error_set(err, ERROR_MISSING,
			 "%s of %s cannot be downloaded: %s; give a --mirror "
			 "URL that can be reached, or copy its four files "
			 "by hand, as %.150s",
			 dataset_file_name(transfer->file),
			 transfer->known->title, tried, transfer->path);
}

static int get_file(struct transfer *transfer, const char *dir, FILE *out,
		    FILE *log, struct error *err)
{
	const char *name = dataset_file_name(transfer->file);
	int there;

	if (make_name(transfer->path, err, "%s/%s.gz", dir, name) ||
	    make_name(transfer->part, err, "%s/%s.gz.part", dir, name))
		return -1;
	there = look_before(transfer, dir, out, log, err);
	if (there)
		return there < 0 ? -1 : 0;
	if (check_curl(err) || fetch(transfer, log, err))
		return -1;
	fprintf(out, "%s\n", transfer->path);
	return 0;
}

static int get_files(const char *mirror,
		     const struct dataset_known *known, const char *dir,
		     FILE *out, FILE *log, struct error *err)
{
	struct transfer transfer = {
		.known = known, .mirror = mirror
	};
	int status = 0;
	int lock;

	if (file_make_folder(dir, err))
		return -1;
	lock = lock_folder(dir, log, err);
	if (lock < 0)
		return -1;
	for (int file = 0; file < DATASET_FILES && !status; file++) {
		transfer.file = (enum dataset_file)file;
		status = get_file(&transfer, dir, out, log, err);
	}
	close(lock);
	if (!status)
		fprintf(log, "%s is complete in %s\n", known->title, dir);
	return status;
}

int data_get(const struct dataset_known *known, const struct options *options,
	     FILE *out, FILE *log, struct error *err)
{
	const char *wrong =
		options->mirror ? check_url(options->mirror) : NULL;
	struct dataset_search search;
	char dir[PATH_MAX];

	if (!known)
		return error_set(err, ERROR_USAGE,
				 "bench data get needs a data set: mnist or "
				 "fashion-mnist");
	if (wrong)
		return error_set(err, ERROR_USAGE, "--mirror %.300s: %s",
				 options->mirror, wrong);
	dataset_search_init(&search, NULL);
	if (!options->data_dir && !search.cache[0])
		return error_set(err, ERROR_USAGE,
				 "neither XDG_CACHE_HOME nor HOME is set: "
				 "choose a folder with --data-dir");
	if (options->data_dir ?
		    make_name(dir, err, "%s", options->data_dir) :
		    make_name(dir, err, "%s/%s", search.cache, known->name))
		return -1;
	return get_files(options->mirror, known, dir, out, log, err);
}
