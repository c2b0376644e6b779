#include "backends/opencl/opencl.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SHOWN 60 /* of a path in a message */

/* Where PoCL keeps compiled kernels, in the order in which it looks. */
static const struct {
	const char *variable, *below;
} places[] = {
	{ "POCL_CACHE_DIR", "" },
	{ "XDG_CACHE_HOME", "/pocl/kcache" },
	{ "HOME", "/.cache/pocl/kcache" },
};

/*
 * Whether path is a folder that can be written, made if need be as PoCL does
 * it: even root cannot make one everywhere, so asking is not enough.
 */
static int can_write(char *path)
{
	for (char *at = strchr(path + 1, '/'); at; at = strchr(at + 1, '/')) {
		*at = '\0';
		mkdir(path, 0700);
		*at = '/';
	}
	if (mkdir(path, 0700) && errno != EEXIST)
		return 0;
	return !access(path, W_OK | X_OK);
}

void cache_explain(char *text, size_t size)
{
	text[0] = '\0';
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		const char *value = getenv(places[i].variable);
		char path[PATH_MAX];
		int length;

		if (!value || !value[0])
			continue;
		length = snprintf(path, sizeof(path), "%s%s", value,
				  places[i].below);
		errno = ENAMETOOLONG;
		if (length >= (int)sizeof(path) || !can_write(path))
			snprintf(text, size,
				 "its cache folder '%.*s%s' (from %s) cannot "
				 "be written: %s; set POCL_CACHE_DIR to a "
				 "folder that can", SHOWN, path,
				 length > SHOWN ? "..." : "",
				 places[i].variable, strerror(errno));
		return;
	}
}
