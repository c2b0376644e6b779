/*
 * The update of a linear layer whose batch is in parts, as cores make it
 * together, has the bits of whole gradients, added up in the order of the
 * parts, and of Adadelta of all at once: in every build.
 */
#include "tests/kernels/linear_run.h"

#include "backends/cpu/kernels/kernels.h"
#include "tests/kernels/skipping.h"

#define PARTS 3

/* Parts of any size, in blocks that are whole vectors, and that are not. */
static const struct parts_case {
	struct linear_shape shape;
	int counts[PARTS];
	int drops;
} cases[] = {
	{ { 64, 144, 128, 1, 0 }, { 3, 70, 0 }, 1 },
	{ { 5, 33, 14, 1, 0 }, { 0, 65, 2 }, 1 },
	{ { 2, 95, 67, 1, 0 }, { 130, 1, 64 }, 0 },
	{ { 3, 16, 300, 1, 0 }, { 4, 65, 2 }, 1 },
	{ { 2, 33, 130, 1, 0 }, { 4, 0, 66 }, 0 },
	{ { 3, 16, 7, 0, 0 }, { 0, 0, 0 }, 1 },
	{ { 1, 9, 5, 1, 0 }, { 4, 5, 6 }, 0 },
};

#define CASES (sizeof(cases) / sizeof(cases[0]))

struct parts_run {
	const struct linear_kernels *kernels;
	struct layer_run runs[PARTS];
	struct linear_part parts[PARTS];
	int most; /* samples of a part */
};

/* All bits set, which is no number. */
static void *memory_of(size_t size)
{
	void *memory = host_allocate(size);

	assert_non_null(memory);
	return memset(memory, 0xff, size);
}

static void array_copy(struct array *to, const struct array *from)
{
	assert_true(to->size == from->size);
	memcpy(to->values, from->values, to->size * sizeof(float));
}

/* All have the first one's parameters. */
static void parts_open(struct parts_run *all,
		       const struct linear_kernels *kernels,
		       const struct parts_case *is)
{
	*all = (struct parts_run){ .kernels = kernels };
	for (int p = 0; p < PARTS; p++) {
		const int count = is->counts[p];
		const struct linear_case one = {
			is->shape, count, is->drops, is->drops, 0, 0, 0
		};
		struct layer_run *run = &all->runs[p];

		run_open(run, kernels, &one);
		array_copy(&run->weights[PARAMETERS],
			   &all->runs[0].weights[PARAMETERS]);
		array_copy(&run->bias[PARAMETERS],
			   &all->runs[0].bias[PARAMETERS]);
		forward(run);
		all->parts[p] = (struct linear_part){
			.batch = run->batch,
			.dz = memory_of(
				kernels->part_size(&is->shape, count)),
		};
		all->most = count > all->most ? count : all->most;
	}
}

static void parts_close(struct parts_run *all)
{
	for (int p = 0; p < PARTS; p++) {
		run_close(&all->runs[p]);
		free(all->parts[p].dz);
	}
}

/* What backward has stored is what has to be stored again. */
static void keep_bits(struct array *array)
{
	for (size_t i = 0; i < array->size; i++) {
		array->right[i] = array->values[i];
		array->values[i] = UNTOUCHED;
	}
}

static void compare_bits(const struct parts_run *all, const char *what,
			 const struct array *array)
{
	for (size_t i = 0; i < array->size; i++)
		assert_near(all->kernels->name, what, i, array->values[i],
			    array->right[i], 0);
}

/* A part without samples is left as it was. */
static void compare_part(struct parts_run *all, int p)
{
	struct layer_run *run = &all->runs[p];
	const struct linear_values parameters = values_of(run, PARAMETERS);

	backward(run);
	keep_bits(&run->dx);
	keep_bits(&run->bias[GRADIENT]);
	if (!run->batch.count)
		return;
	memset(run->scratch, 0xff,
	       all->kernels->scratch(&run->shape, run->batch.count));
	all->kernels->backward_part(&run->shape, &parameters, &run->batch,
				    &run->flow, run->bias[GRADIENT].values,
				    all->parts[p].dz, run->scratch);
	compare_bits(all, "dx of a part", &run->dx);
	compare_bits(all, "bias gradient of a part", &run->bias[GRADIENT]);
}

/* The first one's gradient becomes all of it; right, what is updated by it. */
static void update_plainly(struct parts_run *all, const struct update *update)
{
	struct array *vectors = all->runs[0].weights;
	const size_t size = vectors[GRADIENT].size;
	float *updated[GRADIENT];

	for (int p = 1; p < PARTS; p++)
		for (size_t i = 0; i < size; i++)
			vectors[GRADIENT].values[i] +=
				all->runs[p].weights[GRADIENT].values[i];
	for (int v = 0; v < GRADIENT; v++) {
		updated[v] = memory_of(size * sizeof(float));
		memcpy(updated[v], vectors[v].values, size * sizeof(float));
	}
	all->kernels->optimize(update, size, updated[PARAMETERS],
			       updated[FIRST], updated[SECOND],
			       vectors[GRADIENT].values);
	for (int v = 0; v < GRADIENT; v++) {
		for (size_t i = 0; i < size; i++)
			vectors[v].right[i] = updated[v][i];
		free(updated[v]);
	}
}

/* By two ranks. If there is one block only, one rank has none. */
static void update_by_parts(struct parts_run *all, const struct update *update)
{
	const struct layer_run *first = &all->runs[0];
	const struct linear_shape *shape = &first->shape;
	const struct linear_state vectors = state_of(first);
	const size_t size = all->kernels->update_scratch(shape, PARTS,
							 all->most);
	const int cuts[] = { 0, shape->blocks / 2, shape->blocks };

	for (int r = 0; r < 2; r++) {
		void *scratch = memory_of(size);

		all->kernels->update_parts(shape, &vectors, update, all->parts,
					   PARTS, cuts[r], cuts[r + 1],
					   scratch);
		free(scratch);
	}
}

static void parts_have_the_same_bits(void **build)
{
	const struct cpu_kernels *kernels = *build;
	struct parts_run all;

	for (size_t i = 0; i < CASES * UPDATES; i++) {
		const struct update *update = &updates[i % UPDATES];

		/* Of the largest case a light run makes one update. */
		if (i > 0 && i < UPDATES && getenv("BENCH_TEST_LIGHT"))
			continue;
		parts_open(&all, kernels->linear, &cases[i / UPDATES]);
		for (int p = 0; p < PARTS; p++)
			compare_part(&all, p);
		update_plainly(&all, update);
		update_by_parts(&all, update);
		for (int v = 0; v < GRADIENT; v++)
			compare_bits(&all, names[v],
				     &all.runs[0].weights[v]);
		parts_close(&all);
	}
}

int main(void)
{
	struct CMUnitTest tests[4];
	size_t count = 0;

	for (size_t b = 0; cpu_builds[b]; b++)
		tests[count++] = (struct CMUnitTest){
			.name = cpu_builds[b]->name,
			.test_func = test_if(cpu_builds[b]->supported(),
					     parts_have_the_same_bits),
			.initial_state = (void *)cpu_builds[b],
		};
	return _cmocka_run_group_tests("linear parts", tests, count, NULL,
				       NULL);
}
