/*
 * Random numbers against values that PyTorch and the generators' authors
 * published.
 */
#include "models/random.h"

#include <zlib.h>

#include "models/model.h"
#include "tests/cmocka.h"

#define SAMPLES 60000

/* The first and the 10000th number of the generator's own default seed. */
static void mt19937_is_the_published_one(void **state)
{
	struct mt19937 generator;
	uint32_t number = 0;

	(void)state;
	mt19937_seed(&generator, 5489);
	for (int i = 1; i <= 10000; i++) {
		number = mt19937_next(&generator);
		if (i == 1)
			assert_int_equal(number, 3499211612u);
	}
	assert_int_equal(number, 4123659995u);
}

/* torch.manual_seed(0); torch.rand(6) */
static void uniform_is_that_of_pytorch(void **state)
{
	static const double known[] = { .4963, .7682, .0885,
					.1320, .3074, .6341 };
	struct mt19937 generator;

	(void)state;
	mt19937_seed(&generator, 0);
	for (int i = 0; i < 6; i++)
		assert_true(fabs(mt19937_uniform(&generator, 0, 1) - known[i]) <
			    5.1e-5);
	mt19937_seed(&generator, 0);
	for (int i = 0; i < 100000; i++) {
		float value = mt19937_uniform(&generator, -.25f, .5f);

		assert_true(value >= -.25f && value < .5f);
	}
}

static void only_the_low_half_of_a_seed_counts(void **state)
{
	struct mt19937 low, high;

	(void)state;
	mt19937_seed(&low, 7);
	mt19937_seed(&high, 7 + (5ull << 32));
	assert_int_equal(mt19937_next(&low), mt19937_next(&high));
	mt19937_seed(&high, 8);
	assert_int_not_equal(mt19937_next(&low), mt19937_next(&high));
}

/* Whole states are left out, and what is before and after them. */
static void skipping_is_drawing(void **state)
{
	static const size_t counts[] = { 0, 1, 623, 624, 625, 1249, 100000 };

	(void)state;
	for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++) {
		struct mt19937 skipped, drawn;

		mt19937_seed(&skipped, i);
		mt19937_seed(&drawn, i);
		mt19937_next(&skipped);
		mt19937_skip(&skipped, counts[i]);
		for (size_t n = 0; n <= counts[i]; n++)
			mt19937_next(&drawn);
		assert_int_equal(mt19937_next(&skipped), mt19937_next(&drawn));
	}
}

static uint32_t checksum(const void *bytes, size_t count)
{
	return (uint32_t)crc32(0, bytes, (uInt)count);
}

/* The values are from little-endian machines. */
static void permutations_are_those_of_pytorch(void **state)
{
	static const int ten[] = { 4, 1, 7, 5, 3, 9, 0, 8, 6, 2 };
	static const int first[] = { 36044, 10678, 57327, 55074, 21567, 15479,
				     9481,  43095, 26145, 7479,	 36531, 9597,
				     58716, 58338, 29792, 41291 };
	static const int second[] = { 35845, 27522, 33254, 23645, 11299, 16178,
				      58355, 27002 };
	int *order = malloc(SAMPLES * sizeof(*order));

	(void)state;
	assert_non_null(order);
	random_permutation(0, 10, order);
	assert_memory_equal(order, ten, sizeof(ten));
	random_permutation(0, SAMPLES, order);
	assert_memory_equal(order, first, sizeof(first));
	assert_int_equal(checksum(order, SAMPLES * sizeof(*order)), 0x7641ac11);
	random_permutation(1, SAMPLES, order);
	assert_memory_equal(order, second, sizeof(second));
	assert_int_equal(checksum(order, SAMPLES * sizeof(*order)), 0x4da87566);
	free(order);
}

static void permutations_of_few_are_whole(void **state)
{
	int order[33];

	(void)state;
	for (int count = 1; count <= 32; count++) {
		uint64_t seen = 0;

		order[count] = -1;
		random_permutation((unsigned)count, count, order);
		for (int i = 0; i < count; i++) {
			assert_in_range(order[i], 0, count - 1);
			seen |= (uint64_t)1 << order[i];
		}
		assert_true(seen == ((uint64_t)1 << count) - 1);
		assert_int_equal(order[count], -1);
	}
}

/* Kaiming's weights are drawn after all constructors, and biases stay as the
 * constructors have drawn them. */
