#include "bench/verify/random_model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "models/random.h"

#define MOST_WORK 3e7 /* multiply-adds of a batch, forward */
#define MOST_FLOATS 400000 /* of a batch, in all rows together */
#define RARE 1e-6 /* a probability */
#define LARGE 10 /* one of this many networks has a long side or many planes */

/* A network as far as it is drawn. */
struct draft {
	struct mt19937 generator;
	struct random_model *to;
	int count;	    /* of rows */
	struct shape shape; /* of what the last one makes */
};

/* 0 .. count - 1 */
static int pick(struct draft *draft, int count)
{
	return (int)(mt19937_next(&draft->generator) % (unsigned)count);
}

static int chance(struct draft *draft, int percent)
{
	return pick(draft, 100) < percent;
}

static void append(struct draft *draft, struct layer layer)
{
	struct random_model *to = draft->to;
	const int source = draft->count - 1 - layer.from;
	struct shape in = draft->shape;

	if (draft->count == RANDOM_ROWS - 2)
		return;
	if (layer.from && source == MODEL_IMAGES)
		in = to->model.input;
	else if (layer.from)
		in = layer_output(&to->layers[source],
				  model_layer_input(&to->model, source));
	if (layer_has_parameters(&layer)) {
		snprintf(to->names[draft->count], RANDOM_NAME, "row%d",
			 draft->count);
		layer.name = to->names[draft->count];
	}
	to->layers[draft->count++] = layer;
	to->model.layer_count = draft->count;
	draft->shape = layer_output(&layer, in);
}

/* Returns up to 21 planes, or a number that fills vectors. */
static int planes(struct draft *draft)
{
	static const int whole[] = { 8, 16, 32, 48, 64 };

	return chance(draft, 35) ? whole[pick(draft, 5)] : 1 + pick(draft, 21);
}

/* Returns more planes than a block of vectors, or bits than a word of
 * decisions. Only if nothing else is large. */
static int many(struct draft *draft)
{
	return 65 + pick(draft, 136);
}

static int smaller_side(const struct draft *draft)
{
	return draft->shape.height < draft->shape.width ? draft->shape.height :
							  draft->shape.width;
}

/* Draws a convolution whose window fits its padded input. */
static struct layer any_conv(struct draft *draft)
{
	static const int windows[] = { 1, 1, 2, 3, 3, 3, 3, 4, 5, 7 };
	struct layer layer = { .kind = LAYER_CONV, .outputs = planes(draft),
			       .window = windows[pick(draft, 10)],
			       .no_bias = chance(draft, 25) };

	if (chance(draft, 60))
		layer.pad = pick(draft, layer.window);
	while (layer.window > smaller_side(draft) + 2 * layer.pad)
		layer.window--;
	if (layer.pad >= layer.window)
		layer.pad = layer.window - 1;
	if (chance(draft, 30))
		layer.stride = 1 + pick(draft, 3);
	return layer;
}

static struct layer any_pool(struct draft *draft)
{
	struct layer layer = { .kind = LAYER_MAXPOOL,
			       .window = 1 + pick(draft, 4) };

	if (chance(draft, 50))
		layer.window = 2;
	if (layer.window > smaller_side(draft))
		layer.window = smaller_side(draft);
	if (chance(draft, 40)) {
		layer.stride = 1 + pick(draft, layer.window + 1);
		layer.pad = pick(draft, layer.window / 2 + 1);
	}
	return layer;
}

static void add_dropout(struct draft *draft)
{
	append(draft, (struct layer){ .kind = chance(draft, 50) ?
						      LAYER_DROPOUT :
						      LAYER_DROPOUT2D,
				      .drop = (1 + pick(draft, 12)) / 16. });
}

static void add_kind(struct draft *draft, enum layer_kind kind)
{
	append(draft, (struct layer){ .kind = kind });
}

static void maybe_kind(struct draft *draft, int percent, enum layer_kind kind)
{
	if (chance(draft, percent))
		add_kind(draft, kind);
}

/* Adds a row at the start of a branch, with output shaped like its input. It
 * adds to a gradient that another branch has left. */
static void add_before(struct draft *draft, int from)
{
	static const struct layer rows[] = {
		{ .kind = LAYER_BATCHNORM },
		{ .kind = LAYER_RELU },
		{ .kind = LAYER_DROPOUT, .drop = .25 },
		{ .kind = LAYER_MAXPOOL, .window = 3, .stride = 1, .pad = 1 },
	};
	struct layer row = rows[pick(draft, 4)];

	row.from = from;
	append(draft, row);
}

