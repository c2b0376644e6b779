/*
 * Loaded before the command: an OpenCL driver that fails.
 *
 *   BREAK_OPENCL=FUNCTION:N:HOW
 *
 * The Nth call of FUNCTION, a function below, and all after it do not reach
 * the driver. HOW is the status that they return, "hang", or "abort"; of
 * clBuildProgram also "source", kernels that are nonsense. With "count" they
 * reach it, and BREAK_OPENCL_MARK gets a byte for each.
 *
 * "destructors" run in the driver's library, at the end of a process with the
 * command's name: not of the linker that a driver starts.
 *
 *   BREAK_OPENCL_MARK=FILE
 *
 * "hang" makes this file first.
 *
 *   OPENCL_MEMORY=BYTES, OPENCL_BUFFER=BYTES
 *
 * So large is the device's memory, or its largest buffer, as it says.
 *
 *   OPENCL_LAST=1
 *
 * Only the last of a device's sub-devices says so.
 *
 *   OPENCL_ALONE=1
 *
 * Builds are refused while another thread builds; each takes long enough to be
 * met. A kernel's first launch is a build too, until the clFinish() after it;
 * in between that thread may launch nothing.
 */
#include <CL/cl.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define MOST_KERNELS 256
#define SOURCE 1 /* no status: those are 0 or less */

/* The driver's own function of this name. */
static void *driver(const char *name)
{
	void *found = dlsym(RTLD_NEXT, name);

	if (!found)
		abort();
	return found;
}

/* Returns the file BREAK_OPENCL_MARK, or -1. */
static int mark_open(void)
{
	const char *mark = getenv("BREAK_OPENCL_MARK");

	return mark ? open(mark, O_CREAT | O_WRONLY | O_APPEND, 0600) : -1;
}

static void hang(void)
{
	close(mark_open());
	for (;;)
		pause();
}

static int count(void)
{
	const int mark = mark_open();

	if (write(mark, "", 1) != 1)
		abort();
	return close(mark);
}

/* Returns 0, or the status instead of calling the driver. */
static cl_int broken(const char *name)
{
	static atomic_int calls;
	const char *wanted = getenv("BREAK_OPENCL");
	const size_t length = strlen(name);
	char *how;

	if (!wanted || strncmp(wanted, name, length) || wanted[length] != ':')
		return 0;
	if (atomic_fetch_add(&calls, 1) + 1 < strtol(wanted + length + 1, &how,
						     10))
		return 0;
	if (!strcmp(how, ":source"))
		return SOURCE;
	if (!strcmp(how, ":abort"))
		abort();
	if (!strcmp(how, ":hang"))
		hang();
	if (!strcmp(how, ":count"))
		return count();
	return (cl_int)strtol(how + 1, NULL, 10);
}

__attribute__((destructor)) static void destruct(void)
{
	if (!strncmp(program_invocation_short_name, "bench", 5))
		broken("destructors");
}

cl_int clGetPlatformIDs(cl_uint most, cl_platform_id *platforms,
			cl_uint *found)
{
	cl_int (*real)(cl_uint, cl_platform_id *, cl_uint *);
	const cl_int status = broken("clGetPlatformIDs");

	*(void **)&real = driver("clGetPlatformIDs");
	return status ? status : real(most, platforms, found);
}

cl_int clGetDeviceIDs(cl_platform_id platform, cl_device_type type,
		      cl_uint most, cl_device_id *devices, cl_uint *found)
{
	cl_int (*real)(cl_platform_id, cl_device_type, cl_uint, cl_device_id *,
		       cl_uint *);
	const cl_int status = broken("clGetDeviceIDs");

	*(void **)&real = driver("clGetDeviceIDs");
	return status ? status : real(platform, type, most, devices, found);
}

static _Atomic cl_device_id last; /* of OPENCL_LAST */
static atomic_int builds; /* of OPENCL_ALONE, first launches included */

/* The size that a variable gives instead of the driver's; 0: none. */
static cl_ulong size_given(cl_device_id device, cl_device_info what)
{
	const char *name = what == CL_DEVICE_GLOBAL_MEM_SIZE ?
				   "OPENCL_MEMORY" :
			   what == CL_DEVICE_MAX_MEM_ALLOC_SIZE ?
				   "OPENCL_BUFFER" : NULL;
	const char *given = name ? getenv(name) : NULL;

	if (getenv("OPENCL_LAST") && device != last)
		return 0;
	return given ? strtoul(given, NULL, 10) : 0;
}

cl_int clGetDeviceInfo(cl_device_id device, cl_device_info what, size_t size,
		       void *value, size_t *needed)
{
	cl_int (*real)(cl_device_id, cl_device_info, size_t, void *, size_t *);
	const cl_ulong given = size_given(device, what);
	cl_int status;

	*(void **)&real = driver("clGetDeviceInfo");
	status = real(device, what, size, value, needed);
	if (!status && given && value && size >= sizeof(given))
		memcpy(value, &given, sizeof(given));
	return status;
}

/* Whether this thread has not waited for a kernel that ran first. */
static _Thread_local int first_runs;

static int is_first(cl_kernel kernel)
{
	static _Atomic cl_kernel known[MOST_KERNELS];
	int i = 0;

	while (i < MOST_KERNELS && known[i] && known[i] != kernel)
		i++;
	if (i == MOST_KERNELS || known[i] == kernel)
		return 0;
	known[i] = kernel;
	return 1;
}

/* Returns 0 if no other thread has begun, or begins within 50 ms. */
static int begin_alone(void)
{
	const struct timespec time = { .tv_nsec = 50 * 1000 * 1000 };

	builds++;
	if (getenv("OPENCL_ALONE"))
		nanosleep(&time, NULL);
	return getenv("OPENCL_ALONE") && builds > 1 ? -1 : 0;
}

