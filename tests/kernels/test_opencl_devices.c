/*
 * Which OpenCL devices there are, which is meant, and what it is divided into:
 * PoCL plays a device of one unit and two of eight, which report what a test
 * chooses.
 */
#include <CL/cl.h>
#include <dlfcn.h>
#include <malloc.h>

#include "backends/opencl/device/device.h"
#include "tests/kernels/subject.h"

#define UNITS 8
#define MOST 16

static struct error err;

/* The answers of the driver: its last `gpus` devices are GPUs, and `way` is the
 * only way to divide a device, unless it is 0. It makes `lacking` parts fewer
 * than requested. */
static struct {
	int gpus;
	cl_device_partition_property way;
	cl_uint lacking;
} pretence;

typedef cl_int info_function(cl_device_id device, cl_device_info what,
			     size_t size, void *value, size_t *used);

static cl_int driver_info(cl_device_id device, cl_device_info what, size_t size,
			  void *value, size_t *used)
{
	info_function *driver;

	*(void **)&driver = dlsym(RTLD_NEXT, "clGetDeviceInfo");
	return driver(device, what, size, value, used);
}

static int is_gpu(cl_device_id device)
{
	cl_device_id all[MOST];
	cl_platform_id platform;
	cl_uint count = 0, place = 0;

	clGetPlatformIDs(1, &platform, NULL);
	clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, MOST, all, &count);
	while (place < count && all[place] != device)
		place++;
	return place < count && (int)(count - place) <= pretence.gpus;
}

/* What the backend calls, instead of the driver's own. */
cl_int clGetDeviceInfo(cl_device_id device, cl_device_info what, size_t size,
		       void *value, size_t *used)
{
	cl_int status = driver_info(device, what, size, value, used);

	if (!status && what == CL_DEVICE_TYPE && is_gpu(device))
		*(cl_device_type *)value = CL_DEVICE_TYPE_GPU;
	if (!status && what == CL_DEVICE_PARTITION_PROPERTIES && pretence.way) {
		((cl_device_partition_property *)value)[0] = pretence.way;
		((cl_device_partition_property *)value)[1] = 0;
	}
	return status;
}

/* The parts that were made last, and the number of released parts. */
static cl_device_id parts[2 * UNITS];
static cl_uint part_count, released;

cl_int clCreateSubDevices(cl_device_id device,
			  const cl_device_partition_property *how, cl_uint most,
			  cl_device_id *made, cl_uint *count)
{
	cl_int (*driver)(cl_device_id, const cl_device_partition_property *,
			 cl_uint, cl_device_id *, cl_uint *);
	cl_int status;

	*(void **)&driver = dlsym(RTLD_NEXT, "clCreateSubDevices");
	status = driver(device, how, most, made, count);
	for (cl_uint p = 0; !status && p < pretence.lacking; p++)
		clReleaseDevice(made[--*count]);
	part_count = status ? 0 : *count;
	memcpy(parts, made, part_count * sizeof(*made));
	released = 0;
	return status;
}

cl_int clReleaseDevice(cl_device_id device)
{
	cl_int (*driver)(cl_device_id);

	*(void **)&driver = dlsym(RTLD_NEXT, "clReleaseDevice");
	for (cl_uint p = 0; p < part_count; p++)
		released |= (parts[p] == device) << p;
	return driver(device);
}

static int have_devices(void)
{
	struct device_info list[MOST];

	return !backend_find("opencl")->unavailable &&
	       backend_list(backend_find("opencl"), UNITS, list, MOST,
			    &err) == 3;
}

/* What rank of size gets for a choice; a refusal is in err. */
static int take(const char *choice, int rank, int size,
		struct device_info *info)
{
	const struct device_request request = { .choice = choice,
						.threads = size,
						.cpus = UNITS,
						.rank = rank,
						.size = size };
	struct device *device;

	memset(info, 0, sizeof(*info));
	if (device_open(backend_find("opencl"), &request, &device, &err)) {
		assert_int_equal(err.kind, ERROR_MISSING);
		return -1;
	}
	device_describe(device, info);
	device_close(device);
	/* It is the rank's own part that is kept. */
	if (strstr(info->driver, "sub-device"))
		assert_int_equal(released,
				 ((1 << part_count) - 1) & ~(1 << rank));
	return 0;
}

