/* Decodes PNG with libpng. */
#include "bench/data/images/image_format.h"

#include <ctype.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include <png.h>

#define HEAD 8	/* bytes of a chunk before its data: length, name */
#define CRC 4	/* and after them */

struct png_decoder {
	png_structp png;
	png_infop info;
	const struct image_file *file;
	size_t last; /* place of the data of the chunk with the last pixel, or
		      * 0: not all pixels are there */
	int no_memory;
	struct image *image;
	struct error *err;
};

/* libpng must not return from here. */
static void fail(png_structp png, png_const_charp words)
{
	struct png_decoder *decoder = png_get_error_ptr(png);

	if (decoder->no_memory)
		error_memory(decoder->err, decoder->file->name);
	else
		image_refuse(decoder->file, "PNG", 0, words, decoder->err);
	png_longjmp(png, 1);
}

/* Ignores warnings about chunks without pixels. */
static void warn(png_structp png, png_const_charp words)
{
	(void)png;
	(void)words;
}

static png_voidp allocate(png_structp png, png_alloc_size_t size)
{
	struct png_decoder *decoder = png_get_mem_ptr(png);
	void *memory = malloc(size);

	decoder->no_memory = !memory;
	return memory;
}

static void release(png_structp png, png_voidp memory)
{
	(void)png;
	free(memory);
}

/* Converts all formats to grey or RGB of 8 bits. From here on only the checksum
 * of the pixels decides whether they are right. */
static void take_header(png_structp png, png_infop info)
{
	struct png_decoder *decoder = png_get_progressive_ptr(png);
	struct image *image = decoder->image;

	if (image_allocate(image, decoder->file,
			   png_get_image_height(png, info),
			   png_get_image_width(png, info),
			   png_get_color_type(png, info) &
					   PNG_COLOR_MASK_COLOR ? 3 : 1,
			   decoder->err) || !image->pixels)
		png_longjmp(png, 1);
	png_set_strip_16(png);
	png_set_palette_to_rgb(png);
	png_set_expand_gray_1_2_4_to_8(png);
	png_set_strip_alpha(png);
	png_set_interlace_handling(png);
	png_set_crc_action(png, PNG_CRC_QUIET_USE, PNG_CRC_QUIET_USE);
	png_set_benign_errors(png, 0);
	png_read_update_info(png, info);
	if (png_get_rowbytes(png, info) !=
	    (size_t)image->width * (size_t)image->channels)
		png_error(png, "rows of another length");
}

/* Takes a row; bytes is NULL if the pass has none of it. Stops after the last
 * row. */
static void take_row(png_structp png, png_bytep bytes, png_uint_32 row,
		     int pass)
{
	struct png_decoder *decoder = png_get_progressive_ptr(png);
	struct image *image = decoder->image;
	const int last = png_get_interlace_type(png, decoder->info) ==
					 PNG_INTERLACE_NONE ?
				 0 : PNG_INTERLACE_ADAM7_PASSES - 1;

	png_progressive_combine_row(png, image->pixels +
				    row * (size_t)image->width *
					    (size_t)image->channels, bytes);
	if (pass != last || row + 1 != (png_uint_32)image->height)
		return;
	decoder->last = decoder->file->count - png_process_data_pause(png, 0);
	png_longjmp(png, 1);
}

static int is_called(const uint8_t *chunk, const char *name)
{
	return !memcmp(chunk + HEAD / 2, name, HEAD / 2);
}

static int has_name(const uint8_t *chunk)
{
	for (int i = HEAD / 2; i < HEAD; i++)
		if (!isalnum(chunk[i]) && chunk[i] != '_')
			return 0;
	return 1;
}

/* Returns 1 if the file ends inside a chunk after the one at this place. Pillow
 * reads these chunks, up to another frame or invalid data. */
static int is_cut_after(const struct image_file *file, size_t at)
{
	at += png_get_uint_32(file->bytes + at - HEAD) + CRC;
	while (at <= file->count && file->count - at >= HEAD) {
		const uint8_t *chunk = file->bytes + at;
		const size_t length = png_get_uint_32(chunk);

		if (!has_name(chunk) || is_called(chunk, "IEND") ||
		    is_called(chunk, "fcTL"))
			return 0;
		if (length > file->count - at - HEAD)
			return 1;
		at += HEAD + length + CRC;
	}
	return 0;
}

/* Changes no variable of a caller, as longjmp requires. The zlib window of a
 * file may be too small: the largest is used. */
static int decode(struct png_decoder *decoder)
{
	const struct image_file *file = decoder->file;
	png_structp png = decoder->png;

	if (setjmp(png_jmpbuf(png))) {
		if (file->sides_only && decoder->image->height)
			return 0;
		if (!decoder->last)
			return -1;
		return is_cut_after(file, decoder->last) ?
			       image_refuse(file, "PNG", 1, "", decoder->err) :
			       0;
	}
	png_set_progressive_read_fn(png, decoder, take_header, take_row, NULL);
	png_set_keep_unknown_chunks(png, PNG_HANDLE_CHUNK_NEVER, NULL, -1);
	png_set_user_limits(png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
	png_set_option(png, PNG_MAXIMUM_INFLATE_WINDOW, PNG_OPTION_ON);
	png_set_crc_action(png, PNG_CRC_DEFAULT, PNG_CRC_ERROR_QUIT);
	png_process_data(png, decoder->info, (png_bytep)file->bytes,
			 file->count);
	return image_refuse(file, "PNG", 1, "", decoder->err);
}

int image_decode_png(const struct image_file *file, struct image *image,
		     struct error *err)
{
	struct png_decoder decoder = { .file = file, .image = image,
					   .err = err };
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
