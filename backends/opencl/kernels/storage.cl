/*
 * Precisions that round what is stored, to fp16 or to bf16: nearest, to even
 * between two. They do what backends/host/storage.c does, with the bits.
 */
#define TO_FP16 1
#define TO_BF16 2

static inline float rounded(float x, uint format)
{
	const uint sign = as_uint(x) & 0x80000000;
	uint size = as_uint(x) ^ sign;

	if (size >= 0x7f800000 || !format)
		return x;
	if (format == TO_BF16)
		size = (size + 0x7fff + (size >> 16 & 1)) & 0xffff0000;
	else if (size >= as_uint(65520.f))
		size = as_uint(INFINITY);
	else if (size < as_uint(0x1p-14f)) /* multiples of the smallest */
		size = as_uint(rint(as_float(size) * 0x1p24f) * 0x1p-24f);
	else
		size = (size + 0xfff + (size >> 13 & 1)) & ~0x1fff;
	return as_float(size | sign);
}

/* Of each sample, after a product with the loss's scale if `scales` says so. */
kernel GROUP void round_values(const int count, const int global_count,
			       const uint step, const int place,
			       const int stride, const int at, const int slot,
			       const float loss_scale, global float *x,
			       const int size, const int sample,
			       const uint format, const int scales)
{
	const float factor = scales ? loss_scale : 1;

	x += get_group_id(1) * (size_t)sample;
	for EACH_OF(i, size)
		x[i] = rounded(x[i] * factor, format);
}

/* Of a vector's size elements from first on; from may be to. Divided by the
 * loss's scale if `unscales` says so. */
kernel GROUP void round_part(const int count, const int global_count,
			     const uint step, const int place,
			     const int stride, const int at, const int slot,
			     const float loss_scale, global const float *from,
			     global float *to, const int first, const int size,
			     const uint format, const int unscales)
{
	const float factor = unscales ? 1 / loss_scale : 1;

	for EACH_OF(i, size)
		to[first + i] = rounded(from[first + i], format) * factor;
}

/* Of a vector, from .. to, as an optimizer takes it. */
kernel GROUP void round_slice(const uint from, const uint to,
			      global float *x, const uint format)
{
	for EACH_OF(i, (int)(to - from))
		x[from + i] = rounded(x[from + i], format);
}
