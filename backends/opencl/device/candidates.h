/* Which OpenCL devices there are, and which of them to use. */
#ifndef BACKENDS_OPENCL_DEVICE_CANDIDATES_H
#define BACKENDS_OPENCL_DEVICE_CANDIDATES_H

#include <CL/cl.h>

#include "backends/contract/backend.h"

#define MOST_DEVICES 32

/* One entry of the list that `choice` indexes. */
struct candidate {
	cl_platform_id platform;
	cl_device_id device; /* NULL: a platform that has none, and why */
	char platform_name[128];
	cl_device_type type;
	struct device_info info;
};

int device_info_get(cl_device_id device, cl_device_info what, size_t size,
		    void *value, struct error *err);

/* Of all platforms, in the order that a choice counts; returns how many. */
int candidates_list(struct candidate *list, int most, struct error *err);
/* ERROR_MISSING says why the list is empty. */
int candidates_none(struct error *err);
/* The best usable one that matches choice (NULL: anything does).
 * ERROR_MISSING says why there is none. */
int candidate_choose(const struct candidate *list, int count,
		     const char *choice, struct candidate *chosen,
		     struct error *err);
/*
 * For ranks that want a device each: chosen becomes the request's of the usable
 * ones that match its choice as well, if these are enough; else -1. All are of
 * one platform, since a CPU is a device of several.
 */
int candidate_choose_several(const struct candidate *list, int count,
			     const struct device_request *request,
			     struct candidate *chosen);

/* vendors.c: installed drivers that cannot be loaded, as entries that say why;
 * returns how many. */
int vendors_list(struct candidate *list, int most);

/* partition.c: how many sub-devices of as many units each a device can be
 * split into; 1 if it cannot be. */
int device_most_parts(cl_device_id device);
/* Makes device the sub-device of this rank, which stays until the process ends.
 * ERROR_MISSING says how many there can be. */
int device_split(struct candidate *device, int rank, int size,
		 struct error *err);

#endif
