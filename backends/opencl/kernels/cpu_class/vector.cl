/*
 * What all other files start with: vectors of WIDTH floats (4, 8 or 16).
 *
 * One work-item is one block of outputs that stays in vector registers, and
 * one work-group is one work-item: on a CPU a work-item is the body of a loop,
 * so neighbours that share work would only have to wait for one another.
 *
 * Activations are described by their strides. "Channels last" has the channels
 * of a pixel side by side, padded with zeros to whole vectors (PADDED(n));
 * "planar" is [channel][row][column].
 *
 * Each kernel's first arguments are count, the samples of the batch, and
 * whatever else changes from batch to batch.
 */
#define PASTE_(a, b) a##b
#define PASTE(a, b) PASTE_(a, b)

typedef PASTE(float, WIDTH) vec;
typedef vec loose __attribute__((aligned(4)));
typedef PASTE(int, WIDTH) ivec;
typedef PASTE(uint, WIDTH) uvec;
typedef PASTE(uchar, WIDTH) bytes;

#define LOAD(at) PASTE(vload, WIDTH)(0, at)
#define STORE_ANYWHERE(value, at) PASTE(vstore, WIDTH)(value, 0, at)
/* Where at is a whole number of vectors into a buffer; a single instruction,
 * which the other is not. */
#define STORE(value, at) (*(global vec *)(at) = (value))
/* Adds a part of a sum: small numbers that are added to a large one one by one
 * would be lost in it. */
#define SUM_ADD(part, at) STORE(LOAD(at) + (part), at)
#define STORE_BYTES(value, at)                                              \
	PASTE(vstore, WIDTH)(PASTE(convert_uchar, WIDTH)(value), 0, at)
#define LOAD_CODES(at) PASTE(convert_int, WIDTH)(PASTE(vload, WIDTH)(0, at))

/* What kernels of either class are written for. */
#define ITEMS 1
#define GROUP ONE_ITEM
#define FLOATS vec
#define FLOATS_WIDTH WIDTH
#define LOAD_SOME(at, count) load_some(at, count)
#define STORE_SOME(value, at, count) store_some(value, at, count)
#define PHILOX_WORD uvec

#define PADDED(n) (((n) + WIDTH - 1) / WIDTH * WIDTH)

/* Values of DROPOUT. */
#define ELEMENTS 1
#define PLANES 2

/* What a dropout keeps grows by this. */
#define GROWTH as_float((uint)GROWTH_BITS)

/* value grown where kept, else 0: even NaN, which no factor would make that.
 * The first is of one choice, the second of those from at on. */
#define GROWN(value, kept) ((kept) ? (value) * GROWTH : 0)
#define GROWN_LANES(value, at)                                              \
	select((vec)(0), (value) * GROWTH, LOAD_CODES(at) != (ivec)(0))

#define ONE_ITEM __attribute__((reqd_work_group_size(1, 1, 1)))

/* max(v, 0), but NaN stays NaN. */
static inline vec relu(vec v)
{
	return select(v, (vec)(0), v <= (vec)(0));
}

/* In the same order whatever was summed before. */
static inline float vec_sum(vec v)
{
#if WIDTH == 16
	float8 half8 = v.lo + v.hi;
	float4 half4 = half8.lo + half8.hi;
#elif WIDTH == 8
	float4 half4 = v.lo + v.hi;
#else
	float4 half4 = v;
#endif
	float2 half2 = half4.lo + half4.hi;

	return half2.x + half2.y;
}

/* The first lanes (1 or more) from memory, zero in the others. */
static inline vec load_some(global const float *at, int lanes)
{
	float values[WIDTH];

	if (lanes >= WIDTH)
		return LOAD(at);
	for (int i = 0; i < WIDTH; i++)
		values[i] = i < lanes ? at[i] : 0;
	return LOAD(values);
}

static inline void store_some(vec value, global float *at, int lanes)
{
	float values[WIDTH];

	if (lanes >= WIDTH) {
		*(global loose *)at = value;
		return;
	}
	STORE_ANYWHERE(value, values);
	for (int i = 0; i < lanes; i++)
		at[i] = values[i];
}
