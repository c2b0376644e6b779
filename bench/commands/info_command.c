#include "bench/commands/commands.h"

#include <math.h>
#include <string.h>

#include "backends/contract/backend.h"
#include "backends/parallel/transport.h"
#include "bench/commands/device_list.h"
#include "bench/data/dataset.h"
#include "bench/plan/plan.h"
#include "bench/plan/plugin_file.h"
#include "bench/plan/target.h"
#include "bench/record/machine.h"
#include "bench/system/cpus.h"
#include "bench/system/file.h"
#include "bench/system/kernel.h"
#include "bench/system/process.h"
#include "bench/system/terminal.h"
#include "bench/system/text.h"

#define MOST_PLATFORM 60 /* characters of its name and version */
#define GIB (1024. * 1024 * 1024)

/* Prints properties that only devices with a platform have. */
static void print_platform(FILE *out, const struct backend *backend,
			   const struct device_info *info)
{
	fprintf(out, "%-12s   %d-float vectors, work-groups up to %zu, "
		"%.0f KiB local memory\n", "", info->width, info->group,
		(double)info->group_memory / 1024);
	if (info->parts > 1)
		fprintf(out, "%-12s   can be split into up to %d sub-devices: "
			"%s-%d\n", "", info->parts, backend->name,
			info->parts);
	else
		fprintf(out, "%-12s   cannot be split into sub-devices\n", "");
}

/* One more line about a device. */
static void print_more(FILE *out, const char *what, const char *text)
{
	char line[1024];

	snprintf(line, sizeof(line), "%-12s   %s %s", "", what, text);
	terminal_print_line(out, line, 17);
}

/* Prints a platform's name and version, cut to words that fit: drivers append
 * their build options. */
static void print_version(FILE *out, const char *platform)
{
	char words[MOST_PLATFORM + 8] = "";
	size_t used = 0, length;
	const char *word;

	for (word = platform; *word; word += length) {
		word += strspn(word, " ");
		length = strcspn(word, " ");
		used += 1 + length;
		if (used > MOST_PLATFORM)
			break;
		if (length)
			text_append(words, sizeof(words), "%s%.*s",
				    words[0] ? " " : "", (int)length, word);
	}
	if (*word)
		text_append(words, sizeof(words), " ..");
	print_more(out, "platform", words);
}

static void print_device(FILE *out, const struct backend *backend, int index,
			 const struct device_info *info)
{
	char name[48];

	/* The entry of a platform without devices cannot be chosen. */
	if (backend->list && info->type[0])
		snprintf(name, sizeof(name), "%s:%d", backend->name, index);
	else
		snprintf(name, sizeof(name), "%s", backend->name);
	fprintf(out, "%-12s %s\n", name, info->name);
	if (info->platform[0])
		print_version(out, info->platform);
	if (info->driver[0])
		print_more(out, "driver", info->driver);
	if (info->unusable[0]) {
		print_more(out, "cannot be used:", info->unusable);
		return;
	}
	fprintf(out, "%-12s   type %s, %d unit%s", "", info->type, info->units,
		info->units == 1 ? "" : "s");
	if (info->memory)
		fprintf(out, ", %.1f GiB", (double)info->memory / GIB);
	if (info->device_class[0])
		fprintf(out, ", %s class", info->device_class);
	fputc('\n', out);
	if (info->platform[0])
		print_platform(out, backend, info);
}

/* A lack of memory is our failure; any other one belongs in the list. */
static int list_devices(const struct backend *backend, struct device_info *list,
			FILE *out, struct error *err)
{
	const int count = device_list(backend, list, err);

	if (count < 0 && !err->memory) {
		fprintf(out, "%-12s cannot be used: %s\n", backend->name,
			err->message);
		return 0;
	}
	return count;
}

int devices_command(const struct options *options, FILE *out, FILE *log,
		    struct error *err)
{
	const struct backend *backend = NULL;
	const double quota = cgroup_cpus("");
	struct run run;

	(void)options, (void)log;
	while ((backend = backend_next(backend))) {
		struct device_info list[DEVICE_LIST_MOST];
		const int count = list_devices(backend, list, out, err);

		if (count < 0)
			return -1;
		for (int i = 0; i < count; i++)
			print_device(out, backend, i, &list[i]);
	}
	row_clear(&run_rows, &run);
	machine_describe_host(&run);
	fprintf(out, "\n%d of %ld CPUs can be used", cpus_available(),
		run.logical_cpus);
	if (isfinite(quota))
		fprintf(out, " (quota %.2f)", quota);
	fputs("; more cores share them.\n", out);
	return 0;
}

