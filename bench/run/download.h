/* One file from the network, by curl. */
#ifndef BENCH_RUN_DOWNLOAD_H
#define BENCH_RUN_DOWNLOAD_H

#include "backends/contract/error.h"

/* NULL, or what is wrong with a URL that we are asked to use. */
const char *download_check_url(const char *url);

/* -1 and ERROR_MISSING when curl is not installed. */
int download_check_program(struct error *err);

/*
 * Fetches url into the file at path, which is replaced. A file that cannot be
 * had, or is larger than 64 MiB whatever the server says, is ERROR_MISSING, one
 * that cannot be written ERROR_OUTPUT, the user's Ctrl-C ERROR_STOPPED. What is
 * left at path after a failure is for the caller to remove. curl says its own
 * words on standard error.
 */
int download_file(const char *url, const char *path, struct error *err);

#endif
