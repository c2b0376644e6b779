/*
 * What was found once and need not be found again: texts, each a file in a
 * folder of the user's cache, named by its SHA-256.
 */
#ifndef BENCH_SYSTEM_KEPT_H
#define BENCH_SYSTEM_KEPT_H

#include <limits.h>

#include "backends/contract/error.h"

/* The user's cache for us, which ends in /bench, or empty: there is none. What
 * is in it is made by whoever needs it. */
void kept_cache(char path[PATH_MAX]);

/*
 * Whether the text was kept in that folder of the cache: all of it, and in a
 * file that only this user could have written.
 */
int kept_has(const char *folder, const char *text);

/* Keeps it; ERROR_OUTPUT where that cannot be. */
int kept_add(const char *folder, const char *text, struct error *err);

#endif
