/* One process that measured one target: a row of runs.csv. */
#ifndef BENCH_RECORD_RUN_H
#define BENCH_RECORD_RUN_H

#include "bench/record/column.h"

struct run {
	char schema[12];
	char run_id[48];
	char campaign_id[48];
	char label[64];
	char started_utc[24]; /* 2026-01-31T23:59:59Z */
	char status[12];      /* ok, partial, error, skipped */
	char reason[200];
	long exit_code;

	char target[64]; /* as asked for: cpu-8, opencl:1 */
	char backend[16];
	char transport[16];
	long cores;
	long cpus; /* CPUs the process was confined to */
	char device_name[128];
	char device_type[16];
	char device_driver[160];
	long device_units;

	char model[32];
	long parameters;
	char dataset[32];
	char dataset_sha256[68]; /* of the training images */
	long train_samples, test_samples;
	long batch; /* samples per core and iteration; missing if they differ */
	long global_batch;
	long test_batch;
	long epochs;
	long steps; /* iterations an epoch at most; missing: all */
	long seed;
	double lr;
	char dropout[4];   /* on, off */
	char reshuffle[4]; /* on, off */
	long warmup;	   /* steps */

	double setup_s;	    /* start-up, warm-up not included */
	double warmup_s;
	double loop_s;	    /* the training loop: the post's s */
	double iterations_s;
	double loader_s;
	double test_s;
	double unaccounted_s;
	double total_s;	    /* start-up and loop */
	double cpu_user_s, cpu_sys_s; /* of the whole process */
	double loop_cpu_s;	      /* of the process, in the loop */
	long maxrss_bytes;	      /* of all its processes */
	long involuntary_switches;
	double steal_pct; /* of the machine's CPU time, in the loop */
	long updates;	  /* parameter updates made */
	double final_loss;	   /* of the last test, else of the last step */
	double final_accuracy_pct; /* of the last test */
	char parameters_hash[20];  /* of the final parameters */
	char buffers_hash[20]; /* of core 0's running statistics, or empty */

	char version[48];
	char git_commit[48];
	char compiler[64];
	char cflags[200];
	char variables[400]; /* OPENBLAS_* OMP_* POCL_* ... that are set */
	char cpu_model[80];
	long logical_cpus;
	double cpu_quota; /* CPUs by cgroup; missing: no limit */
	long mem_bytes;
	char os[80];
	char kernel[80];
	char straggler[24]; /* RANK:MS of the core that was delayed */

	/* Set by a parent that compares: `bench check` and its like. */
	char arm[12];	     /* A: base, B: head, A2: base again */
	long stage;	     /* 1: screen, 2: confirmation; 0: before them */
	long block;	     /* from 1; its arms are compared */
	long attempt;	     /* at the block, from 1; the last one counts */
	long order_in_block; /* from 1 */
	long env_pad_bytes;  /* added to the environment */

	double inject_pct; /* of an iteration's own work, added on purpose */

	/* Of the loop's iterations and all cores; exactly the same again. */
	long launches; /* missing: the backend has no device to give any */
	long reduced_bytes, allocations;

	/* What else went on in the loop: bench/system/disturbance.h. */
	double throttled_s, pressure_pct, foreign_pct;

	double data_s;	  /* of setup_s: the data set, found and loaded */
	double compile_s; /* of setup_s: the first core's program */

	double target_accuracy_pct; /* asked for; missing: no such goal */
	double time_to_accuracy_s;  /* bench/record/time_to_accuracy.h; missing:
				       it was not reached */
	long epochs_to_accuracy;

	char host_key[20]; /* machine_key() */
	char virtualisation[32]; /* its maker; none; empty: not known */
	char governor[24];	 /* of the first CPU's clock */
	char binary_sha256[68];	 /* of the program that measured */
	char algorithm[8];	 /* fast, dense */
	char precision[8];	 /* fp32, bf16, fp64 */
	char resident[4];	 /* yes, no; empty: no device that could */
	char not_resident_reason[160];
	char kernels[8];	 /* cold, warm; empty: not known */
	char sync[8]; /* step, epoch */
	char device_class[8]; /* cpu, gpu; empty: of no backend with classes */
	char cpu_list[200];   /* CPUs the process was confined to: 0,2-3 */
};

extern const struct row_kind run_rows;

/* The --resident that such a run is told; empty where no device could. */
const char *run_asked_resident(const struct run *run);

/* Its precision where that is worth a word: empty for fp32. */
const char *run_odd_precision(const struct run *run);

/* Did its iterations have a time together, one an epoch? */
int run_is_ahead(const struct run *run);

#endif