/* y = f(x) + x, with a convolution on the way of x where shapes differ. */
static void add_block(struct draft *draft)
{
	const int start = draft->count - 1; /* the row that both ways read */
	const struct shape in = draft->shape;
	const int stride = chance(draft, 40) ? 2 : 1;
	const int outputs = stride == 1 && chance(draft, 60) ? in.channels :
							       planes(draft);
	const int same = stride == 1 && outputs == in.channels;
	const int window = chance(draft, 30) ? 1 : 3;
	int main_way, from;

	if (chance(draft, 40))
		add_before(draft, 0);
	append(draft, (struct layer){ .kind = LAYER_CONV, .outputs = outputs,
				      .window = window, .pad = window / 2,
				      .stride = stride,
				      .no_bias = chance(draft, 70) });
	maybe_kind(draft, 60, LAYER_BATCHNORM);
	maybe_kind(draft, 60, LAYER_RELU);
	main_way = draft->count - 1;
	if (!same) {
		from = main_way - start;
		if (chance(draft, 40)) {
			add_before(draft, from);
			from = 0;
		}
		append(draft, (struct layer){ .kind = LAYER_CONV,
					      .outputs = outputs, .window = 1,
					      .stride = stride, .no_bias = 1,
					      .from = from });
		maybe_kind(draft, 60, LAYER_BATCHNORM);
	}
	append(draft, (struct layer){ .kind = LAYER_ADD,
				      .with = draft->count - 1 -
					      (same ? start : main_way) });
	maybe_kind(draft, 60, LAYER_RELU);
}

/* Adds the rows that fused kernels take, as at the start of networks for small
 * images. Winograd on OpenCL requires whole vectors of planes and pooled
 * pixels. */
static void add_stem(struct draft *draft)
{
	struct shape *in = &draft->to->model.input;
	const int whole = chance(draft, 50);

	*in = (struct shape){ 1 + pick(draft, 3), 8 + 4 * pick(draft, 4),
			      8 + 4 * pick(draft, 4) };
	if (whole)
		in->height = in->width = 12;
	draft->shape = *in;
	append(draft, (struct layer){ .kind = LAYER_CONV, .window = 3,
				      .outputs = whole ? 16 : planes(draft) });
	add_kind(draft, LAYER_RELU);
	append(draft, (struct layer){ .kind = LAYER_CONV, .window = 3,
				      .outputs = whole ? 16 : planes(draft) });
	maybe_kind(draft, 50, LAYER_RELU);
	append(draft, (struct layer){ .kind = LAYER_MAXPOOL, .window = 2 });
	if (chance(draft, 60))
		add_dropout(draft);
}

static void add_conv(struct draft *draft, int outputs, int window)
{
	append(draft, (struct layer){ .kind = LAYER_CONV, .outputs = outputs,
				      .window = window, .pad = window / 2,
				      .no_bias = chance(draft, 50) });
	maybe_kind(draft, 40, LAYER_BATCHNORM);
	maybe_kind(draft, 60, LAYER_RELU);
}

/* One side is long, with few planes, and convolutions whose tiles do not end
 * where it does. */
static void add_long(struct draft *draft)
{
	struct shape *in = &draft->to->model.input;
	const int side = many(draft);

	*in = (struct shape){ 1 + pick(draft, 3), 3 + pick(draft, 4),
			      3 + pick(draft, 4) };
	if (chance(draft, 50))
		in->height = side;
	else
		in->width = side;
	draft->shape = *in;
	add_conv(draft, chance(draft, 50) ? 16 : planes(draft), 3);
	add_conv(draft, planes(draft), 3);
}

/* Many planes of few pixels, as in the last blocks of residual networks. */
static void add_wide(struct draft *draft)
{
	struct shape *in = &draft->to->model.input;

	*in = (struct shape){ 1 + pick(draft, 4), 5 + pick(draft, 4),
			      5 + pick(draft, 4) };
	draft->shape = *in;
	add_conv(draft, many(draft), 1);
	add_conv(draft, many(draft), 3);
	add_conv(draft, chance(draft, 50) ? planes(draft) : many(draft), 1);
}

static void add_linear(struct draft *draft)
{
	append(draft, (struct layer){ .kind = LAYER_LINEAR,
				      .outputs = 1 + pick(draft, chance(draft,
						      20) ? 150 : 40) });
	maybe_kind(draft, 60, LAYER_RELU);
	if (chance(draft, 30))
		add_dropout(draft);
}