static void expect(const char *choice, int rank, int size, const char *name,
		   int units, const char *part)
{
	struct device_info info;

	if (take(choice, rank, size, &info))
		fail_msg("%s", err.message);
	if (strncmp(info.name, name, strlen(name)) || info.units != units)
		fail_msg("rank %d of %d has %s, %d units", rank, size,
			 info.name, info.units);
	if (part)
		assert_non_null(strstr(info.driver, part));
	else
		assert_null(strstr(info.driver, "sub-device"));
}

static void refused(const char *choice, int size, const char *says)
{
	struct device_info info;

	assert_int_equal(take(choice, size - 1, size, &info), -1);
	if (!strstr(err.message, says))
		fail_msg("'%s' does not say '%s'", err.message, says);
}

static void all_are_listed(void **state)
{
	static const struct {
		const char *name;
		int units;
	} known[] = { { "basic", 1 }, { "pthread", UNITS },
		      { "pthread", UNITS } };
	struct device_info list[MOST];

	(void)state;
	backend_list(backend_find("opencl"), UNITS, list, MOST, &err);
	for (int i = 0; i < 3; i++) {
		const struct device_info *info = &list[i];

		assert_non_null(strstr(info->name, known[i].name));
		assert_non_null(strstr(info->platform, "Portable"));
		assert_non_null(strstr(info->platform, ", OpenCL "));
		assert_non_null(strstr(info->driver, "driver "));
		assert_string_equal(info->type, "CPU");
		assert_string_equal(info->unusable, "");
		assert_int_equal(info->units, known[i].units);
		assert_int_equal(info->parts, known[i].units);
		assert_true(info->width >= 4 && info->group > 0);
		assert_true(info->memory > info->group_memory);
		assert_true(info->group_memory > 0);
	}
	assert_int_equal(backend_list(backend_find("opencl"), UNITS, list, 2,
				      &err), 2);
}

static void one_is_whole(void **state)
{
	(void)state;
	expect(NULL, 0, 0, "basic", 1, NULL);
	expect(NULL, 0, 1, "basic", 1, NULL);
	expect("2", 0, 1, "pthread", UNITS, NULL);
	expect("pthread", 0, 1, "pthread", UNITS, NULL);
	expect("CPU", 0, 1, "basic", 1, NULL);
	refused("3", 1, "no OpenCL device '3'; available: 0 basic");
	refused("gpu", 1, "no OpenCL device 'gpu'");
}

static void several_have_one_each(void **state)
{
	(void)state;
	expect("pthread", 0, 2, "pthread", UNITS, NULL);
	expect("pthread", 1, 2, "pthread", UNITS, NULL);
	expect("cpu", 0, 3, "basic", 1, NULL);
	expect("cpu", 2, 3, "pthread", UNITS, NULL);
	expect(NULL, 0, 2, "basic", 1, NULL);
	expect(NULL, 1, 2, "pthread", UNITS, NULL);
}

static void one_is_parted(void **state)
{
	(void)state;
	for (int r = 0; r < 4; r++)
		expect("1", r, 4, "pthread", 2, "one of 4 sub-devices");
	for (int r = 0; r < 2; r++)
		expect("2", r, 2, "pthread", 4, "one of 2 sub-devices");
	/* As many units for each: two are left. */
	expect("1", 2, 3, "pthread", 2, "one of 3 sub-devices");
	expect("1", 7, 8, "pthread", 1, "one of 8 sub-devices");
	/* Two devices are too few: one of them is parted, for all ranks. */
	for (int r = 0; r < 3; r++)
		expect("pthread", r, 3, "pthread", 2, "one of 3 sub-devices");
	for (int r = 0; r < 4; r++) {
		struct device_info info;

		assert_int_equal(take("cpu", r, 4, &info), -1);
		assert_non_null(strstr(err.message, "'basic"));
	}
}

/*
 * A driver's thread may still hold a queue when all that it was given has been
 * released here, and asks that for its device. What was freed is overwritten.
 */
