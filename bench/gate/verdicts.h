/* verdicts.csv of a results folder: what its checks said. */
#ifndef BENCH_GATE_VERDICTS_H
#define BENCH_GATE_VERDICTS_H

#include "bench/gate/verdict.h"

struct verdicts {
	struct verdict *rows;
	size_t count;
};

/* Adds rows to the folder's file, and waits for the disk. */
int verdicts_append(const char *dir, const struct verdict *rows, size_t count,
		    struct error *err);

/* All of the folder; none if there is no such file. */
int verdicts_read(struct verdicts *verdicts, const char *dir,
		  struct error *err);
void verdicts_release(struct verdicts *verdicts); /* all zero is fine */

/* A table for each check. Fails only for want of memory. */
int verdicts_print(const struct verdicts *verdicts,
		   const struct table_options *options, FILE *out,
		   struct error *err);

/* A memory_printer of them as rows, and one as a JSON document. */
int verdicts_print_csv(FILE *out, const void *verdicts, struct error *err);
int verdicts_print_json(FILE *out, const void *verdicts, struct error *err);

#endif
