#include "bench/plan/target.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/options/option_table.h"
#include "bench/plan/plugin_file.h"
#include "bench/system/suggest.h"

const char *const target_defaults[] = { "cpu-1", "cpu-8", "opencl", NULL };
const char *const infer_defaults[] = { "cpu-1", "opencl", NULL };

/* Stands for a transport that only the measuring process opens. */
static const struct transport plugged_transport = {
	.name = "plug-in",
	.summary = "a plug-in",
	.max_size = GROUP_MAX_SIZE,
};

const char *target_transport(const struct target *target)
{
	return target->plugin[0] ? target->plugin : target->transport->name;
}

int target_load(struct target *target, struct error *err)
{
	return target->plugin[0] ?
		       plugin_open(target->plugin, &target->transport, err) : 0;
}

static int refuse_backend(const char *text, const char *name,
			  struct error *err)
{
	struct suggestion suggestion = { .typed = name };
	const struct backend *backend = NULL;

	while ((backend = backend_next(backend)))
		suggest_add(&suggestion, backend->name);
	return error_set(err, ERROR_USAGE,
			 "target '%s': unknown backend '%s'; %s (targets are "
			 "called cpu-8, opencl; bench devices lists them)",
			 text, name, suggest_text(&suggestion));
}

/* Built in, or of a plug-in that is there. NULL: none. */
static void find_transport(struct target *target, const char *name)
{
	char path[PATH_MAX];

	target->transport = transport_find(name);
	if (target->transport || strlen(name) >= sizeof(target->plugin) ||
	    plugin_find(name, path))
		return;
	memcpy(target->plugin, name, strlen(name) + 1);
	target->transport = &plugged_transport;
}

/* One that this build could have. */
static int refuse_plugin(const char *text, const struct plugin_known *known,
			 struct error *err)
{
	return error_set(err, ERROR_MISSING, "target '%s': there is no plug-in "
			 "%s.so; install package %s and build again, or name "
			 "one with --plugin FILE", text, known->name,
			 known->package);
}

/* Fails if the transport is missing, or cannot run this number of cores. */
static int check_transport(const struct target *target, const char *text,
			   const char *name, struct error *err)
{
	struct suggestion suggestion = { .typed = name };
	const struct transport *transport = NULL;

	if (target->transport && target->cores <= target->transport->max_size)
		return 0;
	if (target->transport)
		return error_set(err, ERROR_USAGE,
				 "target '%s': transport %s supports 1 to %d "
				 "cores, not %d", text, target->transport->name,
				 target->transport->max_size, target->cores);
	if (plugin_known_find(name))
		return refuse_plugin(text, plugin_known_find(name), err);
	while ((transport = transport_next(transport)))
		suggest_add(&suggestion, transport->name);
	return error_set(err, ERROR_USAGE,
			 "target '%s': unknown transport '%s'; %s", text, name,
			 suggest_text(&suggestion));
}

static void make_name(struct target *target, const char *default_transport)
{
	char cores[16] = "";
	const char *transport = target_transport(target);
	int usual = !strcmp(transport, default_transport);

	/* One device is whole: nothing of it is counted. */
	if (!target->backend->offloads || target->cores > 1)
		snprintf(cores, sizeof(cores), "-%d", target->cores);
	snprintf(target->name, sizeof(target->name), "%s%s%s%s%s%s",
		 target->backend->name, cores, usual ? "" : "@",
		 usual ? "" : transport,
		 target->device[0] ? ":" : "", target->device);
}

static int parse_cores(struct target *target, const char *text,
		       const char *digits, struct error *err)
{
	const int plain = !digits[strspn(digits, "0123456789")];
	const long cores = strtol(digits, NULL, 10);

	if (!plain || cores < 1 || cores > GROUP_MAX_SIZE)
		return error_set(err, ERROR_USAGE,
				 "target '%s': core count must be 1 to %d, not "
				 "'%s'", text, GROUP_MAX_SIZE, digits);
	target->cores = (int)cores;
	return 0;
}

static int parse_device(struct target *target, const char *text,
			const char *device, struct error *err)
{
	if (!target->backend->list)
		return error_set(err, ERROR_USAGE,
				 "target '%s': %s has one device, this CPU; "
				 "leave out the :%s", text,
				 target->backend->name, device);
	if (!*device || strlen(device) >= sizeof(target->device))
		return error_set(err, ERROR_USAGE,
				 "target '%s': the : must be followed by a "
				 "device's number, or part of its name; see "
				 "bench devices", text);
	snprintf(target->device, sizeof(target->device), "%s", device);
	return 0;
}

