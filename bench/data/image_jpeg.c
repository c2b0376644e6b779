/* By libjpeg-turbo, with the settings of Pillow: its accurate integer DCT and
 * smooth upsampling of colours. */
#include "bench/data/image_format.h"

#include <setjmp.h>
#include <stdio.h>
#include <string.h>

#include <jpeglib.h>
#include <jerror.h>

#define MOST_SCANS 500 /* of a progressive image; files have a dozen */

struct decoder {
	struct jpeg_decompress_struct jpeg;
	struct jpeg_error_mgr errors;
	struct jpeg_progress_mgr progress;
	jmp_buf failed;
	const struct image_file *file;
	struct image *image;
	struct error *err;
};

/* libjpeg must not return from here. */
static void fail(j_common_ptr jpeg)
{
	struct decoder *decoder = jpeg->client_data;
	const int code = jpeg->err->msg_code;
	char words[JMSG_LENGTH_MAX];

	jpeg->err->format_message(jpeg, words);
	if (code == JERR_OUT_OF_MEMORY)
		error_memory(decoder->err, decoder->file->name);
	else
		image_refuse(decoder->file, "JPEG",
			     code == JWRN_JPEG_EOF || code == JERR_INPUT_EOF,
			     words, decoder->err);
	longjmp(decoder->failed, 1);
}

/* As Pillow does it: where the file ends too early it is bad, and what else
 * libjpeg repairs is let pass, as it is in many photographs. */
static void warn(j_common_ptr jpeg, int level)
{
	if (level < 0 && jpeg->err->msg_code == JWRN_JPEG_EOF)
		fail(jpeg);
}

/* A small file may ask for scan after scan of a large image. */
static void watch(j_common_ptr common)
{
	struct decoder *decoder = common->client_data;

	if (decoder->jpeg.input_scan_number <= MOST_SCANS)
		return;
	image_refuse(decoder->file, "JPEG", 0, "too many scans", decoder->err);
	longjmp(decoder->failed, 1);
}

/* Inverted, as Adobe's programs write it and Pillow takes it. */
static void turn_to_rgb(const JSAMPLE *cmyk, int width, uint8_t *rgb)
{
	for (int x = 0; x < width; x++, cmyk += 4)
		for (int c = 0; c < 3; c++) {
			const int ink = (255 - cmyk[c]) * cmyk[3] + 128;

			*rgb++ = (uint8_t)(cmyk[3] - ((ink + (ink >> 8)) >> 8));
		}
}

/* For longjmp, no variable of a caller is changed here. */
static void read_pixels(struct decoder *decoder)
{
	struct jpeg_decompress_struct *jpeg = &decoder->jpeg;
	struct image *image = decoder->image;
	JSAMPARRAY row;

	jpeg_create_decompress(jpeg);
	jpeg->client_data = decoder;
	jpeg->progress = &decoder->progress;
	jpeg_mem_src(jpeg, decoder->file->bytes, decoder->file->count);
	jpeg_read_header(jpeg, TRUE);
	jpeg->out_color_space = jpeg->num_components == 1 ? JCS_GRAYSCALE :
				jpeg->num_components == 4 ? JCS_CMYK : JCS_RGB;
	if (image_allocate(image, decoder->file, jpeg->image_height,
			   jpeg->image_width,
			   jpeg->num_components == 1 ? 1 : 3, decoder->err))
		longjmp(decoder->failed, 1);
	jpeg_start_decompress(jpeg);
	row = jpeg->mem->alloc_sarray((j_common_ptr)jpeg, JPOOL_IMAGE,
				      jpeg->output_width * 4, 1);
	while (jpeg->output_scanline < jpeg->output_height) {
		uint8_t *to = image->pixels + (size_t)jpeg->output_scanline *
						      (size_t)image->width *
						      (size_t)image->channels;

		if (jpeg->num_components != 4) {
			jpeg_read_scanlines(jpeg, &to, 1);
			continue;
		}
		jpeg_read_scanlines(jpeg, row, 1);
		turn_to_rgb(row[0], image->width, to);
	}
	jpeg_finish_decompress(jpeg);
}

static int decode(struct decoder *decoder)
{
	if (setjmp(decoder->failed))
		return -1;
	read_pixels(decoder);
	return 0;
}

int image_decode_jpeg(const struct image_file *file, struct image *image,
		      struct error *err)
{
	struct decoder decoder = { .file = file, .image = image, .err = err };
	int failed;

	decoder.jpeg.client_data = &decoder;
	decoder.jpeg.err = jpeg_std_error(&decoder.errors);
	decoder.errors.error_exit = fail;
	decoder.errors.emit_message = warn;
	decoder.progress.progress_monitor = watch;
	failed = decode(&decoder);
	jpeg_destroy_decompress(&decoder.jpeg);
	return failed;
}
