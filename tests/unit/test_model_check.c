/* Networks that are none: each is refused in one sentence. */
#include "models/model.h"
#include "tests/cmocka.h"

/* A small network that is right; each case below spoils one thing. */
static const struct layer right[] = {
	{ .kind = LAYER_CONV, .name = "a", .outputs = 2, .window = 3 },
	{ .kind = LAYER_MAXPOOL, .window = 2 },
	{ .kind = LAYER_DROPOUT, .drop = .5 },
	{ .kind = LAYER_LINEAR, .name = "b", .outputs = 3 },
	{ .kind = LAYER_LOSS },
};

#define RIGHT_COUNT ((int)(sizeof(right) / sizeof(right[0])))

/* Returns the message about these layers, after the model's name; NULL: none.
 */
static const char *check(const struct layer *layers, int count)
{
	static const char begin[] = "model 'spoilt'";
	static char text[256];
	const struct model model = { .name = "spoilt",
				     .input = { 1, 6, 6 },
				     .layers = layers,
				     .layer_count = count };

	if (!model_check(&model, text, sizeof(text)))
		return NULL;
	assert_int_equal(strncmp(text, begin, strlen(begin)), 0);
	return text + strlen(begin);
}

static const struct {
	int at;
	struct layer layer;
	const char *says;
} spoilt[] = {
	{ 0, { .kind = LAYER_CONV, .outputs = 2, .window = 3 },
	  ", layer 0 (conv): its parameters need a name" },
	{ 3, { .kind = LAYER_LINEAR, .name = "b" },
	  ", layer 3 (linear 'b'): 0 outputs, where 1 is the minimum" },
	{ 0, { .kind = LAYER_CONV, .name = "a", .outputs = 2,
	       .window = 7 },
	  ", layer 0 (conv 'a'): a window of 7x7 is larger than its "
	  "input of 1x6x6" },
	{ 1, { .kind = LAYER_MAXPOOL, .window = 5 },
	  ", layer 1 (maxpool): a window of 5x5 is larger than its "
	  "input of 2x4x4" },
	{ 1, { .kind = LAYER_MAXPOOL, .window = 16 },
	  ", layer 1 (maxpool): a window of 16x16, where 15x15 is the "
	  "maximum for pooling" },
	{ 1, { .kind = LAYER_MAXPOOL },
	  ", layer 1 (maxpool): a window of 0x0, where 1x1 is the "
	  "minimum" },
	{ 2, { .kind = LAYER_DROPOUT, .drop = 1 },
	  ", layer 2 (dropout): a probability to drop of 1, where it "
	  "is at least 0 and below 1" },
	{ 2, { .kind = LAYER_DROPOUT2D, .drop = -.5 },
	  ", layer 2 (dropout2d): a probability to drop of -0.5, where "
	  "it is at least 0 and below 1" },
	{ 2, { .kind = LAYER_DROPOUT, .drop = NAN },
	  ", layer 2 (dropout): a probability to drop of nan, where it "
	  "is at least 0 and below 1" },
	{ 0, { .kind = LAYER_CONV, .name = "a", .outputs = 2,
	       .window = 3, .stride = -1 },
	  ", layer 0 (conv 'a'): a stride of -1, where 1 is the "
	  "minimum" },
	{ 0, { .kind = LAYER_CONV, .name = "a", .outputs = 2,
	       .window = 3, .pad = -2 },
	  ", layer 0 (conv 'a'): a padding of -2, where 0 is the "
	  "minimum and 65535 the maximum" },
	{ 0, { .kind = LAYER_CONV, .name = "a", .outputs = 2,
	       .window = 3, .pad = 65536 },
	  ", layer 0 (conv 'a'): a padding of 65536, where 0 is the "
	  "minimum and 65535 the maximum" },
	{ 0, { .kind = LAYER_CONV, .name = "a", .outputs = 2,
	       .window = 9, .pad = 1 },
	  ", layer 0 (conv 'a'): a window of 9x9 is larger than its "
	  "input of 1x8x8, padded" },
	{ 1, { .kind = LAYER_MAXPOOL, .window = 3, .pad = 2 },
	  ", layer 1 (maxpool): a padding of 2, where half the window "
	  "of 3x3, 1, is the maximum for pooling" },
	{ 1, { .kind = LAYER_AVGPOOL },
	  ", layer 1 (avgpool): 0 outputs, where 1 is the minimum" },
	{ 1, { .kind = LAYER_BATCHNORM },
	  ", layer 1 (batchnorm): its parameters need a name" },
	{ 1, { .kind = LAYER_MAXPOOL, .window = 2, .no_bias = 1 },
	  ", layer 1 (maxpool): no_bias 1: no maxpool has one" },
	{ 2, { .kind = LAYER_RELU, .with = 1 },
	  ", layer 2 (relu): with 1: no relu has one" },
	{ 2, { .kind = LAYER_RELU, .from = -1 },
	  ", layer 2 (relu): from -1: a row can read only rows "
	  "above it; 0 is layer 1" },
	{ 0, { .kind = LAYER_RELU, .from = -1 },
	  ", layer 0 (relu): from -1: the first row can read only 0, the "
	  "images" },
	{ 3, { .kind = LAYER_LINEAR, .name = "b", .outputs = 5, .window = 3 },
	  ", layer 3 (linear 'b'): window 3: no linear has one" },
	{ 1, { .kind = LAYER_MAXPOOL, .window = 2, .drop = .5 },
	  ", layer 1 (maxpool): drop 0.5: no maxpool has one" },
	{ 2, { .kind = LAYER_RELU, .loss = LOSS_MSE },
	  ", layer 2 (relu): loss 2: no relu has one" },
	{ 0, { .kind = LAYER_CONV, .name = "a", .outputs = 2,
	       .window = 70000, .pad = 69999 },
	  ", layer 0 (conv 'a'): a window of 70000 and a stride of 0, where "
	  "65535 is the maximum" },
	{ 1, { .kind = LAYER_AVGPOOL, .outputs = 50000 },
	  ", layer 1 (avgpool): 5000000000 values of a sample, where "
	  "2147483647 is the maximum" },
	{ 0, { .kind = LAYER_CONV, .name = "a", .outputs = 400000000,
	       .window = 3 },
	  ", layer 0 (conv 'a'): 6400000000 values of a sample, where "
	  "2147483647 is the maximum" },
	{ 3, { .kind = LAYER_LINEAR, .name = "b", .outputs = 400000000 },
	  ", layer 3 (linear 'b'): 3200000000 weights, where 2147483647 is "
	  "the maximum" },
	{ 0, { .kind = LAYER_CONV, .name = "a", .outputs = 130000000,
	       .window = 3 },
	  ": 2860000003 parameters, where 2147483647 is the maximum" },
	{ 2, { .kind = LAYER_RELU, .from = 3 },
	  ", layer 2 (relu): from 3: the largest is 2, the images" },
	{ 2, { .kind = LAYER_ADD, .with = -2 },
	  ", layer 2 (add): with -2: a row can read only rows "
	  "above it; 0 is layer 1" },
	{ 2, { .kind = LAYER_ADD, .with = 9 },
	  ", layer 2 (add): with 9: the largest is 2, the images" },
	{ 2, { .kind = LAYER_ADD, .with = 1 },
	  ", layer 2 (add): adds different shapes, 2x2x2 and 2x4x4" },
	{ 2, { .kind = LAYER_RELU, .from = 1 },
	  ", layer 1 (maxpool): no row reads its output" },
	{ 2, { .kind = LAYER_LOSS },
	  ", layer 2 (loss): a loss must be the last layer, which is "
	  "layer 4" },
	{ 4, { .kind = LAYER_RELU },
	  ", layer 4 (relu): the last layer must be a loss" },
	{ 3, { .kind = LAYER_LINEAR, .name = "b", .outputs = 65536 },
	  ", layer 4 (loss): 65536 classes, where 65535 is the maximum: labels "
	  "have 16 bits" },
};