static void biases_are_those_of_constructors(void **state)
{
	static const struct layer layers[] = {
		{ .kind = LAYER_CONV, .name = "a", .outputs = 5, .window = 3 },
		{ .kind = LAYER_CONV, .name = "b", .outputs = 2, .window = 3 },
		{ .kind = LAYER_LINEAR, .name = "c", .outputs = 3 },
		{ .kind = LAYER_LOSS },
	};
	struct model model = { .name = "biases", .input = { 2, 6, 6 },
			       .layers = layers, .layer_count = 4 };
	struct tensor tensors[MODEL_MAX_TENSORS];
	const int count = model_tensors(&model, tensors);
	float drawn[256], kaiming[256];

	(void)state;
	assert_in_range(model_parameter_count(&model), 1, 256);
	model_init(&model, 3, drawn);
	model.init = INIT_KAIMING_FAN_OUT;
	model_init(&model, 3, kaiming);
	for (int t = 0; t < count; t++) {
		const int is_weight = t == 0 || t == 2;
		const size_t at = tensors[t].offset;

		assert_int_equal(!memcmp(drawn + at, kaiming + at,
					 tensors[t].count * sizeof(float)),
				 !is_weight);
	}
}

/* CRC-32 of the bytes of each tensor after torch.manual_seed(1), weight and
 * bias; not of batch norm's, which are 1 and 0. */
static void parameters_are_those_of_pytorch(void **state)
{
	static const struct {
		const char *name;
		uint32_t known[16]; /* up to a 0 */
	} models[] = {
		{ "mnist", { 0x48352b30, 0xdbf93134, 0x0ac5fd1d, 0xaabf21bd,
			     0x75ca0afa, 0xe4518009, 0x01fe1f04, 0x5f415c77 } },
		{ "mnist-example",
		  { 0x48352b30, 0xdbf93134, 0x0ac5fd1d, 0xaabf21bd, 0x75ca0afa,
		    0xe4518009, 0x01fe1f04, 0x5f415c77 } },
		{ "xla-mnist", { 0xfa80e49e, 0x1ca32408, 0xc76f0211, 0xa28e64f3,
				 0x06be0f92, 0x49f9f15e, 0xd954511d,
				 0x5a6a7d63 } },
		{ "mnist-2019", { 0xb4b92aa9, 0x26f7f515, 0xed668e72,
				  0xe1dd7dea, 0xa5456169, 0x1011dd63,
				  0xfd9a4065, 0xa321853a } },
		{ "alexnet", { 0x6105ed4d, 0x1aa738b9, 0x1fdebc25, 0xb668e012,
			       0x419024ba, 0x1277edd6, 0x09de7373, 0x07503eed,
			       0x019981a3, 0xfe0dd4f5, 0x8519d30f, 0xe5f74db7,
			       0x139cc79c, 0x7d82340e, 0x0c5ccde0,
			       0xad0d140f } },
		{ "ddp-toy", { 0x4c4b5351, 0x3cb13ce6 } },
	};
	static const double first[] = { .171754,  -.147126, -.064620,
					.156456,  -.313812, .199906,
					-.068575, .169581,  .046339 };

	(void)state;
	for (int m = 0; m < 6; m++) {
		const struct model *model = model_find(models[m].name);
		float *values = malloc(model_parameter_count(model) *
				       sizeof(*values));
		struct tensor tensors[MODEL_MAX_TENSORS];
		const int count = model_tensors(model, tensors);
		int drawn = 0;

		assert_non_null(values);
		model_init(model, 1, values);
		for (int t = 0; t < count; t++)
			if (model->layers[tensors[t].layer].kind !=
			    LAYER_BATCHNORM)
				assert_int_equal(
					checksum(values + tensors[t].offset,
						 tensors[t].count *
							 sizeof(*values)),
					models[m].known[drawn++]);
		assert_true(drawn == 16 || !models[m].known[drawn]);
		for (int i = 0; m < 2 && i < 9; i++)
			assert_true(fabs(values[i] - first[i]) < 1e-6);
		free(values);
	}
}

/* Philox4x32-10 of counter 0 under key {1, 2}. A threshold that a word just
 * reaches keeps, the next one drops: so the choices show the words. */
static void dropout_is_philox(void **state)
{
	static const uint32_t words[] = { 0x0598de3a, 0x98d2802e, 0x270f8f9e,
					  0xeab709d3 };
	const unsigned long long seed = 1 + (2ull << 32);
	uint8_t keep[4];

	(void)state;
	for (int i = 0; i < 4; i++) {
		dropout_choices(seed, 0, 0, 0, words[i] * 0x1p-32, 4, keep);
		assert_int_equal(keep[i], 1);
		dropout_choices(seed, 0, 0, 0, (words[i] + 1.) * 0x1p-32, 4,
				keep);
		assert_int_equal(keep[i], 0);
	}
}

/* The words of one block of four, found by halving the threshold's range. */
static void find_words(uint32_t step, uint32_t sample, uint32_t layer,
		       int block, uint32_t words[4])
{
	uint8_t keep[16];

	for (int i = 0; i < 4; i++) {
		words[i] = 0;
		for (uint32_t bit = 1u << 31; bit; bit >>= 1) {
			dropout_choices(9, step, sample, layer,
					(words[i] + (double)bit) * 0x1p-32, 16,
					keep);
			if (keep[4 * block + i])
				words[i] += bit;
		}
	}
}

