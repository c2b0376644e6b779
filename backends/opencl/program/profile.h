/* Lists the parts of an iteration, whose times queue.h reports. */
#ifndef BACKENDS_OPENCL_PROGRAM_PROFILE_H
#define BACKENDS_OPENCL_PROGRAM_PROFILE_H

#include "backends/contract/backend.h"
#include "backends/contract/profile.h"

/* A slot of the backend. */
int opencl_profile(struct program *program, struct profile_part *parts);

#endif
