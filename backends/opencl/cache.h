/* Where PoCL keeps compiled kernels. NVIDIA's driver has a cache of its own,
 * which CUDA_CACHE_PATH moves; that is left alone. */
#ifndef BACKENDS_OPENCL_CACHE_H
#define BACKENDS_OPENCL_CACHE_H

#include <stddef.h>

#include "backends/contract/error.h"

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

/* Files and folders in it, which compiling makes more; -1: not known. */
long cache_entries(void);

#endif
