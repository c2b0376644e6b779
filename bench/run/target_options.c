#include "bench/run/target_options.h"

#include <stddef.h>
#include <string.h>

static int keeps_data(const struct target *target)
{
	return backend_holds(target->backend);
}

static int has_classes(const struct target *target)
{
	return target->backend->has_classes;
}

static int runs_ahead(const struct target *target)
{
	return target->backend->runs_ahead && target->cores == 1;
}

static const struct particular {
	const char *name, *value; /* NULL: any */
	size_t offset;
	int (*is_taken)(const struct target *target);
	const char *why; /* others do not take it */
} particulars[] = {
	{ "resident", "no", offsetof(struct options, resident), keeps_data,
	  "a CPU's data set is in its memory anyway" },
	{ "device-class", NULL, offsetof(struct options, device_class),
	  has_classes, "only devices have classes of kernels" },
	{ "sync", "epoch", offsetof(struct options, sync), runs_ahead,
	  "only a single device works in the background, and cores meet in "
	  "each step" },
};

#define PARTICULARS (sizeof(particulars) / sizeof(particulars[0]))

/* What is asked for; NULL: nothing that anybody refuses. */
static const char *asked(const struct particular *option,
			 const struct options *options)
{
	const char *value = *(const char *const *)((const char *)options +
						   option->offset);

	return value && (!option->value || !strcmp(value, option->value)) ?
		       value : NULL;
}

void target_options_trim(struct options *options, const struct target *target)
{
	for (size_t i = 0; i < PARTICULARS; i++)
		if (asked(&particulars[i], options) &&
		    !particulars[i].is_taken(target))
			*(const char **)((char *)options +
					 particulars[i].offset) = NULL;
}

static int refuse(const struct particular *option, const char *value,
		  const struct target *targets, int count, struct error *err)
{
	struct target each = { .cores = 1 };
	char names[256] = "", takers[128] = "";

	for (int t = 0; t < count; t++)
		error_list(names, sizeof(names), targets[t].name);
	while ((each.backend = backend_next(each.backend)))
		if (option->is_taken(&each))
			error_list(takers, sizeof(takers), each.backend->name);
	return error_set(err, ERROR_USAGE, "--%s %s does not go with %s: %s; "
			 "leave it out, or name a target that takes it: %s",
			 option->name, value, names, option->why, takers);
}

int target_options_check(const struct options *options,
			 const struct target *targets, int count, FILE *log,
			 struct error *err)
{
	for (size_t i = 0; i < PARTICULARS; i++) {
		const struct particular *option = &particulars[i];
		const char *value = asked(option, options);
		char names[256] = "";
		int taken = 0;

		for (int t = 0; value && t < count; t++)
			if (option->is_taken(&targets[t])) {
				error_list(names, sizeof(names),
					   targets[t].name);
				taken++;
			}
		if (value && !taken)
			return refuse(option, value, targets, count, err);
		if (value && taken < count && log)
			fprintf(log, "note: --%s %s concerns %s alone\n",
				option->name, value, names);
	}
	return 0;
}
