/*
 * One measured interval: a row of observations.csv. Rows of clock model are
 * estimates and are stored in modelled.csv; `bench measure` prints both.
 *
 * A row without core is the target's: the slowest core's time, the loss over
 * the global batch. With several cores each core also has rows of its own.
 * Their loss (in epoch and test) and accuracy (in test) are over the core's
 * samples only.
 *
 * phase:
 *   setup    start-up, before the training loop
 *   loader   waiting for batches; sum of an epoch
 *   step     one iteration; one row each
 *   steps    all iterations of an epoch that a device ran ahead; their step
 *            rows have a loss and no time
 *   compute, wait, reduce, update
 *            parts of the iterations; sum of an epoch
 *   overlap  the part of compute during which gradients were sent to other
 *            hosts; of single cores
 *   test     the test set, waiting for its batches included
 *   epoch    training, test and schedule of one epoch
 *   loop     from just before epoch 1 to the end
 *
 * Parts of an iteration are the largest of any core by the host's clock. If a
 * device works in the background, as with OpenCL, update has all of its time.
 *
 * clock: wall is the time on this host. model is an estimate for a host with a
 * free CPU per emulated core, without contention for caches and memory
 * bandwidth. For an iteration it is the sum over compute, reduce and update of
 * the largest CPU time of any core. For an epoch it adds test and loader of the
 * core for which they take the most CPU time. The rows test and loader are that
 * core's.
 */
#ifndef BENCH_RECORD_OBSERVATION_H
#define BENCH_RECORD_OBSERVATION_H

#include "bench/record/column.h"

#define OBSERVATION_COLUMNS(TEXT, INT, REAL) \
	TEXT(schema, 12, "version of the columns", NEEDED) \
	TEXT(run_id, 48, "process, as in runs.csv", NEEDED) \
	TEXT(target, 64, "measured target, such as cpu-8 or opencl:1", NEEDED) \
	INT(cores, "emulated cores of the target") \
	INT(core, "rank from 0; empty: the target, with the time of its " \
	    "slowest core", NEEDED) \
	TEXT(phase, 12, "setup, loader, step, steps, compute, wait, reduce, " \
	     "update, overlap, test, epoch or loop", NEEDED) \
	INT(epoch, "number from 1; 0: warm-up; empty: not in an epoch", \
	    NEEDED) \
	INT(iter, "number from 1 in each epoch; phase steps: the number of " \
	    "iterations; empty: not an iteration", NEEDED) \
	INT(is_warmup, "1: warm-up; 0: otherwise", NEEDED) \
	REAL(elapsed_s, "time on the row's clock; empty: a step of --sync " \
	     "epoch, whose time is in the row steps", NEEDED) \
	REAL(cpu_s, "CPU time; of a core: its thread; of a target's step and " \
	     "test: the threads of all cores; otherwise: all processes of " \
	     "the target") \
	INT(samples, "samples in the interval") \
	REAL(loss, "mean loss of the samples") \
	REAL(accuracy_pct, "share of correctly classified samples; network " \
	     "of labels: share of correct labels") \
	TEXT(status, 12, "ok, partial, error or skipped", NEEDED) \
	TEXT(reason, 200, "why the status is not ok") \
	TEXT(clock, 8, "wall: measured on this host; model: estimate for a " \
	     "host with a free CPU per core, see modelled.csv") \
	INT(voluntary_switches, "times that threads of cores gave up their " \
	    "CPU in an epoch, to wait") \
	INT(involuntary_switches, "times that other programs took the CPU of " \
	    "these threads")

struct observation {
	OBSERVATION_COLUMNS(TEXT_MEMBER, INT_MEMBER, REAL_MEMBER)
};

/* Returns 1 if the row is of clock model. */
int observation_is_modelled(const struct observation *row);

extern const struct row_kind observation_rows;

#endif