static void add_any(struct draft *draft)
{
	const int drawn = pick(draft, 100);

	if (drawn < 34)
		append(draft, any_conv(draft));
	else if (drawn < 50)
		add_kind(draft, LAYER_RELU);
	else if (drawn < 62)
		append(draft, any_pool(draft));
	else if (drawn < 70)
		add_kind(draft, LAYER_BATCHNORM);
	else if (drawn < 76)
		add_dropout(draft);
	else if (drawn < 90)
		add_block(draft);
	else if (drawn < 93)
		append(draft, (struct layer){ .kind = LAYER_AVGPOOL,
					      .outputs = 1 + pick(draft, 4) });
	else if (drawn < 94) /* twice the same */
		add_kind(draft, LAYER_ADD);
	else
		add_linear(draft);
}

static void draw_rows(struct draft *draft)
{
	struct shape *in = &draft->to->model.input;
	const int rows = 1 + pick(draft, RANDOM_MOST_ROWS);

	*in = (struct shape){ 1 + pick(draft, 4), 3 + pick(draft, 16),
			      3 + pick(draft, 16) };
	draft->shape = *in;
	/* The others are what they were before there were large ones. */
	if (draft->to->seed % LARGE == LARGE - 1)
		(chance(draft, 50) ? add_long : add_wide)(draft);
	else if (chance(draft, 20))
		add_stem(draft);
	while (draft->count < rows)
		add_any(draft);
	if (shape_size(draft->shape) > 12 || chance(draft, 50))
		append(draft, (struct layer){ .kind = LAYER_LINEAR,
					      .outputs = 2 + pick(draft, 11) });
	draft->count = draft->count > RANDOM_ROWS - 2 ? RANDOM_ROWS - 2 :
							draft->count;
	draft->to->layers[draft->count++] = (struct layer){
		.kind = LAYER_LOSS,
		.loss = chance(draft, 70) ? LOSS_NLL : chance(draft, 50) ?
			LOSS_BCE : LOSS_MSE,
	};
	draft->to->model.layer_count = draft->count;
}

/* Draws a recipe. Half of the first steps grow with the gradient, so that its
 * errors show in the parameters. With the usual eps all steps have one
 * length. */
static void draw_recipe(struct draft *draft, struct recipe *recipe)
{
	const enum optimizer optimizer =
		(enum optimizer)pick(draft, OPTIMIZER_COUNT);
	const int is_usual = chance(draft, 50);

	*recipe = (struct recipe){ .batch = draft->to->batch,
				   .epochs = 1,
				   .optimizer = optimizer,
				   .lr = is_usual ? .01 : .5 };
	if (optimizer == OPTIMIZER_ADADELTA) {
		recipe->rho = .9;
		recipe->eps = is_usual ? 1e-6 : 1e-2;
	} else if (optimizer == OPTIMIZER_ADAM) {
		recipe->beta1 = .9;
		recipe->beta2 = .999;
		recipe->eps = is_usual ? 1e-8 : 1;
	} else {
		recipe->momentum = chance(draft, 70) ? .9 : 0;
		recipe->weight_decay = chance(draft, 50) ? 1e-4 : 0;
	}
}

static double floats_of(const struct model *model)
{
	struct shape inputs[MODEL_MAX_LAYERS];
	double floats = 0;

	model_inputs(model, inputs);
	for (int l = 0; l < model->layer_count; l++)
		floats += (double)shape_size(inputs[l]);
	return floats;
}

/* Returns 1 if the row's output may be equal for all these samples, by chance
 * or as copies of a few values. */
static int may_be_equal(const struct layer *layer, struct shape in, int samples)
{
	const int side = layer->outputs;

	switch (layer->kind) {
	case LAYER_BATCHNORM:
		return samples * in.height * in.width < 4;
	case LAYER_AVGPOOL:
		return (side > in.height || side > in.width) &&
		       samples * in.height * in.width < 4;
	case LAYER_DROPOUT:
		return pow(layer->drop, samples * (double)shape_size(in)) >
		       RARE;
	case LAYER_DROPOUT2D:
		return pow(layer->drop, samples * (double)in.channels) > RARE;
	default:
		return 0;
	}
}

