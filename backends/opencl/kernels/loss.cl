/*
 * Log-softmax and negative log-likelihood of logits[n][classes], which are
 * logits_sample apart:
 *
 *   outcomes[n] = { loss, 1 if the first largest logit is the label's }
 *   dlogits[n][c] = gradient of loss / global_count, unless NULL
 */
static inline void sample_loss(size_t n, int classes, int logits_sample,
			       int global_count, global const float *logits,
			       global const ushort *labels,
			       global float *outcomes, global float *dlogits)
{
	const int label = labels[n];
	int best = 0;
	float sum = 0;

	logits += n * logits_sample;
	for (int c = 1; c < classes; c++)
		if (logits[c] > logits[best])
			best = c;
	for (int c = 0; c < classes; c++)
		sum += exp(logits[c] - logits[best]);
	outcomes[2 * n] = log(sum) - (logits[label] - logits[best]);
	outcomes[2 * n + 1] = best == label;
	for (int c = 0; dlogits && c < classes; c++)
		dlogits[n * logits_sample + c] =
			(exp(logits[c] - logits[best]) / sum - (c == label)) /
			global_count;
}
