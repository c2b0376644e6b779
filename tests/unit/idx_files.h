/* For tests: IDX files in a temporary folder, right and wrong. */
#ifndef TESTS_IDX_FILES_H
#define TESTS_IDX_FILES_H

#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <zlib.h>

#include "tests/unit/folder.h"

/* mode "ab" adds another member to the file. */
static inline void write_gz(const char *path, const char *mode,
			    const uint8_t *bytes, size_t count)
{
	gzFile file = gzopen(path, mode);

	if (!file || gzwrite(file, bytes, (unsigned int)count) != (int)count ||
	    gzclose(file))
		perror(path);
}

/* Reads at most size bytes. */
static inline size_t read_plain(const char *path, uint8_t *bytes, size_t size)
{
	FILE *file = fopen(path, "rb");
	size_t count = file ? fread(bytes, 1, size, file) : 0;

	if (file)
		fclose(file);
	return count;
}

static inline void put32(uint8_t *at, uint32_t value)
{
	for (int i = 0; i < 4; i++)
		at[i] = (uint8_t)(value >> (24 - 8 * i));
}

/* Fills bytes with a file of count images 28 x 28; returns its length. */
static inline size_t make_images(uint8_t *bytes, uint32_t count)
{
	uint32_t noise = 1;

	put32(bytes, 0x803);
	put32(bytes + 4, count);
	put32(bytes + 8, 28);
	put32(bytes + 12, 28);
	for (size_t i = 0; i < (size_t)count * 784; i++) {
		noise = noise * 1664525 + 1013904223;
		bytes[16 + i] = (uint8_t)(noise >> 24);
	}
	return 16 + (size_t)count * 784;
}

/* Labels 0, 1, ..., 9, 0, ... */
static inline size_t make_labels(uint8_t *bytes, uint32_t count)
{
	put32(bytes, 0x801);
	put32(bytes + 4, count);
	for (uint32_t i = 0; i < count; i++)
		bytes[8 + i] = (uint8_t)(i % 10);
	return 8 + count;
}

/* Makes the folder, with those above it. */
static inline const char *make_folder(const char *name)
{
	const char *path = in_folder(name);
	char copy[PATH_MAX];

	snprintf(copy, sizeof(copy), "%s", path);
	for (char *slash = copy + strlen(folder) + 1;
	     (slash = strchr(slash, '/')); *slash++ = '/') {
		*slash = '\0';
		mkdir(copy, 0755);
	}
	mkdir(copy, 0755);
	return path;
}

/* Four small files that no known set has; more train labels for odd. */
static inline const char *make_set(const char *name, int odd)
{
	static const char *const names[] = {
		"train-images-idx3-ubyte", "train-labels-idx1-ubyte",
		"t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte",
	};
	const char *dir = make_folder(name);
	char path[PATH_MAX];
	uint8_t bytes[16 + 12 * 784];

	for (int i = 0; i < 4; i++) {
		uint32_t count = (i < 2 ? 12 : 5) - (i == 1 ? odd : 0);
		size_t size = i % 2 ? make_labels(bytes, count) :
				      make_images(bytes, count);

		snprintf(path, sizeof(path), "%.3800s/%s", dir, names[i]);
		write_file(path, bytes, size);
	}
	return dir;
}

#endif