/*
 * Batch norm turns any two values into 1 and -1, so that the gradient through
 * it cancels but for eps. With fewer than four values per channel and core
 * there is no gradient to compare. It amplifies the rounding of equal values
 * 300 times.
 */
static int is_normal(const struct random_model *drawn)
{
	const struct model *model = &drawn->model;
	struct shape inputs[MODEL_MAX_LAYERS];

	if (!model_has_batchnorm(model))
		return 1;
	model_inputs(model, inputs);
	for (int l = 0; l < model->layer_count; l++)
		if (may_be_equal(&model->layers[l], inputs[l],
				 drawn->batch / drawn->cores))
			return 0;
	return 1;
}

static int is_good(const struct random_model *drawn)
{
	char ignored[256];

	return !model_check(&drawn->model, ignored, sizeof(ignored)) &&
	       model_classes(&drawn->model) <= 40 &&
	       drawn->batch >= drawn->cores && is_normal(drawn) &&
	       model_work(&drawn->model).forward * drawn->batch <= MOST_WORK &&
	       floats_of(&drawn->model) * drawn->batch <= MOST_FLOATS;
}

/* Makes the pointers point into drawn. */
static void bind(struct random_model *drawn)
{
	drawn->model.name = drawn->name;
	drawn->model.summary = "drawn";
	drawn->model.layers = drawn->layers;
	for (int c = 0; c < MODEL_PIXEL_CHANNELS; c++) {
		drawn->model.scale.mean[c] = .5f;
		drawn->model.scale.std[c] = .3f;
	}
	for (int l = 0; l < drawn->model.layer_count; l++)
		if (layer_has_parameters(&drawn->layers[l]))
			drawn->layers[l].name = drawn->names[l];
}

void random_model_draw(struct random_model *drawn, unsigned long long seed)
{
	struct draft draft = { .to = drawn };

	mt19937_seed(&draft.generator, seed);
	do {
		*drawn = (struct random_model){ .seed = seed };
		snprintf(drawn->name, sizeof(drawn->name), "random-%llu", seed);
		bind(drawn);
		draft.count = 0;
		drawn->cores = 1 + pick(&draft, 3);
		drawn->batch = chance(&draft, 10) ? 33 + pick(&draft, 98) :
						    1 + pick(&draft, 17);
		draw_rows(&draft);
		draw_recipe(&draft, &drawn->model.recipe);
	} while (!is_good(drawn));
}

int random_model_samples(const struct random_model *drawn, int tested,
			 struct dataset *dataset)
{
	const size_t each = shape_size(drawn->model.input);
	const int classes = model_classes(&drawn->model);
	struct mt19937 generator;

	*dataset = (struct dataset){ .name = "noise",
				     .shape = drawn->model.input,
				     .classes = classes };
	dataset->train.count = drawn->batch + tested;
	dataset->test.count = tested;
	dataset->train.images = malloc((size_t)dataset->train.count * each);
	dataset->train.labels = malloc((size_t)dataset->train.count *
				       sizeof(*dataset->train.labels));
	dataset->test.images = malloc((size_t)tested * each);
	dataset->test.labels = malloc((size_t)tested *
				      sizeof(*dataset->test.labels));
	if (!dataset->train.images || !dataset->train.labels ||
	    !dataset->test.images || !dataset->test.labels)
		return -1;
	mt19937_seed(&generator, drawn->seed);
	for (size_t i = 0; i < (size_t)dataset->train.count * each; i++)
		dataset->train.images[i] = (uint8_t)mt19937_next(&generator);
	for (size_t i = 0; i < (size_t)tested * each; i++)
		dataset->test.images[i] = (uint8_t)mt19937_next(&generator);
	for (int i = 0; i < dataset->train.count; i++)
		dataset->train.labels[i] = (uint16_t)(mt19937_next(&generator) %
						      (unsigned)classes);
	for (int i = 0; i < tested; i++)
		dataset->test.labels[i] = (uint16_t)(i % classes);
	return 0;
}

void random_model_copy(struct random_model *to, const struct random_model *from)
{
	*to = *from;
	bind(to);
}

static const char *const kind_constants[LAYER_KINDS] = {
	[LAYER_CONV] = "CONV",		 [LAYER_RELU] = "RELU",
	[LAYER_MAXPOOL] = "MAXPOOL",	 [LAYER_AVGPOOL] = "AVGPOOL",
	[LAYER_DROPOUT] = "DROPOUT",	 [LAYER_DROPOUT2D] = "DROPOUT2D",
	[LAYER_BATCHNORM] = "BATCHNORM", [LAYER_ADD] = "ADD",
	[LAYER_LINEAR] = "LINEAR",	 [LAYER_LOSS] = "LOSS",
};