/* Prints the CPU libraries of backends, as their devices report them. */
static int print_libraries(FILE *out, struct error *err)
{
	const struct backend *backend = NULL;

	while ((backend = backend_next(backend))) {
		struct device_info list[DEVICE_LIST_MOST];
		int count = device_list(backend, list, err);
		char line[1280];

		if (count < 0 && err->memory)
			return -1;
		if (count < 0)
			fprintf(out, "%-14s %s\n", backend->name, err->message);
		for (int i = 0; i < count; i++) {
			snprintf(line, sizeof(line), "%-14s %s%s%s%s%s",
				 backend->name, list[i].name,
				 list[i].driver[0] ? ", " : "", list[i].driver,
				 list[i].unusable[0] ? ", cannot be used: " :
						       "",
				 list[i].unusable);
			terminal_print_line(out, line, 15);
		}
	}
	return 0;
}

/* Prints which plug-ins of this tree exist, and the packages of the others.
 * Returns -1 if there is no memory. */
static int print_plugins(FILE *out, struct error *err)
{
	for (const struct plugin_known *known = plugins_known; known->name;
	     known++) {
		char path[PATH_MAX], line[PATH_MAX + 256];
		const int is_there = !plugin_find(known->name, path);
		const int fails = is_there && plugin_try(known->name, err);

		if (fails && err->memory)
			return -1;
		snprintf(line, sizeof(line), "%-14s ", known->name);
		if (!is_there)
			text_append(line, sizeof(line), "no plug-in %s.so: "
				    "package %s, and build again", known->name,
				    known->package);
		else
			text_append(line, sizeof(line), "%s%s", fails ?
				    "cannot be used: " : "",
				    fails ? err->message : path);
		if (process_find_program(known->launcher))
			text_append(line, sizeof(line), ", %s",
				    known->launcher);
		else
			text_append(line, sizeof(line), "; no %s: package %s",
				    known->launcher, known->launcher_package);
		terminal_print_line(out, line, 15);
	}
	return 0;
}

static int print_environment(FILE *out, struct error *err)
{
	struct run run;
	char variables[4 * sizeof(run.variables)];

	row_clear(&run_rows, &run);
	machine_describe(&run);
	fprintf(out, "%-14s %s (%s)\n", "bench", run.version, run.git_commit);
	fprintf(out, "%-14s %s, %s\n", "built with", run.compiler, run.cflags);
	fprintf(out, "%-14s %s\n", "processor", run.cpu_model);
	fprintf(out, "%-14s %ld, %d allowed by affinity, ", "cpus",
		run.logical_cpus, cpus_allowed());
	if (isfinite(run.cpu_quota))
		fprintf(out, "quota %.2f\n", run.cpu_quota);
	else
		fputs("no quota\n", out);
	fprintf(out, "%-14s %.1f GiB\n", "memory",
		(double)run.mem_bytes / GIB);
	fprintf(out, "%-14s %s, %s\n", "system", run.os, run.kernel);
	fprintf(out, "%-14s %s\n", "virtualised",
		run.virtualisation[0] ? run.virtualisation : "unknown");
	fprintf(out, "%-14s %s\n", "governor",
		run.governor[0] ? run.governor : "unknown");
	fprintf(out, "%-14s %s\n", "host key", run.host_key);
	text_clean(variables, sizeof(variables), run.variables, 0);
	fprintf(out, "%-14s %s\n", "variables",
		variables[0] ? variables : "no recorded variable is set");
	if (print_plugins(out, err))
		return -1;
	return print_libraries(out, err);
}

int env_command(const struct options *options, FILE *out, FILE *log,
		struct error *err)
{
	const char *path = options->export_csv;

	if (path && options->peak == options->network)
		return error_set(err, ERROR_USAGE, "--export-csv writes the "
				 "rates of --peak or --network: add one of "
				 "them");
	if (!options->network && (options->argument_count || options->hosts))
		return error_set(err, ERROR_USAGE, "bench env uses targets and "
				 "--hosts for --network only: add --network");
	/* Rows on standard output are there alone. */
	if (!path || strcmp(path, "-")) {
		if (path && file_check(path, err))
			return -1;
		if (print_environment(out, err))
			return -1;
	}
	if (options->peak && peak_command(path, out, err))
		return -1;
	return options->network ? network_command(options, out, log, err) : 0;
}

