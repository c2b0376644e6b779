#include "bench/run/download.h"

#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>

#include "bench/system/process.h"

#define MAX_BYTES 67108864 /* the largest known file has 26 million */
#define TEXT_OF(number) #number
#define TEXT(number) TEXT_OF(number)

static const struct {
	int code;
	const char *words;
} curl_codes[] = {
	{ 5, "the proxy's name is not known" },
	{ 6, "the host's name is not known" },
	{ 7, "no connection" },
	{ 22, "the server answers with an error" },
	{ 28, "too slow" },
	{ 35, "TLS fails" },
	{ 60, "the server's certificate is not trusted" },
	{ 63, "larger than " TEXT(MAX_BYTES) " bytes" },
};

#define CURL_WRITE_ERROR 23
#define CURL_TOO_LARGE 63

static int is_https(const char *url)
{
	return !strncmp(url, "https://", 8);
}

const char *download_check_url(const char *url)
{
	if (!is_https(url) && strncmp(url, "http://", 7))
		return "it should begin with https:// or http://";
	if (strpbrk(url, " \t\r\n?#"))
		return "spaces, ? and # cannot be in it";
	return NULL;
}

int download_check_program(struct error *err)
{
	if (process_find_program("curl"))
		return 0;
	return error_set(err, ERROR_MISSING,
			 "curl is not found in $PATH; `apt-get install curl` "
			 "brings it");
}

/* As many bytes came as we let it write. */
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
	return error_set(err, ERROR_MISSING, "%.700s: exit code %d of curl",
			 url, code);
}

int download_file(const char *url, const char *path, struct error *err)
{
	/* What came by https is not continued over plain http. */
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
	struct process_status status;
	const struct process_setting setting = { .stdout_fd = -1,
						 .stderr_fd = -1 };
	pid_t pid;

	if (process_start(argv, &setting, &pid, err))
		return -1;
	/* curl before 8.4 believes what the server says of the length. */
	process_limit_files(pid, MAX_BYTES);
	if (process_wait(pid, &status, err))
		return -1;
	return status.code == 0 ? 0 : curl_failed(url, path, &status, err);
}
