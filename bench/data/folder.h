/*
 * Lists image files below a folder, and their targets. Pixels are read when a
 * sample is requested.
 *
 * The layout is torchvision's ImageFolder: DIR/train/CLASS/.../FILE, and for
 * tests DIR/val/CLASS/.../FILE, or DIR/test if there is no val. Classes are the
 * folders in train, by name. Samples are sorted by class, then by the path of
 * their folder, then by name, byte by byte; links to folders are followed.
 * Files end in .jpg, .jpeg or .png, in small or capital letters. Unlike in
 * torchvision, names that begin with a dot are left out. Files that are left
 * out are counted.
 */
#ifndef BENCH_DATA_FOLDER_H
#define BENCH_DATA_FOLDER_H

#include <stddef.h>
#include <stdint.h>

#include "backends/contract/error.h"
#include "bench/system/hash.h"

/* Samples for training or for tests. */
struct folder_part {
	int count, room;
	size_t *paths;	  /* [room], offsets into the folder's text */
	uint16_t *labels; /* [room]; NULL if targets are set */
	uint8_t *targets; /* [room][classes], each 0 or 1; NULL if labels are
			     set */
};

enum folder_left {
	FOLDER_UNREAD,	 /* an image in an unsupported format */
	FOLDER_HIDDEN,	 /* an image with a name in its path that begins with a
			    dot */
	FOLDER_NO_IMAGE, /* a file in a class without an image's name */
	FOLDER_BESIDE,	 /* an image next to the folders of classes */
	FOLDER_REASONS
};

struct folder_left_out {
	int count;
	char first[80]; /* path of one, below dir; may be cut */
};

struct folder {
	const char *dir; /* borrowed */
	int classes;
	struct folder_part train, test;
	char *text; /* paths below dir, each with its terminator */
	size_t text_size, text_room;
	double file_bytes; /* of all files */
	double largest_bytes; /* of the largest file */
	size_t largest;	      /* offset of the largest file's path in text */
	struct folder_left_out left[FOLDER_REASONS];
};

/*
 * Lists the files and checks that each exists and is not empty. Fails with
 * ERROR_MISSING if the folder train, val or test does not exist, and with
 * ERROR_INPUT for other defects. Release folder in any case.
 */
int folder_list(struct folder *folder, const char *dir, struct error *err);
void folder_release(struct folder *folder); /* all zero is allowed */

/* Writes how many files were left out, and why; empty if none. */
void folder_note(const struct folder *folder, char *note, size_t size);

/* Returns 1 if a file of this name counts as an image. */
int folder_has_image_name(const char *name);

/* Returns 1 if it has a folder train, and val or test. */
int folder_is_split(const struct folder *folder);

/*
 * Hashes both parts in their order: path below the folder, label or targets,
 * and bytes of each file. Equal hashes mean equal content. If the files have
 * more than FOLDER_HASHED_BYTES, which would take too long, the size of each
 * file replaces its bytes.
 */
#define FOLDER_HASHED_BYTES (256 << 20)
void folder_hash(const struct folder *folder, char hex[HASH_SHA256_SIZE]);

/* Returns the bytes of its text, paths and targets. */
double folder_bytes(const struct folder *folder);

/* Writes the path of a sample with the folder, cut at size. */
void folder_path(const struct folder *folder, const struct folder_part *part,
		 int index, char *path, size_t size);

/* Sets the target of a sample: its label, or a vector of classes values. */
void folder_target(const struct folder *folder, const struct folder_part *part,
		   int index, uint16_t *label, float *vector);

/* Adds a file to a list: path is below dir, and its target is label, or targets
 * with a value per class. */
struct folder_sample {
	const char *path;
	uint16_t label;
	const uint8_t *targets; /* [classes], or NULL */
};
int folder_add(struct folder *folder, struct folder_part *part,
	       const struct folder_sample *sample, struct error *err);

#endif
