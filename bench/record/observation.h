/*
 * One measured interval: a row of observations.csv. Those of the model's clock
 * are none, and in modelled.csv; `bench measure` prints them among the others.
 *
 * A row whose core is missing is the target's: the slowest core's time, the
 * loss over the global batch. With more than one core each core has its own
 * rows besides; its rows epoch and test have the loss, and test the accuracy,
 * of that core's samples only.
 *
 * phase: setup (start-up, before the training loop), loader (waiting for
 * batches), step (one iteration), steps (an epoch's, of a device that was not
 * waited for in between; each has its loss in its own row, which has no time),
 * compute, wait, reduce and update (its parts),
 * test (one test set, waiting for its batches included), epoch (training, test
 * and schedule of one epoch), loop (from just before epoch 1 to the end). step
 * rows are one an iteration; of loader, compute, wait, reduce, update and test
 * there is one an epoch, the sum. The parts of a step are the largest of any
 * core and as the host sees them: a device that works in the background,
 * OpenCL's, has all its time in update. Of a core there is also overlap: what
 * of compute went by while parts of its gradient were under way to other hosts.
 *
 * clock: wall is what this host took. model is what a host with a free CPU for
 * each emulated core would take, an estimate without what such a host's cores
 * take from each other (caches, memory bandwidth). Of an iteration it is the
 * sum over compute, reduce and update of the largest CPU time of any core; of
 * an epoch, those and the largest CPU time of any core for its test and its
 * loader, whose rows are that core's.
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

/* Is the row of the model's clock? */
int observation_is_modelled(const struct observation *row);

extern const struct row_kind observation_rows;

#endif
