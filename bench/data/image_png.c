/* By libpng. */
#include "bench/data/image_format.h"

#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include <png.h>

struct decoder {
	png_structp png;
	png_infop info;
	const struct image_file *file;
	size_t at; /* bytes that were read */
	int is_cut, no_memory;
	struct image *image;
	struct error *err;
};

/* libpng must not return from here. */
static void fail(png_structp png, png_const_charp words)
{
	struct decoder *decoder = png_get_error_ptr(png);

	if (decoder->no_memory)
		error_memory(decoder->err, decoder->file->name);
	else
		image_refuse(decoder->file, "PNG", decoder->is_cut, words,
			     decoder->err);
	png_longjmp(png, 1);
}

/* Of chunks that say nothing about pixels. */
static void warn(png_structp png, png_const_charp words)
{
	(void)png;
	(void)words;
}

static png_voidp allocate(png_structp png, png_alloc_size_t size)
{
	struct decoder *decoder = png_get_mem_ptr(png);
	void *memory = malloc(size);

	decoder->no_memory = !memory;
	return memory;
}

static void release(png_structp png, png_voidp memory)
{
	(void)png;
	free(memory);
}

static void bring(png_structp png, png_bytep to, size_t count)
{
	struct decoder *decoder = png_get_io_ptr(png);

	decoder->is_cut = count > decoder->file->count - decoder->at;
	if (decoder->is_cut)
		png_error(png, "cut short");
	memcpy(to, decoder->file->bytes + decoder->at, count);
	decoder->at += count;
}

/* Whatever there is, as grey or RGB of 8 bits; chunks that do not matter for
 * that are passed over. */
static void read_header(struct decoder *decoder)
{
	png_structp png = decoder->png;

	png_set_read_fn(png, decoder, bring);
	png_set_keep_unknown_chunks(png, PNG_HANDLE_CHUNK_NEVER, NULL, -1);
	png_read_info(png, decoder->info);
	png_set_strip_16(png);
	png_set_palette_to_rgb(png);
	png_set_expand_gray_1_2_4_to_8(png);
	png_set_strip_alpha(png);
}

/* For longjmp, no variable of a caller is changed here. */
static void read_pixels(struct decoder *decoder)
{
	struct image *image = decoder->image;
	png_structp png = decoder->png;
	png_infop info = decoder->info;
	int passes;

	read_header(decoder);
	passes = png_set_interlace_handling(png);
	if (image_allocate(image, decoder->file,
			   png_get_image_height(png, info),
			   png_get_image_width(png, info),
			   png_get_color_type(png, info) &
					   PNG_COLOR_MASK_COLOR ? 3 : 1,
			   decoder->err))
		png_longjmp(png, 1);
	png_read_update_info(png, info);
	if (png_get_rowbytes(png, info) !=
	    (size_t)image->width * (size_t)image->channels)
		png_error(png, "rows of another length");
	for (int pass = 0; pass < passes; pass++)
		for (int y = 0; y < image->height; y++)
			png_read_row(png, image->pixels +
					  (size_t)y * (size_t)image->width *
						  (size_t)image->channels,
				     NULL);
	png_read_end(png, NULL);
}

static int decode(struct decoder *decoder)
{
	if (setjmp(png_jmpbuf(decoder->png)))
		return -1;
	read_pixels(decoder);
	return 0;
}

int image_decode_png(const struct image_file *file, struct image *image,
		     struct error *err)
{
	struct decoder decoder = { .file = file, .image = image, .err = err };
	int failed = -1;

	decoder.png = png_create_read_struct_2(PNG_LIBPNG_VER_STRING, &decoder,
					       fail, warn, &decoder, allocate,
					       release);
	if (decoder.png)
		decoder.info = png_create_info_struct(decoder.png);
	if (decoder.info)
		failed = decode(&decoder);
	else
		error_memory(err, file->name);
	png_destroy_read_struct(&decoder.png, &decoder.info, NULL);
	return failed;
}
