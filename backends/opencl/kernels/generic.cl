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
#define STORE_LANES(value, at) (*(at) = (value))
#define LOAD_LANES(at) (*(at))
#else
typedef PASTE(float, WIDE) vec;
#define STORE_LANES(value, at) PASTE(vstore, WIDE)(value, 0, at)
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

static inline void gradient_put(global float *dx, float value, int adds)
{
	*dx = adds ? *dx + value : value;
}

kernel GROUP void relu(const int count, global const float *restrict x,
		       global float *restrict y, const int size,
		       const int x_sample, const int y_sample)
{
	x += get_group_id(1) * (size_t)x_sample;
	y += get_group_id(1) * (size_t)y_sample;
	for EACH_OF(i, size)
		y[i] = x[i] <= 0 ? 0 : x[i]; /* NaN stays NaN */
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
	for EACH_OF(i, size)
		gradient_put(dx + i, y[i] <= 0 ? 0 : dy[i], adds);
}

kernel GROUP void add(const int count, global const float *a,
		      global const float *b, global float *restrict y,
		      const int size, const int a_sample, const int b_sample,
		      const int y_sample)
{
	a += get_group_id(1) * (size_t)a_sample;
	b += get_group_id(1) * (size_t)b_sample;
	y += get_group_id(1) * (size_t)y_sample;
	for EACH_OF(i, size)
		y[i] = a[i] + b[i];
}

/* Both ways of a layer that changes nothing. */
kernel GROUP void pass_on(const int count, global const float *restrict from,
			  global float *restrict to, const int size,
			  const int from_sample, const int to_sample,
			  const int adds)
{
	from += get_group_id(1) * (size_t)from_sample;
	to += get_group_id(1) * (size_t)to_sample;
	for EACH_OF(i, size)
		gradient_put(to + i, from[i], adds);
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

/* Both ways of a dropout: what is kept grows, by a float of these bits, and
 * what is not is 0, even if it was NaN. A choice is that of `each` elements. */
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
