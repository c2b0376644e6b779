/* A sum, and what it has lost by rounding (Knuth's two-sum): as good as a
 * double, where a device has none. */
static inline float2 pair_add(float2 total, float value)
{
	const float next = total.x + value;
	const float part = next - total.x;

	return (float2)(next, total.y + ((total.x - (next - part)) +
					 (value - part)));
}
