/*
 * With operands rounded to bf16:
 *
 * dz[b][o] = scale * dh[b][o] where ReLU and dropout let it through, else 0
 * dx[b][c][i] = sum over o of dz[b][o] w[c][o][i]
 * dw[c][o][i] = sum over b of dz[b][o] x[b][c][i]
 *
 * See linear_tiles.h. Rows of weights and of inputs are rounded as they lie,
 * two to a row of B; dz is rounded once, both ways round, and gathered for each
 * block:
 *
 *   dx: A = dz[samples / 16][outputs / 32], B = w[outputs / 32][places / 16]
 *   dw: A = dz[outputs / 16][samples / 32], B = x[samples / 32][places / 16]
 *
 * in groups of 2 x 3 tiles. While dx is multiplied, the operands of dw are
 * made; meanwhile dw, dx is put where it belongs, the operands of the next
 * block's dx are made, and Adadelta goes over the rows of dw that are there.
 *
 * With three parts a float it takes 3.3 ms for 64 x 144 inputs, 128 outputs and
 * samples, where linear_backward.c takes 2.1, since it leaves out the three
 * quarters of dz that are zero. With one part it takes 1.85 where that takes
 * 2.3 beside it, all of it called alone; in an iteration of mnist both take 2.3
 * to 2.5, mostly for what passes to and from the third level.
 */
#include "backends/cpu/kernels/linear_backward_tiles.h"

#ifdef __AMX_BF16__

#define LEAST_SAMPLES 96 /* measured: 64 are as fast without tiles */

int ISA_NAME(linear_backward_is_dense)(const struct linear_shape *shape,
				       int count)
{
	return shape->bf16 && tiles_fit(shape, count, LEAST_SAMPLES) &&
	       shape->block % TRIPLE == 0;
}

static size_t cut(struct pass *pass, const struct linear_shape *shape,
		  int count, void *scratch)
{
	const size_t chunks = (size_t)tiles_pad(count) / AMX_DEPTH;
	const size_t samples = chunks * AMX_DEPTH;
	const size_t outputs = (size_t)shape->outputs;
	const size_t places = (size_t)shape->block;
	const size_t word = sizeof(uint16_t);
	size_t used = 0;

	pass->depth = shape->outputs / AMX_DEPTH;
	pass->columns = shape->block / AMX_COLUMNS;
	pass->chunks = (int)chunks;
	pass->row = (int)samples + AMX_DEPTH;
	pass->bias = scratch_take(scratch, &used, outputs * sizeof(float));
	pass->dz = scratch_take(scratch, &used,
				samples * outputs * sizeof(float));
	pass->turned = scratch_take(scratch, &used,
				    samples * outputs * sizeof(float));
	pass->samples = scratch_take(scratch, &used, samples * outputs * word);
	pass->outputs = scratch_take(scratch, &used, samples * outputs * word);
	pass->dx_a = scratch_take(scratch, &used, samples * outputs * word);
	pass->dx_b = scratch_take(scratch, &used, outputs * places * word);
	pass->dw_a = scratch_take(scratch, &used,
				  outputs * (size_t)pass->row * word);
	pass->dw_b = scratch_take(scratch, &used, samples * places * word);
	pass->dx = scratch_take(scratch, &used,
				samples * places * sizeof(float));
	pass->dw = scratch_take(scratch, &used,
				outputs * places * sizeof(float));
	for (int i = 0; i < 2; i++)
		pass->sides[i].kept =
			scratch_take(scratch, &used,
				     (size_t)(count + 1) * sizeof(int32_t));
	return used;
}

size_t ISA_NAME(linear_backward_tiles_scratch)(const struct linear_shape *shape,
					       int count)
{
	const size_t other = ISA_NAME(linear_backward_scratch)(shape, count);
	struct pass pass;
	size_t used;

	if (!ISA_NAME(linear_backward_is_dense)(shape, count))
		return other;
	/* Fewer samples than that may come, too. */
	used = cut(&pass, shape, count, NULL);
	return used > other ? used : other;
}

/* dz of 16 outputs. */
INLINE vec slopes_of(const struct pass *pass, int at)
{
	const struct linear_batch *batch = pass->batch;
	const vec slopes = vec_load(pass->slopes->out_slopes + at);
	lanes_int passes = ~(lanes_int){ 0 };

	/* A NaN is not below 0. */
	if (pass->shape->relu)
		passes = ~(lanes_int)(vec_load(pass->slopes->out + at) <=
				      vec_set(0));
	if (batch->keep_out)
		passes &= tiles_kept(batch->keep_out + at);
	return (vec)((lanes_int)(vec_set(batch->scale) * slopes) & passes);
}

