/*
 * Loops that need nothing but one resource of a core, to find its peaks by: a
 * backend has the loop, the harness the clock and the memory.
 */
#ifndef BACKENDS_CONTRACT_PEAK_H
#define BACKENDS_CONTRACT_PEAK_H

#include <stddef.h>

/* Bytes; memory is some of them, aligned to a cache line. */
#define PEAK_BLOCK 4096

struct peak {
	const char *name; /* "fp32 multiply-add" */
	const char *isa;  /* "avx512" */
	int fp32;	  /* the products and sums of fp32 */
	int reads;	  /* memory; else registers are all that it needs */
	/*
	 * Does it rounds times (of the whole memory), and returns how many
	 * floating-point operations that were, or how many bytes were read.
	 * memory holds size bytes of ordinary numbers; NULL and 0 unless it
	 * reads.
	 * result holds a number to begin with, and becomes what has been
	 * computed, so that it cannot be left out.
	 */
	double (*work)(const float *memory, size_t size, long rounds,
		       float *result);
};

#endif