static void print_number(FILE *out, const char *name, int value)
{
	if (value)
		fprintf(out, ", .%s = %d", name, value);
}

void random_model_print(FILE *out, const struct random_model *drawn)
{
	static const char *const losses[] = { "LOSS_NLL", "LOSS_BCE",
					      "LOSS_MSE" };
	const struct model *model = &drawn->model;

	fprintf(out, "/* %d samples on %d core%s, %s, drawn by seed %llu */\n"
		"static const struct layer layers[] = { /* of %dx%dx%d */\n",
		drawn->batch, drawn->cores, drawn->cores == 1 ? "" : "s",
		optimizer_name(model->recipe.optimizer), drawn->seed,
		model->input.channels, model->input.height,
		model->input.width);
	for (int l = 0; l < model->layer_count; l++) {
		const struct layer *layer = &model->layers[l];

		fprintf(out, "\t{ .kind = LAYER_%s",
			kind_constants[layer->kind]);
		if (layer->name)
			fprintf(out, ", .name = \"%s\"", layer->name);
		print_number(out, "outputs", layer->outputs);
		print_number(out, "window", layer->window);
		print_number(out, "stride", layer->stride);
		print_number(out, "pad", layer->pad);
		print_number(out, "no_bias", layer->no_bias);
		print_number(out, "from", layer->from);
		print_number(out, "with", layer->with);
		if (layer->drop > 0)
			fprintf(out, ", .drop = %g", layer->drop);
		if (layer->loss)
			fprintf(out, ", .loss = %s", losses[layer->loss]);
		fprintf(out, " },\n");
	}
	fprintf(out, "};\n");
}

/* Removes a row: later rows that read it read its source instead. */
static void remove_row(struct random_model *drawn, int row)
{
	struct layer *layers = drawn->layers;
	const int count = drawn->model.layer_count;
	const int source = model_source(&drawn->model, row);

	for (int l = row + 1; l < count; l++) {
		int from = model_source(&drawn->model, l);
		int with = model_other_source(&drawn->model, l);

		from = from == row ? source : from;
		with = with == row ? source : with;
		/* Rows after the removed one move up. */
		layers[l].from = l - 2 - (from > row ? from - 1 : from);
		layers[l].with = l - 2 - (with > row ? with - 1 : with);
		if (layers[l].kind != LAYER_ADD)
			layers[l].with = 0;
	}
	memmove(&layers[row], &layers[row + 1],
		(size_t)(count - row - 1) * sizeof(*layers));
	drawn->model.layer_count--;
	for (int l = 0; l < count - 1; l++)
		snprintf(drawn->names[l], RANDOM_NAME, "row%d", l);
	bind(drawn);
}

/* Makes one number of a row, or of the case, smaller: 0 where it is not. */
static int reduce(int *number, int least)
{
	const int before = *number;

	*number = before > 2 * least + 1 ? before / 2 : before - 1;
	if (*number < least)
		*number = before;
	return *number != before;
}

#define NUMBERS_OF_ROW 4

static int reduce_row(struct layer *layer, int what)
{
	int *const numbers[NUMBERS_OF_ROW] = { &layer->outputs, &layer->window,
					       &layer->stride, &layer->pad };

	return reduce(numbers[what], numbers[what] != &layer->pad);
}

int random_model_shrink(struct random_model *smaller,
			const struct random_model *drawn, int way)
{
	const int rows = drawn->model.layer_count - 1;
	int *const numbers[] = {
		&smaller->batch, &smaller->cores,
		&smaller->model.input.channels, &smaller->model.input.height,
		&smaller->model.input.width,
	};
	const int count = (int)(sizeof(numbers) / sizeof(numbers[0]));
	int changed = 1;

	random_model_copy(smaller, drawn);
	if (way < rows)
		remove_row(smaller, way);
	else if (way < rows + count)
		changed = reduce(numbers[way - rows], 1);
	else if (way < rows + count + NUMBERS_OF_ROW * rows)
		changed = reduce_row(&smaller->layers[(way - rows - count) /
						      NUMBERS_OF_ROW],
				     (way - rows - count) % NUMBERS_OF_ROW);
	else
		return -1;
	smaller->model.recipe.batch = smaller->batch;
	return changed && is_good(smaller);
}
