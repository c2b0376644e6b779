/*
 * For targets of libFuzzer. Each is also built with a main of its own,
 * tests/fuzz/replay.c, that goes through the committed inputs once.
 */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "backends/contract/error.h"

/* The folder with the target's inputs, below tests/fuzz/corpus. */
extern const char fuzz_corpus[];

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Ends the process if the condition does not hold: a finding for libFuzzer. */
#define MUST(condition)                                                        \
	do {                                                                   \
		if (!(condition)) {                                            \
			fprintf(stderr, "%s:%d: %s does not hold\n", __FILE__, \
				__LINE__, #condition);                         \
			abort();                                               \
		}                                                              \
	} while (0)

/* An error has one of two kinds at most, and words. */
static inline void must_be_told(const struct error *err, enum error_kind kind)
{
	if (err->kind != kind || !err->message[0])
		fprintf(stderr, "kind %d: %s\n", (int)err->kind, err->message);
	MUST(err->kind == kind);
	MUST(err->message[0]);
	MUST(memchr(err->message, '\0', sizeof(err->message)));
}

/* A file that is in memory only, to be read from its start. */
static inline int memory_file(const void *bytes, size_t count)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	MUST(fd >= 0);
	MUST(count == 0 || write(fd, bytes, count) == (ssize_t)count);
	MUST(lseek(fd, 0, SEEK_SET) == 0);
	return fd;
}

#endif
