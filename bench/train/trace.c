#include "bench/train/trace.h"

#include <stdio.h>
#include <stdlib.h>

#include "bench/record/json.h"
#include "bench/system/file.h"
#include "bench/system/number.h"

struct trace {
	const char *path;
	double began_at;
	FILE *events; /* of memory, until the file can be written whole */
	struct memory_text *memory;
};

/* All cores are in one process of the timeline, also cores that are
 * processes. */
static void name_it(struct trace *trace, const char *kind, int core,
		    const char *name)
{
	fprintf(trace->events, "{\"name\":\"%s\",\"ph\":\"M\",\"pid\":1,"
		"\"tid\":%d,\"args\":{\"name\":", kind, core);
	json_write_string(trace->events, name);
	fputs("}}", trace->events);
}

struct trace *trace_open(const char *path, const char *target, double began_at,
			 struct error *err)
{
	struct trace *trace = calloc(1, sizeof(*trace));

	if (!trace) {
		error_memory(err, "the trace");
		return NULL;
	}
	trace->memory = memory_open("the trace", err);
	if (!trace->memory) {
		free(trace);
		return NULL;
	}
	trace->events = trace->memory->out;
	trace->path = path;
	trace->began_at = began_at;
	fputs("[\n", trace->events);
	name_it(trace, "process_name", 0, target);
	return trace;
}

void trace_name_core(struct trace *trace, int core, const char *name)
{
	fputs(",\n", trace->events);
	name_it(trace, "thread_name", core, name);
	fprintf(trace->events, ",\n{\"name\":\"thread_sort_index\","
		"\"ph\":\"M\",\"pid\":1,\"tid\":%d,\"args\":{\"sort_index\":%d}"
		"}", core, core);
}

void trace_slice(struct trace *trace, int core, const char *name,
		 double began_at, double elapsed_s, int epoch, int iteration)
{
	char at[NUMBER_SIZE], length[NUMBER_SIZE];

	if (!(elapsed_s > 0))
		return;
	number_print_fixed(at, (began_at - trace->began_at) * 1e6, 3);
	number_print_fixed(length, elapsed_s * 1e6, 3);
	fprintf(trace->events, ",\n{\"name\":\"%s\",\"cat\":\"%s\",\"ph\":"
		"\"X\",\"pid\":1,\"tid\":%d,\"ts\":%s,\"dur\":%s,\"args\":{"
		"\"epoch\":%d", name, epoch ? "epoch" : "warm-up", core, at,
		length, epoch);
	if (iteration)
		fprintf(trace->events, ",\"iteration\":%d", iteration);
	fputs("}}", trace->events);
}

int trace_close(struct trace *trace, struct error *err)
{
	size_t size;
	char *text;
	int failed;

	if (!trace)
		return 0;
	fputs("\n]\n", trace->events);
	failed = memory_close(trace->memory, &text, &size, "the trace", err);
	if (!failed)
		failed = file_replace(trace->path, text, size, err);
	free(text);
	free(trace);
	return failed;
}
