/*
 * What all files of generic kernels start with. They are compiled once for a
 * device, and take all sizes as arguments.
 *
 * A work-group has ITEMS items, in the cpu class one, which computes with
 * vectors of WIDE floats where it can; in the gpu class WIDE is 1, and items
 * that are neighbours do what is side by side in memory.
 *
 * Activations are planar, [sample][channel][row][column]; samples may be
 * further apart than they are long: x_sample and so on, in floats. A gradient
 * by an input is added to what is there if `adds` says so.
 */
#define GROUP __attribute__((reqd_work_group_size(ITEMS, 1, 1)))

#define PASTE_(a, b) a##b
#define PASTE(a, b) PASTE_(a, b)

#if WIDE == 1
typedef float vec;
typedef int ivec;
#define STORE_LANES(value, at) (*(at) = (value))
#define STORE_NEAR(value, at) (*(at) = (value))
#define LOAD_LANES(at) (*(at))
#else
typedef PASTE(float, WIDE) vec;
typedef PASTE(int, WIDE) ivec;
typedef vec loose __attribute__((aligned(4)));
/* In global memory, a single instruction; vstore may be several. */
#define STORE_LANES(value, at) (*(global loose *)(at) = (value))
/* In memory of the item or the group. */
#define STORE_NEAR(value, at) PASTE(vstore, WIDE)(value, 0, at)
#define LOAD_LANES(at) PASTE(vload, WIDE)(0, at)
#endif

/* Whoever reads what others of the group have written waits here. */
#if ITEMS == 1
#define MEET()
#else
#define MEET() barrier(CLK_LOCAL_MEM_FENCE)
#endif

/* The item's share of SPAN elements, or of as many as are left of size. */
#define EACH_OF(i, size)                                                    \
	(int i = get_group_id(0) * SPAN + get_local_id(0);                  \
	 i < min((int)(get_group_id(0) + 1) * SPAN, size); i += ITEMS)

/* The same in vectors of WIDE elements; the last vector may be shorter. */
#if SPAN % WIDE
#error "a vector would be of two groups"
#endif
#define EACH_VEC(i, size)                                                   \
	(int i = get_group_id(0) * SPAN + get_local_id(0) * WIDE;           \
	 i < min((int)(get_group_id(0) + 1) * SPAN, size);                  \
	 i += ITEMS * WIDE)

/* The first lanes (1 or more) of a vector, the others being zero. */
static inline vec some_load(global const float *at, int lanes)
{
#if WIDE == 1
	return *at;
#else
	float values[WIDE];

	if (lanes >= WIDE)
		return LOAD_LANES(at);
	for (int i = 0; i < WIDE; i++)
		values[i] = i < lanes ? at[i] : 0;
	return LOAD_LANES(values);
#endif
}

static inline void some_store(vec value, global float *at, int lanes)
{
#if WIDE == 1
	*at = value;
#else
	float values[WIDE];

	if (lanes >= WIDE) {
		STORE_LANES(value, at);
		return;
	}
	STORE_NEAR(value, values);
	for (int i = 0; i < lanes; i++)
		at[i] = values[i];
#endif
}

#define SUMMED 64 /* values, or vectors, whose sum is added to a total as one */

/* The same as pair.cl's, of vectors. */
struct total {
	vec sum, rest;
};

static inline void total_add(struct total *total, vec value)
{
	const vec next = total->sum + value;
	const vec part = next - total->sum;

	total->rest += (total->sum - (next - part)) + (value - part);
	total->sum = next;
}

static inline void gradient_put(global float *dx, float value, int adds)
{
	*dx = adds ? *dx + value : value;
}

static inline void gradients_put(global float *dx, vec value, int lanes,
				 int adds)
{
	some_store(adds ? some_load(dx, lanes) + value : value, dx, lanes);
}

kernel GROUP void relu(const int count, global const float *restrict x,
		       global float *restrict y, const int size,
		       const int x_sample, const int y_sample)
{
	x += get_group_id(1) * (size_t)x_sample;
	y += get_group_id(1) * (size_t)y_sample;
	for EACH_VEC(i, size) {
		const vec value = some_load(x + i, size - i);

		/* NaN stays NaN. */
		some_store(select(value, (vec)(0), value <= (vec)(0)), y + i,
			   size - i);
	}
}

kernel GROUP void relu_backward(const int count,
				global const float *restrict y,
				global const float *restrict dy,
				global float *restrict dx, const int size,
				const int y_sample, const int x_sample,
				const int adds)
{
	y += get_group_id(1) * (size_t)y_sample;
	dy += get_group_id(1) * (size_t)y_sample;
	dx += get_group_id(1) * (size_t)x_sample;
	for EACH_VEC(i, size) {
		const vec value = some_load(y + i, size - i);

		gradients_put(dx + i, select(some_load(dy + i, size - i),
					     (vec)(0), value <= (vec)(0)),
			      size - i, adds);
	}
}

kernel GROUP void add(const int count, global const float *a,
		      global const float *b, global float *restrict y,
		      const int size, const int a_sample, const int b_sample,
		      const int y_sample)
{
	a += get_group_id(1) * (size_t)a_sample;
	b += get_group_id(1) * (size_t)b_sample;
	y += get_group_id(1) * (size_t)y_sample;
	for EACH_VEC(i, size)
		some_store(some_load(a + i, size - i) +
				   some_load(b + i, size - i),
			   y + i, size - i);
}

/* Both ways of a layer that changes nothing. */
kernel GROUP void pass_on(const int count, global const float *restrict from,
			  global float *restrict to, const int size,
			  const int from_sample, const int to_sample,
			  const int adds)
{
	from += get_group_id(1) * (size_t)from_sample;
	to += get_group_id(1) * (size_t)to_sample;
	for EACH_VEC(i, size)
		gradients_put(to + i, some_load(from + i, size - i), size - i,
			      adds);
}

/* keep[n][i] as models/random.h defines it, of `choices` a sample, four at
 * once. */
kernel GROUP void choose(const int count, const int global_count,
			 const uint step, const int place, const int stride,
			 global uchar *restrict keep, const uint seed_low,
			 const uint seed_high, const uint layer,
			 const uint threshold, const int choices)
{
	const uint sample = place + stride * (int)get_group_id(1);

	keep += get_group_id(1) * (size_t)choices;
	for EACH_OF(i, (choices + 3) / 4) {
		uint words[4] = { i, sample, step, layer };

		philox(words, seed_low, seed_high);
		for (int w = 0; w < 4 && 4 * i + w < choices; w++)
			keep[4 * i + w] = words[w] >= threshold;
	}
}

/* Dropout, forward or backward: a kept value grows by a float of these bits,
 * and any other becomes 0, even a NaN. `each` elements share a choice. */
kernel GROUP void drop(const int count, global const float *restrict from,
		       global const uchar *restrict keep,
		       global float *restrict to, const int size,
		       const int from_sample, const int to_sample,
		       const int each, const uint growth, const int adds)
{
	from += get_group_id(1) * (size_t)from_sample;
	to += get_group_id(1) * (size_t)to_sample;
	keep += get_group_id(1) * (size_t)(size / each);
	for EACH_OF(i, size)
		gradient_put(to + i,
			     keep[i / each] ? from[i] * as_float(growth) : 0,
			     adds);
}
