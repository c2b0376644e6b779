/*
 * A batch, of samples that the device holds as bytes:
 *
 *   to[n][i] = pixels[images[s][i]], to_labels[n] = labels[s], where
 *   s = order[at + place + stride * n], or that place itself without an order
 *
 * for each i below size. Item (k, n) makes every get_global_size(0)-th float of
 * sample n from the k-th on, so that neighbours write what is side by side, and
 * a single one makes all of them.
 */
kernel void gather(const int count, const int global_count, const uint step,
		   const int place, const int stride, const int at,
		   global const uchar *restrict images,
		   global const ushort *restrict labels,
		   global const int *restrict order,
		   global const float *restrict pixels,
		   global float *restrict to,
		   global ushort *restrict to_labels, const uint size)
{
	const size_t n = get_global_id(1);
	const int found = at + place + stride * (int)n;
	const size_t s = order ? order[found] : found;

	images += s * size;
	to += n * size;
	for (size_t i = get_global_id(0); i < size; i += get_global_size(0))
		to[i] = pixels[images[i]];
	if (!get_global_id(0))
		to_labels[n] = labels[s];
}
