/*
 * Four words of the counter-based generator that models/random.h chooses what
 * is dropped with: ten rounds of Philox4x32 of c under key (low, high).
 * PHILOX_WORD is uint or, if it is defined before, a vector of them.
 */
#ifndef PHILOX_WORD
#define PHILOX_WORD uint
#endif

static inline void philox(PHILOX_WORD c[4], uint low, uint high)
{
	for (int round = 0; round < 10; round++) {
		const PHILOX_WORD a = mul_hi((PHILOX_WORD)(0xd2511f53u), c[0]);
		const PHILOX_WORD b = mul_hi((PHILOX_WORD)(0xcd9e8d57u), c[2]);
		const PHILOX_WORD a_low = 0xd2511f53u * c[0];
		const PHILOX_WORD b_low = 0xcd9e8d57u * c[2];

		c[0] = b ^ c[1] ^ low;
		c[1] = b_low;
		c[2] = a ^ c[3] ^ high;
		c[3] = a_low;
		low += 0x9e3779b9u;
		high += 0xbb67ae85u;
	}
}