cl_int clBuildProgram(cl_program program, cl_uint count,
		      const cl_device_id *devices, const char *options,
		      void(CL_CALLBACK *notify)(cl_program, void *), void *data)
{
	cl_int (*real)(cl_program, cl_uint, const cl_device_id *, const char *,
		       void(CL_CALLBACK *)(cl_program, void *), void *);
	const cl_int status = broken("clBuildProgram");

	*(void **)&real = driver("clBuildProgram");
	if (status == SOURCE)
		return real(program, count, devices, "-D const=? -D WIDTH=4",
			    notify, data);
	if (status || begin_alone())
		return status ? status : CL_INVALID_OPERATION;
	builds--;
	return real(program, count, devices, options, notify, data);
}

cl_int clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel,
			      cl_uint dimensions, const size_t *offset,
			      const size_t *global, const size_t *local,
			      cl_uint count, const cl_event *waits,
			      cl_event *event)
{
	cl_int (*real)(cl_command_queue, cl_kernel, cl_uint, const size_t *,
		       const size_t *, const size_t *, cl_uint,
		       const cl_event *, cl_event *);
	const cl_int status = broken("clEnqueueNDRangeKernel");

	*(void **)&real = driver("clEnqueueNDRangeKernel");
	if (getenv("OPENCL_ALONE")) {
		if (first_runs)
			return CL_INVALID_OPERATION;
		first_runs = is_first(kernel);
		if (first_runs && begin_alone())
			return CL_INVALID_OPERATION;
	}
	return status ? status : real(queue, kernel, dimensions, offset, global,
				      local, count, waits, event);
}

cl_mem clCreateBuffer(cl_context context, cl_mem_flags flags, size_t size,
		      void *host, cl_int *found)
{
	cl_mem (*real)(cl_context, cl_mem_flags, size_t, void *, cl_int *);
	const cl_int status = broken("clCreateBuffer");

	*(void **)&real = driver("clCreateBuffer");
	if (!status)
		return real(context, flags, size, host, found);
	if (found)
		*found = status;
	return NULL;
}

cl_int clEnqueueWriteBuffer(cl_command_queue queue, cl_mem buffer,
			    cl_bool blocking, size_t offset, size_t size,
			    const void *from, cl_uint count,
			    const cl_event *waits, cl_event *event)
{
	cl_int (*real)(cl_command_queue, cl_mem, cl_bool, size_t, size_t,
		       const void *, cl_uint, const cl_event *, cl_event *);
	const cl_int status = broken("clEnqueueWriteBuffer");

	*(void **)&real = driver("clEnqueueWriteBuffer");
	return status ? status : real(queue, buffer, blocking, offset, size,
				      from, count, waits, event);
}

cl_int clEnqueueFillBuffer(cl_command_queue queue, cl_mem buffer,
			   const void *pattern, size_t pattern_size,
			   size_t offset, size_t size, cl_uint count,
			   const cl_event *waits, cl_event *event)
{
	cl_int (*real)(cl_command_queue, cl_mem, const void *, size_t, size_t,
		       size_t, cl_uint, const cl_event *, cl_event *);
	const cl_int status = broken("clEnqueueFillBuffer");

	*(void **)&real = driver("clEnqueueFillBuffer");
	return status ? status : real(queue, buffer, pattern, pattern_size,
				      offset, size, count, waits, event);
}

cl_int clFinish(cl_command_queue queue)
{
	cl_int (*real)(cl_command_queue);
	const cl_int status = broken("clFinish");

	*(void **)&real = driver("clFinish");
	builds -= first_runs;
	first_runs = 0;
	return status ? status : real(queue);
}

cl_int clEnqueueReadBuffer(cl_command_queue queue, cl_mem buffer,
			   cl_bool blocking, size_t offset, size_t size,
			   void *to, cl_uint count, const cl_event *waits,
			   cl_event *event)
{
	cl_int (*real)(cl_command_queue, cl_mem, cl_bool, size_t, size_t,
		       void *, cl_uint, const cl_event *, cl_event *);
	const cl_int status = broken("clEnqueueReadBuffer");

	*(void **)&real = driver("clEnqueueReadBuffer");
	return status ? status : real(queue, buffer, blocking, offset, size, to,
				      count, waits, event);
}

cl_int clCreateSubDevices(cl_device_id device,
			  const cl_device_partition_property *how,
			  cl_uint most, cl_device_id *parts, cl_uint *count)
{
	cl_int (*real)(cl_device_id, const cl_device_partition_property *,
		       cl_uint, cl_device_id *, cl_uint *);
	cl_int status = broken("clCreateSubDevices");

	*(void **)&real = driver("clCreateSubDevices");
	if (!status)
		status = real(device, how, most, parts, count);
	/* Each rank makes all, one after the other, and keeps its own: of the
	 * last rank it is the last one. */
	if (!status && count && *count)
		last = parts[*count - 1];
	return status;
}

cl_context clCreateContext(const cl_context_properties *properties,
			   cl_uint count, const cl_device_id *devices,
			   void(CL_CALLBACK *notify)(const char *, const void *,
						     size_t, void *),
			   void *data, cl_int *found)
{
	cl_context (*real)(const cl_context_properties *, cl_uint,
			   const cl_device_id *,
			   void(CL_CALLBACK *)(const char *, const void *,
					       size_t, void *),
			   void *, cl_int *);
	const cl_int status = broken("clCreateContext");

	*(void **)&real = driver("clCreateContext");
	if (!status)
		return real(properties, count, devices, notify, data, found);
	if (found)
		*found = status;
	return NULL;
}
