/*
 * What cores need of a backend to share one update: any vector is lent to the
 * host, and parameters are updated in parts.
 */
#include "tests/kernels/variants.h"

static const char *const names[] = { "parameters", "gradient", "square_avg",
				     "acc_delta" };

static float *lend(struct program *program, enum vector which)
{
	struct error err = { .message = "" };
	float *lent = program_map(program, which, &err);

	if (!lent)
		fail_msg("%s", err.message);
	return lent;
}

static void take_back(struct program *program, enum vector which)
{
	struct error err;

	must(program_unmap(program, which, &err), &err);
}

/* A copy in the program's own order; the caller frees it. */
static float *copy_vector(struct program *program, enum vector which)
{
	const size_t bytes = program->length * sizeof(float);
	float *copy = allocate(bytes);

	memcpy(copy, lend(program, which), bytes);
	take_back(program, which);
	return copy;
}

/* Vectors as some training might have left them; states are not negative. */
static void fill(struct subject *subject, uint32_t seed)
{
	const size_t count = subject->program->parameters;
	float *values = allocate(count * sizeof(*values));
	struct mt19937 generator;

	mt19937_seed(&generator, seed);
	for (int v = 0; v < VECTOR_COUNT; v++) {
		const int state = v == VECTOR_STATE_0 ||
				  v == VECTOR_STATE_1;

		for (size_t i = 0; i < count; i++)
			values[i] = mt19937_uniform(&generator,
						    state ? 0 : -.1f, .1f);
		subject_store(subject, (enum vector)v, values);
	}
	free(values);
}

static void finish(struct program *program)
{
	struct score score;
	struct error err;

	must(program_finish(program, &score, &err), &err);
}

static void update_part(struct program *program, size_t from, size_t to)
{
	const struct update update = { .lr = .7, .rho = .9, .eps = 1e-6 };
	struct error err;

	must(program_update_part(program, &update, from, to, &err), &err);
	finish(program);
}

static void assert_same(struct program *tried, struct program *right,
			const char *what)
{
	const size_t bytes = tried->length * sizeof(float);

	for (int v = 0; v < VECTOR_COUNT; v++) {
		float *found = copy_vector(tried, (enum vector)v);
		float *expected = copy_vector(right, (enum vector)v);

		if (memcmp(found, expected, bytes))
			fail_msg("%s: another %s", what, names[v]);
		free(found);
		free(expected);
	}
}

/* Two programs of one variant, with the same vectors. */
struct twins {
	struct pair one, two;
	struct program *tried, *right;
};

static void twins_open(struct twins *twins, void *variant, uint32_t seed)
{
	const struct model *model = model_find("tiny");

	pair_open(&twins->one, variant, model, BATCH, 1);
	pair_open(&twins->two, variant, model, BATCH, 1);
	twins->tried = twins->one.tried.program;
	twins->right = twins->two.tried.program;
	fill(&twins->one.tried, seed);
	fill(&twins->two.tried, seed);
}

static void twins_close(struct twins *twins)
{
	pair_close(&twins->one);
	pair_close(&twins->two);
}

/* Parts of some lines each, the last first, an empty one in between. */
static void parts_are_the_whole(void **state)
{
	static const size_t lines[] = { 1, 2, 3, 7, 50, 1000 };

	for (size_t l = 0; l < sizeof(lines) / sizeof(lines[0]); l++) {
		const size_t part = lines[l] * UPDATE_LINE;
		struct twins twins;
		size_t to;

		twins_open(&twins, *state, 5);
		to = twins.tried->length;
		while (to) {
			const size_t from = (to - 1) / part * part;

			update_part(twins.tried, from, to);
			update_part(twins.tried, from, from);
			to = from;
		}
		update_part(twins.right, 0, twins.right->length);
		assert_same(twins.tried, twins.right, "updated in parts");
		twins_close(&twins);
	}
}

/* Of all vectors, and every float of them. */
static void a_part_is_no_more(void **state)
{
	const size_t from = 3 * UPDATE_LINE, to = 8 * UPDATE_LINE;
	struct twins twins;

	twins_open(&twins, *state, 6);
	update_part(twins.tried, from, to);
	for (int v = 0; v < VECTOR_COUNT; v++) {
		float *found = copy_vector(twins.tried, (enum vector)v);
		float *before = copy_vector(twins.right, (enum vector)v);
		size_t changed = 0;

		for (size_t i = 0; i < twins.tried->length; i++) {
			const int moved = found[i] != before[i];

			assert_false(moved && (i < from || i >= to));
			changed += (size_t)moved;
		}
		assert_true(v == VECTOR_GRADIENT ? !changed :
						   changed > 0);
		free(found);
		free(before);
	}
	twins_close(&twins);
}

/* What the host writes is what the next gradient and update start from. */
static void what_is_lent_is_the_vector(void **state)
{
	const struct model *model = model_find("tiny");
	const size_t bytes = model_parameter_count(model) * sizeof(float);
	struct batch batch = batch_make(model, 9, 6);
	float *found, *expected;
	struct twins twins;

	twins_open(&twins, *state, 7);
	/* So that what is made of the parameters is there, and old. */
	subject_gradient(&twins.one.tried, &batch);
	fill(&twins.two.tried, 8);
	for (int v = 0; v < VECTOR_COUNT; v++) {
		memcpy(lend(twins.tried, (enum vector)v),
		       lend(twins.right, (enum vector)v),
		       twins.tried->length * sizeof(float));
		take_back(twins.tried, (enum vector)v);
		take_back(twins.right, (enum vector)v);
	}
	assert_same(twins.tried, twins.right, "written by the host");
	subject_gradient(&twins.one.tried, &batch);
	subject_gradient(&twins.two.tried, &batch);
	found = subject_load(&twins.one.tried, VECTOR_GRADIENT);
	expected = subject_load(&twins.two.tried, VECTOR_GRADIENT);
	assert_memory_equal(found, expected, bytes);
	update_part(twins.tried, 0, twins.tried->length);
	update_part(twins.right, 0, twins.right->length);
	assert_same(twins.tried, twins.right, "updated after that");
	free(found);
	free(expected);
	twins_close(&twins);
	batch_free(&batch);
}

int main(void)
{
	static const struct check checks[] = {
		{ "parts", parts_are_the_whole, 0 },
		{ "no more", a_part_is_no_more, 0 },
		{ "lent", what_is_lent_is_the_vector, 0 },
	};

	return run_variants("parts", checks,
			    sizeof(checks) / sizeof(checks[0]));
}
