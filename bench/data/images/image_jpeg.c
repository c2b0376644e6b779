/* Decodes JPEG with libjpeg-turbo and Pillow's settings: the accurate integer
 * DCT and smooth upsampling of colours. */
#include "bench/data/images/image_format.h"

#include <setjmp.h>
#include <stdio.h>
#include <string.h>

#include <jpeglib.h>
#include <jerror.h>

#define MOST_SCANS 500 /* of a progressive image; files have a dozen */

struct jpeg_decoder {
	struct jpeg_decompress_struct jpeg;
	struct jpeg_error_mgr errors;
	struct jpeg_progress_mgr progress;
	struct jpeg_source_mgr source;
	jmp_buf failed;
	const struct image_file *file;
	struct image *image;
	struct error *err;
};

/* libjpeg must not return from here. */
static void fail(j_common_ptr jpeg)
{
	struct jpeg_decoder *decoder = jpeg->client_data;
	char words[JMSG_LENGTH_MAX];

	jpeg->err->format_message(jpeg, words);
	if (jpeg->err->msg_code == JERR_OUT_OF_MEMORY)
		error_memory(decoder->err, decoder->file->name);
	else
		image_refuse(decoder->file, "JPEG", 0, words, decoder->err);
	longjmp(decoder->failed, 1);
}

/* Accepts data that libjpeg repairs, as in many photographs. */
static void warn(j_common_ptr jpeg, int level)
{
	(void)jpeg;
	(void)level;
}

static void refuse_end(struct jpeg_decoder *decoder)
{
	image_refuse(decoder->file, "JPEG", 1, "", decoder->err);
	longjmp(decoder->failed, 1);
}

static void begin_source(j_decompress_ptr jpeg)
{
	(void)jpeg;
}

/* libjpeg suspends then, as in Pillow, instead of inventing an end. */
static boolean bring_more(j_decompress_ptr jpeg)
{
	(void)jpeg;
	return FALSE;
}

static void skip_source(j_decompress_ptr jpeg, long count)
{
	struct jpeg_source_mgr *source = jpeg->src;
	const size_t wanted = count > 0 ? (size_t)count : 0;
	const size_t some = wanted < source->bytes_in_buffer ?
				    wanted : source->bytes_in_buffer;

	source->next_input_byte += some;
	source->bytes_in_buffer -= some;
}

/* A small file may ask for scan after scan of a large image. */
static void watch(j_common_ptr common)
{
	struct jpeg_decoder *decoder = common->client_data;

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

static void read_header(struct jpeg_decoder *decoder)
{
	struct jpeg_decompress_struct *jpeg = &decoder->jpeg;

	jpeg_create_decompress(jpeg);
	jpeg->client_data = decoder;
	jpeg->progress = &decoder->progress;
	jpeg->src = &decoder->source;
	if (jpeg_read_header(jpeg, TRUE) == JPEG_SUSPENDED)
		refuse_end(decoder);
	jpeg->out_color_space = jpeg->num_components == 1 ? JCS_GRAYSCALE :
				jpeg->num_components == 4 ? JCS_CMYK : JCS_RGB;
}

/* Changes no variable of a caller, as longjmp requires. An end after the last
 * row may be missing. */
static void read_pixels(struct jpeg_decoder *decoder)
{
	struct jpeg_decompress_struct *jpeg = &decoder->jpeg;
	struct image *image = decoder->image;
	JSAMPARRAY row;

	read_header(decoder);
	if (image_allocate(image, decoder->file, jpeg->image_height,
			   jpeg->image_width,
			   jpeg->num_components == 1 ? 1 : 3, decoder->err))
		longjmp(decoder->failed, 1);
	if (!image->pixels)
		return;
	if (!jpeg_start_decompress(jpeg))
		refuse_end(decoder);
	row = jpeg->mem->alloc_sarray((j_common_ptr)jpeg, JPOOL_IMAGE,
				      jpeg->output_width * 4, 1);
	while (jpeg->output_scanline < jpeg->output_height) {
		uint8_t *to = image->pixels + (size_t)jpeg->output_scanline *
						      (size_t)image->width *
						      (size_t)image->channels;
		const int is_cmyk = jpeg->num_components == 4;

		if (!jpeg_read_scanlines(jpeg, is_cmyk ? row : &to, 1))
			refuse_end(decoder);
		if (is_cmyk)
			turn_to_rgb(row[0], image->width, to);
	}
	jpeg_finish_decompress(jpeg);
}

static int decode(struct jpeg_decoder *decoder)
{
	if (setjmp(decoder->failed))
		return -1;
	read_pixels(decoder);
	return 0;
}

int image_decode_jpeg(const struct image_file *file, struct image *image,
		      struct error *err)
{
	struct jpeg_decoder decoder = { .file = file, .image = image,
					    .err = err };
	int failed;

	decoder.jpeg.client_data = &decoder;
	decoder.jpeg.err = jpeg_std_error(&decoder.errors);
	decoder.errors.error_exit = fail;
	decoder.errors.emit_message = warn;
	decoder.progress.progress_monitor = watch;
	decoder.source = (struct jpeg_source_mgr){
		.next_input_byte = file->bytes,
		.bytes_in_buffer = file->count,
		.init_source = begin_source,
		.fill_input_buffer = bring_more,
		.skip_input_data = skip_source,
		.resync_to_restart = jpeg_resync_to_restart,
		.term_source = begin_source,
	};
	failed = decode(&decoder);
	jpeg_destroy_decompress(&decoder.jpeg);
	return failed;
}
