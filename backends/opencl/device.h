/* Private to the OpenCL backend: what devices there are, and which is meant. */
#ifndef BACKENDS_OPENCL_DEVICE_H
#define BACKENDS_OPENCL_DEVICE_H

#include "backends/opencl/opencl.h"

#define MOST_DEVICES 32

#define POCL "Portable Computing Language" /* the name of its platform */

/* device.c: PoCL makes a thread for each CPU of the machine, whatever the
 * affinity of the process says, when it is first asked for its devices; unless
 * the user says otherwise, no more than these. */
int pocl_confine(int cpus, struct error *err);

/* device_list.c */
int device_info_get(cl_device_id device, cl_device_info what, size_t size,
		    void *value, struct error *err);
/* Of all platforms, in the order that a choice counts; returns how many. */
int candidates_list(struct candidate *list, int most, struct error *err);

/* device_choose.c: ERROR_MISSING says why the list is empty. */
int candidates_none(struct error *err);
/* The best usable one that is what was asked for (NULL:
 * anything). ERROR_MISSING says why there is none. */
int candidate_choose(const struct candidate *list, int count,
		     const char *choice, struct candidate *chosen,
		     struct error *err);
/*
 * For ranks that want a device each: chosen becomes the request's of the usable
 * ones that are as much what was asked for, if these are enough; else -1. All
 * are of one platform, since a CPU is a device of several.
 */
int candidate_choose_several(const struct candidate *list, int count,
			     const struct device_request *request,
			     struct candidate *chosen);

/* device_part.c: how many sub-devices of as many units each a device can be
 * parted into; 1 if it cannot be. */
int device_most_parts(cl_device_id device);
/* Makes device the sub-device of this rank, which stays until the process ends.
 * ERROR_MISSING says how many there can be. */
int device_part(struct candidate *device, int rank, int size,
		struct error *err);

#endif