/* dz, its sums, and the same the other way round */
static void start(const struct pass *pass)
{
	const int outputs = pass->shape->outputs;
	const int samples = pass->chunks * AMX_DEPTH;

	for (int o = 0; o < outputs; o += LANES) {
		vec sums = vec_set(0);

		for (int b = 0; b < pass->batch->count; b++) {
			const vec dz = slopes_of(pass, b * outputs + o);

			vec_store(pass->dz + b * outputs + o, dz);
			sums += dz;
		}
		for (int b = pass->batch->count; b < samples; b++)
			vec_store(pass->dz + b * outputs + o, vec_set(0));
		vec_store(pass->bias + o, sums);
	}
	for (int b = 0; b < samples; b += LANES)
		for (int o = 0; o < outputs; o += 4) {
			vec columns[4];

			transpose_four(pass->dz + b * outputs + o,
				       (size_t)outputs, columns);
			UNROLL
			for (int i = 0; i < 4; i++)
				vec_store(pass->turned + (o + i) * samples + b,
					  columns[i]);
		}
}

/* Rows of floats, count of so many tiles' depth each, to tiles of A. */
static void round_rows(const float *from, int count, int depth, amx_tile *tiles)
{
	for (int row = 0; row < count; row++)
		for (int d = 0; d < depth; d++, from += AMX_DEPTH)
			amx_store_row(tiles + row / AMX_ROWS * depth + d,
				      row % AMX_ROWS, vec_load(from),
				      vec_load(from + LANES), 1);
}

/* Operands of dw, and the state of its weights from memory. */
INLINE void beside_dx(const struct pass *pass, const struct side *side,
		      const uint32_t *masks, struct beside *beside)
{
	const int size = pass->shape->outputs * pass->shape->block;
	const int pairs = tiles_pad(side->kept_count) / 2;

	for (int i = 0; i < 2 && beside->inputs.row < pairs; i++)
		pack_inputs(pass, side, &beside->inputs);
	if (beside->gathered < pass->shape->outputs)
		gather_output(pass, side, masks, beside->gathered++);
	if (beside->fetched < size && pass->state) {
		const size_t at = linear_weight_at(pass->shape, 0, side->block,
						   0) +
				  (size_t)beside->fetched;

		tiles_fetch(pass->state->square_avg.weights + at, TRIPLE * 2);
		tiles_fetch(pass->state->acc_delta.weights + at, TRIPLE * 2);
		if (side->block + 1 < pass->shape->blocks)
			tiles_fetch(pass->weights + at + size, TRIPLE * 2);
		beside->fetched += TRIPLE * 2;
	}
	update_some(pass, beside, 2);
}

/* dx to its place, the next block's operands, Adadelta on what is there. */
INLINE void beside_dw(const struct pass *pass, const struct side *side,
		      const struct side *next, struct beside *beside)
{
	const int pairs = pass->shape->outputs / 2;

	if (pass->slopes->in_slopes) {
		if (beside->copied < side->kept_count)
			copy_sample(pass, side, beside->copied++);
		for (int i = 0; i < 3 && next->block < pass->shape->blocks &&
				beside->weights.row < pairs;
		     i++)
			pack_weights(pass, next, &beside->weights);
		if (beside->gathered < next->kept_count)
			gather_sample(pass, next, beside->gathered++);
	}
	update_some(pass, beside, 6);
}

INLINE void multiply_dx(const struct pass *pass, const struct side *side,
			const uint32_t *masks, struct beside *beside)
{
	const int places = pass->shape->block;

	for (int m = 0; m < side->kept_count; m += PAIR)
		for (int n = 0; n < pass->columns; n += 3) {
			const amx_tile *a = (const amx_tile *)pass->dx_a +
					    m / AMX_ROWS * pass->depth;
			const amx_tile *b =
				(const amx_tile *)pass->dx_b + n;

			zero_six();
			for (int d = 0; d < pass->depth; d++) {
				add_six(a[d], a[pass->depth + d], AMX_ROW, b);
				beside_dx(pass, side, masks, beside);
				b += pass->columns;
			}
			store_six(pass->dx + m * places + n * AMX_COLUMNS,
				  (size_t)places);
		}
}

INLINE void multiply_dw(const struct pass *pass, const struct side *side,
			const struct side *next, struct beside *beside)
{
	const int outputs = pass->shape->outputs, places = pass->shape->block;
	const size_t apart = (size_t)pass->row * sizeof(uint16_t);
	float *to = pass->state ? pass->dw :
				  pass->gradient +
					  linear_weight_at(pass->shape, 0,
							   side->block, 0);

	for (int o = 0; o < outputs; o += PAIR) {
		for (int n = 0; n < pass->columns; n += 3) {
			const uint16_t *a = pass->dw_a + o * pass->row;
			const amx_tile *b =
				(const amx_tile *)pass->dw_b + n;

			zero_six();
			for (int k = 0; k < side->kept_count; k += AMX_DEPTH) {
				add_six(a + k, a + AMX_ROWS * pass->row + k,
					apart, b);
				beside_dw(pass, side, next, beside);
				b += pass->columns;
			}
			store_six(to + o * places + n * AMX_COLUMNS,
				  (size_t)places);
		}
		beside->ready += pass->state ? PAIR * pass->columns : 0;
	}
}

