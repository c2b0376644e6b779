/* The identity of a machine, and the differences of two machines. */
#include "bench/record/machine.h"

#include "tests/unit/systems.h"

#define CPUINFO "proc/cpuinfo"
#define VENDOR "sys/class/dmi/id/sys_vendor"
#define HYPERVISOR "sys/hypervisor/type"
#define GOVERNOR "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"
#define X86(flags) "processor\t: 0\nmodel name\t: A CPU @ 2 GHz\n" \
	"cpu MHz\t\t: 1999.123\nflags\t\t: fpu sse2" flags \
	"\nbogomips\t: 4000\n\nprocessor\t: 1\nmodel name\t: Another\n"

static const struct {
	const char *name, *cpu_model, *virtualisation, *governor, *os;
	const char *files[12];
} systems[] = {
	{ "nothing", "", "", "", "", { NULL } },
	{ "metal", "A CPU @ 2 GHz", "none", "performance", "Some Linux 12",
	  { CPUINFO, X86(" avx2"), GOVERNOR, "performance\n", VENDOR, "Dell\n",
	    "etc/os-release", "NAME=x\nPRETTY_NAME=\"Some Linux 12\"\n" } },
	{ "virtual", "A CPU @ 2 GHz", "QEMU", "", "",
	  { CPUINFO, X86(" hypervisor avx2"), VENDOR, "QEMU\n" } },
	{ "virtual-last", "A CPU @ 2 GHz", "some", "", "",
	  { CPUINFO, X86(" hypervisor") } },
	{ "no-word", "A CPU @ 2 GHz", "none", "", "",
	  { CPUINFO, X86(" hypervisors") } },
	{ "xen", "", "xen", "", "", { HYPERVISOR, "xen\n", VENDOR, "Dell\n" } },
	{ "arm", "", "", "schedutil", "",
	  { CPUINFO, "processor\t: 0\nBogoMIPS\t: 50\n", GOVERNOR,
	    "schedutil\n", VENDOR, "QEMU\n" } },
};

static void systems_tell_in_files(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(systems) / sizeof(systems[0]); i++) {
		struct run run;

		row_clear(&run_rows, &run);
		add_files(systems[i].name, systems[i].files);
		machine_read(&run, in_folder(systems[i].name));
		assert_string_equal(run.cpu_model, systems[i].cpu_model);
		assert_string_equal(run.virtualisation,
				    systems[i].virtualisation);
		assert_string_equal(run.governor, systems[i].governor);
		assert_string_equal(run.os, systems[i].os);
		assert_true(isnan(run.cpu_quota));
	}
}

static struct run usual(void)
{
	struct run run;

	row_clear(&run_rows, &run);
	snprintf(run.cpu_model, sizeof(run.cpu_model), "A CPU");
	run.logical_cpus = 4;
	run.cpus = 4;
	run.mem_bytes = 16500000000; /* 15.4 GiB */
	snprintf(run.kernel, sizeof(run.kernel), "Linux 6.1.0-13-amd64");
	snprintf(run.virtualisation, sizeof(run.virtualisation), "QEMU");
	snprintf(run.os, sizeof(run.os), "Some Linux 12");
	snprintf(run.device_name, sizeof(run.device_name), "this CPU");
	snprintf(run.device_driver, sizeof(run.device_driver), "OpenBLAS 1");
	snprintf(run.variables, sizeof(run.variables),
		 "OMP_NUM_THREADS=2;BENCH_DATA_DIR=/a");
	return run;
}

/* Changes one thing; says is what the difference has to say, "" for none. */
struct change {
	void (*make)(struct run *run);
	int changes_key;
	const char *says;
};

#define CHANGE(name, member, value)                                            \
	static void name(struct run *run)                                      \
	{                                                                      \
		run->member = value;                                           \
	}
#define CHANGE_TEXT(name, member, value)                                       \
	static void name(struct run *run)                                      \
	{                                                                      \
		snprintf(run->member, sizeof(run->member), "%s", value);       \
	}

CHANGE_TEXT(other_cpu, cpu_model, "B CPU")
CHANGE_TEXT(no_cpu, cpu_model, "")
CHANGE(fewer_cpus, logical_cpus, 2)
CHANGE(unknown_cpus, logical_cpus, CELL_NO_INT)
CHANGE(a_quota, cpu_quota, 1.5)
CHANGE(like_memory, mem_bytes, 16700000000)
CHANGE(less_memory, mem_bytes, 8200000000)
CHANGE_TEXT(patched, kernel, "Linux 6.1.99-cloud")
CHANGE_TEXT(newer, kernel, "Linux 6.12.1")
CHANGE_TEXT(virtual, virtualisation, "Xen")
CHANGE(confined, cpus, 2)
CHANGE_TEXT(other_os, os, "Some Linux 13")
CHANGE_TEXT(governed, governor, "powersave")
CHANGE_TEXT(other_device, device_name, "a GPU")
CHANGE_TEXT(other_driver, device_driver, "OpenBLAS 2")
CHANGE_TEXT(no_variables, variables, "")
CHANGE_TEXT(more_variables, variables,
	    "BENCH_DATA_DIR=/b;LD_PRELOAD=x;OMP_NUM_THREADS=2")
CHANGE_TEXT(chosen_variables, variables,
	    "B=1;OMP_NUM_THREADS=2;A=3;BENCH_SET=A,B;BENCH_DATA_DIR=/a")
