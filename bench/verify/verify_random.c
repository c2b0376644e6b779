#include "bench/verify/verify_parts.h"

#include <math.h>

#include "bench/report/progress.h"
#include "bench/system/clock.h"
#include "bench/system/interrupt.h"
#include "bench/verify/verify_trial.h"

#define MOST_SOLVERS 64

/* The results of one backend so far. */
struct random_tally {
	struct trial_bench bench;
	struct progress progress;
	double began; /* of clock_now() */
	int trials, failures, moved, alone;
	double worst;
	struct {
		const char *name;
		int trials;
	} solvers[MOST_SOLVERS];
	int solver_count;
};

/* Shows progress on a terminal only: a log gets the verdict. */
static void start_progress(struct random_tally *tally,
			   const struct options *options)
{
	tally->began = clock_now();
	progress_start(&tally->progress, options->progress, options->quiet,
		       tally->bench.target->name, 1, 1, NULL);
	if (!tally->progress.bar)
		progress_end(&tally->progress);
}

static void draw_progress(struct random_tally *tally, int is_shrinking)
{
	const long all = tally->bench.options->random;
	const double now = clock_now(), took = now - tally->began;
	const int done = tally->trials;
	char text[96];

	snprintf(text, sizeof(text), "network %d of %ld, %d wrong%s", done + 1,
		 all, tally->failures, is_shrinking ?
			 ", making one smaller" : "");
	progress_draw_text(&tally->progress, now, text, done && !is_shrinking ?
			   took / done * (double)(all - done) : NAN);
}

/* Every solver counts once a network. */
static void count_solvers(struct random_tally *tally)
{
	const char *name;
	int steps;

	for (int s = 0; s < MOST_SOLVERS &&
			(name = program_solver(tally->bench.tried.program, s,
					       &steps)); s++) {
		tally->solvers[s].name = name;
		tally->solvers[s].trials += steps > 0;
		tally->solver_count = s + 1;
	}
}

/* Replaces drawn by a smaller network that is still wrong, or that fails if
 * drawn fails. Returns 0 if there is none. */
static int shrink_once(struct random_model *drawn, struct random_tally *tally,
		       int fails)
{
	struct random_model smaller;
	int made;

	for (int way = 0; !interrupt_signal() &&
			  (made = random_model_shrink(&smaller, drawn, way)) >=
				  0; way++) {
		struct trial_result result;
		struct error ignored;
		int failed;

		if (!made)
			continue;
		draw_progress(tally, 1);
		interrupt_install(0); /* drivers may have replaced it */
		failed = trial_run(&tally->bench, &smaller, &result, &ignored);
		trial_close_programs(&tally->bench);
		if (fails ? failed : !failed && result.worst > 1) {
			random_model_copy(drawn, &smaller);
			return 1;
		}
	}
	return 0;
}

/* The smallest network that fails as well. */
static void report_failure(const struct random_model *drawn,
			   struct random_tally *tally, int fails, FILE *out)
{
	struct random_model small;
	struct trial_result result;
	struct error err = { 0 };

	random_model_copy(&small, drawn);
	while (shrink_once(&small, tally, fails))
		;
	if (trial_run(&tally->bench, &small, &result, &err))
		snprintf(result.what, sizeof(result.what), "%.127s",
			 err.message);
	trial_close_programs(&tally->bench);
	progress_pause(&tally->progress);
	fprintf(out, "WRONG: %s: %s, %.2g times its bound%s, in a network that "
		"was made smaller:\n", tally->bench.target->name, result.what,
		result.worst, result.is_dense ? " (dense)" : "");
	random_model_print(out, &small);
	/* Others may follow for hours. */
	fflush(out);
	tally->failures++;
}

/* Draws number i. */
static int try_number(struct random_tally *tally, long i, FILE *out,
		      struct error *err)
{
	struct trial_bench *bench = &tally->bench;
	struct random_model drawn;
	struct trial_result result;
	int failed;

	random_model_draw(&drawn, (unsigned long long)bench->options->seed +
					  (unsigned long long)i);
	failed = trial_run(bench, &drawn, &result, err);
	if (!failed)
		count_solvers(tally);
	trial_close_programs(bench);
	/* A device that is not there, or memory, has nothing to do with it. */
	if (failed && (!bench->tried.device || err->memory))
		return -1;
	tally->trials++;
	tally->moved += result.is_moved;
	tally->alone += result.is_alone;
	if (result.worst > tally->worst)
		tally->worst = result.worst;
	if (failed || result.worst > 1)
		report_failure(&drawn, tally, failed != 0, out);
	return 0;
}

static void report_tally(const struct random_tally *tally, FILE *out)
{
	fprintf(out, "%s: %d network%s, %d wrong; the largest error is %.2f of "
		"its bound\n", tally->bench.target->name, tally->trials,
		tally->trials == 1 ? "" : "s", tally->failures, tally->worst);
	if (tally->moved)
		fprintf(out, "  %d judged by the rounding of several "
			     "computations\n",
			tally->moved);
	if (tally->alone)
		fprintf(out, "  %d not tried on several cores: the device has "
			"too few parts\n", tally->alone);
	for (int s = 0; s < tally->solver_count; s++)
		fprintf(out, "  %-32s %5.1f %%\n", tally->solvers[s].name,
			100. * tally->solvers[s].trials / tally->trials);
}

/* Returns -1 on error, possibly after some networks. */
static int try_backend(struct random_tally *tally, FILE *out, struct error *err)
{
	const struct options *options = tally->bench.options;
	int failed = verify_check_slots(tally->bench.target->backend, err);

	start_progress(tally, options);
	for (long i = 0; !failed && !interrupt_signal() &&
			 i < options->random; i++) {
		draw_progress(tally, 0);
		interrupt_install(0); /* drivers may have replaced it */
		failed = try_number(tally, i, out, err);
	}
	progress_end(&tally->progress);
	trial_close(&tally->bench);
	if (tally->trials)
		report_tally(tally, out);
	return failed;
}

int verify_random(const struct options *options, const struct target *targets,
		  int count, FILE *out, FILE *log, struct error *err)
{
	int compared = 0, wrong = 0, code;
	char without[256] = "";

	for (int t = 0; t < count; t++) {
		const char *name = targets[t].name;
		struct random_tally tally = { .bench = { .target = &targets[t],
						  .options = options } };
		const int failed = try_backend(&tally, out, err);

		wrong |= tally.failures;
		if (failed && tally.failures) {
			fprintf(log, "bench: %s: after %d networks: %s\n",
				name, tally.trials, err->message);
		} else if (failed && (err->kind != ERROR_MISSING ||
				      options->argument_count)) {
			const struct error why = *err;

			return error_set(err, why.kind, "%s: %.400s", name,
					 why.message);
		} else if (failed && !options->quiet) {
			fprintf(log, "note: %s skipped: %s\n", name,
				err->message);
		} else if (!failed && !tally.trials) {
			fprintf(out, "%s: not tried\n", name);
		}
		if (!tally.trials || (failed && !tally.failures))
			error_list(without, sizeof(without), name);
		else
			compared++;
	}
	code = verify_conclude(out, wrong, compared, without);
	return compared || interrupt_signal() ? code : -1;
}