static void spoilt_rows_are_refused(void **state)
{
	(void)state;
	assert_null(check(right, RIGHT_COUNT));
	for (size_t i = 0; i < sizeof(spoilt) / sizeof(spoilt[0]); i++) {
		struct layer layers[RIGHT_COUNT];

		memcpy(layers, right, sizeof(layers));
		layers[spoilt[i].at] = spoilt[i].layer;
		assert_non_null(check(layers, RIGHT_COUNT));
		assert_string_equal(check(layers, RIGHT_COUNT),
				    spoilt[i].says);
	}
}

static void spoilt_tables_are_refused(void **state)
{
	static struct layer many[MODEL_MAX_LAYERS + 1];
	static const struct layer nothing[] = { { .kind = LAYER_RELU },
						{ .kind = LAYER_LOSS } };
	struct model model = { .name = "spoilt",
			       .input = { 1, 0, 6 },
			       .layers = right,
			       .layer_count = RIGHT_COUNT };
	char text[256];

	(void)state;
	assert_int_equal(model_check(&model, text, sizeof(text)), -1);
	assert_string_equal(text, "model 'spoilt': an input of 1x0x6 is empty");
	for (int l = 0; l < MODEL_MAX_LAYERS; l++)
		many[l] = (struct layer){ .kind = LAYER_LINEAR, .name = "m",
					  .outputs = 2 };
	many[MODEL_MAX_LAYERS] = (struct layer){ .kind = LAYER_LOSS };
	assert_string_equal(check(right, 0),
			    ": 0 layers, where 1 to 192 are possible");
	assert_string_equal(check(many, MODEL_MAX_LAYERS + 1),
			    ": 193 layers, where 1 to 192 are possible");
	assert_null(check(many + 1, MODEL_MAX_LAYERS));
	assert_string_equal(check(nothing, 2),
			    ": none of 2 layers has parameters to learn");
	assert_string_equal(check(right, RIGHT_COUNT - 1),
			    ", layer 3 (linear 'b'): the last layer must be "
			    "a loss");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(spoilt_rows_are_refused),
		cmocka_unit_test(spoilt_tables_are_refused),
	};

	return cmocka_run_group_tests_name("model_check", tests, NULL, NULL);
}