CHANGE_TEXT(other_value, variables, "OMP_NUM_THREADS=21")
CHANGE_TEXT(named, run_id, "another")

static const struct change changes[] = {
	{ other_cpu, 1, "CPU: A CPU, then B CPU" },
	{ no_cpu, 1, "" },
	{ fewer_cpus, 1, "logical CPUs: 4, then 2" },
	{ unknown_cpus, 1, "" },
	{ a_quota, 1, "quota of CPUs: none, then 1.5" },
	{ like_memory, 0, "" },
	{ less_memory, 1, "memory: 16 GiB, then 8 GiB" },
	{ patched, 0, "" },
	{ newer, 1, "kernel: Linux 6.1, then Linux 6.12" },
	{ virtual, 1, "virtualisation: QEMU, then Xen" },
	{ confined, 0, "CPUs allowed: 4, then 2" },
	{ other_os, 0, "system: Some Linux 12, then Some Linux 13" },
	{ governed, 0, "" }, /* the usual governor says nothing */
	{ other_device, 0, "device: this CPU, then a GPU" },
	{ other_driver, 0, "driver: OpenBLAS 1, then OpenBLAS 2" },
	{ no_variables, 0, "OMP_NUM_THREADS=2: only in the first" },
	{ more_variables, 0, "LD_PRELOAD=x: only in the second" },
	{ chosen_variables, 0, "" }, /* set by bench, as it says */
	{ other_value, 0, "OMP_NUM_THREADS=2: only in the first; "
			  "OMP_NUM_THREADS=21: only in the second" },
	{ named, 0, "" },
};

static void each_difference_is_said(void **state)
{
	const struct run first = usual();
	char key[MACHINE_KEY_SIZE], other[MACHINE_KEY_SIZE], text[400];

	(void)state;
	machine_key(&first, key);
	assert_int_equal(strspn(key, "0123456789abcdef"), 16);
	for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
		struct run second = usual();
		int count;

		changes[i].make(&second);
		count = machine_difference(&first, &second, text,
					   sizeof(text));
		assert_string_equal(text, changes[i].says);
		assert_int_equal(count > 0, text[0] != '\0');
		machine_key(&second, other);
		if ((strcmp(key, other) != 0) != changes[i].changes_key)
			fail_msg("the key after: %s (change %zu)", text, i);
	}
}

static void differences_add_up_and_are_cut(void **state)
{
	const struct run first = usual();
	struct run second = first;
	char text[400], little[12];

	(void)state;
	other_cpu(&second);
	newer(&second);
	no_variables(&second);
	assert_int_equal(machine_difference(&first, &second, text,
					    sizeof(text)), 3);
	assert_string_equal(text, "CPU: A CPU, then B CPU; kernel: Linux 6.1, "
			    "then Linux 6.12; OMP_NUM_THREADS=2: only in "
			    "the first");
	assert_int_equal(machine_difference(&first, &second, little,
					    sizeof(little)), 3);
	assert_string_equal(little, "CPU: A CPU,");
}

static void memory_is_rough(void **state)
{
	static const struct {
		double gib[2];
		int alike;
	} known[] = {
		{ { 1.9, 2 }, 1 },   { { 7.6, 7.9 }, 1 }, { { 7.7, 6.9 }, 0 },
		{ { 30.8, 32 }, 1 }, { { 32, 33 }, 0 },	  { { 745, 768 }, 1 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		struct run first = usual(), second = usual();
		char one[MACHINE_KEY_SIZE], other[MACHINE_KEY_SIZE];

		first.mem_bytes = (long)(known[i].gib[0] * 1073741824);
		second.mem_bytes = (long)(known[i].gib[1] * 1073741824);
		machine_key(&first, one);
		machine_key(&second, other);
		assert_int_equal(!strcmp(one, other), known[i].alike);
	}
}

/* What is alike from one process to the next. */
static void this_machine_is_like_itself(void **state)
{
	struct run first, second;
	char text[200];

	(void)state;
	row_clear(&run_rows, &first);
	row_clear(&run_rows, &second);
	machine_describe(&first);
	machine_describe(&second);
	assert_int_equal(strlen(first.host_key), 16);
	assert_string_equal(first.host_key, second.host_key);
	assert_int_equal(machine_difference(&first, &second, text,
					    sizeof(text)), 0);
}

static void variables_of_libraries_are_listed(void **state)
{
	static const char *const listed[] = {
		"MKL_CBWR=AVX2", "KMP_BLOCKTIME=0", "CL_CONFIG_USE_VTUNE=0",
		"UCX_TLS=self", "LD_AUDIT=a.so", "OMP_NUM_THREADS=2",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(listed) / sizeof(*listed); i++)
		assert_true(machine_has_variable(listed[i]));
	assert_false(machine_has_variable("HOME=/"));
	/* Some of each run, by mpirun. */
	assert_false(machine_has_variable("OMPI_MCA_ess_base_jobid=1"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(variables_of_libraries_are_listed),
		cmocka_unit_test(systems_tell_in_files),
		cmocka_unit_test(each_difference_is_said),
		cmocka_unit_test(differences_add_up_and_are_cut),
		cmocka_unit_test(memory_is_rough),
		cmocka_unit_test(this_machine_is_like_itself),
	};

	return cmocka_run_group_tests_name("machine", tests, folder_make,
					   folder_remove);
}
