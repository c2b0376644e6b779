/*
 * Files of labels. The first byte chooses whether the images are apart in
 * folders or by folds of groups; the rest is the file, whose images are two
 * that are there.
 */
#include "bench/data/targets.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>

#include "tests/fuzz/fuzz.h"

const char fuzz_corpus[] = "targets";

enum {
	SPLIT = 1,
	MOST = 1 << 14 /* bytes of an input */
};

static char dirs[2][64]; /* without folders for training and test, and with */

static void add_file(const char *dir, const char *sub, const char *name)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir, sub);
	MUST(!mkdir(path, 0700));
	snprintf(path, sizeof(path), "%s/%s/%s", dir, sub, name);
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	MUST(fd >= 0 && write(fd, "x", 1) == 1 && !close(fd));
}

static void remove_dirs(void)
{
	static const char *const names[] = { "a/i", "a", "b/i", "b", "train/i",
					     "train", "val/i", "val" };
	char path[128];

	for (int d = 0; d < 2; d++) {
		for (int i = 0; i < 4; i++) {
			snprintf(path, sizeof(path), "%s/%s", dirs[d],
				 names[4 * d + i]);
			remove(path);
		}
		remove(dirs[d]);
	}
}

static void make_dirs(void)
{
	const char *where = getenv("TMPDIR");

	for (int d = 0; d < 2; d++) {
		snprintf(dirs[d], sizeof(dirs[d]), "%.40s/fuzz-XXXXXX",
			 where ? where : "/tmp");
		MUST(mkdtemp(dirs[d]));
		add_file(dirs[d], d ? "train" : "a", "i");
		add_file(dirs[d], d ? "val" : "b", "i");
	}
	atexit(remove_dirs);
}

/* Each sample is a file that is there, with answers of 0 or 1. */
static void check(const struct folder *folder, const struct folder_part *part)
{
	char path[PATH_MAX];
	uint16_t label;

	for (int i = 0; i < part->count; i++) {
		float *vector = calloc((size_t)folder->classes,
				       sizeof(*vector));

		MUST(vector);
		folder_path(folder, part, i, path, sizeof(path));
		MUST(!access(path, F_OK));
		folder_target(folder, part, i, &label, vector);
		for (int k = 0; k < folder->classes; k++)
			MUST(vector[k] == 0 || vector[k] == 1);
		free(vector);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct error err = { .message = "" };
	struct folder folder;
	char path[40];
	int fd;

	if (size < 1 || size > MOST)
		return -1;
	if (!dirs[0][0])
		make_dirs();
	fd = memory_file(data + 1, size - 1);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (targets_list(&folder, dirs[data[0] & SPLIT], path, &err)) {
		MUST(!strncmp(err.message, path, strlen(path)));
		must_be_told(&err, ERROR_INPUT);
	} else {
		MUST(folder.classes > 0);
		MUST(folder.train.count + folder.test.count > 0);
		check(&folder, &folder.train);
		check(&folder, &folder.test);
	}
	folder_release(&folder);
	close(fd);
	return 0;
}
