/* Huge pages are asked for where memory has room for them, and only there. */
#include <inttypes.h>
#include <unistd.h>

#include "backends/host/host.h"
#include "tests/kernels/skipping.h"

#define HUGE HOST_HUGE_PAGE

/* Returns 1 if the kernel was advised to make the page of place huge. */
static int is_huge(const void *place)
{
	FILE *file = fopen("/proc/self/smaps", "r");
	char line[512];
	int here = 0, huge = 0;

	assert_non_null(file);
	while (fgets(line, sizeof(line), file)) {
		uintptr_t from, to;

		if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " ", &from, &to) == 2)
			here = from <= (uintptr_t)place &&
			       (uintptr_t)place < to;
		else if (here && !strncmp(line, "VmFlags:", 8))
			huge = strstr(line, " hg") != NULL;
	}
	fclose(file);
	return huge;
}

static void large_memory_has_them(void **state)
{
	const size_t size = 5 * HUGE + 3;
	char *memory = host_allocate(size);

	(void)state;
	assert_non_null(memory);
	assert_true(is_huge(memory + size / 2));
	for (size_t i = 0; i < size; i++)
		assert_int_equal(memory[i], 0);
	free(memory);
}

static void nothing_beside_it_has(void **state)
{
	char *memory = aligned_alloc(HUGE, 6 * HUGE);

	(void)state;
	assert_non_null(memory);
	host_prefer_huge_pages(memory + 64, HUGE);
	assert_false(is_huge(memory));
	host_prefer_huge_pages(memory + HUGE + 64, 3 * HUGE - 128);
	assert_false(is_huge(memory + HUGE));
	assert_true(is_huge(memory + 2 * HUGE));
	assert_true(is_huge(memory + 3 * HUGE - 1));
	assert_false(is_huge(memory + 3 * HUGE));
	free(memory);
}

int main(void)
{
	const int have = !access("/sys/kernel/mm/transparent_hugepage", F_OK);
	const struct CMUnitTest tests[] = {
		unit_test_if(have, large_memory_has_them),
		unit_test_if(have, nothing_beside_it_has),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