static struct side *side_of(struct pass *pass, int block)
{
	struct side *side = &pass->sides[block % 2];

	side->block = block;
	side->kept_count = block < pass->shape->blocks ?
				   tiles_gather(pass->shape, pass->batch,
						block, side->kept) :
				   0;
	return side;
}

/* Bits of the samples that keep a block. */
static void mask_of(const struct pass *pass, const struct side *side,
		    uint32_t *masks)
{
	memset(masks, 0, (size_t)pass->chunks * sizeof(*masks));
	for (int i = 0; i < side->kept_count; i++)
		masks[side->kept[i] / 32] |= 1u << side->kept[i] % 32;
}

/* All that is left of the work beside the products of dx. */
INLINE void finish_dx(const struct pass *pass, const struct side *side,
		      const uint32_t *masks, struct beside *beside)
{
	const int pairs = tiles_pad(side->kept_count) / 2;

	update_some(pass, beside, beside->ready);
	while (beside->gathered < pass->shape->outputs)
		gather_output(pass, side, masks, beside->gathered++);
	while (beside->inputs.row < pairs)
		pack_inputs(pass, side, &beside->inputs);
}

/* The same of dw, but for Adadelta. */
INLINE void finish_dw(const struct pass *pass, const struct side *side,
		      const struct side *next, struct beside *beside)
{
	const int pairs = pass->shape->outputs / 2;

	if (!pass->slopes->in_slopes)
		return;
	while (side && beside->copied < side->kept_count)
		copy_sample(pass, side, beside->copied++);
	while (next->block < pass->shape->blocks && beside->weights.row < pairs)
		pack_weights(pass, next, &beside->weights);
	while (beside->gathered < next->kept_count)
		gather_sample(pass, next, beside->gathered++);
}

static void run_blocks(struct pass *pass)
{
	const struct side *side = side_of(pass, 0);
	struct beside beside = { .ready = 0 };
	uint32_t masks[MOST_CHUNKS];

	round_rows(pass->dz, pass->chunks * AMX_DEPTH, pass->depth,
		   pass->samples);
	round_rows(pass->turned, pass->shape->outputs, pass->chunks,
		   pass->outputs);
	finish_dw(pass, NULL, side, &beside);
	for (int block = 0; block < pass->shape->blocks; block++) {
		const struct side *next = side_of(pass, block + 1);

		mask_of(pass, side, masks);
		beside.inputs = (struct cursor){ 0, 0 };
		beside.gathered = beside.fetched = 0;
		if (pass->slopes->in_slopes)
			multiply_dx(pass, side, masks, &beside);
		finish_dx(pass, side, masks, &beside);
		beside.weights = (struct cursor){ 0, 0 };
		beside.gathered = beside.copied = 0;
		beside.updated = beside.ready = 0;
		beside.update = block;
		multiply_dw(pass, side, next, &beside);
		finish_dw(pass, side, next, &beside);
		side = next;
	}
	update_some(pass, &beside, beside.ready);
}

static void run(struct pass *pass, void *scratch)
{
	cut(pass, pass->shape, pass->batch->count, scratch);
	start(pass);
	amx_begin();
	run_blocks(pass);
	amx_end();
}

void ISA_NAME(linear_backward_tiles)(const struct linear_shape *shape,
				     const struct linear_values *parameters,
				     const struct linear_batch *batch,
				     const struct linear_slopes *slopes,
				     const struct linear_values *gradient,
				     void *scratch)
{
	struct pass pass = {
		.shape = shape,
		.batch = batch,
		.slopes = slopes,
		.weights = parameters->weights,
		.gradient = gradient->weights,
	};

	if (!ISA_NAME(linear_backward_is_dense)(shape, batch->count)) {
		ISA_NAME(linear_backward)(shape, parameters, batch, slopes,
					  gradient, scratch);
		return;
	}
	run(&pass, scratch);
	memcpy(gradient->bias, pass.bias,
	       (size_t)shape->outputs * sizeof(float));
}

void ISA_NAME(linear_backward_update_tiles)(const struct linear_shape *shape,
					    const struct linear_state *state,
					    const struct update *update,
					    const struct linear_batch *batch,
					    const struct linear_slopes *slopes,
					    void *scratch)
{
	struct pass pass = {
		.shape = shape,
		.batch = batch,
		.slopes = slopes,
		.weights = state->parameters.weights,
		.state = state,
		.rates = adadelta_of(update),
	};

	if (!ISA_NAME(linear_backward_is_dense)(shape, batch->count)) {
		ISA_NAME(linear_backward_update)(shape, state, update, batch,
						 slopes, scratch);
		return;
	}
	run(&pass, scratch);
	ISA_NAME(adadelta)(update, (size_t)shape->outputs,
			   state->parameters.bias, state->square_avg.bias,
			   state->acc_delta.bias, pass.bias);
}

#endif
