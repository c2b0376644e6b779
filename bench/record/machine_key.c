/* Compares machines by the properties that decide speed. */
#include "bench/record/machine.h"

#include <math.h>
#include <string.h>

#include "bench/system/hash.h"
#include "bench/system/number.h"
#include "bench/system/text.h"

#define FEATURE_SIZE 200 /* bytes of one in words */
#define GIB (1024. * 1024 * 1024)

/* Rounds up in steps of an eighth to a quarter. The kernel's own share differs
 * by version: 16 GiB may show as 15.4 or 15.5. */
static void print_memory(const struct run *run, char *text)
{
	double gib, step = 1;

	if (run->mem_bytes <= 0)
		return;
	gib = ceil((double)run->mem_bytes / GIB);
	while (gib > 8 * step)
		step *= 2;
	snprintf(text, FEATURE_SIZE, "%.0f GiB", ceil(gib / step) * step);
}

/* "Linux 6.1" of "Linux 6.1.0-13-amd64" */
static void print_kernel(const struct run *run, char *text)
{
	const char *major = strchr(run->kernel, '.');
	size_t length = strlen(run->kernel);

	if (major)
		length = (size_t)(major + 1 - run->kernel) +
			 strspn(major + 1, "0123456789");
	snprintf(text, FEATURE_SIZE, "%.*s", (int)length, run->kernel);
}

static void print_quota(const struct run *run, char *text)
{
	char number[NUMBER_SIZE];

	number_print(number, run->cpu_quota);
	snprintf(text, FEATURE_SIZE, "%s", number[0] ? number : "none");
}

/* Properties of a machine; the first ones make the key. */
static const struct feature {
	const char *name;
	const char *column;
	/* Prints the value into text, which is empty before; NULL = as the
	 * column. */
	void (*print)(const struct run *run, char text[FEATURE_SIZE]);
	int in_key;
} features[] = {
	{ "CPU", "cpu_model", NULL, 1 },
	{ "logical CPUs", "logical_cpus", NULL, 1 },
	{ "quota of CPUs", "cpu_quota", print_quota, 1 },
	{ "memory", "mem_bytes", print_memory, 1 },
	{ "kernel", "kernel", print_kernel, 1 },
	{ "virtualisation", "virtualisation", NULL, 1 },
	{ "CPUs allowed", "cpus", NULL, 0 },
	{ "system", "os", NULL, 0 },
	{ "governor", "governor", NULL, 0 },
	{ "device", "device_name", NULL, 0 },
	{ "driver", "device_driver", NULL, 0 },
};

#define FEATURES (sizeof(features) / sizeof(features[0]))

static void print_feature(const struct feature *feature, const struct run *run,
			  char text[FEATURE_SIZE])
{
	const struct column *column = row_column(&run_rows, feature->column);
	char number[NUMBER_SIZE];

	text[0] = '\0';
	if (feature->print)
		feature->print(run, text);
	else
		snprintf(text, FEATURE_SIZE, "%s",
			 cell_format(column, run, number));
}

void machine_key(const struct run *run, char key[MACHINE_KEY_SIZE])
{
	char all[FEATURES * (FEATURE_SIZE + 1)] = "", hex[HASH_SHA256_SIZE];
	size_t used = 0;

	for (size_t i = 0; i < FEATURES; i++) {
		char text[FEATURE_SIZE];

		if (!features[i].in_key)
			continue;
		print_feature(&features[i], run, text);
		used += (size_t)snprintf(all + used, sizeof(all) - used, "%s\n",
					 text);
	}
	hash_sha256(NULL, 0, all, used, hex);
	snprintf(key, MACHINE_KEY_SIZE, "%.*s", MACHINE_KEY_SIZE - 1, hex);
}

/* Recorded, but no reason to be faster or slower. */
static const char *const harmless[] = { "BENCH_DATA_DIR=", "BENCH_SET=",
					"BENCH_TEST_", "POCL_CACHE_DIR=" };

static int is_harmless(const char *variable)
{
	for (size_t i = 0; i < sizeof(harmless) / sizeof(harmless[0]); i++)
		if (!strncmp(variable, harmless[i], strlen(harmless[i])))
			return 1;
	return 0;
}

/* Is the item in the list, where the first separator stands between items, and
 * any of them ends the last one? */
static int list_has(const char *list, const char *separators, const char *item,
		    size_t length)
{
	for (;;) {
		const size_t each = strcspn(list, separators);

		if (each == length && !strncmp(list, item, length))
			return 1;
		if (!list[each] || list[each] != separators[0])
			return 0;
		list += each + 1;
	}
}

/* Returns 1 if bench set its value, as in BENCH_SET. A process that has not
 * computed yet lacks it. */
static int is_chosen(const char *all, const char *variable)
{
	static const char set[] = "BENCH_SET=";
	const char *names = strstr(all, set);

	return names && list_has(names + strlen(set), ",;", variable,
				 strcspn(variable, "="));
}

/* Adds to text the variables that others lack; returns how many. */
static int add_variables(char *text, size_t size, const char *variables,
			 const char *others, const char *whose)
{
	const char *all = variables;
	int count = 0;

	while (*variables) {
		const size_t length = strcspn(variables, ";");

		if (length && !is_harmless(variables) &&
		    !is_chosen(all, variables) &&
		    !list_has(others, ";", variables, length)) {
			text_append(text, size, "%s%.*s: only in the %s",
				    text[0] ? "; " : "", (int)length,
				    variables, whose);
			count++;
		}
		variables += length + (variables[length] == ';');
	}
	return count;
}

/* A value that one run lacks is no difference. */
static int differs(const struct feature *feature, const struct run *first,
		   const struct run *second, char one[FEATURE_SIZE],
		   char other[FEATURE_SIZE])
{
	print_feature(feature, first, one);
	print_feature(feature, second, other);
	return one[0] && other[0] && strcmp(one, other);
}

int machine_difference(const struct run *first, const struct run *second,
		       char *text, size_t size)
{
	int count = 0;

	text[0] = '\0';
	for (size_t i = 0; i < FEATURES; i++) {
		char one[FEATURE_SIZE], other[FEATURE_SIZE];

		if (!differs(&features[i], first, second, one, other))
			continue;
		text_append(text, size, "%s%s: %s, then %s",
			    count++ ? "; " : "", features[i].name, one, other);
	}
	count += add_variables(text, size, first->variables, second->variables,
			       "first");
	return count + add_variables(text, size, second->variables,
				     first->variables, "second");
}
