/* The files of kernels, and the programs built from them. */
#ifndef BACKENDS_OPENCL_PROGRAM_SOURCE_H
#define BACKENDS_OPENCL_PROGRAM_SOURCE_H

#include "backends/opencl/device/device.h"

enum source {
	SOURCE_CONV,
	SOURCE_WINOGRAD,
	SOURCE_LINEAR,
	SOURCE_RECIPE,
	SOURCE_GPU_CONV,
	SOURCE_GPU_LINEAR,
	SOURCE_GPU_RECIPE,
	SOURCE_GPU_SUMS,
	SOURCE_GENERIC,
	SOURCE_TILES,
	SOURCE_TILES7, /* seven points per side */
	SOURCE_GPU_GENERIC
};

/* A macro of the kernels: -D name=value. */
struct define {
	const char *name;
	long long value;
};

/* The macros of one program, collected from several tables. */
#define MOST_DEFINES 64
struct defines {
	struct define list[MOST_DEFINES];
	int count;
};

void defines_add(struct defines *defines, const struct define *more, int count);

/* Builds a source with these macros, and with WIDTH. */
int source_build(const struct opencl_device *device, enum source source,
		 const struct defines *defines, cl_program *built,
		 struct error *err);

#endif
