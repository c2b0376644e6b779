#include "bench/gate/verdict_subject.h"

#include <stdarg.h>
#include <string.h>

#include "bench/show/table_format.h"

struct words {
	char text[512];
};

/* Parted by commas. */
__attribute__((format(printf, 2, 3)))
static void add(struct words *words, const char *format, ...)
{
	size_t used = strlen(words->text);
	va_list arguments;

	used += (size_t)snprintf(words->text + used,
				 sizeof(words->text) - used, "%s",
				 used ? ", " : "");
	if (used >= sizeof(words->text))
		return;
	va_start(arguments, format);
	vsnprintf(words->text + used, sizeof(words->text) - used, format,
		  arguments);
	va_end(arguments);
}

static struct words machine_of(const struct verdict *verdict)
{
	struct words words = { "" };

	if (verdict->cpu_model[0])
		add(&words, "%s", verdict->cpu_model);
	if (verdict->logical_cpus > 0)
		add(&words, "%ld logical CPU%s", verdict->logical_cpus,
		    verdict->logical_cpus == 1 ? "" : "s");
	if (verdict->started_utc[0])
		add(&words, "started %s", verdict->started_utc);
	if (verdict->label[0])
		add(&words, "label %s", verdict->label);
	return words;
}

static struct words work_of(const struct verdict *verdict)
{
	struct words words = { "" };

	if (verdict->model[0])
		add(&words, "model %s", verdict->model);
	if (verdict->dataset[0])
		add(&words, "data set %s", verdict->dataset);
	if (verdict->global_batch > 0)
		add(&words, "global batch %ld", verdict->global_batch);
	if (verdict->iterations > 0)
		add(&words, "%ld iteration%s a process", verdict->iterations,
		    verdict->iterations == 1 ? "" : "s");
	return words;
}

/* Builds may differ between the targets of a stored base. */
static int is_new(const struct verdict *verdicts, int i)
{
	return i == 0 || strcmp(verdicts[i].base, verdicts[i - 1].base) ||
	       strcmp(verdicts[i].head, verdicts[i - 1].head);
}

void verdict_print_subject(const struct verdict *verdicts, int count,
			   const struct table_options *options, FILE *out)
{
	struct words words;

	for (int i = 0; i < count; i++) {
		if (!is_new(verdicts, i))
			continue;
		if (verdicts[i].base[0])
			print_note(out, options, "base: %s", verdicts[i].base);
		if (verdicts[i].head[0])
			print_note(out, options, "head: %s", verdicts[i].head);
	}
	if (count) {
		words = machine_of(verdicts);
		if (words.text[0])
			print_note(out, options, "machine: %s", words.text);
	}
	for (int i = 0; i < count; i++) {
		words = work_of(&verdicts[i]);
		if (words.text[0])
			print_note(out, options, "%s: %s", verdicts[i].target,
				   words.text);
	}
}
