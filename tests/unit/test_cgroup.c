/* What a process is allowed of CPUs and memory, from trees of files as systems
 * have them. */
#include "bench/system/kernel.h"

#include <unistd.h>

#include "bench/record/machine.h"
#include "tests/unit/systems.h"

/* Files of one system, path and content in turn, and the quota to be found. */
struct tree {
	const char *name;
	double cpus;
	const char *files[12];
};

static const struct tree trees[] = {
	{ "nothing", NAN, { NULL } },
	{ "v2-root", 1.5, { V2 "cpu.max", "150000 100000\n" } },
	{ "v2-no-limit", NAN,
	  { GROUPS, "0::/a\n", V2 "a/cpu.max", "max 100000\n" } },
	{ "v2-own", 0.5,
	  { GROUPS, "0::/a/b\n", V2 "a/b/cpu.max", "50000 100000\n",
	    V2 "a/cpu.max", "300000 100000\n" } },
	{ "v2-around", 2,
	  { GROUPS, "0::/a/b/c\n", V2 "a/b/cpu.max", "max 100000\n",
	    V2 "a/cpu.max", "20000 10000\n", V2 "cpu.max", "max 100000\n" } },
	{ "v2-another-group", NAN,
	  { GROUPS, "0::/a\n", V2 "b/cpu.max", "50000 100000\n" } },
	{ "v2-colons", 3,
	  { GROUPS, "0::/a:b\n", V2 "a:b/cpu.max", "300000 100000" } },
	{ "v2-path-of-outside", 4,
	  { GROUPS, "0::/docker/abc\n", V2 "cpu.max", "400000 100000\n" } },
	{ "v2-outside", 4,
	  { GROUPS, "0::/../x\n", V2 "cpu.max", "400000 100000\n",
	    "sys/fs/x/cpu.max", "100000 100000\n" } },
	{ "v1-own", 0.25,
	  { GROUPS, "9:cpuset:/\n4:cpuacct,cpu:/a/b\n0::/\n",
	    V1 "a/b/cpu.cfs_quota_us", "25000\n",
	    V1 "a/b/cpu.cfs_period_us", "100000\n" } },
	{ "v1-around", 2,
	  { GROUPS, "4:cpu:/a/b\n", V1 "a/b/cpu.cfs_quota_us", "-1\n",
	    V1 "a/b/cpu.cfs_period_us", "100000\n",
	    V1 "a/cpu.cfs_quota_us", "200000\n",
	    V1 "a/cpu.cfs_period_us", "100000\n" } },
	{ "v1-another-controller", NAN,
	  { GROUPS, "4:cpuset,cpuacct:/a\n", V1 "a/cpu.cfs_quota_us", "1000\n",
	    V1 "a/cpu.cfs_period_us", "100000\n" } },
	{ "both", 1,
	  { GROUPS, "4:cpu:/a\n0::/b\n", V1 "a/cpu.cfs_quota_us", "200000\n",
	    V1 "a/cpu.cfs_period_us", "100000\n", V2 "b/cpu.max",
	    "100000 100000\n" } },
};

/* None of these is a quota. */
static const char *const malformed[] = {
	"", "\n", "max", "100000", "100000 0\n", "0 100000\n", "-1 100000\n",
	"50000 -100000\n", "nan 100000\n", "inf 1\n", "50000x 100000\n",
	"50000 100000x\n", "0x100 100000\n", "1e3 100000\n",
	"50000\n100000\n\t", "five six\n", "\xff\xfe",
};

static void expect(const char *tree, double cpus)
{
	double found = cgroup_cpus(in_folder(tree));

	if (isnan(cpus) ? !isnan(found) : found != cpus)
		fail_msg("%s: %g CPUs instead of %g", tree, found, cpus);
}

static void smallest_quota_counts(void **state)
{
	(void)state;
	for (size_t t = 0; t < sizeof(trees) / sizeof(trees[0]); t++) {
		add_files(trees[t].name, trees[t].files);
		expect(trees[t].name, trees[t].cpus);
	}
}

static void malformed_quota_is_none(void **state)
{
	const size_t count = sizeof(malformed) / sizeof(malformed[0]);

	(void)state;
	add_file("bad", GROUPS, "0::/a\n");
	for (size_t i = 0; i < count; i++) {
		add_file("bad", V2 "a/cpu.max", malformed[i]);
		expect("bad", NAN);
		/* The one around it still counts. */
		add_file("bad", V2 "cpu.max", "300000 100000\n");
		expect("bad", 3);
		unlink(in_folder("bad/" V2 "cpu.max"));
	}
}

static void malformed_groups_are_passed_over(void **state)
{
	static const char *const lines[] = {
		"", "\n", "0", "0:", "0::", "0::\n", "0:cpu\n", ":::\n",
		"0:cpu:relative\n", "0::no\n", "::/\n", "0::/a/\n", "0:://a\n",
	};
	char *groups = malloc(3 * PATH_MAX);

	(void)state;
	add_file("lines", V2 "cpu.max", "300000 100000\n");
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		add_file("lines", GROUPS, lines[i]);
		expect("lines", 3);
	}
	/* Longer than a path can be, and the right one after it. */
	add_file("lines", V2 "a/cpu.max", "100000 100000\n");
	memset(groups, 'x', 3 * PATH_MAX);
	memcpy(groups, "0::/", 4);
	snprintf(groups + 2 * PATH_MAX, PATH_MAX, "\n0::/a\n");
	add_file("lines", GROUPS, groups);
	expect("lines", 1);
	free(groups);
}

