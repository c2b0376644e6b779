/*
 * Four words of the counter-based generator that models/random.h chooses what
 * is dropped with: ten rounds of Philox4x32 of c under key (low, high).
 */
static inline uint4 philox_words(uint4 c, uint low, uint high)
{
	for (int round = 0; round < 10; round++) {
		const uint a = mul_hi(0xd2511f53u, c.x);
		const uint b = mul_hi(0xcd9e8d57u, c.z);

		c = (uint4)(b ^ c.y ^ low, 0xcd9e8d57u * c.z, a ^ c.w ^ high,
			    0xd2511f53u * c.x);
		low += 0x9e3779b9u;
		high += 0xbb67ae85u;
	}
	return c;
}
