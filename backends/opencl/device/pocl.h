/*
 * What PoCL reads from the environment: where it caches compiled kernels, and
 * how many threads it starts. NVIDIA's driver has a cache of its own, which
 * CUDA_CACHE_PATH moves; that is left alone.
 */
#ifndef BACKENDS_OPENCL_DEVICE_POCL_H
#define BACKENDS_OPENCL_DEVICE_POCL_H

#include <stddef.h>

#include "backends/contract/error.h"

#define POCL "Portable Computing Language" /* the name of its platform */

/* Before the first call of OpenCL. PoCL makes a thread for each CPU of the
 * machine, whatever the affinity of the process says; unless the user says
 * otherwise, no more than these. */
int pocl_limit_threads(int cpus, struct error *err);

/*
 * Before the first call of OpenCL: bench/pocl in the user's cache, unless the
 * user has set POCL_CACHE_DIR. Kernels are code, so a folder that others can
 * write is an error (ERROR_MISSING), and so is none, since PoCL would take one
 * of a name that everybody knows in the folder for temporary files; one that
 * cannot be made is not, since another driver may do without. Without a PATH
 * PoCL cannot compile, which is an error as well.
 */
int cache_choose(struct error *err);

/* Why the folder cannot be written, or an empty text. */
void cache_explain(char *text, size_t size);
/* Why kernels cannot be loaded from the folder, or have no room in it, by which
 * PoCL ends a process; or an empty text. */
void cache_refuse(char *text, size_t size);

/* Files and folders in it, which compiling makes more; -1: not known. */
long cache_entries(void);

#endif
