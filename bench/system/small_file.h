/* Files of the kernel and the like, of which the beginning tells all. */
#ifndef BENCH_SYSTEM_SMALL_FILE_H
#define BENCH_SYSTEM_SMALL_FILE_H

#include <stddef.h>

/*
 * The first size - 1 bytes of path, with a NUL behind them. No memory is
 * needed, so what a machine says of itself does not depend on how much is
 * left. Returns 0, or -1 and an empty text if there is no such file.
 */
int small_file_read(const char *path, char *text, size_t size);

/* What follows key in the first line of text that begins with it, or NULL. */
const char *small_file_line(const char *text, const char *key);

#endif