int target_parse(struct target *target, const char *text, struct error *err)
{
	char copy[sizeof(target->name)];
	char *cores, *transport, *device;
	const char *usual;

	if (strlen(text) >= sizeof(copy))
		return error_set(err, ERROR_USAGE,
				 "target '%.60s...' is too long", text);
	memcpy(copy, text, strlen(text) + 1);
	*target = (struct target){ .cores = 1 };
	if ((device = strchr(copy, ':')))
		*device++ = '\0';
	if ((transport = strchr(copy, '@')))
		*transport++ = '\0';
	if ((cores = strchr(copy, '-')))
		*cores++ = '\0';
	target->backend = backend_find(copy);
	if (!target->backend)
		return refuse_backend(text, copy, err);
	if ((cores && parse_cores(target, text, cores, err)) ||
	    (device && parse_device(target, text, device, err)))
		return -1;
	usual = target->cores > 1 ? "threads" : "self";
	find_transport(target, transport ? transport : usual);
	if (check_transport(target, text, transport, err))
		return -1;
	make_name(target, usual);
	return 0;
}

int target_refuse_twice(const struct target *targets, int count,
			const char *option, struct error *err)
{
	for (int t = 1; t < count; t++)
		for (int other = 0; other < t; other++)
			if (!strcmp(targets[t].name, targets[other].name))
				return error_set(err, ERROR_USAGE, "%s is "
						 "named twice; for more "
						 "processes of each target use "
						 "%s", targets[t].name, option);
	return 0;
}

static int keeps_data(const struct target *target)
{
	return backend_uploads_data(target->backend);
}

static int has_device_classes(const struct target *target)
{
	return target->backend->has_device_classes;
}

static int runs_ahead(const struct target *target)
{
	return target->backend->runs_ahead && target->cores == 1;
}

int target_sums_natively(const struct target *target)
{
	const struct plugin_known *known = plugin_known_find(target->plugin);

	return known && known->sums_natively;
}

static int is_on_hosts(const struct target *target)
{
	const struct plugin_known *known = plugin_known_find(target->plugin);

	return known && known->launcher;
}

static const struct option_of_some {
	const char *name, *value; /* NULL: any */
	int (*applies)(const struct target *target);
	const char *why; /* others do not take it */
	const char *taker; /* where it is no backend that takes it */
} options_of_some[] = {
	{ "resident", "no", keeps_data,
	  "a CPU has the data set in its memory anyway", NULL },
	{ "device-class", NULL, has_device_classes,
	  "only devices have classes of kernels", NULL },
	{ "sync", "epoch", runs_ahead,
	  "only a single device works in the background; several exchange "
	  "gradients in each step", NULL },
	{ "allreduce", "native", target_sums_natively,
	  "their sums are always ordered", "cpu-2@mpi" },
	{ "allreduce", "whole", target_sums_natively,
	  "they send no gradients", "cpu-2@mpi" },
	{ "bucket-mb", NULL, target_sums_natively,
	  "their cores are on one host, and send nothing", "cpu-2@mpi" },
	{ "hosts", NULL, is_on_hosts, "all their cores are on this host",
	  "cpu-2@mpi" },
};

#define VALUE_SIZE 512 /* of an option that only some targets take */
#define OPTIONS_OF_SOME (sizeof(options_of_some) / sizeof(options_of_some[0]))

/* The value given; empty: none that a target could refuse. */
static const char *find_value(const struct option_of_some *option,
			      const struct options *options,
			      char value[VALUE_SIZE])
{
	option_print(options, option_find(option->name), value, VALUE_SIZE);
	if (option->value && strcmp(value, option->value))
		value[0] = '\0';
	return value;
}

void target_options_trim(struct options *options, const struct target *target)
{
	char value[VALUE_SIZE];

	for (size_t i = 0; i < OPTIONS_OF_SOME; i++)
		if (*find_value(&options_of_some[i], options, value) &&
		    !options_of_some[i].applies(target))
			option_reset(options,
				     option_find(options_of_some[i].name));
}

static int refuse(const struct option_of_some *option, const char *value,
		  const struct target *targets, int count, struct error *err)
{
	struct target each = { .cores = 1 };
	char names[256] = "", takers[128] = "";

	for (int t = 0; t < count; t++)
		error_list(names, sizeof(names), targets[t].name);
	if (option->taker)
		error_list(takers, sizeof(takers), option->taker);
	while (!option->taker && (each.backend = backend_next(each.backend)))
		if (option->applies(&each))
			error_list(takers, sizeof(takers), each.backend->name);
	return error_set(err, ERROR_USAGE, "--%s %s cannot be used with %s: "
			 "%s; leave it out, or name a target that supports it: "
			 "%s",
			 option->name, value, names, option->why, takers);
}

int target_options_check(const struct options *options,
			 const struct target *targets, int count, FILE *log,
			 struct error *err)
{
	for (size_t i = 0; i < OPTIONS_OF_SOME; i++) {
		const struct option_of_some *option = &options_of_some[i];
		char text[VALUE_SIZE], names[256] = "";
		const char *value = find_value(option, options, text);
		int taken = 0;

		if (!*value)
			continue;
		for (int t = 0; t < count; t++)
			if (option->applies(&targets[t])) {
				error_list(names, sizeof(names),
					   targets[t].name);
				taken++;
			}
		if (!taken)
			return refuse(option, value, targets, count, err);
		if (taken < count && log)
			fprintf(log, "note: --%s %s applies to %s only\n",
				option->name, value, names);
	}
	return 0;
}
