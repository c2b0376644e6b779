#include "backends/opencl/program/pass.h"

#include <stdlib.h>

int pass_add(struct pass *pass, const struct launch *prototype,
	     cl_program built, const cl_mem *memories, int memory_count,
	     struct error *err)
{
	const int part = PART_LAUNCHES + pass->launch_count;
	/* Counted first, so that a half-made one is released too. */
	struct launch *launch = &pass->launches[pass->launch_count++];
	int failed = launch_make(launch, prototype, built, memories,
				 memory_count, err);

	launch->part = pass->training && part < PARTS ? part : PART_NONE;
	return failed;
}

int pass_add_words(struct pass *pass, const struct launch *prototype,
		   cl_program built, const cl_mem *memories, int memory_count,
		   const cl_uint *words, int word_count, struct error *err)
{
	if (pass_add(pass, prototype, built, memories, memory_count, err))
		return -1;
	return launch_words(&pass->launches[pass->launch_count - 1],
			    prototype->batch_arguments + memory_count, words,
			    word_count, err);
}

void pass_release(struct pass *pass)
{
	while (pass->launch_count)
		launch_release(&pass->launches[--pass->launch_count]);
	launch_release(&pass->gather);
	free(pass->host_scores);
}
