/*
 * Decodes image files for tests/images/compare: reads a path a line, and writes
 * "WIDTH HEIGHT CHANNELS" with the pixels after it, or "-" and why there are
 * none.
 */
#include "bench/data/images/image.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int decode(const char *path)
{
	struct image image;
	struct error err;
	size_t count;

	if (image_read(path, &image, &err)) {
		printf("- %s\n", err.message);
		return fflush(stdout);
	}
	count = (size_t)image.width * (size_t)image.height *
		(size_t)image.channels;
	printf("%d %d %d\n", image.width, image.height, image.channels);
	count -= fwrite(image.pixels, 1, count, stdout);
	image_release(&image);
	return count || fflush(stdout);
}

int main(void)
{
	char *line = NULL;
	size_t room = 0;
	int failed = 0;

	while (!failed && getline(&line, &room, stdin) > 0) {
		line[strcspn(line, "\n")] = '\0';
		failed = decode(line);
	}
	free(line);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
