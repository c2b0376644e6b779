/*
 * Image files below a folder, and what is to be learned of them: lists, for
 * pixels are read when a sample is asked for.
 *
 * As torchvision's ImageFolder has them: DIR/train/CLASS/.../FILE, and to test
 * DIR/val/CLASS/.../FILE, or DIR/test where there is no val. Classes are the
 * folders in train, by name. Samples are in the order of their classes, and in
 * a class by the path of the folder that they are in, then by name, all byte by
 * byte; links to folders are followed. Files are called .jpg, .jpeg or .png, in
 * small or capital letters. Unlike there, names that begin with a dot are left
 * out. The files that are left out are counted.
 */
#ifndef BENCH_DATA_FOLDER_H
#define BENCH_DATA_FOLDER_H

#include <stddef.h>
#include <stdint.h>

#include "backends/contract/error.h"
#include "bench/system/hash.h"

/* Samples to train on, or to test. */
struct folder_part {
	int count, room;
	size_t *paths;	  /* [room], places in the folder's text */
	uint16_t *labels; /* [room], or NULL: ... */
	uint8_t *targets; /* ... [room][classes], each 0 or 1 */
};

enum folder_left {
	FOLDER_UNREAD,	 /* an image of a format that cannot be read */
	FOLDER_HIDDEN,	 /* an image with a dot before a name of its path */
	FOLDER_NO_IMAGE, /* a file in a class whose name is not an image's */
	FOLDER_BESIDE,	 /* an image beside the folders of classes */
	FOLDER_REASONS
};

struct folder_left_out {
	int count;
	char first[80]; /* the path of one, below dir; may be cut */
};

struct folder {
	const char *dir; /* borrowed */
	int classes;
	struct folder_part train, test;
	char *text; /* paths below dir, each with its end */
	size_t text_size, text_room;
	double file_bytes; /* of all files */
	double largest_bytes; /* of the largest file ... */
	size_t largest;	      /* ... whose path is here in text */
	struct folder_left_out left[FOLDER_REASONS];
};

/*
 * Lists the files, and sees that each is there and has a byte. A folder train,
 * val or test that is not there is ERROR_MISSING; what is otherwise than it
 * should be, or cannot be read, ERROR_INPUT. To be released in any case.
 */
int folder_list(struct folder *folder, const char *dir, struct error *err);
void folder_release(struct folder *folder); /* all zero is fine */

/* How many files were left out, and why; empty if there are none. */
void folder_note(const struct folder *folder, char *note, size_t size);

/* Whether a file of this name is taken for an image. */
int folder_has_image_name(const char *name);

/* Whether it has a folder train, and val or test. */
int folder_is_split(const struct folder *folder);

/*
 * Of both parts: in their order the path below the folder, the label or targets
 * and the bytes of each file, so that two folders have the same one only where
 * these are the same. With more bytes than these, which would take too long to
 * read before an epoch, it is the size of a file in place of its bytes.
 */
#define FOLDER_HASHED_BYTES (256 << 20)
void folder_hash(const struct folder *folder, char hex[HASH_SHA256_SIZE]);

/* Of its text, room for paths and targets. */
double folder_bytes(const struct folder *folder);

/* The path of a sample, with the folder; cut where it is longer than size. */
void folder_path(const struct folder *folder, const struct folder_part *part,
		 int index, char *path, size_t size);

/* What is to be learned of it: its label, or a vector of classes values. */
void folder_target(const struct folder *folder, const struct folder_part *part,
		   int index, uint16_t *label, float *vector);

/*
 * For whoever lists: adds the file at path below dir, whose target is label, or
 * these of each class.
 */
struct folder_sample {
	const char *path;
	uint16_t label;
	const uint8_t *targets; /* [classes], or NULL */
};
int folder_add(struct folder *folder, struct folder_part *part,
	       const struct folder_sample *sample, struct error *err);

#endif
