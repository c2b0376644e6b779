#include "backends/opencl/device/status.h"

#include <CL/cl_ext.h>
#include <stdarg.h>
#include <stdio.h>

#define NAMED(status) { status, #status }

static const struct {
	cl_int status;
	const char *name;
} names[] = {
	NAMED(CL_SUCCESS),
	NAMED(CL_DEVICE_NOT_FOUND),
	NAMED(CL_DEVICE_NOT_AVAILABLE),
	NAMED(CL_COMPILER_NOT_AVAILABLE),
	NAMED(CL_MEM_OBJECT_ALLOCATION_FAILURE),
	NAMED(CL_OUT_OF_RESOURCES),
	NAMED(CL_OUT_OF_HOST_MEMORY),
	NAMED(CL_PROFILING_INFO_NOT_AVAILABLE),
	NAMED(CL_MEM_COPY_OVERLAP),
	NAMED(CL_IMAGE_FORMAT_MISMATCH),
	NAMED(CL_IMAGE_FORMAT_NOT_SUPPORTED),
	NAMED(CL_BUILD_PROGRAM_FAILURE),
	NAMED(CL_MAP_FAILURE),
	NAMED(CL_MISALIGNED_SUB_BUFFER_OFFSET),
	NAMED(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST),
	NAMED(CL_COMPILE_PROGRAM_FAILURE),
	NAMED(CL_LINKER_NOT_AVAILABLE),
	NAMED(CL_LINK_PROGRAM_FAILURE),
	NAMED(CL_DEVICE_PARTITION_FAILED),
	NAMED(CL_KERNEL_ARG_INFO_NOT_AVAILABLE),
	NAMED(CL_INVALID_VALUE),
	NAMED(CL_INVALID_DEVICE_TYPE),
	NAMED(CL_INVALID_PLATFORM),
	NAMED(CL_INVALID_DEVICE),
	NAMED(CL_INVALID_CONTEXT),
	NAMED(CL_INVALID_QUEUE_PROPERTIES),
	NAMED(CL_INVALID_COMMAND_QUEUE),
	NAMED(CL_INVALID_HOST_PTR),
	NAMED(CL_INVALID_MEM_OBJECT),
	NAMED(CL_INVALID_BINARY),
	NAMED(CL_INVALID_BUILD_OPTIONS),
	NAMED(CL_INVALID_PROGRAM),
	NAMED(CL_INVALID_PROGRAM_EXECUTABLE),
	NAMED(CL_INVALID_KERNEL_NAME),
	NAMED(CL_INVALID_KERNEL_DEFINITION),
	NAMED(CL_INVALID_KERNEL),
	NAMED(CL_INVALID_ARG_INDEX),
	NAMED(CL_INVALID_ARG_VALUE),
	NAMED(CL_INVALID_ARG_SIZE),
	NAMED(CL_INVALID_KERNEL_ARGS),
	NAMED(CL_INVALID_WORK_DIMENSION),
	NAMED(CL_INVALID_WORK_GROUP_SIZE),
	NAMED(CL_INVALID_WORK_ITEM_SIZE),
	NAMED(CL_INVALID_GLOBAL_OFFSET),
	NAMED(CL_INVALID_EVENT_WAIT_LIST),
	NAMED(CL_INVALID_EVENT),
	NAMED(CL_INVALID_OPERATION),
	NAMED(CL_INVALID_BUFFER_SIZE),
	NAMED(CL_INVALID_GLOBAL_WORK_SIZE),
	NAMED(CL_INVALID_PROPERTY),
	NAMED(CL_PLATFORM_NOT_FOUND_KHR),
};

const char *status_name(cl_int status)
{
	for (int i = 0; i < COUNT(names); i++)
		if (names[i].status == status)
			return names[i].name;
	return "a code that OpenCL 1.2 does not name";
}

int status_fail(struct error *err, const char *call, cl_int status)
{
	return error_set(err, ERROR_FAILED, "%s: %s (%d)", call,
			 status_name(status), (int)status);
}

/* Drivers differ in which they give where memory runs out, and in when. */
static int is_lack_of_memory(cl_int status)
{
	return status == CL_MEM_OBJECT_ALLOCATION_FAILURE ||
	       status == CL_OUT_OF_RESOURCES ||
	       status == CL_OUT_OF_HOST_MEMORY;
}

int allocation_fail(struct error *err, cl_int status, const char *format, ...)
{
	char call[128];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(call, sizeof(call), format, arguments);
	va_end(arguments);
	status_fail(err, call, status);
	err->memory = is_lack_of_memory(status);
	return -1;
}
