/* Which CPUs are chosen, from trees of files as systems have them. */
#include "bench/system/cpus.h"

#include "tests/unit/systems.h"

#define CPU "sys/devices/system/cpu/"
#define CORE(cpu, threads) \
	CPU "cpu" cpu "/topology/core_cpus_list", threads "\n"
/* As kernels before 5.5 call it. */
#define OLD_CORE(cpu, threads) \
	CPU "cpu" cpu "/topology/thread_siblings_list", threads "\n"
#define CAPACITY(cpu, number) CPU "cpu" cpu "/cpu_capacity", number "\n"
#define CLOCK(cpu, khz) \
	CPU "cpu" cpu "/cpufreq/cpuinfo_max_freq", khz "\n"

static const struct {
	const char *name, *allowed;
	const char *chosen[5]; /* for 1, 2, 3, 4, 5 CPUs */
	const char *files[40];
} systems[] = {
	/* The first CPU serves most interrupts. */
	{ "silent", "0-3", { "3", "2-3", "1-3", "0-3", "0-3" }, { NULL } },
	{ "threads-apart", "0-3", { "3", "2-3", "1-3", "0-3", "0-3" },
	  { CORE("0", "0,2"), CORE("1", "1,3"), CORE("2", "0,2"),
	    CORE("3", "1,3") } },
	{ "threads-beside", "0-3", { "3", "1,3", "1-3", "0-3", "0-3" },
	  { CORE("0", "0-1"), CORE("1", "0-1"), CORE("2", "2-3"),
	    CORE("3", "2-3") } },
	{ "older", "0-3", { "3", "1,3", "1-3", "0-3", "0-3" },
	  { OLD_CORE("0", "0-1"), OLD_CORE("1", "0-1"), OLD_CORE("2", "2-3"),
	    OLD_CORE("3", "2-3") } },
	/* What others have of a core is no matter. */
	{ "allowed", "0,2-3", { "3", "0,3", "0,2-3", "0,2-3", "0,2-3" },
	  { CORE("0", "0-1"), CORE("1", "0-1"), CORE("2", "2-3"),
	    CORE("3", "2-3") } },
	/* Two large cores of two threads each, two small ones of one. */
	{ "hybrid", "0-5", { "3", "1,3", "1-3", "0-3", "0-3,5" },
	  { "sys/devices/cpu_core/cpus", "0-3\n",
	    "sys/devices/cpu_atom/cpus", "4-5\n",
	    CORE("0", "0-1"), CORE("1", "0-1"), CORE("2", "2-3"),
	    CORE("3", "2-3"), CORE("4", "4"), CORE("5", "5"),
	    CLOCK("0", "4000"), CLOCK("1", "4000"), CLOCK("2", "4000"),
	    CLOCK("3", "4000"), CLOCK("4", "3900"), CLOCK("5", "3900") } },
	{ "hybrid-small-alone", "4-5", { "5", "4-5", "4-5", "4-5", "4-5" },
	  { "sys/devices/cpu_core/cpus", "0-3\n",
	    CORE("4", "4"), CORE("5", "5") } },
	/* Largest first, the little ones last. */
	{ "capacities", "0-4", { "2", "2,4", "2-4", "1-4", "0-4" },
	  { CAPACITY("0", "300"), CAPACITY("1", "300"), CAPACITY("2", "1024"),
	    CAPACITY("3", "900"), CAPACITY("4", "900"),
	    CORE("0", "0"), CORE("1", "1"), CORE("2", "2"), CORE("3", "3"),
	    CORE("4", "4"),
	    /* Which the kernel's own measure goes before. */
	    CLOCK("0", "9999"), CLOCK("2", "1") } },
	/* A favourite's second thread is still one of a core that is busy. */
	{ "clocks", "0-5", { "1", "1,3", "0-1,3", "0-3", "0-3,5" },
	  { CORE("0", "0-1"), CORE("1", "0-1"), CORE("2", "2-3"),
	    CORE("3", "2-3"), CORE("4", "4"), CORE("5", "5"),
	    CLOCK("0", "5800000"), CLOCK("1", "5800000"),
	    CLOCK("2", "5500000"), CLOCK("3", "5500000"),
	    CLOCK("4", "3300000"), CLOCK("5", "3300000") } },
	{ "nonsense", "0-2", { "2", "1-2", "0-2", "0-2", "0-2" },
	  { CORE("2", "2-"), CORE("1", ""), CORE("0", "9-8"),
	    CAPACITY("2", "many"), "sys/devices/cpu_core/cpus", "x\n" } },
};

static void large_cores_come_first(void **state)
{
	char list[64];

	(void)state;
	for (size_t i = 0; i < sizeof(systems) / sizeof(systems[0]); i++) {
		add_files(systems[i].name, systems[i].files);
		for (int count = 1; count <= 5; count++) {
			cpus_choose(in_folder(systems[i].name),
				    systems[i].allowed, count, list,
				    sizeof(list));
			if (strcmp(list, systems[i].chosen[count - 1]))
				fail_msg("%s: %d CPUs are %s instead of %s",
					 systems[i].name, count, list,
					 systems[i].chosen[count - 1]);
		}
	}
}

static void a_long_list_is_cut_between_ranges(void **state)
{
	char list[8];

	(void)state;
	cpus_choose("/nothing", "0,2,4,60-70", 99, list, sizeof(list));
	assert_string_equal(list, "0,2,4");
}

static const struct {
	const char *list, *says; /* NULL: it is fine */
} requests[] = {
	{ "0", NULL },
	{ "0-1,3", NULL },
	{ "3,0-1\n", NULL },
	{ "0,0", NULL },
	{ "4", "--cpus 4: there is no CPU 4; this machine has 0-3" },
	{ "0-9", "--cpus 0-9: CPU 2 may not be used" },
	{ "0,1-2",
	  "--cpus 0,1-2: CPU 2 may not be used; affinity and control groups "
	  "allow 0-1,3" },
	{ "0,4096", "there is no CPU 4096" },
	{ "99999999999999999999", "there is no CPU " },
	{ "", "must be a list of CPUs such as 0,2-3, not ''" },
	{ "a", "not 'a'" },
	{ "1-0", "not '1-0'" },
	{ "0,", "not '0,'" },
	{ "0-", "not '0-'" },
	{ "-1", "not '-1'" },
	{ "0 1", "not '0 1'" },
	{ "0x1", "not '0x1'" },
	{ "0\n1", "must be a list of CPUs" },
};

static void what_cannot_be_had_is_named(void **state)
{
	(void)state;
	add_file("four", CPU "online", "0-3\n");
	for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]); i++) {
		struct error err = { .message = "" };
		const int failed = cpus_check(in_folder("four"), "0-1,3",
					      requests[i].list, &err);

		assert_int_equal(failed, requests[i].says ? -1 : 0);
		if (!failed)
			continue;
		assert_int_equal(err.kind, ERROR_USAGE);
		if (!strstr(err.message, requests[i].says))
			fail_msg("%s: %s", requests[i].list, err.message);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(large_cores_come_first),
		cmocka_unit_test(a_long_list_is_cut_between_ranges),
		cmocka_unit_test(what_cannot_be_had_is_named),
	};

	return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