/* 57044810 as "57,044,810". */
static void print_count(char *text, size_t size, long count)
{
	if (count < 1000)
		snprintf(text, size, "%ld", count);
	else if (count < 1000000)
		snprintf(text, size, "%ld,%03ld", count / 1000, count % 1000);
	else
		snprintf(text, size, "%ld,%03ld,%03ld", count / 1000000,
			 count / 1000 % 1000, count % 1000);
}

/* Estimates the memory of one core. The data set is assumed to be as large as
 * MNIST, so that no file is read. */
static int estimate_memory(const struct model *model, double *bytes,
			   struct error *err)
{
	const int is_fake = model->dataset && !strcmp(model->dataset, "fake");
	struct options options = options_defaults;
	struct training training;
	struct memory_plan need;
	struct dataset dataset;
	struct target target;

	options.model = model->name;
	options.dataset = is_fake ? "fake" : "synthetic";
	if (target_parse(&target, "cpu-1", err) ||
	    plan_run(&training, &target, &options, err) ||
	    plan_dataset(&dataset, &options, 1, err))
		return -1;
	training.dataset = &dataset;
	need = plan_memory(&training);
	*bytes = memory_plan_total(&need);
	dataset_release(&dataset);
	return isnan(*bytes) ? error_memory(err, "an estimate of memory") : 0;
}

/* Prints the model's default training. */
static int print_recipe(FILE *out, const struct model *model,
			struct error *err)
{
	const struct recipe *recipe = &model->recipe;
	char batch[24], parameters[24], steps[32] = "";
	double bytes;

	if (estimate_memory(model, &bytes, err))
		return -1;
	snprintf(batch, sizeof(batch), "%d", recipe->batch);
	if (recipe->batch_of_several)
		snprintf(batch, sizeof(batch), "%d, %d", recipe->batch,
			 recipe->batch_of_several);
	if (recipe->steps)
		snprintf(steps, sizeof(steps), " (--steps %d)", recipe->steps);
	print_count(parameters, sizeof(parameters),
		    (long)model_parameter_count(model));
	fprintf(out, "  %-14s  %-14s %5s %11s %6.2f  %d%s\n", model->name,
		model->dataset ? model->dataset : "auto", batch, parameters,
		bytes * 1e-9, recipe->epochs, steps);
	return 0;
}

static int print_models(FILE *out, struct error *err)
{
	const struct model *model = NULL;

	fputs("models\n", out);
	while ((model = model_next(model)))
		fprintf(out, "  %-14s  %s\n", model->name,
			model->summary);
	fprintf(out, "  %-14s  %-14s %5s %11s %6s  %s\n", "and for each",
		"data set", "batch", "parameters", "GB", "epochs");
	while ((model = model_next(model)))
		if (print_recipe(out, model, err))
			return -1;
	fputs("  batch: of a core alone, and of each of several; GB: memory "
	      "of one core, about;\n  bench run -m MODEL --dry-run measures "
	      "how long it takes here\n", out);
	return 0;
}

void list_datasets(FILE *out)
{
	for (const struct dataset_name *dataset = dataset_names; dataset->name;
	     dataset++)
		fprintf(out, "  %-14s  %s\n", dataset->name,
			dataset->summary);
}

int list_print(FILE *out, struct error *err)
{
	const struct transport *transport = NULL;
	const struct backend *backend = NULL;

	if (print_models(out, err))
		return -1;
	fputs("data sets\n", out);
	list_datasets(out);
	fputs("backends\n", out);
	while ((backend = backend_next(backend)))
		fprintf(out, "  %-14s  %s%s\n", backend->name, backend->summary,
			backend->unavailable ? " (not in this build)" : "");
	fputs("transports\n", out);
	while ((transport = transport_next(transport)))
		fprintf(out, "  %-14s  %s\n", transport->name,
			transport->summary);
	for (const struct plugin_known *known = plugins_known; known->name;
	     known++)
		fprintf(out, "  %-14s  %s\n", known->name, known->summary);
	return 0;
}
