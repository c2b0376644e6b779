#include "backends/opencl/class.h"

#include <stdio.h>
#include <string.h>

#include "backends/opencl/generic.h"

static const struct solver *const solvers[] = {
	&winograd_solver.base,
	&conv_solver.base,
	&linear_solver.base,
	&loss_solver.base,
	GENERIC_SOLVERS,
};

const struct device_class cpu_class = {
	.name = "cpu",
	.types = CL_DEVICE_TYPE_CPU,
	.tiling = { .items = 1, .updated = 1024 },
	.solvers = solvers,
	.solver_count = sizeof(solvers) / sizeof(solvers[0]),
	.build = common_build,
	.begin = dropout_add,
};

static const struct device_class *const classes[] = { &cpu_class, &gpu_class };

const struct device_class *class_find(const char *name, cl_device_type type)
{
	for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++)
		if (name ? !strcmp(classes[i]->name, name) :
			   (classes[i]->types & type) != 0)
			return classes[i];
	return &cpu_class;
}

const struct device_class *program_class(const struct opencl_program *program)
{
	return program_device(program)->class;
}

void class_note(const struct device_class *class, struct device_info *info)
{
	snprintf(info->device_class, sizeof(info->device_class), "%s",
		 class->name);
}

int class_check(const struct device_class *class, cl_device_id device,
		struct error *err)
{
	const size_t items = (size_t)class->tiling.items;
	size_t most = 0;
	cl_ulong memory = 0;
	cl_int status = clGetDeviceInfo(device, CL_DEVICE_MAX_WORK_GROUP_SIZE,
					sizeof(most), &most, NULL);

	if (!status)
		status = clGetDeviceInfo(device, CL_DEVICE_LOCAL_MEM_SIZE,
					 sizeof(memory), &memory, NULL);
	if (status)
		return status_fail(err, "clGetDeviceInfo", status);
	if (items > most)
		return error_set(err, ERROR_MISSING,
				 "the %s class has work-groups of %zu items, "
				 "of which this device takes %zu; choose "
				 "--device-class %s", class->name, items, most,
				 cpu_class.name);
	if (items > 1 && LOCAL_BYTES > memory)
		return error_set(err, ERROR_MISSING,
				 "the %s class needs %d bytes of local memory, "
				 "of which this device has %llu; choose "
				 "--device-class %s", class->name, LOCAL_BYTES,
				 (unsigned long long)memory, cpu_class.name);
	return 0;
}
