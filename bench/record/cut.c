#include "bench/record/cut.h"

#include <stdio.h>
#include <string.h>

long run_whole_epoch(const struct run *run)
{
	if (run->train_samples == CELL_NO_INT ||
	    run->global_batch == CELL_NO_INT || run->global_batch < 1)
		return CELL_NO_INT;
	return (run->train_samples + run->global_batch - 1) / run->global_batch;
}

int run_is_cut(const struct run *run)
{
	const long whole = run_whole_epoch(run);

	return run->steps != CELL_NO_INT &&
	       (whole == CELL_NO_INT || run->steps < whole);
}

/* The sizes of the iterations, each once; what does not fit is left out. */
struct sizes {
	long met[16];
	int count;
	char text[160];
};

static void add_size(struct sizes *sizes, long size)
{
	const size_t used = strlen(sizes->text);

	if (size == CELL_NO_INT)
		return;
	for (int i = 0; i < sizes->count; i++)
		if (sizes->met[i] == size)
			return;
	if (sizes->count == (int)(sizeof(sizes->met) / sizeof(sizes->met[0])))
		return;
	snprintf(sizes->text + used, sizeof(sizes->text) - used, "%s%ld",
		 sizes->count ? " or " : " of ", size);
	sizes->met[sizes->count++] = size;
}

void results_cut_text(const struct results *results, char *text, size_t size)
{
	struct sizes sizes = { .count = 0 };
	long most = 0;
	int same = 1;

	text[0] = '\0';
	for (size_t i = 0; i < results->run_count; i++) {
		const struct run *run = &results->runs[i];

		if (!run->model[0])
			continue;
		add_size(&sizes, run->global_batch);
		same &= run_is_cut(run) && (!most || run->steps == most);
		if (run_is_cut(run) && run->steps > most)
			most = run->steps;
	}
	if (most)
		snprintf(text, size, "%s%ld iteration%s%s",
			 same ? "" : "at most ", most, most == 1 ? "" : "s",
			 sizes.text);
}
