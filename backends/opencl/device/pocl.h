/*
 * Sets variables that PoCL reads: the folder where it caches compiled kernels,
 * and the number of its threads. The cache of NVIDIA's driver, which
 * CUDA_CACHE_PATH moves, is not changed.
 */
#ifndef BACKENDS_OPENCL_DEVICE_POCL_H
#define BACKENDS_OPENCL_DEVICE_POCL_H

#include <stddef.h>

#include "backends/contract/error.h"

#define POCL "Portable Computing Language" /* name of its platform */

/* Limits PoCL to this number of threads, unless the user has set another.
 * PoCL's default is a thread per CPU of the machine, whatever the affinity of
 * the process. Call it before the first call of OpenCL. */
int pocl_limit_threads(int cpus, struct error *err);

/*
 * Chooses PoCL's cache: bench/pocl in the user's cache, unless the user has set
 * POCL_CACHE_DIR. Call it before the first call of OpenCL.
 *
 * Kernels are code, so a folder that others can write is ERROR_MISSING. The
 * lack of any folder is too: PoCL would use a predictable name among temporary
 * files. A folder that cannot be made is no error, since another driver may not
 * need it. Without a PATH PoCL cannot compile, which is an error as well.
 */
int cache_choose(struct error *err);

/* Writes why the folder cannot be written, or an empty text. */
void cache_explain(char *text, size_t size);
/* Writes why PoCL would end the process: kernels cannot be loaded from the
 * folder, or there is no room for them. Else an empty text. */
void cache_refuse(char *text, size_t size);

/* Returns the number of files and folders in it, which grows with each compiled
 * kernel; -1: not known. */
long cache_entries(void);

#endif
