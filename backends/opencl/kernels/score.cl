/*
 * scores[slot] = { s, e, c, count }, of outcomes[n] = { loss, right answers }:
 * the losses' sum, in the order of n, is s + e, and c answers are right. e is
 * the sum of what s loses by rounding, to the bit (Knuth's two-sum), so that
 * only e's own rounding is lost. One item makes all of it.
 */
static inline void outcomes_add(int count, int slot,
				global const float *outcomes,
				global float *scores)
{
	float sum = 0, rest = 0, correct = 0;

	for (int n = 0; n < count; n++) {
		const float loss = outcomes[2 * n];
		const float next = sum + loss;
		const float part = next - sum;

		rest += (sum - (next - part)) + (loss - part);
		sum = next;
		correct += outcomes[2 * n + 1];
	}
	vstore4((float4)(sum, rest, correct, count), slot, scores);
}

kernel ONE_ITEM void score(const int count, const int global_count,
			   const uint step, const int place, const int stride,
			   const int at, const int slot,
			   global const float *restrict outcomes,
			   global float *restrict scores)
{
	outcomes_add(count, slot, outcomes, scores);
}
