/* Whether two machines are alike, as far as speed goes. */
#include "bench/record/machine.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "bench/system/hash.h"
#include "bench/system/number.h"

#define TOLD 200 /* bytes of one feature */
#define GIB (1024. * 1024 * 1024)

/* In steps of an eighth to a quarter, upwards: a kernel has taken its own
 * share, so that 16 GiB show as 15.4 and, with the next kernel, as 15.5. */
static void tell_memory(const struct run *run, char *text)
{
	double gib, step = 1;

	if (run->mem_bytes <= 0)
		return;
	gib = ceil((double)run->mem_bytes / GIB);
	while (gib > 8 * step)
		step *= 2;
	snprintf(text, TOLD, "%.0f GiB", ceil(gib / step) * step);
}

/* "Linux 6.1" of "Linux 6.1.0-13-amd64" */
static void tell_kernel(const struct run *run, char *text)
{
	const char *major = strchr(run->kernel, '.');
	size_t length = strlen(run->kernel);

	if (major)
		length = (size_t)(major + 1 - run->kernel) +
			 strspn(major + 1, "0123456789");
	snprintf(text, TOLD, "%.*s", (int)length, run->kernel);
}

static void tell_quota(const struct run *run, char *text)
{
	char number[NUMBER_SIZE];

	number_print(number, run->cpu_quota);
	snprintf(text, TOLD, "%s", number[0] ? number : "none");
}

static void tell_logical_cpus(const struct run *run, char *text)
{
	if (run->logical_cpus != CELL_NO_INT)
		snprintf(text, TOLD, "%ld", run->logical_cpus);
}

static void tell_cpus(const struct run *run, char *text)
{
	if (run->cpus != CELL_NO_INT)
		snprintf(text, TOLD, "%ld", run->cpus);
}

/* What a machine is told by; the key is made of the first ones. */
static const struct feature {
	const char *name;
	void (*tell)(const struct run *run, char *text); /* or the column */
	size_t column;
	int in_key;
} features[] = {
	{ "CPU", NULL, offsetof(struct run, cpu_model), 1 },
	{ "logical CPUs", tell_logical_cpus, 0, 1 },
	{ "quota of CPUs", tell_quota, 0, 1 },
	{ "memory", tell_memory, 0, 1 },
	{ "kernel", tell_kernel, 0, 1 },
	{ "virtualisation", NULL, offsetof(struct run, virtualisation), 1 },
	{ "CPUs allowed", tell_cpus, 0, 0 },
	{ "system", NULL, offsetof(struct run, os), 0 },
	{ "governor", NULL, offsetof(struct run, governor), 0 },
	{ "device", NULL, offsetof(struct run, device_name), 0 },
	{ "driver", NULL, offsetof(struct run, device_driver), 0 },
};

#define FEATURES (sizeof(features) / sizeof(features[0]))

static void tell(const struct feature *feature, const struct run *run,
		 char text[TOLD])
{
	text[0] = '\0';
	if (feature->tell)
		feature->tell(run, text);
	else
		snprintf(text, TOLD, "%s", (const char *)run + feature->column);
}

void machine_key(const struct run *run, char key[MACHINE_KEY_SIZE])
{
	char all[FEATURES * (TOLD + 1)] = "", hex[HASH_SHA256_SIZE];
	size_t used = 0;

	for (size_t i = 0; i < FEATURES; i++) {
		char text[TOLD];

		if (!features[i].in_key)
			continue;
		tell(&features[i], run, text);
		used += (size_t)snprintf(all + used, sizeof(all) - used, "%s\n",
					 text);
	}
	hash_sha256(NULL, 0, all, used, hex);
	snprintf(key, MACHINE_KEY_SIZE, "%.*s", MACHINE_KEY_SIZE - 1, hex);
}

/* A text that grows as long as there is room. */
struct list {
	char *text;
	size_t size;
	int count;
};

__attribute__((format(printf, 2, 3)))
static void add(struct list *list, const char *format, ...)
{
	size_t used = strlen(list->text);
	va_list arguments;

	if (list->count++)
		used += (size_t)snprintf(list->text + used, list->size - used,
					 "; ");
	if (used >= list->size)
		return;
	va_start(arguments, format);
	vsnprintf(list->text + used, list->size - used, format, arguments);
	va_end(arguments);
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

/* Is it one of the variables, which ';' parts? */
static int has_variable(const char *variables, const char *variable,
			size_t length)
{
	while (*variables) {
		const size_t each = strcspn(variables, ";");

		if (each == length && !strncmp(variables, variable, length))
			return 1;
		variables += each + (variables[each] == ';');
	}
	return 0;
}

/* bench chose its value, as BENCH_SET tells; a process that has not computed
 * yet lacks it. */
static int is_chosen(const char *all, const char *variable)
{
	const size_t length = strcspn(variable, "=");
	const char *names = strstr(all, "BENCH_SET=");

	names = names ? names + strlen("BENCH_SET=") : "";
	while (*names) {
		const size_t each = strcspn(names, ",;");

		if (each == length && !strncmp(names, variable, length))
			return 1;
		if (names[each] != ',')
			break;
		names += each + 1;
	}
	return 0;
}

static void add_variables(struct list *list, const char *variables,
			  const char *others, const char *whose)
{
	const char *all = variables;

	while (*variables) {
		const size_t length = strcspn(variables, ";");

		if (length && !is_harmless(variables) &&
		    !is_chosen(all, variables) &&
		    !has_variable(others, variables, length))
			add(list, "%.*s: of the %s only", (int)length,
			    variables, whose);
		variables += length + (variables[length] == ';');
	}
}

/* What one of them does not tell may be the same. */
static int differs(const struct feature *feature, const struct run *first,
		   const struct run *second, char one[TOLD], char other[TOLD])
{
	tell(feature, first, one);
	tell(feature, second, other);
	return one[0] && other[0] && strcmp(one, other);
}

int machine_is_another(const struct run *first, const struct run *second)
{
	char one[TOLD], other[TOLD];
	int count = 0;

	for (size_t i = 0; i < FEATURES; i++)
		count += differs(&features[i], first, second, one, other);
	return count;
}

int machine_difference(const struct run *first, const struct run *second,
		       char *text, size_t size)
{
	struct list list = { text, size, 0 };

	text[0] = '\0';
	for (size_t i = 0; i < FEATURES; i++) {
		char one[TOLD], other[TOLD];

		if (differs(&features[i], first, second, one, other))
			add(&list, "%s: %s, then %s", features[i].name, one,
			    other);
	}
	add_variables(&list, first->variables, second->variables, "first");
	add_variables(&list, second->variables, first->variables, "second");
	return list.count;
}
