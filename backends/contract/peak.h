/* Peak loops: each uses a single resource of a core, to measure its peak. A
 * backend has the loop, the harness the clock and the memory. */
#ifndef BACKENDS_CONTRACT_PEAK_H
#define BACKENDS_CONTRACT_PEAK_H

#include <stddef.h>

/* bytes; the size of memory is a multiple, aligned to a cache line. */
#define PEAK_BLOCK 4096

struct peak {
	const char *name; /* "fp32 multiply-add" */
	const char *isa;  /* "avx512" */
	int fp32;	  /* 1 = products and sums of fp32 */
	int reads;	  /* 1 = reads memory; 0 = uses registers only */
	/*
	 * Runs the loop rounds times, each time over the whole memory. Returns
	 * the number of floating-point operations, or of bytes read. memory has
	 * size bytes of ordinary numbers; NULL and 0 unless it reads. *result
	 * is the initial number, and becomes the computed one, so that the
	 * compiler cannot omit the work.
	 */
	double (*work)(const float *memory, size_t size, long rounds,
		       float *result);
};

#endif