static void a_queue_outlives_its_part(void **state)
{
	const struct device_request request = {
		.choice = "1", .threads = 2, .cpus = UNITS, .rank = 1, .size = 2
	};
	const struct opencl_device *opencl;
	struct device *device;
	cl_command_queue queue;
	cl_uint units = 0;
	cl_int status;

	(void)state;
	mallopt(M_PERTURB, 0xa5);
	must(device_open(backend_find("opencl"), &request, &device, &err),
	     &err);
	opencl = (const struct opencl_device *)device;
	queue = clCreateCommandQueue(opencl->context, opencl->chosen.device, 0,
				     &status);
	assert_non_null(queue);
	device_close(device);
	assert_int_equal(clGetCommandQueueInfo(queue, CL_QUEUE_DEVICE,
					       sizeof(cl_device_id), &parts[0],
					       NULL),
			 CL_SUCCESS);
	assert_int_equal(driver_info(parts[0], CL_DEVICE_MAX_COMPUTE_UNITS,
				     sizeof(units), &units, NULL),
			 CL_SUCCESS);
	assert_int_equal(units, UNITS / 2);
	assert_int_equal(clFinish(queue), CL_SUCCESS);
	clReleaseCommandQueue(queue);
	mallopt(M_PERTURB, 0);
}

static void too_many_parts_are_refused(void **state)
{
	(void)state;
	refused("1", 9, "with 8 compute units can be split into at most 8 "
			"sub-devices, not 9; use opencl-8");
	refused("0", 2, "1 compute unit cannot be split into 2 "
			    "sub-devices");
	pretence.way = CL_DEVICE_PARTITION_BY_AFFINITY_DOMAIN;
	refused("1", 2, "with 8 compute units cannot be split into 2");
	pretence.way = 0;
}

/* Eight units by three are four parts then. */
static void equal_parts_will_do(void **state)
{
	(void)state;
	pretence.way = CL_DEVICE_PARTITION_EQUALLY;
	for (int r = 0; r < 3; r++)
		expect("1", r, 3, "pthread", 2, "one of 3 sub-devices");
	expect("1", 1, 2, "pthread", 4, "one of 2 sub-devices");
	pretence.way = 0;
}

/* Whoever has GPUs means them; what else is there is none of several. */
static void gpus_come_first(void **state)
{
	(void)state;
	pretence.gpus = 2;
	expect(NULL, 0, 1, "pthread", UNITS, NULL);
	expect(NULL, 0, 2, "pthread", UNITS, NULL);
	expect(NULL, 1, 2, "pthread", UNITS, NULL);
	expect("gpu", 1, 2, "pthread", UNITS, NULL);
	refused("cpu", 2, "1 compute unit cannot be split into 2");
	pretence.gpus = 1;
	pretence.way = CL_DEVICE_PARTITION_BY_AFFINITY_DOMAIN;
	refused(NULL, 2, "cannot be split into 2 sub-devices, and there are "
			 "not 2 devices");
	expect("cpu", 1, 2, "pthread", UNITS, NULL);
	pretence.gpus = 0;
	pretence.way = 0;
}

/* Of what came instead nothing is kept. */
static void fewer_parts_are_refused(void **state)
{
	(void)state;
	pretence.lacking = 1;
	refused("1", 3, "made 2 sub-devices instead of 3");
	assert_int_equal(part_count, 2);
	assert_int_equal(released, 3);
	pretence.lacking = 2;
	refused("1", 2, "made 0 sub-devices instead of 2");
	pretence.lacking = 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_are_listed),
		cmocka_unit_test(one_is_whole),
		cmocka_unit_test(several_have_one_each),
		cmocka_unit_test(one_is_parted),
		cmocka_unit_test(a_queue_outlives_its_part),
		cmocka_unit_test(too_many_parts_are_refused),
		cmocka_unit_test(equal_parts_will_do),
		cmocka_unit_test(gpus_come_first),
		cmocka_unit_test(fewer_parts_are_refused),
	};

	setenv("POCL_DEVICES", "basic pthread pthread", 1);
	setenv("POCL_MAX_PTHREAD_COUNT", "8", 1);
	return run_group_if(have_devices(), "opencl devices", tests,
			    sizeof(tests) / sizeof(tests[0]), NULL, NULL);
}
