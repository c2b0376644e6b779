/* Lists the OpenCL devices of a machine and chooses among them. */
#ifndef BACKENDS_OPENCL_DEVICE_CANDIDATES_H
#define BACKENDS_OPENCL_DEVICE_CANDIDATES_H

#include <CL/cl.h>

#include "backends/contract/backend.h"

#define MOST_DEVICES 32

/* One entry of the list that `choice` indexes. */
struct candidate {
	cl_platform_id platform;
	cl_device_id device; /* NULL: a platform without one; info says why */
	char platform_name[128];
	cl_device_type type;
	struct device_info info;
};

int device_info_get(cl_device_id device, cl_device_info what, size_t size,
		    void *value, struct error *err);

/* Lists the devices of all platforms, in the order that an index in a choice
 * counts. Returns their number. */
int candidates_list(struct candidate *list, int most, struct error *err);
/* Sets ERROR_MISSING, which says why the list is empty; returns -1. */
int candidates_none(struct error *err);
/* Chooses the best usable device that matches choice (NULL: any device).
 * ERROR_MISSING says why there is none. */
int candidate_choose(const struct candidate *list, int count,
		     const char *choice, struct candidate *chosen,
		     struct error *err);
/*
 * Chooses a device for each rank of a request: chosen becomes the one of its
 * rank. Returns -1 if fewer usable devices than ranks match the choice. All are
 * of one platform, since a CPU can be a device of several.
 */
int candidate_choose_several(const struct candidate *list, int count,
			     const struct device_request *request,
			     struct candidate *chosen);

/* vendors.c: lists installed drivers that cannot be loaded, as entries that say
 * why. Returns their number. */
int vendors_list(struct candidate *list, int most);

/* partition.c: returns the largest number of sub-devices of equally many
 * compute units into which a device can be split; 1: it cannot be split. */
int device_most_parts(cl_device_id device);
/* Replaces device by the sub-device of this rank, which stays until the process
 * ends. ERROR_MISSING names the largest number of sub-devices. */
int device_split(struct candidate *device, int rank, int size,
		 struct error *err);

#endif