/* Each part of the counter has its own place: (block, sample, step, layer). */
static void every_part_of_the_counter_counts(void **state)
{
	static const uint32_t at[][3] = { { 0, 0, 0 }, { 1, 0, 0 }, { 0, 1, 0 },
					  { 0, 0, 1 }, { 2, 3, 4 }, { 3, 2, 4 },
					  { 4, 3, 2 } };
	enum { PLACES = sizeof(at) / sizeof(at[0]) };
	uint32_t words[PLACES][2][4];

	(void)state;
	for (int i = 0; i < PLACES; i++)
		for (int block = 0; block < 2; block++)
			find_words(at[i][0], at[i][1], at[i][2], block,
				   words[i][block]);
	for (int i = 0; i < 2 * PLACES; i++)
		for (int j = 0; j < i; j++)
			assert_memory_not_equal(words[i / 2][i % 2],
						words[j / 2][j % 2], 16);
	/* Sample 1 of block 0 is not block 1 of sample 0. */
	assert_memory_not_equal(words[2][0], words[0][1], 16);
}

/* Known words of counter (1, 2, 3, 4) under key {9, 0}. */
static void the_counter_has_its_order(void **state)
{
	static const uint32_t known[] = { 0x6b07bc5f, 0x3a309a37, 0xf970e9ca,
					  0x23404edc };
	uint32_t words[4];

	(void)state;
	find_words(3, 2, 4, 1, words);
	assert_memory_equal(words, known, sizeof(known));
}

static void dropout_drops_as_often_as_it_should(void **state)
{
	static const double drops[] = { .25, .5, .1, .9 };
	enum { COUNT = 200000 };
	static uint8_t keep[COUNT];

	(void)state;
	for (int d = 0; d < 4; d++) {
		const double sd = sqrt(drops[d] * (1 - drops[d]) * COUNT);
		long dropped = 0;

		dropout_choices(3, 5, 7, 1, drops[d], COUNT, keep);
		for (int i = 0; i < COUNT; i++) {
			assert_in_range(keep[i], 0, 1);
			dropped += !keep[i];
		}
		assert_true(fabs((double)dropped - drops[d] * COUNT) < 4 * sd);
	}
}

static void thresholds_have_their_edges(void **state)
{
	uint8_t keep[64];

	(void)state;
	assert_int_equal(dropout_threshold(0), 0);
	assert_int_equal(dropout_threshold(.25), 0x40000000);
	assert_int_equal(dropout_threshold(.5), 0x80000000u);
	assert_int_equal(dropout_threshold(1 - 0x1p-32), UINT32_MAX);
	assert_int_equal(dropout_threshold(1), UINT32_MAX);
	dropout_choices(1, 2, 3, 4, 0, 64, keep);
	for (int i = 0; i < 64; i++)
		assert_int_equal(keep[i], 1);
	dropout_choices(1, 2, 3, 4, 1, 64, keep);
	for (int i = 0; i < 64; i++)
		assert_int_equal(keep[i], 0);
}

/* Choices depend on what is dropped alone, not on how or when it is asked. */
static void asking_otherwise_changes_nothing(void **state)
{
	uint8_t all[50], some[51], again[50];

	(void)state;
	dropout_choices(1, 2, 3, 4, .5, 50, all);
	for (int count = 1; count <= 50; count++) {
		memset(some, 7, sizeof(some));
		dropout_choices(1, 2, 3, 4, .5, count, some);
		assert_memory_equal(some, all, (size_t)count);
		assert_int_equal(some[count], 7);
	}
	dropout_choices(1, 9, 3, 4, .5, 50, again);
	assert_memory_not_equal(again, all, 50);
	dropout_choices(1, 2, 3, 4, .5, 50, again);
	assert_memory_equal(again, all, 50);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(mt19937_is_the_published_one),
		cmocka_unit_test(uniform_is_that_of_pytorch),
		cmocka_unit_test(only_the_low_half_of_a_seed_counts),
		cmocka_unit_test(skipping_is_drawing),
		cmocka_unit_test(permutations_are_those_of_pytorch),
		cmocka_unit_test(permutations_of_few_are_whole),
		cmocka_unit_test(parameters_are_those_of_pytorch),
		cmocka_unit_test(biases_are_those_of_constructors),
		cmocka_unit_test(dropout_is_philox),
		cmocka_unit_test(every_part_of_the_counter_counts),
		cmocka_unit_test(the_counter_has_its_order),
		cmocka_unit_test(dropout_drops_as_often_as_it_should),
		cmocka_unit_test(thresholds_have_their_edges),
		cmocka_unit_test(asking_otherwise_changes_nothing),
	};

	return cmocka_run_group_tests_name("random", tests, NULL, NULL);
}
