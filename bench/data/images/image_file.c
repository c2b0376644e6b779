#include "bench/data/images/image.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench/data/images/image_format.h"

#define MOST_BYTES (1L << 30) /* of a file */
#define REMEDY "replace or remove the file"

static const struct {
	const char *magic;
	image_decoder *decode;
} formats[] = {
	{ "\377\330\377", image_decode_jpeg },
	{ "\211PNG\r\n\032\n", image_decode_png },
};

int image_allocate(struct image *image, const struct image_file *file,
		   size_t height, size_t width, int channels, struct error *err)
{
	if (!height || !width)
		return error_set(err, ERROR_INPUT, "%.800s: an image of %zu x "
				 "%zu pixels; " REMEDY, file->name, width,
				 height);
	if (height > (size_t)file->most_pixels / width)
		return error_set(err, ERROR_INPUT, "%.800s: an image of %zu x "
				 "%zu pixels, at most %d are allowed; make it "
				 "smaller, or remove it", file->name, width,
				 height, file->most_pixels);
	image->height = (int)height;
	image->width = (int)width;
	image->channels = channels;
	if (file->sides_only)
		return 0;
	image->pixels = malloc(height * width * (size_t)channels);
	return image->pixels ? 0 : error_memory(err, file->name);
}

int image_refuse(const struct image_file *file, const char *format,
		 int is_cut, const char *words, struct error *err)
{
	return is_cut ? error_set(err, ERROR_INPUT, "%.700s: cut short: its "
				  "%s data ends too early; " REMEDY,
				  file->name, format) :
			error_set(err, ERROR_INPUT, "%.700s: its %s data "
				  "cannot be decoded (%.200s); " REMEDY,
				  file->name, format, words);
}

int image_decode(const struct image_file *file, struct image *image,
		 struct error *err)
{
	*image = (struct image){ .pixels = NULL };
	for (size_t f = 0; f < sizeof(formats) / sizeof(formats[0]); f++) {
		const size_t length = strlen(formats[f].magic);

		if (file->count < length ||
		    memcmp(file->bytes, formats[f].magic, length))
			continue;
		if (!formats[f].decode(file, image, err))
			return 0;
		image_release(image);
		return -1;
	}
	return error_set(err, ERROR_INPUT, "%.800s: %s; " REMEDY, file->name,
			 file->count ? "neither a JPEG nor a PNG image" :
				       "empty, an image expected");
}

/* Opened without waiting for the writer of a FIFO. Returns a descriptor. */
static int open_file(const char *path, size_t *size, struct error *err)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat about;

	if (fd < 0 || fstat(fd, &about)) {
		error_set(err, ERROR_INPUT, "%.800s: %s", path,
			  strerror(errno));
	} else if (!S_ISREG(about.st_mode)) {
		error_set(err, ERROR_INPUT, "%.800s: a regular file expected; "
			  "remove it", path);
	} else if (about.st_size > MOST_BYTES) {
		error_set(err, ERROR_INPUT, "%.800s: %lld bytes, at most %ld "
			  "are allowed; " REMEDY, path,
			  (long long)about.st_size, MOST_BYTES);
	} else {
		*size = (size_t)about.st_size;
		return fd;
	}
	if (fd >= 0)
		close(fd);
	return -1;
}

/* Reads all bytes, up to size. */
static int read_all(int fd, const char *path, uint8_t *bytes, size_t size,
		    size_t *count, struct error *err)
{
	for (*count = 0; *count < size;) {
		const ssize_t n = read(fd, bytes + *count, size - *count);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return error_set(err, ERROR_INPUT, "%.800s: cannot be "
					 "read: %s", path, strerror(errno));
		if (n == 0)
			break;
		*count += (size_t)n;
	}
	return 0;
}

static int read_image(const char *path, int sides_only, struct image *image,
		      struct error *err)
{
	struct image_file file = { .name = path,
				   .most_pixels = IMAGE_MOST_PIXELS,
				   .sides_only = sides_only };
	size_t size = 0;
	const int fd = open_file(path, &size, err);
	uint8_t *bytes;
	int failed;

	if (fd < 0)
		return -1;
	bytes = malloc(size + 1);
	file.bytes = bytes;
	failed = !bytes ? error_memory(err, path) :
			  read_all(fd, path, bytes, size, &file.count, err) ||
				  image_decode(&file, image, err);
	free(bytes);
	close(fd);
	return failed ? -1 : 0;
}

int image_read(const char *path, struct image *image, struct error *err)
{
	return read_image(path, 0, image, err);
}

int image_read_sides(const char *path, struct image *image, struct error *err)
{
	return read_image(path, 1, image, err);
}

void image_release(struct image *image)
{
	free(image->pixels);
	*image = (struct image){ .pixels = NULL };
}

/* ITU-R 601-2, in 16-bit fixed point. In place: grey ones are fewer. */
void image_make_grey(struct image *image)
{
	const size_t count = (size_t)image->height * (size_t)image->width;
	const uint8_t *rgb = image->pixels;

	if (image->channels == 1)
		return;
	for (size_t i = 0; i < count; i++, rgb += 3)
		image->pixels[i] = (uint8_t)((rgb[0] * 19595 + rgb[1] * 38470 +
					      rgb[2] * 7471 + 0x8000) >> 16);
	image->channels = 1;
}