static void smallest_memory_counts(void **state)
{
	(void)state;
	add_file("memory", GROUPS, "0::/a/b\n");
	assert_true(isnan(cgroup_memory(in_folder("memory"))));
	add_file("memory", V2 "a/b/memory.max", "max\n");
	assert_true(isnan(cgroup_memory(in_folder("memory"))));
	add_file("memory", V2 "a/memory.max", "1073741824\n");
	assert_true(cgroup_memory(in_folder("memory")) == 1073741824);
	add_file("memory", V2 "a/b/memory.max", "536870912\n");
	assert_true(cgroup_memory(in_folder("memory")) == 536870912);
	/* A quota of CPUs is another matter. */
	assert_true(isnan(cgroup_cpus(in_folder("memory"))));
}

/* What a group uses already is not there, but for the caches of files. */
static void used_memory_is_not_free(void **state)
{
	const char *tree = "used";

	(void)state;
	add_file(tree, GROUPS, "0::/a/b\n");
	add_file(tree, V2 "a/memory.max", "1000000\n");
	add_file(tree, V2 "a/memory.current", "700000\n");
	assert_true(cgroup_memory(in_folder(tree)) == 300000);
	add_file(tree, V2 "a/memory.stat", "anon 400000\nactive_file 50000\n"
		 "inactive_file 200000\nslab 3\n");
	assert_true(cgroup_memory(in_folder(tree)) == 550000);
	/* The group within has less. */
	add_file(tree, V2 "a/b/memory.max", "500000\n");
	add_file(tree, V2 "a/b/memory.current", "400000\n");
	assert_true(cgroup_memory(in_folder(tree)) == 100000);
	/* A limit that was lowered below what is used. */
	add_file(tree, V2 "a/b/memory.max", "300000\n");
	assert_true(cgroup_memory(in_folder(tree)) == 0);
}

static void version_1_has_limits_too(void **state)
{
	const char *tree = "memory1";

	(void)state;
	add_file(tree, GROUPS, "9:memory:/a/b\n4:cpu,cpuacct:/other\n0::/c\n");
	add_file(tree, MEMORY1 "a/b/memory.limit_in_bytes",
		 "9223372036854771712\n");
	assert_true(isnan(cgroup_memory(in_folder(tree))));
	add_file(tree, MEMORY1 "a/memory.limit_in_bytes", "1073741824\n");
	assert_true(cgroup_memory(in_folder(tree)) == 1073741824);
	add_file(tree, MEMORY1 "a/memory.usage_in_bytes", "73741824\n");
	add_file(tree, MEMORY1 "a/memory.stat", "inactive_file 1\n"
		 "total_inactive_file 741824\ntotal_active_file 1000000\n");
	assert_true(cgroup_memory(in_folder(tree)) == 1001741824);
	add_file(tree, MEMORY1 "a/b/memory.limit_in_bytes", "536870912\n");
	assert_true(cgroup_memory(in_folder(tree)) == 536870912);
	/* A container sees its own group mounted, and the path outside. */
	add_file("memory2", GROUPS, "9:memory:/docker/x\n");
	add_file("memory2", MEMORY1 "memory.limit_in_bytes", "1000000\n");
	assert_true(cgroup_memory(in_folder("memory2")) == 1000000);
	assert_true(machine_memory_available(in_folder("memory2")) == 1000000);
}

static void available_memory_is_the_least(void **state)
{
	const char *tree = "available";

	(void)state;
	add_file(tree, GROUPS, "0::/a\n");
	assert_true(isnan(machine_memory_available(in_folder(tree))));
	add_file(tree, "proc/meminfo", "MemTotal:  8000 kB\n"
		 "MemFree:    100 kB\nMemAvailable:   4000 kB\n");
	assert_true(machine_memory_available(in_folder(tree)) == 4096000);
	add_file(tree, V2 "a/memory.max", "5000000\n");
	assert_true(machine_memory_available(in_folder(tree)) == 4096000);
	add_file(tree, V2 "a/memory.max", "3000000\n");
	assert_true(machine_memory_available(in_folder(tree)) == 3000000);
	/* Kernels before 3.14 lack the line. */
	add_file(tree, "proc/meminfo", "MemTotal:  8000 kB\n");
	assert_true(machine_memory_available(in_folder(tree)) == 3000000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(smallest_quota_counts),
		cmocka_unit_test(malformed_quota_is_none),
		cmocka_unit_test(malformed_groups_are_passed_over),
		cmocka_unit_test(smallest_memory_counts),
		cmocka_unit_test(used_memory_is_not_free),
		cmocka_unit_test(version_1_has_limits_too),
		cmocka_unit_test(available_memory_is_the_least),
	};

	return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
